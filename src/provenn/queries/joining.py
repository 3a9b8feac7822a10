"""Joins: pairs of rows, where each row of one side has at most a single partner.

A join is expressed if the equalities cover the whole key of a side, the partners. Each row of the opposite side then
has at most a single partner, so the result has the sources of the opposite side with a partner: a lookup. Sound: the
rows of a relation are the sources of its catalog, and a key occurs once in a catalog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from provenn.catalogs import Catalog, GroupSources, cone, verbs
from provenn.catalogs.schema import Attribute
from provenn.criteria.types import INTEGRAL, Type
from provenn.queries.relation import (
    InexpressibleError,
    RowSource,
    choose_free_name,
    name_attribute,
    split_conjuncts,
    symbols_in,
    write_plain,
)

__all__ = [
    "Equality",
    "cast_to_key",
    "combine",
    "find_key_values",
    "is_constant",
    "is_expressible",
    "is_own_key",
    "join_all",
    "join_outer",
    "look_up",
    "read_equality",
]


_PARTNER = "partner"
"""The symbol of a column that tells whether there is a partner; symbols of columns are numbered."""


@dataclass(frozen=True, slots=True)
class Equality:
    """A condition that two expressions over columns are equal."""

    left: exp.Expr
    right: exp.Expr
    condition: exp.Expr


def read_equality(condition: exp.Expr) -> Equality | None:
    """Return an equality; None for any other condition."""
    if isinstance(condition, exp.EQ) and symbols_in(condition.this) and symbols_in(condition.expression):
        return Equality(condition.this, condition.expression, condition)
    return None


def join_all(relations: Sequence[RowSource], conditions: Sequence[exp.Expr]) -> tuple[RowSource, list[exp.Expr]]:
    """Return the inner join of relations, and the conditions still to be applied.

    Raises
    ------
    InexpressibleError
        If rows of both sides may have several partners.
    """
    parts, left = list(relations), list(conditions)
    while len(parts) > 1:
        joinable = _find_joinable(parts, [equality for equality in map(read_equality, left) if equality is not None])
        if joinable is None:
            raise InexpressibleError(
                "rows of both sides may have several partners: the conditions do not name the whole key of either side"
            )
        first, second, joined, fulfilled = joinable
        parts = [part for position, part in enumerate(parts) if position not in (first, second)] + [joined]
        left = [condition for condition in left if all(condition is not other for other in fulfilled)]
    return parts[0], left


def _find_joinable(
    parts: Sequence[RowSource], equalities: Sequence[Equality]
) -> tuple[int, int, RowSource, list[exp.Expr]] | None:
    """Return the positions of two joinable relations, the joined relation, and the conditions fulfilled by the join."""
    for first, many in enumerate(parts):
        for second, partners in enumerate(parts):
            if first == second:
                continue
            key_match = find_key_values(many, partners, equalities)
            if key_match is None:
                continue
            key_values, used = key_match
            if is_own_key(many, partners, key_values):
                return first, second, combine(many, partners), used
            joined = look_up(many, partners, key_values, "drop")
            if joined is not None:
                return first, second, joined, used
    return None


def find_key_values(
    many: RowSource, partners: RowSource, equalities: Sequence[Equality]
) -> tuple[tuple[exp.Expr, ...], list[exp.Expr]] | None:
    """Return the values equal to the key of `partners`, in key order, and the equating conditions; None without.

    The values are expressions over attributes of `many`.
    """
    values: list[exp.Expr] = []
    used: list[exp.Expr] = []
    for attribute in partners.catalog.schema.key:
        sides = [
            (side, equality.condition)
            for equality in equalities
            for side, other in ((equality.left, equality.right), (equality.right, equality.left))
            if is_expressible(many, side)
            and is_expressible(partners, other)
            and _is_same(partners.find_attribute(partners.resolve(other)), attribute)
        ]
        if not sides:
            return None
        values.append(many.resolve(sides[0][0]))
        used.append(sides[0][1])
    return tuple(values), used


def is_expressible(relation: RowSource, expression: exp.Expr) -> bool:
    """Whether an expression names columns of a relation only."""
    return symbols_in(expression) <= relation.values.keys()


def _is_same(attribute: Attribute | None, other: Attribute) -> bool:
    return attribute is not None and attribute.identity == other.identity


def is_own_key(many: RowSource, partners: RowSource, key_values: Sequence[exp.Expr]) -> bool:
    """Whether values are the key of both relations, both of the same population."""
    if many.catalog.population != partners.catalog.population:
        return False
    own = [many.find_attribute(value) for value in key_values]
    return all(_is_same(value, key) for value, key in zip(own, many.catalog.schema.key, strict=True))


def combine(first: RowSource, second: RowSource) -> RowSource:
    """Return the relation of the common sources of two relations, with the columns of both."""
    mine = first.catalog.schema
    renamed: dict[str, str] = {}
    for attribute in second.catalog.schema.attributes:
        own = mine.get(attribute.name)
        if own is not None and own.identity != attribute.identity:
            renamed[attribute.name] = choose_free_name(
                attribute.name, (*mine.names, *second.catalog.schema.names, *renamed.values())
            )
    other = verbs.rename(second.catalog, renamed) if renamed else second.catalog
    values = {symbol: _rename_attributes(value, renamed) for symbol, value in second.values.items()}
    return RowSource(verbs.combine(first.catalog, other), {**first.values, **values}, {**first.ranks, **second.ranks})


def _rename_attributes(value: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """Return an expression over attributes with new names of attributes."""

    def rename(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in names:
            return name_attribute(names[node.name])
        return node

    return value.copy().transform(rename)


def cast_to_key(expression: exp.Expr, type_: Type, key_type: Type) -> exp.Expr | None:
    """Return an expression cast to the type of a key, if the cast equals the key exactly where SQL says so; else None.

    Whole numbers are compared as the wider type. A number beyond the narrower type is NULL after the cast, and equals
    no key of the narrower type either.
    """
    if type_ == key_type:
        return expression
    if type_ in INTEGRAL and key_type in INTEGRAL:
        return exp.cast(expression.copy(), str(key_type), dialect="spark")
    return None


def look_up(
    many: RowSource, partners: RowSource, key_values: Sequence[exp.Expr], missing: str, *, with_values: bool = True
) -> RowSource | None:
    """Return the rows of `many` with the columns of their partners; None if the values cannot refer to the partners.

    Parameters
    ----------
    many
        The rows.
    partners
        The partners, whose keys the values are.
    key_values
        Expressions over attributes of `many`.
    missing
        As for `LookupAttributes`: "drop" or "null".
    with_values
        Whether the columns of the partners are needed.
    """
    population = partners.catalog.population
    typed = _cast_values(many, key_values, population.key)
    if typed is None or any(kind.name in ("float", "double") or not kind.scalar for kind in population.key):
        return None
    many, referring = many.expose(typed, "reference")
    if len({attribute.identity for attribute in referring}) < len(referring):
        return None
    if not with_values:
        return replace(many, catalog=_look_up_names(many.catalog, partners.catalog, referring, {}, missing))
    # For a row without a partner every column is NULL, so expressions are evaluated for the partner, not for the row.
    constants = {symbol: value for symbol, value in partners.values.items() if is_constant(value)}
    others = {symbol: value for symbol, value in partners.values.items() if symbol not in constants}
    if constants and missing == "null":
        others[_PARTNER] = name_attribute(partners.catalog.schema.key[0].name)
    partners, attributes = partners.expose([partners.resolve(value) for value in others.values()])
    columns = dict(zip(others, attributes, strict=True))
    values: dict[str, exp.Expr] = {}
    if missing == "drop":  # the key of the partner is the reference itself
        keys = {key.identity: own.name for key, own in zip(partners.catalog.schema.key, referring, strict=True)}
        values = {
            symbol: name_attribute(keys[attribute.identity])
            for symbol, attribute in columns.items()
            if attribute.identity in keys
        }
    names: dict[str, str] = {}
    for symbol, attribute in columns.items():
        if symbol not in values:
            if attribute.name not in names:
                taken = (*many.catalog.schema.names, *names.values())
                names[attribute.name] = choose_free_name(attribute.name, taken)
            values[symbol] = name_attribute(names[attribute.name])
    looked_up = _look_up_names(many.catalog, partners.catalog, referring, names, missing)
    partner = values.pop(_PARTNER, None)
    for symbol, constant in constants.items():  # a key is never NULL: it tells whether there is a partner
        has_partner = None if partner is None else partner.copy().is_(exp.null()).not_()
        values[symbol] = (
            constant if has_partner is None else exp.Case(ifs=[exp.If(this=has_partner, true=constant.copy())])
        )
    return RowSource(looked_up, {**many.values, **values}, dict(many.ranks))


def is_constant(value: exp.Expr) -> bool:
    """Whether a value is a constant, and not NULL."""
    return isinstance(value.unnest(), exp.Literal | exp.Boolean)


def _cast_values(relation: RowSource, values: Sequence[exp.Expr], types: Sequence[Type]) -> tuple[exp.Expr, ...] | None:
    """Return values cast to the types of a key; None if a cast could change the results of comparisons."""
    _, attributes = relation.expose(values)
    typed = [
        cast_to_key(value, attribute.type, key_type)
        for value, attribute, key_type in zip(values, attributes, types, strict=True)
    ]
    return None if None in typed else tuple(value for value in typed if value is not None)


def _look_up_names(
    catalog: Catalog, partners: Catalog, referring: Sequence[Attribute], names: Mapping[str, str], missing: str
) -> Catalog:
    """Return a lookup with given names of attributes; without any, the sources that have a partner."""
    members = _find_members(catalog, partners, referring) if missing == "drop" and not names else None
    if members is not None:
        return verbs.having(catalog, members[0], on=members[1])
    lookup = verbs.lookup(
        catalog, partners, on=[attribute.name for attribute in referring], attributes=[], missing=missing
    )
    return replace(lookup, names=tuple(names.items()))


def _find_members(
    catalog: Catalog, partners: Catalog, referring: Sequence[Attribute]
) -> tuple[Catalog, list[str]] | None:
    """Return the members of partners that are groups, and what these refer to the sources by; None for others.

    Sound: there is a group for a key exactly if there is a member with the values of the key.
    """
    if [attribute.identity for attribute in referring] != [key.identity for key in catalog.schema.key]:
        return None
    for groups in cone(partners):
        if (
            isinstance(groups, GroupSources)
            and groups.population == partners.population
            and groups.extent.digest == partners.extent.digest
        ):
            by_identity = groups.parent.schema.by_identity
            return groups.parent, [by_identity[identity].name for identity in groups.reference.identities]
    return None


def join_outer(many: RowSource, partners: RowSource, condition: exp.Expr | None) -> RowSource:
    """Return the left outer join of two relations.

    Raises
    ------
    InexpressibleError
        If a row of `many` may have several partners, or a condition compares both sides otherwise.
    """
    equalities, own = [], []
    for conjunct in split_conjuncts(condition):
        equality = read_equality(conjunct)
        symbols = symbols_in(conjunct)
        if equality is not None and not is_expressible(many, conjunct) and not is_expressible(partners, conjunct):
            equalities.append(equality)
        elif symbols <= partners.values.keys():
            catalog = verbs.select(partners.catalog, write_plain(partners.catalog, partners.resolve(conjunct)))
            partners = replace(partners, catalog=catalog)
        elif symbols <= many.values.keys():
            own.append(many.resolve(conjunct))
        else:
            raise InexpressibleError("the condition of an outer join compares both sides other than by equality")
    key_match = find_key_values(many, partners, equalities)
    if key_match is None:
        raise InexpressibleError("a row may have several partners in an outer join: the condition names no key")
    key_values, used = key_match
    others = [equality.condition for equality in equalities if all(equality.condition is not key for key in used)]
    if others:  # the row that the key names is a partner only if all other values are equal as well
        named = look_up(many, partners, key_values, "null")
        if named is None:
            raise InexpressibleError("the compared columns have types whose equality provenn does not know")
        own += [named.resolve(condition) for condition in others]
        many = replace(named, values=many.values)
    if own:  # a row for which these are not true has no partner: its reference is NULL
        is_own = exp.and_(*own, copy=True)
        key_values = tuple(exp.Case(ifs=[exp.If(this=is_own.copy(), true=value.copy())]) for value in key_values)
    joined = look_up(many, partners, key_values, "null")
    if joined is None:
        raise InexpressibleError("the compared columns have types whose equality provenn does not know")
    return joined
