"""Read FROM: tables, subqueries, joins, and arrays as tables."""

from __future__ import annotations

from sqlglot import exp

from provenn.errors import QueryError, UnknownCatalogError
from provenn.queries.adql_dialect import ADQL
from provenn.queries.comma_joins import is_comma
from provenn.queries.function_names import GENERATORS, get_function_name
from provenn.queries.reading_context import QueryReading, Surroundings, has_subquery
from provenn.queries.reading_expressions import Names, has_aggregate, has_window, read_expression
from provenn.queries.reading_types import check_columns
from provenn.queries.scopes import Scope, Source
from provenn.queries.tree import (
    Column,
    ExplodeNode,
    JoinKind,
    JoinNode,
    Node,
    ProjectNode,
    ScanNode,
    UnreadNode,
    ValuesNode,
    refer_to,
)

__all__ = ["read_from"]

_SIDES: dict[str, JoinKind] = {"": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}
_VALUE_NAMES = {"duckdb": ("col", 0), "postgres": ("column", 1), "snowflake": ("column", 1)}
_TABLE_OPTIONS = ("pivots", "sample", "when", "version", "changes", "rows_from", "only", "partition", "match")
_PART = "write it as a query that is run outside, and use its result as a table"


def read_from(reading: QueryReading, select: exp.Select, surroundings: Surroundings) -> tuple[Node, Scope]:
    """Return the rows of FROM with all joins and lateral views, and the names given by FROM."""
    return _FromReader(reading, surroundings).read_select(select)


