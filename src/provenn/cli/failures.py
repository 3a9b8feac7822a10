"""What went wrong, told to people: their input, their surroundings, or provenn itself."""

from provenn.cli.output import write_error
from provenn.errors import ProvennError

__all__ = ["BAD_INPUT", "BUG", "tell"]

BAD_INPUT = 2
"""The exit status for what its user, or whoever looks after the machine, can put right."""

BUG = 70
"""The exit status for what provenn should have foreseen."""


def tell(error: Exception) -> int:
    """Tell what went wrong, on the standard error; return the exit status."""
    known = error if isinstance(error, ProvennError) else _surroundings(error)
    if known is not None:
        write_error(known)
        return BAD_INPUT
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    write_error(
        ProvennError(
            f"this is a bug in provenn, sorry: {said}",
            hint="`provenn --debug …` shows where it is; please report that, with what `provenn doctor --json` says",
        )
    )
    return BUG


def _surroundings(error: Exception) -> ProvennError | None:
    """Return what a failure of the disk, the network or the database means; None if it is none of these."""
    if isinstance(error, OSError):
        said = ": ".join(str(one) for one in (error.filename, error.strerror or str(error)) if one)
        return ProvennError(said or type(error).__name__, hint="`provenn doctor` looks at folders and permissions")
    if isinstance(error, UnicodeEncodeError):  # bytes on the command line that are no text, as Python passes them on
        said = ascii(error.object[error.start : error.end])
        return ProvennError(f"{said} is no text", hint="type names and addresses in UTF-8")
    if type(error).__module__.startswith("sqlalchemy.") and getattr(error, "orig", None) is not None:
        said = str(getattr(error, "orig", error)).strip().split("\n", 1)[0]
        return ProvennError(f"the database of the archive failed: {said}", hint="`provenn doctor` looks at it")
    return None
