"""Wrong calls of verbs, explained: an argument is missing, does not exist, or is of a type that the verb cannot use."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import ParamSpec, TypeVar

from provenn.errors import ProvennError

__all__ = ["explain_calls", "explain_wrong_calls"]

C = TypeVar("C", bound=type)
P = ParamSpec("P")
T = TypeVar("T")


def explain_wrong_calls(cls: C) -> C:
    """Let the public methods of a class explain calls with missing, unknown or unusable arguments; a decorator.

    Python itself binds the arguments: only after a `TypeError`, an `AttributeError`, a `ValueError` or a `LookupError`
    is the signature looked at, and an error from inside a method that was called rightly stays as it is.
    """
    for name, member in list(vars(cls).items()):
        if isinstance(member, FunctionType) and not name.startswith("_"):
            setattr(cls, name, explain_calls(member))
    return cls


def explain_calls(method: Callable[P, T]) -> Callable[P, T]:
    """Return a function that raises an `ArgumentsError` where Python raises an error of its own about the call."""

    @wraps(method)
    def call(*arguments: P.args, **keywords: P.kwargs) -> T:
        try:
            return method(*arguments, **keywords)
        except (TypeError, AttributeError, ValueError, LookupError) as raised:
            if isinstance(raised, ProvennError):
                raise
            from provenn.archive.call_mistakes import describe_mistake  # noqa: PLC0415 - only where there is an error

            error = describe_mistake(method, arguments, keywords)
            if error is None:
                raise
        raise error

    return call
