"""The attributes that stored definitions introduce, by identity: their types, and what their values are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.preimages import lift_set
from provenn.catalogs.references import Reference, lift_identity, split_identity
from provenn.catalogs.restoring import new_attributes_of, restore
from provenn.catalogs.schema import Attribute
from provenn.criteria import AttributeIdentity, DefinedAttribute, identities_in
from provenn.criteria.writing import with_identities
from provenn.digests import CatalogDigest
from provenn.errors import ProvennError

__all__ = ["DefinedAttributes", "Definition"]


class Definition(Protocol):
    """The stored definition of a catalog."""

    @property
    def digest(self) -> CatalogDigest:
        """The digest of the catalog."""

    @property
    def kind(self) -> str:
        """The name of its class."""

    @property
    def parameters(self) -> Parameters:
        """Its parameters."""

    @property
    def notes(self) -> Parameters:
        """Its notes."""

    @property
    def dependencies(self) -> tuple[CatalogDigest, ...]:
        """The digests of its dependencies, in order."""


class DefinedAttributes:
    """Find attributes by their identities, among those that some definitions introduce.

    Nothing is read before the first attribute is asked for. Most definitions tell their attributes by their
    parameters. The others are restored with their lineage, once an attribute is found nowhere else.

    Parameters
    ----------
    definitions
        The definitions, each after its dependencies.
    """

    def __init__(self, definitions: Iterable[Definition]) -> None:
        self._given = definitions
        self._definitions: dict[CatalogDigest, Definition] = {}
        self._attributes: dict[AttributeIdentity, DefinedAttribute | None] = {}
        self._untold: list[CatalogDigest] | None = None
        self._catalogs: dict[CatalogDigest, Catalog] = {}

    def find(self, identity: AttributeIdentity) -> DefinedAttribute | None:
        """Return the attribute with an identity; None if it is unknown, or two definitions disagree about it.

        An attribute read through a reference is made of what the attribute itself is made of, read the same way.
        """
        split = split_identity(identity)
        if split is not None:
            inner = self.find(split[1])
            return None if inner is None else _lift_attribute(split[0], identity, inner)
        if self._untold is None:
            self._untold = []
            self._definitions = {definition.digest: definition for definition in self._given}
            for definition in self._definitions.values():
                try:
                    attributes = new_attributes_of(definition.kind, definition.digest, definition.parameters)
                except ProvennError:
                    continue  # as below
                if attributes is None:
                    self._untold.append(definition.digest)
                for attribute in attributes or ():
                    self._add(attribute)
        while identity not in self._attributes and self._untold:
            self._add_schema(self._untold.pop())
        return self._attributes.get(identity)

    def _add(self, attribute: DefinedAttribute) -> None:
        """Add an attribute; forget what definitions disagree about."""
        if self._attributes.setdefault(attribute.identity, attribute) != attribute:
            self._attributes[attribute.identity] = None

    def _add_schema(self, digest: CatalogDigest) -> None:
        """Add the attributes of a catalog that are missing, and the attributes of which they are pieced together."""
        try:
            stack = list(self._restore(digest).schema.attributes)
        except (ProvennError, LookupError):
            return  # whoever uses the catalog meets the error; its attributes stay unknown here
        while stack:
            attribute = stack.pop()
            if attribute.identity not in self._attributes:
                self._add(_define_attribute(attribute))
                stack += [piece.attribute for piece in attribute.pieces]

    def _restore(self, digest: CatalogDigest) -> Catalog:
        """Return a catalog, restored with its lineage."""
        stack = [digest]
        while stack:
            definition = self._definitions[stack[-1]]
            missing = [parent for parent in definition.dependencies if parent not in self._catalogs]
            if missing:
                stack += missing
            else:
                dependencies = [self._catalogs[parent] for parent in definition.dependencies]
                self._catalogs[stack.pop()] = restore(
                    definition.kind, definition.parameters, definition.notes, dependencies
                )
        return self._catalogs[digest]


def _lift_attribute(reference: Reference, identity: AttributeIdentity, attribute: DefinedAttribute) -> DefinedAttribute:
    """Return an attribute of the partner as an attribute of the sources that refer to it.

    Facts about terms hold for all sources, also for those without a partner: as if they had one that no catalog holds.
    Its key would be the reference, which can be NULL. So an attribute that is made of others can be NULL as well.
    """
    is_made = bool(attribute.expression or attribute.pieces)
    reads = {read: lift_identity(reference, read) for read in identities_in(attribute.expression)}
    return DefinedAttribute(
        identity,
        attribute.type,
        attribute.nullable or is_made,
        attribute.unit,
        with_identities(attribute.expression, reads),
        tuple((lift_set(reference, member), lift_identity(reference, piece)) for member, piece in attribute.pieces),
    )


def _define_attribute(attribute: Attribute) -> DefinedAttribute:
    """Return an attribute of a catalog without its name."""
    return DefinedAttribute(
        attribute.identity,
        attribute.type,
        attribute.nullable,
        pieces=tuple((piece.member, piece.identity) for piece in attribute.pieces),
    )
