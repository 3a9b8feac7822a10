"""What the files of a base catalog are: where they lie, what they hold, and whether they are still the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

from provenn.catalogs.digest import content_digest
from provenn.catalogs.file_changes import changed_files, current_contents, current_fingerprints, old_fingerprints
from provenn.catalogs.file_columns import Column, check_columns
from provenn.catalogs.file_formats import look_at, settle_format
from provenn.catalogs.file_listing import File, absolute, listed
from provenn.catalogs.fingerprints import Basis, Caveat, Trust, basis_of, fingerprints
from provenn.catalogs.hashing import HashMemory, ReadingProgress
from provenn.catalogs.hats import hats_at
from provenn.catalogs.table_metadata import decoded, encoded
from provenn.catalogs.type_names import type_named
from provenn.criteria import Type, parse_type
from provenn.errors import BaseFilesError

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
    contents
        Of files that an archive of format 0005 or older ingested: fingerprints made from all bytes, by the same paths,
        once the files were read. From then on they tell whether a file changed.
    was_late
        Whether files may have changed unnoticed after they were ingested and before `contents` was made.
    row_key
        Of files without a key of their own: the last two columns, which are not in the files, and tell the file and the
        place of each row; see `provenn.catalogs.row_keys`.
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
    contents: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    was_late: bool = False
    row_key: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def own_columns(self) -> tuple[Column, ...]:
        """The columns that are in the files, or in the names of their folders."""
        return self.columns[: len(self.columns) - len(self.row_key)]

    @classmethod
    def at(
        cls,
        location: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - Spark's word
        schema: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        null: str | None = None,
        trust: Trust | None = None,
        memory: HashMemory | None = None,
        progress: ReadingProgress | None = None,
    ) -> Self:
        """Look at files: read all bytes for the fingerprints, and the columns from metadata or first lines.

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
        trust
            What fingerprints are made from: by default all bytes, or what an object store vouches for; "content" reads
            all bytes from object stores, too; "metadata" reads sizes, times and footers alone.
        memory, progress
            As for `provenn.catalogs.hashing.hash_files`.

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
        prints = fingerprints(found, known, trust, memory, progress)
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
            metadata=encoded(contents.metadata),
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

    @property
    def basis(self) -> Basis | None:
        """What the fingerprints were made from that tell whether a file changed; None if there are none."""
        return basis_of(text for _, text in self.contents or self.fingerprints)

    @property
    def is_old(self) -> bool:
        """Whether an archive of format 0005 or older ingested the files, so that their identity is in metadata."""
        return basis_of(text for _, text in self.fingerprints) == "unverified"

    @property
    def caveat(self) -> Caveat | None:
        """What is taken on trust of the files by everything that rests on them; None if nothing is."""
        if self.was_late:
            return "late"
        return self.basis if self.basis in ("metadata", "unverified") else None

    @property
    def content(self) -> str:
        """The digest of what the files hold, as far as that is known; nothing if only an older archive has seen them.

        What was found in the data, such as that a key is unique, belongs to this digest.
        """
        if self.contents:
            return _whole_digest(self.format, self.contents)
        return "" if self.basis == "unverified" else self.digest

    def check(self, memory: HashMemory | None = None, progress: ReadingProgress | None = None) -> None:
        """Make sure that the files are what they were.

        Of a table of Spark's catalog only Spark can tell, and of one that was given only the archive's store.

        Parameters
        ----------
        memory, progress
            As for `provenn.catalogs.hashing.hash_files`. Without a memory, all bytes are read again.

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
        before = dict(self.contents or self.fingerprints)
        expected = self.content or self.digest
        now = current_fingerprints(self, memory, progress)
        if _digest(now) != expected and memory is not None:  # the memory may be wrong, the files are not
            now = current_fingerprints(self, None, progress)
        if _digest(now) != expected:
            raise changed_files(self.location, before, now)

    def with_contents(self, memory: HashMemory | None = None, progress: ReadingProgress | None = None) -> Self:
        """Return files that an older archive ingested, known from now on by all their bytes.

        Raises
        ------
        FilesMissingError, FilesChangedError
            If they are not what they were when they were ingested, as far as the old fingerprints tell.
        """
        self.check()
        contents = current_contents(self, memory, progress)
        self.check()  # the bytes that were read are those of the files that were ingested, not of others
        return replace(self, contents=tuple(sorted(contents.items())))

    def in_old_terms(self, prints: Mapping[str, str] | None = None) -> Self:
        """Return the files as an archive of format 0005 or older would know them, by these fingerprints if given."""
        known = tuple(sorted((old_fingerprints(self) if prints is None else prints).items()))
        return replace(self, digest=_whole_digest(self.format, known), fingerprints=known)

    def agrees(self) -> bool:
        """Whether the fingerprints are those of which the digest was made."""
        return _whole_digest(self.format, self.fingerprints) == self.digest

    def moved(self, location: str | PathLike[str], memory: HashMemory | None = None) -> Self:
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
        there.check(memory)
        now = current_fingerprints(there, memory)
        if not self.contents:
            return replace(there, fingerprints=tuple(sorted(now.items())))
        return there.known_as(now)

    def known_as(self, contents: Mapping[str, str]) -> Self:
        """Return files that an older archive ingested with other names: by name, the fingerprints of all bytes."""
        old = dict(self.fingerprints)
        waiting: dict[str, list[str]] = {}
        for name, text in self.contents:
            waiting.setdefault(text, []).append(old[name])
        named = {name: waiting[text].pop() for name, text in contents.items()}
        return replace(self, fingerprints=tuple(sorted(named.items())), contents=tuple(sorted(contents.items())))

    def to_json(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is identity and what is not, as JSON."""
        identity = {
            "format": self.format,
            "options": dict(self.options),
            "columns": [[one.name, str(one.type), one.nullable] for one in self.columns],
            "partitions": list(self.partitions),
            "files": self.digest,
        }
        if self.row_key:
            identity["row_key"] = list(self.row_key)
        notes = {
            "location": self.location,
            "fingerprints": dict(self.fingerprints),
            "row_count": self.row_count,
            "units": {one.name: one.unit for one in self.columns if one.unit},
            "descriptions": {one.name: one.description for one in self.columns if one.description},
            "ucds": {one.name: one.ucd for one in self.columns if one.ucd},
        }
        if self.contents:
            notes |= {"contents": dict(self.contents), "was_late": str(self.was_late).lower()}
        if self.metadata:
            notes["metadata"] = dict(self.metadata)
        return identity, notes

    @classmethod
    def from_json(cls, identity: Mapping[str, Any], notes: Mapping[str, Any]) -> Self:
        """Read them from JSON."""
        said = (notes["units"], notes["descriptions"], notes.get("ucds", {}))  # there were no UCDs once
        made = cls(
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
            row_key=tuple(identity.get("row_key", ())),
            metadata=tuple(sorted(notes.get("metadata", {}).items())),
        )
        contents = tuple(sorted(notes.get("contents", {}).items()))
        if not contents or not made.is_old or not made.agrees():
            return made  # where the digest tells what files hold, nothing else does
        return replace(made, contents=contents, was_late=notes.get("was_late") == "true")


def _whole_digest(format: str, prints: Sequence[tuple[str, str]]) -> str:  # noqa: A002 - Spark's word
    """Return the digest of fingerprints: of those of a table of Spark's catalog, names are part."""
    return content_digest("table", sorted(prints)) if format == TABLE else _digest(dict(prints))


def _digest(prints: Mapping[str, str]) -> str:
    return content_digest("files", sorted(prints.values()))


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
