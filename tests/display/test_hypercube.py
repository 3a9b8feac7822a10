from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from provenn.display import hypercube_svg, hypercube_text
from provenn.display.hypercube import assign_directions
from provenn.errors import HypercubeError, LabelError, PictureError, UnknownLabelError
from tests.display.svg import parsed, tagged

cubes = st.integers(0, 4).flatmap(lambda n: arrays(np.bool_, (2,) * n))
labels_of = st.text(st.characters(), min_size=1, max_size=30)


def circles(svg: str) -> dict[str, tuple[float, float, str]]:
    """Where the circle of each region is, and whether it is full or open, by the sets that its tip names."""
    values = {}
    for circle in tagged(parsed(svg), "circle"):
        (tip,) = tagged(circle, "title")
        name = "".join(character for character in str(tip.text) if character.isupper())
        values[name] = (float(circle.get("cx", "")), float(circle.get("cy", "")), str(circle.get("class")))
    return values


@given(cubes, st.data())
@settings(max_examples=60, deadline=None)
def test_any_labels_give_well_formed_svg_with_as_many_full_circles_as_true_cells(cube, data):
    labels = data.draw(st.lists(labels_of, min_size=cube.ndim, max_size=cube.ndim, unique=True))
    root = parsed(hypercube_svg(labels, cube))
    assert len(tagged(root, "circle", "full")) == cube.sum()
    assert len(tagged(root, "circle")) == cube.size


@pytest.mark.parametrize("n", range(1, 7))
def test_outside_is_at_the_top_inside_all_at_the_bottom(n):
    labels = "ABCDEF"[:n]
    cube = np.zeros((2,) * n, dtype=bool)
    cube[(0,) * n] = True
    drawn = circles(hypercube_svg(labels, cube))
    heights = {name: y for name, (_, y, _) in drawn.items()}
    assert min(heights, key=heights.__getitem__) == ""
    assert max(heights, key=heights.__getitem__) == labels
    assert [name for name, (_, _, state) in drawn.items() if state == "full"] == [""]


def test_each_circle_is_where_its_sets_lead_and_as_full_as_its_cell():
    cube = np.array([[[True, False], [False, True]], [[False, False], [True, True]]])
    drawn = circles(hypercube_svg("ABC", cube))
    x0, y0, _ = drawn[""]
    toward = assign_directions("ABC")
    for index in product((0, 1), repeat=3):
        inside = [label for label, item in zip("ABC", index, strict=True) if item]
        x, y, state = drawn["".join(inside)]
        assert x - x0 == pytest.approx(sum(toward[label][0] for label in inside), abs=0.02)
        assert y - y0 == pytest.approx(sum(toward[label][1] for label in inside), abs=0.02)
        assert (state == "full") == cube[index]


def test_a_set_has_the_same_direction_in_every_hypercube_of_a_picture():
    full = circles(hypercube_svg("ABCD", np.ones((2,) * 4, dtype=bool), order="ABCD"))
    part = circles(hypercube_svg("BD", np.ones((2, 2), dtype=bool), order="ABCD"))
    for label in "BD":
        moved = [tuple(np.subtract(drawn[label][:2], drawn[""][:2])) for drawn in (full, part)]
        assert moved[0] == pytest.approx(moved[1], abs=0.02)


@pytest.mark.parametrize("n", range(1, 7))
def test_no_two_vertices_touch_and_no_edge_runs_through_a_vertex(n):
    toward = np.array(list(assign_directions("ABCDEF"[:n]).values()))
    indices = np.array(list(product((0, 1), repeat=n)))
    points = indices @ toward
    assert all(np.hypot(*(p - q)) > 13 for p, q in combinations(points, 2))
    for start, index in zip(points, indices, strict=True):
        for i in np.flatnonzero(index == 0):
            along = toward[i] / np.hypot(*toward[i])
            for point in points:
                method = (point - start) @ along
                if 1e-6 < method < np.hypot(*toward[i]) - 1e-6:
                    off = abs(along[0] * (point - start)[1] - along[1] * (point - start)[0])
                    assert off > 6.5


def test_short_names_stand_at_their_vertices_long_ones_in_a_key():
    short = [text.text for text in tagged(parsed(hypercube_svg("AB", np.ones((2, 2), dtype=bool))), "text")]
    long = [t.text for t in tagged(parsed(hypercube_svg(["near", "far"], np.ones((2, 2), dtype=bool))), "text")]
    assert short == ["A", "B"]
    assert long == ["1", "2", "1 near", "2 far"]


def test_more_than_six_sets_are_not_drawn():
    with pytest.raises(PictureError, match="7 sets"):
        hypercube_svg("ABCDEFG", np.ones((2,) * 7, dtype=bool))


@pytest.mark.parametrize("array", [np.ones((2, 2)), np.ones((2, 3), dtype=bool), np.ones(2, dtype=bool)])
def test_what_is_no_hypercube_of_the_labels_is_refused(array):
    with pytest.raises(HypercubeError, match="2 sets"):
        hypercube_svg("AB", array)


def test_a_set_named_twice_or_missing_from_the_picture_is_refused():
    square = np.ones((2, 2), dtype=bool)
    with pytest.raises(LabelError, match="twice"):
        hypercube_svg("AA", square)
    with pytest.raises(UnknownLabelError, match="'B'"):
        hypercube_svg("AB", square, order="AC")


@given(cubes)
def test_text_has_a_line_for_each_number_of_sets_and_a_full_sign_for_each_true_cell(cube):
    text = hypercube_text(cube)
    lines = text.split("\n")
    assert len(lines) == cube.ndim + 1
    assert text.count("●") == cube.sum()
    assert text.count("●") + text.count("○") == cube.size
    for k, line in enumerate(lines):
        at_level = [value for index, value in np.ndenumerate(cube) if sum(index) == k]
        assert line.count("●") == sum(at_level)


def test_text_of_a_known_hypercube():
    cube = np.zeros((2, 2, 2), dtype=bool)
    cube[0, 0, 0] = cube[1, 0, 0] = cube[0, 1, 1] = True
    assert hypercube_text(cube) == "  ●\n● ○ ○\n○ ○ ●\n  ○"
