"""Tables of astropy as Arrow. Masked values become NULL; NaN stays NaN."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from provenn.digests import canonical_json
from provenn.errors import BaseFilesError
from provenn.files.astropy_header import format_unit
from provenn.files.parquet_columns import TABLE_KEY
from provenn.files.table_metadata import clean_metadata

__all__ = ["convert_from_astropy"]

_KINDS = "biufSUcM"


def convert_from_astropy(table: Any) -> Any:  # noqa: ANN401 - astropy has no types
    """Return the rows of a Table or QTable as a table of Arrow.

    Units, descriptions and UCDs, from ``column.info.meta["ucd"]``, become metadata of the fields. A position, a
    SkyCoord in ICRS without distances or motions, becomes two columns in degrees: ra and dec if these names are free,
    otherwise prefixed with the name of the position. A Time in UTC becomes moments.

    Raises
    ------
    BaseFilesError
        If a column holds values of an unsupported type.
    """
    columns: dict[str, tuple[Any, Any]] = {}
    taken_names = set(table.colnames)
    for name in table.colnames:
        for field, values in _convert_column(name, table[name], taken_names):
            if field.name in columns:
                raise BaseFilesError(f"the table would have two columns {field.name}", hint="rename one")
            columns[field.name] = (field, values)
    metadata = clean_metadata(table.meta)
    notes = {TABLE_KEY: canonical_json(metadata)} if metadata else None
    return pa.Table.from_arrays(
        [values for _, values in columns.values()], schema=pa.schema([field for field, _ in columns.values()], notes)
    )


def _convert_column(name: str, column: Any, taken_names: set[str]) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - as above
    """Yield the fields and values of a column: two of each for a position."""
    kind = type(column).__name__
    if kind == "SkyCoord":
        yield from _convert_position(name, column, taken_names)
        return
    if kind == "Time":
        values = _convert_moments(name, column)
    elif hasattr(column, "dtype") and hasattr(column, "shape") and kind != "TimeDelta":
        values = _convert_values(name, column)
    else:
        raise _make_refusal(name, f"a {kind}", "split it into columns")
    nullable = _is_masked(column) or values.null_count > 0
    yield pa.field(name, values.type, nullable, _describe_column(column) or None), values


def _make_refusal(name: str, content: str, hint: str) -> BaseFilesError:
    return BaseFilesError(f"the column {name} holds {content}, which cannot be stored", hint=hint)


def _is_masked(column: Any) -> bool:  # noqa: ANN401 - as above
    return hasattr(column, "mask")


def _describe_column(column: Any) -> dict[str, str]:  # noqa: ANN401 - as above
    info = column.info
    unit = getattr(column, "unit", None)
    notes = {
        "unit": "" if unit is None else format_unit(unit),
        "description": str(info.description or ""),
        "ucd": str((info.meta or {}).get("ucd") or ""),
    }
    return {key: text for key, text in notes.items() if text}


def _convert_position(name: str, column: Any, taken_names: set[str]) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - as above
    is_simple = (
        column.frame.name == "icrs"
        and type(column.data).__name__ == "UnitSphericalRepresentation"
        and not column.data.differentials
        and column.ndim == 1
    )
    if not is_simple:
        raise _make_refusal(
            name,
            "positions other than plain ICRS coordinates",
            f'convert them: table["ra"], table["dec"] = table["{name}"].icrs.ra, table["{name}"].icrs.dec',
        )
    is_main = not taken_names & {"ra", "dec"}
    for axis in ("ra", "dec"):
        angle = getattr(column, axis)
        mask = np.asarray(getattr(angle, "mask", False)) | np.zeros(len(column), bool)
        degrees = np.asarray(getattr(angle, "unmasked", angle).to_value("deg"), np.float64)
        values = pa.array(degrees, mask=mask) if mask.any() else pa.array(degrees)
        notes = {"unit": "deg", "ucd": f"pos.eq.{axis}" + (";meta.main" if is_main else "")}
        if column.info.description:
            notes["description"] = column.info.description
        yield pa.field(axis if is_main else f"{name}_{axis}", values.type, bool(mask.any()), notes), values
    taken_names |= {"ra", "dec"}


def _convert_moments(name: str, column: Any) -> Any:  # noqa: ANN401 - as above
    """Return times in UTC as moments in microseconds."""
    if column.scale != "utc" or column.ndim != 1:
        raise _make_refusal(
            name, f"times in {column.scale.upper()}", f'convert them: table["{name}"] = table["{name}"].utc'
        )
    mask = np.asarray(column.mask)
    times = getattr(column, "unmasked", column).copy(format="isot")
    times.precision = 6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about years before UTC
        texts = times.value
    try:
        moments = np.array(texts, "datetime64[us]")
    except ValueError as error:
        raise _make_refusal(name, f"an invalid time: {error}", "leap seconds are not supported") from error
    return pa.array(moments, pa.timestamp("us", "UTC"), mask=mask)


# --- plain columns ---


def _convert_values(name: str, column: Any) -> Any:  # noqa: ANN401 - as above
    plain = getattr(column, "unmasked", column)
    data = np.ma.getdata(plain) if isinstance(plain, np.ma.MaskedArray) else np.asarray(plain)
    mask = np.asarray(column.mask) if _is_masked(column) else None
    if data.dtype.kind == "O":
        return _convert_objects(name, data, mask)
    if data.dtype.kind not in _KINDS or data.dtype in (np.longdouble, np.clongdouble):
        raise _make_refusal(name, f"values of the type {data.dtype}", "convert it to numbers or text")
    return _convert_nested(data, mask)


def _convert_nested(data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    """Return cells as Arrow; several dimensions become nested arrays. A fully masked cell is NULL."""
    flat_mask = None if mask is None else np.ascontiguousarray(mask).ravel()
    values = _convert_flat(np.ascontiguousarray(data).ravel(), flat_mask)
    for axis in range(data.ndim - 1, 0, -1):
        count = prod(data.shape[:axis])
        offsets = pa.array(np.arange(count + 1) * data.shape[axis]).cast(pa.int32())
        null_mask = None
        if axis == 1 and mask is not None and data[0:1].size:
            null_mask = pa.array(mask.reshape(count, -1).all(axis=1))
        values = pa.ListArray.from_arrays(offsets, values, mask=null_mask)
    return values


def _convert_flat(data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    """Return a flat NumPy array as Arrow."""
    kind = data.dtype.kind
    if kind in "SU":
        return pa.array([_decode_text(text) for text in data.tolist()], pa.string(), mask=mask)
    if kind == "c":
        part = pa.float32() if data.dtype.itemsize == 8 else pa.float64()
        pairs = [pa.array(np.ascontiguousarray(component), part) for component in (data.real, data.imag)]
        return pa.StructArray.from_arrays(pairs, ["re", "im"], mask=None if mask is None else pa.array(mask))
    if kind == "M":
        return pa.array(data.astype("datetime64[us]"), pa.timestamp("us"), mask=mask)
    return pa.array(data.astype(data.dtype.newbyteorder("=")), mask=mask)


def _decode_text(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _convert_objects(name: str, data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    """Return a column of objects: all texts, or all arrays with the same type and number of dimensions."""
    cells = [
        None if is_masked else cell
        for cell, is_masked in zip(data.tolist(), _find_masked_rows(data, mask), strict=True)
    ]
    present = [cell for cell in cells if cell is not None]
    if data.ndim == 1 and all(isinstance(cell, str) for cell in present):
        return pa.array(cells, pa.string())
    kinds = {(cell.dtype.kind, cell.ndim) if isinstance(cell, np.ndarray) else None for cell in present}
    kind, dimensions = (kinds.pop() if len(kinds) == 1 else None) or ("O", 0)
    if data.ndim != 1 or kind not in _KINDS or not dimensions:
        raise _make_refusal(name, "objects of Python", "convert it to numbers, text or arrays of one type")
    common = np.result_type(*(cell.dtype for cell in present))
    arrays = [
        None if cell is None else _convert_nested(np.ma.getdata(cell).astype(common)[None], _find_element_mask(cell))
        for cell in cells
    ]
    array_type = next(array.type for array in arrays if array is not None)
    return pa.concat_arrays([pa.nulls(1, array_type) if array is None else array for array in arrays])


def _find_element_mask(cell: Any) -> Any:  # noqa: ANN401 - a NumPy array
    return np.ma.getmaskarray(cell)[None] if isinstance(cell, np.ma.MaskedArray) else None


def _find_masked_rows(data: Any, mask: Any) -> Any:  # noqa: ANN401 - NumPy arrays of anything
    """Return which rows are fully masked."""
    if mask is None:
        return np.zeros(len(data), bool)
    return mask.astype(bool) if mask.dtype != object else np.array([bool(np.all(cell_mask)) for cell_mask in mask])
