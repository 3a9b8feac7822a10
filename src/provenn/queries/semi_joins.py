"""Rows with or without a partner: semi and anti joins, EXISTS, IN and NOT IN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.schema import Attribute
from provenn.queries.grouping import GroupingColumn, group_values
from provenn.queries.joining import Equality, cast_to_key, join_outer, look_up
from provenn.queries.relation import InexpressibleError, RowSource, join_conjuncts, write_plain
from provenn.queries.translating import Translating

__all__ = ["keep_partnered", "keep_unmentioned", "mark_partnered"]


def keep_partnered(
    rows: RowSource, partners: RowSource, equalities: Sequence[Equality], context: Translating
) -> RowSource:
    """Return the rows with a partner; the left side of an equality is over `rows`, the right over `partners`.

    Without equalities every row has a partner if any partner exists.

    Raises
    ------
    InexpressibleError
        If the compared values cannot identify anything.
    """
    pairs = [(rows.resolve(equality.left), partners.resolve(equality.right)) for equality in equalities]
    if not pairs:
        pairs = [(exp.Literal.number(0), exp.Literal.number(0))]
    rows_with_values, own = rows.expose([value for value, _ in pairs], "reference")
    partners, theirs = partners.expose([value for _, value in pairs], "reference")
    catalog = _keep_in_population(rows_with_values.catalog, own, partners.catalog, theirs)
    if catalog is None:
        catalog = _keep_referred_to(rows_with_values, own, partners.catalog, theirs)
    if catalog is None:
        catalog = _keep_referring(rows_with_values, own, partners, theirs, context)
    if catalog.schema.names != rows.catalog.schema.names:
        catalog = verbs.keep(catalog, rows.catalog.schema.names)
    return replace(rows, catalog=catalog)


def keep_unmentioned(
    rows: RowSource, partners: RowSource, equalities: Sequence[Equality], context: Translating
) -> RowSource:
    """Return the rows without a partner: the complement of `keep_partnered`, including rows with NULL."""
    partnered = keep_partnered(rows, partners, equalities, context)
    return replace(rows, catalog=verbs.exclude(rows.catalog, partnered.catalog))


def mark_partnered(
    rows: RowSource, partners: RowSource, equalities: Sequence[Equality], context: Translating
) -> tuple[RowSource, exp.Expr]:
    """Return the rows with an attribute that tells whether they have a partner, and the condition that they have one.

    Sound: the attribute is a part of the key of the only possible partner, and a key is never NULL.

    Raises
    ------
    InexpressibleError
        If the compared values cannot identify anything.
    """
    if not equalities:
        raise InexpressibleError("EXISTS without a connection is part of a larger condition than AND and NOT")
    exposed, own = rows.expose([rows.resolve(equality.left) for equality in equalities], "reference")
    partners, theirs = partners.expose([partners.resolve(equality.right) for equality in equalities], "reference")
    partner_values = {f"other{number}": _name(attribute) for number, attribute in enumerate(theirs)}
    if {key.identity for key in partners.catalog.schema.key} <= {attribute.identity for attribute in theirs}:
        sides = [(f"own{number}", f"other{number}") for number in range(len(own))]
        own_values = {f"own{number}": _name(attribute) for number, attribute in enumerate(own)}
        condition = join_conjuncts(
            [exp.EQ(this=exp.column(left), expression=exp.column(right)) for left, right in sides]
        )
        joined = join_outer(replace(exposed, values=own_values), replace(partners, values=partner_values), condition)
        key = partners.catalog.schema.key[0].identity
        marker = next(f"other{number}" for number, attribute in enumerate(theirs) if attribute.identity == key)
        value = joined.values[marker]
    else:
        groups, references = _group_partners(own, partners, theirs, context)
        marked = replace(groups, values={"marker": _name(groups.catalog.schema.key[0])})
        looked_up = look_up(exposed, marked, references, "null")
        if looked_up is None:
            raise InexpressibleError("the compared columns have types whose equality provenn does not know")
        joined, value = looked_up, looked_up.values["marker"]
    return replace(rows, catalog=joined.catalog), value.copy().is_(exp.null()).not_()


def _keep_in_population(
    catalog: Catalog, own: Sequence[Attribute], partners: Catalog, theirs: Sequence[Attribute]
) -> Catalog | None:
    """Return the common sources of both catalogs, if their keys are compared; None otherwise."""
    if catalog.population != partners.population or not (_is_key(catalog, own) and _is_key(partners, theirs)):
        return None
    pairs = {(first.identity, second.identity) for first, second in zip(own, theirs, strict=True)}
    keys = {
        (first.identity, second.identity) for first, second in zip(catalog.schema.key, partners.schema.key, strict=True)
    }
    return verbs.restrict(catalog, partners) if pairs == keys else None


def _is_key(catalog: Catalog, attributes: Sequence[Attribute]) -> bool:
    """Whether attributes are the key of a catalog, in any order."""
    return {attribute.identity for attribute in attributes} == {key.identity for key in catalog.schema.key}


def _keep_referred_to(
    rows: RowSource, own: Sequence[Attribute], partners: Catalog, theirs: Sequence[Attribute]
) -> Catalog | None:
    """Return the sources that partners refer to by key; None if the compared values are not the key."""
    if not _is_key(rows.catalog, own) or len(own) != len(rows.catalog.schema.key):
        return None
    by_identity = {attribute.identity: other for attribute, other in zip(own, theirs, strict=True)}
    referring = [by_identity[key.identity] for key in rows.catalog.schema.key]
    if any(other.type != key.type for other, key in zip(referring, rows.catalog.schema.key, strict=True)):
        return None
    if len({attribute.identity for attribute in referring}) < len(referring) or not _can_refer(referring):
        return None
    return verbs.having(rows.catalog, partners, on=[attribute.name for attribute in referring])


def _can_refer(attributes: Sequence[Attribute]) -> bool:
    return all(attribute.type.scalar and attribute.type.name not in ("float", "double") for attribute in attributes)


def _keep_referring(
    rows: RowSource, own: Sequence[Attribute], partners: RowSource, theirs: Sequence[Attribute], context: Translating
) -> Catalog:
    """Return the sources with values equal to the key of a partner, or the values of some partners."""
    values = [_name(attribute) for attribute in own]
    if _is_key(partners.catalog, theirs) and len(theirs) == len(partners.catalog.schema.key):
        by_identity = {attribute.identity: value for attribute, value in zip(theirs, values, strict=True)}
        values = [by_identity[key.identity] for key in partners.catalog.schema.key]
        looked_up = look_up(rows, partners, values, "drop", with_values=False)
    elif {key.identity for key in partners.catalog.schema.key} < {attribute.identity for attribute in theirs}:
        looked_up = _look_up_and_compare(rows, own, partners, theirs)
    else:
        looked_up = look_up(rows, *_group_partners(own, partners, theirs, context), "drop", with_values=False)
    if looked_up is None:
        raise InexpressibleError("the compared columns have types whose equality provenn does not know")
    return looked_up.catalog


def _look_up_and_compare(
    rows: RowSource, own: Sequence[Attribute], partners: RowSource, theirs: Sequence[Attribute]
) -> RowSource | None:
    """Return the rows with a partner, where more than the key of the partner is compared.

    Sound: the key names at most a single partner, and the row has a partner if all the other values are equal, too.
    """
    compared = {attribute.identity: _name(value) for value, attribute in zip(own, theirs, strict=True)}
    keys = [key.identity for key in partners.catalog.schema.key]
    others = {f"other{number}": _name(attribute) for number, attribute in enumerate(theirs)}
    looked_up = look_up(rows, replace(partners, values=others), [compared[key] for key in keys], "drop")
    if looked_up is None:
        return None
    equal = [
        exp.EQ(this=_name(value), expression=looked_up.values[f"other{number}"].copy())
        for number, value in enumerate(own)
    ]
    return replace(rows, catalog=verbs.select(looked_up.catalog, write_plain(looked_up.catalog, join_conjuncts(equal))))


def _group_partners(
    own: Sequence[Attribute], partners: RowSource, theirs: Sequence[Attribute], context: Translating
) -> tuple[RowSource, list[exp.Expr]]:
    """Return the distinct values of the partners as a relation with these as its key, and the values of the rows."""
    grouping, values = [], []
    for position, (attribute, other) in enumerate(zip(own, theirs, strict=True)):
        value = cast_to_key(_name(other), other.type, attribute.type)
        if value is None:
            raise InexpressibleError("the compared columns have types whose equality provenn does not know")
        grouping.append(GroupingColumn(f"g{position}", attribute.name, value, may_be_null=False))
        values.append(_name(attribute))
    return group_values(partners, _drop_repeated(grouping), {}, context), values


def _drop_repeated(grouping: Sequence[GroupingColumn]) -> list[GroupingColumn]:
    """Return grouping columns, if no two have the same value."""
    texts = [column.value.sql() for column in grouping]
    if len(set(texts)) < len(texts):
        raise InexpressibleError("one column is compared with several others")
    return list(grouping)


def _name(attribute: Attribute) -> exp.Expr:
    return exp.column(exp.to_identifier(attribute.name, quoted=True))
