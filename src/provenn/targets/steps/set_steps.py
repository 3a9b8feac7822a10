"""Steps that compare or join sources by key: restrictions, differences, joins and unions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provenn.catalogs import Attribute, Extent
from provenn.catalogs.extent import intersection, union
from provenn.criteria import AttributeIdentity
from provenn.targets.steps.step import Attributes, PlanStep

__all__ = ["Combine", "Concat", "Exclude", "Restrict"]


@dataclass(frozen=True, slots=True, eq=False)
class _KeyComparison(PlanStep):
    """The rows of `input`, filtered by whether `other` has the same sources."""

    input: PlanStep
    other: PlanStep

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The filtered step and the step to compare with."""
        return self.input, self.other

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same comparison of other inputs."""
        return type(self)(*inputs)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes for `input`, and only the key for `other`."""
        return needed, frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Restrict(_KeyComparison):
    """The rows of `input` whose sources are also in `other`.

    Parameters
    ----------
    sources
        The remaining sources, if more is known of them than that both inputs have them. Otherwise None.
    """

    word = "restrict"
    sources: Extent | None = None

    def _own_extent(self) -> Extent:
        return self.input.extent & self.other.extent if self.sources is None else self.sources

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same restriction of other inputs."""
        rows, other = inputs
        return Restrict(rows, other, self.sources)


@dataclass(frozen=True, slots=True, eq=False)
class Exclude(_KeyComparison):
    """The rows of `input` whose sources are not in `other`."""

    word = "exclude"

    def _own_extent(self) -> Extent:
        return self.input.extent - self.other.extent


@dataclass(frozen=True, slots=True, eq=False)
class Combine(PlanStep):
    """A join on the key: the sources that all members share, with the attributes of all members.

    Parameters
    ----------
    members
        The steps to join.
    sources
        The shared sources, if more is known of them than that all members have them. Otherwise None.
    """

    word = "combine"
    members: tuple[PlanStep, ...]
    sources: Extent | None = None

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The members."""
        return self.members

    def _own_extent(self) -> Extent:
        return intersection(member.extent for member in self.members) if self.sources is None else self.sources

    def _own_attributes(self) -> Attributes:
        return {identity: attribute for member in self.members for identity, attribute in member.attributes.items()}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same join of other members."""
        return Combine(tuple(inputs), self.sources)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the needed attributes of each member; the first member with an attribute gives it."""
        reads, rest = [], needed
        for member in self.members:
            reads.append(rest.intersection(member.attributes))
            rest = rest.difference(member.attributes)
        return tuple(reads)


@dataclass(frozen=True, slots=True, eq=False)
class Concat(PlanStep):
    """The sources of all members. The first member with a source gives its attributes.

    Parameters
    ----------
    members
        The steps to put together.
    columns
        Each attribute, with its identity in each member.
    is_disjoint
        Whether no two members share a source. Then the executor skips the search for shared sources.
    sources
        The union of the sources of all members.
    """

    word = "concat"
    members: tuple[PlanStep, ...]
    columns: tuple[tuple[Attribute, tuple[AttributeIdentity, ...]], ...]
    is_disjoint: bool
    sources: Extent

    def _own_extent(self) -> Extent:
        return self.sources

    @classmethod
    def of(cls, members: Sequence[PlanStep], attributes: Iterable[Attribute], extent: Extent | None = None) -> Concat:
        """Put disjoint members together that have the same attributes under the same identities."""
        columns = tuple((attribute, (attribute.identity,) * len(members)) for attribute in attributes)
        return cls(
            tuple(members), columns, True, union(member.extent for member in members) if extent is None else extent
        )

    @property
    def inputs(self) -> tuple[PlanStep, ...]:
        """The members."""
        return self.members

    def _own_attributes(self) -> Attributes:
        return {attribute.identity: attribute for attribute, _ in self.columns}

    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same union of other members."""
        return Concat(tuple(inputs), self.columns, self.is_disjoint, self.sources)

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the identities of the needed attributes in each member."""
        return tuple(
            frozenset(identities[position] for attribute, identities in self.columns if attribute.identity in needed)
            for position in range(len(self.members))
        )

    def _details(self) -> tuple[object, ...]:
        return tuple(identities for _, identities in self.columns), self.is_disjoint
