"""Two or three catalogs compared: what is possible, region by region, and why."""

from itertools import combinations, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import provenn
from provenn.archive.relation import RELATIONS
from provenn.display import RegionState
from provenn.errors import ComparisonError, PopulationError, UnknownCatalogError
from tests.archive.samples import write_parquet
from tests.archive.test_truth import World
from tests.display.svg import parsed

pytestmark = pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")  # what is declared at random may empty


@pytest.fixture
def survey(archive, stars):
    bright = stars.select("vmag < 6", name="bright")
    stars.select("vmag < 5", name="brighter")
    stars.exclude(bright, name="faint")
    stars.select("dec > 0", name="north")
    return archive


def states(comparison):
    return {region.words: region.says for region in comparison.regions}


def test_each_region_must_be_empty_must_hold_something_or_is_unknown(survey):
    survey.declare("nonempty(brighter)")
    found = survey.compare("brighter", "bright", "north")
    assert found.names == ("brighter", "bright", "north")
    assert found.digests == tuple(survey[name].digest for name in found.names)
    assert states(found) == {
        "outside": "must hold something",
        "in north only": "unknown",
        "in bright only": "unknown",
        "in bright and north only": "unknown",
        "in brighter only": "must be empty",
        "in brighter and north only": "must be empty",
        "in brighter and bright only": "unknown",
        "in brighter, bright and north": "unknown",
    }
    assert found.regions[3].inside == (False, True, True)
    assert [(relation.left, relation.right, relation.summary) for relation in found.relations] == [
        ("brighter", "bright", "subset"),
        ("brighter", "north", "unknown"),
        ("bright", "north", "unknown"),
    ]
    survey.declare("disjoint(faint, north)")
    assert states(survey.compare("faint", "north"))["in faint and north"] == "must be empty"


def test_regions_name_the_declared_facts_they_rest_on(survey):
    """The proof of the pair needs no declared fact, and yet a region is empty by one."""
    survey.declare("disjoint(bright, brighter)", reason="a mistake")
    survey.declare("nonempty(north)")
    compared = survey.compare("bright", "brighter")
    assert compared.relations[0].rests_on == ()
    assert states(compared)["in bright and brighter"] == "must be empty"
    (fact,) = compared.rests_on
    assert str(fact.statement) == "disjoint(bright, brighter)"
    assert f"rests on {fact.words}" in str(compared)
    assert "a mistake" in compared._repr_html_()
    assert survey.compare("stars", "faint").rests_on == ()


def test_numbers_of_sources_decide_regions_that_facts_leave_open(survey):
    compared = survey.compare("bright", "brighter")
    assert states(compared)["in bright only"] == "unknown"
    for name in ("stars", "bright", "brighter"):
        survey[name].count()
    counted = survey.compare("bright", "brighter")
    table = survey["bright"].to_pandas()
    outer, inner = len(table), int((table["vmag"] < 5).sum())
    assert outer > inner > 0
    numbers = [region.sources for region in counted.regions]
    assert [None if rows is None else (rows.low, rows.high) for rows in numbers] == [
        None,
        (0, 0),
        (outer - inner, outer - inner),
        (inner, inner),
    ]
    assert states(counted)["in bright only"] == "must hold something"
    assert len(counted.hypercubes) == 1 < len(compared.hypercubes)
    assert counted.rests_on == ()
    assert f"in bright only: must hold something, {outer - inner} source" in str(counted)
    assert "in brighter only: must be empty\n" in str(counted)
    assert f"must hold something, {outer - inner} source" in counted._repr_html_()


def test_a_region_decided_by_numbers_names_the_declared_fact_behind_them(survey):
    assert 0 < survey["brighter"].count() < survey["bright"].count()
    survey.declare("north <= brighter")
    counted = survey.compare("bright", "north")
    assert states(counted)["in bright only"] == "must hold something"
    assert [str(fact.statement) for fact in counted.rests_on] == ["north <= brighter"]


def test_the_pairs_are_those_of_relate_reasons_and_hypercubes_included(survey):
    for three in combinations(["stars", "bright", "brighter", "faint", "north"], 3):
        found = survey.compare(*three)
        assert found.relations == tuple(survey.relate(*pair) for pair in combinations(three, 2))


def test_what_was_proved_is_kept(survey, monkeypatch):
    first = survey.compare("brighter", "bright", "faint")
    monkeypatch.setattr("provenn.logic.Knowledge.explain", None)
    monkeypatch.setattr("provenn.knowledge.proofs.keep_proof", None)
    assert survey.compare("brighter", "bright", "faint") == first


