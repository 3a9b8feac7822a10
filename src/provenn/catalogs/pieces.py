"""Attributes that a concatenation puts together from different ones: their identity, and criteria on them.

The first member that holds a source gives its value. So a set that is defined by the attribute is, among the sources
of the first member, what it is by that member's attribute; among the other sources, what it is by the next one's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from provenn.catalogs.digest import content_digest
from provenn.catalogs.extent import Extent
from provenn.catalogs.schema import Attribute, Piece, Schema
from provenn.criteria import Atom, parse_criterion
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
        first.unit,
        next((one.description for one in attributes if one.description), ""),
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


def expanded(true: Term, atoms: Iterable[Atom], reads: Iterable[str], schema: Schema) -> tuple[Term, tuple[Atom, ...]]:
    """Return a set of which the atoms are on attributes of one definition each, and these atoms, sorted.

    Parameters
    ----------
    true, atoms, reads
        What a criterion says: the set, its atoms, the identities it reads.
    schema
        The attributes it was read with.
    """
    given = schema.by_identity
    if not any(given[identity].pieces for identity in reads):
        return true, tuple(atoms)
    known = {atom.label: atom for atom in atoms}
    found: dict[str, Atom] = {}
    postfix: list[str | Op] = []
    for token in true.postfix:
        if isinstance(token, str):
            read = {identity: given[identity] for identity in parse_criterion(token, given).reads}
            if any(one.pieces for one in read.values()):
                term, new = _expanded_atom(token, read)
                postfix += term
                found.update((atom.label, atom) for atom in new)
            else:
                postfix.append(token)
                found[token] = known[token]
        else:
            postfix.append(token)
    return Term(tuple(postfix)), tuple(found[label] for label in sorted(found))


def _expanded_atom(label: str, read: Mapping[str, Attribute]) -> tuple[list[str | Op], list[Atom]]:
    """Return the set of one atom, given the attributes it reads by the identities that its label mentions."""
    postfix: list[str | Op] = []
    atoms: list[Atom] = []
    # A stack of what is still to be written: concatenations of concatenations may lie very deep.
    stack: list[str | Op | Mapping[str, Attribute]] = [read]
    while stack:
        one = stack.pop()
        if isinstance(one, str | Op):
            postfix.append(one)
            continue
        members = next((_members(attribute) for attribute in one.values() if attribute.pieces), ())
        if not members:
            criterion = parse_criterion(label, one)
            postfix += criterion.true.postfix
            atoms += criterion.atoms
            continue
        # In the first member this, or else, outside it, in the second that, or else …
        program: list[str | Op | Mapping[str, Attribute]] = []
        for position, member in enumerate(members):
            program += [member, _at(one, members, position), Op.AND]
        for member in reversed(members[:-1]):
            program += [member, Op.MINUS, Op.OR]
        stack.extend(reversed(program))
    return postfix, atoms


def _members(attribute: Attribute) -> tuple[str, ...]:
    return tuple(piece.member for piece in attribute.pieces)


def _at(read: Mapping[str, Attribute], members: tuple[str, ...], position: int) -> Mapping[str, Attribute]:
    return {
        identity: one.pieces[position].attribute if _members(one) == members else one for identity, one in read.items()
    }
