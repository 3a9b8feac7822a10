"""UNION ALL with a tag: a column with another constant in each member tells from which member a row comes.

A row is known by the tag and by its key in the member. Each member becomes groups by tag and key. Sound: a key occurs
once in a member, so a group has exactly one row, whose values the group has; and groups of two members are different,
because their tags are. The members keep no relation with the catalogs of which they are rows: these have another
population. Of the union, ``WHERE tag = 'a'`` is proved to be one member.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.population import Population
from provenn.catalogs.schema import Attribute
from provenn.criteria import backquoted
from provenn.criteria.types import Type
from provenn.logic import Statement, disjoint
from provenn.queries.common_types import find_wider_type, widen
from provenn.queries.group_populations import UNITED, KeyPart, choose_population, describe_value
from provenn.queries.relation import (
    InexpressibleError,
    RowSource,
    choose_free_name,
    name_attribute,
    write_expression,
)
from provenn.queries.translating import Translating
from provenn.queries.tree import Node, SetOperationNode, refer_to

__all__ = ["unite_tagged"]


@dataclass(frozen=True, slots=True)
class _Member:
    """The rows of a member, and an expression over attributes for each column."""

    rows: RowSource
    values: tuple[exp.Expr, ...]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the members have in common.

    Parameters
    ----------
    tag
        The position of the column with the tag.
    key_names, key_types, key_places
        The names and types of the key of a row within its member, and the position of the column with this part of the
        key in every member; None without.
    types
        The types of the columns.
    names
        The names of the columns.
    population
        The population of the rows: the tag, then the key.
    """

    tag: int
    key_names: tuple[str, ...]
    key_types: tuple[Type, ...]
    key_places: tuple[int | None, ...]
    types: tuple[Type, ...]
    names: tuple[str, ...]
    population: Population

    @property
    def values(self) -> tuple[int, ...]:
        """The positions of the columns that are no part of the key."""
        return tuple(place for place in range(len(self.names)) if place not in (self.tag, *self.key_places))


def unite_tagged(node: SetOperationNode, reason: str, context: Translating) -> RowSource:
    """Return UNION ALL of members that a constant column tells apart.

    Parameters
    ----------
    node
        The union; a member that is a UNION ALL itself stands for its members.
    reason
        Why the members are not united otherwise.
    context
        The context of the translation.

    Raises
    ------
    InexpressibleError
        If there is no such column, or the keys of the members differ in their types.
    """
    members = [_read_member(part, context) for part in _list_members(node)]
    tag = _find_tag(members)
    if tag is None:
        raise InexpressibleError(reason)
    shape = _find_shape(node, members, tag, context)
    catalogs = [_tag_rows(member, shape) for member in members]

    def is_proved(statement: Statement) -> bool:
        return context.prove(statement, catalogs)

    are_disjoint = is_proved(disjoint(*(catalog.digest for catalog in catalogs)))
    united = verbs.concat_proved(catalogs, None if are_disjoint else "first", is_proved)
    names = {shape.tag: shape.names[shape.tag], **{place: shape.names[place] for place in shape.values}}
    names |= {place: name for place, name in zip(shape.key_places, shape.key_names, strict=True) if place is not None}
    return RowSource.of(united, node.columns, [names[place] for place in range(len(node.columns))])


def _list_members(node: Node) -> list[Node]:
    """Return the members of a UNION ALL, those of nested ones included."""
    if isinstance(node, SetOperationNode) and node.kind == "union" and node.is_all:
        return [*_list_members(node.left), *_list_members(node.right)]
    return [node]


def _read_member(node: Node, context: Translating) -> _Member:
    rows = context.translate(node)
    return _Member(rows, tuple(rows.resolve(refer_to(column)) for column in node.columns))


def _find_tag(members: Sequence[_Member]) -> int | None:
    """Return the position of a column with another constant in each member; None without."""
    for place in range(len(members[0].values)):
        constants = [_read_constant(member.values[place]) for member in members]
        if None not in constants and len(set(constants)) == len(constants):
            return place
    return None


