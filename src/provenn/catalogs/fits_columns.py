"""The tables of FITS files (standard 4.0, section 7): where they lie in the file and what their columns are.

Only headers are read. Values are decoded where data are read, in `provenn.spark.tables.fits_rows`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import IO, Any

from provenn.catalogs.file_columns import Column, Contents, check_columns
from provenn.catalogs.type_names import type_named
from provenn.errors import BaseFilesError

__all__ = ["PROVENN", "STRUCTURE", "FitsColumn", "FitsTable", "fits_columns", "fits_table"]

PROVENN = "provenn: "
"""How lines of HISTORY begin that provenn wrote."""

STRUCTURE = re.compile(
    r"SIMPLE|XTENSION|BITPIX|NAXIS\d*|PCOUNT|GCOUNT|TFIELDS|THEAP|EXTEND|CHECKSUM|DATASUM|END|CONTINUE|"
    r"T[A-Z]{2,5}\d+|\d+[A-Z]{3,5}\d+|Z(TABLE|IMAGE)|PRV[A-Z]+|"
)
"""Keywords that say how a table is stored, what its columns are, or what provenn wrote of its origin."""

_RECORD = 2880
_CUT_OFF = "was it copied completely?"
_BINARY = re.compile(r"(\d*)([LXBIJKAEDCM])(\d*).*|(\d?)([PQ])([LXBIJKAEDCM]).*")
_TEXT = re.compile(r"([AIFED])(\d+).*")
_TYPES = {
    "L": "boolean",
    "X": "boolean",
    "B": "smallint",
    "I": "smallint",
    "J": "int",
    "K": "bigint",
    "A": "string",
    "E": "float",
    "D": "double",
    "C": "struct<re:float,im:float>",
    "M": "struct<re:double,im:double>",
}
_SIZES = dict(zip("LXBIJKAEDCMPQ", (1, 1, 1, 2, 4, 8, 1, 4, 8, 8, 16, 8, 16), strict=True))
_UNSIGNED: dict[tuple[str, float], str] = {
    ("B", -128): "tinyint",
    ("I", 2**15): "int",
    ("J", 2**31): "bigint",
    ("K", 2**63): "decimal(20,0)",
}
"""How FITS says that whole numbers have a sign, or none: by what is to be added to them."""


@dataclass(frozen=True, slots=True)
class FitsColumn:
    """A column of a FITS table.

    Parameters
    ----------
    name, unit, description, ucd
        For people.
    code
        The letter of what one value is.
    repeat
        How many values there are in a row, or characters of text; of a variable column, nothing.
    dims
        The lengths of its axes, the slowest first; none if there is one value. Of text, without its length.
    scale, zero
        A value is what is stored times `scale` plus `zero`.
    null
        What is stored where there is no value.
    variable
        For arrays of variable length, P or Q: the letter of where their values are said to be.
    start
        In a table of text: where it begins in a row.
    """

    name: str
    code: str
    repeat: int
    dims: tuple[int, ...] = ()
    scale: float = 1
    zero: float = 0
    null: int | str | None = None
    variable: str = ""
    start: int = 0
    unit: str = ""
    description: str = ""
    ucd: str = ""

    @property
    def type(self) -> str:
        """Spark's name of its type."""
        kind = _TYPES[self.code]
        if self.code in "BIJKED" and (self.scale, self.zero) != (1, 0):
            kind = _UNSIGNED.get((self.code, self.zero), "double") if self.scale == 1 else "double"
        elif self.code in "CM" and (self.scale, self.zero) != (1, 0):
            kind = _TYPES["M"]
        depth = 1 if self.variable and self.code != "A" else len(self.dims)
        return "array<" * depth + kind + ">" * depth

    @property
    def nullable(self) -> bool:
        """Whether a value can be missing: whole numbers say what stands for that."""
        return self.null is not None or self.code not in "BIJK"


@dataclass(frozen=True, slots=True)
class FitsTable:
    """A table in a FITS file.

    Parameters
    ----------
    columns
        Its columns.
    rows, width
        How many rows it has, of how many bytes.
    start, heap
        Where in the file its rows begin, and the values of arrays of variable length.
    text
        Whether values are written as text.
    end
        Where it ends.
    metadata
        What the headers of the file and of the table say besides, by keyword.
    """

    columns: tuple[FitsColumn, ...]
    rows: int
    width: int
    start: int
    heap: int
    text: bool
    end: int
    metadata: Mapping[str, Any]


