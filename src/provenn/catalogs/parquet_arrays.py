"""Arrays that DuckDB writes to Parquet in a way that Spark reads as other values.

DuckDB has arrays of one length, ``DOUBLE[2]``, beside lists, ``DOUBLE[]``. Where such an array is NULL, it writes as
many entries as the array would have, instead of one. DuckDB itself reads that again. Spark's fast reader takes the
entries for elements, and gives wrong values in the rows that follow; pyarrow refuses the file. Seen in DuckDB 2.0 with
Spark 4.3.
"""

from __future__ import annotations

from typing import IO, Any

from provenn.errors import BaseFilesError

__all__ = ["check_arrays"]


def check_arrays(file: IO[bytes], name: str) -> None:
    """Refuse a Parquet file of DuckDB that holds arrays which Spark would misread.

    The footer does not tell them from lists, so the columns in question are read: those of arrays in which something
    is NULL, in files of DuckDB. pyarrow refuses every array whose entries do not fit its length, which is what a NULL
    of two entries or more does; one of a single entry is written as it should be.

    Raises
    ------
    BaseFilesError
        If there are such arrays.
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
                opened.read_row_group(group, columns=[leaf.path])
            except pa.ArrowInvalid as error:
                raise BaseFilesError(
                    f"the column {column} of {name} holds arrays of which some are NULL, written by DuckDB in a way "
                    "that Spark reads as other values",
                    hint=f"write them as lists, such as {column}::DOUBLE[]",
                ) from error


def _may_be_null(chunk: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    statistics = chunk.statistics
    return statistics is None or not statistics.has_null_count or statistics.null_count > 0
