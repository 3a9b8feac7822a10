"""The steps of a plan: rows, and what is done with them.

A step gives rows: the sources of an extent, with attributes that are known by identity, not by name. So nothing here
is ever renamed, and what two steps give under one identity is the same value for the same source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from provenn.catalogs import Attribute, Base, Catalog, Extent, PythonCalculator, key_position
from provenn.catalogs.extent import intersection, nothing, union
from provenn.catalogs.sample_sources import sample_rule
from provenn.criteria import Expression, identities_in
from provenn.store.fragments import Fragment

__all__ = [
    "Calculate",
    "Combine",
    "Concat",
    "Derive",
    "Exclude",
    "Fill",
    "Nothing",
    "Restrict",
    "Scan",
    "Select",
    "Step",
    "Stored",
    "condition_reads",
    "is_key",
    "key_of",
    "walk",
]

Attributes = Mapping[str, Attribute]


@dataclass(frozen=True, slots=True, eq=False)
class Step(ABC):
    """Rows, and how they are made from those of other steps.

    Attributes
    ----------
    inputs
        The steps it is made from.
    extent
        The sources that it gives.
    attributes
        What it gives of each, by identity; the key included.
    signature
        What is done, in all detail: equal if two steps do the same.
    """

    word: ClassVar[str]
    extent: Extent = field(init=False, repr=False)
    attributes: Attributes = field(init=False, repr=False)
    signature: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "extent", self._own_extent())
        put(self, "attributes", self._own_attributes())
        put(self, "signature", hash((self.word, self._details(), *(one.signature for one in self.inputs))))

    @property
    @abstractmethod
    def inputs(self) -> tuple[Step, ...]:
        """The steps it is made from."""

    def _own_extent(self) -> Extent:
        return self.inputs[0].extent

    def _own_attributes(self) -> Attributes:
        return self.inputs[0].attributes

    @abstractmethod
    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same on other inputs that give the same sources."""

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return what is needed of each input, if some attributes are needed of this step."""
        return tuple(needed.intersection(one.attributes) for one in self.inputs)

    def _details(self) -> tuple[object, ...]:
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class Scan(Step):
    """The rows of a base catalog, read from its files."""

    word = "scan"
    base: Base

    @property
    def inputs(self) -> tuple[Step, ...]:
        """None."""
        return ()

    def _own_extent(self) -> Extent:
        return self.base.extent

    def _own_attributes(self) -> Attributes:
        return self.base.schema.by_identity

    def on(self, inputs: Sequence[Step]) -> Step:  # noqa: ARG002 - it has none
        """Return itself."""
        return self

    def _details(self) -> tuple[object, ...]:
        return (self.base.digest,)


@dataclass(frozen=True, slots=True, eq=False)
class Stored(Step):
    """The rows of a fragment.

    Parameters
    ----------
    fragment
        The fragment.
    catalog
        The catalog for which it was stored.
    """

    word = "reuse"
    fragment: Fragment
    catalog: Catalog

    @property
    def inputs(self) -> tuple[Step, ...]:
        """None."""
        return ()

    def _own_extent(self) -> Extent:
        return self.catalog.extent

    def _own_attributes(self) -> Attributes:
        known, held = self.catalog.schema.by_identity, self.fragment.identities
        return {identity: one for identity, one in known.items() if identity in held}

    def on(self, inputs: Sequence[Step]) -> Step:  # noqa: ARG002 - it has none
        """Return itself."""
        return self

    def _details(self) -> tuple[object, ...]:
        return (self.fragment.id,)


@dataclass(frozen=True, slots=True, eq=False)
class Nothing(Step):
    """No rows at all: nothing is read for them."""

    word = "nothing"
    given: Attributes

    def _own_extent(self) -> Extent:
        return nothing

    def _own_attributes(self) -> Attributes:
        return self.given

    @property
    def inputs(self) -> tuple[Step, ...]:
        """None."""
        return ()

    def on(self, inputs: Sequence[Step]) -> Step:  # noqa: ARG002 - it has none
        """Return itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Select(Step):
    """The rows of `input` for which a condition holds.

    Parameters
    ----------
    input
        The rows.
    condition
        A set whose labels are those of atoms, each of which is evaluated on a row.
    sources
        The sources that remain. After a concatenation, a condition is another set in each member.
    """

    word = "select"
    input: Step
    condition: Extent
    sources: Extent

    def _own_extent(self) -> Extent:
        return self.sources

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The rows."""
        return (self.input,)

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same selection from another input."""
        (one,) = inputs
        return Select(one, self.condition, self.sources)

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Also what the condition reads."""
        return (needed | condition_reads(self.condition),)

    def _details(self) -> tuple[object, ...]:
        return (self.condition.digest,)


@dataclass(frozen=True, slots=True, eq=False)
class Derive(Step):
    """The rows of `input`, with an attribute more: an SQL expression.

    Parameters
    ----------
    input
        The rows.
    attribute
        What is derived.
    expression
        How, over identities.
    """

    word = "derive"
    input: Step
    attribute: Attribute
    expression: Expression

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The rows."""
        return (self.input,)

    def _own_attributes(self) -> Attributes:
        return {**self.input.attributes, self.attribute.identity: self.attribute}

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same derivation on another input."""
        (one,) = inputs
        return Derive(one, self.attribute, self.expression)

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """What the expression reads, instead of what it gives."""
        return ((needed - {self.attribute.identity}) | frozenset(self.expression.reads),)

    def _details(self) -> tuple[object, ...]:
        return (self.attribute.identity,)


@dataclass(frozen=True, slots=True, eq=False)
class Calculate(Step):
    """The rows of `input`, with the attributes that a Python calculator derives.

    Parameters
    ----------
    input
        The rows. For a calculator of scope "catalog", exactly those of the catalog it was defined on.
    calculator
        The calculator.
    arguments
        The identity of each of its inputs.
    outputs
        What it derives.
    """

    word = "calculate"
    input: Step
    calculator: PythonCalculator
    arguments: tuple[str, ...]
    outputs: tuple[Attribute, ...]

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The rows."""
        return (self.input,)

    @property
    def whole(self) -> bool:
        """Whether the result for a source depends on all of them."""
        return self.calculator.scope == "catalog"

    def _own_attributes(self) -> Attributes:
        return {**self.input.attributes, **{one.identity: one for one in self.outputs}}

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same calculation on another input."""
        (one,) = inputs
        return Calculate(one, self.calculator, self.arguments, self.outputs)

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """What the calculator reads, instead of what it gives."""
        return ((needed - {one.identity for one in self.outputs}) | frozenset(self.arguments),)

    def _details(self) -> tuple[object, ...]:
        return (self.calculator.digest, self.arguments)


@dataclass(frozen=True, slots=True, eq=False)
class _Compared(Step):
    """The rows of `input`, by whether `other` gives their sources too."""

    input: Step
    other: Step

    @property
    def inputs(self) -> tuple[Step, ...]:
        """Both."""
        return self.input, self.other

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same of other inputs."""
        return type(self)(*inputs)

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Of the other one, nothing but the key."""
        return needed, frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Restrict(_Compared):
    """The rows of `input` whose sources `other` gives too."""

    word = "restrict"

    def _own_extent(self) -> Extent:
        return self.input.extent & self.other.extent


@dataclass(frozen=True, slots=True, eq=False)
class Exclude(_Compared):
    """The rows of `input` whose sources `other` does not give."""

    word = "exclude"

    def _own_extent(self) -> Extent:
        return self.input.extent - self.other.extent


@dataclass(frozen=True, slots=True, eq=False)
class Combine(Step):
    """The sources that all members give, with the attributes of all of them: a join on the key."""

    word = "combine"
    members: tuple[Step, ...]

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The members."""
        return self.members

    def _own_extent(self) -> Extent:
        return intersection(one.extent for one in self.members)

    def _own_attributes(self) -> Attributes:
        return {identity: one for member in self.members for identity, one in member.attributes.items()}

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same of other members."""
        return Combine(tuple(inputs))

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Each attribute of the first member that gives it."""
        found, rest = [], needed
        for member in self.members:
            found.append(rest.intersection(member.attributes))
            rest = rest.difference(member.attributes)
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class Concat(Step):
    """The sources of all members. The first member that gives a source gives its attributes.

    Parameters
    ----------
    members
        The members.
    columns
        Each attribute, and the identity under which each member gives it.
    disjoint
        Whether no two members give the same source, so that it need not be looked for.
    sources
        All of them together.
    """

    word = "concat"
    members: tuple[Step, ...]
    columns: tuple[tuple[Attribute, tuple[str, ...]], ...]
    disjoint: bool
    sources: Extent

    def _own_extent(self) -> Extent:
        return self.sources

    @classmethod
    def of(cls, members: Sequence[Step], attributes: Iterable[Attribute], extent: Extent | None = None) -> Concat:
        """Put disjoint members together that give the attributes under the same identities."""
        columns = tuple((one, (one.identity,) * len(members)) for one in attributes)
        return cls(tuple(members), columns, True, union(one.extent for one in members) if extent is None else extent)

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The members."""
        return self.members

    def _own_attributes(self) -> Attributes:
        return {one.identity: one for one, _ in self.columns}

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same of other members."""
        return Concat(tuple(inputs), self.columns, self.disjoint, self.sources)

    def reads(self, needed: frozenset[str]) -> tuple[frozenset[str], ...]:
        """What each member calls it."""
        return tuple(
            frozenset(given[place] for one, given in self.columns if one.identity in needed)
            for place in range(len(self.members))
        )

    def _details(self) -> tuple[object, ...]:
        return tuple(given for _, given in self.columns), self.disjoint


