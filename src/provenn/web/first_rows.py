"""The first rows of a file that was written, as texts. Spark is not asked."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import Any

__all__ = ["FirstRows", "first_rows"]

_LARGEST = 5_000_000
"""Bytes of a VOTable that is looked into: one can only be read as a whole."""

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a table: its columns, and a text for each value; None where there is none."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()


def first_rows(path: Path, format: str, most: int = 10) -> FirstRows:  # noqa: A002 - Spark's word for it
    """Return the first rows of a file; none of a VOTable that is large."""
    if format == "csv":
        with path.open(encoding="utf-8", newline="") as opened:
            columns, *rows = islice(csv.reader(opened), most + 1)
        return FirstRows(tuple(columns), tuple(tuple(_text(one or None) for one in row) for row in rows))
    if format == "votable" and path.stat().st_size > _LARGEST:
        return FirstRows()
    for table in _tables(path, format, most):
        shown = table.slice(0, most)
        values = [column.to_pylist() for column in shown.columns]
        return FirstRows(tuple(shown.schema.names), tuple(tuple(map(_text, row)) for row in zip(*values, strict=True)))
    return FirstRows()


def _tables(path: Path, format: str, most: int) -> Iterator[Any]:  # noqa: A002 - see above
    """Yield tables or batches of pyarrow, of which the first is enough."""
    if format == "parquet":
        from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - most pages do without pyarrow

        with ParquetFile(path) as opened:
            yield from opened.iter_batches(most)
            yield opened.schema_arrow.empty_table()
    elif format == "fits":
        from provenn.catalogs.fits_columns import fits_table  # noqa: PLC0415 - see above
        from provenn.spark.tables.fits_rows import fits_batches  # noqa: PLC0415

        with path.open("rb") as stream:
            yield from fits_batches(stream, fits_table(stream, path.name, None), path.name)
    elif format == "ecsv":
        from provenn.spark.tables.ecsv_rows import ecsv_batches  # noqa: PLC0415 - see above

        with path.open("rb") as stream:
            yield from ecsv_batches(stream, path.name, "")
    else:
        from provenn.catalogs import Files  # noqa: PLC0415 - see above
        from provenn.spark.tables.votable_rows import votable_batches  # noqa: PLC0415

        with path.open("rb") as stream:
            yield from votable_batches(
                stream, Files.at(path, format="votable", trust="metadata").columns, path.name, "0"
            )


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, float):
        return f"{value:.10g}"
    text = value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
    text = value.isoformat() if isinstance(value, date) and not isinstance(value, datetime) else text
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
