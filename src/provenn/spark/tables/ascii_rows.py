"""The rows of IPAC and MRT tables as Arrow, in batches; astropy reads the lines below the header.

Values that astropy masks are NULL: the null value of the header, and fields of blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any

import pyarrow as pa

from provenn.batches import split_batches
from provenn.errors import BaseFilesError
from provenn.files.arrow_types import find_arrow_type
from provenn.files.ascii_columns import is_delimiter, read_lines, read_table
from provenn.files.columns import FileColumn
from provenn.files.in_memory.from_astropy import convert_from_astropy

__all__ = ["read_ascii_batches"]

_ROWS = 50_000


def read_ascii_batches(file: IO[bytes], columns: Sequence[FileColumn], name: str, format: str) -> Iterator[Any]:  # noqa: A002
    """Yield the rows of an open table in batches.

    Parameters
    ----------
    file
        The file; it can seek.
    columns
        The columns of the table.
    name
        The name of the file in errors.
    format
        ``"ipac"`` or ``"mrt"``.

    Raises
    ------
    BaseFilesError
        If a row does not fit the header.
    """
    begin = _find_ipac_rows(file) if format == "ipac" else _find_mrt_rows(file)
    file.seek(0)
    lines = read_lines(file)
    header = list(islice(lines, begin))
    schema = pa.schema([pa.field(column.name, find_arrow_type(column.type)) for column in columns])
    rows = (line for line in lines if line.strip())
    for batch in split_batches(rows, _ROWS):
        _check_rows(batch, header, name, format)
        try:
            yield convert_from_astropy(read_table([*header, *batch], name, format)).select(schema.names).cast(schema)
        except (pa.ArrowException, KeyError) as error:
            raise BaseFilesError(f"a row of {name} does not fit its columns: {error}") from error


def _find_ipac_rows(file: IO[bytes]) -> int:
    """Return the number of the first line that is a row."""
    for number, line in enumerate(read_lines(file)):
        if line.strip() and not line.startswith(("\\", "|")):
            return number
    return 1 << 62


def _find_mrt_rows(file: IO[bytes]) -> int:
    """Return the number of the first line below the last section of the header."""
    return 1 + max(number for number, line in enumerate(read_lines(file)) if is_delimiter(line))


def _check_rows(rows: Iterable[str], header: Sequence[str], name: str, format: str) -> None:  # noqa: A002 - Spark's word
    """Refuse rows with characters outside the columns of the header, because astropy would ignore the characters."""
    names = next(line for line in header if line.startswith("|")) if format == "ipac" else ""
    bars = [place for place, letter in enumerate(names) if letter == "|"]
    for row in rows:
        if not row.isascii():
            raise BaseFilesError(
                f"a row of {name} holds non-ASCII characters, so its columns cannot be identified: {row[:80]!r}",
                hint="write the table as VOTable or ECSV",
            )
        if bars and (row[bars[-1] :].strip() or any(row[bar : bar + 1].strip() for bar in bars)):
            raise BaseFilesError(
                f"a row of {name} has a character below a | of the header, which belongs to no column: {row[:80]!r}",
                hint='read the table with astropy (definition="left" or "right") and ingest it from there',
            )
