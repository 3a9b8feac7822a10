"""Attributes that a concatenation puts together from different ones: their identity, and criteria on them.

The first member that holds a source gives its value. So a set that is defined by the attribute is, among the sources
of the first member, what it is by that member's attribute; among the other sources, what it is by the next one's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provenn.catalogs.digest import content_digest
from provenn.catalogs.extent import Extent
from provenn.catalogs.schema import Attribute, Piece, Schema
from provenn.criteria import Atom, Criterion, parse_criterion, same_unit
from provenn.logic.terms import Op, Term

__all__ = ["expanded", "joined", "member_extents"]


def joined(pieces: Sequence[Piece]) -> Attribute:
    """Return the attribute that has these pieces, under the first one's name: itself, if it is one and the same."""
    first = pieces[0].attribute
    attributes = [piece.attribute for piece in pieces]
    if all(one.identity == first.identity for one in attributes):
        return first
    defined = [[piece.extent.digest, piece.identity] for piece in pieces]
    return Attribute(
        first.name,
        content_digest("attribute", {"pieces": defined}),
        first.type,
        any(one.nullable for one in attributes),
        first.unit if all(same_unit(one.unit, first.unit) for one in attributes) else "",
        next((one.description for one in attributes if one.description), ""),
        first.ucd if all(one.ucd == first.ucd for one in attributes) else "",
        tuple(pieces),
    )


def member_extents(schema: Schema) -> dict[str, Extent]:
    """Return the extents of all members that give pieces to attributes, by digest."""
    found: dict[str, Extent] = {}
    seen: set[str] = set()
    stack = list(schema.attributes)
    while stack:
        one = stack.pop()
        if one.pieces and one.identity not in seen:
            seen.add(one.identity)
            found.update((piece.member, piece.extent) for piece in one.pieces)
            stack.extend(piece.attribute for piece in one.pieces)
    return found


def expanded(criterion: Criterion, schema: Schema) -> tuple[Term, tuple[Atom, ...]]:
    """Return the set for which a criterion is TRUE, and its atoms, all on attributes without pieces.

    Parameters
    ----------
    criterion
        The criterion.
    schema
        The attributes it was read with.
    """
    given = schema.by_identity
    read = {identity: given[identity] for identity in criterion.reads}
    partitions = {_members(one) for one in read.values()} - {()}
    if not partitions:
        return criterion.true, criterion.atoms
    atoms: dict[str, Atom] = {}
    if len(partitions) == 1:
        postfix = _expanded(criterion.canonical, read, atoms)
    else:  # atom by atom: all of it for each combination of members could be too much
        postfix = []
        for token in criterion.true.postfix:
            if isinstance(token, str):
                reads = parse_criterion(token, given, canonical=True).reads
                postfix += _expanded(token, {identity: given[identity] for identity in reads}, atoms)
            else:
                postfix.append(token)
    return Term(tuple(postfix)), tuple(atoms[label] for label in sorted(atoms))


def _expanded(text: str, read: Mapping[str, Attribute], atoms: dict[str, Atom]) -> list[str | Op]:
    """Return the set of a criterion, given the attributes it reads by the identities it mentions; collect its atoms."""
    postfix: list[str | Op] = []
    # A stack of what is still to be written: concatenations of concatenations may lie very deep.
    stack: list[str | Op | Mapping[str, Attribute]] = [read]
    while stack:
        one = stack.pop()
        if isinstance(one, str | Op):
            postfix.append(one)
            continue
        members = next((_members(attribute) for attribute in one.values() if attribute.pieces), ())
        if not members:
            criterion = parse_criterion(text, one, canonical=True)
            postfix += criterion.true.postfix
            atoms.update((atom.label, atom) for atom in criterion.atoms)
            continue
        # In the first member this, or else, outside it, in the second that, or else …
        program: list[str | Op | Mapping[str, Attribute]] = []
        for position, member in enumerate(members):
            program += [member, _at(one, members, position), Op.AND]
        for member in reversed(members[:-1]):
            program += [member, Op.MINUS, Op.OR]
        stack.extend(reversed(program))
    return postfix


def _members(attribute: Attribute) -> tuple[str, ...]:
    return tuple(piece.member for piece in attribute.pieces)


def _at(read: Mapping[str, Attribute], members: tuple[str, ...], position: int) -> Mapping[str, Attribute]:
    return {
        identity: one.pieces[position].attribute if _members(one) == members else one for identity, one in read.items()
    }
