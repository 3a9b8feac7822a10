"""Maps of the sky, histograms, plots and the explorer's picture: well-formed, with everything in its place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.display.density_plot import CurvePoints, density_svg, light_curve_svg
from provenn.display.explorer_picture import ExplorerLinks, explorer_svg
from provenn.display.histogram import histogram_svg
from provenn.display.lineage_picture import LineageNode, LineagePicture
from provenn.display.plot_axis import PlotAxis
from provenn.display.sky_map import SkyCells, SkyLinks, SkyOutline, SkyPoints, SkyView, sky_map_svg
from tests.display.svg import parsed, tagged

ODD = '<&"odd\x00'


def make_square(ra, dec, count=1):
    """Return a cell of two degrees around a point."""
    sides = np.array([[-1, 1, 1, -1]]), np.array([[-1, -1, 1, 1]])
    return SkyCells(ODD, ra + sides[0], dec + sides[1], np.array([count]), count)


def test_east_is_left_and_north_is_up():
    view = SkyView()
    x, y = view.project(np.array([100.0, 260.0, 180.0]), np.array([0.0, 0.0, 80.0]))
    assert x[0] > view.width / 2 > x[1]
    assert y[2] < view.height / 2
    assert (x[2], view.project(np.array([180.0]), np.array([0.0]))[1][0]) == pytest.approx((360, 180))
    part = SkyView(10, 20, 5)
    x, y = part.project(np.array([10.0, 12.0]), np.array([20.0, 22.0]))
    assert (x[0], y[0]) == pytest.approx((240, 240))
    assert x[1] < 240 > y[1]


def test_a_cell_across_the_edge_of_the_map_is_drawn_at_both_sides():
    paths = [path.get("d") for path in tagged(parsed(sky_map_svg([make_square(0.0, 0.0)])), "path")]
    cells = [path for path in paths if path.endswith("z")]
    assert [path.count("M") for path in cells] == [2]


def test_a_map_has_links_lines_and_escaped_names():
    cells = make_square(200.0, 10.0, 3)
    outline = SkyOutline(ODD, np.array([10.0, 20.0, 15.0]), np.array([0.0, 0.0, 9.0]))
    root = parsed(sky_map_svg([cells, cells], [outline], links=SkyLinks(cells, ("?cell=1",)), size="2°"))
    assert [link.get("href") for link in tagged(root, "a")] == ["?cell=1"]
    assert any("odd" in (text.text or "") for text in tagged(root, "text"))


def test_sources_are_drawn_as_dots_where_they_are():
    view, points = SkyView(10, 20, 5), SkyPoints(np.array([10.0, 12.0, 190.0]), np.array([20.0, 22.0, -20.0]))
    root = parsed(sky_map_svg([make_square(10.0, 20.0)], points=points, view=view))
    (dots,) = [path.get("d") for path in tagged(root, "path") if path.get("stroke-linecap") == "round"]
    x, y = view.project(points.ra[:2], points.dec[:2])
    assert dots == "".join(f"M{across:.1f} {down:.1f}h0" for across, down in zip(x, y, strict=True)), "none from behind"
    assert any("dots: 3 sources" in (text.text or "") for text in tagged(root, "text"))


def test_the_graticule_is_seen_over_a_sky_full_of_sources():
    paths = tagged(parsed(sky_map_svg([make_square(200.0, 10.0)])), "path")
    fills = [path.get("fill") for path in paths]
    assert fills.index("none") > max(place for place, fill in enumerate(fills) if fill not in (None, "none"))


@pytest.mark.parametrize("view", [None, SkyView(0, 90, 5), SkyView(359.9, -89, 30), SkyView(120, 0, 0.05)])
def test_maps_of_every_part_of_the_sky_are_drawn(view):
    parsed(sky_map_svg([make_square(0.0, 88.0)], view=view))
    empty = SkyCells("none", np.zeros((0, 4)), np.zeros((0, 4)), np.zeros(0, np.int64))
    parsed(sky_map_svg([empty], view=view))


def test_a_cell_larger_than_the_map_is_drawn():
    """A map without it says that there are no sources."""
    root = parsed(sky_map_svg([make_square(120.0, 40.0)], view=SkyView(120.2, 40.3, 0.1)))
    cells = [path for path in tagged(root, "path") if path.get("d").endswith("z") and path.get("fill") != "none"]
    assert len(cells) == 1


@pytest.mark.parametrize("view", [SkyView(0, -89.995, 0.05), SkyView(30, -88, 6), SkyView(10, 80, 20)])
def test_meridians_and_parallels_go_around_a_pole_on_the_map(view):
    lines = list(view.graticule())
    meridians = [(ra[0] % 360, dec) for _, ra, dec in lines if dec[0] != dec[-1]]
    assert {round(ra) for ra, _ in meridians} == {*range(0, 360, 30)}
    assert len(meridians) == 12, "none is drawn twice"
    assert all(abs(dec).max() > 89.9999 for _, dec in meridians)
    parallels = [ra for _, ra, dec in lines if dec[0] == dec[-1]]
    assert parallels
    assert all(np.ptp(ra) == pytest.approx(360) for ra in parallels)


@pytest.mark.parametrize(
    "view", [SkyView(200, 70, 3), SkyView(0, 0, 0.02), SkyView(359, 45, 60), SkyView(120, -85, 1.5)]
)
def test_the_graticule_fills_the_map_to_its_corners(view):
    """In each corner of the map, a line has passed, or passes within two steps."""
    x, y = (
        np.concatenate(values)
        for values in zip(*(view.project(ra, dec) for _, ra, dec in view.graticule()), strict=True)
    )
    for corner in ((0, 0), (0, view.height), (view.width, 0), (view.width, view.height)):
        assert np.nanmin(np.hypot(x - corner[0], y - corner[1])) < view.width / 2.5


@pytest.mark.parametrize("view", [None, SkyView(30, -88, 6), SkyView(0, 90, 20), SkyView(359, 45, 60)])
def test_labels_of_the_graticule_do_not_cover_each_other(view):
    empty = SkyCells("none", np.zeros((0, 4)), np.zeros((0, 4)), np.zeros(0, np.int64), 0)
    labels = [text for text in tagged(parsed(sky_map_svg([empty], view=view)), "text") if text.text.endswith("°")]
    places = [(float(label.get("x")), float(label.get("y"))) for label in labels]
    assert len(places) > 4
    for place, (x, y) in enumerate(places):
        assert all(abs(x - other) >= 30 or abs(y - height) >= 10 for other, height in places[:place])


def test_a_histogram_shows_small_bins():
    root = parsed(histogram_svg(ODD, [0, 1, 100_000], "0", "9"))
    assert tagged(root, "path")[0].get("d").count("M") == 2
    parsed(histogram_svg("x", [], "", ""))


def test_plots_reverse_magnitudes():
    counts = np.zeros((2, 2), np.int64)
    counts[0, 1] = 5
    bright_below = density_svg("x", counts, PlotAxis("a", 0, 1), PlotAxis("b", 0, 1))
    bright_above = density_svg("x", counts, PlotAxis("a", 0, 1), PlotAxis("gmag", 0, 1, is_reversed=True))
    assert "M87 90a" in bright_below
    assert "M87 270a" in bright_above
    curve = CurvePoints(ODD, np.array([1.0, np.nan]), np.array([2.0, 3.0]), 2)
    root = parsed(light_curve_svg(ODD, [curve], PlotAxis("t", 1, 1), PlotAxis("m", 2, 3)))
    assert any("2 points" in (text.text or "") for text in tagged(root, "text"))


@pytest.mark.parametrize(
    ("low", "high", "scale", "labels"),
    [
        (0.0, 10.0, "number", ["0", "2", "4", "6", "8", "10"]),
        (59000.001, 59000.0014, "number", ["59000.001", "59000.0011", "59000.0012", "59000.0013", "59000.0014"]),
        (0.0, 5e-324, "number", ["0"]),
        (16000.0, 17000.0, "date", ["2014", "2015", "2016"]),
        (20454.0, 20454.0, "date", ["2026-01-01"]),
        (-7e5, 7e5, "date", ["1000", "2000", "3000"]),
        (20454 * 86.4e9, 20454.5 * 86.4e9, "moment", ["2026-01-01 00:00", "2026-01-01 06:00", "2026-01-01 12:00"]),
        (20454 * 86.4e9, 20457 * 86.4e9, "moment", ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]),
        (20454 * 86.4e9, 20554 * 86.4e9, "moment", ["2026-01", "2026-02", "2026-03", "2026-04"]),
        (
            20454 * 86.4e9,
            20454 * 86.4e9 + 2e6,
            "moment",
            ["2026-01-01 00:00:00", "2026-01-01 00:00:01", "2026-01-01 00:00:02"],
        ),
    ],
)
def test_ticks_are_round_and_their_labels_differ(low, high, scale, labels):
    ticks = PlotAxis("x", low, high, scale=scale).ticks
    assert [label for _, label in ticks] == labels
    assert all(low <= value <= high or value == pytest.approx(low, rel=1e-6) for value, _ in ticks)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.sampled_from(["date", "moment", "number"]))
def test_every_axis_has_some_ticks_with_different_labels(low, breadth, scale):
    factor = 86.4e9 if scale == "moment" else 1.0
    ticks = PlotAxis("x", low * factor, (low + breadth) * factor, scale=scale).ticks
    assert 1 <= len(ticks) <= 8 or breadth < 2
    assert len({label for _, label in ticks}) == len({value for value, _ in ticks})


def test_a_few_sources_are_drawn_as_dots():
    """A cell alone is four pixels wide, and half of it may be hidden by the frame."""
    counts = np.zeros((90, 90), np.int64)
    counts[0, 0] = 1
    drawing = density_svg("single", counts, PlotAxis("a", 0, 1), PlotAxis("b", 0, 1))
    assert "a3 3 0 1 0 6 0" in drawing
    assert "single: 1 source<" in drawing


def test_arrays_of_different_lengths_say_so():
    curve = CurvePoints("id 1", np.zeros(0), np.zeros(0), 0, "3 and 2 elements, not drawn")
    root = parsed(light_curve_svg("x", [curve], PlotAxis("t", 1, 2), PlotAxis("m", 2, 3)))
    assert any("3 and 2 elements" in (text.text or "") for text in tagged(root, "text"))


def test_the_explorer_has_a_link_for_each_box_and_handle():
    nodes = (
        LineageNode("s", "stars", "Base", below=7, population="stars", stored=1.0),
        LineageNode("b", ODD, "SelectSources", focus=True, population="stars"),
        LineageNode("g", "galaxies", "Base", population="galaxies"),
    )
    links = {node.id: ExplorerLinks(f"?at={node.id}", down=f"?down={node.id}" if node.below else "") for node in nodes}
    picture = LineagePicture("x", nodes, (("s", "b"),))
    root = parsed(explorer_svg(picture, links, selected="b", path=["s", "b"], equal=[["s", "b"]]))
    assert {link.get("href") for link in tagged(root, "a")} == {"?at=s", "?at=b", "?at=g", "?down=s"}
    assert "+7" in [text.text for text in tagged(root, "text")]
    left = [float(link.find(".//{*}rect").get("x")) for link in tagged(root, "a")]
    assert len(left) == 4
