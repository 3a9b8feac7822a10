"""The checks of `provenn doctor`: small functions with one subject each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from provenn.errors import ProvennError
from provenn.hints import phrase_for_command

__all__ = ["CheckFunction", "CheckResult", "CheckState", "CompletedCheck", "run_checks"]

CheckState = Literal["ok", "warning", "wrong"]
"""With a warning, provenn works nevertheless."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    Parameters
    ----------
    state
        Whether all is well.
    message
        What the check saw.
    hint
        How to correct it; may be empty.
    """

    state: CheckState
    message: str
    hint: str = ""


CheckFunction = Callable[[], CheckResult]
"""A check: a function without parameters that returns its result."""


@dataclass(frozen=True, slots=True)
class CompletedCheck:
    """The result of a check, with the subject of the check."""

    subject: str
    result: CheckResult


def run_checks(checks: Iterable[tuple[str, CheckFunction]]) -> Iterator[CompletedCheck]:
    """Run the checks in turn, and yield each result; a check that fails yields a result, too."""
    for subject, check in checks:
        yield CompletedCheck(subject, _run_check(check))


def _run_check(check: CheckFunction) -> CheckResult:
    """Run a check, and return its result; an exception is a result with the state ``wrong``."""
    try:
        return check()
    except ProvennError as error:
        return CheckResult("wrong", error.message, phrase_for_command(error.hint))
    except Exception as error:  # noqa: BLE001 - the other checks still run
        return CheckResult("wrong", f"cannot be checked: {type(error).__name__}: {error}".rstrip(": "))
