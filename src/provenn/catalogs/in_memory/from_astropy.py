"""Tables of astropy as Arrow. What is masked is NULL; NaN stays NaN."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from provenn.catalogs.astropy_header import unit_text
from provenn.catalogs.digest import canonical_json
from provenn.catalogs.parquet_columns import TABLE_KEY
from provenn.catalogs.table_metadata import clean
from provenn.errors import BaseFilesError

__all__ = ["from_astropy"]

_KINDS = "biufSUcM"


def from_astropy(table: Any) -> Any:  # noqa: ANN401 - astropy has no types
    """Return the rows of a Table or QTable as a table of Arrow.

    Units, descriptions and UCDs, from ``column.info.meta["ucd"]``, are metadata of the fields. A position, a SkyCoord
    in ICRS without distances or motions, becomes two columns in degrees: ra and dec if no others are called so,
    otherwise with its name before them. A Time in UTC becomes moments.

    Raises
    ------
    BaseFilesError
        If a column holds anything else.
    """
    made: dict[str, tuple[Any, Any]] = {}
    taken = set(table.colnames)
    for name in table.colnames:
        for field, values in _columns(name, table[name], taken):
            if field.name in made:
                raise BaseFilesError(f"the table would have two columns {field.name}", hint="rename one")
            made[field.name] = (field, values)
    metadata = clean(table.meta)
    notes = {TABLE_KEY: canonical_json(metadata)} if metadata else None
    return pa.Table.from_arrays(
        [values for _, values in made.values()], schema=pa.schema([field for field, _ in made.values()], notes)
    )


def _columns(name: str, column: Any, taken: set[str]) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - as above
    kind = type(column).__name__
    if kind == "SkyCoord":
        yield from _position(name, column, taken)
        return
    if kind == "Time":
        values = _moments(name, column)
    elif hasattr(column, "dtype") and hasattr(column, "shape") and kind != "TimeDelta":
        values = _values(name, column)
    else:
        raise _refused(name, f"a {kind}", "make columns of its parts")
    nullable = _is_masked(column) or values.null_count > 0
    yield pa.field(name, values.type, nullable, _said(column) or None), values


def _refused(name: str, what: str, hint: str) -> BaseFilesError:
    return BaseFilesError(f"the column {name} holds {what}, which cannot be kept", hint=hint)


def _is_masked(column: Any) -> bool:  # noqa: ANN401 - as above
    return hasattr(column, "mask")


def _said(column: Any) -> dict[str, str]:  # noqa: ANN401 - as above
    info = column.info
    unit = getattr(column, "unit", None)
    found = {
        "unit": "" if unit is None else unit_text(unit),
        "description": str(info.description or ""),
        "ucd": str((info.meta or {}).get("ucd") or ""),
    }
    return {key: text for key, text in found.items() if text}


def _position(name: str, column: Any, taken: set[str]) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - as above
    simple = (
        column.frame.name == "icrs"
        and type(column.data).__name__ == "UnitSphericalRepresentation"
        and not column.data.differentials
        and column.ndim == 1
    )
    if not simple:
        raise _refused(
            name,
            "positions that are not simply in ICRS, without distances and motions",
            f'say which are meant: table["ra"], table["dec"] = table["{name}"].icrs.ra, table["{name}"].icrs.dec',
        )
    free = not taken & {"ra", "dec"}
    for axis in ("ra", "dec"):
        angle = getattr(column, axis)
        mask = np.asarray(getattr(angle, "mask", False)) | np.zeros(len(column), bool)
        degrees = np.asarray(getattr(angle, "unmasked", angle).to_value("deg"), np.float64)
        values = pa.array(degrees, mask=mask) if mask.any() else pa.array(degrees)
        said = {"unit": "deg", "ucd": f"pos.eq.{axis}" + (";meta.main" if free else "")}
        if column.info.description:
            said["description"] = column.info.description
        yield pa.field(axis if free else f"{name}_{axis}", values.type, bool(mask.any()), said), values
    taken |= {"ra", "dec"}


def _moments(name: str, column: Any) -> Any:  # noqa: ANN401 - as above
    if column.scale != "utc" or column.ndim != 1:
        raise _refused(name, f"times in {column.scale.upper()}", f'convert them: table["{name}"] = table["{name}"].utc')
    mask = np.asarray(column.mask)
    whole = getattr(column, "unmasked", column).copy(format="isot")
    whole.precision = 6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of years before there was UTC
        texts = whole.value
    try:
        moments = np.array(texts, "datetime64[us]")
    except ValueError as error:
        raise _refused(
            name, f"a time that is no moment of the calendar: {error}", "leap seconds are not kept"
        ) from error
    return pa.array(moments, pa.timestamp("us", "UTC"), mask=mask)


# --- plain columns ---


def _values(name: str, column: Any) -> Any:  # noqa: ANN401 - as above
    plain = getattr(column, "unmasked", column)
    data = np.ma.getdata(plain) if isinstance(plain, np.ma.MaskedArray) else np.asarray(plain)
    mask = np.asarray(column.mask) if _is_masked(column) else None
    if data.dtype.kind == "O":
        return _objects(name, data, mask)
    if data.dtype.kind not in _KINDS or data.dtype in (np.longdouble, np.clongdouble):
        raise _refused(name, f"values of the type {data.dtype}", "convert it to numbers or text")
    return _nested(data, mask)


def _nested(data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    """Return cells as Arrow; those of several dimensions as arrays of arrays. A cell that is all masked is NULL."""
    flat_mask = None if mask is None else np.ascontiguousarray(mask).ravel()
    values = _flat(np.ascontiguousarray(data).ravel(), flat_mask)
    for axis in range(data.ndim - 1, 0, -1):
        number = prod(data.shape[:axis])
        offsets = pa.array(np.arange(number + 1) * data.shape[axis]).cast(pa.int32())
        gone = None
        if axis == 1 and mask is not None and data[0:1].size:
            gone = pa.array(mask.reshape(number, -1).all(axis=1))
        values = pa.ListArray.from_arrays(offsets, values, mask=gone)
    return values


def _flat(data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    kind = data.dtype.kind
    if kind in "SU":
        return pa.array([_text(one) for one in data.tolist()], pa.string(), mask=mask)
    if kind == "c":
        part = pa.float32() if data.dtype.itemsize == 8 else pa.float64()
        pairs = [pa.array(np.ascontiguousarray(one), part) for one in (data.real, data.imag)]
        return pa.StructArray.from_arrays(pairs, ["re", "im"], mask=None if mask is None else pa.array(mask))
    if kind == "M":
        return pa.array(data.astype("datetime64[us]"), pa.timestamp("us"), mask=mask)
    return pa.array(data.astype(data.dtype.newbyteorder("=")), mask=mask)


def _text(one: str | bytes) -> str:
    if isinstance(one, str):
        return one
    try:
        return one.decode()
    except UnicodeDecodeError:
        return one.decode("latin-1")


def _objects(name: str, data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    """Return a column of objects, if they are all texts, or all arrays of one type and one number of dimensions."""
    cells = [None if gone else one for one, gone in zip(data.tolist(), _gone(data, mask), strict=True)]
    there = [one for one in cells if one is not None]
    if data.ndim == 1 and all(isinstance(one, str) for one in there):
        return pa.array(cells, pa.string())
    kinds = {(one.dtype.kind, one.ndim) if isinstance(one, np.ndarray) else None for one in there}
    kind, dimensions = (kinds.pop() if len(kinds) == 1 else None) or ("O", 0)
    if data.ndim != 1 or kind not in _KINDS or not dimensions:
        raise _refused(name, "objects of Python", "convert it to numbers, text or arrays of one type")
    common = np.result_type(*(one.dtype for one in there))
    made = [
        None if one is None else _nested(np.ma.getdata(one).astype(common)[None], _element_mask(one)) for one in cells
    ]
    wanted = next(one.type for one in made if one is not None)
    return pa.concat_arrays([pa.nulls(1, wanted) if one is None else one for one in made])


def _element_mask(cell: Any) -> Any:  # noqa: ANN401 - a NumPy array
    return np.ma.getmaskarray(cell)[None] if isinstance(cell, np.ma.MaskedArray) else None


def _gone(data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    if mask is None:
        return np.zeros(len(data), bool)
    return mask.astype(bool) if mask.dtype != object else np.array([bool(np.all(one)) for one in mask])
