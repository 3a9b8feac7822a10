"""Captured functions: functions from a notebook or script, as source text for other processes.

A captured function is self-contained text: the imports and constants used by the function, and the function. The
archive keeps the text, and the SHA-256 of the text is the identity of the function. Nothing is pickled. The user must
have allowed this exact hash before the text runs: `provenn.catalogs.calculators.allowed`.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from math import isfinite
from textwrap import dedent
from types import CodeType, FunctionType, ModuleType

from provenn.errors import CalculatorError

__all__ = ["LONGEST", "capture_source", "hash_source", "make_function"]

LONGEST = 100_000
"""The most characters of a captured function."""

_HINT = (
    "import and define what it needs inside the function, pass values with parameters=, or move it to the "
    "top level of a .py file and import it"
)
_FUTURE = "from __future__ import annotations"
_ANNOTATIONS = 0x1000000  # CO_FUTURE_ANNOTATIONS
# Notebooks add names to the builtins, which other processes lack.
_BUILTINS = {
    name: value
    for name, value in vars(builtins).items()
    if not name.startswith("__") and getattr(value, "__module__", "builtins") == "builtins"
}


def hash_source(text: str) -> str:
    """Return the hash that identifies captured source."""
    return sha256(text.encode()).hexdigest()


def capture_source(function: FunctionType) -> str:
    """Return the source of a function with everything the function reads, enough to make the function anywhere.

    Raises
    ------
    CalculatorError
        If the source is not available, or the function reads a value without a text form. The message names the value.
    """
    source = _read_source(function)
    head = [_FUTURE] if function.__code__.co_flags & _ANNOTATIONS else []
    statements = _collect_statements(function, source, head)
    text = "\n".join([*head, *statements]) + "\n\n\n" * bool(head or statements) + source
    if len(text) > LONGEST:
        raise CalculatorError(
            f"the source of {function.__name__} is longer than {LONGEST:,} characters",
            hint="move it to a .py file, and import it",
        )
    _check_same_function(function, text, "\n".join([*head, source]))
    return text


def make_function(text: str, name: str) -> Callable[..., object]:
    """Return the function made by captured source. This runs the text: the user must have allowed the text.

    Raises
    ------
    CalculatorError
        If the text makes no function of this name, or fails.
    """
    return _run_source(text, name)


@cache
def _run_source(text: str, name: str) -> FunctionType:
    """Return the function of a name from captured source, after running the text once in a new module."""
    module = ModuleType(f"captured_{hash_source(text)[:12]}")
    try:
        exec(compile(text, f"<{module.__name__}>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - allowed
    except Exception as error:
        raise CalculatorError(
            f"the captured source of {name} does not run here: {type(error).__name__}: {error}",
            hint="install the packages that it imports",
        ) from error
    function = module.__dict__.get(name)
    if not isinstance(function, FunctionType) or function.__module__ != module.__name__:
        raise CalculatorError(f"the captured source does not define a function {name}")
    return function


def _read_source(function: FunctionType) -> str:
    """Return the text with the definition of a function, and nothing else."""
    name = function.__name__
    try:
        text = dedent(inspect.getsource(function)).strip() + "\n"
        (tree,) = ast.parse(text).body
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        raise CalculatorError(f"the source of {name} is not available", hint=_HINT) from error
    if not isinstance(tree, ast.FunctionDef):
        raise CalculatorError(f"{name} is not defined by a plain def", hint=_HINT)
    if tree.decorator_list:
        raise CalculatorError(f"{name} is decorated, so its source does not show what it does", hint=_HINT)
    return text


def _collect_statements(function: FunctionType, source: str, head: list[str]) -> list[str]:
    """Return the statements that define the global names read by a function."""
    if function.__closure__:
        names = ", ".join(function.__code__.co_freevars)
        raise CalculatorError(f"{function.__name__} uses {names} of the enclosing function", hint=_HINT)
    code = compile("\n".join([*head, source]), "<source>", "exec", dont_inherit=True)
    known = {**vars(builtins), **function.__globals__}
    statements, refused = set[str](), list[str]()
    for name in sorted(set(_find_global_names(code)) - {function.__name__}):
        if name not in known:
            refused.append(name)
        elif known[name] is not _BUILTINS.get(name, known):
            definitions = [] if name.startswith("__") else _make_definition_statements(name, known[name], source)
            statements.update(definitions)
            if not definitions:
                refused.append(f"{name} ({type(known[name]).__name__})")
    if refused:
        raise CalculatorError(f"{function.__name__} uses names from outside: {', '.join(refused)}", hint=_HINT)
    return sorted(statements, key=lambda statement: (not statement.startswith(("import ", "from ")), statement))


def _find_global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names read by code, inner functions included; refuse code with changes to globals."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            raise CalculatorError(
                f"it changes the global variable {instruction.argval}", hint="return the result instead"
            )
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _find_global_names(constant)


def _make_definition_statements(name: str, value: object, source: str) -> list[str]:
    """Return statements that give a name the same value; empty for a value without a text form."""
    if isinstance(value, ModuleType):
        return _make_import_statements(name, value, source)
    if _is_plain(value):
        return [f"{name} = {value!r}"]
    home, qualified_name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    is_importable = isinstance(home, str) and qualified_name.isidentifier() and _is_importable(home)
    if is_importable and getattr(sys.modules.get(str(home)), qualified_name, None) is value:
        return [f"from {home} import {qualified_name}" + (f" as {name}" if name != qualified_name else "")]
    return []


def _make_import_statements(name: str, module: ModuleType, source: str) -> list[str]:
    """Return statements to import a module under a name, with the submodules used in the source."""
    path = module.__name__
    if not _is_importable(path):
        return []
    statements = [f"import {path}" + (f" as {name}" if name != path else "")]
    for node in ast.walk(ast.parse(source)):
        inner = _read_attribute_path(node, name)
        while inner and isinstance(sys.modules.get(f"{path}.{inner[0]}"), ModuleType):
            path = f"{path}.{inner.pop(0)}"
            statements.append(f"import {path}")
        path = module.__name__
    return statements


def _read_attribute_path(node: ast.AST, name: str) -> list[str]:
    """Return the names after the dots of an expression such as ``scipy.stats.norm`` that starts with `name`."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return names if isinstance(node, ast.Name) and node.id == name else []


