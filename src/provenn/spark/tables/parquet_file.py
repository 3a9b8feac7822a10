"""One Parquet file from many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from provenn.catalogs.digest import canonical_json
from provenn.catalogs.file_notes import NO_NOTES, FileNotes
from provenn.catalogs.parquet_columns import TABLE_KEY
from provenn.catalogs.schema import Attribute
from provenn.spark.columns import said
from provenn.spark.tables.parts import Parts

__all__ = ["ORIGIN_KEY", "write_parquet"]

ORIGIN_KEY = "provenn.origin"
"""Where in the footer it stands which catalog a file holds and what that is made from, as JSON."""

_LONGEST = 1 << 20

_ROWS, _BYTES = 1 << 20, 1 << 27
"""How large a row group becomes; as much is in memory at a time."""


def write_parquet(parts: Parts, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of parts into a stream. Return how many.

    What is said of attributes is metadata of the fields; of the table as a whole, and of its origin, of the file.
    """
    schema = pa.schema(
        [
            pa.field(
                one.name,
                field.type,
                one.nullable,
                said(one) or None,
            )
            for one, field in zip(attributes, parts.schema, strict=True)
        ],
        {ORIGIN_KEY: notes.text(_LONGEST), TABLE_KEY: canonical_json(notes.metadata)} if notes.version else None,
    )
    rows = 0
    waiting: list[Any] = []
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        for batch in parts.batches():
            waiting.append(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            rows += len(batch)
            if sum(map(len, waiting)) >= _ROWS or sum(one.nbytes for one in waiting) >= _BYTES:
                writer.write_table(pa.Table.from_batches(waiting), row_group_size=_ROWS)
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting), row_group_size=_ROWS)
    return rows
