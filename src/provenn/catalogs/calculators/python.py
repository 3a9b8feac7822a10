"""Attributes defined by a Python function.

Nothing is ever pickled: a function is its import path and the hash of its module's whole source, and the source is
compared before the module is imported. A function of a notebook or of a script is its own source instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module, reload
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal, Self, get_args

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.calculators.captured import capture, hash_source, make_function
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.digest import canonical_json, content_digest
from provenn.catalogs.extent import Extent
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.catalogs.type_names import known_type, type_named
from provenn.criteria import Type
from provenn.errors import CalculatorChangedError, CalculatorError

__all__ = ["Kind", "PythonCalculator", "Scope"]

Kind = Literal["pandas", "arrow"]
Scope = Literal["row", "catalog"]

_IMPORTED: dict[str, str] = {}  # the source of each module that was imported here, by name
_GIVEN: set[str] = set()  # what was handed over in this process: import paths, and hashes of captured source

_MAIN = "__main__"
_MODULE_HINT = "define it with def, at the top level of a notebook or of a .py file that can be imported"


@dataclass(frozen=True, slots=True)
class PythonCalculator(Calculator):
    """A Python function over batches of sources.

    Parameters
    ----------
    function
        Its import path, ``module:name``; for captured source, ``__main__:name``.
    source
        The SHA-256 of the whole source of that module, or of the captured source.
    kind
        What a batch is, in and out: a pandas data frame, or an Arrow table.
    inputs
        The attributes it takes; the columns of a batch are called so.
    outputs
        The attributes it gives, and their types.
    keywords
        Its keyword arguments, as canonical JSON.
    scope
        ``"row"``: the result for a source depends on its inputs alone. ``"catalog"``: it depends on all sources, as
        a mean or a rank does.
    version
        Tells results apart that the source does not, such as those of another version of a library.
    units
        What outputs are in, for those of which that is said.
    code
        The captured source of a function that no module has; otherwise empty.
    """

    function: str
    source: str
    kind: Kind
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, Type], ...]
    keywords: str
    scope: Scope
    version: str
    units: tuple[tuple[str, str], ...] = ()
    code: str = ""

    @classmethod
    def of(
        cls,
        function: Callable[..., object],
        *,
        inputs: Sequence[str],
        outputs: Mapping[str, str],
        parameters: Mapping[str, Any] | None = None,
        kind: Kind = "pandas",
        scope: Scope = "row",
        version: str = "",
        units: Mapping[str, str] | None = None,
    ) -> Self:
        """Take a function of a module that can be imported, or one of a notebook or script, with its source.

        Raises
        ------
        CalculatorError
            If another process could not find or make the function, or the rest has no meaning.
        AttributeConflictError
            If the name of an input or output cannot be one.
        TypeNameError
            If an output has a type that Spark does not have.
        """
        for word, given, known in (("kind", kind, get_args(Kind)), ("scope", scope, get_args(Scope))):
            if given not in known:
                raise CalculatorError(f"{word} is {' or '.join(known)}, not {given!r}")
        names = tuple(map(check_name, [inputs] if isinstance(inputs, str) else inputs))
        if not names or not outputs:
            raise CalculatorError("a calculator has inputs and outputs", hint='inputs=["g"], outputs={"z": "double"}')
        if len(set(names)) < len(names):
            raise CalculatorError(f"an input is named twice in {', '.join(names)}")
        try:
            keywords = canonical_json(dict(parameters or {}))
        except (TypeError, ValueError) as error:
            hint = "use finite numbers, strings, lists and mappings"
            raise CalculatorError(f"the parameters cannot be written as JSON: {error}", hint=hint) from error
        types = tuple((check_name(name), known_type(text)) for name, text in outputs.items())
        for name, unit in (units or {}).items():
            if name not in outputs or not isinstance(unit, str):
                raise CalculatorError(f"units are given to outputs, as text, not {unit!r} to {name!r}")
        path, source, code = _located(function)
        _GIVEN.add(source if code else path)
        measured = tuple(sorted((units or {}).items()))
        return cls(path, source, kind, names, types, keywords, scope, version, measured, code)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes it derives."""
        return tuple(name for name, _ in self.outputs)

    @property
    def given(self) -> bool:
        """Whether the function itself was handed over in this process, so that whoever runs it has it already."""
        return (self.source if self.code else self.function) in _GIVEN

    @property
    def permit(self) -> str:
        """What the user allows, so that the function may run: its module; or the very source that was captured."""
        return f"sha256:{self.source}" if self.code else self.function.partition(":")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """Its keyword arguments."""
        return dict(json.loads(self.keywords))

    def attributes(self, schema: Schema, extent: Extent) -> list[Attribute]:
        """Return the attributes that it derives, given those of a catalog and its sources.

        Raises
        ------
        AttributeNotFoundError
            If the catalog has not all inputs.
        """
        defined = {"calculator": self.digest, "inputs": [schema[name].identity for name in self.inputs]}
        if self.scope == "catalog":
            defined["extent"] = extent.digest
        units = dict(self.units)
        return [
            Attribute(name, content_digest("attribute", {**defined, "output": name}), kind, True, units.get(name, ""))
            for name, kind in self.outputs
        ]

    def load(self) -> Callable[..., object]:
        """Import the function, if its module is still the same; or make it from the captured source.

        Raises
        ------
        CalculatorChangedError
            If the code has changed. None of it has been run then.
        CalculatorError
            If the module or the function is not found.
        """
        module, _, name = self.function.partition(":")
        if self.code:
            if hash_source(self.code) != self.source:
                raise CalculatorChangedError(f"the captured source of {name} is not what was registered")
            return make_function(self.code, name)
        file = _file(module)
        if file is None:
            hint = f"make {module} importable here: install it, or add its folder to PYTHONPATH"
            raise CalculatorError(f"the module of the calculator {self.function} is not found", hint=hint)
        if _hash(file) != self.source:
            raise CalculatorChangedError(
                f"the code of the calculator {self.function} has changed since it was registered, in {file}",
                hint="bring the code back; or register it again, and derive its attributes anew",
            )
        found = _inside(_imported(module, self.source), name)
        if not isinstance(found, FunctionType) or (found.__module__, found.__qualname__) != (module, name):
            raise CalculatorError(f"there is no function {name} in {file}")
        return found

    def definition(self) -> Parameters:
        """All that it is."""
        units = {"units": dict(self.units)} if self.units else {}  # older calculators have none, and stay the same
        code = {"code": self.code} if self.code else {}
        return {
            "kind": self.kind,
            "function": self.function,
            "source": self.source,
            "inputs": list(self.inputs),
            "outputs": [[name, str(kind)] for name, kind in self.outputs],
            "parameters": self.parameters,
            "scope": self.scope,
            "version": self.version,
            **units,
            **code,
        }

    @classmethod
    def from_definition(cls, definition: Parameters) -> Self:
        """Return the calculator of this definition. Its code is not run.

        Raises
        ------
        CalculatorError
            If captured source is not the one whose hash is given.
        """
        code = definition.get("code", "")
        if not isinstance(code, str) or (code and hash_source(code) != definition["source"]):
            raise CalculatorError("the captured source is not the one whose hash is given")
        return cls(
            definition["function"],
            definition["source"],
            definition["kind"],
            tuple(definition["inputs"]),
            tuple((name, type_named(text)) for name, text in definition["outputs"]),
            canonical_json(definition["parameters"]),
            definition["scope"],
            definition["version"],
            tuple(sorted(definition.get("units", {}).items())),
            code,
        )


