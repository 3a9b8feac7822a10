"""Random tables, and the one form in which their cells are compared whoever wrote and read them."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from astropy.table import Column, MaskedColumn, Table
from hypothesis import strategies as st

__all__ = ["KINDS", "Drawn", "arrow_table", "astropy_table", "canonical", "drawn_tables", "from_arrow", "from_astropy"]

Rows = dict[str, list[Any]]

_MOMENTS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))  # noqa: DTZ001 - as nanoseconds reach
_WHOLE = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}


def _whole(sign: str, bits: int) -> st.SearchStrategy[int]:
    low, high = (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.integers(low, high) | st.sampled_from([low, high, high - 1])


KINDS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    **{name: (getattr(pa, name)(), _whole(sign, bits)) for name, (sign, bits) in _WHOLE.items()},
    "float32": (pa.float32(), st.floats(width=32)),
    "float64": (pa.float64(), st.floats()),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.text("abXY é\"',#|%", max_size=6)),
    "bytes": (pa.binary(), st.binary(max_size=4)),
    "date": (pa.date32(), st.dates()),
    "moment": (pa.timestamp("us"), _MOMENTS),
    "utc": (pa.timestamp("us", "UTC"), _MOMENTS.map(lambda text: text.replace(tzinfo=dt.UTC))),
    "nanoseconds": (pa.timestamp("ns"), st.integers(-(2**62), 2**62)),
    "decimal": (pa.decimal128(20, 3), st.decimals(-(10**12), 10**12, places=3)),
    "list": (pa.list_(pa.float64()), st.lists(st.floats(allow_nan=False), max_size=3)),
    "pair": (pa.list_(pa.float64(), 2), st.lists(st.floats(allow_nan=False), min_size=2, max_size=2)),
}
"""Arrow's type and the values of each kind of column."""


@dataclass(frozen=True)
class Drawn:
    """A table: its columns by name, each a kind and its values; None where there is none. ``id`` is the key."""

    rows: int
    columns: dict[str, tuple[str, list[Any]]]

    def only(self, kinds: frozenset[str], nullable: frozenset[str]) -> "Drawn":
        """Return the columns of some kinds; those that cannot be NULL are filled."""
        results = {
            name: (kind, [_fill(kind) if value is None and kind not in nullable else value for value in values])
            for name, (kind, values) in self.columns.items()
            if kind in kinds
        }
        return Drawn(self.rows, results)

    def with_texts(self, change) -> "Drawn":
        """Return the table with other texts, of which a format can hold all."""
        results = {
            name: (kind, [change(value) if kind == "text" and value is not None else value for value in values])
            for name, (kind, values) in self.columns.items()
        }
        return Drawn(self.rows, results)


def _fill(kind: str) -> Any:
    fills = {"text": "a", "bytes": b"a", "bool": True, "decimal": Decimal(1), "list": [1.0], "pair": [1.0, 2.0]}
    moment = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - it has none
    fills |= {"date": moment.date(), "moment": moment, "utc": moment.replace(tzinfo=dt.UTC)}
    return fills.get(kind, 1)


@st.composite
def drawn_tables(draw, *, most: int = 5) -> Drawn:
    """Draw a table with a column of every kind: which of them a writer can have differs."""
    rows = draw(st.integers(0, most))
    columns: dict[str, tuple[str, list[Any]]] = {"id": ("int64", list(range(rows)))}
    for kind, (_, values) in KINDS.items():
        columns[f"c_{kind}"] = (kind, draw(st.lists(st.none() | values, min_size=rows, max_size=rows)))
    return Drawn(rows, columns)


def arrow_table(drawn: Drawn) -> pa.Table:
    """Return a table of Arrow."""
    return pa.table({name: pa.array(values, KINDS[kind][0]) for name, (kind, values) in drawn.columns.items()})


def astropy_table(drawn: Drawn) -> Table:
    """Return a table of astropy, in which what is NULL is masked."""
    result = Table()
    for name, (kind, values) in drawn.columns.items():
        mask = [value is None for value in values]
        full = [_fill(kind) if value is None else value for value in values]
        dtype = {"text": "U6", "bytes": "S8", "pair": "f8", "bool": bool}.get(kind, kind)
        data = np.array(full, dtype) if full else np.zeros((0, 2) if kind == "pair" else 0, dtype)
        if kind == "pair" and any(mask):
            result[name] = MaskedColumn(data, mask=np.repeat(np.array(mask)[:, None], 2, axis=1))
        else:
            result[name] = MaskedColumn(data, mask=mask) if any(mask) else Column(data)
        if kind.startswith("int") and any(mask):
            result[name].fill_value = _unused(kind, values)
    return result


def _unused(kind: str, values: list[Any]) -> int:
    """Return a whole number that does not occur, for formats in which one stands for NULL."""
    limits = np.iinfo(kind)
    return next(number for number in range(int(limits.min), int(limits.max)) if number not in values)


# --- comparing ---


def from_arrow(table: pa.Table) -> Rows:
    """Return the cells of a table of Arrow."""
    columns = {}
    for name in table.column_names:
        values = table[name]
        if pa.types.is_timestamp(values.type):  # whole microseconds, towards the past
            unit = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
            whole = values.cast(pa.int64()).to_pylist()
            columns[name] = [None if item is None else ("moment", item * 10**6 // unit) for item in whole]
        elif pa.types.is_duration(values.type):
            columns[name] = values.cast(pa.int64()).to_pylist()
        else:
            columns[name] = values.to_pylist()
    return columns


def from_astropy(table: Table) -> Rows:
    """Return the cells of a table of astropy; a cell of which everything is masked is NULL."""
    return {name: [_cell(item) for item in table[name]] for name in table.colnames}


def _cell(item: Any) -> Any:
    if item is np.ma.masked or (isinstance(item, np.ma.MaskedArray) and item.mask.size and item.mask.all()):
        return None
    if isinstance(item, np.ma.MaskedArray):
        return [
            None if hidden else value
            for value, hidden in zip(item.data.tolist(), np.ma.getmaskarray(item), strict=True)
        ]
    return item.tolist() if hasattr(item, "tolist") else item


def canonical(rows: Rows, *, nan_is_null: bool = False, empty_is_null: bool = False) -> dict[Any, dict[str, Any]]:
    """Return rows by key; values of different types that mean the same are written in one way."""

    def plain(value: Any, *, inside: bool = False) -> Any:
        if isinstance(value, list | tuple) and not (value and value[0] == "moment"):
            return [plain(item, inside=True) for item in value]
        if isinstance(value, Decimal):
            return int(value) if value == value.to_integral_value() else str(value.normalize())
        if isinstance(value, bool | int) or value is None:
            return value
        if isinstance(value, float | np.floating):
            return None if np.isnan(value) and nan_is_null and not inside else repr(float(value))
        if isinstance(value, bytes | bytearray):
            return bytes(value)
        if isinstance(value, str):
            return None if value == "" and empty_is_null else value
        return value

    names = list(rows)
    return {
        row[names.index("id")]: {name: plain(value) for name, value in zip(names, row, strict=True)}
        for row in zip(*(rows[name] for name in names), strict=True)
    }
