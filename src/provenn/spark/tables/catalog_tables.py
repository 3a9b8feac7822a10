"""Tables of Spark's catalog as data of base catalogs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import MapType, StructField

from provenn.digests import content_digest
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError
from provenn.files.columns import FileColumn, check_columns
from provenn.files.file_set import TABLE, Files
from provenn.files.fingerprints import ROWS, Trust, make_fingerprints
from provenn.files.hashing import HashMemory
from provenn.files.listing import File, list_files
from provenn.files.type_names import restore_type
from provenn.gate.entrances import entrance
from provenn.gate.formats import check_table_provider
from provenn.spark.columns import column, quote_name
from provenn.spark.engine import Engine
from provenn.spark.text_moments import holds_timestamp

__all__ = ["check_table", "compute_old_fingerprints", "inspect_table", "read_table_contents"]


_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
_TEXT_PROVIDERS = frozenset({"csv", "json", "xml"})
_PIECES = 4
"""The number of pieces, of 60 bits each, of the digest of a row; the pieces of all rows are summed."""


def inspect_table(engine: Engine, name: str, trust: Trust | None = None, memory: HashMemory | None = None) -> Files:
    """Return the description of a table of Spark's catalog for a base catalog.

    A table in files is identified by the names and all bytes of the files. Views, tables of another database, and
    tables in files within reach of Spark alone are identified by a digest of all rows, so all rows are read.

    Parameters
    ----------
    engine
        The engine whose catalog has the table.
    name
        The name of the table in SQL: ``survey.stars``.
    trust
        As for `Files.at`: "metadata" compares only sizes and times, if the table lies in files.
    memory
        A memory of digests of files.

    Raises
    ------
    FilesMissingError
        If the table does not exist.
    """
    table = _Table.find(engine, name)
    prints = table.fingerprint_metadata(engine) if trust == "metadata" else table.fingerprint_contents(trust, memory)
    digest = content_digest("table", sorted(prints.items()))
    columns = check_columns(tuple(map(_convert_field, table.frame.schema.fields)), name)
    return Files(TABLE, (), columns, (), digest, table.name, tuple(sorted(prints.items())), row_count=None)


def check_table(engine: Engine, files: Files, memory: HashMemory | None = None) -> DataFrame:
    """Check that a table is unchanged, and return its rows.

    Raises
    ------
    FilesMissingError
        If the table does not exist any more.
    FilesChangedError
        If the table has changed.
    """
    table = _Table.find(engine, files.location)
    match files.basis:
        case "unverified":
            prints = table.fingerprint_as_before(engine)
        case "metadata":
            prints = table.fingerprint_metadata(engine)
        case basis:
            prints = table.fingerprint_contents("content" if basis == "content" else None, memory)
    columns = tuple(map(_convert_field, table.frame.schema.fields))
    if (prints, columns) != (dict(files.contents or files.fingerprints), files.columns):
        raise FilesChangedError(
            f"the table {files.location} changed since it was ingested",
            hint="ingest it again as a new version, and rebuild the catalogs that need it",
        )
    return table.frame


def read_table_contents(engine: Engine, files: Files, memory: HashMemory | None = None) -> Files:
    """Return a table of an archive of format 0005 or older, identified from now on by all its bytes or rows.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If the table is missing, or has changed as far as the old fingerprints show.
    """
    check_table(engine, files)
    contents = _Table.find(engine, files.location).fingerprint_contents(None, memory)
    return replace(files, contents=tuple(sorted(contents.items())), was_late=True)


def compute_old_fingerprints(engine: Engine, name: str) -> dict[str, str]:
    """Return the fingerprints of a table as an archive of format 0005 or older records them."""
    return _Table.find(engine, name).fingerprint_as_before(engine)


def _convert_field(field: StructField) -> FileColumn:
    metadata = field.metadata
    description = str(metadata.get("description") or metadata.get("comment") or "")
    unit, ucd = str(metadata.get("unit", "")), str(metadata.get("ucd", ""))
    kind = restore_type(field.dataType.simpleString())
    return FileColumn(field.name, kind, field.nullable, unit, description, ucd)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of Spark's catalog: the full name, the rows, and the addresses of the files, if there are files."""

    name: str
    frame: DataFrame
    addresses: tuple[str, ...]

    @classmethod
    @entrance("table of Spark's catalog", "formats")
    def find(cls, engine: Engine, name: str) -> _Table:
        try:
            entry = engine.session.catalog.getTable(name)
            parts = [*([entry.catalog] if entry.catalog else []), *(entry.namespace or []), entry.name]
            full_name = ".".join(map(quote_name, parts))
            if not entry.isTemporary:
                engine.session.catalog.refreshTable(full_name)  # other programs may have added files
            if entry.tableType != "VIEW" and not entry.isTemporary:  # a view is SQL of the owner of Spark's catalog
                check_table_provider(_find_provider(engine, full_name) or str(entry.catalog).lower(), name)
            frame = engine.session.table(full_name)
            if entry.tableType != "VIEW":  # the digest of a view's rows covers all values
                _check_moments(engine, full_name, frame)
            addresses = tuple(sorted(frame.inputFiles())) if entry.tableType != "VIEW" else ()
        except AnalysisException as error:
            raise FilesMissingError(f"Spark has no table {name}", hint=str(error).split("\n", 1)[0]) from error
        if entry.isTemporary:
            raise BaseFilesError(
                f"{name} is a temporary view, which other sessions cannot see", hint="save it as a table"
            )
        return cls(full_name, frame, addresses)

    def fingerprint_contents(self, trust: Trust | None, memory: HashMemory | None) -> dict[str, str]:
        """Return fingerprints of the files by address; or of all rows, under the name "rows"."""
        files = _list_files(self.addresses)
        if not files:
            return {"rows": self._digest_rows()}
        renamed = [replace(file, name=address) for address, file in files.items()]
        return make_fingerprints(renamed, "", trust, memory)

    def fingerprint_metadata(self, engine: Engine) -> dict[str, str]:
        """Return fingerprints of sizes and times of the files by address; or of all rows, under the name "rows"."""
        if not self.addresses:
            return {"rows": self._digest_rows()}
        return {address: f"metadata:{text}" for address, text in self.fingerprint_as_before(engine).items()}

    def fingerprint_as_before(self, engine: Engine) -> dict[str, str]:
        """Return fingerprints as in archives of format 0005 and older, by address; or of all rows, as "rows"."""
        if self.addresses:
            reader = engine.session.read.format("binaryFile").load(list(self.addresses))
            rows = reader.select("path", "length", sql.unix_micros("modificationTime")).collect()
            return {path: f"{length} {modified}" for path, length, modified in rows}
        # Spark cannot hash maps, so their text is hashed.
        values = [
            sql.to_json(column(field.name)) if isinstance(field.dataType, MapType) else column(field.name)
            for field in self.frame.schema.fields
        ]
        hashed = self.frame.select(sql.xxhash64(*values).alias("hash")).agg(
            sql.count("*"), sql.sum(sql.col("hash").cast("decimal(38,0)")), sql.bit_xor("hash")
        )
        return {"rows": " ".join(map(str, hashed.collect()[0]))}

    def _digest_rows(self) -> str:
        """Return a digest of all rows in any order: their number, and the sums of the pieces of their SHA-256.

        The text of a row names the column of each value, NULL included, so different rows have different texts.
        """
        whole = sql.struct(*(column(field.name) for field in self.frame.schema.fields))
        hashed = self.frame.select(sql.sha2(sql.to_json(whole, _JSON), 256).alias("hash"))
        pieces = (sql.conv(sql.substring("hash", 1 + 15 * number, 15), 16, 10) for number in range(_PIECES))
        row = hashed.agg(sql.count("*"), *(sql.sum(piece.cast("decimal(38,0)")) for piece in pieces)).collect()[0]
        return ROWS + content_digest("rows", [str(value) for value in row])


