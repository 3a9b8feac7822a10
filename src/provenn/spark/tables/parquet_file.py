"""Writing part files into one Parquet file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from provenn.catalogs.schema import Attribute
from provenn.digests import canonical_json
from provenn.files.columns import FileColumn, build_metadata
from provenn.files.export_notes import NO_NOTES, FileNotes
from provenn.files.parquet_columns import TABLE_KEY
from provenn.spark.tables.parts import PartFiles
from provenn.spark.tables.voparquet import build_voparquet_header

__all__ = ["ORIGIN_KEY", "build_file_schema", "write_parquet"]

ORIGIN_KEY = "provenn.origin"
"""The key of the footer for the catalog of a file and its origin, as JSON."""

_LONGEST = 1 << 20

_ROWS, _BYTES = 1 << 20, 1 << 27
"""The size of a row group; this much is in memory at a time."""


def write_parquet(parts: PartFiles, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of part files into a stream as Parquet, and return the number of rows.

    Units and descriptions of attributes are metadata of the fields. The metadata of the table, and its origin, are
    metadata of the file.
    """
    schema = build_file_schema(parts.schema, attributes, notes)
    rows = 0
    waiting: list[Any] = []
    with parquet.ParquetWriter(stream, schema, compression="zstd", write_page_checksum=True) as writer:
        for batch in parts.read_batches():
            waiting.append(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            rows += len(batch)
            if sum(map(len, waiting)) >= _ROWS or sum(waiting_batch.nbytes for waiting_batch in waiting) >= _BYTES:
                writer.write_table(pa.Table.from_batches(waiting), row_group_size=_ROWS)
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting), row_group_size=_ROWS)
    return rows


def build_file_schema(
    schema: Any,  # noqa: ANN401 - pyarrow has no types
    attributes: Sequence[Attribute | FileColumn],
    notes: FileNotes = NO_NOTES,
    longest: int = _LONGEST,
) -> Any:  # noqa: ANN401
    """Return the schema of a Parquet file with the metadata of columns, table and origin, and those of VOParquet.

    Parameters
    ----------
    schema
        The Arrow types of the columns; metadata of the schema are ignored.
    attributes
        The attributes of the columns, in the same order.
    notes
        The notes of the file.
    longest
        The most characters of the origin.
    """
    own = {ORIGIN_KEY: notes.text(longest), TABLE_KEY: canonical_json(notes.metadata)} if notes.version else {}
    fields = [
        pa.field(attribute.name, field.type, attribute.nullable, build_metadata(attribute) or None)
        for attribute, field in zip(attributes, schema, strict=True)
    ]
    return pa.schema(fields, {**own, **build_voparquet_header(schema, attributes, notes)})
