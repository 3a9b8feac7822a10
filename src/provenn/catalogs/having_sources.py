"""The sources of a catalog to which another catalog refers, or the remaining sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.column_origins import ColumnOrigin, build_key_origins, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.extent import Extent
from provenn.catalogs.images import Image
from provenn.catalogs.population import Population
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.reference_columns import find_reference, read_reference, restore_reference
from provenn.catalogs.references import Reference
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.logic import Statement, difference, intersection, subset

__all__ = ["HavingSources"]

_WITHOUT = "without"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HavingSources(Catalog):
    """The sources of `parent` that are partners of sources of `members`, or the remaining sources.

    Parameters
    ----------
    parent
        The catalog of the sources and attributes.
    members
        The catalog that refers to these sources.
    reference
        The attributes of `members` that hold the key of their partner.
    is_in
        Whether the partners are kept, or the other sources.
    on_names
        The names of the referring attributes, in the user's words.
    """

    profile = ClassProfile(
        word="having",
        shape="fork",
        verbs=("having", _WITHOUT),
        part_counts=range(2, 3),
        narrows=True,
        crosses_populations=True,
        follows_reference=True,
        compares_groups=True,
    )
    parent: Catalog
    members: Catalog
    reference: Reference
    is_in: bool
    on_names: tuple[str, ...]

    @classmethod
    def of(cls, parent: Catalog, members: Catalog, *, on: object, is_in: bool = True) -> Self:
        """Keep the sources that `members` refers to; with `is_in` False, the others.

        Raises
        ------
        DefinitionError
            If an argument is not valid.
        PopulationError
            If the referring attributes do not fit the key of `parent`.
        AttributeNotFoundError
            If `members` has no such attribute.
        """
        reference, on_names = find_reference(members, on, parent.population)
        return cls(parent, members, reference, is_in, on_names)

    @classmethod
    def without(cls, parent: Catalog, members: Catalog, *, on: object) -> Self:
        """Keep the sources that `members` does not refer to; the exceptions are those of `of`."""
        return cls.of(parent, members, on=on, is_in=False)

    def _define_anew(self) -> Catalog:
        names = [self.members.schema.by_identity[identity].name for identity in self.reference.identities]
        return type(self).of(self.parent, self.members, on=names, is_in=self.is_in)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """`parent` and `members`."""
        return self.parent, self.members

    @property
    def partners(self) -> Extent:
        """All partners of the members, in `parent` or not."""
        return self.find_image().extent

    def find_image(self) -> Image:
        """Return the partners of the members."""
        return Image(self.reference, self.members.extent)

    def parameters(self) -> Parameters:
        """Return the reference, the label of the partners, and whether these are kept."""
        return {
            "reference": self.reference.to_json(),
            "partners": self.find_image().label,
            "is_in": self.is_in,
        }

    def notes(self) -> Parameters:
        """Return the names of the referring attributes."""
        return {"on": list(self.on_names)}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies."""
        parent, members = dependencies
        reference = restore_reference(parameters["reference"], members, parent.population)
        return cls(parent, members, reference, bool(parameters["is_in"]), tuple(notes["on"]))

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same selection with different catalogs."""
        parent, members = dependencies
        return self.of(parent, members, on=list(self.on_names), is_in=self.is_in)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return a subset of the parent: the members are of another population."""
        parent, _ = dependencies
        return subset(digest, parent)

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return the intersection of the parent and the partners, or their difference."""
        parent, _ = dependencies
        state = intersection if parameters["is_in"] else difference
        return (state(digest, parent, parameters["partners"]),), ()

    @classmethod
    def find_reference(
        cls, dependencies: Sequence[CatalogDigest], parameters: Parameters
    ) -> tuple[Reference, CatalogDigest]:
        """Return the reference of the members, and the parent that it leads to."""
        return read_reference(parameters["reference"]), dependencies[0]

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
        """Return the parent, the members and the reference in words."""
        verb = "names" if parameters["is_in"] else "does not name"
        return f"the sources of {parts[0]} that {join_words(notes['on'])} of {parts[1]} {verb}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return both catalogs."""
        return f"{parts[0]} {'having' if self.is_in else _WITHOUT} {parts[1]}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the reference, and whether the partners are kept."""
        kept = "the sources that are referred to" if self.is_in else "the sources that are not referred to"
        return (("on", ", ".join(self.on_names)), ("kept", kept))

    def exchange_form(self) -> ExchangeForm:
        """Return the verb and the reference."""
        return self.profile.word if self.is_in else _WITHOUT, {"on": list(self.on_names)}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:
        """Return the sources of the first part that the second part refers to, or the others."""
        return cls.of(*parts, on=options["on"], is_in=verb != _WITHOUT)

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the key of the parent and the referring attributes: a semi or anti join."""
        attributes = self.members.schema.by_identity
        referring = (attributes[identity] for identity in self.reference.identities)
        text = f"{'semi' if self.is_in else 'anti'} join on the reference"
        own = build_key_origins({self.parent.digest: self.parent.schema}, "FILTER", text)
        return (*own, *build_origins(self.members.digest, referring, "INDIRECT", "FILTER", text))

    def _build_population(self) -> Population:
        return self.parent.population

    def _build_extent(self) -> Extent:
        return self.parent.extent & self.partners if self.is_in else self.parent.extent - self.partners
