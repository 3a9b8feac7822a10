"""Detecting changed base files, and the errors about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError
from provenn.files.fingerprints import Basis, make_fingerprints, make_old_fingerprint
from provenn.files.hashing import HashMemory, ReadingProgress
from provenn.files.listing import (
    File,
    choose_files,
    choose_known_files,
    list_file_names,
    list_files,
    list_named_files,
)

__all__ = [
    "compute_content_fingerprints",
    "compute_current_fingerprints",
    "explain_changed_files",
    "list_version_files",
    "make_old_fingerprints",
]

_MISSING_HINT = "move it back; or give its new place, which changes no catalog"
_CHANGED_HINT = "restore the old files; or ingest the new files as a new version, and rebuild the catalogs that need it"


def compute_current_fingerprints(
    location: str,
    format: str,  # noqa: A002 - Spark's word
    basis: Basis | None,
    memory: HashMemory | None = None,
    progress: ReadingProgress | None = None,
    *,
    names: Collection[str] | None = None,
    known: Collection[str] = (),
    listing: Sequence[File] | None = None,
) -> dict[str, str]:
    """Return the current fingerprints of files by name.

    Parameters
    ----------
    location, format
        The location and the format of the files.
    basis
        The basis of the stored fingerprints, to which the current fingerprints are compared.
    memory, progress
        As for `provenn.files.hashing.hash_files`.
    names
        The names of the files, if the location may hold other files as well.
    known
        The names of the files when they were ingested. If all are there, files with other names came later, and are
        left out.
    listing
        The files, if they are listed already.

    Raises
    ------
    FilesMissingError
        If all files are gone.
    """
    if listing is None:
        chosen = choose_files(_list_expected_files(location, names), names)
        listing = choose_known_files(chosen, known) if known else chosen
    match basis:
        case "metadata":
            return _fingerprint_each(listing, lambda file: make_fingerprints([file], format, "metadata")[file.name])
        case "unverified":
            return _fingerprint_each(listing, lambda file: make_old_fingerprint(file, format))
        case _:
            return make_fingerprints(listing, format, "content" if basis == "content" else None, memory, progress)


def list_version_files(
    location: str,
    fingerprints: Mapping[str, str],
    partitions: Collection[str],
    format: str,  # noqa: A002 - Spark's word
    *,
    memory: HashMemory | None = None,
    progress: ReadingProgress | None = None,
) -> list[File]:
    """Return the files of a version of a table with a log, by name; files that do not exist are left out.

    A table may write a file anew under another name, with the same bytes, and delete the former one: it has the same
    rows, so it stands for the file that is missing. For this, all other files of the table are read.

    Parameters
    ----------
    location
        The folder of the table.
    fingerprints
        The fingerprints of the files of the version, by name.
    partitions
        The columns with values from the names of folders.
    format, memory, progress
        As for `provenn.files.fingerprints.make_fingerprints`.
    """
    files = list_named_files(location, fingerprints, partitions)
    missing = Counter(fingerprints.values()) - Counter(fingerprints[file.name] for file in files)
    if not missing:
        return files
    others = list_named_files(location, {*list_file_names(location)} - fingerprints.keys(), partitions)
    prints = make_fingerprints(others, format, "content", memory, progress)
    for file in others:
        if missing[prints[file.name]] > 0:
            missing[prints[file.name]] -= 1
            files.append(file)
    return sorted(files, key=lambda file: file.name)


def compute_content_fingerprints(
    location: str,
    format: str,  # noqa: A002 - Spark's word
    memory: HashMemory | None = None,
    progress: ReadingProgress | None = None,
) -> dict[str, str]:
    """Return fingerprints of files by name that reveal every change."""
    return make_fingerprints(_list_expected_files(location), format, None, memory, progress)


def make_old_fingerprints(location: str, format: str) -> dict[str, str]:  # noqa: A002 - Spark's word
    """Return the fingerprints of files by name, as in an archive of format 0005 or older."""
    return _fingerprint_each(_list_expected_files(location), lambda file: make_old_fingerprint(file, format))


def explain_changed_files(location: str, before: Mapping[str, str], now: Mapping[str, str]) -> BaseFilesError:
    """Return the error about changed files, from the fingerprints before and now, by name."""
    counts_before, counts_now = Counter(before.values()), Counter(now.values())
    changed = sorted(name for name, text in now.items() if counts_now[text] > counts_before[text])
    missing = sorted(name for name, text in before.items() if counts_before[text] > counts_now[text])
    if missing and not changed:
        verb = "is" if len(missing) == 1 else "are"
        return FilesMissingError(f"{_format_names(missing)} {verb} missing from {location}", hint=_MISSING_HINT)
    changed = changed or list(now)
    subject = location if location.endswith(changed[0]) else f"{_format_names(changed)} in {location}"
    when = "since it was ingested" if len(changed) == 1 else "since they were ingested"
    return FilesChangedError(f"{subject} changed {when}", hint=_CHANGED_HINT)


def _list_expected_files(location: str, names: Collection[str] | None = None) -> list[File]:
    """Return the files at a location, or those with some names; an error suggests where to look."""
    try:
        return list_files(location, names)
    except FilesMissingError as error:
        raise FilesMissingError(error.message, hint=_MISSING_HINT) from error


def _fingerprint_each(files: Sequence[File], fingerprint: Callable[[File], str]) -> dict[str, str]:
    """Return a fingerprint of each file, by name; an empty text for a file no longer in the format."""
    prints = {}
    for file in files:
        try:
            prints[file.name] = fingerprint(file)
        except BaseFilesError:
            prints[file.name] = ""
    return prints


def _format_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
