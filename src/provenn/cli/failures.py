"""Reports of failures: bad input, the environment, or a bug in provenn."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from provenn.cli.output import write_error, write_error_as_json
from provenn.errors import ProvennError

__all__ = ["BAD_INPUT", "BUG", "asks_for_json", "report_error", "report_usage_as_json"]

BAD_INPUT: Final = 2
"""The exit status for errors that the user or the administrator of the machine can correct."""

BUG: Final = 70
"""The exit status for errors that provenn did not foresee."""


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether the arguments of a command line ask for an answer in JSON.

    >>> asks_for_json(["ls", "--json"])
    True
    >>> asks_for_json(["show", "--", "--json"])
    False
    """
    return "--json" in takewhile(lambda argument: argument != "--", arguments)


def report_error(error: Exception, *, as_json: bool) -> int:
    """Write an error to the standard error, and as JSON to the standard output; return the exit status."""
    expected = error if isinstance(error, ProvennError) else _explain_environment(error)
    explained = _explain_bug(error) if expected is None else expected
    if as_json:
        write_error_as_json(explained, "InternalError" if expected is None else type(explained).__name__)
    write_error(explained)
    return BUG if expected is None else BAD_INPUT


def report_usage_as_json(message: str) -> None:
    """Write an error about options or arguments as JSON; typer writes it for people."""
    write_error_as_json(
        ProvennError(message, hint="`provenn COMMAND --help` lists options and arguments"), "UsageError"
    )


def _explain_bug(error: Exception) -> ProvennError:
    """Return an error that provenn did not foresee as an error that says so."""
    message = f"{type(error).__name__}: {error}".rstrip(": ")
    return ProvennError(
        f"internal error in provenn (a bug, sorry): {message}",
        hint="`provenn --debug …` shows where it happened; please report that, with the output of `provenn "
        "doctor --json`",
    )


def _explain_environment(error: Exception) -> ProvennError | None:
    """Return a failure of disk, network or database as an error with a hint; None for unforeseen failures."""
    if isinstance(error, OSError):
        message = ": ".join(str(part) for part in (error.filename, error.strerror or str(error)) if part)
        return ProvennError(message or type(error).__name__, hint="`provenn doctor` checks folders and permissions")
    if isinstance(error, UnicodeEncodeError):  # bytes on the command line that are not UTF-8, as Python passes them on
        message = ascii(error.object[error.start : error.end])
        return ProvennError(f"expected text, got {message}", hint="type names and addresses in UTF-8")
    from sqlalchemy.exc import StatementError  # noqa: PLC0415 - commands that succeed start without it

    if isinstance(error, StatementError) and error.orig is not None:
        message = str(error.orig).strip().split("\n", 1)[0]
        return ProvennError(f"the database of the archive failed: {message}", hint="`provenn doctor` checks it")
    return None
