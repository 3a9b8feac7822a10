"""Window functions: values that depend on all rows; ``row_number()`` compared with a number keeps the first rows.

The rows stay the same sources, with a further attribute. Sound: a window function gives a value for each row, and
neither adds nor drops rows. The attribute belongs to the sources before any later condition, because its identity has
the extent of the catalog in it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.calculators import SqlCalculator, WindowCalculator
from provenn.criteria import backquoted
from provenn.criteria.windows import parse_window
from provenn.queries.function_names import get_function_name
from provenn.queries.grouping import move_filter_inside
from provenn.queries.relation import (
    InexpressibleError,
    RankedRows,
    RowSource,
    choose_free_name,
    name_attribute,
    write_plain,
)
from provenn.queries.translating import KEY_DECIDES, Translating
from provenn.queries.tree import Column, NodeOrder, WindowNode

__all__ = [
    "add_windows",
    "keep_first",
    "order_by_key",
    "read_rank_condition",
    "take_first",
    "write_order",
]

_CONSTANT: Final = "0"
_CHOOSING: Final = frozenset(["first_value", "last_value", "nth_value"])
"""The functions that take the value of one row of a frame."""


def add_windows(node: WindowNode, context: Translating) -> RowSource:
    """Return the rows of a node with the values of window functions.

    Raises
    ------
    InexpressibleError
        If a window function is not understood.
    CriterionError
        If a value would depend on chance.
    """
    rows = context.translate(node.input)
    for column, expression in node.computed:
        if not isinstance(expression, exp.Window):
            raise InexpressibleError("a window function is part of an expression")
        ranked = None
        if _is_row_number(expression.this):
            with suppress(InexpressibleError):
                rows, ranked = _read_ranking(expression, rows, context)
        valued = _add_value(rows, column, expression, context)
        ranks = {} if ranked is None else {column.symbol: replace(ranked, valued=valued.catalog)}
        rows = replace(valued, ranks={**rows.ranks, **ranks})
    return rows


def _add_value(rows: RowSource, column: Column, expression: exp.Window, context: Translating) -> RowSource:
    """Return the rows with the value of a window function as an attribute."""
    window = expression.copy()
    if isinstance(window.this, exp.Filter):
        window.set("this", move_filter_inside(window.this))
    resolved = rows.resolve(window)
    is_total = _is_total(rows, resolved)
    if is_total:
        _count_rows_of_frame(resolved)
    text = write_plain(rows.catalog, resolved)
    function = parse_window(text, rows.catalog.schema)
    wish = column.name if column.name.isidentifier() else function.function
    name = choose_free_name(wish, rows.catalog.schema.names)
    if function.needs_key and not is_total:
        context.remark(f"{function.function}()", KEY_DECIDES)
    catalog = verbs.derive(rows.catalog, WindowCalculator.of({name: text}))
    return replace(rows, catalog=catalog, values={**rows.values, column.symbol: name_attribute(name)})


def _is_total(rows: RowSource, window: exp.Expr) -> bool:
    """Whether no two rows of a partition are equal in the order of a window: both together have the key."""
    order = window.args.get("order")
    parts = [*(window.args.get("partition_by") or ()), *(part.this for part in (order.expressions if order else ()))]
    attributes = [rows.find_attribute(part) for part in parts]
    identities = {attribute.identity for attribute in attributes if attribute is not None}
    return {attribute.identity for attribute in rows.catalog.schema.key} <= identities


def _count_rows_of_frame(window: exp.Expr) -> None:
    """Change a frame of RANGE to ROWS for functions that take the value of one row.

    Sound: where no two rows are equal in the order, both frames have the same rows.
    """
    function = window.this.this if isinstance(window.this, exp.IgnoreNulls | exp.RespectNulls) else window.this
    if get_function_name(function) not in _CHOOSING:
        return
    frame = window.args.get("spec")
    if frame is None:
        start = {"start": "UNBOUNDED", "start_side": "PRECEDING"}
        window.set("spec", exp.WindowSpec(kind="ROWS", end="CURRENT ROW", **start))
    elif {frame.args.get("start"), frame.args.get("end")} <= {"UNBOUNDED", "CURRENT ROW"}:
        frame.set("kind", "ROWS")


def _read_ranking(expression: exp.Window, rows: RowSource, context: Translating) -> tuple[RowSource, RankedRows]:
    """Return the rows, with attributes for grouping, and the numbering of the rows."""
    partition = [rows.resolve(part) for part in expression.args.get("partition_by") or ()]
    order = expression.args.get("order")
    if order is None:
        raise InexpressibleError("row_number() without an order numbers rows arbitrarily")
    keys = [
        NodeOrder(ordered.this, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first")))
        for ordered in order.expressions
    ]
    rows, grouping = rows.expose(partition, "group")
    for attribute in grouping:
        if attribute.type.name in ("float", "double") or not attribute.type.scalar:
            raise InexpressibleError(f"{attribute.name} is a {attribute.type}, which identifies no group")
        if not context.is_never_null(rows.catalog, attribute.name):
            raise InexpressibleError(f"{attribute.name} may be NULL, and NULL identifies no group")
    names = tuple(dict.fromkeys(attribute.name for attribute in grouping))
    return rows, RankedRows(rows.catalog, rows.catalog, names, write_order(rows, keys))


def _is_row_number(function: exp.Expr) -> bool:
    return isinstance(function, exp.RowNumber) or (
        isinstance(function, exp.Anonymous) and str(function.this).lower() == "row_number"
    )


def write_order(rows: RowSource, keys: tuple[NodeOrder, ...] | list[NodeOrder]) -> str:
    """Return an order as text over attributes."""
    return ", ".join(
        f"{write_plain(rows.catalog, rows.resolve(key.expression))} {'DESC' if key.is_descending else 'ASC'} "
        f"NULLS {'FIRST' if key.nulls_first else 'LAST'}"
        for key in keys
    )


def read_rank_condition(condition: exp.Expr, rows: RowSource) -> tuple[str, int] | None:
    """Return the rank and the largest number kept by a condition; None for a condition of another kind."""
    match condition:
        case exp.EQ(this=exp.Column() as column, expression=exp.Literal() as number) if number.name == "1":
            largest = 1
        case exp.LTE(this=exp.Column() as column, expression=exp.Literal() as number) if number.is_int:
            largest = int(number.name)
        case exp.LT(this=exp.Column() as column, expression=exp.Literal() as number) if number.is_int:
            largest = int(number.name) - 1
        case _:
            return None
    ranked = rows.ranks.get(column.name)
    if ranked is None or largest < 1 or ranked.catalog.population != rows.catalog.population:
        return None
    return column.name, largest


def keep_first(rows: RowSource, symbol: str, number: int) -> RowSource:
    """Return the rows with the smallest numbers of a rank.

    Sound: the rank was computed for `ranked.catalog`, and `rows` may be a part of the catalog by now; both have the
    same population, which `read_rank_condition` has checked.
    """
    ranked = rows.ranks[symbol]
    first = take_first(ranked.catalog, ranked.by, ranked.order, number)
    if rows.catalog == ranked.catalog or (rows.catalog == ranked.valued and number == 1):
        catalog: Catalog = first  # the only number is 1, which needs no window
    elif rows.catalog == ranked.valued:
        catalog = take_first(ranked.valued, ranked.by, ranked.order, number)
    else:
        catalog = verbs.restrict(rows.catalog, first)
    values = _replace_number(rows, symbol) if number == 1 else rows.values
    ranks = {name: rank for name, rank in rows.ranks.items() if name != symbol or number > 1}
    return RowSource(catalog, values, ranks)


def _replace_number(rows: RowSource, symbol: str) -> dict[str, exp.Expr]:
    """Return the values of rows whose number is 1, with 1 in place of the number."""
    number = rows.values[symbol]

    def replace_number(node: exp.Expr) -> exp.Expr:
        return exp.Literal.number(1) if node == number else node

    return {name: value.copy().transform(replace_number) for name, value in rows.values.items()}


def take_first(catalog: Catalog, by: tuple[str, ...], order: str, number: int) -> Catalog:
    """Return the first sources of each group, or of all sources without groups."""
    if by:
        return verbs.first(catalog, list(by), order, number)
    constant = choose_free_name("everything", catalog.schema.names)
    marked = verbs.derive(catalog, SqlCalculator.of({constant: _CONSTANT}))
    return verbs.keep(verbs.first(marked, constant, order, number), catalog.schema.names)


def order_by_key(catalog: Catalog) -> str:
    """Return an order by the key."""
    return ", ".join(backquoted(attribute.name) for attribute in catalog.schema.key)
