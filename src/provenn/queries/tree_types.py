"""The types of the columns of a tree, found by Spark's ANSI rules without a session.

A text or an unresolved plan has no types, and where Spark has to convert values, two sessions may convert them
otherwise. So a tree is refused if the result depends on a conversion that only some sessions make: between texts and
other values, and between single-precision and other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from provenn.criteria import Attribute, AttributeIdentity, Type, parse_expression, parse_type
from provenn.criteria.types import BIGINT, BOOLEAN, DATE, DOUBLE, FLOAT, INT, INTEGRAL, TIMESTAMP, VOID, decimal
from provenn.errors import CriterionError, QueryError
from provenn.queries.folding_dates import fold_dates
from provenn.queries.function_names import AGGREGATES, get_function_name
from provenn.queries.reading_context import is_subquery_call
from provenn.queries.tree import (
    EXISTS,
    IN,
    AggregateNode,
    Column,
    DistinctNode,
    ExplodeNode,
    FilterNode,
    JoinNode,
    LimitNode,
    Node,
    ProjectNode,
    ScanNode,
    SetOperationNode,
    SortNode,
    ValuesNode,
    WindowNode,
)

__all__ = ["TreeTypes"]

_RANKS = {"row_number": INT, "rank": INT, "dense_rank": INT, "ntile": INT, "percent_rank": DOUBLE, "cume_dist": DOUBLE}
_SPREADS = ("stddev", "stddev_samp", "stddev_pop", "variance", "var_samp", "var_pop", "std")
_DATE_UNITS = ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_HINT = "cast the values to one type, or make the DataFrame in a classic session"
_ARRAY = "array<"


@dataclass(slots=True)
class TreeTypes:
    """The types of columns, for trees of one reader: each column has a number of its own.

    Parameters
    ----------
    tables
        The types of the columns of each table, by the names of table and column.
    is_utc
        Whether moments and days are converted in UTC; otherwise such conversions are refused.
    types
        The types of the columns so far, by their symbols.
    """

    tables: Mapping[str, Mapping[str, str]]
    is_utc: bool = True
    types: dict[str, Type] = field(default_factory=dict)
    _visited: dict[int, Node] = field(default_factory=dict)  # with the nodes, so that no other node gets their ids

    def find_types(self, node: Node) -> tuple[str, ...]:
        """Return the types of the columns of a tree, in order.

        Raises
        ------
        QueryError
            If a type is not known, or depends on conversions that only some sessions make.
        """
        self._visit(node)
        return tuple(str(self.types[column.symbol]) for column in node.columns)

    def _visit(self, node: Node) -> None:
        if id(node) in self._visited:
            return
        for below in (*node.inputs, *getattr(node, "subqueries", ())):
            self._visit(below)
        self._read_node(node)
        self._visited[id(node)] = node

    def _read_node(self, node: Node) -> None:
        match node:
            case ScanNode(table=table, table_columns=columns):
                for column in columns:
                    self._set(column, parse_type(self.tables[table][column.name]))
            case ValuesNode(rows=rows, value_columns=columns):
                for position, column in enumerate(columns):
                    self._set(column, self._agree([self._find_type(row[position]) for row in rows], "VALUES"))
            case ProjectNode(computed=computed, subqueries=subqueries):
                for column, tree in computed:
                    self._set(column, self._find_type(tree, subqueries))
            case FilterNode(condition=condition, subqueries=subqueries):
                self._require(condition, subqueries, BOOLEAN)
            case JoinNode(condition=condition, subqueries=subqueries):
                if condition is not None:
                    self._require(condition, subqueries, BOOLEAN)
            case AggregateNode(keys=keys, values=values):
                for column, tree in keys:
                    self._set(column, self._find_type(tree))
                for column, tree in values:
                    self._set(column, self._find_call_type(tree))
            case WindowNode(computed=computed):
                for column, tree in computed:
                    self._set(column, self._find_window_type(tree))
            case SetOperationNode(left=left, right=right, result_columns=columns, kind=kind):
                for column, *pair in zip(columns, left.columns, right.columns, strict=True):
                    self._set(column, self._agree([self.types[side.symbol] for side in pair], kind.upper()))
            case ExplodeNode(array=array, element=element, position=position):
                self._set(element, self._find_element_type(array))
                if position is not None:
                    self._set(position, INT)
            case SortNode(keys=keys):
                for key in keys:
                    self._find_type(key.expression)
            case DistinctNode() | LimitNode():
                pass
            case _:
                raise QueryError("the types of a part of the query are not known", hint=_HINT)

    def _set(self, column: Column, kind: Type) -> None:
        self.types[column.symbol] = kind

    def _agree(self, kinds: Sequence[Type], where: str) -> Type:
        """Return the only type of values in one column."""
        different = list(dict.fromkeys(kinds))
        if len(different) != 1:
            raise QueryError(f"{where} mixes the types {' and '.join(map(str, different))} in a column", hint=_HINT)
        return different[0]

    def _require(self, tree: exp.Expr, subqueries: Sequence[Node], wanted: Type) -> None:
        kind = self._find_type(tree, subqueries)
        if kind not in (wanted, VOID):
            raise QueryError(f"expected a {wanted}, got a {kind}: {tree.sql('spark')}", hint=_HINT)

    # -- expressions -------------------------------------------------------------------------------------------------

    def _find_type(self, tree: exp.Expr, subqueries: Sequence[Node] = ()) -> Type:
        """Return the type of an expression of one row."""
        inner = tree.unnest()
        if isinstance(inner, exp.Column) and inner.name in self.types:
            return self.types[inner.name]
        if isinstance(inner, exp.Null):
            return VOID
        values: dict[str, Type] = {}
        written = exp.Paren(this=fold_dates(tree).copy())
        for part in [*written.walk()]:
            if is_subquery_call(part):
                part.replace(self._replace_call(part, subqueries, values))
        for part in [*written.walk()]:
            if isinstance(part, exp.Add | exp.Sub) and part.parent is not None:
                day = self._read_shifted_day(part)
                if day is not None:
                    self._find_type(day, subqueries)
                    part.replace(_make_value(values, DATE))
        return self._parse(written.this, values)

    def _replace_call(self, call: exp.Expr, subqueries: Sequence[Node], values: dict[str, Type]) -> exp.Expr:
        """Return a constant or a column that has the type of a subquery, after a check of the types inside of it."""
        subquery = subqueries[int(call.expressions[0].name)]
        kinds = [self.types[column.symbol] for column in subquery.columns]
        if call.this == IN:
            own = [self._find_type(value, subqueries) for value in call.expressions[1:]]
            for pair in zip(own, kinds, strict=True):
                if not (set(pair) <= set(INTEGRAL) or pair[0].name == pair[1].name):
                    raise QueryError(f"IN compares a {pair[0]} with a {pair[1]}", hint=_HINT)
        if call.this in (EXISTS, IN):
            return _make_value(values, BOOLEAN)
        return _make_value(values, kinds[0])

    def _read_shifted_day(self, part: exp.Expr) -> exp.Expr | None:
        """Return the date of a sum with an interval; None for another sum."""
        interval = part.expression.unnest()
        if not isinstance(interval, exp.Interval):
            return None
        unit = str(interval.args.get("unit") or "").upper().removesuffix("S")
        kind = self._find_type(part.this)
        if unit not in _DATE_UNITS or kind != DATE:
            raise QueryError(
                f"an interval of the unit {unit or 'unknown'} and a {kind} are not added here",
                hint="add days, weeks, months or years to a date",
            )
        day: exp.Expr = part.this
        return day

    def _parse(self, tree: exp.Expr, values: Mapping[str, Type]) -> Type:
        known = {**self.types, **values}
        names = {column.name for column in tree.find_all(exp.Column)}
        schema = {name: Attribute(AttributeIdentity(name), known[name]) for name in names if name in known}
        text = tree.sql("spark")
        try:
            kind = parse_expression(text, schema).type
        except CriterionError as error:
            raise QueryError(f"{error.problem}: {text[:200]}", hint=str(error.hint) or _HINT) from error
        used = {schema[name].type for name in schema} | set(_list_cast_types(tree))
        if FLOAT in used and any(
            other.numeric and other not in (FLOAT, DOUBLE) for other in used | _list_literals(tree)
        ):
            raise QueryError(f"single-precision and other numbers are mixed: {text[:200]}", hint=_HINT)
        if TIMESTAMP in used and not self.is_utc:
            raise QueryError(
                f"moments are used in a session of another time zone than UTC: {text[:200]}",
                hint="make the DataFrame in a session with spark.conf.set('spark.sql.session.timeZone', 'UTC')",
            )
        return kind

    # -- functions of several rows -----------------------------------------------------------------------------------

    def _find_call_type(self, tree: exp.Expr) -> Type:
        """Return the type of an aggregate function."""
        call = tree
        if isinstance(call, exp.Filter):
            self._require(call.expression.this, (), BOOLEAN)
            call = call.this
        name = get_function_name(call)
        arguments = _list_arguments(call)
        if name == "count":
            for argument in arguments:
                self._find_type(argument)
            return BIGINT
        if name not in AGGREGATES or len(arguments) != 1:
            raise QueryError(f"the type of {call.sql('spark')} is not known here", hint=_HINT)
        kind = self._find_type(arguments[0])
        if name in ("min", "max"):
            return kind
        if not kind.numeric or name not in ("sum", "avg", "mean", *_SPREADS):
            raise QueryError(f"{name}() of a {kind} is not known here", hint=_HINT)
        if kind.name == "decimal" and name not in _SPREADS:
            more, scale = (10, 0) if name == "sum" else (4, 4)
            return decimal(min(kind.precision + more, 38), min(kind.scale + scale, 38))
        return BIGINT if name == "sum" and kind in INTEGRAL else DOUBLE

    def _find_window_type(self, tree: exp.Expr) -> Type:
        for part in tree.args.get("partition_by") or ():
            self._find_type(part)
        order = tree.args.get("order")
        for part in order.expressions if order is not None else ():
            self._find_type(part.this)
        name = get_function_name(tree.this)
        if name in _RANKS:
            return _RANKS[name]
        if name in ("lag", "lead"):
            arguments = _list_arguments(tree.this)
            kind = self._find_type(arguments[0])
            if len(arguments) > 2 and self._find_type(arguments[2]) not in (kind, VOID):
                raise QueryError(f"{name}() mixes types: {tree.sql('spark')}", hint=_HINT)
            return kind
        return self._find_call_type(tree.this)

    def _find_element_type(self, array: exp.Expr) -> Type:
        if get_function_name(array) in ("sequence", "generate_series"):
            kinds = [self._find_type(bound) for bound in _list_arguments(array)]
            return self._agree(kinds, "sequence()")
        kind = str(self._find_type(array))
        if not kind.startswith(_ARRAY):
            raise QueryError(f"expected an array, got a {kind}", hint="explode map_keys(…) or map_values(…)")
        return parse_type(kind[len(_ARRAY) : -1])


def _make_value(values: dict[str, Type], kind: Type) -> exp.Column:
    """Return a new column for a value of a type."""
    name = f"v{len(values) + 1}"
    values[name] = kind
    return exp.column(name)


def _list_arguments(call: exp.Expr) -> list[exp.Expr]:
    """Return the arguments of a call, without DISTINCT and *."""
    if isinstance(call, exp.Anonymous | exp.AnonymousAggFunc):
        arguments = list(call.expressions)
    else:
        arguments = [part for value in call.args.values() for part in _flatten(value)]
    listed = [part for argument in arguments for part in (_flatten_distinct(argument))]
    return [argument for argument in listed if not isinstance(argument, exp.Star)]


def _flatten(value: object) -> Iterator[exp.Expr]:
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, exp.Expr):
            yield part


def _flatten_distinct(argument: exp.Expr) -> list[exp.Expr]:
    return list(argument.expressions) if isinstance(argument, exp.Distinct) else [argument]


def _list_cast_types(tree: exp.Expr) -> Iterator[Type]:
    for cast in tree.find_all(exp.Cast):
        yield parse_type(cast.to.sql("spark"))


def _list_literals(tree: exp.Expr) -> set[Type]:
    """Return the types of constant numbers outside of casts; the digits do not matter here."""
    literals = (literal for literal in tree.find_all(exp.Literal) if not literal.is_string)
    return {
        INT if literal.is_int else decimal(1, 1) for literal in literals if not isinstance(literal.parent, exp.Cast)
    }
