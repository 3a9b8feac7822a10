"""Attributes defined by a Python function.

Nothing is ever pickled: the identity of a function is its import path and the hash of the whole source of its module,
and provenn compares the source before the import. The identity of a function from a notebook or script is the source.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal, Self, cast, get_args

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.calculators.captured import capture_source, hash_source, make_function
from provenn.catalogs.calculators.plain_functions import check_path, find_plain_function
from provenn.catalogs.calculators.sources import check_source, find_source, hash_module_source, locate_function
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.derived_pieces import divide_attribute
from provenn.catalogs.extent import Extent
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.criteria import AttributeIdentity, Type
from provenn.digests import canonical_json, content_digest
from provenn.errors import CalculatorChangedError, CalculatorError
from provenn.files.type_names import parse_spark_type, restore_type
from provenn.gate.entrances import entrance

__all__ = ["Kind", "PythonCalculator", "Scope"]

Kind = Literal["pandas", "arrow"]
Scope = Literal["row", "catalog"]

_IMPORTED: dict[str, str] = {}  # the source hash of each module imported in this process, by name
_GIVEN: set[str] = set()  # functions handed over in this process: import paths, and hashes of captured source

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
        The type of a batch, in and out: a pandas data frame, or an Arrow table.
    inputs
        The input attributes, also the names of the columns of a batch.
    outputs
        The output attributes, and their types.
    keywords
        Its keyword arguments, as canonical JSON.
    scope
        ``"row"``: the result for a source depends on its inputs alone. ``"catalog"``: it depends on all sources, as
        a mean or a rank does.
    version
        Distinguishes results of the same source, such as results with a different version of a library.
    units
        The units of outputs, where stated.
    code
        The captured source of a function outside modules; otherwise empty.
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
        function: Callable[..., object] | str,
        *,
        inputs: Sequence[str],
        outputs: Mapping[str, str],
        parameters: Mapping[str, Any] | None = None,
        kind: Kind = "pandas",
        scope: Scope = "row",
        version: str = "",
        units: Mapping[str, str] | None = None,
    ) -> Self:
        """Define a calculator by a function of an importable module, or of a notebook or script with its source.

        The text ``module:name`` stands for a function of a module; the module is not imported.

        Raises
        ------
        CalculatorError
            If a different process could not find or make the function, or an argument is not valid.
        AttributeConflictError
            If the name of an input or output is not valid.
        TypeNameError
            If an output has a type unknown to Spark.
        """
        for argument, value, allowed in (("kind", kind, get_args(Kind)), ("scope", scope, get_args(Scope))):
            if value not in allowed:
                raise CalculatorError(f"{argument} is {' or '.join(allowed)}, not {value!r}")
        names = tuple(map(check_name, [inputs] if isinstance(inputs, str) else inputs))
        if not names or not outputs:
            raise CalculatorError("a calculator needs inputs and outputs", hint='inputs=["g"], outputs={"z": "double"}')
        if len(set(names)) < len(names):
            raise CalculatorError(f"an input is named twice in {', '.join(names)}")
        try:
            keywords = canonical_json(dict(parameters or {}))
        except (TypeError, ValueError) as error:
            hint = "use finite numbers, strings, lists and mappings"
            raise CalculatorError(f"the parameters cannot be written as JSON: {error}", hint=hint) from error
        types = tuple((check_name(name), parse_spark_type(text)) for name, text in outputs.items())
        for name, unit in (units or {}).items():
            if name not in outputs or not isinstance(unit, str):
                raise CalculatorError(f"expected the unit of an output as text, got {unit!r} for {name!r}")
        path, source, code = _locate_source(function)
        _GIVEN.add(source if code else path)
        measured = tuple(sorted((units or {}).items()))
        return cls(path, source, kind, names, types, keywords, scope, version, measured, code)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the derived attributes."""
        return tuple(name for name, _ in self.outputs)

    @property
    def given(self) -> bool:
        """Whether the function was handed over in this process, so that the caller already has the function."""
        return (self.source if self.code else self.function) in _GIVEN

    @property
    def permit(self) -> str:
        """The permit needed to run the function: its module; or the exact hash of the captured source."""
        return f"sha256:{self.source}" if self.code else self.function.partition(":")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of the function."""
        return dict(json.loads(self.keywords))

    def attributes(self, schema: Schema, extent: Extent) -> list[Attribute]:
        """Return the derived attributes, from the schema and the extent of a catalog.

        Raises
        ------
        AttributeNotFoundError
            If the catalog lacks an input.
        """
        inputs = [schema[name] for name in self.inputs]
        definition = {"calculator": self.digest, "inputs": [attribute.identity for attribute in inputs]}
        if self.scope == "catalog":
            definition["extent"] = extent.digest
            return [self._make_attribute(name, kind, definition) for name, kind in self.outputs]
        return [self.make_output(name, kind, inputs) for name, kind in self.outputs]

    def make_output(self, name: str, kind: Type, inputs: Sequence[Attribute]) -> Attribute:
        """Return an output of a row-wise calculator, in pieces if the inputs are."""
        definition = {"calculator": self.digest, "inputs": [attribute.identity for attribute in inputs]}

        def derive(others: Mapping[AttributeIdentity, Attribute]) -> Attribute:
            return self.make_output(name, kind, [others[attribute.identity] for attribute in inputs])

        return divide_attribute(self._make_attribute(name, kind, definition), inputs, derive)

    def _make_attribute(self, name: str, kind: Type, definition: Mapping[str, Any]) -> Attribute:
        identity = AttributeIdentity(content_digest("attribute", {**definition, "output": name}))
        return Attribute(name, identity, kind, True, dict(self.units).get(name, ""))

    def check(self) -> Path | None:
        """Check the code with `check_source`; return the file of the module, or None for captured source."""
        return check_source(self.function, self.source, self.code)

    @entrance("code of a calculator", "code", "digest")
    def load(self) -> Callable[..., object]:
        """Import the function if its module is unchanged; or make the function from the captured source.

        The module itself must define the function at its top level.

        Raises
        ------
        CalculatorChangedError
            If the code has changed. None of the code has been run then.
        CalculatorError
            If the module is not found, or does not define the function. None of the code has been run then, either.
        """
        module, name = check_path(self.function)
        file = self.check()
        if file is None:
            return make_function(self.code, name)
        function = find_plain_function(_import_current(module, file, self.source), name)
        if function is None:
            raise CalculatorError(f"{name} in {file} is not the function that the file defines", hint=_MODULE_HINT)
        return function

    def definition(self) -> Parameters:
        """Return the complete definition as JSON."""
        units = (
            {"units": dict(self.units)} if self.units else {}
        )  # older calculators have no units, and keep their digest
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
        """Return the calculator with this definition. No code is run.

        Raises
        ------
        CalculatorError
            If captured source does not have the stated hash, or the definition does not name a function at the top
            level of a module.
        """
        code = definition.get("code", "")
        if not isinstance(code, str) or (code and hash_source(code) != definition["source"]):
            raise CalculatorError("the captured source does not match its hash")
        module, _ = check_path(definition["function"])
        if code and module != _MAIN:
            raise CalculatorError(f"captured source belongs to {_MAIN} only")
        for field, allowed in (("kind", get_args(Kind)), ("scope", get_args(Scope))):
            if definition[field] not in allowed:
                raise CalculatorError(f"{field} is {' or '.join(allowed)}, not {definition[field]!r}")
        return cls(
            definition["function"],
            definition["source"],
            definition["kind"],
            tuple(definition["inputs"]),
            tuple((name, restore_type(text)) for name, text in definition["outputs"]),
            canonical_json(definition["parameters"]),
            definition["scope"],
            definition["version"],
            tuple(sorted(definition.get("units", {}).items())),
            code,
        )


def _locate_source(function: Callable[..., object] | str) -> tuple[str, str, str]:
    """Return the path of a function, the hash of its source, and the captured source for a function outside modules."""
    if isinstance(function, str):
        return *locate_function(function), ""
    if not isinstance(function, FunctionType):
        hint = "pass the function itself; pass fixed values with parameters="
        raise CalculatorError(f"expected a Python function as calculator, got {function!r}", hint=hint)
    name = function.__qualname__
    if "<lambda>" in name:
        raise CalculatorError("another process cannot find a lambda", hint=_MODULE_HINT)
    if "<locals>" in name:
        raise CalculatorError(f"{name} is local to another function", hint=_MODULE_HINT)
    if "." in name:
        raise CalculatorError(f"{name} is a method of a class", hint=_MODULE_HINT)
    module = sys.modules.get(function.__module__)
    if module is None:
        raise CalculatorError(f"{name} does not belong to an imported module", hint=_MODULE_HINT)
    if find_plain_function(module, name) is not function:
        raise CalculatorError(
            f"{function.__module__}:{name} is a different object from the function passed", hint=_MODULE_HINT
        )
    if function.__module__ != _MAIN:
        return _locate_in_module(function.__module__, module, name)
    if module.__spec__ is not None:  # python -m package.module
        return _locate_in_module(module.__spec__.name, module, name)
    try:
        code = capture_source(function)
    except CalculatorError:
        if getattr(module, "__file__", None) is None:
            raise
        return _locate_in_module(Path(str(module.__file__)).stem, module, name)
    return f"{_MAIN}:{name}", hash_source(code), code


def _locate_in_module(path: str, module: ModuleType, name: str) -> tuple[str, str, str]:
    """Return the path and source hash of a function of a module, if every process can import the module."""
    file = find_source(path)
    if file is None or not Path(str(module.__file__)).samefile(file):
        raise CalculatorError(f"{name} of {module.__name__} cannot be imported by another process", hint=_MODULE_HINT)
    check_path(f"{path}:{name}")
    return f"{path}:{name}", hash_module_source(file, name), ""


def _import_current(module: str, file: Path, source: str) -> ModuleType:
    """Import a module from its checked source; import again unless this process has run the same source before."""
    present = sys.modules.get(module)
    if present is not None and _IMPORTED.pop(module, None) == source:
        _IMPORTED[module] = source
        return present
    package, _, name = module.rpartition(".")
    if package:
        import_module(package)
    loader = _CheckedLoader(module, file, source)
    spec = cast("ModuleSpec", spec_from_file_location(module, file, loader=loader))
    imported = present or module_from_spec(spec)
    sys.modules[module] = imported
    try:
        loader.exec_module(imported)
    except BaseException:
        if present is None:
            del sys.modules[module]
        raise
    if package:
        setattr(sys.modules[package], name, imported)
    _IMPORTED[module] = source
    return imported


class _CheckedLoader(SourceFileLoader):
    """Runs the very bytes that have the expected hash.

    Python's own loader would trust bytecode if source of the same size was written within the same second before.
    """

    def __init__(self, module: str, file: Path, source: str) -> None:
        super().__init__(module, str(file))
        self._source = source

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - as Python calls it
        data = self.get_data(self.path)
        if sha256(data).hexdigest() != self._source:
            raise CalculatorChangedError(f"the code in {self.path} has changed while it was being read")
        return self.source_to_code(data, self.path)
