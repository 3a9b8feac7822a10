"""References: attributes of a source that identify a source of another population, as a foreign key does.

A reference is a function: it takes a source to its partner. So every attribute of the partner is an attribute of the
source as well, read *through* the reference, and every set of partners gives a set of sources, its preimage. Both have
an identity that follows from the reference and from what is read, whatever catalogs were looked up: a source has one
partner, and the partner has one value. References can be followed one after the other; whichever two of three are
followed first, the whole path is the same.

The key of the partner, read through a reference, is the reference itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.population import Population
from provenn.criteria import AttributeIdentity
from provenn.digests import canonical_json

__all__ = ["Reference", "encode_path", "lift_identity", "lift_label", "split_identity", "split_label"]

_IDENTITY = "via:"
_LABEL = "points "
_ESCAPES = {"`": "\\u0060", "'": "\\u0027"}
"""Quotes inside names are escaped: canonical SQL is searched for quoted names without parsing it."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference from sources to their partners in a population.

    Parameters
    ----------
    identities
        The attributes that hold the key of the partner, in the order of that key. If one of them is NULL, the source
        has no partner.
    population
        The name of the population of the partners.
    """

    identities: tuple[AttributeIdentity, ...]
    population: str

    @property
    def key(self) -> tuple[AttributeIdentity, ...]:
        """The key attributes of the partner."""
        return tuple(Population.name_key(self.population, position) for position in range(len(self.identities)))

    def to_json(self) -> list[Any]:
        """Return the reference as JSON: the identities, and the population."""
        return [list(self.identities), self.population]


def lift_identity(reference: Reference, identity: AttributeIdentity) -> AttributeIdentity:
    """Return the identity of an attribute of the partner, read through a reference.

    >>> objects = Reference(("d:objid",), "object")
    >>> lift_identity(objects, "o:vmag"), lift_identity(objects, "key:object:0")
    ('via:[["d:objid"],"object","o:vmag"]', 'd:objid')
    >>> galaxies = Reference(("o:galaxy",), "galaxy")
    >>> through_both = lift_identity(objects, lift_identity(galaxies, "g:z"))
    >>> through_both == lift_identity(Reference((lift_identity(objects, "o:galaxy"),), "galaxy"), "g:z")
    True
    """
    for own, partner in zip(reference.identities, reference.key, strict=True):
        if identity == partner:
            return own
    hop, inner = _split_reference(reference)
    if hop is not None:
        return lift_identity(hop, lift_identity(inner, identity))
    return AttributeIdentity(_IDENTITY + encode_path([*reference.to_json(), *_decode_identity(identity)]))


def split_identity(identity: AttributeIdentity) -> tuple[Reference, AttributeIdentity] | None:
    """Return the first reference on the path of an attribute, and the attribute that it reads; None without a path."""
    if not identity.startswith(_IDENTITY):
        return None
    identities, population, *rest = _decode_identity(identity)
    inner = rest[0] if len(rest) == 1 else _IDENTITY + encode_path(rest)
    return Reference(tuple(map(AttributeIdentity, identities)), population), AttributeIdentity(inner)


def lift_label(reference: Reference, label: str) -> str:
    """Return the label of the sources whose partner is in the set with a label.

    >>> lift_label(Reference(("d:objid",), "object"), "0f3a")
    'points [["d:objid"],"object"] in (0f3a)'
    """
    hop, inner = _split_reference(reference)
    if hop is not None:
        return lift_label(hop, lift_label(inner, label))
    path, target = _read_label(label) or ([], label)
    return f"{_LABEL}{encode_path([*reference.to_json(), *path])} in ({target})"


def split_label(label: str) -> tuple[Reference, str] | None:
    """Return the first reference on the path of a lifted label, and the label that it lifts; None for any other label.

    >>> split_label(lift_label(Reference(("d:objid",), "object"), "0f3a"))
    (Reference(identities=('d:objid',), population='object'), '0f3a')
    """
    parts = _read_label(label)
    if parts is None:
        return None
    (identities, population, *rest), target = parts
    inner = f"{_LABEL}{encode_path(rest)} in ({target})" if rest else target
    return Reference(tuple(map(AttributeIdentity, identities)), population), inner


def _split_reference(reference: Reference) -> tuple[Reference | None, Reference]:
    """Return the reference that all attributes of a reference are read through, if any, and the rest of the way."""
    split = [split_identity(identity) for identity in reference.identities]
    hops = [part for part in split if part is not None]
    if len(hops) < len(split) or any(hop != hops[0][0] for hop, _ in hops):
        return None, reference
    return hops[0][0], Reference(tuple(identity for _, identity in hops), reference.population)


def _read_label(label: str) -> tuple[list[Any], str] | None:
    """Return the path of a lifted label, and the label at its end; None for any other label."""
    if not label.startswith(f"{_LABEL}["):
        return None
    path, end = json.JSONDecoder().raw_decode(label, len(_LABEL))
    return path, label[end:].removeprefix(" in (").removesuffix(")")


def encode_path(path: Sequence[Any]) -> str:
    """Return a path as text without quotes that canonical SQL has."""
    text = canonical_json(path)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _decode_identity(identity: AttributeIdentity) -> list[Any]:
    """Return the path of an identity, with the attribute at its end."""
    if not identity.startswith(_IDENTITY):
        return [identity]
    path: list[Any] = json.loads(identity.removeprefix(_IDENTITY))
    return path
