"""Functions that were typed in a notebook or stand in a script: their source, so that other processes can make them.

A captured function is text that needs nothing but itself: the imports and constants that the function reads, and the
function. The text is kept with the archive, and its SHA-256 is the identity of the function. Nothing is pickled, and
whoever runs the text must have allowed that very hash: `provenn.catalogs.calculators.allowed`.
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

__all__ = ["LONGEST", "capture", "hash_source", "make_function"]

LONGEST = 100_000
"""The most characters that a captured function has."""

_HINT = (
    "import and define what it needs inside the function, pass values with parameters=, "
    "or put it at the top level of a .py file and import it from there"
)
_FUTURE = "from __future__ import annotations"
_ANNOTATIONS = 0x1000000  # CO_FUTURE_ANNOTATIONS
# Notebooks add names to Python's own, which other processes do not have.
_BUILTINS = {
    name: value
    for name, value in vars(builtins).items()
    if not name.startswith("__") and getattr(value, "__module__", "builtins") == "builtins"
}


def hash_source(text: str) -> str:
    """Return the hash by which captured source is known."""
    return sha256(text.encode()).hexdigest()


def capture(function: FunctionType) -> str:
    """Return the source of a function, with all that it reads, as text that makes the same function anywhere.

    Raises
    ------
    CalculatorError
        If its source is not to be had, or it reads something that text cannot say. The message names it.
    """
    source = _source(function)
    head = [_FUTURE] if function.__code__.co_flags & _ANNOTATIONS else []
    needed = _needed(function, source, head)
    text = "\n".join([*head, *needed]) + "\n\n\n" * bool(head or needed) + source
    if len(text) > LONGEST:
        raise CalculatorError(
            f"the source of {function.__name__} is longer than {LONGEST:,} characters",
            hint="put it into a .py file, and import it from there",
        )
    _check_same(function, text, "\n".join([*head, source]))
    return text


def make_function(text: str, name: str) -> Callable[..., object]:
    """Return the function that captured source makes. This runs the text: it must have been allowed.

    Raises
    ------
    CalculatorError
        If the text makes no such function, or fails.
    """
    return _made(text, name)


@cache
def _made(text: str, name: str) -> FunctionType:
    module = ModuleType(f"captured_{hash_source(text)[:12]}")
    try:
        exec(compile(text, f"<{module.__name__}>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - allowed
    except Exception as error:
        raise CalculatorError(
            f"the captured source of {name} does not run here: {type(error).__name__}: {error}",
            hint="install what it imports",
        ) from error
    found = module.__dict__.get(name)
    if not isinstance(found, FunctionType) or found.__module__ != module.__name__:
        raise CalculatorError(f"the captured source makes no function {name}")
    return found


def _source(function: FunctionType) -> str:
    """Return the text that defines a function, and nothing else."""
    name = function.__name__
    try:
        text = dedent(inspect.getsource(function)).strip() + "\n"
        (tree,) = ast.parse(text).body
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        raise CalculatorError(f"the source of {name} is not to be had", hint=_HINT) from error
    if not isinstance(tree, ast.FunctionDef):
        raise CalculatorError(f"{name} is not defined by a plain def", hint=_HINT)
    if tree.decorator_list:
        raise CalculatorError(f"{name} is decorated, so that its source does not tell what it does", hint=_HINT)
    return text


def _needed(function: FunctionType, source: str, head: list[str]) -> list[str]:
    """Return the statements that give a function the global names that it reads."""
    if function.__closure__:
        names = ", ".join(function.__code__.co_freevars)
        raise CalculatorError(f"{function.__name__} reads {names} of the function around it", hint=_HINT)
    code = compile("\n".join([*head, source]), "<source>", "exec", dont_inherit=True)
    known = {**vars(builtins), **function.__globals__}
    statements, refused = set[str](), list[str]()
    for name in sorted(set(_global_names(code)) - {function.__name__}):
        if name not in known:
            refused.append(name)
        elif known[name] is not _BUILTINS.get(name, known):
            giving = [] if name.startswith("__") else _statements(name, known[name], source)
            statements.update(giving)
            if not giving:
                refused.append(f"{name} ({type(known[name]).__name__})")
    if refused:
        raise CalculatorError(f"{function.__name__} reads what is not part of it: {', '.join(refused)}", hint=_HINT)
    return sorted(statements, key=lambda statement: (not statement.startswith(("import ", "from ")), statement))


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that code reads, also in functions inside it; refuse code that changes any."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            raise CalculatorError(f"it changes the global name {instruction.argval}", hint="return what it finds out")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


def _statements(name: str, value: object, source: str) -> list[str]:
    """Return statements that give a name its value again; none if text cannot say it."""
    if isinstance(value, ModuleType):
        return _imports(name, value, source)
    if _is_plain(value):
        return [f"{name} = {value!r}"]
    home, called = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    found = isinstance(home, str) and called.isidentifier() and _importable(home)
    if found and getattr(sys.modules.get(str(home)), called, None) is value:
        return [f"from {home} import {called}" + (f" as {name}" if name != called else "")]
    return []


def _imports(name: str, module: ModuleType, source: str) -> list[str]:
    """Return statements that import a module under a name, with those of its own modules that the source reads."""
    path = module.__name__
    if not _importable(path):
        return []
    found = [f"import {path}" + (f" as {name}" if name != path else "")]
    for node in ast.walk(ast.parse(source)):
        inner = _path(node, name)
        while inner and isinstance(sys.modules.get(f"{path}.{inner[0]}"), ModuleType):
            path = f"{path}.{inner.pop(0)}"
            found.append(f"import {path}")
        path = module.__name__
    return found


def _path(node: ast.AST, name: str) -> list[str]:
    """Return the names behind the dots of an expression such as ``scipy.stats.norm``, if it begins with a name."""
    found: list[str] = []
    while isinstance(node, ast.Attribute):
        found.insert(0, node.attr)
        node = node.value
    return found if isinstance(node, ast.Name) and node.id == name else []


def _importable(path: str) -> bool:
    """Whether another process can import a module by its path."""
    if path == "__main__" or not all(part.isidentifier() for part in path.split(".")):
        return False
    try:
        return find_spec(path) is not None
    except (ImportError, ValueError):
        return False


def _is_plain(value: object) -> bool:
    """Whether a value is written by its repr, and read again as the same."""
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    if type(value) is float:
        return isfinite(value)
    return value is None or type(value) in (bool, int, str, bytes)


def _check_same(function: FunctionType, text: str, alone: str) -> None:
    """Make sure that the captured source makes the very function that was given.

    Python compiles a call of something imported in another way if the import stands in the same text. A notebook
    compiles statements one by one, a script as a whole, so that both are right.
    """
    name, defaults = function.__name__, (function.__defaults__, function.__kwdefaults__)
    if not all(map(_is_plain, defaults)):
        raise CalculatorError(f"a default of {name} is not a plain value", hint=_HINT)
    made = _made(text, name)
    codes = (made.__code__, *_codes(compile(alone, "<source>", "exec", dont_inherit=True), name))
    same = any(_same_code(code, function.__code__) for code in codes)
    if not same or (made.__defaults__, made.__kwdefaults__) != defaults:
        raise CalculatorError(
            f"the source of {name} is not what was run", hint="run its definition again, then register it"
        )


def _codes(code: CodeType, name: str) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType) and constant.co_name == name)


def _same_code(left: CodeType, right: CodeType) -> bool:
    """Whether two pieces of code do the same, wherever they stand."""
    alike = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_argcount")
    if any(getattr(left, attribute) != getattr(right, attribute) for attribute in (*alike, "co_kwonlyargcount")):
        return False
    if len(left.co_consts) != len(right.co_consts):
        return False
    return all(
        _same_code(constant, other)
        if isinstance(constant, CodeType) and isinstance(other, CodeType)
        else (type(constant), repr(constant)) == (type(other), repr(other))
        for constant, other in zip(left.co_consts, right.co_consts, strict=True)
    )
