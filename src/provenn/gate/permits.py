"""The owner's permits, by name: code, formats, options, and the expansion of files.

An archive is data, and may come from any author. So the list belongs to the owner of the account, never to an archive:
the file ``calculators`` of the owner's configuration and the environment contain all permits, despite the name of the
file.

=================  =================================================================================
``survey.photo``   a module, with all plain functions in it and in the modules below; ``*``: all modules
``sha256:…``       captured source, by its hash; no other permit allows captured source
``format:NAME``    a format of Spark beyond provenn's own list
``option:NAME``    an option of Spark beyond provenn's own list, with any value
``expansion:N``    files may unpack to N times their size
``export:HASH``    an archive may write certain files anew, which it follows: the hash of both places
=================  =================================================================================
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from provenn.durable import write_durably

__all__ = ["EVERYTHING", "allow", "find_largest_expansion", "forbid", "is_allowed", "is_permit", "read_permits"]

EVERYTHING = "*"
"""The permit for all modules, and for nothing but modules."""

_VARIABLES = ("PROVENN_ALLOW", "PROVENN_CALCULATORS")
_CAPTURED_SOURCE = re.compile(r"sha256:[0-9a-f]{64}")
_NAMED_PERMIT = re.compile(r"(format|option):[a-z0-9_][a-z0-9_.-]*|expansion:[1-9][0-9]{0,8}|export:[0-9a-f]{64}")


def is_permit(text: str) -> bool:
    """Return whether a text is a valid permit."""
    kinds = (_CAPTURED_SOURCE, _NAMED_PERMIT)
    return text == EVERYTHING or any(kind.fullmatch(text) for kind in kinds) or _is_module(text)


def is_allowed(permit: str, names: frozenset[str] | None = None) -> bool:
    """Return whether the owner's permits, or the given permits, include a permit; a package includes its modules."""
    permits = read_permits() if names is None else names
    if not _is_module(permit):
        return permit in permits
    parts = permit.split(".")
    return EVERYTHING in permits or any(".".join(parts[:length]) in permits for length in range(1, len(parts) + 1))


def find_largest_expansion(usual: int) -> int:
    """Return the largest ratio of unpacked to packed size: the owner's largest permit, or else the usual ratio."""
    numbers = (name.removeprefix("expansion:") for name in read_permits() if name.startswith("expansion:"))
    return max((int(number) for number in numbers if number.isascii() and number.isdigit()), default=usual)


def read_permits() -> frozenset[str]:
    """Return all permits of the owner, from the file and from the environment."""
    words = (word for variable in _VARIABLES for word in os.environ.get(variable, "").replace(",", " ").split())
    return _read_file().union(words)


def allow(permit: str) -> None:
    """Add a permit to the owner's file; if the file cannot be written, nothing happens."""
    if not is_allowed(permit):
        with suppress(OSError):
            _write_file(_read_file() | {permit})


def forbid(permit: str) -> None:
    """Remove a permit from the owner's file."""
    _write_file(_read_file() - {permit})


def _is_module(text: str) -> bool:
    return all(map(str.isidentifier, text.split(".")))


def _locate_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - Path may raise
    return Path(folder) / "provenn" / "calculators"


def _read_file() -> frozenset[str]:
    try:
        return frozenset(_locate_file().read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):  # the file has no permits
        return frozenset()


def _write_file(permits: frozenset[str]) -> None:
    file = _locate_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_durably(file, "".join(f"{permit}\n" for permit in sorted(permits)).encode())
