"""UNION, INTERSECT and EXCEPT.

Rows are compared by their values. If both sides have the key of the same population among their columns, and the same
attributes in the same columns, a row is known by the key: these are operations on the sources. Otherwise the different
rows of each side become sources of their own, as for DISTINCT. UNION ALL keeps equal rows: its members are disjoint, or
a constant column tells them apart (`tagged_unions`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.calculators import SqlCalculator
from provenn.catalogs.schema import Attribute
from provenn.errors import CriterionError
from provenn.logic import Statement, disjoint
from provenn.queries.common_types import find_wider_type, widen
from provenn.queries.group_populations import describe_value
from provenn.queries.grouping import GroupingColumn, group_values
from provenn.queries.joining import Equality
from provenn.queries.relation import (
    InexpressibleError,
    RowSource,
    choose_free_name,
    name_attribute,
    write_copy,
    write_expression,
)
from provenn.queries.semi_joins import keep_partnered, keep_unmentioned
from provenn.queries.tagged_unions import unite_tagged
from provenn.queries.translating import Translating
from provenn.queries.tree import SetOperationNode, refer_to

__all__ = ["operate_on_sets"]


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both sides, with an attribute for each column."""

    left: RowSource
    right: RowSource
    left_attributes: tuple[Attribute, ...]
    right_attributes: tuple[Attribute, ...]


def operate_on_sets(node: SetOperationNode, context: Translating) -> RowSource:
    """Return the result of a set operation.

    Raises
    ------
    InexpressibleError
        If columns differ in type, or UNION ALL may give a row twice.
    """
    sides = _expose_columns(node, context)
    are_comparable = _have_same_rows(sides)
    if node.kind == "union" and node.is_all:
        try:
            return _unite_apart(node, sides, context)
        except InexpressibleError as error:
            return unite_tagged(node, str(error), context)
    if not are_comparable:
        if node.is_all:
            raise InexpressibleError(f"{node.kind.upper()} ALL counts equal rows, which have no common key")
        common = _keep_common(node, sides, context) if _are_known_by_key(node, sides, context) else None
        if common is not None:
            return common
        sides = _distinguish_rows(node, sides, context)
    left, right = sides.left.catalog, sides.right.catalog
    names = [attribute.name for attribute in sides.left_attributes]
    if node.kind == "intersect":
        return RowSource.of(verbs.restrict(left, right), node.columns, names)
    if node.kind == "except":
        return RowSource.of(verbs.exclude(left, right), node.columns, names)
    return RowSource.of(_concatenate(left, right, context), node.columns, names)


def _expose_columns(node: SetOperationNode, context: Translating) -> _Sides:
    """Return both sides with attributes of the same types for the columns."""
    left, right = context.translate(node.left), context.translate(node.right)
    left, own = left.expose([left.resolve(refer_to(column)) for column in node.left.columns], "column")
    right, other = right.expose([right.resolve(refer_to(column)) for column in node.right.columns], "column")
    wider = [find_wider_type(first.type, second.type) for first, second in zip(own, other, strict=True)]
    for first, second, column, kind in zip(own, other, node.columns, wider, strict=True):
        if kind is None:
            raise InexpressibleError(f"{column.name} is a {first.type} on one side and a {second.type} on the other")
    left, own = left.expose([widen(attribute, kind) for attribute, kind in zip(own, wider, strict=True)], "column")
    right, other = right.expose(
        [widen(attribute, kind) for attribute, kind in zip(other, wider, strict=True)], "column"
    )
    return _Sides(left, right, own, other)


def _have_same_rows(sides: _Sides) -> bool:
    """Whether rows of both sides are equal exactly if their keys are."""
    if sides.left.catalog.population != sides.right.catalog.population:
        return False
    own = [attribute.identity for attribute in sides.left_attributes]
    if own != [attribute.identity for attribute in sides.right_attributes]:
        return False
    return {key.identity for key in sides.left.catalog.schema.key} <= set(own)


def _are_known_by_key(node: SetOperationNode, sides: _Sides, context: Translating) -> bool:
    """Whether the result has rows of the left side only, with the key among their columns, and no NULL."""
    if node.kind == "union":
        return False
    key = {attribute.identity for attribute in sides.left.catalog.schema.key}
    if not key <= {attribute.identity for attribute in sides.left_attributes}:
        return False
    return all(context.is_never_null(sides.left.catalog, attribute.name) for attribute in sides.left_attributes)