def _find_provider(engine: Engine, table: str) -> str:
    """Return the format of a table of Spark's catalog in lower case; empty if the catalog does not name it."""
    return _read_details(engine, table).get("Provider", "").lower()


def _read_details(engine: Engine, table: str) -> dict[str, str]:
    """Return the details of a table in Spark's catalog, by name."""
    rows = [tuple(row)[:2] for row in engine.session.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()]
    details = dropwhile(lambda row: row[0] != "# Detailed Table Information", rows)  # the columns come before
    return {str(name): str(value) for name, value in reversed(list(details))}


def _check_moments(engine: Engine, table: str, frame: DataFrame) -> None:
    """Refuse a table of text files whose timestamps have no format, because Spark completes some texts by the clock.

    Raises
    ------
    BaseFilesError
        If the table has timestamps without a format.
    """
    moments = [field.name for field in frame.schema.fields if holds_timestamp(field.dataType)]
    if not moments:
        return
    details = _read_details(engine, table)
    properties = details.get("Storage Properties", "").lower()
    if details.get("Provider", "").lower() in _TEXT_PROVIDERS and not re.search(r"[\[\s,]timestampformat=", properties):
        raise BaseFilesError(
            f"the table {table} lies in text files, and its column {moments[0]} has timestamps without a format: "
            "Spark would complete texts such as 12:30 from the clock",
            hint="ingest the files instead of the table; or make the table with OPTIONS (timestampFormat '…')",
        )


def _list_files(addresses: Sequence[str]) -> dict[str, File]:
    """Return files by address; an empty dictionary if only Spark can reach them."""
    try:
        return {address: list_files(address.replace("s3a://", "s3://", 1))[0] for address in addresses}
    except FilesMissingError:
        raise
    except BaseFilesError:
        return {}
