"""Inner joins of several tables, whichever clause holds their conditions; outer, semi and anti joins of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from provenn.catalogs import verbs
from provenn.errors import CriterionError
from provenn.queries.full_joins import join_fully
from provenn.queries.joining import Equality, is_expressible, join_all, join_outer, read_equality
from provenn.queries.opaque_parts import select_opaquely
from provenn.queries.outer_joins import join_with_repetition
from provenn.queries.relation import InexpressibleError, RowSource, split_conjuncts, symbols_in, write_plain
from provenn.queries.semi_joins import keep_partnered
from provenn.queries.sky_joins import match_positions
from provenn.queries.subqueries import has_subquery
from provenn.queries.translating import Translating
from provenn.queries.tree import FilterNode, JoinNode, Node
from provenn.queries.windows import keep_first, read_rank_condition

__all__ = ["flatten_joins", "join_rows"]


def join_rows(node: JoinNode, context: Translating, conditions: Sequence[exp.Expr] = ()) -> RowSource:
    """Return the rows of a join where some more conditions are TRUE.

    Raises
    ------
    InexpressibleError
        If a row may have several partners on both sides, or a condition is not understood.
    """
    if any(has_subquery(conjunct) for conjunct in split_conjuncts(node.condition)):
        raise InexpressibleError("the condition of a join has a subquery")
    if node.kind in ("inner", "cross"):
        leaves, conjuncts = flatten_joins(node)
        return _join_inner([context.translate(leaf) for leaf in leaves], [*conjuncts, *conditions], context)
    if node.kind in ("semi", "anti"):
        return _join_partly(node, context)
    left, right = context.translate(node.left), context.translate(node.right)
    try:
        if node.kind == "full":
            return join_fully(left, right, node.condition, context)
        many, partners = (left, right) if node.kind == "left" else (right, left)
        return join_outer(many, partners, node.condition)
    except InexpressibleError as error:
        return join_with_repetition(node, str(error), join_rows, context)


def flatten_joins(node: Node) -> tuple[list[Node], list[exp.Expr]]:
    """Return the tables of nested inner joins, and all their conditions."""
    if isinstance(node, JoinNode) and node.kind in ("inner", "cross") and not node.subqueries:
        leaves, conjuncts = [], split_conjuncts(node.condition)
        for side in node.inputs:
            below, further = flatten_joins(side)
            leaves += below
            conjuncts += further
        return leaves, conjuncts
    if isinstance(node, FilterNode) and isinstance(node.input, JoinNode) and not node.subqueries:
        leaves, conjuncts = flatten_joins(node.input)
        if len(leaves) > 1:
            return leaves, [*conjuncts, *split_conjuncts(node.condition)]
    return [node], []


def _join_inner(relations: Sequence[RowSource], conjuncts: Sequence[exp.Expr], context: Translating) -> RowSource:
    """Return the inner join of relations, with all conditions applied."""
    parts = list(relations)
    left = []
    for conjunct in conjuncts:
        owner = next((number for number, part in enumerate(parts) if _owns(part, conjunct)), None)
        if owner is None:
            left.append(conjunct)
        else:
            parts[owner] = _select(parts[owner], conjunct, context)
    parts, left = match_positions(parts, left)
    joined, unused = join_all(parts, left)
    for conjunct in unused:
        joined = _select(joined, conjunct, context)
    return joined


def _owns(part: RowSource, conjunct: exp.Expr) -> bool:
    symbols = symbols_in(conjunct)
    return bool(symbols) and symbols <= part.values.keys() | part.ranks.keys()


def _select(rows: RowSource, conjunct: exp.Expr, context: Translating) -> RowSource:
    """Return the rows where a condition without subqueries is TRUE."""
    rank = read_rank_condition(conjunct, rows)
    if rank is not None:
        return keep_first(rows, *rank)
    try:
        return replace(rows, catalog=verbs.select(rows.catalog, write_plain(rows.catalog, rows.resolve(conjunct))))
    except (CriterionError, InexpressibleError) as error:
        return select_opaquely(rows, conjunct, (), str(error).splitlines()[0], context)


def _join_partly(node: JoinNode, context: Translating) -> RowSource:
    """Return a semi or anti join.

    Sound: a row for which a condition on the row alone is not TRUE has no partner.
    """
    rows, partners = context.translate(node.left), context.translate(node.right)
    candidates, equalities = rows, []
    for conjunct in split_conjuncts(node.condition):
        symbols = symbols_in(conjunct)
        if symbols and symbols <= partners.values.keys():
            partners = _select(partners, conjunct, context)
            continue
        if symbols and symbols <= rows.values.keys():
            candidates = _select(candidates, conjunct, context)
            continue
        equality = read_equality(conjunct)
        if equality is not None and is_expressible(rows, equality.right):
            equality = Equality(equality.right, equality.left, conjunct)
        if equality is None or not (is_expressible(rows, equality.left) and is_expressible(partners, equality.right)):
            raise InexpressibleError("the condition of a semi or anti join compares both sides other than by equality")
        equalities.append(equality)
    partnered = keep_partnered(candidates, partners, equalities, context)
    if node.kind == "semi":
        return partnered
    return replace(rows, catalog=verbs.exclude(rows.catalog, partnered.catalog))
