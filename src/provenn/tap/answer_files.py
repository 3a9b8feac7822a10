"""Writing an answer into a file, in any of the formats of `provenn.tap.answer_formats`."""

from __future__ import annotations

import csv
import json
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from provenn.catalogs.schema import Attribute, make_own_identity
from provenn.criteria import parse_type
from provenn.digests import CatalogDigest
from provenn.files.export_notes import FileNotes
from provenn.tap.answer_formats import AnswerFormat
from provenn.tap.plain_tables import read_note
from provenn.tap.votable_writing import VOTableNotes, write_votable_answer

__all__ = ["write_answer"]

_ROWS: Final = 1 << 14
_TYPES: Final = {
    "bool": "boolean",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
}


def write_answer(
    table: Any,  # noqa: ANN401 - pyarrow has no types
    path: Path,
    answer_format: AnswerFormat,
    notes: VOTableNotes,
) -> None:
    """Write a plain table into a file.

    Parameters
    ----------
    table
        The table, as `provenn.tap.plain_tables` makes it.
    path
        The file, which is replaced.
    answer_format
        The format.
    notes
        What the answer says beside the table, as far as the format can.

    Raises
    ------
    FormatError
        If the format cannot hold the table.
    """
    match answer_format.name:
        case "votable" | "votable/td":
            with path.open("wb") as stream:
                write_votable_answer(table, stream, notes, binary=answer_format.binary)
        case "csv":
            _write_separated(table, path, ",")
        case "tsv":
            _write_separated(table, path, "\t")
        case "json":
            _write_json(table, path, notes)
        case "parquet":
            _write_parquet(table, path, notes)
        case _:
            _write_fits(table, path, notes)


def _write_separated(table: Any, path: Path, separator: str) -> None:  # noqa: ANN401 - as above
    """Write comma- or tab-separated values with a header; NULL is an empty field."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=separator, lineterminator="\r\n" if separator == "," else "\n")
        writer.writerow([_flatten_text(name, separator) for name in table.schema.names])
        for batch in table.to_batches(max_chunksize=_ROWS):
            columns = [[_write_cell(cell, separator) for cell in values.to_pylist()] for values in batch.columns]
            writer.writerows(zip(*columns, strict=True))


def _write_cell(cell: object, separator: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, list):
        return " ".join("" if item is None else str(item) for item in cell)
    return _flatten_text(cell, separator) if isinstance(cell, str) else repr(cell)


def _flatten_text(text: str, separator: str) -> str:
    """Return a text for a cell: tab-separated values have no way to write tabs and line ends."""
    return text if separator == "," else " ".join(text.replace("\t", " ").splitlines())


def _write_json(table: Any, path: Path, notes: VOTableNotes) -> None:  # noqa: ANN401 - as above
    """Write an object with the status, the columns and the rows; numbers that JSON lacks are texts."""
    columns = [
        {
            "name": field.name,
            "type": str(field.type),
            **{key: read_note(field, key) for key in ("unit", "ucd", "description", "xtype") if read_note(field, key)},
        }
        for field in table.schema
    ]
    with path.open("w", encoding="utf-8") as stream:
        status = "OVERFLOW" if notes.overflow else "OK"
        stream.write(f'{{"status": "{status}", "columns": {json.dumps(columns)}, "rows": [')
        separator = "\n"
        for batch in table.to_batches(max_chunksize=_ROWS):
            cells = [[_make_json_value(cell) for cell in values.to_pylist()] for values in batch.columns]
            for row in zip(*cells, strict=True):
                stream.write(separator + json.dumps(row, allow_nan=False))
                separator = ",\n"
        stream.write("\n]}\n")


def _make_json_value(value: object) -> object:
    if isinstance(value, list):
        return [_make_json_value(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # noqa: PLR0124 - NaN alone
    return value


def _write_parquet(table: Any, path: Path, notes: VOTableNotes) -> None:  # noqa: ANN401 - as above
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    status = b"OVERFLOW" if notes.overflow else b"OK"
    metadata = {**(table.schema.metadata or {}), b"QUERY_STATUS": status}
    parquet.write_table(table.replace_schema_metadata(metadata), path)


def _write_fits(table: Any, path: Path, notes: VOTableNotes) -> None:  # noqa: ANN401 - as above
    from pyarrow import fs, parquet  # noqa: PLC0415 - it takes a while to import

    from provenn.spark.tables.fits_file import write_fits  # noqa: PLC0415
    from provenn.spark.tables.parts import PartFiles  # noqa: PLC0415

    with TemporaryDirectory(dir=path.parent) as folder, path.open("wb") as stream:
        part = f"{folder}/part.parquet"
        parquet.write_table(table, part)
        parts = PartFiles(fs.LocalFileSystem(), [part], table.schema)
        status = {"QSTATUS": "OVERFLOW" if notes.overflow else "OK"}
        write_fits(parts, [_make_attribute(field) for field in table.schema], stream, FileNotes(metadata=status))


def _make_attribute(field: Any) -> Attribute:  # noqa: ANN401 - as above
    """Return a column as an attribute, for writers of files."""
    kind = str(field.type)
    inner = kind.removeprefix("list<").split(": ")[-1].rstrip(">")
    name = f"array<{_TYPES[inner]}>" if kind.startswith("list<") else _TYPES[kind]
    unit, description, ucd = (read_note(field, key) for key in ("unit", "description", "ucd"))
    identity = make_own_identity(CatalogDigest(""), field.name)
    return Attribute(field.name, identity, parse_type(name), True, unit, description, ucd)
