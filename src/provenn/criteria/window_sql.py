"""Window functions in SQL, for Spark to evaluate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provenn.criteria.aggregate_sql import render_aggregate, render_order, write_one_zero
from provenn.criteria.criterion import render
from provenn.criteria.schema import AttributeIdentity
from provenn.criteria.windows import WindowFunction

__all__ = ["render_window"]


def render_window(window: WindowFunction, names: Mapping[AttributeIdentity, str], key: Sequence[str]) -> str:
    """Write a window function for Spark to evaluate.

    Parameters
    ----------
    window
        The window function.
    names
        The column names by attribute identity.
    key
        The quoted columns of the key of the sources, which decide between sources that are equal in the order.
    """
    over = _write_over(window, names, key)
    if window.aggregate is not None:
        return render_aggregate(window.aggregate, names, key, over)
    arguments = [render(argument, names) for argument in window.arguments]
    if window.number is not None:
        arguments.insert(1, str(window.number))
    nulls = " IGNORE NULLS" if window.ignores_nulls else ""
    return f"{window.function}({', '.join(arguments)}){nulls}{over}"


def _write_over(window: WindowFunction, names: Mapping[AttributeIdentity, str], key: Sequence[str]) -> str:
    partition = [write_one_zero(render(part, names), part.type) for part in window.partition]
    order = [*render_order(window.order, names), *(key if window.needs_key else ())]
    parts = [f"PARTITION BY {', '.join(partition)}"] if partition else []
    parts += [f"ORDER BY {', '.join(order)}"] if order else []
    parts += [window.frame.canonical] if window.frame is not None else []
    return f" OVER ({' '.join(parts)})"
