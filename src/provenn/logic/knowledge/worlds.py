"""A possible world: which regions hold objects, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provenn import display
from provenn.errors import LabelError
from provenn.logic.statements import And, Comparison, Not, Or, Property, Statement
from provenn.logic.terms import quoted

__all__ = ["World"]


@dataclass(frozen=True, slots=True)
class World:
    """A world in which the facts hold.

    Attributes
    ----------
    regions
        The inhabited regions, each as the labels of the sets it lies in. The region outside all sets is empty.
    """

    regions: frozenset[frozenset[str]]

    def hypercube(self, *labels: str) -> NDArray[np.bool_]:
        """Return the world reduced to some sets: index 1 is inside, index 0 outside, axes in the order given.

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

    def satisfies(self, said: Statement) -> bool:
        """Whether a statement is true in this world."""
        match said:
            case Not(part):
                return not self.satisfies(part)
            case And(parts):
                return all(self.satisfies(part) for part in parts)
            case Or(parts):
                return any(self.satisfies(part) for part in parts)
            case Comparison() | Property():
                return all(
                    any(
                        region.evaluate(lambda label, here=here: label in here, nothing=False, everything=True)  # type: ignore[misc]
                        for here in self.regions
                    )
                    == inhabited
                    for region, inhabited in said.claims()
                )
            case _:
                raise TypeError(f"not a statement: {said!r}")

    def __str__(self) -> str:
        if not self.regions:
            return "nothing exists"
        regions = sorted((sorted(region) for region in self.regions), key=lambda region: (len(region), region))
        return "\n".join(
            f"something is in {', '.join(map(quoted, region))} only" if region else "something is in none of the sets"
            for region in regions
        )

    def _repr_html_(self) -> str:
        return display.world_html(self.regions)
