"""Tables of Arrow as tables of astropy. NULL is masked; NaN stays NaN."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["astropy_table"]


def astropy_table(table: Any, *, quantities: bool = False) -> Any:  # noqa: ANN401 - neither library has types
    """Return the rows of a table of Arrow as a Table, or as a QTable.

    Parameters
    ----------
    table
        The table; metadata of its fields say unit, description and ucd.
    quantities
        Whether columns that have a unit become quantities.
    """
    from astropy.table import Column, MaskedColumn, QTable, Table  # noqa: PLC0415 - it takes a while to import

    made = Table()
    for field, chunks in zip(table.schema, table.columns, strict=True):
        values = pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], field.type)
        said = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
        if pa.types.is_timestamp(field.type) and field.type.tz:
            column = _times(values)
        else:
            data, mask = _cells(values)
            masked = mask is not None and mask.any()
            column = MaskedColumn(data, mask=mask) if masked else Column(data)
            column.unit = said.get("unit") or None
        made[field.name] = column
        made[field.name].info.description = said.get("description")
        if "ucd" in said:
            made[field.name].info.meta = {"ucd": said["ucd"]}
    if not quantities:
        return made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of units that no quantity can have: such columns stay as they are
        return QTable(made)


def _times(values: Any) -> Any:  # noqa: ANN401 - as above
    from astropy.time import Time  # noqa: PLC0415 - see above

    mask = values.is_null().to_numpy(zero_copy_only=False)
    moments = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    scale = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of years before there was UTC
        times = Time(moments.view(f"datetime64[{values.type.unit}]"), format="datetime64", scale="utc")
        times = times.copy(format="isot")
        times.precision = len(str(scale)) - 1
        if mask.any():
            times[mask] = np.ma.masked
    return times


def _cells(values: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
    """Return NumPy's values, and which of them are NULL, or None if that cannot be."""
    kind = values.type
    mask = values.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _arrays(values, mask)
    if pa.types.is_struct(kind) and [one.name for one in kind] == ["re", "im"]:
        wanted = np.complex64 if kind[0].type == pa.float32() else np.complex128
        made = np.zeros(len(values), wanted)
        made.real, made.imag = (
            pc.struct_field(values, one).fill_null(np.nan).to_numpy(zero_copy_only=False) for one in ("re", "im")
        )
        return made, mask
    if pa.types.is_decimal(kind) and kind.scale == 0:
        exact = [0 if one is None else int(one) for one in values.to_pylist()]
        for wide in (np.int64, np.uint64):
            limits = np.iinfo(wide)
            if all(limits.min <= one <= limits.max for one in exact):
                return np.array(exact, wide), mask
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array(values.fill_null("").to_pylist(), str), mask
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return values.fill_null(False if pa.types.is_boolean(kind) else 0).to_numpy(zero_copy_only=False), mask
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        plain = values.cast(pa.timestamp("us")) if pa.types.is_timestamp(kind) else values.cast(pa.date32())
        whole = plain.cast(pa.int64() if pa.types.is_timestamp(kind) else pa.int32()).fill_null(0).cast(pa.int64())
        name = "datetime64[us]" if pa.types.is_timestamp(kind) else "datetime64[D]"
        return whole.to_numpy(zero_copy_only=False).astype(np.int64).view(name), mask
    made = np.empty(len(values), object)
    made[:] = values.to_pylist()
    return made, mask


def _arrays(values: Any, mask: Any) -> tuple[Any, Any]:  # noqa: ANN401 - as above
    """Return arrays of one length as one array of more dimensions; others as objects, each an array."""
    counts = pc.list_value_length(values).drop_null().to_numpy()
    inner, inner_mask = _cells(pc.list_flatten(values))
    length = int(counts[0]) if len(counts) else 0
    if len(counts) and (counts == length).all() and inner.dtype != object:
        shape = (len(values), length, *inner.shape[1:])
        made, gone = np.zeros(shape, inner.dtype), np.ones(shape, bool)
        made[~mask] = inner.reshape(len(counts), *shape[1:])
        gone[~mask] = False if inner_mask is None else inner_mask.reshape(len(counts), *shape[1:])
        return made, gone
    cells = np.empty(len(values), object)
    ends = np.cumsum(counts)
    for place, start, end in zip(np.flatnonzero(~mask), ends - counts, ends, strict=True):
        hidden = inner_mask is not None and inner_mask[start:end].any()
        cells[place] = np.ma.array(inner[start:end], mask=inner_mask[start:end]) if hidden else inner[start:end]
    return cells, mask
