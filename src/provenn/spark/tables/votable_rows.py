"""The rows of a VOTable as Arrow.

NULL is a value that the table marks as NULL; for single numbers also NaN, and for texts the empty text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa

from provenn.errors import BaseFilesError
from provenn.files.arrow_types import find_arrow_type
from provenn.files.columns import FileColumn
from provenn.files.votable_scan import check_votable
from provenn.spark.tables.votable_fits import read_votable_fits_batches

__all__ = ["read_votable_batches"]

_NO_FILE = re.compile(r"^None:\S*: ")
"""The place of an error as astropy states it for a file without a name."""

_OLD_VERSION = re.compile(rb"""(<(?:[\w.-]+:)?VOTABLE\b[^>]*?\sversion\s*=\s*["'])1\.[0-2](["'])""")


def read_votable_batches(
    file: IO[bytes], columns: Sequence[FileColumn], name: str, wanted: str, packed: int = 0
) -> Iterator[Any]:
    """Yield the rows of a table: all at once, as a piece of XML; or in batches, from an embedded FITS file.

    Parameters
    ----------
    file
        The file.
    columns
        The columns of the table.
    name
        The name of the file in errors.
    wanted
        The number of the table, or its ID or name.
    packed
        The size of the file on disk, compressed or not.

    Raises
    ------
    BaseFilesError
        If the table cannot be read.
    ExpansionError
        If the table claims more data than a file of this size may hold.
    """
    from astropy.io import votable  # noqa: PLC0415 - it takes a while to import
    from astropy.io.votable.exceptions import E02, W46, W51  # noqa: PLC0415

    table = check_votable(file, name, wanted, packed)  # before astropy, which would follow links
    file.seek(0)
    if table.data == "FITS":  # astropy reads FITS data only behind a link
        yield from read_votable_fits_batches(file, columns, name, table.number, packed)
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of small deviations from the standard
            for loss in (W46, W51, E02):  # a text is cut off, a number cut down, an array cut off or filled up
                warnings.filterwarnings("error", category=loss)
            parsed = votable.parse(_NullableVOTable(file), table_number=table.number, verify="warn")
        element = next(candidate for candidate in parsed.iter_tables() if not candidate.is_empty())
    except (ValueError, KeyError, TypeError, OSError, IndexError, MemoryError, W46, W51) as error:
        problem = _NO_FILE.sub("", str(error))
        raise BaseFilesError(f"{name} cannot be read as VOTable: {problem}") from error
    rows = element.array
    if len(rows) < table.rows:
        raise BaseFilesError(
            f"{name} announces {table.rows:,} rows and holds {len(rows):,}", hint="check that it was copied completely"
        )
    fields = rows.dtype.names or ()
    arrays = [
        _convert_values(np.ma.getdata(rows[field]), np.ma.getmaskarray(rows[field]), str(column.type))
        for field, column in zip(fields, columns, strict=True)
    ]
    yield pa.table(arrays, [column.name for column in columns])


def _convert_values(values: Any, mask: Any, kind: str) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    wanted = find_arrow_type(kind)
    if not kind.startswith("array<"):
        values, mask = values.reshape(len(values)), mask.reshape(len(values))  # an array of one value is the value
    if kind == "string":
        return pa.array([_convert_cell(cell, kind) or None for cell in values], wanted)
    if kind.startswith(("array<", "struct<")) or values.dtype.kind == "O":
        hidden = (
            mask.reshape(len(values), -1).all(axis=1) if len(values) and mask[0].size else np.zeros(len(values), bool)
        )
        cells = values if values.dtype.kind == "O" else np.ma.array(values, mask=mask)
        converted = [
            None if is_hidden else _convert_cell(cell, kind) for cell, is_hidden in zip(cells, hidden, strict=True)
        ]
        return pa.array(converted, wanted)
    if values.dtype.kind == "f":
        mask = mask | np.isnan(values)
    return pa.array(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("=")), mask=mask).cast(wanted)


def _convert_cell(cell: Any, kind: str) -> Any:  # noqa: ANN401 - a cell of anything
    if isinstance(cell, str | bytes):
        return cell.decode("latin-1") if isinstance(cell, bytes) else cell
    if kind.startswith("struct<"):
        return {"re": float(np.real(cell)), "im": float(np.imag(cell))}
    if kind.startswith("array<"):
        inner = kind[len("array<") : -1]
        return [
            None
            if np.all(hidden) and not _has_nan(element)
            else _convert_cell(np.ma.array(element, mask=hidden), inner)
            for element, hidden in zip(np.ma.getdata(cell), np.ma.getmaskarray(cell), strict=True)
        ]
    cell = np.ma.getdata(cell)
    return cell.item() if hasattr(cell, "item") else cell


def _has_nan(part: Any) -> bool:  # noqa: ANN401 - a part of an array
    """Return whether a masked part of an array holds NaN, which astropy masks, and which stays NaN in arrays."""
    return np.asarray(part).dtype.kind == "f" and bool(np.isnan(part).any())


class _NullableVOTable:
    """A VOTable whose empty cells are NULL, as in version 1.3; for older versions astropy would read 0.

    Parameters
    ----------
    file
        The file, at its beginning.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, with version 1.3 instead of an older version."""
        block = self._file.read(size)
        begun, self._begun = self._begun, True
        return block if begun else _OLD_VERSION.sub(rb"\g<1>1.3\g<2>", block, count=1)
