"""Read a single SELECT: columns, WHERE, GROUP BY, HAVING, windows, QUALIFY, DISTINCT, ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from provenn.errors import did_you_mean
from provenn.queries.adql_dialect import ADQL
from provenn.queries.function_names import GENERATORS, get_function_name
from provenn.queries.reading_conditions import find_value_type
from provenn.queries.reading_context import QueryReading, Surroundings, has_subquery
from provenn.queries.reading_expressions import Names, has_aggregate, has_window, read_expression
from provenn.queries.reading_groups import Grouping, has_grouping_sets
from provenn.queries.reading_order import OrderKey, add_limit, find_limit, read_order
from provenn.queries.reading_tables import read_from
from provenn.queries.reading_windows import lift_windows
from provenn.queries.renumbering import list_numbers, replace_columns
from provenn.queries.scopes import Scope
from provenn.queries.tree import (
    Column,
    Computed,
    DistinctNode,
    ExplodeNode,
    FilterNode,
    Node,
    ProjectNode,
    refer_to,
)

__all__ = ["read_select"]

_ALIASES_IN_WHERE = ("duckdb", "snowflake")
_REFUSED = {
    "match": "MATCH_RECOGNIZE",
    "connect": "CONNECT BY",
    "prewhere": "PREWHERE",
    "into": "SELECT INTO",
    "kind": "SELECT AS",
    "operation_modifiers": "this modifier of SELECT",
    "settings": "SETTINGS",
    "format": "FORMAT",
    "for_": "FOR",
}
_IGNORED = "locks", "hint", "sort", "cluster", "distribute"


@dataclass(frozen=True, slots=True)
class _Output:
    """A column of the result: the name, the expression, and the original text."""

    name: str
    tree: exp.Expr
    original: exp.Expr


def read_select(reading: QueryReading, select: exp.Select, surroundings: Surroundings) -> Node:
    """Return the tree of a SELECT."""
    return _SelectReader(reading, select, surroundings).read()


class _SelectReader:
    def __init__(self, reading: QueryReading, select: exp.Select, surroundings: Surroundings) -> None:
        self.reading = reading
        self.select = select
        self.surroundings = surroundings
        self.windows = self.list_windows()

    def list_windows(self) -> Mapping[str, exp.Window]:
        return {window.name.lower(): window for window in self.select.args.get("windows") or []}

    def refuse_forms(self) -> None:
        """Refuse clauses without a meaning here, and a SELECT without columns."""
        if not self.select.expressions:
            self.reading.refuse(self.select, "SELECT names no columns", "write the columns, or *")
        for key, word in _REFUSED.items():
            if self.select.args.get(key):
                self.reading.refuse(self.select, f"{word} is not supported", "use a plain SELECT")
        if self.select.args.get("limit") and any(self.select.args.get(key) for key in ("sort", "cluster")):
            self.reading.refuse(self.select, "LIMIT after SORT BY takes any rows", "use ORDER BY")

    def read(self) -> Node:
        """Read all clauses, in the order of their effect."""
        self.refuse_forms()
        node, scope = read_from(self.reading, self.select, self.surroundings)
        names = Names(scope, self.surroundings.queries, windows=self.windows)
        node, outputs, names = self.read_outputs(node, names)
        aliases = _list_aliases(outputs)
        node = self.read_where(node, names, aliases)
        distinct = self.select.args.get("distinct")
        on = distinct.args.get("on") if distinct is not None else None
        having = self.read_clause("having", replace(names, after=aliases))
        grouping = self.read_grouping(names, outputs, aliases, having)
        if grouping is not None and having is not None:
            names_in_having = replace(names, after=aliases, grouped=grouping.key_numbers)
            having = self.read_clause("having", names_in_having)
        qualify = self.read_clause("qualify", replace(names, after=aliases, is_strict=True))
        columns = [self.reading.make_column(output.name) for output in outputs]
        keys = self.read_order_keys(names, outputs)
        partition = self.read_distinct_on(on, names, outputs, keys) if on is not None else None
        if grouping is not None:
            if partition is not None:
                self.reading.refuse(self.select, "DISTINCT ON with GROUP BY is not supported", "use a subquery")
            for output in outputs:
                grouping.name_key(output.tree, output.name)
            outputs = [replace(output, tree=grouping.separate(output.tree, output.original)) for output in outputs]
            keys = [replace(key, tree=grouping.separate(key.tree, key.original)) for key in keys]
            having, qualify = (
                None if tree is None else grouping.separate(tree, self.select.args[clause].this)
                for clause, tree in (("having", having), ("qualify", qualify))
            )
            node = grouping.build(node, self.select)
        if having is not None:
            if has_window(having):
                self.reading.refuse(self.select.args["having"], "a window is not allowed in HAVING", "use QUALIFY")
            node = self.filter(node, having)
        trees = [output.tree for output in outputs] + [key.tree for key in keys]
        trees += [qualify] if qualify is not None else []
        trees += [partition] if partition is not None else []
        node, trees = lift_windows(self.reading, node, trees, self.select)
        outputs = [replace(output, tree=tree) for output, tree in zip(outputs, trees, strict=False)]
        keys = [replace(key, tree=tree) for key, tree in zip(keys, trees[len(outputs) :], strict=False)]
        if qualify is not None:
            node = self.filter(node, trees[len(outputs) + len(keys)])
        if partition is not None:
            node = self.filter(node, exp.EQ(this=trees[-1], expression=exp.Literal.number(1)))
        computed = tuple((column, output.tree) for column, output in zip(columns, outputs, strict=True))
        return self.finish(node, computed, keys, is_distinct=distinct is not None and on is None)

    def filter(self, node: Node, condition: exp.Expr) -> Node:
        (tree,), subqueries = self.reading.attach([condition])
        return FilterNode(node, tree, subqueries)

    def read_where(self, node: Node, names: Names, aliases: Mapping[str, exp.Expr | None]) -> Node:
        """Read WHERE; some dialects allow the names of results in WHERE."""
        where = self.select.args.get("where")
        if where is None:
            return node
        if self.reading.dialect in _ALIASES_IN_WHERE:
            names = replace(names, after=aliases)
        condition = read_expression(self.reading, where.this, replace(names, windows={}, is_condition=True))
        if has_aggregate(condition) or has_window(condition):
            if self.reading.dialect == ADQL:
                self.reading.refuse(where, "an aggregate is not allowed in WHERE", "use HAVING")
            self.reading.refuse(where, "an aggregate or a window is not allowed in WHERE", "use HAVING or QUALIFY")
        return self.filter(node, condition)

    def read_clause(self, clause: str, names: Names) -> exp.Expr | None:
        tree = self.select.args.get(clause)
        return None if tree is None else read_expression(self.reading, tree.this, replace(names, is_condition=True))

    # the columns of the result

    def read_outputs(self, node: Node, names: Names) -> tuple[Node, list[_Output], Names]:
        """Read the columns of the result; a name absent from all tables may mean an earlier column of the result."""
        outputs: list[_Output] = []
        aliases: dict[str, exp.Expr | None] = {}
        for tree in self.select.expressions:
            star = tree.this if isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star) else tree
            if isinstance(star, exp.Star):
                outputs += self.expand_star(tree, star, names)
                continue
            alias = tree.alias if isinstance(tree, exp.Alias) else ""
            inner = tree.this if isinstance(tree, exp.Alias) else tree
            if isinstance(tree, exp.Aliases):
                self.reading.refuse(tree, "several names for one column are not supported", "use LATERAL VIEW")
            if get_function_name(inner.unnest()) in GENERATORS and self.reading.is_spark:
                node, names, output = self.read_generator(node, names, inner.unnest(), alias)
            else:
                meaning = read_expression(self.reading, inner, replace(names, after=aliases))
                output = _Output(alias or _find_name(inner), meaning, inner)
            outputs.append(output)
            if alias:
                name = alias.lower()
                aliases[name] = None if name in aliases else output.tree
        return node, outputs, names

    def read_generator(self, node: Node, names: Names, call: exp.Expr, alias: str) -> tuple[Node, Names, _Output]:
        """Read explode() among the columns of the result."""
        name = get_function_name(call)
        if name.startswith("pos") or self.select.args.get("group") or self.select.args.get("where"):
            self.reading.refuse(call, f"{name}() is not supported here", "use LATERAL VIEW")
        array = read_expression(self.reading, call.expressions[0], names)
        if has_subquery(array) or has_aggregate(array) or has_window(array):
            self.reading.refuse(call, f"{name}() is not supported here", "use a subquery")
        element = self.reading.make_column(alias or "col")
        exploded = ExplodeNode(node, array, element, None, name.endswith("_outer"))
        return exploded, names, _Output(element.name, refer_to(element), call)

    def expand_star(self, tree: exp.Expr, star: exp.Star, names: Names) -> list[_Output]:
        """Return the columns of * or table.*, with the columns of EXCEPT, REPLACE and RENAME."""
        columns: list[Column] = list(names.scope.visible)
        if isinstance(tree, exp.Column):
            parts = [part.name.lower() for part in tree.parts[:-1]]
            sources = names.scope.find_sources(parts)
            if not sources:
                known = [source.qualifier[-1] for source in names.scope.sources if source.qualifier]
                self.reading.refuse(tree, f"there is no table {'.'.join(parts)}", did_you_mean(parts[-1], known))
            if len(sources) > 1:
                self.reading.refuse(tree, f"several tables are called {'.'.join(parts)}", "give them different names")
            columns = list(sources[0].columns)
        elif not names.scope.sources:
            self.reading.refuse(tree, "* needs a table", "write FROM")
        excluded = [part.name.lower() for part in star.args.get("except_") or []]
        replaced = {part.alias.lower(): part.this for part in star.args.get("replace") or []}
        renamed = {part.this.name.lower(): part.alias for part in star.args.get("rename") or []}
        present = {column.name.lower() for column in columns}
        for name in (*excluded, *replaced, *renamed):
            if name not in present:
                self.reading.refuse(tree, f"* has no column {name}", did_you_mean(name, present))
        outputs = []
        for column in columns:
            name = column.name.lower()
            if name in excluded:
                continue
            meaning: exp.Expr = refer_to(column)
            if name in replaced:
                meaning = read_expression(self.reading, replaced[name], names)
            outputs.append(_Output(renamed.get(name, column.name), meaning, tree))
        return outputs

    # groups

    def read_grouping(
        self,
        names: Names,
        outputs: list[_Output],
        aliases: Mapping[str, exp.Expr | None],
        having: exp.Expr | None,
    ) -> Grouping | None:
        """Return the keys of GROUP BY; None if the SELECT has neither groups nor aggregates."""
        group = self.select.args.get("group")
        if group is None:
            order = self.select.args.get("order")
            is_grouped = having is not None or any(has_aggregate(output.tree) for output in outputs)
            if not is_grouped and order is not None:
                is_grouped = has_aggregate(order)
            return Grouping(self.reading, names.scope, []) if is_grouped else None
        keys: list[exp.Expr] = []
        if group.args.get("all"):
            keys = [output.tree for output in outputs if not has_aggregate(output.tree)]
        key_names = replace(names, after=aliases)
        if has_grouping_sets(group):

            def read_key(tree: exp.Expr) -> exp.Expr:
                is_number = tree.is_int
                return (
                    self.get_output(tree, outputs).tree if is_number else read_expression(self.reading, tree, key_names)
                )

            grouping = Grouping(self.reading, names.scope, [])
            grouping.read_sets(group, read_key)
            return grouping
        pending = list(group.expressions)[::-1]
        while pending:
            tree = pending.pop()
            if isinstance(tree, exp.Tuple):
                pending += tree.expressions[::-1]
            elif tree.is_int:
                keys.append(self.get_output(tree, outputs).tree)
            else:
                keys.append(read_expression(self.reading, tree, key_names))
        return Grouping(self.reading, names.scope, keys)

    def get_output(self, tree: exp.Expr, outputs: list[_Output]) -> _Output:
        """Return the column of the result with a number written in GROUP BY."""
        number = int(tree.name) if not isinstance(tree, exp.Neg) else 0
        if not 1 <= number <= len(outputs):
            self.reading.refuse(tree, f"there is no column {number} of {len(outputs)}")
        return outputs[number - 1]

    # windows

    def read_distinct_on(self, on: exp.Expr, names: Names, outputs: list[_Output], keys: list[OrderKey]) -> exp.Expr:
        """Return the number of a row among the rows with the same keys of DISTINCT ON."""
        if not keys:
            self.reading.refuse(self.select, "DISTINCT ON without ORDER BY takes any row", "add ORDER BY")
        aliases = _list_aliases(outputs)
        parts = on.expressions if isinstance(on, exp.Tuple) else [on.unnest()]
        partition = [
            self.get_output(part, outputs).tree.copy()
            if part.is_int
            else read_expression(self.reading, part, replace(names, after=aliases))
            for part in parts
        ]
        order = exp.Order(expressions=[key.make_ordered() for key in keys])
        return exp.Window(this=exp.RowNumber(), partition_by=partition, order=order, over="OVER")

    # the order of the result

    def read_order_keys(self, names: Names, outputs: list[_Output]) -> list[OrderKey]:
        """Read ORDER BY over the columns of FROM: results are put in place of their names and numbers."""
        order = self.select.args.get("order")
        if order is None:
            return []
        trees = [output.tree for output in outputs]
        return read_order(self.reading, order, names, [output.name for output in outputs], trees)

    def finish(self, node: Node, computed: tuple[Computed, ...], keys: list[OrderKey], *, is_distinct: bool) -> Node:
        """Return the result: the columns, without duplicates if wanted, in order, up to the limit."""
        number, offset = find_limit(self.reading, self.select)
        texts = {tree.unnest().sql("spark"): column for column, tree in reversed(computed)}
        hidden: list[Computed] = []
        changed: list[OrderKey] = []
        for key in keys:
            column = texts.get(key.tree.unnest().sql("spark"))
            if column is None and _is_constant(key.tree):
                continue
            if column is None:
                replaced = self.replace_outputs(key.tree, computed)
                if replaced is None or has_subquery(replaced):
                    column = self.reading.make_column("order")
                    hidden.append((column, key.tree))
                else:
                    changed.append(replace(key, tree=replaced))
                    continue
            changed.append(replace(key, tree=refer_to(column)))
        if hidden and is_distinct:
            self.reading.refuse(
                self.select.args["order"], "ORDER BY after DISTINCT names what is not selected", "select it as well"
            )
        node = self.project(node, (*computed, *hidden))
        if is_distinct:
            node = DistinctNode(node)
        node = add_limit(node, changed, number, offset)
        if hidden:
            node = ProjectNode(node, tuple((column, refer_to(column)) for column, _ in computed))
        return node

    def project(self, node: Node, computed: tuple[Computed, ...]) -> Node:
        trees, subqueries = self.reading.attach([tree for _, tree in computed])
        for column, tree in computed:
            if isinstance(tree, exp.Column):
                self.reading.set_unit(column, self.reading.get_unit(tree.name))
            self.reading.set_type(column, find_value_type(self.reading, tree))
        return ProjectNode(
            node, tuple((column, tree) for (column, _), tree in zip(computed, trees, strict=True)), subqueries
        )

    def replace_outputs(self, tree: exp.Expr, computed: tuple[Computed, ...]) -> exp.Expr | None:
        """Return an expression over the columns of the result, or None if the expression names further columns."""
        plain = {
            int(output.name[1:]): refer_to(column)
            for column, output in computed
            if isinstance(output, exp.Column) and list_numbers(output)
        }
        numbers = list_numbers(tree)
        outer = self.surroundings.outer
        free = set(numbers) - plain.keys()
        if free and (outer is None or not free <= _list_outer_numbers(outer)):
            return None
        return replace_columns(tree, plain)


def _list_outer_numbers(scope: Scope) -> set[int]:
    return {number for outer in scope.iterate_outwards() for number in outer.numbers}


def _is_constant(tree: exp.Expr) -> bool:
    return isinstance(tree.unnest(), exp.Literal | exp.Null | exp.Boolean)


def _list_aliases(outputs: list[_Output]) -> dict[str, exp.Expr | None]:
    """Return the expressions of the results by their names in lower case; None for a name shared by several results."""
    aliases: dict[str, exp.Expr | None] = {}
    for output in outputs:
        name = output.name.lower()
        same = name in aliases and aliases[name] == output.tree
        aliases[name] = None if name in aliases and not same else output.tree
    return aliases


def _find_name(tree: exp.Expr) -> str:
    """Return the name of a result column without an alias."""
    inner = tree.unnest()
    if isinstance(inner, exp.Dot):
        return str(inner.expression.name)
    return str(inner.name) if isinstance(inner, exp.Column) else tree.sql("spark")
