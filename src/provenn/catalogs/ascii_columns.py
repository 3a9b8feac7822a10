"""Tables of text in columns of fixed width: IPAC, and the machine-readable tables (MRT) of journals.

astropy reads them. What the columns are is in the header, which is given to it alone here, and once more before some
rows at a time in `provenn.spark.tables.ascii_rows`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, Any

from provenn.catalogs.astropy_header import unit_text
from provenn.catalogs.file_columns import Column, Contents, check_columns
from provenn.catalogs.type_names import type_named
from provenn.errors import BaseFilesError

__all__ = ["ascii_columns", "is_delimiter", "read_lines", "read_table"]

_TYPES = {"i": "bigint", "f": "double", "U": "string"}
_LONGEST = 4 * 2**20
"""The most characters that a header has."""


def ascii_columns(file: IO[bytes], name: str, format: str) -> Contents:  # noqa: A002 - Spark's word
    """Return the columns of an open table in IPAC or MRT.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        What to call it in errors.
    format
        ``"ipac"`` or ``"mrt"``.

    Raises
    ------
    BaseFilesError
        If it is none, or does not say of what types its columns are.
    """
    header = _ipac_header(file, name) if format == "ipac" else _mrt_header(file, name)
    table = read_table(header, name, format)
    columns = [
        Column(
            column.name,
            type_named(_TYPES[column.dtype.kind]),
            nullable=True,
            unit=unit_text(column.unit or ""),
            description=str(column.description or ""),
        )
        for column in table.itercols()
    ]
    return Contents(check_columns(columns, name), metadata=_metadata(table, header, format))


def read_table(lines: Sequence[str], name: str, format: str) -> Any:  # noqa: A002, ANN401 - astropy has no types
    """Have astropy read a header and rows.

    Raises
    ------
    BaseFilesError
        If it cannot.
    """
    from astropy.table import Table  # noqa: PLC0415 - it takes a while to import

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of units that are not those of the standard
            return Table.read(list(lines), format=f"ascii.{format}")
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise BaseFilesError(
            f"{name} cannot be read as {format.upper()}: {text[:300]}", hint="was it edited, or not copied completely?"
        ) from error


def read_lines(file: IO[bytes]) -> Iterator[str]:
    """Yield the lines of an open file, without their ends."""
    rest = b""
    while block := file.read(1 << 20):
        *whole, rest = (rest + block).split(b"\n")
        yield from (line.rstrip(b"\r").decode("utf-8", "replace") for line in whole)
    if rest:
        yield rest.rstrip(b"\r").decode("utf-8", "replace")


def is_delimiter(line: str) -> bool:
    """Tell whether a line of an MRT table divides it into sections.

    >>> is_delimiter("-" * 80), is_delimiter("=" * 7), is_delimiter("------ 5")
    (True, True, False)
    """
    return line.startswith(("------", "=======")) and len(set(line.strip())) == 1


def _ipac_header(file: IO[bytes], name: str) -> list[str]:
    header: list[str] = []
    for line in _limited(file, name):
        if line.strip() and not line.startswith(("\\", "|")):
            break
        header.append(line)
    rows = sum(line.startswith("|") for line in header)
    if not rows:
        raise BaseFilesError(
            f"{name} is not an IPAC table: there is no line of names between |",
            hint='say what it is with format=; for values between |, format="csv" and options={"sep": "|"}',
        )
    if rows == 1:
        raise BaseFilesError(f"{name} does not say of what types its columns are", hint="IPAC has them below the names")
    return header


def _mrt_header(file: IO[bytes], name: str) -> list[str]:
    """Return the lines up to the end of the description of columns."""
    header: list[str] = []
    described, delimiters = False, 0
    for line in _limited(file, name):
        header.append(line)
        described |= re.match("byte-by-byte description", line, re.IGNORECASE) is not None
        delimiters += described and is_delimiter(line)
        if delimiters == 3:
            return header
    raise BaseFilesError(
        f"{name} is not a machine-readable table: there is no Byte-by-byte Description",
        hint="say what it is with format=; a table that is described in a file of its own, ReadMe, can be converted "
        "with astropy",
    )


def _limited(file: IO[bytes], name: str) -> Iterator[str]:
    left = _LONGEST
    for line in read_lines(file):
        left -= len(line)
        if left < 0:
            raise BaseFilesError(f"the header of {name} has more than {_LONGEST // 2**20} MB")
        yield line


def _metadata(table: Any, header: Sequence[str], format: str) -> dict[str, Any]:  # noqa: A002, ANN401 - as above
    if format == "ipac":
        keywords = {key: found["value"] for key, found in table.meta.get("keywords", {}).items()}
        comments = table.meta.get("comments")
        return keywords | ({"comments": comments} if comments else {})
    found = (re.fullmatch(r"(Title|Authors|Table):\s*(.+?)\s*", line) for line in header)
    return {match[1]: match[2] for match in found if match}
