"""The catalogs around a catalog: the right ones, told truly, quickly in large archives."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import provenn
from provenn.catalogs import KeepAttributes, OpaqueQuery, OpaqueSelection, SelectSources
from provenn.catalogs.verbs import CLASSES
from provenn.definitions import catalog_names, catalog_store
from provenn.display.lineage_picture import lineage_svg
from provenn.errors import PictureError, UnknownCatalogError
from tests.archive.samples import write_parquet
from tests.display.svg import parsed, tagged
from tests.targets.sky import observed, pretend_stored


def named(around):
    return [node.name for node in around.picture.nodes]


@pytest.fixture
def chain(stars):
    """Stars -> bright -> both <- near <- stars, and two that are made from both."""
    bright = stars.select("vmag < 6", name="bright")
    near = stars.derive(dist_pc="1000 / plx", name="near")
    both = bright.combine(near, name="both")
    both.keep("vmag", name="slim")
    both.sample(0.5, seed=1, name="half")
    return stars.archive


def test_what_is_around_a_catalog_is_told_by_distance_and_in_words(chain):
    around = chain.neighbourhood("bright")
    assert named(around)[:3] == ["bright", "stars", "both"]
    assert set(named(around)) == {"bright", "stars", "both", "slim", "half"}
    focus, base, both, *_ = around.picture.nodes
    assert (focus.focus, base.focus) == (True, False)
    assert focus.what == "the sources of stars where vmag < 6"
    assert base.below == 1, "near"
    assert both.above == 1, "near"
    assert both.extent == focus.extent != base.extent
    assert (base.id, focus.id) in around.picture.edges
    assert around.focus == focus.id


@pytest.mark.parametrize(
    ("direction", "depth", "found"),
    [
        ("up", 1, {"bright", "near"}),
        ("up", 2, {"bright", "near", "stars"}),
        ("up", 9, {"bright", "near", "stars"}),
        ("down", 1, {"slim", "half"}),
        ("both", 1, {"bright", "near", "slim", "half"}),
        ("both", 0, set()),
    ],
)
def test_depth_and_direction(chain, direction, depth, found):
    assert set(named(chain.neighbourhood("both", depth=depth, direction=direction))) == {"both"} | found


def test_a_lineage_is_the_same_in_sentences_as_its_neighbourhood(chain):
    whole = {step.digest: step for step in chain.lineage("half").steps}
    for node in chain.neighbourhood("half", depth=9, direction="up").picture.nodes:
        assert (node.name, node.kind, node.what) == (whole[node.id].name, whole[node.id].kind, whole[node.id].is_what)
        assert (node.extent, node.stored) == (whole[node.id].extent, whole[node.id].stored)


def test_the_nearest_and_those_with_a_name_come_first_and_the_rest_is_counted(archive, stars):
    for i in range(20):
        stars.select(f"vmag < {i}", name=f"s{i:02}" if i % 2 else None)
    around = archive.neighbourhood("stars", most=6)
    assert all(one.startswith("s") for one in named(around))
    assert around.picture.nodes[0].below == 15
    assert len(around.picture.nodes) == 6


def test_both_directions_have_their_share(archive, stars):
    parts = [stars.select(f"vmag < {i}", name=f"p{i}") for i in range(20)]
    whole = parts[0].concat(*parts[1:], name="whole")
    for i in range(20):
        whole.select(f"vmag > {i}", name=f"q{i:02}")
    shown = named(archive.neighbourhood("whole", most=11, depth=1))
    assert len([one for one in shown if one[0] == "p"]) == len([one for one in shown if one[0] == "q"]) == 5
    assert len(named(archive.neighbourhood("p1", most=30))) == 23, "what one does not need, the other may have"


def test_how_much_is_stored(archive, tmp_path):
    sky = observed(archive, tmp_path)
    bright = sky.select("g < 18", name="B")
    bright.keep(name="key")
    pretend_stored(bright, ["g"], 10)
    stored = {node.name: node.stored for node in archive.neighbourhood("A").picture.nodes}
    assert stored == {"A": 0.0, "B": pytest.approx(1 / 3), "key": 1.0}, "g, of g, r and dec; the key is always there"
    pretend_stored(bright, ["r", "dec"], 11)
    assert archive.neighbourhood("B").picture.nodes[0].stored == 1.0
    assert archive.lineage("B").steps[0].stored == 1.0


def test_of_a_lineage_too_long_to_look_at_it_is_only_told_that_some_is_stored(archive, tmp_path):
    one = observed(archive, tmp_path).definition
    for i in range(450):
        one = SelectSources.of(one, f"g < {1000 - i}")
    last = archive.define(one, "last")
    pretend_stored(last, ["g", "r", "dec"], 10)
    assert archive.neighbourhood("last").picture.nodes[0].stored is None


def test_a_catalog_made_twice_from_the_same_one_is_counted_once(archive, stars):
    stars.restrict(stars, name="same")
    around = archive.neighbourhood("stars")
    assert len(around.picture.edges) == 1
    assert around.picture.nodes[0].below == 0
    assert archive.neighbourhood("stars", depth=0).picture.nodes[0].below == 1
    assert archive.neighbourhood("same", depth=0).picture.nodes[0].above == 1


def test_a_picture_with_links_and_one_without(chain):
    around = chain.neighbourhood("both")
    assert not tagged(parsed(around.svg()), "a")
    linked = parsed(around.svg(lambda digest, name: f"/c/{digest[:4]}?{name}", inline=True))
    assert {one.get("href").partition("?")[2] for one in tagged(linked, "a")} == set(named(around))
    assert linked.get("role") == "group"
    assert around._repr_html_() == around.svg(inline=True)
    assert chain.lineage("both")._repr_html_() == chain.lineage("both").svg(inline=True)


def test_a_whole_lineage_is_drawn_and_a_long_one_cut(archive, stars):
    assert "The lineage of stars" in archive.lineage("stars").svg()
    one = stars.definition
    for i in range(150):
        one = SelectSources.of(one, f"vmag < {1000 - i}")
    archive.define(one, "last")
    svg = archive.lineage("last").svg()
    assert (
        len([one for one in tagged(parsed(svg), "g") if one.find("{http://www.w3.org/2000/svg}title") is not None])
        == 100
    )
    assert "1 more that it is made from" in svg


def test_trees_go_both_ways(chain):
    around = chain.neighbourhood("near")
    assert around.tree(up=False).splitlines() == [
        "near: stars, with dist_pc = 1000 / plx",
        "└── both: the attributes of bright and near, for the sources common to all",
        "    ├── half: a sample of the sources of both: a fraction of 0.5, with seed 1",
        "    └── slim: both, only its attributes hip and vmag",
    ]
    assert str(around).splitlines()[1] == f"└── {chain.lineage('stars')}"
    assert "(and 1 more)" in chain.neighbourhood("stars", depth=1, most=2).tree(up=False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"direction": "sideways"}, "expected a direction of lineage, got 'sideways'"),
        ({"direction": "dwn"}, "did you mean down"),
        ({"depth": -1}, "a number of steps, got -1"),
        ({"depth": 1.5}, "a number of steps, got 1.5"),
        ({"most": 0}, "a number of catalogs, got 0"),
        ({"most": 10**6}, "from 1 to 1000"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_hint(chain, options, said):
    with pytest.raises(PictureError) as caught:
        chain.neighbourhood("both", **options)
    assert said in str(caught.value)
    assert caught.value.hint


def test_what_is_not_there(chain):
    with pytest.raises(UnknownCatalogError, match="bihgt"):
        chain.neighbourhood("bihgt")


def test_thousands_around_one_catalog_are_shown_in_part(archive, tmp_path):
    base = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star").definition
    model = SelectSources.of(base, "vmag < 6")
    parts = [KeepAttributes.of(base, ["vmag", "plx", "dec"][: 1 + i % 3]) for i in range(3)]
    deep = model
    for i in range(2000):
        deep = SelectSources(deep, model.selection, f"vmag < {i}")
    wide = [SelectSources.of(base, f"vmag < {i}") for i in range(3000)]
    with archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, deep, *wide, *parts)
    for which in (base.digest, deep.digest, wide[0].digest):
        around = archive.neighbourhood(which, depth=5)
        around.svg()
        assert len(around.picture.nodes) <= 60


@st.composite
def lineages(draw):
    """Who is made from whom: for each catalog, one or two of those before it."""
    count = draw(st.integers(1, 12))
    return [draw(st.lists(st.integers(0, i), min_size=1, max_size=2)) for i in range(count)]


@settings(max_examples=15, deadline=None)
@given(lineages(), st.data())
def test_it_is_what_a_search_through_the_whole_lineage_finds(tmp_path_factory, lineage, data):
    folder = tmp_path_factory.mktemp("archive")
    made, links = [], []
    with provenn.open(folder) as archive:
        made.append(archive.ingest("n0", write_parquet(folder / "s.parquet"), key="hip", population="star"))
        for i, parts in enumerate(lineage, start=1):
            one, other = (made[part % len(made)] for part in (parts[0], parts[-1]))
            new = one.select(f"vmag < {i}") if one == other else one.restrict(other)
            if new not in made:
                links += [(made.index(part), len(made)) for part in {one.digest: one, other.digest: other}.values()]
                made.append(new)
        focus = data.draw(st.integers(0, len(made) - 1))
        depth = data.draw(st.integers(0, 4))
        near = {focus: 0}
        for up in (True, False):
            frontier = {focus}
            for step in range(1, depth + 1):
                frontier = {(a if up else b) for a, b in links if (b if up else a) in frontier}
                near.update((one, min(step, near.get(one, step))) for one in frontier)
        around = archive.neighbourhood(made[focus], depth=depth)
    place = {one.digest: i for i, one in enumerate(made)}
    assert {place[node.id] for node in around.picture.nodes} == set(near)
    shown = {(a, b) for a, b in links if a in near and b in near}
    assert {(place[a], place[b]) for a, b in around.picture.edges} == shown
    for one in around.picture.nodes:
        i = place[one.id]
        assert one.above == len([a for a, b in links if b == i and a not in near])
        assert one.below == len([b for a, b in links if a == i and b not in near])


def name_opaque(archive, name, catalog):
    """Give a catalog a name, as a query of a user does."""
    with archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, catalog)
        catalog_names.assign_name(writing, name, catalog.digest)


def test_the_picture_in_the_documentation(archive, tmp_path, golden):
    places = {"ra": [0.0, 1.0], "dec": [0.0, 1.0]}
    stars = {"id": [1, 2], "vmag": [1.0, 9.0], "plx": [10.0, 2.0], **places}
    hipparcos, tycho = (
        archive.ingest(name, write_parquet(tmp_path / f"{name}.parquet", columns), key="id", population="star")
        for name, columns in (("hipparcos", stars), ("tycho", {"id": [2, 3], "bt": [9.5, 11.0], **places}))
    )
    bright = hipparcos.select("vmag < 6", name="bright")
    near = hipparcos.derive(dist_pc="1000 / plx", name="near")
    both = bright.combine(near, name="both")
    both.keep("vmag", "dist_pc", name="slim").rename(vmag="v", name="to_plot")
    both.sample(0.1, seed=7, name="tenth")
    seen = tycho.restrict(bright, name="seen")
    seen.concat(tycho.exclude(bright, name="others"), name="survey")
    hipparcos.crossmatch(tycho, "2 arcsec", name="pairs").matched("left", name="matched")
    nights = {"obs": [1, 2], "star": [1, 1], "mag": [1.1, 1.2], "mjd": [1.0, 2.0]}
    file = write_parquet(tmp_path / "detections.parquet", nights)
    detections = archive.ingest("detections", file, key="obs", population="detection")
    seen_bright = detections.lookup(bright, on="star", attributes=["vmag"], missing="drop", name="of_bright")
    seen_bright.first(by="star", order="mjd DESC", name="latest")
    curves = seen_bright.group("star", population="star", curve="collect(mag ORDER BY mjd)", name="curves")
    curves.explode("curve", population="point", name="points")
    near.having(detections, on="star", name="detected")
    condition, others = "parent.vmag < (SELECT avg(mag) FROM input_1)", [detections.definition]
    name_opaque(archive, "brighter", OpaqueSelection.of(hipparcos.definition, condition, others))
    text = "SELECT CAST(vmag AS INT) AS mag, count(*) AS n FROM input_1 GROUP BY 1"
    columns = [("mag", "int", True), ("n", "bigint", False)]
    name_opaque(archive, "counts", OpaqueQuery.of([bright.definition], text, columns))
    pretend_stored(near, ["dist_pc"], 10)
    pretend_stored(both, ["vmag", "plx", "dist_pc"], 11)
    found = archive.neighbourhood("hipparcos", depth=4).picture
    # where the files are differs from test to test
    nodes = tuple(replace(node, what=node.what.replace(f"{tmp_path}/", "")) for node in found.nodes)
    assert {node.kind for node in nodes} == set(CLASSES)
    golden("docs/pictures/lineage.svg", lineage_svg(replace(found, nodes=nodes)))
