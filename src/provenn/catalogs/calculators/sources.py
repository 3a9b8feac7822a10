"""Finding the source of a calculator and its definitions, without importing or running any of the source.

The process that plans and starts work holds secrets that calculators must not reach, such as the password of a
database. So this process checks calculators here; only the workers of Spark import calculators.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path

from provenn.catalogs.calculators.captured import hash_source
from provenn.catalogs.calculators.plain_functions import check_function_definition, check_path
from provenn.errors import CalculatorChangedError, CalculatorError

__all__ = ["check_source", "find_source", "hash_module_source", "locate_function"]

_MAIN = "__main__"


def check_source(function: str, source: str, code: str = "") -> Path | None:
    """Make sure that the code of a calculator exists and is unchanged since registration; nothing is run.

    Parameters
    ----------
    function
        The import path of the function, ``module:name``.
    source
        The SHA-256 of the source.
    code
        The captured source, if the function belongs to no module.

    Returns
    -------
    Path or None
        The file of the module; None for captured source.

    Raises
    ------
    CalculatorChangedError
        If the code has changed.
    CalculatorError
        If the module or the function is not found.
    """
    module, name = check_path(function)
    if code:
        if hash_source(code) != source:
            raise CalculatorChangedError(f"the captured source of {name} is not what was registered")
        return None
    file = find_source(module)
    if file is None or module == _MAIN:
        hint = f"make {module} importable here: install it, or add its folder to PYTHONPATH"
        raise CalculatorError(f"the module of the calculator {function} cannot be found", hint=hint)
    text = _read_file(file)
    if sha256(text).hexdigest() != source:
        raise CalculatorChangedError(
            f"the code of the calculator {function} has changed since it was registered, in {file}",
            hint="restore the code; or register the calculator again, and derive its attributes again",
        )
    check_function_definition(text, name, file)
    return file


def locate_function(function: str) -> tuple[str, str]:
    """Return the import path ``module:name`` of a function, and the SHA-256 of its module, without import.

    Raises
    ------
    CalculatorError
        If the text is no import path, or the module or the function is not found.
    """
    module, name = check_path(function)
    file = find_source(module)
    if file is None:
        hint = f"make {module} importable here: install it, or add its folder to PYTHONPATH"
        raise CalculatorError(f"the module {module} has no Python source", hint=hint)
    return function, hash_module_source(file, name)


def find_source(module: str) -> Path | None:
    """Return the file of a module's Python source, or None; neither the module nor its packages are imported.

    >>> find_source("provenn.errors").name, find_source("provenn.no_such_module")
    ('errors.py', None)
    """
    names = module.split(".")
    if not all(map(str.isidentifier, names)):
        return None
    folders: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    for length in range(1, len(names) + 1):
        if length > 1 and folders is None:
            return None  # the parent module is no package
        spec, folders = _find_spec(".".join(names[:length]), folders)
        if spec is None and folders is None:
            return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def hash_module_source(file: Path, name: str) -> str:
    """Return the SHA-256 of a module's source; the source must define a plain function of this name.

    Raises
    ------
    CalculatorError
        If the file cannot be read, or does not define the function.
    """
    source = _read_file(file)
    check_function_definition(source, name, file)
    return sha256(source).hexdigest()


def _read_file(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CalculatorError(f"{file} cannot be read: {error.strerror or error}") from error


def _find_spec(name: str, folders: Sequence[str] | None) -> tuple[ModuleSpec | None, Sequence[str] | None]:
    """Return the spec of a module and the folders of its submodules, from the folders of the parent package."""
    module = sys.modules.get(name)
    if module is not None:  # a running script has no spec, and cannot be imported again
        content = getattr(module, "__dict__", {})  # a missing name would be given to the module's own __getattr__
        spec = content.get("__spec__")
        if not _is_gone(spec):
            return spec, None if spec is None else content.get("__path__")
    for finder in sys.meta_path:
        spec = None
        with suppress(ImportError, AttributeError, ValueError):
            try:
                spec = finder.find_spec(name, folders)
            except KeyError:  # a folder without __init__.py, in a package that is not imported
                return None, _find_plain_folders(name, folders or ())
        if spec is not None:
            locations = spec.submodule_search_locations
            return spec, None if locations is None else list(getattr(locations, "_path", locations))
    return None, None


def _is_gone(spec: ModuleSpec | None) -> bool:
    """Return whether the source of an imported module is no longer where it was; the source may have moved."""
    origin = spec.origin if spec else None
    return origin is not None and origin.endswith(".py") and not Path(origin).exists()


def _find_plain_folders(name: str, folders: Iterable[str]) -> list[str] | None:
    """Return the folders of a package without ``__init__.py``, below its parent's folders; None if there are none."""
    below = (Path(folder) / name.rpartition(".")[2] for folder in folders)
    return [str(folder) for folder in below if folder.is_dir()] or None