class _FromReader:
    def __init__(self, reading: QueryReading, surroundings: Surroundings) -> None:
        self.reading = reading
        self.surroundings = surroundings
        self.empty = Scope(outer=surroundings.outer)

    def read_select(self, select: exp.Select) -> tuple[Node, Scope]:
        """Read FROM, its joins and lateral views; without FROM, the result is a single row without columns."""
        first = select.args.get("from_")
        if first is None:
            node: Node = ValuesNode(((),), ())
            scope = self.empty
        else:
            node, scope = self.read_joins(first.this, select.args.get("joins") or [])
        for lateral in select.args.get("laterals") or []:
            node, scope = self.read_lateral(lateral, node, scope)
        return node, scope

    def read_joins(self, first: exp.Expr, joins: list[exp.Join]) -> tuple[Node, Scope]:
        """Read tables with their joins; in most dialects, JOIN binds more tightly than a comma."""
        node, scope = self.read_table(first)
        before: tuple[Node, Scope] | None = None
        after_array = False
        for join in joins:
            is_array = isinstance(join.this, exp.Unnest | exp.Lateral)
            has_comma = is_comma(join)
            if before is not None and (has_comma or is_array):
                node, scope, before = *self.cross(before, (node, scope)), None
            if is_array:
                node, scope = self.read_array_join(join, node, scope)
                after_array = True
            elif has_comma:
                before = node, scope
                node, scope = self.read_table(join.this)
                after_array = False
            else:
                if after_array and join.side in ("RIGHT", "FULL"):
                    self.reading.refuse(join, "this join follows an array", "put the array into a subquery")
                node, scope = self.read_join(join, node, scope)
        return self.cross(before, (node, scope)) if before is not None else (node, scope)

    def cross(self, left: tuple[Node, Scope], right: tuple[Node, Scope]) -> tuple[Node, Scope]:
        return JoinNode(left[0], right[0], "cross", None), left[1].join(right[1])

    def read_table(self, tree: exp.Expr) -> tuple[Node, Scope]:
        """Read a table, a subquery, VALUES, or a join in parentheses."""
        for option in _TABLE_OPTIONS:
            if tree.args.get(option):
                shown = {"pivots": "PIVOT", "sample": "TABLESAMPLE"}.get(option, option.upper())
                hint = "sample() takes the same part each time" if option == "sample" else _PART
                self.reading.refuse(tree, f"{shown} is not supported", hint)
        match tree:
            case exp.Table(this=exp.Identifier()):
                node, scope = self.read_named_table(tree)
            case exp.Table():
                node, scope = self.read_table_function(tree)
            case exp.Subquery(this=exp.Table() | exp.Subquery() | exp.Unnest()) if not isinstance(
                tree.this, exp.Subquery
            ) or tree.this.args.get("alias"):
                node, scope = self.read_table(tree.this)
                if tree.args.get("joins"):
                    node, scope = self.add_joins(node, scope, tree.args["joins"])
                return node, (self.alias(tree, scope.visible) if tree.args.get("alias") else scope)
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                node = self.reading.read_nested(tree, self.surroundings)
                scope = self.alias(tree, node.columns)
            case exp.Values():
                node = self.read_values(tree)
                scope = self.alias(tree, node.columns)
            case exp.Unnest() | exp.Lateral():
                node, scope = self.read_array(tree, ValuesNode(((),), ()), self.empty, is_outer=False)
            case _:
                self.reading.refuse(tree, f"{tree.key.upper()} is not supported in FROM", _PART)
        return self.add_joins(node, scope, tree.args.get("joins") or []) if tree.args.get("joins") else (node, scope)

    def add_joins(self, node: Node, scope: Scope, joins: list[exp.Join]) -> tuple[Node, Scope]:
        for join in joins:
            if is_comma(join) or isinstance(join.this, exp.Unnest | exp.Lateral):
                self.reading.refuse(join, "a comma or an array inside of a join is not supported", "use CROSS JOIN")
            node, scope = self.read_join(join, node, scope)
        return node, scope

    def alias(self, tree: exp.Expr, columns: tuple[Column, ...], name: tuple[str, ...] = ()) -> Scope:
        """Return the scope of a table with its alias and the names of columns in the alias."""
        alias: exp.Expr | None = tree.args.get("alias")
        if alias is not None and alias.this is not None:
            name = (alias.name.lower(),)
        renamed = alias.args.get("columns") or [] if alias is not None else []
        if len(renamed) > len(columns):
            self.reading.refuse(alias or tree, f"{len(renamed)} names are given to {len(columns)} columns")
        if renamed and len(renamed) < len(columns) and self.reading.is_spark:
            self.reading.refuse(alias or tree, f"{len(renamed)} names are given to {len(columns)} columns")
        new = tuple(Column(column.number, label.name) for column, label in zip(columns, renamed, strict=False))
        shown = (*new, *columns[len(new) :])
        return Scope((Source(name, shown),), shown, self.surroundings.outer)

    def read_named_table(self, tree: exp.Table) -> tuple[Node, Scope]:
        """Read a query of WITH, or a table known to the caller."""
        parts = tuple(part.name for part in tree.parts)
        lowered = tuple(part.lower() for part in parts)
        if len(parts) == 1 and lowered[0] in self.surroundings.queries:
            query = self.reading.copy_query(self.surroundings.queries[lowered[0]])
            return query, self.alias(tree, query.columns, lowered)
        try:
            table = self.reading.tables.find_table(parts)
        except UnknownCatalogError as error:
            raise QueryError(error.message, self.reading.text, self.find_start(tree), hint=error.hint) from error
        except QueryError as error:
            if error.position is not None:
                raise
            raise QueryError(error.problem, self.reading.text, self.find_start(tree), hint=error.hint) from error
        columns = tuple(self.reading.make_column(name) for name in table.columns)
        for column in columns:
            self.reading.set_unit(column, table.units.get(column.name, ""))
            self.reading.set_type(column, table.types.get(column.name))
        return ScanNode(table.name, columns), self.alias(tree, columns, lowered)

    def find_start(self, tree: exp.Table) -> int | None:
        starts = [part.meta["start"] for part in tree.parts if "start" in part.meta]
        return min(starts, default=None)

    def read_table_function(self, tree: exp.Table) -> tuple[Node, Scope]:
        """Read range() as text; refuse all further functions returning tables."""
        call = tree.this
        name = get_function_name(call)
        arguments = list(call.expressions)
        integers = [argument for argument in arguments if argument.is_int]
        if not (self.reading.is_spark and name == "range" and 1 <= len(integers) == len(arguments) <= 3):
            problem = f"{name or call.key}() is not supported in FROM"
            self.reading.refuse(tree, problem, "use tables, VALUES, explode() or range() of constants")
        column = self.reading.make_column("id")
        numbers = ", ".join(argument.sql("spark") for argument in arguments)
        text = f"SELECT id FROM range({numbers})"  # noqa: S608 - numbers
        node = UnreadNode(text, (), (column,), "range() makes rows that no table has")
        return node, self.alias(tree, (column,), ("range",))

    def read_values(self, tree: exp.Values) -> ValuesNode:
        """Read rows of constants."""
        names = Names(self.empty, self.surroundings.queries)
        rows = []
        for row in tree.expressions:
            inner = row.expressions if isinstance(row, exp.Tuple) else [row.unnest()]
            rows.append(tuple(self.read_plain(value, names, "VALUES") for value in inner))
        if len({len(row) for row in rows}) != 1:
            self.reading.refuse(tree, "the rows of VALUES differ in length")
        if any(has_subquery(value) for row in rows for value in row):
            self.reading.refuse(tree, "a subquery in VALUES is not supported", "use SELECT and UNION ALL")
        word, start = _VALUE_NAMES.get(self.reading.dialect, ("col", 1))
        columns = tuple(self.reading.make_column(f"{word}{start + index}") for index in range(len(rows[0])))
        return ValuesNode(tuple(rows), columns)

    def read_plain(self, tree: exp.Expr, names: Names, place: str) -> exp.Expr:
        """Read an expression without aggregates and windows."""
        expression = read_expression(self.reading, tree, names)
        if has_aggregate(expression) or has_window(expression):
            self.reading.refuse(tree, f"an aggregate or a window is not allowed in {place}", "use a subquery")
        return expression

    def read_join(self, join: exp.Join, left: Node, left_scope: Scope) -> tuple[Node, Scope]:
        """Read a table joined to the preceding tables."""
        kind = self.find_kind(join)
        right, right_scope = self.read_table(join.this)
        both = left_scope.join(right_scope)
        names = self.list_common_names(join, left_scope, right_scope)
        condition: exp.Expr | None = None
        pairs: list[tuple[Column, Column]] = []
        if names is not None:
            pairs = [(self.find_key(join, left_scope, name), self.find_key(join, right_scope, name)) for name in names]
            if self.reading.dialect == ADQL:
                check_columns(self.reading, pairs, join, "a join")
            if pairs:
                condition = exp.and_(*(exp.EQ(this=refer_to(a), expression=refer_to(b)) for a, b in pairs), copy=False)
        elif join.args.get("on") is not None:
            on_names = Names(both, self.surroundings.queries, is_condition=True)
            condition = self.read_plain(join.args["on"], on_names, "ON")
        if kind in ("inner", "cross") and (condition is None or condition == exp.true()):
            kind, condition = "cross", None
        trees, subqueries = self.reading.attach([] if condition is None else [condition])
        node: Node = JoinNode(left, right, kind, trees[0] if trees else None, subqueries)
        if kind in ("semi", "anti"):
            return node, left_scope
        return self.merge_keys(node, kind, pairs, left_scope, right_scope)

    def merge_keys(
        self, node: Node, kind: JoinKind, pairs: list[tuple[Column, Column]], left: Scope, right: Scope
    ) -> tuple[Node, Scope]:
        """Return a join with a single visible column for each pair of USING or NATURAL."""
        both = left.join(right)
        if not pairs:
            return node, both
        if kind == "full":
            merged = tuple(self.reading.make_column(own.name) for own, _ in pairs)
            kept = tuple((column, refer_to(column)) for column in node.columns)
            values = (exp.Coalesce(this=refer_to(own), expressions=[refer_to(other)]) for own, other in pairs)
            node = ProjectNode(node, (*kept, *zip(merged, values, strict=True)))
        else:
            merged = tuple(other if kind == "right" else own for own, other in pairs)
        lefts, rights = ({pair[side].number for pair in pairs} for side in (0, 1))
        visible = (
            *merged,
            *(column for column in left.visible if column.number not in lefts),
            *(column for column in right.visible if column.number not in rights),
        )
        return node, Scope(both.sources, visible, both.outer)

    def find_kind(self, join: exp.Join) -> JoinKind:
        """Return the kind of a join; refuse joins outside of SQL."""
        method, side, kind = (str(part or "").upper() for part in (join.method, join.side, join.kind))
        is_plain = method in ("", "NATURAL") and side in _SIDES and not join.args.get("match_condition")
        if is_plain and kind in ("SEMI", "ANTI") and side in ("", "LEFT"):
            return "semi" if kind == "SEMI" else "anti"
        if is_plain and kind in ("", "OUTER", "INNER"):
            return _SIDES[side]
        if is_plain and kind == "CROSS" and not side:
            return "cross"
        raise self.reading.make_error(
            join, f"{' '.join(filter(None, (method, side, kind)))} JOIN is not supported", _PART
        )

    def list_common_names(self, join: exp.Join, left: Scope, right: Scope) -> list[str] | None:
        """Return the names of USING, or the common names of both sides of NATURAL; None for joins of another form."""
        if str(join.method or "").upper() == "NATURAL":
            rights = {column.name.lower() for column in right.visible}
            return list(dict.fromkeys(name for name in (c.name.lower() for c in left.visible) if name in rights))
        using = join.args.get("using")
        return None if not using else [name.name.lower() for name in using]

    def find_key(self, join: exp.Join, scope: Scope, name: str) -> Column:
        matches = [column for column in scope.visible if column.name.lower() == name]
        if len(matches) != 1:
            problem = f"there is no column {name}" if not matches else f"several columns are called {name}"
            self.reading.refuse(join, f"{problem} on one side of the join", "use ON")
        return matches[0]

    def read_array_join(self, join: exp.Join, node: Node, scope: Scope) -> tuple[Node, Scope]:
        """Read an array joined to the rows holding the array."""
        kind = self.find_kind(join)
        on = join.args.get("on")
        is_plain = on is None or on == exp.true()
        if kind not in ("inner", "cross", "left") or not is_plain or join.args.get("using"):
            self.reading.refuse(join, "this join with an array is not supported", "use CROSS JOIN, and WHERE")
        return self.read_array(join.this, node, scope, is_outer=kind == "left")

    def read_lateral(self, lateral: exp.Lateral, node: Node, scope: Scope) -> tuple[Node, Scope]:
        """Read a LATERAL VIEW."""
        return self.read_array(lateral, node, scope, is_outer=bool(lateral.args.get("outer")))

    def read_array(self, tree: exp.Expr, node: Node, scope: Scope, *, is_outer: bool) -> tuple[Node, Scope]:
        """Read UNNEST, or LATERAL with a function making rows of an array."""
        alias = tree.args.get("alias")
        new_names = [name.name for name in (alias.args.get("columns") or [])] if alias is not None else []
        qualifier = (alias.name.lower(),) if alias is not None and alias.this is not None else ("unnest",)
        with_position = False
        if isinstance(tree, exp.Unnest):
            if len(tree.expressions) != 1 or tree.args.get("offset"):
                self.reading.refuse(tree, "UNNEST takes one array here", "use posexplode() in Spark's dialect")
            argument = tree.expressions[0]
            default = qualifier[0] if self.reading.dialect == "postgres" else "unnest"
        else:
            call = tree.this
            name = get_function_name(call)
            if name not in GENERATORS or self.reading.dialect not in ("spark", "databricks"):
                self.reading.refuse(tree, "LATERAL with a query is not supported", "use a join, or explode()")
            argument = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
            is_outer = is_outer or name.endswith("_outer")
            with_position = name.startswith("pos")
            default = "col"
        wanted = 2 if with_position else 1
        if new_names and len(new_names) != wanted:
            problem = f"{len(new_names)} names are given to {wanted} columns"
            self.reading.refuse(tree, problem, "use map_entries() to explode a map")
        array = self.read_plain(argument, Names(scope, self.surroundings.queries), "an array")
        if has_subquery(array):
            self.reading.refuse(tree, "a subquery as an array is not supported", "use a join")
        element = self.reading.make_column(new_names[-1] if new_names else default)
        position = self.reading.make_column(new_names[0] if new_names else "pos") if with_position else None
        columns = (element,) if position is None else (position, element)
        added = Scope((Source(qualifier, columns),), columns, scope.outer)
        return ExplodeNode(node, array, element, position, is_outer), scope.join(added)
