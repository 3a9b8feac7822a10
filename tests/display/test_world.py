from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.display import world_html, world_svg, world_text
from provenn.display.world import world_cells
from provenn.logic import World
from tests.display.svg import parsed, tagged

WORLD = [frozenset(), frozenset({"A"}), frozenset({"A", "B", "C"})]
REGIONS = st.frozensets(st.frozensets(st.sampled_from("ABCD")), max_size=6)


@given(REGIONS, st.permutations("ABCD"), st.integers(0, 4))
def test_the_hypercube_that_is_drawn_is_that_of_the_world(regions, order, count):
    labels = order[:count]
    assert np.array_equal(world_cells(labels, regions), World(regions).hypercube(*labels))


def test_text_draws_few_sets_and_tells_the_rest():
    assert world_text("AB", WORLD).split("\n") == [
        " ●    outside",
        "● ○   in one: A, B",
        " ●    in both",
        "",
        "- something is in A only",
        "- something is in A, B and C only",
        "- something is outside all sets",
    ]
    assert world_text("A", WORLD).startswith("●   outside\n●   in A\n\n")
    assert [line.split("   ")[-1].strip() for line in world_text("ABCD", WORLD).split("\n")[:5]] == [
        "outside", "in one: A, B, C, D", "in two", "in three", "in all",
    ]  # fmt: skip
    assert world_text("ABCDE", WORLD).startswith("- something is in A only")
    assert world_text("", WORLD).startswith("- something is outside all sets")


def test_a_world_without_objects():
    assert world_text("", []) == "- nothing exists"


def test_a_large_world_is_told_in_short_beginning_with_the_sets_that_were_asked_about():
    many = frozenset(f"S{i:04}" for i in range(1000))
    regions = {frozenset(item) for item in product(sorted(many)[:20])} | {many}
    lines = world_text(["S0999"], regions).split("\n")
    assert len(lines) <= 16
    assert max(map(len, lines)) <= 120
    assert lines[3].startswith("- something is in S0999, S0000, S0001")
    assert lines[3].endswith("and 992 other sets only")
    assert lines[-1] == "- … and something in 9 more regions"


def test_names_cannot_steer_a_terminal_or_break_the_markup():
    odd = [frozenset({"<b>", "\x1b[2J"})]
    assert "\x1b" not in world_text(["\x1b[2J"], odd)
    assert "<b>" not in world_html(odd)
    assert parsed(world_svg(["<b>"], odd, title="<title>")).get("role") == "img"


@pytest.mark.parametrize(("count", "circles"), [(1, 2), (3, 8), (4, 16), (6, 64)])
def test_a_notebook_shows_a_picture_of_few_sets(count, circles):
    html = world_html([frozenset("ABCDEF"[:count])])
    drawn = tagged(parsed(html[html.index("<svg") : html.index("</svg>") + 6]), "circle")
    # beside the hypercube, a Venn diagram of up to four sets with one filled region, which is in the key too
    assert len(drawn) == circles + 2 * (count <= 4)


def test_a_notebook_shows_words_of_many_sets_or_none():
    assert "<svg" not in world_html([frozenset("ABCDEFG")])
    assert "something is outside all sets" in world_html([frozenset()])