def _is_importable(path: str) -> bool:
    """Whether a different process can import a module by path."""
    if path == "__main__" or not all(part.isidentifier() for part in path.split(".")):
        return False
    try:
        return find_spec(path) is not None
    except (ImportError, ValueError):
        return False


def _is_plain(value: object) -> bool:
    """Whether the repr of a value, evaluated, gives the same value."""
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    if type(value) is float:
        return isfinite(value)
    return value is None or type(value) in (bool, int, str, bytes)


def _check_same_function(function: FunctionType, text: str, alone: str) -> None:
    """Make sure that the captured source makes exactly the original function.

    Python compiles a call of an imported object differently if the import stands in the same text. A notebook compiles
    statements separately, a script as a whole, so both forms are correct.
    """
    name, defaults = function.__name__, (function.__defaults__, function.__kwdefaults__)
    if not all(map(_is_plain, defaults)):
        raise CalculatorError(f"a default of {name} is not a plain value", hint=_HINT)
    captured = _run_source(text, name)
    codes = (captured.__code__, *_find_codes(compile(alone, "<source>", "exec", dont_inherit=True), name))
    same = any(_is_same_code(code, function.__code__) for code in codes)
    if not same or (captured.__defaults__, captured.__kwdefaults__) != defaults:
        raise CalculatorError(
            f"the source of {name} has changed since it was run",
            hint="run its definition again, then register the function",
        )


def _find_codes(code: CodeType, name: str) -> Iterator[CodeType]:
    """Return the code objects of functions with a name in compiled code."""
    return (constant for constant in code.co_consts if isinstance(constant, CodeType) and constant.co_name == name)


def _is_same_code(left: CodeType, right: CodeType) -> bool:
    """Whether two code objects do the same, regardless of their place."""
    compared = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_argcount")
    if any(getattr(left, attribute) != getattr(right, attribute) for attribute in (*compared, "co_kwonlyargcount")):
        return False
    if len(left.co_consts) != len(right.co_consts):
        return False
    return all(
        _is_same_code(constant, other)
        if isinstance(constant, CodeType) and isinstance(other, CodeType)
        else (type(constant), repr(constant)) == (type(other), repr(other))
        for constant, other in zip(left.co_consts, right.co_consts, strict=True)
    )
