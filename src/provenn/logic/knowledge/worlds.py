"""A possible world: a set of inhabited regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provenn import display
from provenn.errors import LabelError
from provenn.logic.statements import And, Not, Or, Property, SetComparison, Statement
from provenn.logic.terms import quote_label

__all__ = ["World"]


@dataclass(frozen=True, slots=True)
class World:
    """A world that satisfies the facts.

    Attributes
    ----------
    regions
        The inhabited regions, each as the labels of its sets. The region outside all sets is the empty set of labels.
    """

    regions: frozenset[frozenset[str]]

    def hypercube(self, *labels: str) -> NDArray[np.bool_]:
        """Return the world reduced to some sets: index 1 is inside, index 0 outside, axes in the order of `labels`.

        >>> World(frozenset({frozenset({"A"}), frozenset({"A", "B"})})).hypercube("A", "B").astype(int)
        array([[0, 0],
               [1, 1]])
        """
        if len(set(labels)) != len(labels):
            raise LabelError(f"a set is named twice in {', '.join(labels)}")
        cube = np.zeros((2,) * len(labels), dtype=np.bool_)
        for region in self.regions:
            cube[tuple(int(label in region) for label in labels)] = True
        return cube

    def satisfies(self, statement: Statement) -> bool:
        """Return whether a statement is true in this world."""
        match statement:
            case Not(part):
                return not self.satisfies(part)
            case And(parts):
                return all(self.satisfies(part) for part in parts)
            case Or(parts):
                return any(self.satisfies(part) for part in parts)
            case SetComparison() | Property():
                return all(
                    any(
                        region.evaluate(lambda label, place=place: label in place, nothing=False, everything=True)  # type: ignore[misc]
                        for place in self.regions
                    )
                    == inhabited
                    for region, inhabited in statement.claims()
                )
            case _:
                raise TypeError(f"not a statement: {statement!r}")

    def __str__(self) -> str:
        if not self.regions:
            return "nothing exists"
        regions = sorted((sorted(region) for region in self.regions), key=lambda region: (len(region), region))
        return "\n".join(
            f"something is in {', '.join(map(quote_label, region))} only"
            if region
            else "something is in none of the sets"
            for region in regions
        )

    def _repr_html_(self) -> str:
        return display.world_html(self.regions)
