"""Plain functions: functions defined by a module at its top level, as a foreign definition may name them.

The owner allows modules, and a module holds more than its own functions: imports, methods of classes, functions wrapped
by a decorator. None of these is a calculator. Three checks apply: the form of the path when provenn reads a definition,
the text of the module before the import, and the function itself after the import.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from unicodedata import normalize

from provenn.errors import CalculatorError

__all__ = ["check_function_definition", "check_path", "find_plain_function"]

_HINT = "write the calculator as a plain def at the top level of a module, without a decorator"


def check_path(path: object) -> tuple[str, str]:
    """Return the module and the name of a function from its import path; nothing is imported.

    Raises
    ------
    CalculatorError
        If the text is not the path of a function at the top level of a module.

    >>> check_path("survey.photometry:photo_z")
    ('survey.photometry', 'photo_z')
    """
    module, colon, name = path.partition(":") if isinstance(path, str) else ("", "", "")
    if not colon or not all(map(_is_identifier, (*module.split("."), name))):
        raise CalculatorError(f"expected MODULE:FUNCTION, got {path!a}", hint=_HINT)
    if name.startswith("__") and name.endswith("__"):
        raise CalculatorError(f"{path} is a special name of Python", hint=_HINT)
    return module, name


def _is_identifier(text: str) -> bool:
    """Whether a text is a name in the normal form of ``def`` and ``import``: Python normalizes letters."""
    return text.isidentifier() and normalize("NFKC", text) == text


def check_function_definition(source: bytes, name: str, file: object) -> None:
    """Make sure that the text of a module defines a plain function at its top level; the text is not run.

    Raises
    ------
    CalculatorError
        If the text does not define the function.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CalculatorError(f"{file} is not Python: {error}") from error
    definitions = [node for node in _iterate_definitions(tree.body) if node.name == name]
    if not definitions:
        raise CalculatorError(f"there is no function {name} in {file}", hint=_HINT)
    for node in definitions:
        if not isinstance(node, ast.FunctionDef):
            raise CalculatorError(f"{name} in {file} is not a plain function", hint=_HINT)
        if node.decorator_list:
            raise CalculatorError(f"{name} in {file} is decorated, so a different function would be called", hint=_HINT)


def _iterate_definitions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the definitions of a module outside functions and classes, also under conditions."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node
            case ast.If() | ast.For() | ast.While():
                yield from _iterate_definitions([*node.body, *node.orelse])
            case ast.With():
                yield from _iterate_definitions(node.body)
            case ast.Try() | ast.TryStar():
                handled = [statement for handler in node.handlers for statement in handler.body]
                yield from _iterate_definitions([*node.body, *handled, *node.orelse, *node.finalbody])


def find_plain_function(module: ModuleType, name: str) -> FunctionType | None:
    """Return the function defined under a name by an imported module; None for any other value.

    The attributes of a function can be forged. The origin of its code cannot, except by the module itself.
    """
    function = vars(module).get(name)  # getattr would call the module's own __getattr__ for missing names
    if type(function) is not FunctionType or function.__globals__ is not vars(module):
        return None
    is_own = function.__code__.co_qualname == function.__qualname__ == name and function.__module__ == module.__name__
    return function if is_own and "__wrapped__" not in vars(function) else None
