"""Arrow columns as the bytes of FITS tables and VOTables, which both store the highest byte of a number first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["Bytes", "encode_numbers", "name_type", "view_bytes"]

Bytes = NDArray[np.uint8]

_COMPLEX = {"complex float": ">c8", "complex double": ">c16"}


def name_type(kind: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the name of a type; a struct of two numbers that stands for a complex number is named complex.

    >>> name_type(pa.int16()), name_type(pa.struct([("re", pa.float32()), ("im", pa.float32())]))
    ('int16', 'complex float')
    """
    if pa.types.is_struct(kind) and [field.name for field in kind] == ["re", "im"] and kind[0].type == kind[1].type:
        return f"complex {kind[0].type}"
    return str(kind)


def encode_numbers(values: Any, null: int) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    """Return numbers or logicals as they are stored; `null` stands for whole numbers that are NULL."""
    kind = values.type
    if name_type(kind) in _COMPLEX:
        real, imaginary = (
            pc.struct_field(values, name).fill_null(np.nan).to_numpy(zero_copy_only=False) for name in ("re", "im")
        )
        pairs = (real + 1j * imaginary).astype(_COMPLEX[name_type(kind)])
        pairs.imag = imaginary  # the sum loses infinities
        pairs.real = real
        pairs[values.is_null().to_numpy(zero_copy_only=False)] = complex(np.nan, np.nan)
        return pairs  # type: ignore[no-any-return]
    if pa.types.is_boolean(kind):
        letters = pc.if_else(values, ord("T"), ord("F")).fill_null(null)
        return letters.cast(pa.uint8()).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    missing = np.nan if pa.types.is_floating(kind) else null
    plain = values.fill_null(pa.scalar(missing, kind)).to_numpy(zero_copy_only=False)
    return plain.astype(plain.dtype.newbyteorder(">"))  # type: ignore[no-any-return]


def view_bytes(values: NDArray[Any]) -> Bytes:
    """Return the bytes of values, as one row of bytes for each value."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)
