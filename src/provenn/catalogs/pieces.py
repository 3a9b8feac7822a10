"""Attributes of a concatenation with different definitions in the members: their identity, and criteria on them.

The first member to hold a source gives the value. So a set defined by the attribute is, among the sources of the first
member, the set defined by the first member's attribute; among the remaining sources, the set defined by the attribute
of the next member, and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provenn.catalogs.extent import Extent
from provenn.catalogs.schema import Attribute, AttributePiece, Schema
from provenn.criteria import Atom, AttributeIdentity, Criterion, parse_criterion, same_unit
from provenn.digests import content_digest
from provenn.errors import CriterionError
from provenn.logic.terms import Op, Term

__all__ = ["collect_member_extents", "expand_criterion", "join_pieces"]

_MOST_COMBINATIONS = 10_000
"""The most combinations of members for which a criterion is expanded."""


def join_pieces(pieces: Sequence[AttributePiece]) -> Attribute:
    """Return the attribute with these pieces, under the first piece's name.

    If all pieces have the same identity, the result is the first piece's attribute.
    """
    first = pieces[0].attribute
    attributes = [piece.attribute for piece in pieces]
    if all(attribute.identity == first.identity for attribute in attributes):
        return first
    definition = [[piece.extent.digest, piece.identity] for piece in pieces]
    return Attribute(
        first.name,
        AttributeIdentity(content_digest("attribute", {"pieces": definition})),
        first.type,
        any(attribute.nullable for attribute in attributes),
        first.unit if all(same_unit(attribute.unit, first.unit) for attribute in attributes) else "",
        next((attribute.description for attribute in attributes if attribute.description), ""),
        first.ucd if all(attribute.ucd == first.ucd for attribute in attributes) else "",
        tuple(pieces),
    )


def collect_member_extents(schema: Schema) -> dict[str, Extent]:
    """Return the extents of all members that contribute pieces to attributes, by digest."""
    extents: dict[str, Extent] = {}
    seen: set[str] = set()
    stack = list(schema.attributes)
    while stack:
        attribute = stack.pop()
        if attribute.expanded_pieces and attribute.identity not in seen:
            seen.add(attribute.identity)
            extents.update((piece.member, piece.extent) for piece in attribute.expanded_pieces)
            stack.extend(piece.attribute for piece in attribute.expanded_pieces)
    return extents


def expand_criterion(criterion: Criterion, schema: Schema) -> tuple[Term, tuple[Atom, ...]]:
    """Return the set for which a criterion is TRUE, and the atoms of the set, on attributes without pieces.

    Parameters
    ----------
    criterion
        The criterion.
    schema
        The attributes with which the criterion was parsed.

    Raises
    ------
    CriterionError
        If the members of concatenations give too many combinations.
    """
    by_name = schema.by_canonical_name
    read: dict[str, Attribute] = {identity: by_name[identity] for identity in criterion.reads}
    partitions = {_list_members(attribute) for attribute in read.values()} - {()}
    if not partitions:
        return criterion.true, criterion.atoms
    atoms: dict[str, Atom] = {}
    if len(partitions) == 1:
        postfix = _expand_pieces(criterion.canonical, read, atoms, _Combinations(criterion.text))
    else:  # atom by atom: expanding the whole criterion for each combination could be too much
        postfix, combinations = [], _Combinations(criterion.text)
        for token in criterion.true.postfix:
            if isinstance(token, str):
                reads = parse_criterion(token, by_name, canonical=True).reads
                postfix += _expand_pieces(
                    token, {identity: by_name[identity] for identity in reads}, atoms, combinations
                )
            else:
                postfix.append(token)
    return Term(tuple(postfix)), tuple(atoms[label] for label in sorted(atoms))


class _Combinations:
    """A counter of the combinations of members for which a criterion is expanded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._count = 0

    def count(self) -> None:
        """Add a combination; refuse the criterion if there are too many."""
        self._count += 1
        if self._count > _MOST_COMBINATIONS:
            raise CriterionError(
                f"the members of concatenations produce more than {_MOST_COMBINATIONS:,} combinations for this",
                self._text,
                hint="select from the members before concatenating them, or split this into several selections",
            )


def _expand_pieces(
    text: str, read: Mapping[str, Attribute], atoms: dict[str, Atom], combinations: _Combinations
) -> list[str | Op]:
    """Return the set of a criterion in postfix form, and collect the atoms.

    The attributes are looked up by the identities in the criterion.
    """
    postfix: list[str | Op] = []
    # A stack of tokens and attributes to expand, not recursion: concatenations may be nested deeply.
    stack: list[str | Op | Mapping[str, Attribute]] = [read]
    while stack:
        item = stack.pop()
        if isinstance(item, str | Op):
            postfix.append(item)
            continue
        members = next((_list_members(attribute) for attribute in item.values() if attribute.expanded_pieces), ())
        if not members:
            combinations.count()
            criterion = parse_criterion(text, item, canonical=True)
            postfix += criterion.true.postfix
            atoms.update((atom.label, atom) for atom in criterion.atoms)
            continue
        # The criterion in the first member; or, outside the first member, in the second; and so on.
        program: list[str | Op | Mapping[str, Attribute]] = []
        for position, member in enumerate(members):
            program += [member, _choose_member(item, members, position), Op.AND]
        for member in reversed(members[:-1]):
            program += [member, Op.MINUS, Op.OR]
        stack.extend(reversed(program))
    return postfix


def _list_members(attribute: Attribute) -> tuple[str, ...]:
    return tuple(piece.member for piece in attribute.expanded_pieces)


def _choose_member(read: Mapping[str, Attribute], members: tuple[str, ...], position: int) -> Mapping[str, Attribute]:
    """Return attributes by identity, with pieces of these members replaced by the piece at a position."""
    return {
        identity: attribute.expanded_pieces[position].attribute if _list_members(attribute) == members else attribute
        for identity, attribute in read.items()
    }
