"""Tables of Spark's catalog as the base of a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import MapType, StructField

from provenn.catalogs.digest import content_digest
from provenn.catalogs.file_columns import Column, check_columns
from provenn.catalogs.file_listing import File, listed
from provenn.catalogs.files import TABLE, Files
from provenn.catalogs.fingerprints import ROWS, Trust, fingerprints
from provenn.catalogs.hashing import HashMemory
from provenn.catalogs.type_names import type_named
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError
from provenn.spark.columns import column, quoted
from provenn.spark.engine import Engine

__all__ = ["check_table", "old_table_fingerprints", "table_contents", "table_files"]


_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
_PIECES = 4
"""How many pieces of 60 bits of each row's digest are added up."""


def table_files(engine: Engine, name: str, trust: Trust | None = None, memory: HashMemory | None = None) -> Files:
    """Look at a table of Spark's catalog: what a base catalog needs to know of it.

    A table that lies in files is known by their names and all their bytes. Any other, such as a view or a table of
    another database, is known by a digest of its rows, for which they are all read. So is a table whose files only
    Spark can reach.

    Parameters
    ----------
    engine
        Where Spark is.
    name
        The name of the table, as SQL has it: ``survey.stars``.
    trust
        As for `Files.at`: "metadata" takes sizes and times for enough, where there are files.
    memory
        A memory of digests of files.

    Raises
    ------
    FilesMissingError
        If there is no such table.
    """
    table = _Table.called(engine, name)
    prints = table.metadata(engine) if trust == "metadata" else table.contents(trust, memory)
    digest = content_digest("table", sorted(prints.items()))
    columns = check_columns(tuple(map(_column, table.frame.schema.fields)), name)
    return Files(TABLE, (), columns, (), digest, table.name, tuple(sorted(prints.items())), row_count=None)


def check_table(engine: Engine, files: Files, memory: HashMemory | None = None) -> None:
    """Make sure that a table is what it was.

    Raises
    ------
    FilesMissingError
        If it is not there any more.
    FilesChangedError
        If it has changed.
    """
    table = _Table.called(engine, files.location)
    match files.basis:
        case "unverified":
            now = table.old(engine)
        case "metadata":
            now = table.metadata(engine)
        case basis:
            now = table.contents("content" if basis == "content" else None, memory)
    columns = tuple(map(_column, table.frame.schema.fields))
    if (now, columns) != (dict(files.contents or files.fingerprints), files.columns):
        raise FilesChangedError(
            f"the table {files.location} changed since it was ingested",
            hint="ingest it again, as a new version, and rebuild on it what is wanted",
        )


def table_contents(engine: Engine, files: Files, memory: HashMemory | None = None) -> Files:
    """Return a table that an archive of format 0005 or older ingested, known from now on by all its bytes or rows.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If it is not what it was, as far as the old fingerprints tell.
    """
    check_table(engine, files)
    contents = _Table.called(engine, files.location).contents(None, memory)
    return replace(files, contents=tuple(sorted(contents.items())), was_late=True)


def old_table_fingerprints(engine: Engine, name: str) -> dict[str, str]:
    """Return the fingerprints that an archive of format 0005 or older has of a table."""
    return _Table.called(engine, name).old(engine)


def _column(field: StructField) -> Column:
    notes = field.metadata
    said = str(notes.get("description") or notes.get("comment") or "")
    kind = type_named(field.dataType.simpleString())
    return Column(field.name, kind, field.nullable, str(notes.get("unit", "")), said, str(notes.get("ucd", "")))


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of Spark's catalog: its whole name, its rows, and the addresses of its files, if it lies in files."""

    name: str
    frame: DataFrame
    addresses: tuple[str, ...]

    @classmethod
    def called(cls, engine: Engine, name: str) -> _Table:
        try:
            found = engine.session.catalog.getTable(name)
            parts = [*([found.catalog] if found.catalog else []), *(found.namespace or []), found.name]
            whole = ".".join(map(quoted, parts))
            if not found.isTemporary:
                engine.session.catalog.refreshTable(whole)  # others may have added files
            frame = engine.session.table(whole)
            addresses = tuple(sorted(frame.inputFiles())) if found.tableType != "VIEW" else ()
        except AnalysisException as error:
            raise FilesMissingError(f"Spark has no table {name}", hint=str(error).split("\n", 1)[0]) from error
        if found.isTemporary:
            raise BaseFilesError(f"{name} is a temporary view, which no other session has", hint="make it a table")
        return cls(whole, frame, addresses)

    def contents(self, trust: Trust | None, memory: HashMemory | None) -> dict[str, str]:
        """Return fingerprints made from what the table holds, by address; of rows, under one name."""
        files = _reached(self.addresses)
        if not files:
            return {"rows": self._row_digest()}
        named = [replace(file, name=address) for address, file in files.items()]
        return fingerprints(named, "", trust, memory)

    def metadata(self, engine: Engine) -> dict[str, str]:
        """Return fingerprints made from sizes and times, by address; of rows, under one name."""
        if not self.addresses:
            return {"rows": self._row_digest()}
        return {address: f"metadata:{text}" for address, text in self.old(engine).items()}

    def old(self, engine: Engine) -> dict[str, str]:
        """Return fingerprints as archives of format 0005 and older have them, by address; of rows, under one name."""
        if self.addresses:
            reader = engine.session.read.format("binaryFile").load(list(self.addresses))
            rows = reader.select("path", "length", sql.unix_micros("modificationTime")).collect()
            return {path: f"{length} {modified}" for path, length, modified in rows}
        # Text of maps, which have no hash of their own.
        values = [
            sql.to_json(column(field.name)) if isinstance(field.dataType, MapType) else column(field.name)
            for field in self.frame.schema.fields
        ]
        hashed = self.frame.select(sql.xxhash64(*values).alias("hash")).agg(
            sql.count("*"), sql.sum(sql.col("hash").cast("decimal(38,0)")), sql.bit_xor("hash")
        )
        return {"rows": " ".join(map(str, hashed.collect()[0]))}

    def _row_digest(self) -> str:
        """Return a digest of all rows, in whatever order: how many, and the sums of the pieces of their SHA-256.

        The text of a row says which value belongs to which column, NULL included, so that no two rows have the same.
        """
        whole = sql.struct(*(column(field.name) for field in self.frame.schema.fields))
        hashed = self.frame.select(sql.sha2(sql.to_json(whole, _JSON), 256).alias("hash"))
        pieces = (sql.conv(sql.substring("hash", 1 + 15 * number, 15), 16, 10) for number in range(_PIECES))
        row = hashed.agg(sql.count("*"), *(sql.sum(piece.cast("decimal(38,0)")) for piece in pieces)).collect()[0]
        return ROWS + content_digest("rows", [str(value) for value in row])


def _reached(addresses: Sequence[str]) -> dict[str, File]:
    """Return files by address; nothing if only Spark can reach them."""
    try:
        return {address: listed(address.replace("s3a://", "s3://", 1))[0] for address in addresses}
    except FilesMissingError:
        raise
    except BaseFilesError:
        return {}