def _read_constant(value: exp.Expr) -> str | int | None:
    """Return a text or a whole number; None for any other expression."""
    plain = value.unnest()
    if not isinstance(plain, exp.Literal):
        return None
    if plain.is_string:
        return plain.name
    return int(plain.name) if plain.name.isascii() and plain.name.isdecimal() else None


def _find_shape(node: SetOperationNode, members: Sequence[_Member], tag: int, context: Translating) -> _Shape:
    """Return what the members have in common."""
    columns = [[attribute.type for attribute in _expose(member, member.values)[1]] for member in members]
    keys = [[attribute.type for attribute in member.rows.catalog.schema.key] for member in members]
    if len({len(key) for key in keys}) > 1:
        raise InexpressibleError("UNION ALL of rows whose keys have different lengths")
    described = zip(zip(*columns, strict=True), node.columns, strict=True)
    types = tuple(_find_common_type(kinds, column.name) for kinds, column in described)
    key_types = tuple(_find_common_type(kinds, "the key") for kinds in zip(*keys, strict=True))
    places = tuple(_find_key_place(members, part) for part in range(len(key_types)))
    names: list[str] = []
    for place, column in enumerate(node.columns):
        is_key = place in (tag, *places)
        taken = () if is_key else {name for member in members for name in member.rows.catalog.schema.names}
        names.append(choose_free_name(column.name if is_key else f"{column.name}{UNITED}", (*names, *taken)))
    key_names: list[str] = []
    labels = [node.columns[tag].name]
    for part, key_place in enumerate(places):
        own = {describe_value(member.rows.catalog, _name_key(member, part)) for member in members}
        labels.append(" or ".join(sorted(own)))
        key_names.append(choose_free_name(labels[-1], (*names, *key_names)) if key_place is None else names[key_place])
    parts = [KeyPart(label, label, exp.Null()) for label in labels]
    population = choose_population(parts, [types[tag], *key_types], context)
    return _Shape(tag, tuple(key_names), key_types, places, types, tuple(names), population)


def _find_common_type(kinds: Sequence[Type], what: str) -> Type:
    """Return the type in which the values of all members are compared."""

    def find_wider(first: Type, second: Type) -> Type:
        wider = find_wider_type(first, second)
        if wider is None:
            raise InexpressibleError(f"{what} is a {first} in a member of UNION ALL and a {second} in another")
        return wider

    return reduce(find_wider, kinds)


def _find_key_place(members: Sequence[_Member], part: int) -> int | None:
    """Return the position of the column that has a part of the key in every member; None without."""
    for place in range(len(members[0].values)):
        attributes = [member.rows.find_attribute(member.values[place]) for member in members]
        keys = [member.rows.catalog.schema.key[part] for member in members]
        pairs = zip(attributes, keys, strict=True)
        if all(attribute is not None and attribute.identity == key.identity for attribute, key in pairs):
            return place
    return None


def _name_key(member: _Member, part: int) -> exp.Column:
    return name_attribute(member.rows.catalog.schema.key[part].name)


def _expose(member: _Member, values: Sequence[exp.Expr]) -> tuple[RowSource, tuple[Attribute, ...]]:
    return member.rows.expose(values, "column")


def _tag_rows(member: _Member, shape: _Shape) -> Catalog:
    """Return the rows of a member, known by the tag and the key.

    The selection by the tag holds for all of them, and proves that other members have none of them.
    """
    rows, attributes = _expose(member, member.values)
    wanted = [widen(attribute, kind) for attribute, kind in zip(attributes, shape.types, strict=True)]
    key = [widen(attribute, kind) for attribute, kind in zip(rows.catalog.schema.key, shape.key_types, strict=True)]
    rows, exposed = rows.expose([*wanted, *key], "column")
    columns, own_key = exposed[: len(wanted)], exposed[len(wanted) :]
    aggregates = {shape.names[place]: f"any_value({backquoted(columns[place].name)})" for place in shape.values}
    by = [columns[shape.tag].name, *(attribute.name for attribute in own_key)]
    grouped = verbs.group(rows.catalog, by, aggregates, population=shape.population)
    named = replace(grouped, key_names=(shape.names[shape.tag], *shape.key_names))
    constant = write_expression(member.values[shape.tag])
    return verbs.select(named, f"{backquoted(shape.names[shape.tag])} = {constant}")