def _keep_common(node: SetOperationNode, sides: _Sides, context: Translating) -> RowSource | None:
    """Return the rows of the left side found, or not found, on the right side; None if inexpressible.

    Sound: no two rows of the left side are equal, because rows differ in their key, and without NULL two rows are the
    same exactly if ``=`` holds in every column.
    """
    own = [f"l{position}" for position in range(len(node.columns))]
    theirs = [f"r{position}" for position in range(len(node.columns))]
    names = [attribute.name for attribute in sides.left_attributes]
    left = replace(sides.left, values=_name_values(own, sides.left_attributes))
    right = replace(sides.right, values=_name_values(theirs, sides.right_attributes))
    equalities = [
        Equality(exp.column(first), exp.column(second), exp.EQ(this=exp.column(first), expression=exp.column(second)))
        for first, second in zip(own, theirs, strict=True)
    ]
    keep = keep_partnered if node.kind == "intersect" else keep_unmentioned
    try:
        kept = keep(left, right, equalities, context)
    except InexpressibleError:
        return None
    return RowSource.of(kept.catalog, node.columns, names)


def _name_values(symbols: list[str], attributes: tuple[Attribute, ...]) -> dict[str, exp.Expr]:
    return {symbol: name_attribute(attribute.name) for symbol, attribute in zip(symbols, attributes, strict=True)}


def _unite_apart(node: SetOperationNode, sides: _Sides, context: Translating) -> RowSource:
    """Return UNION ALL of sides proved to have no source in common."""
    left, right = sides.left.catalog, sides.right.catalog
    if left.population != right.population:
        raise InexpressibleError("UNION ALL of rows of different populations has no key")
    if not context.prove(disjoint(left.digest, right.digest), (left, right)):
        raise InexpressibleError("UNION ALL may give a row twice: its members are not proved disjoint")
    names = _name_columns(node, sides)
    same = [
        own.identity == other.identity for own, other in zip(sides.left_attributes, sides.right_attributes, strict=True)
    ]
    left = _rename_columns(left, sides.left_attributes, names, same)
    right = _rename_columns(right, sides.right_attributes, names, same)
    return RowSource.of(_concatenate(left, right, context), node.columns, names)


def _name_columns(node: SetOperationNode, sides: _Sides) -> list[str]:
    """Return a name for each column that means nothing else on either side."""
    names: list[str] = []
    for column in node.columns:
        taken = (*sides.left.catalog.schema.names, *sides.right.catalog.schema.names, *names)
        names.append(choose_free_name(f"{column.name}_united", taken))
    return names


def _rename_columns(
    side: Catalog, attributes: tuple[Attribute, ...], names: list[str], are_same: list[bool]
) -> Catalog:
    """Return a side with the columns under new names; `are_same` marks the same attributes on both sides."""
    texts = [
        write_expression(name_attribute(attribute.name))
        if is_same
        else write_copy(side, name_attribute(attribute.name))
        for attribute, is_same in zip(attributes, are_same, strict=True)
    ]
    return verbs.derive(side, SqlCalculator.of(dict(zip(names, texts, strict=True))))


def _concatenate(left: Catalog, right: Catalog, context: Translating) -> Catalog:
    """Return the sources of both sides."""

    def is_proved(statement: Statement) -> bool:
        return context.prove(statement, (left, right))

    return verbs.concat_proved([left, right], None, is_proved)


def _distinguish_rows(node: SetOperationNode, sides: _Sides, context: Translating) -> _Sides:
    """Return both sides as their different rows, with the columns as a common key."""
    may_be_null = [
        not (
            context.is_never_null(sides.left.catalog, own.name)
            and context.is_never_null(sides.right.catalog, other.name)
        )
        for own, other in zip(sides.left_attributes, sides.right_attributes, strict=True)
    ]
    labels = [
        " or ".join(sorted({_describe(sides.left, own), _describe(sides.right, other)}))
        for own, other in zip(sides.left_attributes, sides.right_attributes, strict=True)
    ]
    grouped = []
    for side, attributes in ((sides.left, sides.left_attributes), (sides.right, sides.right_attributes)):
        if len({attribute.identity for attribute in attributes}) < len(attributes):
            raise InexpressibleError("two columns of a side are the same attribute")
        grouping = [
            GroupingColumn(column.symbol, column.name, name_attribute(attribute.name), is_nullable, label)
            for column, attribute, is_nullable, label in zip(node.columns, attributes, may_be_null, labels, strict=True)
        ]
        relation = group_values(side, grouping, {}, context)
        values: list[exp.Expr] = [relation.values[column.symbol] for column in node.columns]
        try:
            grouped.append(relation.expose(values, "column"))
        except CriterionError as error:
            raise InexpressibleError(str(error)) from None
    (left, own), (right, other) = grouped
    return _Sides(left, right, own, other)


def _describe(side: RowSource, attribute: Attribute) -> str:
    return describe_value(side.catalog, name_attribute(attribute.name))
