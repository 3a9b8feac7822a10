"""The rows of tables in IPAC and MRT, some at a time, as Arrow: astropy reads them, below their header.

NULL is what astropy masks: what the header says stands for it, and a field of blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from provenn.catalogs.ascii_columns import is_delimiter, read_lines, read_table
from provenn.catalogs.file_columns import Column
from provenn.catalogs.in_memory.from_astropy import from_astropy
from provenn.errors import BaseFilesError
from provenn.spark.tables.arrow_types import arrow_type

__all__ = ["ascii_batches"]

_ROWS = 50_000


def ascii_batches(file: IO[bytes], columns: Sequence[Column], name: str, format: str) -> Iterator[Any]:  # noqa: A002
    """Yield the rows of an open table.

    Parameters
    ----------
    file
        The file; it can seek.
    columns
        What it holds.
    name
        What to call it in errors.
    format
        ``"ipac"`` or ``"mrt"``.

    Raises
    ------
    BaseFilesError
        If a row does not fit the header.
    """
    begin = _ipac_rows(file) if format == "ipac" else _mrt_rows(file)
    file.seek(0)
    lines = read_lines(file)
    header = list(islice(lines, begin))
    schema = pa.schema([pa.field(one.name, arrow_type(one.type)) for one in columns])
    rows = (line for line in lines if line.strip())
    while some := list(islice(rows, _ROWS)):
        _check_rows(some, header, name, format)
        try:
            yield from_astropy(read_table([*header, *some], name, format)).select(schema.names).cast(schema)
        except (pa.ArrowException, KeyError) as error:
            raise BaseFilesError(f"a row of {name} does not fit its columns: {error}") from error


def _ipac_rows(file: IO[bytes]) -> int:
    """Return the number of the first line that is a row."""
    for number, line in enumerate(read_lines(file)):
        if line.strip() and not line.startswith(("\\", "|")):
            return number
    return 1 << 62


def _mrt_rows(file: IO[bytes]) -> int:
    """Return the number of the first line below the last section of the header."""
    return 1 + max(number for number, line in enumerate(read_lines(file)) if is_delimiter(line))


def _check_rows(rows: Iterable[str], header: Sequence[str], name: str, format: str) -> None:  # noqa: A002 - Spark's word
    """Refuse rows whose characters are not where the header says that columns are: astropy would leave them out."""
    names = next(line for line in header if line.startswith("|")) if format == "ipac" else ""
    bars = [place for place, letter in enumerate(names) if letter == "|"]
    for row in rows:
        if not row.isascii():
            raise BaseFilesError(
                f"a row of {name} holds characters beyond ASCII, so that its columns cannot be told: {row[:80]!r}",
                hint="write the table as VOTable or ECSV",
            )
        if bars and (row[bars[-1] :].strip() or any(row[bar : bar + 1].strip() for bar in bars)):
            raise BaseFilesError(
                f"a row of {name} has a character below a | of the header, which belongs to no column: {row[:80]!r}",
                hint='read the table with astropy (definition="left" or "right") and ingest it from there',
            )
