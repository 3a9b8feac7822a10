"""WHERE, HAVING and QUALIFY: each condition connected by AND is expressed separately."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.errors import CriterionError, DefinitionError, PopulationError
from provenn.queries.inner_joins import join_rows
from provenn.queries.joining import Equality, is_constant
from provenn.queries.opaque_parts import select_opaquely
from provenn.queries.outer_joins import write_nulls
from provenn.queries.relation import InexpressibleError, RowSource, split_conjuncts, write_plain
from provenn.queries.scalar_subqueries import replace_scalars
from provenn.queries.semi_joins import keep_partnered, keep_unmentioned, mark_partnered
from provenn.queries.subqueries import SubqueryCall, has_subquery, read_call, separate
from provenn.queries.translating import Translating
from provenn.queries.tree import IN, SCALAR, FilterNode, JoinNode, Node
from provenn.queries.windows import keep_first, read_rank_condition

__all__ = ["filter_rows"]


def filter_rows(node: FilterNode, context: Translating) -> RowSource:
    """Return the rows of a node where the condition of the node is TRUE."""
    conjuncts = split_conjuncts(node.condition)
    if isinstance(node.input, JoinNode) and node.input.kind in ("inner", "cross"):
        plain = [conjunct for conjunct in conjuncts if not has_subquery(conjunct)]
        conjuncts = [conjunct for conjunct in conjuncts if has_subquery(conjunct)]
        rows = join_rows(node.input, context, plain)
    else:
        lonely = None
        if isinstance(node.input, JoinNode) and node.input.kind in ("left", "right"):
            lonely = _find_lonely(node.input, conjuncts, context)
        rows, conjuncts = lonely or (context.translate(node.input), conjuncts)
    # Numbers of rows were given before any condition of this node is applied; `keep_first` knows for which rows. Its
    # conditions come first, so that the rows are still the ones that were numbered.
    for conjunct in sorted(conjuncts, key=lambda conjunct: read_rank_condition(conjunct, rows) is None):
        rows = _apply(rows, conjunct, node, context)
    return rows


def _find_lonely(
    join: JoinNode, conjuncts: list[exp.Expr], context: Translating
) -> tuple[RowSource, list[exp.Expr]] | None:
    """Return the rows of an outer join without a partner and the remaining conditions; None if no condition asks so.

    Sound: a column of the partners, if never NULL for a partner, is NULL exactly for the rows without a partner, and
    these are the rows of the anti join with the same condition, once each, with NULL in all columns of the partners.
    """
    kept, missing = (join.left, join.right) if join.kind == "left" else (join.right, join.left)
    asking = [conjunct for conjunct in conjuncts if _asks_for_null(conjunct, missing)]
    if not asking:
        return None
    partners = context.translate(missing)
    for conjunct in asking:
        value = partners.resolve(conjunct.this)
        attribute = partners.find_attribute(value)
        if attribute is None:
            if not is_constant(value):
                continue
        elif not context.is_never_null(partners.catalog, attribute.name):
            continue
        try:
            lonely = join_rows(JoinNode(kept, missing, "anti", join.condition), context)
        except (InexpressibleError, CriterionError, DefinitionError, PopulationError):
            continue
        pairs = zip(missing.columns, write_nulls(partners, missing), strict=True)
        nulls = {column.symbol: null for column, null in pairs}
        rows = RowSource(lonely.catalog, {**lonely.values, **nulls}, lonely.ranks)
        return rows, [other for other in conjuncts if other is not conjunct]
    return None


def _asks_for_null(conjunct: exp.Expr, node: Node) -> bool:
    """Whether a condition is that a column of a node is NULL."""
    if not isinstance(conjunct, exp.Is) or not isinstance(conjunct.expression, exp.Null):
        return False
    return isinstance(conjunct.this, exp.Column) and conjunct.this.name in {column.symbol for column in node.columns}


def _apply(rows: RowSource, conjunct: exp.Expr, node: FilterNode, context: Translating) -> RowSource:
    """Return the rows where a single condition is TRUE."""
    rank = read_rank_condition(conjunct, rows)
    if rank is not None:
        return keep_first(rows, *rank)
    try:
        return _express(rows, conjunct, node, context)
    except (InexpressibleError, CriterionError, DefinitionError, PopulationError) as error:
        return select_opaquely(rows, conjunct, node.subqueries, str(error).splitlines()[0], context)


def _express(rows: RowSource, conjunct: exp.Expr, node: FilterNode, context: Translating) -> RowSource:
    is_negated = isinstance(conjunct, exp.Not)
    inner = conjunct.this.unnest() if is_negated else conjunct
    call = read_call(inner, node.subqueries)
    if call is not None and call.kind != SCALAR:
        return _apply_subquery(rows, call, is_negated, context)
    marked, condition = _mark_calls(rows, conjunct, node, context)
    extended, resolved = replace_scalars(condition, marked, node.subqueries, context)
    selected: Catalog = verbs.select(extended.catalog, write_plain(extended.catalog, resolved))
    if extended.catalog != rows.catalog:
        selected = verbs.keep(selected, rows.catalog.schema.names)
    return replace(rows, catalog=selected)


def _mark_calls(
    rows: RowSource, conjunct: exp.Expr, node: FilterNode, context: Translating
) -> tuple[RowSource, exp.Expr]:
    """Return a condition with EXISTS and IN inside replaced by conditions on attributes, and the rows with these.

    Sound: EXISTS is TRUE or FALSE, and so is IN if it compares no NULL.
    """
    for call_node in list(conjunct.find_all(exp.Anonymous)):
        call = read_call(call_node, node.subqueries)
        if call is None or call.kind == SCALAR:
            continue
        partners, equalities = _connect(call, context)
        if call.kind == IN:
            _check_never_null(rows, partners, equalities, context)
        rows, marker = mark_partnered(rows, partners, equalities, context)
        conjunct = conjunct.transform(
            lambda part, call_node=call_node, marker=marker: exp.paren(marker) if part == call_node else part
        )
    return rows, conjunct


def _apply_subquery(rows: RowSource, call: SubqueryCall, is_negated: bool, context: Translating) -> RowSource:
    """Return the rows where EXISTS or IN is TRUE, or NOT EXISTS or NOT IN."""
    partners, equalities = _connect(call, context)
    if call.kind == IN and is_negated:
        _check_never_null(rows, partners, equalities, context)
    if is_negated:
        return keep_unmentioned(rows, partners, equalities, context)
    return keep_partnered(rows, partners, equalities, context)


def _connect(call: SubqueryCall, context: Translating) -> tuple[RowSource, list[Equality]]:
    """Return the rows of a subquery, and what must be equal for a row of the enclosing query."""
    correlated = separate(call.subquery)
    if correlated.aggregate is not None:
        raise InexpressibleError("a subquery that aggregates all rows always has a row")
    equalities = list(correlated.equalities)
    if call.kind == IN:
        pairs = zip(call.values, correlated.computed, strict=True)
        equalities += [Equality(value, column, exp.EQ(this=value, expression=column)) for value, column in pairs]
    return context.translate(correlated.rows), equalities


def _check_never_null(rows: RowSource, partners: RowSource, equalities: list[Equality], context: Translating) -> None:
    """Ensure that NOT IN compares no NULL: with a NULL on either side it is TRUE for no row, or for none of some."""
    for relation, sides in (
        (rows, [equality.left for equality in equalities]),
        (partners, [equality.right for equality in equalities]),
    ):
        exposed, attributes = relation.expose([relation.resolve(side) for side in sides])
        for attribute in attributes:
            if not context.is_never_null(exposed.catalog, attribute.name):
                raise InexpressibleError(f"NOT IN compares {attribute.name}, which may be NULL")
