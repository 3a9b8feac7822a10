from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from provenn.display import RegionState, venn_states_svg, venn_svg
from provenn.display.geometry import ARRANGEMENTS, find_anchors
from provenn.errors import HypercubeError, PictureError
from tests.display.svg import contains, flattened, parsed, tagged


def sizes(n: int, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """For each ellipse the left side of its equation at the points: below 1 is inside."""
    turned = [((x - e.x) + 1j * (y - e.y)) * np.exp(-1j * e.tilt) / [[e.rx], [e.ry]] for e in ARRANGEMENTS[n].ellipses]
    return np.array([a.real**2 + b.imag**2 for a, b in turned]).reshape(n, len(x))


def drawn_regions(svg: str) -> list[list[list[tuple[float, float]]]]:
    """The outlines of the regions, in the order of the cells."""
    shown = [path for path in tagged(parsed(svg), "path") if path.get("class") in set(RegionState)]
    return [flattened(str(path.get("d"))) for path in shown]


@pytest.mark.parametrize("n", range(5))
def test_every_point_is_covered_by_the_outline_of_its_region_and_by_no_other(n):
    outlines = drawn_regions(venn_svg("ABCD"[:n], np.ones((2,) * n, dtype=bool)))
    frame = ARRANGEMENTS[n]
    x, y = np.random.default_rng(n).uniform(0.5, (frame.width - 0.5, frame.height - 0.5), (4000, 2)).T
    there = sizes(n, x, y)
    clear = (abs(there - 1) > 0.02).all(axis=0)  # the polygons that stand for arcs are not exact at the border
    for region, loops in zip(product((0, 1), repeat=n), outlines, strict=True):
        expected = ((there < 1) == np.array(region).reshape(n, 1)).all(axis=0)
        assert expected[clear].any()
        assert (contains(loops, x, y) == expected)[clear].all()


@pytest.mark.parametrize("n", range(5))
def test_every_region_is_in_one_piece_with_a_mark_well_inside(n):
    outlines = drawn_regions(venn_svg("ABCD"[:n], np.ones((2,) * n, dtype=bool)))
    marks = find_anchors(ARRANGEMENTS[n])
    around = 6 * np.exp(1j * np.linspace(0, 2 * np.pi, 12))
    for region, loops in zip(product((0, 1), repeat=n), outlines, strict=True):
        assert len(loops) == (1 if any(region) or n == 0 else 2)
        x, y = marks[region]
        assert contains(loops, x + around.real, y + around.imag).all()
        assert all(np.hypot(x - name_x, y - name_y) > 18 for name_x, name_y in ARRANGEMENTS[n].names)


@given(st.integers(0, 4).flatmap(lambda n: arrays(np.bool_, (2,) * n)), st.data())
@settings(max_examples=25, deadline=None)
def test_regions_show_their_cells_for_any_labels(cube, data):
    labels = data.draw(
        st.lists(st.text(st.characters(), min_size=1), min_size=cube.ndim, max_size=cube.ndim, unique=True)
    )
    root = parsed(venn_svg(labels, cube))
    states = [path.get("class") for path in tagged(root, "path") if path.get("class")]
    assert states == ["inhabited" if cell else "empty" for cell in cube.flat]


def test_states_differ_by_pattern_and_mark_not_by_colour_alone():
    svg = venn_states_svg("AB", [RegionState.EMPTY, RegionState.INHABITED, RegionState.UNKNOWN, RegionState.EMPTY])
    root = parsed(svg)
    (pattern,) = tagged(root, "pattern")
    fills = {str(path.get("class")): path.get("fill") for path in tagged(root, "path") if path.get("class")}
    assert fills["empty"] == f"url(#{pattern.get('id')})"
    assert fills["inhabited"] != fills["empty"] != fills["unknown"]
    assert len(tagged(root, "circle", "full")) == 2  # one in the region, one in the key
    assert [text.text for text in tagged(root, "text")].count("?") == 2


def test_the_description_tells_every_region():
    (desc,) = tagged(parsed(venn_svg("AB", np.array([[True, False], [False, True]]))), "desc")
    assert desc.text == "outside: holds something. in B only: empty. in A only: empty. in A and B: holds something"


def test_five_sets_or_a_wrong_number_of_states_are_refused():
    with pytest.raises(PictureError, match="at most 4"):
        venn_svg("ABCDE", np.ones((2,) * 5, dtype=bool))
    with pytest.raises(HypercubeError, match="4 regions"):
        venn_states_svg("AB", [RegionState.EMPTY] * 3)