@dataclass(frozen=True, slots=True, eq=False)
class Fill(Step):
    """The rows of `input`, without a value of some attributes that these sources do not have."""

    word = "fill"
    input: Step
    missing: tuple[Attribute, ...]

    @property
    def inputs(self) -> tuple[Step, ...]:
        """The rows."""
        return (self.input,)

    def _own_attributes(self) -> Attributes:
        return {**self.input.attributes, **{one.identity: one for one in self.missing}}

    def on(self, inputs: Sequence[Step]) -> Step:
        """Return the same of another input."""
        (one,) = inputs
        return Fill(one, self.missing)

    def _details(self) -> tuple[object, ...]:
        return tuple(one.identity for one in self.missing)


def is_key(identity: str) -> bool:
    """Whether an attribute is part of the key."""
    return key_position(identity) is not None


def key_of(attributes: Attributes) -> list[str]:
    """Return the identities of the key among some attributes, in its order."""
    placed = ((key_position(identity), identity) for identity in attributes)
    return [identity for _, identity in sorted((at, one) for at, one in placed if at is not None)]


def condition_reads(condition: Extent) -> frozenset[str]:
    """Return the identities of the attributes that a condition reads besides the key."""
    labels = (label for label in condition.labels if sample_rule(label) is None)
    return frozenset(identity for label in labels for identity in identities_in(label))


def walk(*steps: Step, within: Callable[[Step], tuple[Step, ...]] | None = None) -> Iterator[Step]:
    """Yield steps and all they are made from, each once, after its inputs; `within` says which of these to follow."""
    seen: set[int] = set()
    stack = [(one, False) for one in reversed(steps)]
    while stack:
        one, ready = stack.pop()
        if ready:
            yield one
        elif id(one) not in seen:
            seen.add(id(one))
            stack.append((one, True))
            stack.extend((each, False) for each in reversed(one.inputs if within is None else within(one)))
