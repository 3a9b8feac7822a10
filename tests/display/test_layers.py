"""Layered layouts, checked by geometry alone."""

from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.display.layers import Layout, arrange_boxes
from provenn.errors import PictureError
from tests.effort import assert_far_from_quadratic


@st.composite
def graphs(draw):
    """Boxes of any size and acyclic edges between them, in any order."""
    sizes = draw(st.lists(st.tuples(st.integers(10, 200), st.integers(10, 90)), min_size=1, max_size=14))
    order = draw(st.permutations(range(len(sizes))))
    pairs = [(order[i], order[j]) for i, j in combinations(range(len(sizes)), 2)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=30)) if pairs else []
    return sizes, edges


WIDTHS = st.sampled_from([float("inf"), 400.0])
LANES = st.integers(1, 3)


def spread(sizes, lanes):
    """The lanes of boxes: one after the other gets the next box."""
    return [box % lanes for box in range(len(sizes))] if lanes > 1 else ()


def touches(box, item, other):
    """Whether a line passes through the inside of a box (Liang and Barsky)."""
    left, top, right, bottom = box
    (x1, y1), (x2, y2) = item, other
    low, high = 0.0, 1.0
    for step, least, most, start in ((x2 - x1, left, right, x1), (y2 - y1, top, bottom, y1)):
        if abs(step) < 1e-12:
            if not least < start < most:
                return False
        else:
            ends = sorted(((least - start) / step, (most - start) / step))
            low, high = max(low, ends[0]), min(high, ends[1])
    return high - low > 1e-9


def boxes_of(sizes, layout: Layout, shrunk=0.01):
    return [
        (x + shrunk, y + shrunk, x + width - shrunk, y + height - shrunk)
        for (x, y), (width, height) in zip(layout.corners, sizes, strict=True)
    ]


@given(graphs(), WIDTHS, LANES)
def test_boxes_do_not_overlap_and_are_inside_the_picture(graph, widest, lanes):
    sizes, edges = graph
    layout = arrange_boxes(sizes, edges, widest=widest, lanes=spread(sizes, lanes))
    boxes = boxes_of(sizes, layout)
    for (left, top, right, bottom), (other_left, other_top, other_right, other_bottom) in combinations(boxes, 2):
        assert right < other_left or other_right < left or bottom < other_top or other_bottom < top
    for left, top, right, bottom in boxes:
        assert left >= 0
        assert top >= 0
        assert right <= layout.width
        assert bottom <= layout.height


@given(graphs(), WIDTHS, LANES)
def test_every_edge_goes_down_from_its_box_to_its_box_and_through_no_other(graph, widest, lanes):
    sizes, edges = graph
    layout = arrange_boxes(sizes, edges, widest=widest, lanes=spread(sizes, lanes))
    boxes = boxes_of(sizes, layout)
    assert len(layout.routes) == len(edges)
    for (start, end), route in zip(edges, layout.routes, strict=True):
        (x, y), (width, height) = layout.corners[start], sizes[start]
        assert route[0] == pytest.approx((x + width / 2, y + height))
        (x, y), (width, _) = layout.corners[end], sizes[end]
        assert route[-1] == pytest.approx((x + width / 2, y))
        assert all(element[1] < other[1] for element, other in pairwise(route))
        for item, other in pairwise(route):
            assert not any(touches(box, item, other) for box in boxes)
            assert 0 <= other[0] <= layout.width


@given(graphs(), WIDTHS, LANES)
def test_lanes_stand_beside_each_other_and_have_their_boxes(graph, widest, lanes):
    sizes, edges = graph
    assigned = spread(sizes, lanes) or [0] * len(sizes)
    layout = arrange_boxes(sizes, edges, widest=widest, lanes=spread(sizes, lanes), lane_gap=30)
    assert len(layout.lanes) == len(set(assigned))
    for (_, right), (left, _) in pairwise(layout.lanes):
        assert right + 30 <= left + 1e-6
    for lane, (x, _), (width, _) in zip(assigned, layout.corners, sizes, strict=True):
        left, right = layout.lanes[lane]
        assert left - 1e-6 <= x
        assert x + width <= right + 1e-6


@given(graphs())
def test_the_same_graph_has_the_same_layout(graph):
    assert arrange_boxes(*graph) == arrange_boxes(*graph)


def crossings(tops, bottoms, edges):
    """How many edges of two rows cross, given where their ends are."""
    return sum((tops[a] - tops[c]) * (bottoms[b] - bottoms[d]) < 0 for (a, b), (c, d) in combinations(set(edges), 2))


