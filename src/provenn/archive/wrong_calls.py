"""Wrong calls of verbs, explained: a needed argument is missing, or an argument does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["explain_wrong_calls"]

C = TypeVar("C", bound=type)


def explain_wrong_calls(cls: C) -> C:
    """Let the public methods of a class explain calls with missing or unknown arguments; a decorator.

    Python itself binds the arguments: only after a `TypeError` is the signature looked at, and an error from inside a
    method that was called rightly stays as it is.
    """
    for name, member in list(vars(cls).items()):
        if isinstance(member, FunctionType) and not name.startswith("_"):
            setattr(cls, name, _explain_calls(member))
    return cls


def _explain_calls(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that raises an `ArgumentsError` where Python raises a `TypeError` about the call."""

    @wraps(method)
    def call(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - as the method
        try:
            return method(*arguments, **keywords)
        except TypeError:
            from provenn.archive.call_mistakes import describe_mistake  # noqa: PLC0415 - only where there is an error

            error = describe_mistake(method, arguments, keywords)
            if error is None:
                raise
        raise error

    return call
