"""Translate the tree of a query into catalogs.

Each node becomes a relation: a catalog with exactly one source for each row, and expressions over the attributes of the
catalog. An inexpressible part becomes opaque, and is remarked. Nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.calculators import SqlCalculator
from provenn.errors import (
    AttributeConflictError,
    AttributeNotFoundError,
    CriterionError,
    DefinitionError,
    PopulationError,
    QueryError,
    RegionError,
)
from provenn.logic import Statement
from provenn.queries.filtering import filter_rows
from provenn.queries.grouping import aggregate, distinguish
from provenn.queries.inner_joins import join_rows
from provenn.queries.joining import look_up
from provenn.queries.normal_form import normalise
from provenn.queries.opaque_parts import make_opaque
from provenn.queries.outer_groups import aggregate_partners
from provenn.queries.relation import InexpressibleError, RowSource, choose_free_name, name_attribute
from provenn.queries.scalar_subqueries import replace_scalars
from provenn.queries.set_operations import operate_on_sets
from provenn.queries.translating import KEY_DECIDES, ColumnType, Remark, Translating
from provenn.queries.tree import (
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
    refer_to,
    walk_tree,
)
from provenn.queries.whole_aggregates import aggregate_all
from provenn.queries.windows import add_windows, order_by_key, take_first, write_order

__all__ = ["Translation", "translate"]

_NOT_DEFINABLE = (
    InexpressibleError,
    CriterionError,
    DefinitionError,
    PopulationError,
    AttributeConflictError,
    AttributeNotFoundError,
    RegionError,
)


_PARTS: Final[Mapping[type[Node], str]] = {
    ScanNode: "FROM",
    ValuesNode: "VALUES",
    ProjectNode: "SELECT",
    FilterNode: "WHERE",
    JoinNode: "JOIN",
    AggregateNode: "GROUP BY",
    DistinctNode: "DISTINCT",
    SetOperationNode: "UNION, INTERSECT or EXCEPT",
    WindowNode: "OVER",
    ExplodeNode: "LATERAL VIEW",
    SortNode: "ORDER BY",
    LimitNode: "LIMIT",
    UnreadNode: "SELECT",
}
"""What a query calls its parts."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The catalog meant by a query.

    Parameters
    ----------
    catalog
        Its attributes are the columns of the query, and the key.
    columns
        The names of the columns, in the order of the query.
    order
        Columns by which the query sorts its result, each with whether it is descending and whether NULL comes first.
    limit, offset
        How many rows of the sorted result the query wants, and how many it passes over.
    remarks
        The parts that were not understood.
    """

    catalog: Catalog
    columns: tuple[str, ...]
    order: tuple[tuple[str, bool, bool], ...]
    limit: int | None
    offset: int
    remarks: tuple[Remark, ...]


def translate(
    node: Node,
    catalogs: Mapping[str, Catalog],
    *,
    prove: Callable[[Statement, Sequence[Catalog]], bool],
    find_types: Callable[[str, Sequence[Catalog]], Sequence[ColumnType]],
    find_population: Callable[[str], Sequence[str] | None] = lambda _: None,
    most: int | None = None,
    is_request: bool = False,
    keeps_order: bool = False,
    takes_first: bool = True,
) -> Translation:
    """Translate a query; see `Translating` for the further arguments.

    Parameters
    ----------
    node, catalogs, prove, find_types, find_population
        The query, and what `Translating` needs.
    most, is_request
        For a request, LIMIT and OFFSET at the end count, and no more than `most` rows are wanted; otherwise they are
        left out.
    keeps_order
        Whether the catalog also has what ORDER BY at the end sorts by, where that is no column of the query.
    takes_first
        Whether the catalog of a request has only the rows that LIMIT and OFFSET leave; otherwise the caller takes them.

    Raises
    ------
    QueryError
        If a part can neither be expressed nor be opaque.
    """
    context = Translating(catalogs, prove, find_types, find_population, _translate_node)
    node, shown, order, limit, offset = _split_request(normalise(node))
    if is_request and keeps_order:
        node, shown, order = _compute_order(node, shown, order)
    if shown is not None and not (is_request and (keeps_order or limit is not None or offset)):
        node, shown = ProjectNode(node, shown), None
    rows = node
    if is_request and takes_first and (offset or limit is not None or most is not None):
        number = min((number for number in (limit, most) if number is not None), default=None)
        rows = LimitNode(SortNode(node, order) if order else node, number, offset)
    try:
        relation = context.translate(rows)
        result = node if shown is None or keeps_order else ProjectNode(node, shown)
        columns = node.columns if shown is None else tuple(column for column, _ in shown)
        catalog, symbols = _shape_result(relation, result, columns, context)
    except _NOT_DEFINABLE as error:
        raise QueryError(f"this query cannot be a catalog: {error}") from error
    names = tuple(symbols[column.symbol] for column in columns)
    named_order = _name_order(order, symbols, context if keeps_order else None)
    has_limit = limit is not None or offset > 0 or any(isinstance(part, LimitNode) for part in walk_tree(node))
    remarks = [remark for remark in context.remarks if has_limit or remark.part != _PARTS[LimitNode]]
    return Translation(catalog, names, named_order, limit, offset, tuple(remarks))


def _split_request(
    node: Node,
) -> tuple[Node, tuple[tuple[Column, exp.Expr], ...] | None, tuple[NodeOrder, ...], int | None, int]:
    """Return a query without the outermost ORDER BY, LIMIT and OFFSET, the columns, and these clauses.

    The columns are None if equal to the columns of the node: otherwise, the node has further columns to sort by.
    """
    shown = None
    if (
        isinstance(node, ProjectNode)
        and isinstance(node.input, LimitNode | SortNode)
        and all(isinstance(value, exp.Column) and value.name == column.symbol for column, value in node.computed)
    ):
        shown, node = node.computed, node.input
    order: tuple[NodeOrder, ...] = ()
    limit, offset = None, 0
    if isinstance(node, LimitNode):
        limit, offset, node = node.number, node.offset, node.input
    if isinstance(node, SortNode):
        order, node = node.keys, node.input
    return node, shown, order, limit, offset


def _compute_order(
    node: Node, shown: tuple[Computed, ...] | None, order: tuple[NodeOrder, ...]
) -> tuple[Node, tuple[Computed, ...] | None, tuple[NodeOrder, ...]]:
    """Return a query with a column for each expression that it sorts by, the columns that it shows, and the order."""
    last = max((column.number for below in walk_tree(node) for column in below.columns), default=0)
    added: list[Computed] = []
    keys: list[NodeOrder] = []
    for key in order:
        if not isinstance(key.expression, exp.Column):
            added.append((Column(last + 1 + len(added), "order"), key.expression))
            key = replace(key, expression=refer_to(added[-1][0]))  # noqa: PLW2901 - the same key, computed
        keys.append(key)
    if not added:
        return node, shown, order
    columns = tuple((column, refer_to(column)) for column in node.columns)
    return ProjectNode(node, (*columns, *added)), columns if shown is None else shown, tuple(keys)


def _translate_node(node: Node, context: Translating) -> RowSource:
    """Return the relation of a node; an opaque relation if no class expresses the node."""
    try:
        return _express(node, context)
    except _NOT_DEFINABLE as error:
        return make_opaque(node, _PARTS[type(node)], _describe(error), context)


def _describe(error: Exception) -> str:
    """Return the reason in an error, in a single line."""
    return error.problem if isinstance(error, CriterionError) else str(error).splitlines()[0]


def _express(node: Node, context: Translating) -> RowSource:
    """Return the relation of a node.

    Raises
    ------
    InexpressibleError
        If no class expresses it.
    """
    match node:
        case ScanNode():
            return RowSource.of(context.catalogs[node.table], node.columns, [column.name for column in node.columns])
        case ProjectNode():
            return _project(node, context)
        case FilterNode():
            return filter_rows(node, context)
        case JoinNode():
            return join_rows(node, context)
        case AggregateNode(keys=()):
            return aggregate_all(node, context)
        case AggregateNode():
            return aggregate_partners(node, context) or aggregate(node, context)
        case DistinctNode():
            return distinguish(node, context)
        case SetOperationNode():
            return operate_on_sets(node, context)
        case WindowNode():
            return add_windows(node, context)
        case SortNode():
            return context.translate(node.input)
        case LimitNode():
            return _limit(node, context)
        case ExplodeNode():
            return _explode(node, context)
        case UnreadNode():
            raise InexpressibleError(node.reason)
        case ValuesNode():
            raise InexpressibleError("rows of constants have no key")
    raise InexpressibleError(f"{type(node).__name__} is not understood")


def _project(node: ProjectNode, context: Translating) -> RowSource:
    """Return the rows of a node with new columns."""
    rows = context.translate(node.input)
    values: dict[str, exp.Expr] = {}
    ranks = {}
    for column, expression in node.computed:
        if isinstance(expression, exp.Column) and expression.name in rows.ranks:
            ranks[column.symbol] = rows.ranks[expression.name]
        rows, resolved = replace_scalars(expression, rows, node.subqueries, context)
        values[column.symbol] = resolved
    return RowSource(rows.catalog, values, ranks, rows.find_identifying(node.computed))


def _limit(node: LimitNode, context: Translating) -> RowSource:
    """Return the first rows of a node; the key decides where the query does not."""
    rows = context.translate(node.input)
    order = write_order(rows, node.input.keys) if isinstance(node.input, SortNode) else order_by_key(rows.catalog)
    catalog = rows.catalog
    if node.number == 0:
        return replace(rows, catalog=verbs.exclude(catalog, catalog))
    context.remark("LIMIT", KEY_DECIDES)
    if node.number is not None:
        catalog = take_first(rows.catalog, (), order, node.number + node.offset)
    if node.offset:
        catalog = verbs.exclude(catalog, take_first(rows.catalog, (), order, node.offset))
    return replace(rows, catalog=catalog)


def _explode(node: ExplodeNode, context: Translating) -> RowSource:
    """Return the elements of an array, with the columns of their rows."""
    if node.is_outer:
        raise InexpressibleError("rows without elements are kept, with NULL")
    rows = context.translate(node.input)
    rows, (array,) = rows.expose([rows.resolve(node.array)], "array")
    elements = verbs.explode(rows.catalog, array.name)
    *key, position = elements.schema.key
    if array.name not in elements.schema:
        raise InexpressibleError(f"the elements of {array.name} are structs")
    values = {node.element.symbol: name_attribute(array.name)}
    if node.position is not None:
        values[node.position.symbol] = name_attribute(position.name)
    of_rows = [name_attribute(attribute.name) for attribute in key]
    exploded = look_up(RowSource(elements, values), rows, of_rows, "drop")
    if exploded is None:
        raise InexpressibleError(f"the elements of {array.name} cannot be looked up")
    return exploded


def _shape_result(
    relation: RowSource, node: Node, shown: Sequence[Column], context: Translating
) -> tuple[Catalog, dict[str, str]]:
    """Return the catalog of a result with only the columns of the result, and their names by symbol.

    Two columns of the same name are remarked if both are `shown`.
    """
    names: list[str] = []
    for column in node.columns:
        name = choose_free_name(column.name, names)
        if name != column.name and column in shown:
            context.remark("SELECT", f"two columns are called {column.name}: the later one is {name}")
        names.append(name)
    values = [relation.resolve(refer_to(column)) for column in node.columns]
    relation, attributes = relation.expose(values, names)
    chosen: dict[str, str] = {}
    again: dict[str, exp.Expr] = {}
    for name, attribute in zip(names, attributes, strict=True):
        if attribute.name in chosen:
            again[name] = name_attribute(attribute.name)
        else:
            chosen[attribute.name] = name
    catalog = _rename_all(relation.catalog, chosen)
    if again:
        renamed = {name: name_attribute(chosen[value.name]) for name, value in again.items()}
        catalog = _repeat(catalog, renamed)
    symbols = {column.symbol: name for column, name in zip(node.columns, names, strict=True)}
    return _keep(catalog, names), symbols


def _rename_all(catalog: Catalog, names: Mapping[str, str]) -> Catalog:
    """Return a catalog with some attributes, and the key, under new names; a key under a taken name gets another."""
    kept = _keep(catalog, list(names))
    changed = {old: new for old, new in names.items() if old != new}
    for attribute in kept.schema.attributes:
        if attribute.name not in names and attribute.name.lower() in {new.lower() for new in names.values()}:
            taken = (*kept.schema.names, *names.values(), *changed.values())
            changed[attribute.name] = choose_free_name(f"{attribute.name}_key", taken)
    return verbs.rename(kept, changed) if changed else kept


def _keep(catalog: Catalog, names: Sequence[str]) -> Catalog:
    """Return a catalog with some attributes, and the key: the catalog itself if no attributes are dropped."""
    kept = verbs.keep(catalog, names)
    return catalog if set(kept.schema.names) == set(catalog.schema.names) else kept


def _repeat(catalog: Catalog, values: Mapping[str, exp.Expr]) -> Catalog:
    """Return a catalog with attributes repeated under new names."""
    texts = {name: value.sql(dialect="spark") for name, value in values.items()}
    return verbs.derive(catalog, SqlCalculator.of(texts))


def _name_order(
    order: Sequence[NodeOrder], symbols: Mapping[str, str], context: Translating | None
) -> tuple[tuple[str, bool, bool], ...]:
    """Return the order of a result by its columns; an order by anything else is left out, and remarked if relevant."""
    named = []
    for key in order:
        name = symbols.get(key.expression.name) if isinstance(key.expression, exp.Column) else None
        if name is None:
            if context is not None:
                context.remark("ORDER BY", "the result is not sorted by what is not one of its columns")
            break
        named.append((name, key.is_descending, key.nulls_first))
    return tuple(named)
