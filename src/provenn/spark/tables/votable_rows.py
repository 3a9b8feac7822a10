"""The rows of a VOTable as Arrow.

NULL is what the table says; of single numbers also NaN, and of texts the empty one, which say the same.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa

from provenn.catalogs.file_columns import Column
from provenn.catalogs.votable_scan import check_votable
from provenn.errors import BaseFilesError
from provenn.spark.tables.arrow_types import arrow_type
from provenn.spark.tables.votable_fits import votable_fits_batches

__all__ = ["votable_batches"]

_OLD = re.compile(rb"""(<(?:[\w.-]+:)?VOTABLE\b[^>]*?\sversion\s*=\s*["'])1\.[0-2](["'])""")


def votable_batches(file: IO[bytes], columns: Sequence[Column], name: str, wanted: str) -> Iterator[Any]:
    """Yield the rows of a table: all at once, for they are one piece of XML, unless they are a FITS file within it.

    Parameters
    ----------
    file
        The file.
    columns
        What it holds.
    name
        What to call it in errors.
    wanted
        The number of the table, or its ID or name.

    Raises
    ------
    BaseFilesError
        If it cannot be read.
    """
    from astropy.io import votable  # noqa: PLC0415 - it takes a while to import
    from astropy.io.votable.exceptions import E02, W46, W51  # noqa: PLC0415

    table = check_votable(file, name, wanted)  # before astropy, which would follow links
    file.seek(0)
    if table.data == "FITS":  # which astropy reads only where a link leads to it
        yield from votable_fits_batches(file, columns, name, table.number)
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of standards that were broken a little
            for lost in (W46, W51, E02):  # a text is cut off, a number cut down, an array cut off or filled up
                warnings.filterwarnings("error", category=lost)
            parsed = votable.parse(_Emptiable(file), table_number=table.number, verify="warn")
        found = next(one for one in parsed.iter_tables() if not one.is_empty())
    except (ValueError, KeyError, TypeError, OSError, IndexError, W46, W51) as error:
        raise BaseFilesError(f"{name} cannot be read as VOTable: {error}") from error
    rows = found.array
    fields = rows.dtype.names or ()
    arrays = [
        _values(np.ma.getdata(rows[field]), np.ma.getmaskarray(rows[field]), str(one.type))
        for field, one in zip(fields, columns, strict=True)
    ]
    yield pa.table(arrays, [one.name for one in columns])


def _values(values: Any, mask: Any, kind: str) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    wanted = arrow_type(kind)
    if not kind.startswith("array<"):
        values, mask = values.reshape(len(values)), mask.reshape(len(values))  # an array of one value is the value
    if kind == "string":
        return pa.array([_plain(one, kind) or None for one in values], wanted)
    if kind.startswith(("array<", "struct<")) or values.dtype.kind == "O":
        whole = (
            mask.reshape(len(values), -1).all(axis=1) if len(values) and mask[0].size else np.zeros(len(values), bool)
        )
        cells = values if values.dtype.kind == "O" else np.ma.array(values, mask=mask)
        listed = [None if gone else _plain(one, kind) for one, gone in zip(cells, whole, strict=True)]
        return pa.array(listed, wanted)
    if values.dtype.kind == "f":
        mask = mask | np.isnan(values)
    return pa.array(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("=")), mask=mask).cast(wanted)


def _plain(one: Any, kind: str) -> Any:  # noqa: ANN401 - a cell of anything
    if isinstance(one, str | bytes):
        return one.decode("latin-1") if isinstance(one, bytes) else one
    if kind.startswith("struct<"):
        return {"re": float(np.real(one)), "im": float(np.imag(one))}
    if kind.startswith("array<"):
        inner = kind[len("array<") : -1]
        return [
            None if np.all(hidden) and not _has_nan(each) else _plain(np.ma.array(each, mask=hidden), inner)
            for each, hidden in zip(np.ma.getdata(one), np.ma.getmaskarray(one), strict=True)
        ]
    one = np.ma.getdata(one)
    return one.item() if hasattr(one, "item") else one


def _has_nan(one: Any) -> bool:  # noqa: ANN401 - a part of an array
    """Tell whether a part of an array that is masked holds NaN, which astropy masks, and which stays NaN in arrays."""
    return np.asarray(one).dtype.kind == "f" and bool(np.isnan(one).any())


class _Emptiable:
    """A VOTable in which an empty cell is NULL, as version 1.3 says; in older ones astropy takes 0 for it.

    Parameters
    ----------
    file
        The file, at its beginning.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        block = self._file.read(size)
        begun, self._begun = self._begun, True
        return block if begun else _OLD.sub(rb"\g<1>1.3\g<2>", block, count=1)
