"""Reports of failures: bad input, the environment, or a bug in provenn."""

from provenn.cli.output import write_error
from provenn.errors import ProvennError

__all__ = ["BAD_INPUT", "BUG", "report_error"]

BAD_INPUT = 2
"""The exit status for errors that the user or the administrator of the machine can correct."""

BUG = 70
"""The exit status for errors that provenn did not foresee."""


def report_error(error: Exception) -> int:
    """Write an error to the standard error, and return the exit status."""
    expected = error if isinstance(error, ProvennError) else _explain_environment(error)
    if expected is not None:
        write_error(expected)
        return BAD_INPUT
    message = f"{type(error).__name__}: {error}".rstrip(": ")
    write_error(
        ProvennError(
            f"internal error in provenn (a bug, sorry): {message}",
            hint="`provenn --debug …` shows where it happened; please report that, with the output of `provenn "
            "doctor --json`",
        )
    )
    return BUG


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
