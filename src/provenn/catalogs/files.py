"""What the files of a base catalog are: where they lie, what they hold, and whether they are still the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

from provenn.catalogs.digest import content_digest
from provenn.catalogs.file_columns import Column, check_columns
from provenn.catalogs.file_formats import look_at, settle_format
from provenn.catalogs.file_listing import File, absolute, listed
from provenn.catalogs.fingerprints import fingerprint
from provenn.catalogs.hats import hats_at
from provenn.catalogs.table_metadata import decoded, encoded
from provenn.catalogs.type_names import type_named
from provenn.criteria import Type, parse_type
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError

__all__ = ["EXTERNAL", "GIVEN", "TABLE", "Files"]

EXTERNAL = "external"
"""The format of a dataset that others keep, known from their lineage alone: nothing of it can be read."""

GIVEN = "given"
"""The format of a table that was in memory. The archive's store keeps it: `provenn.store.given` looks at it."""

TABLE = "table"
"""The format of a table of Spark's catalog. There are no files to look at: `provenn.spark.tables` looks at it."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files that are read together as one table.

    Parameters
    ----------
    format
        Spark's name of their format.
    options
        Spark's options to read them, by lower-case name, sorted.
    columns
        What they hold, the partition columns last.
    partitions
        The columns whose values are in the names of folders, ``year=2026``.
    digest
        The hash of the fingerprints of all files, in whatever order; not of their names.
    location
        Where they were last seen: a file, a folder or a glob; a path or a URI.
    fingerprints
        Those of the files then, by their paths below the location.
    row_count
        How many rows there are, if metadata tell.
    metadata
        What the files say of the table as a whole, by keyword; each value in JSON.
    """

    format: str
    options: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    partitions: tuple[str, ...]
    digest: str
    location: str
    fingerprints: tuple[tuple[str, str], ...] = field(repr=False)
    row_count: int | None
    metadata: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def at(
        cls,
        location: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - Spark's word
        schema: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        null: str | None = None,
    ) -> Self:
        """Look at files, but not at their data.

        Parameters
        ----------
        location
            A file, a folder with all that is in it, or a glob; a path or a URI. Of a folder in HATS, its parts.
        format
            Spark's name of the format. By default the suffixes tell.
        schema
            Types by column. For CSV, columns that it does not name have the types seen in the first block. For
            formats other than Parquet and CSV it is needed. Parquet needs none.
        options
            Spark's options to read the files.
        null
            What stands for NULL in files of text, besides nothing at all.

        Raises
        ------
        FilesMissingError
            If there are none.
        BaseFilesError
            If they cannot be read, or do not fit together.
        TypeNameError
            If the schema names a type that Spark does not have.
        """
        if format == TABLE:
            raise BaseFilesError(f"the table {location} is Spark's", hint="an archive can ingest it")
        if format == GIVEN:
            raise BaseFilesError(f"{location} cannot be read as given", hint="such tables are ingested from memory")
        if format == EXTERNAL:
            raise BaseFilesError(f"{location} cannot be read as external", hint="such datasets come from lineage alone")
        place = absolute(location)
        hats = hats_at(place) if format in (None, "parquet") else None
        place = hats.files if hats else place
        found = listed(place)
        known, settled = settle_format(found, format, options or {}, null)
        prints = {one.name: fingerprint(one, known) for one in found}
        # Names are no part of the identity, so nothing may depend on their order.
        found.sort(key=lambda one: prints[one.name])
        contents = look_at(found, known, settled, schema)
        columns, row_count = contents.columns, contents.rows
        if hats:
            hats.check((one.name for one in found), row_count)
            columns = hats.described(columns)
        partitions = [one for one in _partition_columns(found) if one.name not in {column.name for column in columns}]
        return cls(
            known,
            tuple(sorted({**settled, **contents.options}.items())),
            check_columns([*columns, *partitions], place),
            tuple(one.name for one in partitions),
            _digest(prints),
            place,
            tuple(sorted(prints.items())),
            row_count,
            encoded(contents.metadata),
        )

    @property
    def table_metadata(self) -> dict[str, Any]:
        """What the files say of the table as a whole, by keyword."""
        return decoded(self.metadata)

    @classmethod
    def elsewhere(cls, namespace: str, name: str, version: str, columns: Sequence[Column]) -> Self:
        """Return what is known of a dataset that others keep. Two are the same if all of this is the same.

        Parameters
        ----------
        namespace, name, version
            What others call it; the version may be empty.
        columns
            What they say it holds.
        """
        location = f"{namespace.rstrip('/')}/{name}" + (f"@{version[:12]}" if version else "")
        digest = content_digest("external", [namespace, name, version])
        return cls(EXTERNAL, (), check_columns(columns, location), (), digest, location, (), None)

    def check(self) -> None:
        """Make sure that the files are what they were.

        Of a table of Spark's catalog only Spark can tell, and of one that was given only the archive's store.

        Raises
        ------
        FilesMissingError
            If some are not there any more.
        FilesChangedError
            If some have changed, or there are more.
        BaseFilesError
            If others keep them.
        """
        if self.format in (TABLE, GIVEN):
            return
        if self.format == EXTERNAL:
            raise BaseFilesError(
                f"the data of {self.location} are kept by others: only its lineage is known here",
                hint="questions about it can be asked; to compute with it, ingest its data as a catalog",
            )
        now = _fingerprints(self.location, self.format)
        if _digest(now) == self.digest:
            return
        before = dict(self.fingerprints)
        there, then = set(now.values()), set(before.values())
        changed = sorted(name for name in now if now[name] not in then)
        missing = sorted(name for name in before if before[name] not in there)
        if missing and not changed:
            raise FilesMissingError(f"{_some(missing)} missing from {self.location}", hint=_MISSING_HINT)
        raise FilesChangedError(
            f"{_some(changed or list(now))} in {self.location} changed since it was ingested", hint=_CHANGED_HINT
        )

    def agrees(self) -> bool:
        """Whether the fingerprints are those of which the digest was made."""
        return _digest(dict(self.fingerprints)) == self.digest

    def moved(self, location: str | PathLike[str]) -> Self:
        """Return the same files, at another place.

        Raises
        ------
        FilesMissingError, FilesChangedError
            If what is there is something else.
        """
        if self.format == TABLE:
            raise BaseFilesError(f"the table {self.location} is Spark's", hint="ingest it again under its new name")
        if self.format == GIVEN:
            raise BaseFilesError("the table was ingested from memory and lies in the archive's store")
        if self.format == EXTERNAL:
            self.check()
        place = absolute(location)
        hats = hats_at(place) if self.format == "parquet" else None
        there = replace(self, location=hats.files if hats else place)
        there.check()
        return replace(there, fingerprints=tuple(sorted(_fingerprints(there.location, self.format).items())))

    def to_json(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is identity and what is not, as JSON."""
        identity = {
            "format": self.format,
            "options": dict(self.options),
            "columns": [[one.name, str(one.type), one.nullable] for one in self.columns],
            "partitions": list(self.partitions),
            "files": self.digest,
        }
        notes = {
            "location": self.location,
            "fingerprints": dict(self.fingerprints),
            "row_count": self.row_count,
            "units": {one.name: one.unit for one in self.columns if one.unit},
            "descriptions": {one.name: one.description for one in self.columns if one.description},
            "ucds": {one.name: one.ucd for one in self.columns if one.ucd},
        }
        if self.metadata:
            notes["metadata"] = dict(self.metadata)
        return identity, notes

    @classmethod
    def from_json(cls, identity: Mapping[str, Any], notes: Mapping[str, Any]) -> Self:
        """Read them from JSON."""
        said = (notes["units"], notes["descriptions"], notes.get("ucds", {}))  # there were no UCDs once
        return cls(
            identity["format"],
            tuple(sorted(identity["options"].items())),
            tuple(
                Column(name, type_named(kind), nullable, *(one.get(name, "") for one in said))
                for name, kind, nullable in identity["columns"]
            ),
            tuple(identity["partitions"]),
            identity["files"],
            notes["location"],
            tuple(sorted(notes["fingerprints"].items())),
            notes["row_count"],
            tuple(sorted(notes.get("metadata", {}).items())),
        )


_MISSING_HINT = "put it back where it was; or say where it is now, which changes no catalog"
_CHANGED_HINT = "bring back the old files; or ingest them again, as a new version, and rebuild on it what is wanted"


def _fingerprints(location: str, format: str) -> dict[str, str]:  # noqa: A002 - Spark's word
    """Return the fingerprints of files of which there were fingerprints before."""
    try:
        files = listed(location)
    except FilesMissingError as error:
        raise FilesMissingError(error.message, hint=_MISSING_HINT) from error
    prints = {}
    for one in files:
        try:
            prints[one.name] = fingerprint(one, format)
        except BaseFilesError:
            prints[one.name] = ""  # it was a file of this format once
    return prints


def _digest(prints: Mapping[str, str]) -> str:
    return content_digest("files", sorted(prints.values()))


def _some(names: Sequence[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{names[0]} and {len(names) - 1} more are"


def _partition_columns(files: Sequence[File]) -> list[Column]:
    names = [name for name, _ in files[0].partitions]
    for file in files:
        if [name for name, _ in file.partitions] != names:
            raise BaseFilesError(
                f"{files[0].name} and {file.name} lie in folders for different columns", hint="use a glob"
            )
    values = zip(*(file.partitions for file in files), strict=True)
    return [
        Column(name, _partition_type([value for _, value in column]), nullable=True)
        for name, column in zip(names, values, strict=True)
    ]


def _partition_type(values: Sequence[str | None]) -> Type:
    """Return the type of values in names of folders: whole numbers if they all are, otherwise strings."""
    given = [value for value in values if value is not None]
    whole = given and all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", value) for value in given)
    return parse_type("bigint" if whole else "string")
