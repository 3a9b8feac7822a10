"""One Parquet file from many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from provenn.catalogs.schema import Attribute
from provenn.spark.columns import said
from provenn.spark.tables.parts import Parts

__all__ = ["write_parquet"]

_ROWS, _BYTES = 1 << 20, 1 << 27
"""How large a row group becomes; as much is in memory at a time."""


def write_parquet(parts: Parts, attributes: Sequence[Attribute], stream: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of parts into a stream; what is said of attributes is metadata of the fields. Return how many."""
    schema = pa.schema(
        [
            pa.field(
                one.name,
                field.type,
                one.nullable,
                said(one) or None,
            )
            for one, field in zip(attributes, parts.schema, strict=True)
        ]
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
