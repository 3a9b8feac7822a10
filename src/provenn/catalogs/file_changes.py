"""Whether files are what they were, and if not, which of them changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from provenn.catalogs.file_listing import File, listed
from provenn.catalogs.fingerprints import fingerprints, old_fingerprint
from provenn.catalogs.hashing import HashMemory, ReadingProgress
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError

if TYPE_CHECKING:
    from provenn.catalogs.files import Files

__all__ = ["changed_files", "current_contents", "current_fingerprints", "old_fingerprints"]

_MISSING_HINT = "put it back where it was; or say where it is now, which changes no catalog"
_CHANGED_HINT = "bring back the old files; or ingest them again, as a new version, and rebuild on it what is wanted"


def current_fingerprints(
    files: Files, memory: HashMemory | None = None, progress: ReadingProgress | None = None
) -> dict[str, str]:
    """Return the fingerprints that files have now, by name, made as those were that tell whether a file changed.

    Raises
    ------
    FilesMissingError
        If there are no files any more.
    """
    found = _listed(files.location)
    match files.basis:
        case "metadata":
            return _each(found, lambda file: fingerprints([file], files.format, "metadata")[file.name])
        case "unverified":
            return old_fingerprints(files)
        case basis:
            return fingerprints(found, files.format, "content" if basis == "content" else None, memory, progress)


def current_contents(
    files: Files, memory: HashMemory | None = None, progress: ReadingProgress | None = None
) -> dict[str, str]:
    """Return fingerprints of files that show every change, by name."""
    return fingerprints(_listed(files.location), files.format, None, memory, progress)


def old_fingerprints(files: Files) -> dict[str, str]:
    """Return the fingerprints that an archive of format 0005 or older has of files, by name."""
    return _each(_listed(files.location), lambda file: old_fingerprint(file, files.format))


def changed_files(location: str, before: Mapping[str, str], now: Mapping[str, str]) -> BaseFilesError:
    """Return the error that says which files changed, given their fingerprints before and now, by name."""
    then, there = Counter(before.values()), Counter(now.values())
    changed = sorted(name for name, text in now.items() if there[text] > then[text])
    missing = sorted(name for name, text in before.items() if then[text] > there[text])
    if missing and not changed:
        verb = "is" if len(missing) == 1 else "are"
        return FilesMissingError(f"{_list_names(missing)} {verb} missing from {location}", hint=_MISSING_HINT)
    changed = changed or list(now)
    where = location if location.endswith(changed[0]) else f"{_list_names(changed)} in {location}"
    when = "since it was ingested" if len(changed) == 1 else "since they were ingested"
    return FilesChangedError(f"{where} changed {when}", hint=_CHANGED_HINT)


def _listed(location: str) -> list[File]:
    try:
        return listed(location)
    except FilesMissingError as error:
        raise FilesMissingError(error.message, hint=_MISSING_HINT) from error


def _each(files: Sequence[File], fingerprint: Callable[[File], str]) -> dict[str, str]:
    """Return a fingerprint of each file, by name; nothing for one that is not of its format any more."""
    prints = {}
    for file in files:
        try:
            prints[file.name] = fingerprint(file)
        except BaseFilesError:
            prints[file.name] = ""
    return prints


def _list_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
