"""What every peer does: answer questions about a lineage, or put all its sets in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from shutil import which
from typing import Protocol, Self, TypeVar

from benchmarks.lineages import Lineage, Questions

__all__ = ["Classifier", "Hierarchy", "Peer", "installed", "missing_command", "missing_module"]


class Contender(Protocol):
    """Something that can be measured, if it is there."""

    @property
    def name(self) -> str:
        """What the tables call it."""

    def missing(self) -> str:
        """Return how it could be installed, or an empty string if it is there; import what it needs."""


class Peer(Contender, Protocol):
    """Something that answers questions."""

    def answers(self, lineage: Lineage, questions: Questions) -> list[bool]:
        """Return whether each question's statement follows from the lineage, building included."""


class Classifier(Contender, Protocol):
    """Something that puts all sets in order at once."""

    def classify(self, lineage: Lineage) -> Hierarchy:
        """Return the sets in order, building included."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """How the sets of a lineage are ordered by containment, in one canonical form.

    Parameters
    ----------
    first
        For each set, the first of those that are equal to it.
    parents
        For each set that is the first of its class, those directly above it.
    """

    first: tuple[int, ...]
    parents: Mapping[int, frozenset[int]]

    @classmethod
    def of(
        cls,
        size: int,
        classes: Iterable[Iterable[int]],
        parents: Mapping[int, Iterable[int]],
        empty: Iterable[int] = (),
    ) -> Self:
        """Make the canonical form.

        Parameters
        ----------
        size
            How many sets there are.
        classes
            The sets that are equal; those that are equal to no other may be left out.
        parents
            For one set of each class, one set of each class directly above; the top may be left out.
        empty
            The sets that hold nothing, where `parents` says nothing of them.
        """
        first = list(range(size))
        for members in [*(list(one) for one in classes), list(empty)]:
            for member in members:
                first[member] = min(members)
        above: dict[int, frozenset[int]] = {one: frozenset() for one in set(first)}
        for one, over in parents.items():
            above[first[one]] = frozenset(first[other] for other in over)
        for nothing in {first[one] for one in empty}:
            above[nothing] = frozenset(above) - frozenset().union(*above.values()) - {nothing}
        return cls(tuple(first), above)


C = TypeVar("C", bound=Contender)


def installed(contenders: Iterable[C]) -> list[C]:
    """Return those that are there; print a line for each that is left out."""
    found = []
    for one in contenders:
        missing = one.missing()
        if missing:
            print(f"left out: {one.name} is not installed ({missing})")
        else:
            found.append(one)
    return found


def missing_module(module: str, package: str) -> str:
    """Import a module ahead of all measuring; return what to install if that fails."""
    try:
        import_module(module)
    except ImportError:
        return f"pip install {package}"
    return ""


def missing_command(command: str, package: str) -> str:
    """Return what to install if there is no such command."""
    return "" if which(command) else f"apt-get install {package}"
