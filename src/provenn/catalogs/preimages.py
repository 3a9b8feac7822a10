"""Preimages: the sources whose partner is in a set, and the reverse, what sources with one partner have in common.

The preimage of a union, intersection or difference is the union, intersection or difference of the preimages, because
each source has at most one partner. So an extent of partners is lifted leaf by leaf. A criterion on attributes of the
partner becomes the same criterion on these attributes read through the reference; any other set gets a lifted label.

A complement alone would also hold sources without a partner. It never stands alone: every extent of a catalog lies in
base sets, and so does its lifted form.
"""

from __future__ import annotations

from collections.abc import Iterable

from provenn.catalogs.extent import Extent, everything, intersection, leaf
from provenn.catalogs.references import Reference, lift_identity, lift_label, split_identity, split_label
from provenn.catalogs.set_labels import is_criterion
from provenn.criteria import Atom, AttributeIdentity, backquoted, identities_in
from provenn.criteria.writing import with_identities

__all__ = [
    "lift_atom",
    "lift_extent",
    "lift_set",
    "lower_atom",
    "lower_extent",
    "make_presence_atom",
    "present_label",
    "split_group_parts",
]


def present_label(identity: AttributeIdentity) -> str:
    """Return the label of the sources that have a value of an attribute."""
    return f"{backquoted(identity)} IS NOT NULL"


def make_presence_atom(identity: AttributeIdentity) -> Atom:
    """Return the atom of the sources that have a value of an attribute."""
    return Atom(present_label(identity), backquoted(identity), None, ())


def lift_set(reference: Reference, label: str) -> str:
    """Return the label of the sources whose partner is in the set with a label."""
    return _lift_text(reference, label) if is_criterion(label) else lift_label(reference, label)


def _lift_text(reference: Reference, text: str) -> str:
    """Return canonical text about partners as canonical text about the sources that refer to them."""
    return with_identities(text, {identity: lift_identity(reference, identity) for identity in identities_in(text)})


def lift_atom(reference: Reference, atom: Atom) -> Atom:
    """Return the atom of a criterion on partners as the atom of the criterion on the sources that refer to them."""
    inside = tuple(part.relabelled(lambda label: lift_set(reference, label)) for part in atom.inside)
    return Atom(_lift_text(reference, atom.label), _lift_text(reference, atom.term), atom.cut, inside)


def lift_extent(reference: Reference, extent: Extent) -> Extent:
    """Return the sources whose partner is in an extent."""
    return extent.evaluate(lambda label: leaf(lift_set(reference, label)), everything)


def split_group_parts(by: Iterable[AttributeIdentity], extent: Extent) -> tuple[Extent, Extent]:
    """Return an extent as an intersection: what all sources of a group have in common, and the rest.

    Sources are in one group if they agree in the attributes `by`. Whether a source is in the first part depends on
    these attributes alone, and on what they refer to. So two sources of a group are either both in it or both not.
    """
    grouping = frozenset(by)
    parts = extent.parts if extent.label is None and not extent.complemented else (extent,)
    common = [part for part in parts if all(_is_common(grouping, label) for label in part.labels)]
    digests = {part.digest for part in common}
    return intersection(common), intersection(part for part in parts if part.digest not in digests)


def _is_common(grouping: frozenset[AttributeIdentity], label: str) -> bool:
    """Return whether all sources of a group are in a set, or none."""
    if is_criterion(label):
        identities = identities_in(label)
        return bool(identities) and all(_is_determined(grouping, identity) for identity in identities)
    split = split_label(label)
    return split is not None and all(_is_determined(grouping, identity) for identity in split[0].identities)


def _is_determined(grouping: frozenset[AttributeIdentity], identity: AttributeIdentity) -> bool:
    """Return whether all sources of a group have the same value of an attribute."""
    if identity in grouping:
        return True
    split = split_identity(identity)
    return split is not None and all(_is_determined(grouping, own) for own in split[0].identities)


def lower_extent(reference: Reference, extent: Extent) -> Extent | None:
    """Return the set of partners whose preimage is an extent; None if the extent is not seen to be a preimage.

    Only sources with a partner count.
    """
    lowered = {label: _lower_label(reference, label) for label in extent.labels}
    known = {label: lowered_set for label, lowered_set in lowered.items() if lowered_set is not None}
    return None if len(known) < len(lowered) else extent.evaluate(known.__getitem__, everything)


def lower_atom(reference: Reference, atom: Atom) -> Atom | None:
    """Return the atom of a criterion on sources as the atom of the criterion on partners whose preimage it is.

    None if the criterion needs more than the partner.
    """
    names = {identity: _lower_identity(reference, identity) for identity in identities_in(atom.label)}
    known = {identity: lowered for identity, lowered in names.items() if lowered is not None}
    if not known or len(known) < len(names):
        return None
    inside = tuple(part.relabelled(lambda label: with_identities(label, known)) for part in atom.inside)
    return Atom(with_identities(atom.label, known), with_identities(atom.term, known), atom.cut, inside)


def _lower_label(reference: Reference, label: str) -> Extent | None:
    """Return the set of partners whose preimage has a label; None if there is none."""
    if label in map(present_label, reference.identities):
        return everything
    if is_criterion(label):
        names = {identity: _lower_identity(reference, identity) for identity in identities_in(label)}
        known = {identity: lowered for identity, lowered in names.items() if lowered is not None}
        return None if not known or len(known) < len(names) else leaf(with_identities(label, known))
    split = split_label(label)
    if split is None:
        return None
    hop, inner = split
    if hop == reference:
        return leaf(inner)
    lowered_hop = _lower_reference(reference, hop)
    return None if lowered_hop is None else leaf(lift_label(lowered_hop, inner))


def _lower_identity(reference: Reference, identity: AttributeIdentity) -> AttributeIdentity | None:
    """Return the attribute of the partner that an attribute of the source repeats; None if it repeats none."""
    if identity in reference.identities:
        position = reference.identities.index(identity)
        return reference.key[position]
    split = split_identity(identity)
    if split is None:
        return None
    hop, inner = split
    if hop == reference:
        return inner
    lowered_hop = _lower_reference(reference, hop)
    return None if lowered_hop is None else lift_identity(lowered_hop, inner)


def _lower_reference(reference: Reference, hop: Reference) -> Reference | None:
    """Return a reference of sources as a reference of their partners; None if it needs more than the partner."""
    identities = [_lower_identity(reference, identity) for identity in hop.identities]
    known = tuple(identity for identity in identities if identity is not None)
    return Reference(known, hop.population) if len(known) == len(identities) else None
