"""The files of a base catalog: their location, their columns, and whether they have changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

from provenn.digests import content_digest
from provenn.errors import BaseFilesError
from provenn.files.changes import (
    compute_content_fingerprints,
    compute_current_fingerprints,
    explain_changed_files,
    list_version_files,
    make_old_fingerprints,
)
from provenn.files.column_bounds import PIXELS, encode_bounds
from provenn.files.column_statistics import ColumnStatistics, decode_statistics, encode_statistics
from provenn.files.columns import FileColumn, FileContents, check_columns
from provenn.files.file_bounds import encode_file_bounds
from provenn.files.fingerprints import Basis, Caveat, Trust, find_basis, make_fingerprints
from provenn.files.formats import read_file_contents, settle_format
from provenn.files.hashing import HashMemory, ReadingProgress
from provenn.files.hats import Hats, read_hats
from provenn.files.listing import File, choose_files, choose_known_files, list_files, list_named_files, make_absolute
from provenn.files.partition_columns import bound_partition_columns, find_partition_columns
from provenn.files.snapshot_columns import read_snapshot_contents
from provenn.files.snapshots import TableSnapshot
from provenn.files.table_logs import find_snapshot, list_snapshot_files
from provenn.files.table_metadata import decode_metadata, encode_metadata
from provenn.gate.entrances import entrance
from provenn.gate.formats import check_reading

__all__ = ["EXTERNAL", "GIVEN", "TABLE", "Files", "compute_files_digest"]

EXTERNAL = "external"
"""The format of a dataset outside the archive, known from imported lineage alone. Its data cannot be read."""

GIVEN = "given"
"""The format of a table ingested from memory; the archive keeps its data: see `provenn.data.given_tables`."""

TABLE = "table"
"""The format of a table of Spark's catalog. There are no files: `provenn.spark.tables` reads the table."""

