"""Rows of plain values as a text table, as pandas writes them: importing pandas takes longer than reading rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

__all__ = ["format_plain_rows", "has_plain_columns"]

_DIGITS = 6
_INTEGERS = frozenset(["int8", "int16", "int32", "int64"])
_FLOATS = frozenset(["float", "double"])


def has_plain_columns(table: Any) -> bool:  # noqa: ANN401 - a table of Arrow
    """Return whether all columns hold numbers, truth values or texts, and only doubles, floats and texts are NULL."""
    return all(
        str(column.type) in _FLOATS
        or str(column.type) == "string"
        or (str(column.type) in {*_INTEGERS, "bool"} and not column.null_count)
        for column in table.columns
    )


def format_plain_rows(table: Any) -> str | None:  # noqa: ANN401 - a table of Arrow
    """Return an Arrow table as text, as ``to_string(index=False)`` of pandas; None if a column is not plain."""
    if not table.num_rows or not has_plain_columns(table):
        return None
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind, values = str(column.type), column.to_pylist()
        if kind == "string" and not all(value is None or value.isprintable() for value in values):
            return None
        texts = _format_floats(values) if kind in _FLOATS else list(map(str, values))
        header = f" {name}" if kind in _FLOATS or kind in _INTEGERS else name
        width = max(map(len, [header, *texts]))
        columns.append([text.rjust(width) for text in [header, *texts]])
    return "\n".join(" ".join(row) for row in zip(*columns, strict=True))


def _format_floats(values: Sequence[float | None]) -> list[str]:
    """Return numbers with as many digits as pandas shows."""
    numbers = [math.nan if value is None else value for value in values]
    sizes = [abs(number) for number in numbers if not math.isnan(number)]
    texts = _trim_zeros([_format_float(number, "f") for number in numbers])
    is_long = max(map(len, texts)) > _DIGITS + 6
    has_small = any(0 < size < 10**-_DIGITS for size in sizes)
    if has_small or (is_long and any(size > 1e6 for size in sizes)):
        return [_format_float(number, "e") for number in numbers]
    return texts


def _format_float(number: float, form: str) -> str:
    return "NaN" if math.isnan(number) else f"{number:.{_DIGITS}{form}}"


def _trim_zeros(texts: list[str]) -> list[str]:
    """Return decimal texts without the zeros at the end that all of them have; one digit stays after the point."""
    decimals = [text for text in texts if text not in ("NaN", "inf", "-inf")]
    while decimals and all(text.endswith("0") for text in decimals):
        decimals = [text[:-1] for text in decimals]
        texts = [text if text in ("NaN", "inf", "-inf") else text[:-1] for text in texts]
    return [f"{text}0" if text.endswith(".") else text for text in texts]
