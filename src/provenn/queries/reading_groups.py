"""Separate an expression of a query with GROUP BY: keys and aggregates below, the rest above."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from provenn.errors import QueryError
from provenn.queries.adql_dialect import ADQL
from provenn.queries.function_names import get_function_name, is_aggregate
from provenn.queries.query_writing import write_expression, write_sql
from provenn.queries.reading_conditions import find_value_type
from provenn.queries.reading_context import QueryReading, has_subquery, is_subquery_call
from provenn.queries.reading_expressions import has_aggregate, has_window, is_window_function
from provenn.queries.renumbering import find_free_numbers, get_number, list_numbers, substitute_columns
from provenn.queries.scopes import Scope
from provenn.queries.tree import (
    AggregateNode,
    Column,
    Computed,
    Node,
    ProjectNode,
    ScanNode,
    UnreadNode,
    refer_to,
    walk_tree,
)

__all__ = ["Grouping", "has_grouping_sets", "lift_subqueries"]

_SETS: dict[type[exp.Expr], str] = {exp.Rollup: "ROLLUP", exp.Cube: "CUBE", exp.GroupingSets: "GROUPING SETS"}
_GROUPING_FUNCTIONS = ("grouping", "grouping_id")


def has_grouping_sets(group: exp.Expr) -> bool:
    """Tell whether GROUP BY makes several groups of a row."""
    parts = any(isinstance(part, tuple(_SETS)) for part in group.expressions)
    return parts or any(group.args.get(key) for key in ("rollup", "cube", "grouping_sets", "totals"))


class Grouping:
    """The keys and aggregates of a single SELECT; `separate` collects the aggregates.

    Parameters
    ----------
    reading
        The reading.
    scope
        The scope of FROM.
    keys
        The expressions of GROUP BY.
    """

    def __init__(self, reading: QueryReading, scope: Scope, keys: list[exp.Expr]) -> None:
        self.reading = reading
        self.scope = scope
        self.keys: dict[str, Computed] = {}
        self.values: dict[str, Computed] = {}
        self._kinds: set[type[exp.Expr]] = set()
        self.sets = ""
        for key in keys:
            self.add_key(key)

    def add_key(self, key: exp.Expr) -> Column:
        """Return the column of a key."""
        inner = key.unnest()
        text = inner.sql("spark")
        if text not in self.keys:
            column = self.reading.make_column(self.reading.describe(inner))
            self.reading.set_type(column, find_value_type(self.reading, inner))
            self.keys[text] = (column, inner)
        if not isinstance(inner, exp.Literal):
            self._kinds.add(type(inner))
        return self.keys[text][0]

    def read_sets(self, group: exp.Expr, read_key: Callable[[exp.Expr], exp.Expr]) -> None:
        """Read GROUP BY with ROLLUP, CUBE or GROUPING SETS."""

        def write_part(tree: exp.Expr) -> str:
            match tree:
                case exp.Rollup() | exp.Cube() | exp.GroupingSets():
                    word = _SETS[type(tree)]
                    return f"{word} ({', '.join(write_part(part) for part in tree.expressions)})"
                case exp.Tuple():
                    return f"({', '.join(write_part(part) for part in tree.expressions)})"
                case exp.Paren():
                    return f"({write_part(tree.this)})"
            return self.add_key(read_key(tree)).symbol

        parts = [write_part(part) for part in group.expressions]
        for kind, key in ((exp.Rollup, "rollup"), (exp.Cube, "cube")):
            modifiers = group.args.get(key)
            if modifiers and (not isinstance(modifiers, list) or any(part.expressions for part in modifiers)):
                self.reading.refuse(group, f"this form of {_SETS[kind]} is not supported", "use GROUP BY ROLLUP (…)")
            if modifiers:
                parts = [f"{_SETS[kind]} ({', '.join(parts)})"]
        if group.args.get("grouping_sets") or group.args.get("totals"):
            self.reading.refuse(group, "this form of GROUP BY is not supported", "use GROUP BY GROUPING SETS (…)")
        self.sets = ", ".join(parts)

    @property
    def key_numbers(self) -> frozenset[int]:
        """The numbers of the plain columns among the keys."""
        return frozenset(
            get_number(tree) for _, tree in self.keys.values() if isinstance(tree, exp.Column) and get_number(tree)
        )

    def name_key(self, tree: exp.Expr, name: str) -> None:
        """Give a key the name in the result."""
        text = tree.unnest().sql("spark")
        if text in self.keys and isinstance(tree.unnest(), exp.Column):
            column, key = self.keys[text]
            self.keys[text] = (Column(column.number, name), key)

    def separate(self, tree: exp.Expr, original: exp.Expr) -> exp.Expr:
        """Return an expression over the columns of keys and aggregates.

        Parameters
        ----------
        tree
            The expression over the columns of FROM.
        original
            The expression as it was written, for its position.
        """
        holder = exp.Paren(this=tree.copy())
        pending: list[exp.Expr] = [holder.this]
        while pending:
            part = pending.pop()
            if type(part) in self._kinds and (key := self.keys.get(part.sql("spark"))) is not None:
                part.replace(refer_to(key[0]))
            elif get_function_name(part) in _GROUPING_FUNCTIONS:
                part.replace(refer_to(self.add_grouping_function(part, original)))
            elif is_aggregate(part) and not is_window_function(part):
                part.replace(refer_to(self.add_aggregate(part, original)))
            elif isinstance(part, exp.Column):
                if get_number(part) in self.scope.numbers:
                    self.refuse_column(part, original)
            else:
                if is_subquery_call(part):
                    self.replace_subquery(part, original)
                pending += part.iter_expressions()
        separated: exp.Expr = holder.this
        separated.pop()
        return separated

    def add_aggregate(self, call: exp.Expr, original: exp.Expr) -> Column:
        """Return the column of an aggregate."""
        inner = [part for part in call.walk() if part is not call and not _wraps(call, part)]
        if any(is_aggregate(part) or isinstance(part, exp.Window) for part in inner):
            self.reading.refuse(original, "an aggregate of an aggregate or of a window", "use a subquery")
        numbers = list_numbers(call)
        if numbers and not numbers & self.scope.numbers:
            problem = "an aggregate of columns of the enclosing query only"
            self.reading.refuse(original, problem, "compute it in the enclosing query")
        text = call.sql("spark")
        if text not in self.values:
            copied = call.copy()
            copied.pop()
            column = self.reading.make_column(self.reading.describe(call))
            self.reading.set_type(column, find_value_type(self.reading, copied))
            self.values[text] = (column, copied)
        return self.values[text][0]

    def add_grouping_function(self, call: exp.Expr, original: exp.Expr) -> Column:
        """Return the column of GROUPING or GROUPING_ID."""
        changed = call.copy()
        for argument in list(changed.expressions):
            key = self.keys.get(argument.sql("spark"))
            if key is None or not self.sets:
                self.reading.refuse(original, "GROUPING takes keys of ROLLUP, CUBE or GROUPING SETS")
            argument.replace(refer_to(key[0]))
        text = changed.sql("spark")
        if text not in self.values:
            changed.pop()
            self.values[text] = (self.reading.make_column(self.reading.describe(changed)), changed)
        return self.values[text][0]

    def build_sets(self, node: Node, keys: tuple[Computed, ...], values: tuple[Computed, ...]) -> UnreadNode:
        """Return the groups of ROLLUP, CUBE or GROUPING SETS as text."""
        reason = "ROLLUP, CUBE and GROUPING SETS make several groups of a row"
        kept = tuple((Column(column.number, column.symbol), refer_to(column)) for column in node.columns)
        named = tuple((Column(column.number, column.symbol), tree) for column, tree in keys)
        keyed = ProjectNode(node, (*kept, *named))
        scans = {part.table: part for part in walk_tree(node) if isinstance(part, ScanNode)}
        if find_free_numbers(keyed) or any(isinstance(part, UnreadNode) and part.scans for part in walk_tree(node)):
            raise QueryError(reason, hint="use UNION ALL of several GROUP BY")
        source = write_sql(keyed, {table: f"input_{number}" for number, table in enumerate(scans, 1)})
        shown = [column.symbol for column, _ in keys]
        shown += [f"{write_expression(tree)} AS {column.symbol}" for column, tree in values]
        text = f"SELECT {', '.join(shown)} FROM ({source}) AS t GROUP BY {self.sets}"  # noqa: S608 - parsed expressions
        columns = tuple(Column(column.number, column.symbol) for column, _ in (*keys, *values))
        return UnreadNode(text, tuple(scans.values()), columns, reason)

    def replace_subquery(self, call: exp.Expr, original: exp.Expr) -> None:
        """Let a subquery name keys in place of the original columns of the keys."""
        node = self.reading.get_subquery(call)
        free = find_free_numbers(node) & self.scope.numbers
        if not free:
            return
        replacements: dict[int, exp.Expr] = {
            get_number(tree): refer_to(column)
            for column, tree in self.keys.values()
            if isinstance(tree, exp.Column) and get_number(tree)
        }
        if not free <= replacements.keys():
            self.reading.refuse(original, "the subquery names a column that is not in GROUP BY", "add it to GROUP BY")
        changed = substitute_columns(node, replacements)
        call.expressions[0].replace(exp.Literal.number(self.reading.hold_subquery(changed)))

    def refuse_column(self, part: exp.Expr, original: exp.Expr) -> None:
        """Refuse a column outside of the keys."""
        place = part if "start" in part.meta else original
        names = {column.number: column.name for source in self.scope.sources for column in source.columns}
        names |= {column.number: column.name for column in self.scope.visible}
        number = get_number(part) if isinstance(part, exp.Column) else 0
        problem = f"{names.get(number, 'the column')} is neither in GROUP BY nor inside of an aggregate function"
        functions = "MAX or MIN" if self.reading.dialect == ADQL else "max(), min() or first()"
        self.reading.refuse(place, problem, f"add it to GROUP BY, or use {functions}")

    def build(self, node: Node, original: exp.Expr) -> Node:
        """Return the node of the groups."""
        for _, key in self.keys.values():
            if has_aggregate(key) or has_window(key):
                self.reading.refuse(original, "GROUP BY has an aggregate or a window", "use a subquery")
        computed = [*self.keys.values(), *self.values.values()]
        node, trees = lift_subqueries(self.reading, node, [tree for _, tree in computed])
        pairs = tuple((column, tree) for (column, _), tree in zip(computed, trees, strict=True))
        if self.sets:
            return self.build_sets(node, pairs[: len(self.keys)], pairs[len(self.keys) :])
        return AggregateNode(node, pairs[: len(self.keys)], pairs[len(self.keys) :])


def lift_subqueries(reading: QueryReading, node: Node, trees: list[exp.Expr]) -> tuple[Node, list[exp.Expr]]:
    """Return expressions without subqueries over a node with the computed values of the subqueries."""
    if not any(has_subquery(tree) for tree in trees):
        return node, trees
    lifted: list[Computed] = []
    changed = []
    for tree in trees:
        holder = exp.Paren(this=tree.copy())
        for call in list(holder.find_all(exp.Anonymous)):
            if is_subquery_call(call):
                column = reading.make_column("subquery")
                lifted.append((column, call.copy()))
                call.replace(refer_to(column))
        changed.append(holder.this)
        changed[-1].pop()
    attached, subqueries = reading.attach([tree for _, tree in lifted])
    kept = tuple((column, refer_to(column)) for column in node.columns)
    added = tuple((column, tree) for (column, _), tree in zip(lifted, attached, strict=True))
    return ProjectNode(node, (*kept, *added), subqueries), changed


def _wraps(call: exp.Expr, part: exp.Expr) -> bool:
    """Tell whether a part is the function itself in FILTER, WITHIN GROUP or IGNORE NULLS."""
    while isinstance(call, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        call = call.this
        if part is call:
            return True
    return False