_BOUNDED = ("parquet", "csv")
"""The formats whose columns have bounds: from footers, or from the names of folders."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files read together as one table.

    Parameters
    ----------
    format
        Spark's name of the format.
    options
        Spark's options to read them, by lower-case name, sorted.
    columns
        The columns, partition columns last.
    partitions
        The columns with values from the names of folders, ``year=2026``.
    digest
        The hash of the fingerprints of all files; order and names of files do not matter.
    location
        The last known location: a file, a folder or a glob; a path or a URI.
    fingerprints
        The fingerprints of the files at that time, by path below the location.
    row_count
        The number of rows, if metadata say so.
    contents
        For files that an archive of format 0005 or older ingested: fingerprints made from all bytes, by the same paths,
        once the files were read. From then on these fingerprints decide whether a file changed.
    was_late
        Whether files may have changed unnoticed after they were ingested and before `contents` was made.
    row_key
        For files without a key: the last two columns, which are not in the files, and hold the file and the position of
        each row; see `provenn.files.row_keys`.
    metadata
        The metadata of the table as a whole, by keyword; each value in JSON.
    statistics
        What the files state about the values of columns, by name, in stored form; empty if an older version of provenn
        ingested the files. No part of the identity.
    samples
        The values of columns in a few rows, by name, in stored form; only after the files were read for a new base
        catalog. No part of the identity, and kept apart from the definition.
    bounds
        The bounds of the values of columns that the files and their folders state, by name, in stored form; only for
        files that are known by their content. No part of the identity.
    file_bounds
        The bounds of the values of columns in each file, by name, in stored form; only after the files were read for a
        new base catalog. No part of the identity, and kept apart from the definition.
    is_choice
        Whether the location may hold other files as well: then these are the files with names in `fingerprints`.
    table
        For files of a table with a log, at its folder: the kind of table, and the version in which the files were first
        seen, such as ``"Delta 3"``. Otherwise empty.
    """

    format: str
    options: tuple[tuple[str, str], ...]
    columns: tuple[FileColumn, ...]
    partitions: tuple[str, ...]
    digest: str
    location: str
    fingerprints: tuple[tuple[str, str], ...] = field(repr=False)
    row_count: int | None
    contents: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    was_late: bool = False
    row_key: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    statistics: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    samples: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    bounds: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    file_bounds: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    is_choice: bool = field(default=False, compare=False)
    table: str = field(default="", compare=False)

    def list_own_files(self) -> list[File]:
        """Return the files at the location, as far as they are part of these files.

        Raises
        ------
        FilesMissingError
            If there are no files.
        """
        files = self.list_present_files()
        return choose_known_files(files, self._known_names) if self._known_names else files

    def list_present_files(self) -> list[File]:
        """Return the files at the location, including files added later; for a choice, the chosen files.

        Raises
        ------
        FilesMissingError
            If there are no files.
        """
        if self.table:
            files = self._list_version_files()
            return choose_files(files, [file.name for file in files] or dict(self.fingerprints))
        return choose_files(list_files(self.location, self.chosen_names), self.chosen_names)

    def _list_version_files(
        self, memory: HashMemory | None = None, progress: ReadingProgress | None = None
    ) -> list[File]:
        """Return the files of a version of a table, as far as they are there."""
        prints = dict(self.fingerprints)
        return list_version_files(self.location, prints, self.partitions, self.format, memory=memory, progress=progress)

    @property
    def _known_names(self) -> frozenset[str]:
        """The names of the files, among which files that came later do not count; empty if no name is sure."""
        return frozenset() if self.is_old or self.is_choice or self.table else frozenset(dict(self.fingerprints))

    @property
    def chosen_names(self) -> frozenset[str] | None:
        """The names of the files, if the location may hold other files as well; otherwise None."""
        return frozenset(dict(self.fingerprints)) if self.is_choice else None

    @property
    def own_columns(self) -> tuple[FileColumn, ...]:
        """The columns in the files, or in the names of their folders: without the row key."""
        return self.columns[: len(self.columns) - len(self.row_key)]

    @classmethod
    @entrance("base files", "formats", "expansion")
    def at(
        cls,
        location: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - Spark's word
        schema: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        null: str | None = None,
        trust: Trust | None = None,
        names: Collection[str] | None = None,
        snapshot: TableSnapshot | None = None,
        memory: HashMemory | None = None,
        progress: ReadingProgress | None = None,
    ) -> Self:
        """Inspect files: read all bytes for the fingerprints, and the columns from metadata or first lines.

        Parameters
        ----------
        location
            A file, a folder with all its content, or a glob; a path or a URI. For a folder in HATS, its parts.
        format
            Spark's name of the format. By default the suffixes decide.
        schema
            Types by column. For CSV, all other columns get the types seen in the first block. Formats with column
            descriptions, such as Parquet, take no schema; any other format needs one.
        options
            Spark's options to read the files.
        null
            The text that stands for NULL in text files, besides the empty text.
        trust
            The basis of the fingerprints: by default all bytes, or ETag and version from an object store; "content"
            reads all bytes from object stores, too; "metadata" reads sizes, times and footers alone.
        names
            The names of the files to take, if the location may hold other files as well.
        snapshot
            The version of the table of Delta or Iceberg at the location; by default the newest, if there is a table.
        memory, progress
            As for `provenn.files.hashing.hash_files`.

        Raises
        ------
        FilesMissingError
            If there are no files.
        BaseFilesError
            If the files cannot be read, or do not fit together; or the format or an option is not allowed.
        ExpansionError
            If the files decompress to more than the allowed size.
        TypeNameError
            If the schema names a type that Spark does not have.
        """
        from provenn.files.row_samples import sample_files  # noqa: PLC0415 - a command starts without it

        if format == TABLE:
            raise BaseFilesError(f"{location} is a table of Spark", hint="ingest it into an archive")
        if format == GIVEN:
            raise BaseFilesError(f"the format of {location} is reserved", hint="ingest such tables from memory")
        if format == EXTERNAL:
            raise BaseFilesError(
                f"the format of {location} is reserved for lineage",
                hint="such datasets come only from imported lineage",
            )
        place = make_absolute(location)
        snapshot = snapshot or find_snapshot(place, format)
        hats = read_hats(place) if snapshot is None and format in (None, "parquet") else None
        if snapshot:
            place, format = snapshot.folder, "parquet"  # noqa: A001 - Spark's word
            listing = list_snapshot_files(snapshot, names)
        else:
            place = hats.files if hats else place
            listing = choose_files(list_files(place, names), names)
        file_format, read_options = settle_format(listing, "parquet" if hats else format, options or {}, null)
        check_reading(file_format, read_options, place)
        prints_by_name = make_fingerprints(listing, file_format, trust, memory, progress)
        # File names are no part of the identity, so nothing may depend on their order.
        listing.sort(key=lambda file: prints_by_name[file.name])
        if snapshot and schema is None:
            contents = read_snapshot_contents(snapshot, listing)
        else:
            contents = read_file_contents(listing, file_format, read_options, schema, nested=hats is not None)
        columns, row_count = contents.columns, contents.rows
        if hats:
            hats.check((file.name for file in listing), row_count)
            hats.check_places([file.name for file in listing], contents.file_bounds)
            columns = hats.describe_columns(columns)
        partitions = [
            partition
            for partition in find_partition_columns(listing)
            if partition.name not in {column.name for column in columns}
        ]
        pixels = hats.encode_pixels([file.name for file in listing], contents.bounds) if hats else ""
        bounds = {**contents.bounds, **bound_partition_columns(listing, partitions)}
        stated = (*([(PIXELS, pixels)] if pixels else ()), *encode_bounds(bounds))
        has_options = bool(options) or null is not None or (snapshot is not None and schema is not None)
        can_be_stated = file_format in _BOUNDED and not has_options  # options may change values
        can_be_stated = can_be_stated and _are_unchanged(listing, place, prints_by_name, snapshot)
        digest = _hash_fingerprints(prints_by_name)
        return cls(
            file_format,
            tuple(sorted({**read_options, **contents.options}.items())),
            check_columns([*columns, *partitions], place),
            snapshot.partitions if snapshot else tuple(partition.name for partition in partitions),
            digest,
            place,
            tuple(sorted(prints_by_name.items())),
            row_count,
            metadata=encode_metadata(contents.metadata),
            statistics=encode_statistics(contents.statistics),
            samples=sample_files(listing, file_format, contents),
            bounds=stated if can_be_stated else (),
            file_bounds=_bound_files(digest, listing, contents, partitions, hats) if can_be_stated else (),
            is_choice=names is not None or snapshot is not None,
            table=str(snapshot or ""),
        )

    @property
    def table_metadata(self) -> dict[str, Any]:
        """The metadata of the table as a whole, by keyword."""
        return decode_metadata(self.metadata)

    @property
    def column_statistics(self) -> dict[str, ColumnStatistics]:
        """What the files state about the values of columns, by name."""
        return decode_statistics(self.statistics)

    @classmethod
    def elsewhere(cls, namespace: str, name: str, version: str, columns: Sequence[FileColumn]) -> Self:
        """Return an external dataset, known from lineage alone. Equal arguments mean the same dataset.

        Parameters
        ----------
        namespace, name, version
            The namespace, name and version in the imported lineage; the version may be empty.
        columns
            The columns according to the imported lineage.
        """
        location = f"{namespace.rstrip('/')}/{name}" + (f"@{version[:12]}" if version else "")
        digest = content_digest("external", [namespace, name, version])
        return cls(EXTERNAL, (), check_columns(columns, location), (), digest, location, (), None)

    @property
    def basis(self) -> Basis | None:
        """The basis of the fingerprints that decide whether a file changed; None without fingerprints."""
        return find_basis(text for _, text in self.contents or self.fingerprints)

    @property
    def is_old(self) -> bool:
        """Whether an archive of format 0005 or older ingested the files, with metadata as their identity."""
        return find_basis(text for _, text in self.fingerprints) == "unverified"

    @property
    def caveat(self) -> Caveat | None:
        """The assumption about the files behind every result based on them; None without an assumption."""
        if self.was_late:
            return "late"
        return self.basis if self.basis in ("metadata", "unverified") else None

    @property
    def content(self) -> str:
        """The digest of the content of the files; empty if only an older archive has read them.

        Observations on the data, such as a unique key, belong to this digest.
        """
        if self.contents:
            return _compute_digest(self.format, self.contents)
        return "" if self.basis == "unverified" else self.digest

    def check_allowed(self) -> None:
        """Make sure that the owner of this account allows the format and the options.

        A definition may come from anybody. So both the importer of a definition and the reader of the files call this
        first.

        Raises
        ------
        BaseFilesError
            If the format or an option is not allowed.
        """
        check_reading(self.format, dict(self.options), self.location)

    def check(self, memory: HashMemory | None = None, progress: ReadingProgress | None = None) -> dict[str, str]:
        """Make sure that the files have not changed; return their fingerprints by name, as they are now.

        Only Spark can check a table of Spark's catalog, and only the archive's store a table ingested from memory.

        Parameters
        ----------
        memory, progress
            As for `provenn.files.hashing.hash_files`. Without a memory, all bytes are read again.

        Raises
        ------
        FilesMissingError
            If files are missing.
        FilesChangedError
            If files have changed. Files that came later do not matter: they belong to no version yet.
        BaseFilesError
            If the dataset is external.
        """
        self.check_allowed()
        if self.format in (TABLE, GIVEN):
            return {}
        if self.format == EXTERNAL:
            raise BaseFilesError(
                f"only the lineage of {self.location} is known here, not its data",
                hint="to compute with it, ingest its data as a catalog",
            )
        before = dict(self.contents or self.fingerprints)
        expected = self.content or self.digest
        now = self.compute_fingerprints(memory, progress)
        if _hash_fingerprints(now) != expected and memory is not None:  # the memory may be wrong, the files are not
            now = self.compute_fingerprints(None, progress)
        if _hash_fingerprints(now) != expected:
            raise explain_changed_files(self.location, before, now)
        return now

    def compute_fingerprints(
        self, memory: HashMemory | None = None, progress: ReadingProgress | None = None
    ) -> dict[str, str]:
        """Return the current fingerprints of the files by name, on the same basis as the stored fingerprints.

        Raises
        ------
        FilesMissingError
            If all files are gone.
        """
        return compute_current_fingerprints(
            self.location,
            self.format,
            self.basis,
            memory,
            progress,
            names=self.chosen_names,
            known=self._known_names,
            listing=self._list_version_files(memory, progress) if self.table else None,
        )

    def with_contents(self, memory: HashMemory | None = None, progress: ReadingProgress | None = None) -> Self:
        """Return files ingested by an older archive, with fingerprints of all bytes from now on.

        Raises
        ------
        FilesMissingError, FilesChangedError
            If the files changed since ingestion, as far as the old fingerprints show.
        """
        self.check()
        contents = compute_content_fingerprints(self.location, self.format, memory, progress)
        self.check()  # so the bytes read belong to the ingested files, not to files changed meanwhile
        return replace(self, contents=tuple(sorted(contents.items())))

    def in_old_terms(self, prints: Mapping[str, str] | None = None) -> Self:
        """Return the files as known to an archive of format 0005 or older, by these fingerprints if not None."""
        fingerprints = tuple(
            sorted((make_old_fingerprints(self.location, self.format) if prints is None else prints).items())
        )
        return replace(self, digest=_compute_digest(self.format, fingerprints), fingerprints=fingerprints)

    def take(
        self, prints: Mapping[str, str], location: str, *, is_choice: bool = True, table: str | None = None
    ) -> Self:
        """Return some of the files, at a location that may hold other files as well.

        Parameters
        ----------
        prints
            The fingerprints of the files, by their names at the location.
        location
            The location.
        is_choice
            Whether the location may hold other files.
        table
            For the folder of a table with a log, its kind and version; empty for any other. None if it stays the same.
        """
        fingerprints = tuple(sorted(prints.items()))
        is_whole = _hash_fingerprints(prints) == self.digest
        return replace(
            self,
            digest=_hash_fingerprints(prints),
            location=location,
            fingerprints=fingerprints,
            row_count=self.row_count if is_whole else None,
            statistics=self.statistics if is_whole else (),
            samples=self.samples if is_whole else (),
            bounds=self.bounds if is_whole else (),
            file_bounds=self.file_bounds if is_whole else (),
            is_choice=is_choice or bool(self.table if table is None else table),
            table=self.table if table is None else table and (self.table or table),
        )

    def agrees(self) -> bool:
        """Whether the digest is the digest of the fingerprints."""
        return _compute_digest(self.format, self.fingerprints) == self.digest

    def moved(self, location: str | PathLike[str], memory: HashMemory | None = None) -> Self:
        """Return the same files at a new location.

        Raises
        ------
        FilesMissingError, FilesChangedError
            If the new location has no files, or different files.
        """
        if self.format == TABLE:
            raise BaseFilesError(f"{self.location} is a table of Spark", hint="ingest it again under its new name")
        if self.format == GIVEN:
            raise BaseFilesError("the table was ingested from memory and lies in the archive's store")
        if self.format == EXTERNAL:
            self.check()
        place = make_absolute(location)
        hats = read_hats(place) if self.format == "parquet" else None
        relocated = replace(self, location=hats.files if hats else place, is_choice=bool(self.table))
        relocated.check(memory)
        prints = relocated.compute_fingerprints(memory)
        if not self.contents:
            return replace(relocated, fingerprints=tuple(sorted(prints.items())))
        return relocated.known_as(prints)

    def known_as(self, contents: Mapping[str, str]) -> Self:
        """Return files ingested by an older archive, under new file names.

        `contents` holds the fingerprints of all bytes by new name. Files with equal fingerprints take over the old
        fingerprint of a file with the same content.
        """
        old = dict(self.fingerprints)
        waiting: dict[str, list[str]] = {}
        for name, text in self.contents:
            waiting.setdefault(text, []).append(old[name])
        fingerprints = {name: waiting[text].pop() for name, text in contents.items()}
        return replace(self, fingerprints=tuple(sorted(fingerprints.items())), contents=tuple(sorted(contents.items())))


