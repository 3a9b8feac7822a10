"""What every catalog is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from provenn.catalogs.digest import content_digest
from provenn.catalogs.extent import Extent
from provenn.catalogs.population import Population
from provenn.catalogs.schema import Schema
from provenn.criteria import Atom
from provenn.errors import PopulationError
from provenn.logic import Relationship, Statement, equal

__all__ = ["Catalog", "Facts", "Parameters", "definition_digest"]

Parameters = Mapping[str, Any]
"""A JSON object, as it is stored."""

Facts = tuple[tuple[Statement, ...], tuple[Atom, ...]]
"""What a definition says of sets, and the atoms it mentions."""


def definition_digest(kind: str, parameters: Parameters, dependencies: Sequence[str]) -> str:
    """Return the digest of a catalog, given those of its dependencies."""
    return content_digest("catalog", {"kind": kind, "parameters": parameters, "dependencies": dependencies})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Catalog(ABC):
    """An immutable definition: class, parameters, dependencies. Two that have the same digest are one catalog.

    Users' input is taken by the class method ``of`` of each class, which checks it and gives it its canonical form.
    The constructors take the canonical form.

    Attributes
    ----------
    kind
        The name of the class.
    digest
        The hash of class, parameters and dependencies, in 64 hexadecimal digits.
    population
        What one row is.
    schema
        The attributes.
    extent
        The set of sources.
    """

    kind: ClassVar[str]
    digest: str = field(init=False)
    population: Population = field(init=False)
    schema: Schema = field(init=False)
    extent: Extent = field(init=False)

    def __init_subclass__(cls, **kwargs: object) -> None:
        ABC.__init_subclass__(**kwargs)
        cls.kind = cls.__name__

    def __post_init__(self) -> None:
        put = object.__setattr__
        dependencies = [one.digest for one in self.dependencies]
        put(self, "population", self._own_population())
        put(self, "digest", definition_digest(self.kind, self.parameters(), dependencies))
        put(self, "schema", self._own_schema())
        put(self, "extent", self._own_extent())

    # --- what each class says of itself ---

    @property
    @abstractmethod
    def dependencies(self) -> tuple[Catalog, ...]:
        """The catalogs it is made from, in the order of the definition."""

    def parameters(self) -> Parameters:
        """All of its identity besides class and dependencies: canonical, complete, JSON."""
        return {}

    def notes(self) -> Parameters:
        """What is not identity, such as the user's own wording: JSON."""
        return {}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog that has these parameters, notes and dependencies."""
        return cls(*dependencies)

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same definition, in the user's wording, on other dependencies, such as newer versions of them."""
        return self.restored(self.parameters(), self.notes(), dependencies)

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement | None:
        """Return what the class alone says of the sources of a catalog and those of its dependencies."""
        (parent,) = dependencies
        return equal(digest, parent)

    @classmethod
    def facts_of(cls, digest: str, dependencies: Sequence[str], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Return what a definition says of sets whose labels are digests and labels of atoms."""
        said = cls.local_statement(digest, dependencies)
        return () if said is None else (said,), ()

    def _own_population(self) -> Population:
        first, *others = self.dependencies
        for other in others:
            if other.population != first.population:
                raise PopulationError(
                    f"{self.kind} cannot bring together {first.population} and {other.population}",
                    hint="only catalogs of one population have sources in common",
                )
        return first.population

    def _own_schema(self) -> Schema:
        return self.dependencies[0].schema

    def _own_extent(self) -> Extent:
        return self.dependencies[0].extent

    # --- what follows ---

    def facts(self) -> tuple[Statement, ...]:
        """What the definition says of sets; their labels are digests and labels of atoms."""
        return self._facts()[0]

    def atoms(self) -> tuple[Atom, ...]:
        """The atoms that the facts mention."""
        return self._facts()[1]

    def _facts(self) -> Facts:
        return self.facts_of(self.digest, [one.digest for one in self.dependencies], self.parameters())

    def relationship(self) -> Relationship:
        """The local relationship with its direct dependencies, as the paper has it; the labels are digests.

        Raises
        ------
        BudgetError
            If there are so many dependencies that hypercubes cannot say it.
        """
        labels = [self.digest, *dict.fromkeys(one.digest for one in self.dependencies)]
        said = self.local_statement(labels[0], [one.digest for one in self.dependencies])
        return Relationship.of(*([] if said is None else [said]), labels=labels)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Catalog) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.digest[:12]}>"
