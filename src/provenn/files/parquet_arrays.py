"""Arrays in Parquet files of DuckDB that Spark reads as wrong values.

DuckDB has arrays of fixed length, ``DOUBLE[2]``, beside lists, ``DOUBLE[]``. For a NULL array DuckDB writes as many
entries as the array would have, instead of a single entry. DuckDB itself reads this correctly. Spark's fast reader
takes the entries for elements, and gives wrong values in the rows after; pyarrow refuses the file. Seen in DuckDB 2.0
with Spark 4.3.
"""

from __future__ import annotations

from typing import IO, Any

from provenn.errors import BaseFilesError

__all__ = ["check_arrays"]

_ROWS = 1 << 12


def check_arrays(file: IO[bytes], name: str) -> None:
    """Refuse a Parquet file of DuckDB with arrays that Spark would misread.

    The footer does not distinguish arrays from lists. So this reads the candidates: in files of DuckDB, array columns
    with a NULL. pyarrow refuses every array with entries unlike its length, as for a NULL of two entries or more;
    DuckDB writes a NULL of a single entry correctly.

    Raises
    ------
    BaseFilesError
        If the file holds arrays that Spark would misread.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only new base files need it
    from pyarrow import parquet  # noqa: PLC0415

    file.seek(0)
    opened = parquet.ParquetFile(file)
    if not str(opened.metadata.created_by).startswith("DuckDB"):
        return
    for place in range(len(opened.schema)):
        leaf = opened.schema.column(place)
        if leaf.max_repetition_level == 0:
            continue
        column = leaf.path.split(".")[0]
        for group in range(opened.metadata.num_row_groups):
            if not _may_be_null(opened.metadata.row_group(group).column(place)):
                continue
            try:
                for _ in opened.iter_batches(_ROWS, row_groups=[group], columns=[leaf.path]):
                    pass  # a few rows at a time: a small file can hold very many
            except pa.ArrowInvalid as error:
                raise BaseFilesError(
                    f"the column {column} of {name} holds NULL arrays that DuckDB wrote in a way that Spark misreads",
                    hint=f"write them as lists, such as {column}::DOUBLE[]",
                ) from error


def _may_be_null(chunk: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    statistics = chunk.statistics
    return statistics is None or not statistics.has_null_count or statistics.null_count > 0
