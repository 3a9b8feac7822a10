"""The paper's table of relations between few sets: computed, then written and drawn.

Only the names of the rows and their statements are typed in by hand.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from provenn.display import hypercube_text
from provenn.display.figure import Figure, draw_text, render_document, stack_horizontally, stack_vertically
from provenn.display.grid import Cell, grid_figure, grid_text
from provenn.display.hypercube import hypercube_figure
from provenn.display.venn_regions import Cells
from provenn.logic import Relationship

__all__ = ["TableColumn", "compute_columns", "table_data", "table_svg", "table_text"]

ONE_SET = {"empty": "empty(A)"}
TWO_SETS = {"equality": "B == A", "subset": "B < A", "superset": "B > A"}
THREE_SETS = {"C = A ∪ B": "C == A | B", "C = A ∩ B": "C == A & B"}

# The paper leaves out relations "not directly relevant to our astronomical application" and gives their number only.
# Its numbers and check marks fit this statement: A holds something, yet nothing is outside A and B.
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
class TableColumn:
    """A column of the table: a shown relation between A and B, or several omitted relations.

    Attributes
    ----------
    pairs
        The relations of A and B.
    shown
        Whether the relation is shown; otherwise the column shows only how many relations it omits.
    """

    pairs: tuple[Relationship, ...]
    shown: bool

    def relation_above(self, *labels: str) -> Relationship:
        """Return what the relations of the column imply for fewer sets."""
        return self.pairs[0].on(*labels)

    def count_marks(self, statement: str) -> int:
        """Return how many relations of the column imply a statement."""
        return sum(pair.entails(statement) for pair in self.pairs)

    def relations_below(self, statement: str) -> list[Relationship]:
        """Return the relations of the column, each restricted by a statement on a third set."""
        return [pair & statement for pair in self.pairs]


def compute_columns() -> list[TableColumn]:
    """Compute the columns, in the paper's order.

    Columns are ordered by the relations above them. Below the same relation, the omitted relations come first, then
    relations without a check mark, then supersets, subsets, equality.
    """
    columns = []
    pairs = [Relationship.from_arrays("AB", [array]) for array in Relationship.tautology("A", "B").arrays()]
    for (*_, shown), group in groupby(sorted(pairs, key=_sort_key), key=lambda pair: _sort_key(pair)[:3]):
        members = tuple(group)
        columns.extend([TableColumn((pair,), True) for pair in members] if shown else [TableColumn(members, False)])
    return columns


def table_text(table: list[TableColumn]) -> str:
    """Return the table as text, less than 80 columns wide."""
    return grid_text(_build_rows(table, lambda relation: hypercube_text(_only_array(relation)), "\n".join))


def table_svg(table: list[TableColumn]) -> str:
    """Draw the table as SVG."""
    order = "ACB"  # C in the middle, so that A and B alone are an upright square

    def draw_relation(relation: Relationship) -> Figure:
        return hypercube_figure(relation.labels, _only_array(relation), order=order, size=0.62)

    key = hypercube_figure("ABC", np.zeros((2, 2, 2), np.bool_), order=order, signs="ABC")
    caption = stack_vertically([draw_text(line) for line in _CAPTION], gap=2, align=0)
    return render_document(
        stack_vertically(
            [grid_figure(_build_rows(table, draw_relation, _draw_lines)), stack_horizontally([key, caption], gap=24)],
            gap=20,
            align=0,
        ),
        title="Relations between up to three sets",
        description=" ".join(_CAPTION),
    )


def table_data(table: list[TableColumn]) -> dict[str, Any]:
    """Return the table as JSON data: hypercubes as nested lists, index 1 = inside."""
    return {
        "labels": ["A", "B", "C"],
        "columns": [
            {
                "shown": column.shown,
                "0D": _only_array(column.relation_above()).tolist(),
                "1D": _only_array(column.relation_above("A")).tolist(),
                "2D": [_only_array(pair).tolist() for pair in column.pairs],
                "marks": {name: column.count_marks(statement) for name, statement in (ONE_SET | TWO_SETS).items()},
                "3D": {
                    statement: [_only_array(relation).tolist() for relation in column.relations_below(statement)]
                    for statement in THREE_SETS.values()
                },
            }
            for column in table
        ],
    }


def _sort_key(pair: Relationship) -> tuple[Any, ...]:
    """Return the sort key of a relation: the relations above, whether the relation is shown, check marks, cells."""
    return (
        _only_array(pair.on()).tolist(),
        _only_array(pair.on("A")).tolist(),
        not pair.entails(OMITTED),
        *map(pair.entails, TWO_SETS.values()),
        _only_array(pair).tolist(),
    )


def _only_array(exact: Relationship) -> Cells:
    """Return the one hypercube of an exact relationship."""
    (array,) = exact.arrays()
    return array


def _draw_lines(texts: Iterable[str]) -> Figure:
    """Return lines of text as a figure."""
    return stack_vertically([draw_text(text, centred=True) for text in texts], gap=2)


def _build_rows(
    table: list[TableColumn], draw: Callable[[Relationship], T], write: Callable[[Iterable[str]], T]
) -> list[list[Cell[T]]]:
    """Return the rows of the table; `draw` makes the content of a hypercube, `write` that of lines."""

    def build_spanning_row(labels: str, content: Callable[[Relationship], T], head: Iterable[str]) -> list[Cell[T]]:
        groups = [
            (relation, len(list(group)))
            for relation, group in groupby(column.relation_above(*labels) for column in table)
        ]
        return [*(Cell(content(relation), span) for relation, span in groups), Cell(write(head))]

    def build_row(cubes: Callable[[TableColumn], Sequence[Relationship]], head: str) -> list[Cell[T]]:
        cells = [draw(cubes(column)[0]) if column.shown else write([f"({len(cubes(column))})"]) for column in table]
        return [*map(Cell, cells), Cell(write([head]))]

    marks = [write("✓" * column.count_marks(statement) for statement in TWO_SETS.values()) for column in table]
    return [
        build_spanning_row("", draw, ["0D"]),
        build_spanning_row("A", draw, ["1D"]),
        build_spanning_row(
            "A", lambda relation: write("✓" * relation.entails(statement) for statement in ONE_SET.values()), ONE_SET
        ),
        build_row(lambda column: column.pairs, "2D"),
        [*map(Cell, marks), Cell(write(TWO_SETS))],
        *(
            build_row(partial(TableColumn.relations_below, statement=statement), head)
            for head, statement in THREE_SETS.items()
        ),
    ]
