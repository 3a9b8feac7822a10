"""Pictures of lineages, read back."""

import re

import pytest

from provenn.catalogs.verbs import CLASSES
from provenn.display.lineage_picture import LineageNode, LineagePicture, lineage_svg
from provenn.display.outlines import SHAPES, draw_outline
from provenn.errors import PictureError
from tests.display.svg import NAMESPACE, parsed, tagged


def node(identifier, name, kind, *rest, **options):
    """A catalog with the word and the shape of its class."""
    profile = CLASSES[kind].profile
    return LineageNode(identifier, name, kind, *rest, word=profile.word, shape=profile.shape, **options)


BASE = node("1", "hipparcos", "Base", "118218 rows of hip.parquet", "h", below=12)
BRIGHT = node("2", "bright", "SelectSources", "the sources of hipparcos where vmag < 6", "b", focus=True)
NEAR = node("3", "near", "DeriveAttributes", "hipparcos, with dist_pc = 1000 / plx", "h", stored=0.4)
BOTH = node("4", "both", "CombineAttributes", "the attributes of bright and near", "x", stored=1.0, above=3)
EDGES = (("1", "2"), ("1", "3"), ("2", "4"), ("3", "4"))
PICTURE = LineagePicture("The lineage of both", (BASE, BRIGHT, NEAR, BOTH), EDGES)


def drawn(root):
    """The groups of the catalogs, by what their titles begin with."""
    groups = [item for item in tagged(root, "g") if item.find(f"{NAMESPACE}title") is not None]
    return {group.find(f"{NAMESPACE}title").text.partition(":")[0]: group for group in groups}


def paths(group):
    return list(group.iter(f"{NAMESPACE}path"))


def test_every_class_has_a_word_and_a_shape_of_its_own():
    profiles = {kind: catalog_class.profile for kind, catalog_class in CLASSES.items()}
    assert [profile.shape for profile in profiles.values()] == list(SHAPES)
    assert len({profile.word for profile in profiles.values()}) == len(CLASSES)
    assert len({draw_outline(shape, 100, 50) for shape in SHAPES}) == len(CLASSES)
    assert draw_outline("Unheard", 100, 50)[0] not in {
        draw_outline(shape, 100, 50)[0] for shape in SHAPES if shape != profiles["CombineAttributes"].shape
    }


@pytest.mark.parametrize("shape", SHAPES)
def test_an_outline_stays_in_its_box(shape):
    numbers = [float(item) for item in re.findall(r"(?<=[ML ])-?[\d.]+", draw_outline(shape, 120, 60)[0])]
    assert min(numbers) >= 0
    assert max(numbers) <= 120


def test_catalogs_stand_below_what_they_are_made_from():
    root = parsed(lineage_svg(PICTURE))
    corners = re.findall(r"translate\(([\d.]+) ([\d.]+)\)", lineage_svg(PICTURE))
    assert corners
    height = {}
    for name, group in drawn(root).items():
        parents = [item for item in tagged(root, "g") if group in list(item)]
        height[name] = float(parents[0].get("transform").split()[1].rstrip(")"))
    assert height["hipparcos"] < height["bright"] == height["near"] < height["both"]


def test_what_is_stored_has_a_second_border_as_far_as_it_is_stored():
    root = parsed(lineage_svg(PICTURE))
    groups = drawn(root)
    clips = {name: list(group.iter(f"{NAMESPACE}rect")) for name, group in groups.items()}
    assert [name for name, clip in clips.items() if clip] == ["near", "both"]
    (part,), (whole,) = clips["near"], clips["both"]
    assert float(part.get("width")) < float(whole.get("width"))
    texts = [item.text for item in tagged(root, "text")]
    assert "derive · 40 % of attributes stored" in texts
    assert "combine · stored" in texts


def test_the_same_sources_share_a_letter_and_a_tint():
    groups = drawn(parsed(lineage_svg(PICTURE)))
    tints = {
        name: {path.get("fill") for path in paths(group) if path.get("fill-opacity") == "0.2"}
        for name, group in groups.items()
    }
    assert tints["hipparcos"] == tints["near"]
    assert tints["bright"] == tints["both"] == set()
    letters = {name: "a" in [item.text for item in group.iter(f"{NAMESPACE}text")] for name, group in groups.items()}
    assert letters == {"hipparcos": True, "bright": False, "near": True, "both": False}


def test_the_focus_stands_out():
    groups = drawn(parsed(lineage_svg(PICTURE)))
    thick = [name for name, group in groups.items() if any(path.get("stroke-width") == "3" for path in paths(group))]
    assert thick == ["bright"]


