"""The tables of FITS files (standard 4.0, section 7): their position in the file and their columns.

Only headers are read here, by astropy's parser of cards, from any stream: astropy's own tables need a file that can be
mapped. Sizes that a header claims are checked before anything is read. `provenn.spark.tables.fits_rows` decodes the
values in pieces.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import IO, Any

from provenn.errors import BaseFilesError, ExpansionError
from provenn.files.astropy_header import read_header
from provenn.files.columns import FileColumn, FileContents, check_columns
from provenn.files.type_names import restore_type
from provenn.gate.entrances import entrance
from provenn.gate.expansion import LONGEST_HEADER, MOST_AXES, check_claim
from provenn.hints import NAME_FORMAT

__all__ = ["PROVENN", "STRUCTURE", "FitsColumn", "FitsTable", "find_fits_table", "read_fits_columns"]

PROVENN = "provenn: "
"""The prefix of HISTORY lines written by provenn."""

STRUCTURE = re.compile(
    r"SIMPLE|XTENSION|BITPIX|NAXIS\d*|PCOUNT|GCOUNT|TFIELDS|THEAP|EXTEND|CHECKSUM|DATASUM|END|CONTINUE|"
    r"T[A-Z]{2,5}\d+|\d+[A-Z]{3,5}\d+|Z(TABLE|IMAGE)|PRV[A-Z]+|"
)
"""Keywords about the storage of a table, its columns, or its origin as written by provenn."""

_ASTROPY = ("--BEGIN-ASTROPY-SERIALIZED-COLUMNS--", "--END-ASTROPY-SERIALIZED-COLUMNS--")
"""The comments around a header of astropy: it describes the columns of this file, and of no other."""

_RECORD = 2880
_CUT_OFF = "check that it was copied completely"
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
"""The types of integers with or without a sign, which FITS marks by an offset to add."""


@dataclass(frozen=True, slots=True)
class FitsColumn:
    """A column of a FITS table.

    Parameters
    ----------
    name, unit, description, ucd
        Metadata for people.
    code
        The letter of the type of a value.
    repeat
        The number of values in a row, or of characters of text; meaningless for a variable column.
    dims
        The lengths of its axes, the slowest first; empty for a single value. For text, without the length of the text.
    scale, zero
        A value is the stored number times `scale` plus `zero`.
    null
        The stored number or text that marks a missing value.
    variable
        For arrays of variable length, the letter of their descriptor, P or Q.
    start
        In a table of text: the start of the column in a row.
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
        """Spark's name of the type."""
        kind = _TYPES[self.code]
        if self.code in "BIJKED" and (self.scale, self.zero) != (1, 0):
            kind = _UNSIGNED.get((self.code, self.zero), "double") if self.scale == 1 else "double"
        elif self.code in "CM" and (self.scale, self.zero) != (1, 0):
            kind = _TYPES["M"]
        depth = 1 if self.variable and self.code != "A" else len(self.dims)
        return "array<" * depth + kind + ">" * depth

    @property
    def nullable(self) -> bool:
        """Whether a value can be missing: for integers, only with a stated NULL value."""
        return self.null is not None or self.code not in "BIJK"


@dataclass(frozen=True, slots=True)
class FitsTable:
    """A table in a FITS file.

    Parameters
    ----------
    columns
        Its columns.
    rows, width
        The number of rows, and of bytes in a row.
    start, heap
        The position in the file of the rows, and of the values of arrays of variable length.
    text
        Whether the table is an ASCII table.
    end
        The position in the file after the table.
    metadata
        The remaining keywords of the headers of the file and of the table.
    """

    columns: tuple[FitsColumn, ...]
    rows: int
    width: int
    start: int
    heap: int
    text: bool
    end: int
    metadata: Mapping[str, Any]


