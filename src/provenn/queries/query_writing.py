"""Write a tree as a single SELECT in Spark's dialect."""

# ruff: noqa: S608 - the SQL consists of numbered columns, quoted names and expressions that were parsed
from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from provenn.criteria.writing import backquoted
from provenn.queries.renumbering import order_nodes
from provenn.queries.sky_expressions import write_for_spark
from provenn.queries.tree import (
    EXISTS,
    IN,
    SCALAR,
    AggregateNode,
    Column,
    Computed,
    DistinctNode,
    ExplodeNode,
    FilterNode,
    JoinNode,
    LimitNode,
    Node,
    NodeOrder,
    ProjectNode,
    ScanNode,
    SetOperationNode,
    SortNode,
    UnreadNode,
    ValuesNode,
    WindowNode,
)

__all__ = ["write_expression", "write_sql"]

_JOINS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
    "cross": "CROSS JOIN",
}
_NO_COLUMNS = "1 AS c0"
_DIALECT = "spark"


def write_sql(node: Node, table_names: Mapping[str, str] | None = None) -> str:
    """Return a tree as a single SELECT in Spark's dialect; the columns of the result have their names.

    Parameters
    ----------
    node
        The tree.
    table_names
        SQL for the tables of the scans; by default the table itself, as a quoted name.
    """
    writer = _Writer({} if table_names is None else table_names)
    for part in order_nodes(node):
        writer.add_node(part)
    named = ", ".join(f"{column.symbol} AS {backquoted(column.name)}" for column in node.columns)
    return f"SELECT {named or _NO_COLUMNS} FROM {writer.write_table(node)}"


def write_expression(tree: exp.Expr, subqueries: Sequence[str] = ()) -> str:
    """Return an expression in Spark's dialect.

    Parameters
    ----------
    tree
        The expression.
    subqueries
        SELECTs in place of its calls of subqueries, by position.
    """
    calls = [call for call in tree.find_all(exp.Anonymous) if call.this in (EXISTS, IN, SCALAR)] if subqueries else []
    tree = write_for_spark(tree)
    if not calls:
        return tree.sql(_DIALECT)
    holder = exp.Paren(this=tree.copy())
    for call in [call for call in holder.find_all(exp.Anonymous) if call.this in (EXISTS, IN, SCALAR)][::-1]:
        call.replace(exp.var(_write_call(call, subqueries)))
    written: exp.Expr = holder.this
    return written.sql(_DIALECT)


def _write_call(call: exp.Anonymous, subqueries: Sequence[str]) -> str:
    number, *values = call.expressions
    query = subqueries[int(number.name)]
    if call.this == EXISTS:
        return f"(EXISTS ({query}))"
    if call.this == SCALAR:
        return f"({query})"
    shown = ", ".join(write_for_spark(value).sql(_DIALECT) for value in values)
    return f"(({shown}) IN ({query}))"


