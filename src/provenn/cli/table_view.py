"""The paper's table of relations between few sets: computed, then written and drawn.

Nothing in it is typed in by hand but the names of its rows and the statements they stand for.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from provenn.display import hypercube_text
from provenn.display.figure import Figure, above, beside, document, words
from provenn.display.grid import Cell, grid_figure, grid_text
from provenn.display.hypercube import hypercube_figure
from provenn.display.regions import Cells
from provenn.logic import Relationship

__all__ = ["Column", "columns", "data", "picture", "text"]

ONE_SET = {"empty": "empty(A)"}
TWO_SETS = {"equality": "B == A", "subset": "B < A", "superset": "B > A"}
THREE_SETS = {"C = A ∪ B": "C == A | B", "C = A ∩ B": "C == A & B"}

# The paper leaves out relations "not directly relevant to our astronomical application" and tells how many, not which.
# Its numbers and check marks fit this: A holds something, yet nothing is outside A and B.
OMITTED = "nonempty(A) and not outside(A, B)"

_CAPTION = (
    "A filled circle is a region that holds something, an open circle one that is empty.",
    "At the top is what lies outside all sets, at the bottom what lies inside all of them.",
    "A relation in a lower cell implies those above it.",
    "Check marks: these relations make up an equality, a strict subset, a strict superset: of B, with respect to A.",
    "A number in parentheses counts relations that are left out, check marks below it those among them.",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    """Relations between A and B in one column: one that is shown, or those that are omitted together."""

    pairs: tuple[Relationship, ...]
    shown: bool

    def above(self, *labels: str) -> Relationship:
        """What the relations of the column imply for fewer sets."""
        return self.pairs[0].on(*labels)

    def marks(self, statement: str) -> int:
        """How many relations of the column imply a statement."""
        return sum(pair.entails(statement) for pair in self.pairs)

    def below(self, statement: str) -> list[Relationship]:
        """The relations of the column with a third set, of which this is stated."""
        return [pair & statement for pair in self.pairs]


def columns() -> list[Column]:
    """Compute the columns, in the paper's order.

    Relations are ordered by those above them. Below one relation come the omitted ones, then those without a check
    mark, then supersets, subsets, equality.
    """
    found = []
    pairs = [Relationship.from_arrays("AB", [array]) for array in Relationship.tautology("A", "B").arrays()]
    for (*_, shown), group in groupby(sorted(pairs, key=_place), key=lambda pair: _place(pair)[:3]):
        members = tuple(group)
        found.extend([Column((pair,), True) for pair in members] if shown else [Column(members, False)])
    return found


def text(table: list[Column]) -> str:
    """Write the table for a terminal, less than 80 columns wide."""
    return grid_text(_rows(table, lambda one: hypercube_text(_cube(one)), "\n".join))


def picture(table: list[Column]) -> str:
    """Draw the table."""
    order = "ACB"  # C in the middle, so that A and B alone are an upright square

    def drawn(one: Relationship) -> Figure:
        return hypercube_figure(one.labels, _cube(one), order=order, size=0.62)

    key = hypercube_figure("ABC", np.zeros((2, 2, 2), np.bool_), order=order, signs="ABC")
    caption = above([words(line) for line in _CAPTION], gap=2, align=0)
    return document(
        above([grid_figure(_rows(table, drawn, _lines)), beside([key, caption], gap=24)], gap=20, align=0),
        title="Relations between up to three sets",
        description=" ".join(_CAPTION),
    )


def data(table: list[Column]) -> dict[str, Any]:
    """Return the table for programs: hypercubes as nested lists, index 1 = inside."""
    return {
        "labels": ["A", "B", "C"],
        "columns": [
            {
                "shown": column.shown,
                "0D": _cube(column.above()).tolist(),
                "1D": _cube(column.above("A")).tolist(),
                "2D": [_cube(pair).tolist() for pair in column.pairs],
                "marks": {name: column.marks(said) for name, said in (ONE_SET | TWO_SETS).items()},
                "3D": {said: [_cube(one).tolist() for one in column.below(said)] for said in THREE_SETS.values()},
            }
            for column in table
        ],
    }


def _place(pair: Relationship) -> tuple[Any, ...]:
    return (
        _cube(pair.on()).tolist(),
        _cube(pair.on("A")).tolist(),
        not pair.entails(OMITTED),
        *map(pair.entails, TWO_SETS.values()),
        _cube(pair).tolist(),
    )


def _cube(exact: Relationship) -> Cells:
    (array,) = exact.arrays()
    return array


def _lines(texts: Iterable[str]) -> Figure:
    return above([words(text, centred=True) for text in texts], gap=2)


def _rows(
    table: list[Column], drawn: Callable[[Relationship], T], written: Callable[[Iterable[str]], T]
) -> list[list[Cell[T]]]:
    """Lay the table out, given how a hypercube is drawn and how lines are written."""

    def spanning(labels: str, content: Callable[[Relationship], T], head: Iterable[str]) -> list[Cell[T]]:
        groups = [(one, len(list(same))) for one, same in groupby(column.above(*labels) for column in table)]
        return [*(Cell(content(one), span) for one, span in groups), Cell(written(head))]

    def each(cubes: Callable[[Column], Sequence[Relationship]], head: str) -> list[Cell[T]]:
        cells = [drawn(cubes(column)[0]) if column.shown else written([f"({len(cubes(column))})"]) for column in table]
        return [*map(Cell, cells), Cell(written([head]))]

    marks = [written("✓" * column.marks(said) for said in TWO_SETS.values()) for column in table]
    return [
        spanning("", drawn, ["0D"]),
        spanning("A", drawn, ["1D"]),
        spanning("A", lambda one: written("✓" * one.entails(said) for said in ONE_SET.values()), ONE_SET),
        each(lambda column: column.pairs, "2D"),
        [*map(Cell, marks), Cell(written(TWO_SETS))],
        *(each(partial(Column.below, statement=said), head) for head, said in THREE_SETS.items()),
    ]