def test_a_catalog_may_be_named_twice(survey):
    alone = survey.compare("bright", "bright")
    assert alone.names == ("bright",)
    assert states(alone) == {"outside": "must hold something", "in bright": "unknown"}
    assert [relation.words for relation in alone.relations] == ["bright has the same sources as bright"]
    survey.name("bright", "shining")
    assert survey.compare("bright", "faint", "shining") == survey.compare("bright", "faint", survey["bright"])
    assert survey.compare("shining", "bright", "faint").names == ("shining", "faint")


def test_too_few_too_many_and_what_cannot_be_compared_is_told(survey, tmp_path):
    for which in ([], ["bright"], ["bright", "faint", "north", "stars"]):
        with pytest.raises(ComparisonError, match=f"two or three catalogs can be compared, not {len(which)}"):
            survey.compare(*which)
    survey.ingest("galaxies", write_parquet(tmp_path / "g.parquet", {"pgc": [1]}), key="pgc", population="galaxy")
    with pytest.raises(PopulationError, match="bright holds stars, galaxies holds galaxies"):
        survey.compare("bright", "faint", "galaxies")
    with pytest.raises(PopulationError):
        survey.relations("bright", ["faint", "galaxies"])
    with pytest.raises(UnknownCatalogError, match="did you mean bright"):
        survey.compare("bright", "brigt")


def test_it_shows_itself(survey):
    found = survey.compare("brighter", "bright")
    assert str(found) == (
        "brighter lies inside bright\n  outside: must hold something\n  in bright only: unknown, at most 5 sources\n"
        "  in brighter only: must be empty\n  in brighter and bright: unknown, at most 5 sources"
    )
    assert parsed(found.venn_svg())
    assert "<style" not in found.venn_svg(inline=True)
    shown = found._repr_html_()
    assert found.venn_svg(inline=True) in shown
    assert "in brighter only" in shown
    survey.name("bright", "<script>")
    assert "<script>" not in survey.compare("brighter", "<script>")._repr_html_()


def test_how_one_relates_to_many_is_what_relate_says_of_each(survey):
    others = ["stars", "bright", "brighter", "faint", "north", "bright"]
    found = survey.relations("bright", others)
    assert [one for one, _ in found] == survey.catalogs(others)
    assert [summary for _, summary in found] == [survey.relate("bright", other).summary for other in others]
    assert survey.relations("bright", []) == []


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One archive for all examples."""
    folder = tmp_path_factory.mktemp("compared")
    with provenn.open(folder) as archive:
        yield archive, folder


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_random_lineages_are_compared_as_all_hypercubes_say(shared, random):
    """Each region by brute force over the hypercubes that the whole knowledge allows, and on the data themselves."""
    archive, folder = shared
    world = World(archive, folder, random, 8)
    for _ in range(random.choice([0, 1, 2])):
        world.declare()
    knowledge = world.knowledge()
    for _ in range(4):
        some = random.sample(list(world.made.values()), min(len(world.made), random.choice([2, 3])))
        if len(some) < 2:
            continue
        labels = [one.digest for one in some]
        found = archive.compare(*(one.catalog for one in some))
        possible = knowledge.relationship(*labels)
        cubes = list(possible.arrays())
        assert {cube.tobytes() for cube in found.hypercubes.arrays()} == {cube.tobytes() for cube in cubes}
        everything = frozenset().union(*(one.sources for one in world.made.values())) | {-1}
        for region, index in zip(found.regions, product((0, 1), repeat=len(some)), strict=True):
            values = {bool(cube[index]) for cube in cubes}
            assert region.state == (
                RegionState.UNKNOWN
                if len(values) > 1
                else RegionState.INHABITED
                if True in values
                else RegionState.EMPTY
            )
            held = everything
            for one, inside in zip(some, index, strict=True):
                held = held & one.sources if inside else held - one.sources
            assert bool(held) in values, "the data are possible"
        for (left, right), relation in zip(combinations(labels, 2), found.relations, strict=True):
            proved = [name for name, said in RELATIONS.items() if knowledge.entails(said(left, right))]
            assert relation.summary == next(iter(proved), "unknown")
        summaries = archive.relations(some[0].catalog, [one.catalog for one in some[1:]])
        expected = [one.summary for one in found.relations if one.left == found.names[0]]
        assert [summary for _, summary in summaries] == expected
