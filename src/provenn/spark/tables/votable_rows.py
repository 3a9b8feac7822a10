"""The rows of a VOTable as Arrow.

NULL is what the table says; of single numbers also NaN, and of texts the empty one, which say the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import pyarrow as pa

from provenn.catalogs.file_columns import Column
from provenn.catalogs.votable_scan import check_votable
from provenn.errors import BaseFilesError
from provenn.spark.tables.arrow_types import arrow_type

__all__ = ["votable_rows"]


def votable_rows(file: IO[bytes], columns: Sequence[Column], name: str, wanted: str) -> Any:  # noqa: ANN401
    """Return the rows of a table, all at once: its data are one piece of XML.

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

    check_votable(file, name)  # before astropy, which would follow links
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of standards that were broken a little; what matters is raised
            tables = list(votable.parse(file, verify="ignore").iter_tables())
        numbered = {str(place): one for place, one in enumerate(tables)}
        named = {key: one for one in reversed(tables) for key in (one.name, one.ID) if key}
        found = (numbered | named)[wanted]
    except (ValueError, KeyError, TypeError, OSError, IndexError) as error:
        raise BaseFilesError(f"{name} cannot be read as VOTable: {error}") from error
    rows = found.array
    fields = rows.dtype.names or ()
    arrays = [
        _values(np.ma.getdata(rows[field]), np.ma.getmaskarray(rows[field]), str(one.type))
        for field, one in zip(fields, columns, strict=True)
    ]
    return pa.table(arrays, [one.name for one in columns])


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
        listed = [None if gone and _bare(one) else _plain(one, kind) for one, gone in zip(values, whole, strict=True)]
        return pa.array(listed, wanted)
    if values.dtype.kind == "f":
        mask = mask | np.isnan(values)
    return pa.array(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("=")), mask=mask).cast(wanted)


def _bare(one: Any) -> bool:  # noqa: ANN401 - a cell of anything
    """Tell whether a masked cell holds nothing that is worth keeping; floats in it say NaN themselves."""
    return np.asarray(one).dtype.kind != "f" or np.isnan(np.asarray(one)).all()


def _plain(one: Any, kind: str) -> Any:  # noqa: ANN401 - a cell of anything
    if isinstance(one, str | bytes):
        return one.decode("latin-1") if isinstance(one, bytes) else one
    if kind.startswith("struct<"):
        return {"re": float(np.real(one)), "im": float(np.imag(one))}
    if kind.startswith("array<"):
        data, gone = np.ma.getdata(one), np.ma.getmaskarray(one)
        inner = kind[len("array<") : -1]
        return [
            None if np.all(hidden) and np.asarray(each).dtype.kind != "f" else _plain(each, inner)
            for each, hidden in zip(data, gone, strict=True)
        ]
    return one.item() if hasattr(one, "item") else one
