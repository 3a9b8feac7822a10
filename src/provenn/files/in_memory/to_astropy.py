"""Tables of Arrow as tables of astropy. NULL becomes masked; NaN stays NaN."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["convert_to_astropy"]


def convert_to_astropy(table: Any, *, quantities: bool = False) -> Any:  # noqa: ANN401 - neither library has types
    """Return the rows of a table of Arrow as a Table, or as a QTable.

    Parameters
    ----------
    table
        The table; metadata of its fields give unit, description and ucd.
    quantities
        Whether columns with a unit become quantities.
    """
    from astropy.table import Column, MaskedColumn, QTable, Table  # noqa: PLC0415 - it takes a while to import

    converted = Table()
    for field, chunks in zip(table.schema, table.columns, strict=True):
        values = pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], field.type)
        notes = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
        if pa.types.is_timestamp(field.type) and field.type.tz:
            column = _convert_times(values)
        else:
            data, mask = _convert_cells(values)
            masked = mask is not None and mask.any()
            column = MaskedColumn(data, mask=mask) if masked else Column(data)
            column.unit = notes.get("unit") or None
        converted[field.name] = column
        converted[field.name].info.description = notes.get("description")
        if "ucd" in notes:
            converted[field.name].info.meta = {"ucd": notes["ucd"]}
    if not quantities:
        return converted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about units unsuitable for quantities: these columns stay plain
        return QTable(converted)


def _convert_times(values: Any) -> Any:  # noqa: ANN401 - as above
    """Return moments of Arrow as a Time in UTC, with NULL masked."""
    from astropy.time import Time  # noqa: PLC0415 - see above

    mask = values.is_null().to_numpy(zero_copy_only=False)
    moments = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about years before UTC
        times = Time(moments.view(f"datetime64[{values.type.unit}]"), format="datetime64", scale="utc")
        times = times.copy(format="isot")
        times.precision = len(str(scale)) - 1
        if mask.any():
            times[mask] = np.ma.masked
    return times


def _convert_cells(values: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
    """Return the values as a NumPy array, and a mask of NULL values, or None if NULL is impossible."""
    kind = values.type
    mask = values.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _convert_arrays(values, mask)
    if pa.types.is_struct(kind) and [field.name for field in kind] == ["re", "im"]:
        complex_type = np.complex64 if kind[0].type == pa.float32() else np.complex128
        array = np.zeros(len(values), complex_type)
        array.real, array.imag = (
            pc.struct_field(values, component).fill_null(np.nan).to_numpy(zero_copy_only=False)
            for component in ("re", "im")
        )
        return array, mask
    if pa.types.is_decimal(kind) and kind.scale == 0:
        integers = [0 if number is None else int(number) for number in values.to_pylist()]
        for integer_type in (np.int64, np.uint64):
            limits = np.iinfo(integer_type)
            if all(limits.min <= number <= limits.max for number in integers):
                return np.array(integers, integer_type), mask
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array(values.fill_null("").to_pylist(), str), mask
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return values.fill_null(False if pa.types.is_boolean(kind) else 0).to_numpy(zero_copy_only=False), mask
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        moments = values.cast(pa.timestamp("us")) if pa.types.is_timestamp(kind) else values.cast(pa.date32())
        counts = moments.cast(pa.int64() if pa.types.is_timestamp(kind) else pa.int32()).fill_null(0).cast(pa.int64())
        name = "datetime64[us]" if pa.types.is_timestamp(kind) else "datetime64[D]"
        return counts.to_numpy(zero_copy_only=False).astype(np.int64).view(name), mask
    array = np.empty(len(values), object)
    array[:] = values.to_pylist()
    return array, mask


def _convert_arrays(values: Any, mask: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
    """Return arrays of equal length as a single array of more dimensions; otherwise objects, each an array."""
    counts = pc.list_value_length(values).drop_null().to_numpy()
    inner, inner_mask = _convert_cells(pc.list_flatten(values))
    length = int(counts[0]) if len(counts) else 0
    if len(counts) and (counts == length).all() and inner.dtype != object:
        shape = (len(values), length, *inner.shape[1:])
        array, array_mask = np.zeros(shape, inner.dtype), np.ones(shape, bool)
        array[~mask] = inner.reshape(len(counts), *shape[1:])
        array_mask[~mask] = False if inner_mask is None else inner_mask.reshape(len(counts), *shape[1:])
        return array, array_mask
    cells = np.empty(len(values), object)
    ends = np.cumsum(counts)
    for place, start, end in zip(np.flatnonzero(~mask), ends - counts, ends, strict=True):
        has_masked = inner_mask is not None and inner_mask[start:end].any()
        cells[place] = np.ma.array(inner[start:end], mask=inner_mask[start:end]) if has_masked else inner[start:end]
    return cells, mask
