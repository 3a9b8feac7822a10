"""The first rows of a written file as texts, read without Spark."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from provenn.display.cell_texts import format_cell, list_values

__all__ = ["FirstRows", "read_first_rows"]

_LARGEST = 5_000_000
"""Maximum bytes of a VOTable to preview, because a VOTable can only be read as a whole."""


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a table: the column names, and each value as text or None."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()


def read_first_rows(path: Path, format: str, most: int = 10) -> FirstRows:  # noqa: A002 - Spark's word for it
    """Return the first rows of a file; no rows for a large VOTable."""
    if format == "csv":
        with path.open(encoding="utf-8", newline="") as opened:
            columns, *rows = islice(csv.reader(opened), most + 1)
        return FirstRows(tuple(columns), tuple(tuple(format_cell(value or None) for value in row) for row in rows))
    if format == "votable" and path.stat().st_size > _LARGEST:
        return FirstRows()
    for table in _read_tables(path, format, most):
        head = table.slice(0, most)
        values = [list_values(column) for column in head.columns]
        return FirstRows(
            tuple(head.schema.names), tuple(tuple(map(format_cell, row)) for row in zip(*values, strict=True))
        )
    return FirstRows()


def _read_tables(path: Path, format: str, most: int) -> Iterator[Any]:  # noqa: A002 - see above
    """Yield tables or record batches of pyarrow; the caller uses only the first."""
    if format == "parquet":
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - most pages do without pyarrow

        with ParquetFile(path, page_checksum_verification=True) as opened:
            yield from opened.iter_batches(most)
            yield opened.schema_arrow.empty_table()
    elif format == "fits":
        from provenn.files.fits_columns import find_fits_table  # noqa: PLC0415 - see above
        from provenn.spark.tables.fits_rows import read_fits_batches  # noqa: PLC0415

        with path.open("rb") as stream:
            yield from read_fits_batches(stream, find_fits_table(stream, path.name, None), path.name)
    elif format == "ecsv":
        from provenn.spark.tables.ecsv_rows import read_ecsv_batches  # noqa: PLC0415 - see above

        with path.open("rb") as stream:
            yield from read_ecsv_batches(stream, path.name, "")
    else:
        from provenn.catalogs import Files  # noqa: PLC0415 - see above
        from provenn.spark.tables.votable_rows import read_votable_batches  # noqa: PLC0415

        with path.open("rb") as stream:
            yield from read_votable_batches(
                stream, Files.at(path, format="votable", trust="metadata").columns, path.name, "0"
            )