def test_what_is_not_shown_is_counted():
    texts = [item.text for item in tagged(parsed(lineage_svg(PICTURE)), "text")]
    assert "+12" in texts
    assert "+3" in texts
    assert "+1 not shown" in texts


def test_the_key_holds_what_occurs_and_nothing_else():
    texts = [item.text for item in tagged(parsed(lineage_svg(PICTURE)), "text")]
    assert {"Base", "SelectSources", "DeriveAttributes", "CombineAttributes", "stored"} <= set(texts)
    assert "ConcatSources" not in texts
    alone = [
        item.text for item in tagged(parsed(lineage_svg(LineagePicture("A", (node("1", "A", "Base"),), ()))), "text")
    ]
    assert alone == ["A", "base", "A", "Base"]


def test_without_links_it_is_an_image_that_is_described():
    root = parsed(lineage_svg(PICTURE))
    assert root.get("role") == "img"
    (output,) = tagged(root, "desc")
    assert "bright: the sources of hipparcos where vmag < 6." in output.text
    stored = "40 % of attributes stored"
    assert f"near: hipparcos, with dist_pc = 1000 / plx; {stored}; same sources as all marked a." in output.text
    assert not tagged(root, "a")


def test_with_links_it_is_a_group_of_links_that_have_names():
    linked = LineageNode("1", "A & <B>", "Base", "rows", link='/c/"a"?x=1&y=2')
    root = parsed(lineage_svg(LineagePicture("T", (linked,), ()), inline=True))
    assert root.get("role") == "group"
    ids = {item.get("id") for item in root.iter()}
    assert {root.get("aria-labelledby"), root.get("aria-describedby")} <= ids
    (link,) = tagged(root, "a")
    assert link.get("href") == linked.link
    assert link.get("aria-label") == "A & <B>: rows"


def test_a_file_has_colours_for_dark_screens_and_a_page_has_its_own():
    assert "prefers-color-scheme: dark" in lineage_svg(PICTURE)
    assert "prefers-color-scheme" not in lineage_svg(PICTURE, inline=True)
    assert "<style" not in lineage_svg(PICTURE, inline=True)


def test_names_may_hold_anything_and_be_long():
    name = "<script>alert('1')</script>\x1b\u202e\"&" + "x" * 300
    svg = lineage_svg(LineagePicture(name, (LineageNode("1", name, "Base", name * 3),), ()))
    assert "<script" not in svg
    assert "\x1b" not in svg
    root = parsed(svg)
    assert max(len(item.text) for item in tagged(root, "text")) < 100
    assert any(item.text.endswith("x") and len(item.text) > 300 for item in tagged(root, "title"))
    assert float(root.get("width")) < 1200


def test_many_catalogs_are_drawn_without_their_sentences():
    many = tuple(LineageNode(str(i), f"n{i}", "SelectSources", "the sources of something") for i in range(200))
    svg = lineage_svg(LineagePicture("many", many, tuple(("0", str(i)) for i in range(1, 200))))
    assert not [item for item in tagged(parsed(svg), "text") if item.text == "the sources of something"]
    assert "And 100 more." in svg


def test_a_catalog_made_from_itself_is_refused():
    with pytest.raises(PictureError):
        lineage_svg(LineagePicture("odd", (BASE,), (("1", "1"),)))


def test_populations_are_lanes_with_their_names():
    nodes = (
        node("d", "detections", "Base", population="detections"),
        node("o", "objects", "Base", population="objects"),
        node("h", "detected", "HavingSources", population="objects"),
    )
    svg = lineage_svg(LineagePicture("The lineage", nodes, (("d", "h"), ("o", "h"))))
    texts = [element.text for element in tagged(parsed(svg), "text")]
    assert {"detections", "objects"} <= set(texts)
    assert texts.count("detections") == 2, "the name of the catalog, and the name of the lane"
    assert "in the lane of objects" in svg, "for screen readers"
    alone = lineage_svg(LineagePicture("The lineage", nodes[1:], (("o", "h"),)))
    assert [element.text for element in tagged(parsed(alone), "text")].count("objects") == 1, (
        "a single lane has no name"
    )


def test_lanes_are_ordered_so_that_edges_are_short_and_lead_right():
    nodes = tuple(node(name, name, "Base", population=name) for name in ("points", "objects", "detections"))
    svg = lineage_svg(LineagePicture("x", nodes, (("detections", "objects"), ("objects", "points"))))
    heads = [element for element in tagged(parsed(svg), "text") if element.get("font-size") == "13"]
    assert [element.text for element in heads] == ["detections", "objects", "points"]
