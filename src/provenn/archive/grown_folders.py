"""Notice a grown folder: new files, missing from every version of a base catalog.

A catalog stays unchanged while files arrive. A user of the catalog learns in a line that a refresh would add the new
files. Only names of files are looked at; whether their content is new, the refresh finds out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.hints import Hint

if TYPE_CHECKING:
    from provenn.catalogs import Base, Catalog
    from provenn.catalogs.roots import Roots
    from provenn.database.transactions import Reading

__all__ = ["GrownFolder", "find_grown_folders"]


@dataclass(frozen=True, slots=True)
class GrownFolder:
    """A folder with files missing from a named version of a base catalog.

    Parameters
    ----------
    name
        The name of the version.
    location
        The folder.
    files
        How many files came.
    """

    name: str
    location: str
    files: int

    @property
    def message(self) -> Hint:
        """The notice, with the remedy in the words of each interface."""
        verb = "file has" if self.files == 1 else "files have"
        news = f"{self.files:,} {verb} come to {self.location} that {self.name} does not have yet"
        pronoun = "it" if self.files == 1 else "them"
        return Hint(
            f"{news}: archive.refresh({self.name!r}) adds {pronoun}",
            command=f"{news}: provenn refresh {shlex.quote(self.name)} adds {pronoun}",
            page=f"{news}: its owner adds {pronoun} with provenn refresh {shlex.quote(self.name)}",
        )


def find_grown_folders(reading: Reading, catalogs: Iterable[Catalog], roots: Roots | None = None) -> list[GrownFolder]:
    """Return the folders grown beyond the named versions of files behind catalogs.

    A version without a name is a former version: the name is on a newer version, or nobody can refresh the version.

    Parameters
    ----------
    reading
        The transaction.
    catalogs
        The catalogs.
    roots
        The folders that may be looked at; None for all.
    """
    from provenn.catalogs import cone, list_joined_bases  # noqa: PLC0415 - a command starts without it
    from provenn.catalogs.roots import lies_within  # noqa: PLC0415
    from provenn.definitions import catalog_names  # noqa: PLC0415
    from provenn.files.arrivals import count_new_files  # noqa: PLC0415

    versions = {member.digest: list_joined_bases(member) or () for member in cone(*catalogs)}
    growing = {digest: bases for digest, bases in versions.items() if any(map(_can_grow, bases))}
    names = catalog_names.find_names_by_digest(reading, list(growing)) if growing else {}
    grown: list[GrownFolder] = []
    for digest, words in names.items():
        known: dict[str, set[str]] = {}
        for base in filter(_can_grow, growing[digest]):
            known.setdefault(base.files.location, set()).update(name for name, _ in base.files.fingerprints)
        for location, own in known.items():
            files = count_new_files(location, own) if roots is None or lies_within(location, roots) else 0
            grown += [GrownFolder(min(words), location, files)] if files else []
    return grown


def _can_grow(base: Base) -> bool:
    """Return whether the files of a base catalog lie in a folder open to more files, without a log."""
    from provenn.files.file_set import EXTERNAL, GIVEN, TABLE  # noqa: PLC0415 - a command starts without it

    return base.files.format not in (GIVEN, TABLE, EXTERNAL) and not base.files.table and not base.files.is_old
