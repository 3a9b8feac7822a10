"""The pictures in the documentation are what the program draws now."""

from collections.abc import Callable
from itertools import product

import numpy as np

from provenn.display import (
    RegionState,
    array_svg,
    hypercube_svg,
    relationship_html,
    relationship_svg,
    venn_states_svg,
    venn_svg,
)

# Figure 1 of the paper: B and D are equal and not empty, A holds more, and not all there is.
LABELS = ("A", "B", "D")
CUBE = np.zeros((2, 2, 2), dtype=bool)
CUBE[0, 0, 0] = CUBE[1, 0, 0] = CUBE[1, 1, 1] = True
EQUALITY = [np.array([[out, False], [False, both]]) for out, both in product((False, True), repeat=2)]

Golden = Callable[[str, str], None]


def test_figure_1_of_the_paper_as_hypercube_array_and_venn_diagram(golden: Golden):
    golden("docs/pictures/hypercube.svg", hypercube_svg(LABELS, CUBE))
    golden("docs/pictures/array.svg", array_svg(LABELS, CUBE))
    golden("docs/pictures/venn.svg", venn_svg(LABELS, CUBE))


def test_equality_is_a_row_of_four_hypercubes(golden: Golden):
    golden("docs/pictures/relationship.svg", relationship_svg("AB", EQUALITY))
    golden("tests/golden/relationship.html", relationship_html("AB", EQUALITY, kind="inexact", total=4))


def test_four_sets(golden: Golden):
    cube = np.zeros((2,) * 4, dtype=bool)
    cube[0, 0, 0, 0] = cube[1, 0, 1, 0] = cube[1, 1, 1, 1] = True
    golden("tests/golden/hypercube-4.svg", hypercube_svg("ABCD", cube))
    golden("tests/golden/array-4.svg", array_svg("ABCD", cube))
    golden("docs/pictures/venn-4.svg", venn_svg("ABCD", cube))


def test_what_is_known_of_two_sets(golden: Golden):
    states = [RegionState.INHABITED, RegionState.EMPTY, RegionState.UNKNOWN, RegionState.UNKNOWN]
    golden("docs/pictures/venn-known.svg", venn_states_svg(["stars", "bright stars"], states))