@given(st.integers(2, 9), st.integers(2, 9), st.randoms(use_true_random=False))
def test_there_are_no_more_crossings_than_in_the_order_given(many, more, random):
    edges = [(i, many + j) for i in range(many) for j in range(more) if random.random() < 0.4]
    # so that all are in two rows, as they are in the order given
    edges += [(i, many + random.randrange(more)) for i in range(many)]
    edges += [(random.randrange(many), many + j) for j in range(more)]
    layout = arrange_boxes([(20, 20)] * (many + more), edges)
    x = [corner[0] for corner in layout.corners]
    assert crossings(x, x, edges) <= crossings(range(many), range(many + more), edges)


def test_random_graphs_have_far_fewer_crossings_than_in_the_order_given():
    random, drawn, given_ = Random(1), 0, 0
    for _ in range(20):
        order = random.sample(range(12), 12)
        edges = [(i, 12 + order[(i + k) % 12]) for i in range(12) for k in (0, 1)]  # a ring: two at best
        layout = arrange_boxes([(20, 20)] * 24, edges)
        x = [corner[0] for corner in layout.corners]
        drawn, given_ = drawn + crossings(x, x, edges), given_ + crossings(range(12), range(24), edges)
    assert drawn < given_ / 3


def test_a_tree_has_no_crossings_either_way_up():
    tree = [((i - 1) // 2, i) for i in Random(3).sample(range(1, 31), 30)]
    for edges in (tree, [(other, item) for item, other in tree]):
        layout = arrange_boxes([(20, 20)] * 31, edges)
        x = [corner[0] for corner in layout.corners]
        rows = {}
        for edge, other in edges:
            rows.setdefault(layout.corners[edge][1], []).append((edge, other))
        assert sum(crossings(x, x, row) for row in rows.values()) == 0


def test_a_long_edge_is_straight_where_there_is_room():
    chain = [(i, i + 1) for i in range(5)]
    layout = arrange_boxes([(60, 20)] * 6, [*chain, (0, 5)])
    bends = {x for x, _ in layout.routes[-1][2:-1]}
    assert len(bends) == 1


def test_a_chain_is_one_vertical_line():
    layout = arrange_boxes([(60, 20), (100, 20), (30, 20)], [(0, 1), (1, 2)])
    assert {x for route in layout.routes for x, _ in route} == {50.0}


def test_what_feeds_one_box_far_below_is_near_it():
    """0 -> 1 -> 2 -> 3 and 4 -> 3: 4 could be at the top."""
    layout = arrange_boxes([(20, 20)] * 5, [(0, 1), (1, 2), (2, 3), (4, 3)])
    assert layout.corners[4][1] == layout.corners[2][1]


def test_a_row_that_would_be_too_wide_becomes_several():
    star = [(0, i) for i in range(1, 41)]
    layout = arrange_boxes([(100, 20)] * 41, star, widest=800)
    assert layout.width < 1300
    assert len({y for _, y in layout.corners}) == 6


def test_a_box_that_is_too_wide_for_a_row_leaves_the_row_to_narrower_boxes():
    """A row has place for 500 and 100; the box of 300 goes to the next."""
    layout = arrange_boxes([(10, 20), (500, 20), (300, 20), (100, 20)], [(0, 1), (0, 2), (0, 3)], widest=600)
    heights = [y for _, y in layout.corners]
    assert heights[0] < heights[1] == heights[3] < heights[2]


@pytest.mark.parametrize("edges", [[(0, 0)], [(0, 1), (1, 2), (2, 0)]])
def test_a_cycle_is_refused(edges):
    with pytest.raises(PictureError, match="boxes in a cycle"):
        arrange_boxes([(10, 10)] * 3, edges)


def test_no_boxes_at_all():
    assert arrange_boxes([], []) == Layout(0.0, 0.0, (), ())


@pytest.mark.parametrize("shape", ["local", "star", "two rows"])
def test_hundreds_of_boxes_have_places(shape):
    random, count = Random(2), 300
    edges = {
        "local": [(max(0, i - random.randint(1, 8)), i) for i in range(1, count) for _ in (0, 1)],
        "star": [(0, i) for i in range(1, count)],
        "two rows": [(random.randrange(150), 150 + random.randrange(150)) for _ in range(600)],
    }[shape]
    result = arrange_boxes([(100, 40)] * count, edges, widest=1500)
    assert (len(set(result.corners)), len(result.routes)) == (count, len(edges))


def test_thousands_of_boxes_in_one_row_are_not_quadratic():
    def arrange_star(count):
        arrange_boxes([(100, 40)] * count, [(0, i) for i in range(1, count)])

    assert_far_from_quadratic(arrange_star, 250)
