"""Shared files of two versions: the files at a place, by the base catalogs of the version before.

A file is known by a fingerprint. Two files of a version may have the same fingerprint: copies, or files without rows. A
base catalog takes as many equal files as before, so an additional copy of a file is a new file, with keys to compare
with all other keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from provenn.catalogs import Base
from provenn.digests import CatalogDigest

__all__ = ["DividedFiles", "describe_place", "share_files"]

_MOST_GONE = 1_000
"""The most files that may be gone from a base catalog whose other files a new version shares."""

Prints = Mapping[str, str]
"""Fingerprints of files, by their names."""


@dataclass(frozen=True, slots=True)
class DividedFiles:
    """The files at a place, divided among base catalogs.

    Parameters
    ----------
    kept
        The parts of the base catalogs whose files are at the place, by the digest of the whole.
    new
        The fingerprints of all other files, by name.
    went
        How many files of the base catalogs are not at the place, or are counted as new.
    """

    kept: dict[CatalogDigest, Base]
    new: dict[str, str]
    went: int


def share_files(bases: Sequence[Base], prints: Prints, place: str, table: str | None = None) -> DividedFiles:
    """Divide the files at a place among the base catalogs holding the files.

    Parameters
    ----------
    bases
        The base catalogs.
    prints
        The fingerprints of the files at the place, by name.
    place
        The place.
    table
        For the folder of a table with a log, its kind and version; see `Base.take`.
    """
    remaining: dict[str, list[str]] = {}
    for name in sorted(prints, reverse=True):
        remaining.setdefault(prints[name], []).append(name)
    kept: dict[CatalogDigest, Base] = {}
    for base in bases:
        own = _choose_names(base.files.fingerprints, remaining)
        part = _take_files(base, own, place, is_choice=len(own) < len(prints), table=table)
        if part is None:
            for name, text in own.items():
                remaining[text].append(name)
        else:
            kept[base.digest] = part
    new = {name: text for text, names in remaining.items() for name in names}
    went = sum(len(base.files.fingerprints) for base in bases) - (len(prints) - len(new))
    return DividedFiles(kept, new, went)


def _choose_names(fingerprints: Iterable[tuple[str, str]], remaining: Mapping[str, list[str]]) -> dict[str, str]:
    """Return names of files with some fingerprints, each taken from the remaining names; known names come first."""
    chosen: dict[str, str] = {}
    renamed: list[str] = []
    for name, text in fingerprints:
        if name in remaining.get(text, ()):
            remaining[text].remove(name)
            chosen[name] = text
        else:
            renamed.append(text)
    for text in renamed:
        if remaining.get(text):
            chosen[remaining[text].pop()] = text
    return chosen


def _take_files(base: Base, prints: Prints, place: str, *, is_choice: bool, table: str | None) -> Base | None:
    """Return the part of a base catalog with some of the files; None without files, or if too many are gone."""
    gone = len(base.gone) + len(base.files.fingerprints) - len(prints)
    if not prints or gone > _MOST_GONE:
        return None
    is_table = bool(base.files.table if table is None else table)
    if (place, tuple(sorted(prints.items())), is_choice or is_table, is_table) == describe_place(base):
        return base  # a version may have many of them
    return base.take(prints, place, is_choice=is_choice, table=table)


def describe_place(base: Base) -> tuple[object, ...]:
    """Return the places and names of a base catalog's files, and whether the files lie among others or in a table."""
    return base.files.location, base.files.fingerprints, base.files.is_choice, bool(base.files.table)
