"""Tables of text in columns of fixed width: IPAC, and the machine-readable tables (MRT) of journals.

astropy reads these tables. The header describes the columns; astropy gets the header alone here, and the header with
batches of rows in `provenn.spark.tables.ascii_rows`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, Any, Final

from provenn.errors import BaseFilesError, ExpansionError
from provenn.files.astropy_header import format_unit
from provenn.files.columns import FileColumn, FileContents, check_columns
from provenn.files.type_names import restore_type
from provenn.gate.entrances import entrance
from provenn.hints import Hint

__all__ = ["is_delimiter", "read_ascii_columns", "read_lines", "read_table"]

_TYPES = {"i": "bigint", "f": "double", "U": "string"}
_LONGEST = 4 * 2**20
"""The most characters of a header."""


@entrance("header of IPAC or MRT", "length", "types")
def read_ascii_columns(file: IO[bytes], name: str, format: str) -> FileContents:  # noqa: A002 - Spark's word
    """Return the columns of an open table in IPAC or MRT.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        The name of the file in errors.
    format
        ``"ipac"`` or ``"mrt"``.

    Raises
    ------
    BaseFilesError
        If the file is no such table, or does not state the types of the columns.
    """
    header = _read_ipac_header(file, name) if format == "ipac" else _read_mrt_header(file, name)
    table = read_table(header, name, format)
    columns = [
        FileColumn(
            column.name,
            restore_type(_TYPES[column.dtype.kind]),
            nullable=True,
            unit=format_unit(column.unit or ""),
            description=str(column.description or ""),
        )
        for column in table.itercols()
    ]
    return FileContents(check_columns(columns, name), metadata=_read_metadata(table, header, format))


def read_table(lines: Sequence[str], name: str, format: str) -> Any:  # noqa: A002, ANN401 - astropy has no types
    """Parse a header and rows with astropy.

    Raises
    ------
    BaseFilesError
        If astropy cannot parse the lines.
    """
    from astropy.table import Table  # noqa: PLC0415 - it takes a while to import

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about nonstandard units
            return Table.read(list(lines), format=f"ascii.{format}")
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        raise BaseFilesError(
            f"{name} cannot be read as {format.upper()}: {text[:300]}",
            hint="it may have been edited, or not copied completely",
        ) from error


def read_lines(file: IO[bytes]) -> Iterator[str]:
    """Yield the lines of an open file, without line endings.

    Raises
    ------
    ExpansionError
        If a line is longer than the longest allowed header.
    """
    rest = b""
    while block := file.read(1 << 20):
        *lines, rest = (rest + block).split(b"\n")
        if len(rest) > _LONGEST:
            raise ExpansionError(f"a line of a table in columns of fixed width has more than {_LONGEST // 2**20} MB")
        yield from (line.rstrip(b"\r").decode("utf-8", "replace") for line in lines)
    if rest:
        yield rest.rstrip(b"\r").decode("utf-8", "replace")


def is_delimiter(line: str) -> bool:
    """Whether a line of an MRT table separates sections.

    >>> is_delimiter("-" * 80), is_delimiter("=" * 7), is_delimiter("------ 5")
    (True, True, False)
    """
    return line.startswith(("------", "=======")) and len(set(line.strip())) == 1


def _read_ipac_header(file: IO[bytes], name: str) -> list[str]:
    header: list[str] = []
    for line in _read_bounded_lines(file, name):
        if line.strip() and not line.startswith(("\\", "|")):
            break
        header.append(line)
    rows = sum(line.startswith("|") for line in header)
    if not rows:
        raise BaseFilesError(
            f"{name} is not an IPAC table: there is no line of names between |",
            hint=Hint(
                'name the format: format=…; for values between |, format="csv" and options={"sep": "|"}',
                command="name the format: --format …; for values between |, --format csv --option 'sep=|'",
            ),
        )
    if rows == 1:
        raise BaseFilesError(
            f"{name} does not state the types of its columns", hint="an IPAC table has them below the names"
        )
    return header


_NO_MRT: Final = "name the format: {}; if a separate ReadMe describes the table, convert the table with astropy first"


def _read_mrt_header(file: IO[bytes], name: str) -> list[str]:
    """Return the lines up to the end of the description of columns."""
    header: list[str] = []
    in_description, delimiters = False, 0
    for line in _read_bounded_lines(file, name):
        header.append(line)
        in_description |= re.match("byte-by-byte description", line, re.IGNORECASE) is not None
        delimiters += in_description and is_delimiter(line)
        if delimiters == 3:
            return header
    raise BaseFilesError(
        f"{name} is not a machine-readable table: there is no Byte-by-byte Description",
        hint=Hint(_NO_MRT.format("format=…"), command=_NO_MRT.format("--format …")),
    )


def _read_bounded_lines(file: IO[bytes], name: str) -> Iterator[str]:
    left = _LONGEST
    for line in read_lines(file):
        left -= len(line)
        if left < 0:
            raise BaseFilesError(f"the header of {name} has more than {_LONGEST // 2**20} MB")
        yield line


def _read_metadata(table: Any, header: Sequence[str], format: str) -> dict[str, Any]:  # noqa: A002, ANN401 - as above
    if format == "ipac":
        keywords = {key: entry["value"] for key, entry in table.meta.get("keywords", {}).items()}
        comments = table.meta.get("comments")
        return keywords | ({"comments": comments} if comments else {})
    matches = (re.fullmatch(r"(Title|Authors|Table):\s*(.+?)\s*", line) for line in header)
    return {match[1]: match[2] for match in matches if match}
