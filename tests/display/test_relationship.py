from itertools import product
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from provenn.display import relationship_html, relationship_svg, relationship_text
from tests.display.svg import parsed, tagged

EQUALITY = [
    np.array([[out, False], [False, both]]) for out, both in product((False, True), repeat=2)
]  # the paper's example of four hypercubes


@given(st.integers(0, 4).flatmap(lambda n: st.lists(arrays(np.bool_, (2,) * n), min_size=1, max_size=5)), st.data())
@settings(max_examples=30, deadline=None)
def test_any_relationship_shows_all_its_hypercubes_in_every_form(cubes, data):
    n = cubes[0].ndim
    labels = data.draw(st.lists(st.text(st.characters(), min_size=1), min_size=n, max_size=n, unique=True))
    full = sum(int(cube.sum()) for cube in cubes)
    svg = parsed(relationship_svg(labels, cubes))
    assert len(tagged(svg, "circle", "full")) == full
    html = ET.fromstring(relationship_html(labels, cubes, kind="inexact", total=len(cubes)))  # noqa: S314
    assert len(tagged(html, "circle", "full")) == full
    text = relationship_text(["x"] * n, cubes, kind="inexact", total=len(cubes))
    assert text.count("●") == full


def test_equality_as_text():
    assert relationship_text("AB", EQUALITY, kind="inexact", total=4).split("\n") == [
        "Relationship of A, B: inexact, 4 hypercubes",
        " ○     ○     ●     ●",
        "○ ○   ○ ○   ○ ○   ○ ○",
        " ○     ●     ○     ●",
    ]


@pytest.mark.parametrize(("total", "more"), [(4, None), (16, "… and 12 more"), (2**256, "… and about 2**256 more")])
def test_hypercubes_that_are_not_shown_are_counted(total, more):
    text = relationship_text("AB", EQUALITY, kind="inexact", total=total)
    texts = [node.text for node in tagged(parsed(relationship_svg("AB", EQUALITY, total=total)), "text")]
    assert (more in text.split("\n")) if more else ("more" not in text)
    assert (more in texts) if more else all("more" not in str(item) for item in texts)


def test_an_iterator_of_hypercubes_will_do():
    assert relationship_svg("AB", iter(EQUALITY)) == relationship_svg("AB", EQUALITY)


def test_a_contradiction_says_so():
    assert relationship_text("AB", [], kind="contradiction", total=0) == (
        "Relationship of A, B: contradiction, no hypercubes"
    )
    assert "no hypercube is possible" in relationship_svg("AB", [], total=0)


def test_a_tautology_too_large_to_write_down_is_still_told():
    text = relationship_text("ABCDEFGHIJKLMNOP", [], kind="tautology", total=2 ** (2**16))
    assert text.startswith(f"Relationship of {', '.join('ABCDEFGHIJKLMNOP')}: tautology, all 2**65536 hypercubes")


def test_hypercubes_of_many_sets_are_told_in_words():
    cube = np.zeros((2,) * 7, dtype=bool)
    cube[0, 0, 0, 0, 0, 0, 0] = cube[1, 0, 1, 0, 0, 0, 0] = True
    words = "Something is outside; in A and C only. Nothing is elsewhere."
    assert words in relationship_text("ABCDEFG", [cube], kind="exact", total=1)
    assert words in [text.text for text in tagged(parsed(relationship_svg("ABCDEFG", [cube])), "text")]


def test_text_fits_in_80_columns():
    cubes = [np.ones((2,) * 4, dtype=bool)] * 20
    assert max(map(len, relationship_text("ABCD", cubes, kind="inexact", total=20).split("\n"))) <= 80


def test_labels_are_escaped_in_a_page():
    html = relationship_html(["<script>alert(1)</script>"], [np.array([True, True])], kind="exact", total=1)
    assert "<script" not in html


def test_a_page_decides_the_colours():
    html = relationship_html("AB", EQUALITY, kind="inexact", total=4)
    assert "<style" not in html
    assert "currentColor" in html
