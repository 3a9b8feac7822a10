"""Maps of the sky, histograms, plots and the explorer's picture: well-formed, with everything in its place."""

import numpy as np
import pytest

from provenn.display.density_plot import CurvePoints, PlotAxis, density_svg, light_curve_svg
from provenn.display.explorer_picture import ExplorerLinks, explorer_svg
from provenn.display.histogram import histogram_svg
from provenn.display.lineage_picture import LineageNode, LineagePicture
from provenn.display.sky_map import SkyCells, SkyLinks, SkyOutline, SkyView, sky_map_svg
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


def test_the_graticule_is_seen_over_a_sky_full_of_sources():
    paths = tagged(parsed(sky_map_svg([make_square(200.0, 10.0)])), "path")
    fills = [path.get("fill") for path in paths]
    assert fills.index("none") > max(place for place, fill in enumerate(fills) if fill not in (None, "none"))


@pytest.mark.parametrize("view", [None, SkyView(0, 90, 5), SkyView(359.9, -89, 30), SkyView(120, 0, 0.05)])
def test_maps_of_every_part_of_the_sky_are_drawn(view):
    parsed(sky_map_svg([make_square(0.0, 88.0)], view=view))
    empty = SkyCells("none", np.zeros((0, 4)), np.zeros((0, 4)), np.zeros(0, np.int64))
    parsed(sky_map_svg([empty], view=view))


def test_a_histogram_shows_small_bins():
    root = parsed(histogram_svg(ODD, [0, 1, 100_000], "0", "9"))
    assert tagged(root, "path")[0].get("d").count("M") == 2
    parsed(histogram_svg("x", [], "", ""))


def test_plots_reverse_magnitudes():
    counts = np.zeros((2, 2), np.int64)
    counts[0, 1] = 5
    bright_below = density_svg("x", counts, PlotAxis("a", 0, 1), PlotAxis("b", 0, 1))
    bright_above = density_svg("x", counts, PlotAxis("a", 0, 1), PlotAxis("gmag", 0, 1, is_reversed=True))
    assert "M0 0h" in bright_below
    assert "M0 180h" in bright_above
    curve = CurvePoints(ODD, np.array([1.0, np.nan]), np.array([2.0, 3.0]), 2)
    root = parsed(light_curve_svg(ODD, [curve], PlotAxis("t", 1, 1), PlotAxis("m", 2, 3)))
    assert any("2 points" in (text.text or "") for text in tagged(root, "text"))


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