def _located(function: Callable[..., object]) -> tuple[str, str, str]:
    """Return the path of a function, the hash of its source, and that source itself if no module has it."""
    if not isinstance(function, FunctionType):
        hint = "pass the function itself; what is fixed goes into parameters="
        raise CalculatorError(f"a calculator is a Python function, not {function!r}", hint=hint)
    name = function.__qualname__
    if "<lambda>" in name:
        raise CalculatorError("a lambda cannot be found again by another process", hint=_MODULE_HINT)
    if "<locals>" in name:
        raise CalculatorError(f"{name} is local to another function", hint=_MODULE_HINT)
    module = sys.modules.get(function.__module__)
    if module is None:
        raise CalculatorError(f"{name} belongs to no module that is imported", hint=_MODULE_HINT)
    if _inside(module, name) is not function:
        raise CalculatorError(f"{function.__module__}:{name} is another object than the one given", hint=_MODULE_HINT)
    if function.__module__ != _MAIN:
        return _imported_path(function.__module__, module, name)
    if module.__spec__ is not None:  # python -m package.module
        return _imported_path(module.__spec__.name, module, name)
    try:
        code = capture(function)
    except CalculatorError:
        if getattr(module, "__file__", None) is None:
            raise
        return _imported_path(Path(str(module.__file__)).stem, module, name)
    return f"{_MAIN}:{name}", hash_source(code), code


def _imported_path(path: str, module: ModuleType, name: str) -> tuple[str, str, str]:
    """Return how every process imports a function of a module, if every process can."""
    file = _file(path)
    if file is None or not Path(str(module.__file__)).samefile(file):
        raise CalculatorError(f"{name} of {module.__name__} cannot be imported by another process", hint=_MODULE_HINT)
    return f"{path}:{name}", _hash(file), ""


def _inside(module: object, name: str) -> object:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def _imported(module: str, source: str) -> ModuleType:
    """Import a module; once more, if this process imported it when its source was another one."""
    found = import_module(module)
    if _IMPORTED.setdefault(module, source) != source:
        found = reload(found)
        _IMPORTED[module] = source
    return found


def _file(module: str) -> Path | None:
    """Return the Python source of a module, found without running it; its packages are imported."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _hash(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()
