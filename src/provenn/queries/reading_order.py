"""Read ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from provenn.queries.adql_dialect import ADQL
from provenn.queries.reading_context import QueryReading
from provenn.queries.reading_expressions import Names, read_expression
from provenn.queries.tree import LimitNode, Node, NodeOrder, SortNode

__all__ = ["OrderKey", "add_limit", "find_limit", "read_order"]


@dataclass(frozen=True, slots=True)
class OrderKey:
    """An expression to sort by, and the original text of the expression."""

    tree: exp.Expr
    is_descending: bool
    nulls_first: bool
    original: exp.Expr

    def make_ordered(self) -> exp.Ordered:
        """Return the key as a part of ORDER BY of a window."""
        return exp.Ordered(this=self.tree.copy(), desc=self.is_descending, nulls_first=self.nulls_first)


def read_order(
    reading: QueryReading, order: exp.Order, names: Names, output_names: list[str], outputs: list[exp.Expr]
) -> list[OrderKey]:
    """Return the keys of ORDER BY; the names and numbers of results stand for the results.

    Parameters
    ----------
    reading
        The reading.
    order
        ORDER BY.
    names
        The names of FROM.
    output_names, outputs
        The names and the expressions of the results.
    """
    aliases: dict[str, exp.Expr | None] = {}
    for name, tree in zip(output_names, outputs, strict=True):
        lowered = name.lower()
        is_same = aliases.get(lowered) == tree
        aliases[lowered] = None if lowered in aliases and not is_same else tree
    keys: list[OrderKey] = []
    for ordered in order.expressions:
        key = ordered.this if isinstance(ordered, exp.Ordered) else ordered
        if isinstance(ordered, exp.Ordered) and ordered.args.get("with_fill"):
            reading.refuse(ordered, "WITH FILL is not supported")
        is_descending = bool(isinstance(ordered, exp.Ordered) and ordered.args.get("desc"))
        nulls_first = bool(isinstance(ordered, exp.Ordered) and ordered.args.get("nulls_first"))
        if (isinstance(key, exp.Var) and key.name.upper() == "ALL") or _is_all(key, aliases):
            keys += [OrderKey(tree, is_descending, nulls_first, key) for tree in outputs]
            continue
        if key.is_int:
            number = int(key.name) if not isinstance(key, exp.Neg) else 0
            if not 1 <= number <= len(outputs):
                reading.refuse(ordered, f"there is no column {number} of {len(outputs)}")
            tree = outputs[number - 1]
        else:
            tree = read_expression(reading, key, _choose_names(reading, key, names, aliases))
        keys.append(OrderKey(tree, is_descending, nulls_first, key))
    return keys


def _is_all(key: exp.Expr, aliases: dict[str, exp.Expr | None]) -> bool:
    is_name = isinstance(key, exp.Column) and not key.table and not key.this.args.get("quoted")
    return is_name and key.name.upper() == "ALL" and "all" not in aliases


def _choose_names(reading: QueryReading, key: exp.Expr, names: Names, aliases: dict[str, exp.Expr | None]) -> Names:
    """Return the names for a key: a result goes before a column, but inside of expressions dialects differ."""
    if isinstance(key, exp.Column):
        return replace(names, before=aliases)
    if reading.dialect == "postgres":
        return names
    return replace(names, after=aliases, is_strict=True)


def find_limit(reading: QueryReading, tree: exp.Expr) -> tuple[int | None, int]:
    """Return the number of rows of LIMIT, FETCH or TOP, and the number of rows of OFFSET."""
    limit: exp.Expr | None = tree.args.get("limit")
    offset: exp.Expr | None = tree.args.get("offset")
    number: int | None = None
    if limit is not None:
        count = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.args.get("expression")
        options = limit.args.get("limit_options")
        if (options is not None and (options.args.get("percent") or options.args.get("with_ties"))) or limit.args.get(
            "expressions"
        ):
            reading.refuse(limit, "LIMIT with PERCENT, WITH TIES or BY is not supported", "use rank() and QUALIFY")
        is_all = isinstance(count, exp.Var | exp.Column | exp.Null) and count.sql().upper() in ("ALL", "NULL")
        number = None if is_all else _read_count(reading, count, limit)
        if isinstance(limit, exp.Limit) and limit.args.get("offset") is not None:
            return number, _read_count(reading, limit.args["offset"], limit)
    return number, 0 if offset is None else _read_count(reading, offset.args.get("expression"), offset)


def _read_count(reading: QueryReading, tree: exp.Expr | None, place: exp.Expr) -> int:
    inner = None if tree is None else tree.unnest()
    if tree is None:
        return 1  # FETCH FIRST ROW ONLY
    if not (isinstance(inner, exp.Literal) and inner.is_int):
        word = "TOP" if reading.dialect == ADQL else "LIMIT"
        reading.refuse(place, f"{word} and OFFSET take a whole number here", "write the number")
    return int(inner.name)


def add_limit(node: Node, keys: list[OrderKey], number: int | None, offset: int) -> Node:
    """Return a node with an order and a limit, if any."""
    if keys:
        node = SortNode(node, tuple(NodeOrder(key.tree, key.is_descending, key.nulls_first) for key in keys))
    return node if number is None and not offset else LimitNode(node, number, offset)