@entrance("FITS header", "expansion", "length", "types")
def read_fits_columns(
    file: IO[bytes], name: str, options: Mapping[str, str], size: int | None = None, packed: int = 0
) -> FileContents:
    """Return the columns of a table in an open FITS file, and the number of rows.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        The name of the file in errors.
    options
        ``hdu``: the number of the table, or its name.
    size
        The number of bytes of the file, if known.
    packed
        The stored size of the file in bytes, compressed or not.

    Raises
    ------
    BaseFilesError
        If the table does not exist, or is cut off.
    ExpansionError
        If the header claims more data than a file of this size may hold.
    """
    table = find_fits_table(file, name, options.get("hdu"), packed)
    if size is not None and table.end > size:
        raise BaseFilesError(
            f"{name} ends in the middle of its table: its header announces {table.rows:,} rows", hint=_CUT_OFF
        )
    _check_filling(file, table, name)
    columns = [
        FileColumn(column.name, restore_type(column.type), column.nullable, column.unit, column.description, column.ucd)
        for column in table.columns
    ]
    return FileContents(check_columns(columns, name), table.rows, metadata=table.metadata)


def find_fits_table(file: IO[bytes], name: str, hdu: str | None, packed: int = 0) -> FitsTable:
    """Find a table in an open FITS file.

    Parameters
    ----------
    file
        The file, at its beginning. Seeking is not needed.
    name
        The name of the file in errors.
    hdu
        The number of the table, the first part of the file being 0, or its name; by default, the first table.
    packed
        The stored size of the file in bytes, compressed or not.

    Raises
    ------
    BaseFilesError
        If the table does not exist.
    ExpansionError
        If the header claims more data than a file of this size may hold.
    """
    from astropy.io import fits  # noqa: PLC0415 - it takes a while to import, and only FITS files need it

    place, number, tables, problem = 0, 0, [], ""
    primary: dict[str, Any] = {}
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about minor violations of the standard
                header = fits.Header.fromfile(_BoundedHeader(file, name), padding=False)
                length = len(header.tostring())
        except EOFError:
            break
        except (OSError, ValueError, fits.VerifyError) as error:
            if number and hdu is None:
                problem = f": no complete header follows part {number - 1}"
                break  # bytes after the last part need not be FITS
            raise BaseFilesError(f"{name} cannot be read as FITS: {error}", hint=_CUT_OFF) from error
        if number == 0 and "SIMPLE" not in header:
            raise BaseFilesError(f"{name} is not a FITS file", hint=NAME_FORMAT)
        primary = primary if number else _read_keywords(header)
        place += length
        extension = str(header.get("EXTNAME", ""))
        kind = str(header.get("XTENSION", "")).strip()
        wanted = hdu in (str(number), extension) or (hdu or "").lower() == (extension.lower() or None)
        if kind in ("BINTABLE", "TABLE") and not header.get("ZIMAGE"):
            tables.append(f"{number} {extension}".strip())
            if wanted or hdu is None:
                table = _parse_table(header, name, place, text=kind == "TABLE")
                check_claim(_estimate_claim(table), packed, f"the table that the header of {name} announces")
                columns = _describe_columns(table.columns, header, name)
                return replace(table, columns=columns, metadata=primary | _read_keywords(header))
        elif wanted:
            raise BaseFilesError(f"part {hdu} of {name} is not a table", hint=_list_tables(tables))
        size = -(-_compute_data_size(header, name) // _RECORD) * _RECORD
        _skip_bytes(file, size)
        place, number = place + size, number + 1
    part = "table" if hdu is None else f"part {hdu!r}"
    hint = _list_tables(tables) or (_CUT_OFF if problem or number == 0 else "")
    raise BaseFilesError(f"there is no {part} in {name}{problem}", hint=hint)


def _read_keywords(header: Any) -> dict[str, Any]:  # noqa: ANN401 - astropy has no types
    """Return the keywords of a header about the table as a whole; commentary as lists of lines."""
    keywords: dict[str, Any] = {}
    is_astropy = False
    for card in header.cards:
        try:
            keyword, value = str(card.keyword), card.value
        except ValueError:  # a card in violation of the standard
            continue
        if keyword in ("HISTORY", "COMMENT"):
            line = str(value).strip()
            is_astropy = (is_astropy or line == _ASTROPY[0]) and line != _ASTROPY[1]
            if line and not is_astropy and line != _ASTROPY[1] and not line.startswith(PROVENN):
                keywords.setdefault(keyword, []).append(line)
        elif not STRUCTURE.fullmatch(keyword) and isinstance(value, bool | int | float | str):
            keywords[keyword] = value
    return keywords


def _describe_columns(
    columns: tuple[FitsColumn, ...],
    header: Any,  # noqa: ANN401 - astropy has no types
    name: str,
) -> tuple[FitsColumn, ...]:
    """Return columns with the descriptions and UCDs that astropy writes into comments of a header.

    Raises
    ------
    BaseFilesError
        If a column has a mask that is another column.
    """
    lines = [str(line).rstrip() for line in header.get("COMMENT", ())]
    if not all(line in lines for line in _ASTROPY):
        return columns
    # A line that ends with a backslash at place 71 continues in the next one.
    block = "".join(
        line[:70] if len(line) == 71 and line.endswith("\\") else f"{line}\n"
        for line in lines[lines.index(_ASTROPY[0]) + 1 : lines.index(_ASTROPY[1])]
    )
    try:
        described = read_header(block, name, "of astropy")
    except BaseFilesError:
        if "mask:" in block:
            raise
        return columns  # a program that copied the comments may have left out blanks
    if described.masks:
        masked, mask = next(iter(described.masks.items()))
        raise BaseFilesError(
            f"the column {mask} of {name} is the mask of {masked}",
            hint=f'write the file again, with table["{masked}"].info.serialize_method["fits"] = "null_value"',
        )
    notes = {column.name: described.columns.get(column.name) for column in columns}
    return tuple(
        column
        if (note := notes[column.name]) is None
        else replace(column, description=column.description or note.description, ucd=column.ucd or note.ucd)
        for column in columns
    )


def _list_tables(tables: list[str]) -> str:
    return f"there are the tables {', '.join(tables)}" if tables else ""


def _skip_bytes(file: IO[bytes], size: int) -> None:
    """Move forward in a file, by reading if the file cannot seek."""
    if file.seekable():
        file.seek(size, 1)
        return
    while size > 0 and (read := len(file.read(min(size, 1 << 24)))):
        size -= read


class _BoundedHeader:
    """A file limited to the longest allowed header."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name = file, name
        self._left = LONGEST_HEADER

    def read(self, size: int) -> bytes:
        """Read some bytes."""
        self._left -= size
        if self._left < 0:
            raise ExpansionError(f"a header of {self._name} has more than {LONGEST_HEADER // 2**20} MB")
        return self._file.read(size)


def _compute_data_size(header: Any, name: str) -> int:  # noqa: ANN401 - astropy has no types
    """Return the number of data bytes after a header, without the filling of the last record."""
    try:
        axes = [int(header[f"NAXIS{place}"]) for place in range(1, int(header["NAXIS"]) + 1)]
        groups, more, bits = (
            int(header.get(key, default)) for key, default in (("GCOUNT", 1), ("PCOUNT", 0), ("BITPIX", 8))
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BaseFilesError(f"a header of {name} does not state the length of its data: {error}") from error
    if axes and axes[0] == 0 and header.get("GROUPS"):
        axes = axes[1:]
    size = abs(bits) // 8 * groups * (more + prod(axes)) if axes else 0
    if min([size, groups, more, *axes]) < 0:  # going back in the file, the reader would never reach the end
        raise BaseFilesError(f"a header of {name} announces data of negative length")
    return size


def _estimate_claim(table: FitsTable) -> int:
    """Return the size in bytes of values without bytes of their own in the file, or shared by several columns."""
    if table.text:
        row = sum(column.repeat for column in table.columns)
    else:  # an axis of length 0 allows any length of the remaining axes
        row = sum(
            4 * prod(max(1, axis) for axis in column.dims) for column in table.columns if not _compute_width(column)
        )
    return table.rows * max(row, 0 if table.width else 8)


def _parse_table(header: Any, name: str, place: int, *, text: bool) -> FitsTable:  # noqa: ANN401 - astropy has no types
    """Return the table that a header describes, with data from position `place` on."""
    if header.get("ZTABLE"):
        raise BaseFilesError(f"the table in {name} is tile-compressed", hint="uncompress it with funpack")
    try:
        width, rows, fields = (int(header[key]) for key in ("NAXIS1", "NAXIS2", "TFIELDS"))
        heap, more = int(header.get("THEAP", width * rows)), int(header.get("PCOUNT", 0))
        parse_column = _parse_text_column if text else _parse_binary_column
        columns = tuple(parse_column(header, number, name) for number in range(1, fields + 1))
        columns_width = (
            max((column.start + column.repeat for column in columns), default=0)
            if text
            else sum(map(_compute_width, columns))
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BaseFilesError(f"the header of the table in {name} is not complete: {error}") from error
    if min(width, rows, heap, more) < 0 or (columns_width > width if text else columns_width != width):
        raise BaseFilesError(
            f"the header of the table in {name} contradicts itself: "
            f"{rows} rows of {width} bytes, in columns of {columns_width}"
        )
    return FitsTable(columns, rows, width, place, place + heap, text, place + width * rows + more, {})


def _compute_width(column: FitsColumn) -> int:
    """Return the number of bytes of a column in a row of a binary table."""
    if column.variable:
        return _SIZES[column.variable]
    return -(-column.repeat // 8) if column.code == "X" else column.repeat * _SIZES[column.code]


def _check_filling(file: IO[bytes], table: FitsTable, name: str) -> None:
    """Refuse a table with anything except filling between the last row and the end of the record."""
    if not file.seekable() or not table.width:
        return
    file.seek(table.end)
    filling = file.read(-table.end % _RECORD)
    if filling.strip(b"\0 "):
        raise BaseFilesError(
            f"{name} holds more than the {table.rows:,} rows that the header of its table announces",
            hint="its number of rows, NAXIS2, is wrong: write it again with the program that created it",
        )


def _parse_common_fields(header: Any, number: int, name: str) -> dict[str, Any]:  # noqa: ANN401 - astropy has no types
    """Return the fields common to columns of binary tables and text tables."""

    def text(*keys: str) -> str:
        return next((str(header[f"{key}{number}"]).strip() for key in keys if f"{key}{number}" in header), "")

    label = text("TTYPE") or f"col{number}"
    if f"TFORM{number}" not in header:
        raise BaseFilesError(f"the column {label} of {name} has no format", hint=f"its header lacks TFORM{number}")
    return {
        "name": label,
        "unit": text("TUNIT"),
        "description": text("TCOMM", "TDESC"),
        "ucd": text("TUCD"),  # the keyword of STILTS and TOPCAT
        "scale": header.get(f"TSCAL{number}", 1),
        "zero": header.get(f"TZERO{number}", 0),
        "null": header.get(f"TNULL{number}"),
    }


def _parse_binary_column(header: Any, number: int, name: str) -> FitsColumn:  # noqa: ANN401 - astropy has no types
    fields = _parse_common_fields(header, number, name)
    form = str(header[f"TFORM{number}"]).strip()
    match = _BINARY.fullmatch(form)
    if match is None:
        raise BaseFilesError(f"the column {fields['name']} of {name} has an unknown format {form!r}")
    if match[5] and match[4] != "0":  # with a repeat of 0 the column takes no bytes in a row, and holds nothing
        return FitsColumn(code=match[6], repeat=1, variable=match[5], **fields)
    repeat, code = int(match[1] or match[4] or 1), match[2] or match[6]
    axes = tuple(map(int, re.findall(r"\d+", str(header.get(f"TDIM{number}", "")))))
    if len(axes) > MOST_AXES:
        raise BaseFilesError(
            f"the column {fields['name']} of {name} has arrays of {len(axes)} axes, more than {MOST_AXES}"
        )
    dims = tuple(reversed(axes)) if prod(axes or (-1,)) == repeat else (repeat,)
    if code == "A":
        dims = dims[:-1]
    elif repeat == 1 and not axes:
        dims = ()
    return FitsColumn(code=code, repeat=repeat, dims=dims, **fields)


def _parse_text_column(header: Any, number: int, name: str) -> FitsColumn:  # noqa: ANN401 - astropy has no types
    fields = _parse_common_fields(header, number, name)
    form = str(header[f"TFORM{number}"]).strip()
    match = _TEXT.fullmatch(form)
    if match is None or f"TBCOL{number}" not in header:
        raise BaseFilesError(f"the column {fields['name']} of {name} has an unknown format {form!r}")
    code = {"A": "A", "I": "K"}.get(match[1], "D")
    fields["null"] = "" if fields["null"] is None else str(fields["null"]).strip()
    return FitsColumn(code=code, repeat=int(match[2]), start=header[f"TBCOL{number}"] - 1, **fields)
