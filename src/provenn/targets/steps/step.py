"""The interface of a step, and ways through a plan.

A step gives rows: the sources of an extent, with attributes keyed by identity, not by name. So no step renames an
attribute, and two steps that give the same identity give the same value for the same source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from provenn.catalogs import Attribute, Extent, key_position
from provenn.criteria import AttributeIdentity

__all__ = ["Attributes", "PlanStep", "find_key", "is_key", "walk_steps"]


Attributes = Mapping[AttributeIdentity, Attribute]


@dataclass(frozen=True, slots=True, eq=False)
class PlanStep(ABC):
    """A set of rows, and the operation for making the rows.

    Attributes
    ----------
    inputs
        The steps whose rows this step reads.
    extent
        The sources of the rows.
    attributes
        The attributes of each row by identity, the key included.
    signature
        A hash of the operation and the inputs: equal for equal work.
    """

    word: ClassVar[str]
    extent: Extent = field(init=False, repr=False)
    attributes: Attributes = field(init=False, repr=False)
    signature: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "extent", self._own_extent())
        set_field(self, "attributes", self._own_attributes())
        set_field(self, "signature", hash((self.word, self._details(), *(step.signature for step in self.inputs))))

    @property
    @abstractmethod
    def inputs(self) -> tuple[PlanStep, ...]:
        """The steps whose rows this step reads."""

    def _own_extent(self) -> Extent:
        """Return the extent of the step, from the inputs and the parameters."""
        return self.inputs[0].extent

    def _own_attributes(self) -> Attributes:
        """Return the attributes of the step, from the inputs and the parameters."""
        return self.inputs[0].attributes

    @abstractmethod
    def replace_inputs(self, inputs: Sequence[PlanStep]) -> PlanStep:
        """Return the same operation on different inputs with the same sources."""

    def reads(self, needed: frozenset[AttributeIdentity]) -> tuple[frozenset[AttributeIdentity], ...]:
        """Return the attributes needed of each input if `needed` is needed of this step."""
        return tuple(needed.intersection(step.attributes) for step in self.inputs)

    def _details(self) -> tuple[object, ...]:
        """Return the parameters of the operation, for the signature."""
        return ()


def is_key(identity: AttributeIdentity) -> bool:
    """Return whether an attribute is part of the key."""
    return key_position(identity) is not None


def find_key(attributes: Attributes) -> list[AttributeIdentity]:
    """Return the identities of the key attributes, in the order of the key."""
    positions = ((key_position(identity), identity) for identity in attributes)
    return [
        identity
        for _, identity in sorted((position, identity) for position, identity in positions if position is not None)
    ]


def walk_steps(
    *steps: PlanStep, within: Callable[[PlanStep], tuple[PlanStep, ...]] | None = None
) -> Iterator[PlanStep]:
    """Yield steps and their ancestors, each once and after its inputs.

    `within` chooses the inputs to follow; the default is all inputs.
    """
    seen: set[int] = set()
    stack = [(step, False) for step in reversed(steps)]
    while stack:
        step, ready = stack.pop()
        if ready:
            yield step
        elif id(step) not in seen:
            seen.add(id(step))
            stack.append((step, True))
            stack.extend((ancestor, False) for ancestor in reversed(step.inputs if within is None else within(step)))