def _bound_files(
    digest: str, listing: Sequence[File], contents: FileContents, partitions: Sequence[FileColumn], hats: Hats | None
) -> tuple[tuple[str, str], ...]:
    """Return the bounds of columns in each file in stored form; the listing has the order of the fingerprints."""
    if not contents.file_bounds:
        contents = replace(contents, file_bounds=({},) * len(listing))
    bounds = [
        {**own, **bound_partition_columns([file], partitions)}
        for file, own in zip(listing, contents.file_bounds, strict=True)
    ]
    names = [column.name for column in (*partitions, *contents.columns)]
    pixels = [hats.encode_pixels([file.name], contents.bounds) for file in listing] if hats else []
    return encode_file_bounds(digest, bounds, dict.fromkeys(names), pixels if all(pixels) else ())


def _are_unchanged(
    listing: Sequence[File], location: str, prints: Mapping[str, str], snapshot: TableSnapshot | None
) -> bool:
    """Return whether files are known by their content, and have not changed since they were listed."""
    seen = {(file.name, file.size, file.modified) for file in listing}
    is_known = find_basis(prints.values()) in ("content", "store")
    if not is_known:
        return False
    current = list_named_files(location, prints, snapshot.partitions) if snapshot else list_files(location, prints)
    return seen <= {(file.name, file.size, file.modified) for file in current}


def _compute_digest(format: str, prints: Sequence[tuple[str, str]]) -> str:  # noqa: A002 - Spark's word
    """Return the digest of fingerprints; for a table of Spark's catalog, names are part of the digest."""
    return content_digest("table", sorted(prints)) if format == TABLE else _hash_fingerprints(dict(prints))


def _hash_fingerprints(prints: Mapping[str, str]) -> str:
    return compute_files_digest(prints.values())


def compute_files_digest(fingerprints: Iterable[str]) -> str:
    """Return the digest of files with some fingerprints, in any order."""
    return content_digest("files", sorted(fingerprints))