def fits_columns(file: IO[bytes], name: str, options: Mapping[str, str], size: int | None = None) -> Contents:
    """Return the columns of a table in an open FITS file, and how many rows it has.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        What to call it in errors.
    options
        ``hdu``: the number of the table, or its name.
    size
        How many bytes the file has, if that is known.

    Raises
    ------
    BaseFilesError
        If there is no such table, or not all of it.
    """
    table = fits_table(file, name, options.get("hdu"))
    if size is not None and table.end > size:
        raise BaseFilesError(
            f"{name} ends in the middle of its table: its header tells of {table.rows:,} rows", hint=_CUT_OFF
        )
    _check_filling(file, table, name)
    columns = [
        Column(one.name, type_named(one.type), one.nullable, one.unit, one.description, one.ucd)
        for one in table.columns
    ]
    return Contents(check_columns(columns, name), table.rows, metadata=table.metadata)


def fits_table(file: IO[bytes], name: str, hdu: str | None) -> FitsTable:
    """Find a table in an open FITS file.

    Parameters
    ----------
    file
        The file, at its beginning. It need not be able to seek.
    name
        What to call it in errors.
    hdu
        The number of the table, the first part of the file being 0, or its name; by default, the first table.

    Raises
    ------
    BaseFilesError
        If there is no such table.
    """
    from astropy.io import fits  # noqa: PLC0415 - it takes a while to import, and only FITS files need it

    place, number, found, odd = 0, 0, [], ""
    primary: dict[str, Any] = {}
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of standards that were broken a little
                header = fits.Header.fromfile(file, padding=False)
                length = len(header.tostring())
        except EOFError:
            break
        except (OSError, ValueError, fits.VerifyError) as error:
            if number and hdu is None:
                odd = f": what follows its part {number - 1} is no whole header"
                break  # what follows the last part need not be FITS
            raise BaseFilesError(f"{name} cannot be read as FITS: {error}", hint=_CUT_OFF) from error
        if number == 0 and "SIMPLE" not in header:
            raise BaseFilesError(f"{name} is not a FITS file", hint="say what it is with format=")
        primary = primary if number else _keywords(header)
        place += length
        called = str(header.get("EXTNAME", ""))
        kind = str(header.get("XTENSION", "")).strip()
        wanted = hdu in (str(number), called) or (hdu or "").lower() == (called.lower() or None)
        if kind in ("BINTABLE", "TABLE") and not header.get("ZIMAGE"):
            found.append(f"{number} {called}".strip())
            if wanted or hdu is None:
                return replace(_table(header, name, place, text=kind == "TABLE"), metadata=primary | _keywords(header))
        elif wanted:
            raise BaseFilesError(f"the part {hdu} of {name} is no table", hint=_tables(found))
        size = -(-_data_size(header) // _RECORD) * _RECORD
        _skip(file, size)
        place, number = place + size, number + 1
    what = "table" if hdu is None else f"part {hdu!r}"
    hint = _tables(found) or (_CUT_OFF if odd or number == 0 else "")
    raise BaseFilesError(f"there is no {what} in {name}{odd}", hint=hint)


def _keywords(header: Any) -> dict[str, Any]:  # noqa: ANN401 - astropy has no types
    """Return what a header says of a table as a whole, by keyword; commentary as lists of lines."""
    found: dict[str, Any] = {}
    for card in header.cards:
        try:
            keyword, value = str(card.keyword), card.value
        except ValueError:  # a card that breaks the standard
            continue
        if keyword in ("HISTORY", "COMMENT"):
            line = str(value).strip()
            if line and not line.startswith(PROVENN):
                found.setdefault(keyword, []).append(line)
        elif not STRUCTURE.fullmatch(keyword) and isinstance(value, bool | int | float | str):
            found[keyword] = value
    return found


def _tables(found: list[str]) -> str:
    return f"there are the tables {', '.join(found)}" if found else ""


def _skip(file: IO[bytes], size: int) -> None:
    if file.seekable():
        file.seek(size, 1)
        return
    while size > 0 and (read := len(file.read(min(size, 1 << 24)))):
        size -= read


def _data_size(header: Any) -> int:  # noqa: ANN401 - astropy has no types
    axes = [header[f"NAXIS{place}"] for place in range(1, header["NAXIS"] + 1)]
    if axes and axes[0] == 0 and header.get("GROUPS"):
        axes = axes[1:]
    values = header.get("GCOUNT", 1) * (header.get("PCOUNT", 0) + prod(axes)) if axes else 0
    return int(abs(header["BITPIX"]) // 8 * values)


def _table(header: Any, name: str, place: int, *, text: bool) -> FitsTable:  # noqa: ANN401 - astropy has no types
    if header.get("ZTABLE"):
        raise BaseFilesError(f"the table in {name} is compressed by tiles", hint="uncompress it with funpack")
    try:
        width, rows, fields = (int(header[key]) for key in ("NAXIS1", "NAXIS2", "TFIELDS"))
        heap, more = int(header.get("THEAP", width * rows)), int(header.get("PCOUNT", 0))
        read = _text_column if text else _binary_column
        columns = tuple(read(header, number, name) for number in range(1, fields + 1))
        wide = max((one.start + one.repeat for one in columns), default=0) if text else sum(map(_size, columns))
    except (KeyError, TypeError, ValueError) as error:
        raise BaseFilesError(f"the header of the table in {name} is not complete: {error}") from error
    if min(width, rows, heap, more) < 0 or (wide > width if text else wide != width):
        raise BaseFilesError(
            f"the header of the table in {name} contradicts itself: {rows} rows of {width} bytes, in columns of {wide}"
        )
    return FitsTable(columns, rows, width, place, place + heap, text, place + width * rows + more, {})


def _size(one: FitsColumn) -> int:
    """Return how many bytes a column of a binary table has in a row."""
    if one.variable:
        return _SIZES[one.variable]
    return -(-one.repeat // 8) if one.code == "X" else one.repeat * _SIZES[one.code]


def _check_filling(file: IO[bytes], table: FitsTable, name: str) -> None:
    """Refuse a table behind whose last row there is something other than what fills up its last record."""
    if not file.seekable() or not table.width:
        return
    file.seek(table.end)
    filling = file.read(-table.end % _RECORD)
    if filling.strip(b"\0 "):
        raise BaseFilesError(
            f"{name} holds more than the {table.rows:,} rows of which the header of its table tells",
            hint="its number of rows, NAXIS2, is wrong: write it again with the program that made it",
        )


def _said(header: Any, number: int, name: str) -> dict[str, Any]:  # noqa: ANN401 - astropy has no types
    def text(*keys: str) -> str:
        return next((str(header[f"{key}{number}"]).strip() for key in keys if f"{key}{number}" in header), "")

    label = text("TTYPE") or f"col{number}"
    if f"TFORM{number}" not in header:
        raise BaseFilesError(f"the column {label} of {name} has no format", hint=f"its header lacks TFORM{number}")
    return {
        "name": label,
        "unit": text("TUNIT"),
        "description": text("TCOMM", "TDESC"),
        "ucd": text("TUCD"),  # as STILTS and TOPCAT have it
        "scale": header.get(f"TSCAL{number}", 1),
        "zero": header.get(f"TZERO{number}", 0),
        "null": header.get(f"TNULL{number}"),
    }


def _binary_column(header: Any, number: int, name: str) -> FitsColumn:  # noqa: ANN401 - astropy has no types
    said = _said(header, number, name)
    form = str(header[f"TFORM{number}"]).strip()
    match = _BINARY.fullmatch(form)
    if match is None:
        raise BaseFilesError(f"the column {said['name']} of {name} has an unknown format {form!r}")
    if match[5] and match[4] != "0":  # otherwise it takes no place in a row, and holds nothing
        return FitsColumn(code=match[6], repeat=1, variable=match[5], **said)
    repeat, code = int(match[1] or match[4] or 1), match[2] or match[6]
    axes = tuple(map(int, re.findall(r"\d+", str(header.get(f"TDIM{number}", "")))))
    dims = tuple(reversed(axes)) if prod(axes or (-1,)) == repeat else (repeat,)
    if code == "A":
        dims = dims[:-1]
    elif repeat == 1 and not axes:
        dims = ()
    return FitsColumn(code=code, repeat=repeat, dims=dims, **said)


def _text_column(header: Any, number: int, name: str) -> FitsColumn:  # noqa: ANN401 - astropy has no types
    said = _said(header, number, name)
    form = str(header[f"TFORM{number}"]).strip()
    match = _TEXT.fullmatch(form)
    if match is None or f"TBCOL{number}" not in header:
        raise BaseFilesError(f"the column {said['name']} of {name} has an unknown format {form!r}")
    code = {"A": "A", "I": "K"}.get(match[1], "D")
    said["null"] = "" if said["null"] is None else str(said["null"]).strip()
    return FitsColumn(code=code, repeat=int(match[2]), start=header[f"TBCOL{number}"] - 1, **said)