class _Writer:
    """Writes nodes, inputs first."""

    def __init__(self, table_names: Mapping[str, str]) -> None:
        self._table_names = table_names
        self._texts: dict[int, str] = {}

    def add_node(self, node: Node) -> None:
        """Write a node whose inputs and subqueries are written."""
        self._texts[id(node)] = self._write_node(node)

    def write_table(self, node: Node) -> str:
        """Return a written node as a table in FROM."""
        return f"({self._texts[id(node)]}) AS t"

    def _write_node(self, node: Node) -> str:
        match node:
            case ScanNode():
                return self._write_scan(node)
            case ValuesNode():
                return _write_values(node)
            case ProjectNode():
                subqueries = self._get_texts(node.subqueries)
                return self._select(_write_computed(node.computed, subqueries), node.input)
            case FilterNode():
                condition = write_expression(node.condition, self._get_texts(node.subqueries))
                return f"{self._select(_list_columns(node.columns), node.input)} WHERE {condition}"
            case JoinNode():
                return self._write_join(node)
            case AggregateNode():
                return self._write_aggregate(node)
            case DistinctNode():
                return f"SELECT DISTINCT {_list_columns(node.columns)} FROM {self.write_table(node.input)}"
            case SetOperationNode():
                return self._write_set_operation(node)
            case WindowNode():
                shown = [column.symbol for column in node.input.columns]
                return self._select(", ".join((*shown, _write_computed(node.computed))), node.input)
            case ExplodeNode():
                return self._write_explode(node)
            case SortNode():
                return f"{self._select(_list_columns(node.columns), node.input)} ORDER BY {_write_keys(node.keys)}"
            case LimitNode():
                return self._write_limit(node)
            case UnreadNode():
                return self._write_unread(node)
        raise TypeError(f"expected a node of a query, got {node!r}")

    def _get_texts(self, nodes: tuple[Node, ...]) -> list[str]:
        return [self._texts[id(node)] for node in nodes]

    def _select(self, shown: str, node: Node) -> str:
        return f"SELECT {shown} FROM {self.write_table(node)}"

    def _get_table_name(self, scan: ScanNode) -> str:
        return self._table_names.get(scan.table) or backquoted(scan.table)

    def _write_scan(self, scan: ScanNode) -> str:
        shown = ", ".join(f"{backquoted(column.name)} AS {column.symbol}" for column in scan.columns)
        return f"SELECT {shown or _NO_COLUMNS} FROM {self._get_table_name(scan)}"

    def _write_join(self, join: JoinNode) -> str:
        left, right = (f"({self._texts[id(side)]}) AS {name}" for side, name in ((join.left, "l"), (join.right, "r")))
        text = f"SELECT {_list_columns(join.columns)} FROM {left} {_JOINS[join.kind]} {right}"
        if join.kind == "cross":
            return text
        condition = exp.true() if join.condition is None else join.condition
        return f"{text} ON {write_expression(condition, self._get_texts(join.subqueries))}"

    def _write_aggregate(self, aggregate: AggregateNode) -> str:
        if not aggregate.keys:
            return self._select(_write_computed(aggregate.values) or "count(*) AS c0", aggregate.input)
        columns = [column.symbol for column in aggregate.input.columns]
        keyed = self._select(", ".join((*columns, _write_computed(aggregate.keys))), aggregate.input)
        keys = [column.symbol for column, _ in aggregate.keys]
        values = [_write_computed(aggregate.values)] if aggregate.values else []
        return f"SELECT {', '.join((*keys, *values))} FROM ({keyed}) AS t GROUP BY {', '.join(keys)}"

    def _write_set_operation(self, operation: SetOperationNode) -> str:
        sides = []
        for side in (operation.left, operation.right):
            pairs = zip(side.columns, operation.result_columns, strict=True)
            sides.append(self._select(", ".join(f"{own.symbol} AS {new.symbol}" for own, new in pairs), side))
        word = f"{operation.kind.upper()} {'ALL' if operation.is_all else 'DISTINCT'}"
        return f"({sides[0]}) {word} ({sides[1]})"

    def _write_explode(self, node: ExplodeNode) -> str:
        function, names = "explode", node.element.symbol
        if node.position is not None:
            function, names = "posexplode", f"{node.position.symbol}, {node.element.symbol}"
        outer = "OUTER " if node.is_outer else ""
        view = f"LATERAL VIEW {outer}{function}({write_expression(node.array)}) e AS {names}"
        return f"{self._select(_list_columns(node.columns), node.input)} {view}"

    def _write_limit(self, limit: LimitNode) -> str:
        text = self._select(_list_columns(limit.columns), limit.input)
        if isinstance(limit.input, SortNode):
            text = self._texts[id(limit.input)]
        number = "" if limit.number is None else f" LIMIT {limit.number}"
        return text + number + (f" OFFSET {limit.offset}" if limit.offset else "")

    def _write_unread(self, unread: UnreadNode) -> str:
        inputs = [
            f"input_{number} AS (SELECT {_list_names(scan.columns)} FROM {self._get_table_name(scan)})"
            for number, scan in enumerate(unread.scans, 1)
        ]
        query = f"WITH {', '.join(inputs)} SELECT * FROM ({unread.text}) AS t" if inputs else unread.text
        names = ", ".join(column.symbol for column in unread.columns)
        return f"SELECT {names} FROM ({query}) AS t({names})"


def _list_columns(columns: tuple[Column, ...]) -> str:
    return ", ".join(column.symbol for column in columns) or _NO_COLUMNS


def _list_names(columns: tuple[Column, ...]) -> str:
    return ", ".join(backquoted(column.name) for column in columns) or _NO_COLUMNS


def _write_computed(computed: tuple[Computed, ...], subqueries: Sequence[str] = ()) -> str:
    return ", ".join(f"{write_expression(tree, subqueries)} AS {column.symbol}" for column, tree in computed)


def _write_values(values: ValuesNode) -> str:
    if not values.columns:
        return f"SELECT {_NO_COLUMNS}" if values.rows else f"SELECT {_NO_COLUMNS} WHERE FALSE"
    names = _list_columns(values.columns)
    if not values.rows:
        return f"SELECT {', '.join(f'NULL AS {column.symbol}' for column in values.columns)} WHERE FALSE"
    rows = ", ".join(f"({', '.join(write_expression(value) for value in row)})" for row in values.rows)
    return f"SELECT {names} FROM VALUES {rows} AS t({names})"


def _write_keys(keys: tuple[NodeOrder, ...]) -> str:
    return ", ".join(
        f"{write_expression(key.expression)} {'DESC' if key.is_descending else 'ASC'} "
        f"NULLS {'FIRST' if key.nulls_first else 'LAST'}"
        for key in keys
    )
