"""Matches in lineages: the plan gives what the definitions say, and nothing is proved that the data refute."""

import math
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
    cone,
)
from provenn.errors import ProvennError
from provenn.logic import Statement, disjoint, empty, equal, nonempty, overlapping, subset
from provenn.targets.literal import build_step
from provenn.targets.steps import FragmentScan
from tests.catalogs.samples import base
from tests.spark.lineages import World, write_base
from tests.spark.oracle import Oracle
from tests.targets.samples import plan, scaled, shape
from tests.targets.scenes import known, stored
from tests.targets.test_equivalence import check

# Separations between these are all different, and none is near a radius, or near a number in a criterion.
STARS = {
    "k": pa.array(range(10)),
    "ra": pa.array([0.013, 359.98, 10.2, 10.2, None, 200.0, math.nan, 77.7, 301.0, 10.31]),
    "dec": pa.array([0.0, 0.1, 45.3, 45.3, 1.0, 89.97, 3.0, None, -91.0, 45.0]),
    "x": pa.array([1.0, None, 0.5, 4.0, 2.0, 3.0, 1.5, 2.5, math.nan, -1.0]),
}
GALAXIES = {
    "g": pa.array([f"g{number}" for number in range(8)]),
    "raj2000": pa.array([0.0, 359.93, 10.23, 10.2, 20.0, 123.0, None, 301.0]),
    "dej2000": pa.array([0.02, 0.0, 45.31, 45.3, 89.99, -89.2, 12.0, 91.0]),
    "y": pa.array([5, 3, None, 1, 2, 8, 4, 7], pa.int32()),
}
CRITERIA = (
    *("x > 1", "x < 3", "k < 6", "NOT (x > 1)", "x IS NULL", "z > 1", "y > 2", "y < 5", "g < 'g4'"),
    *(
        "separation < 150",
        "separation > 40",
        "separation > 40 AND x > 1",
        "separation < 400 OR y > 2",
        "z < 3 AND k > 1",
    ),
    *(
        "in_cone(ra, dec, 10.2, 45.2, 0.15)",
        "in_cone(ra, dec, 10, 45, 2)",
        "NOT in_cone(ra, dec, 0, 0, 0.09)",
        "in_box(ra, dec, 350, 20, -5, 50) AND x > 0",
        "NOT (in_box(ra, dec, 5, 50, 40, 50) AND x > 1)",
        "in_cone(raj2000, dej2000, 0, 0, 1) OR y > 4",
    ),
)
RADII = (30.0, 100.0, 299.0, 3000.0, 500_000.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("skies")


@st.composite
def cases(draw: st.DrawFn, folder: Path) -> tuple[World, list[Catalog], list[FragmentScan], list[Statement]]:
    """Two small skies; matches of them and of parts of them, parts of these matches; what is stored; what is true."""
    stars = write_base(folder, pa.table(STARS), key="k")
    galaxies = write_base(folder, pa.table(GALAXIES), key="g", population="galaxy")
    catalogs: list[Catalog] = [stars, galaxies]
    for _ in range(draw(st.integers(2, 9))):
        catalog, other_catalog = (draw(st.sampled_from(catalogs[-5:])) for _ in range(2))
        with suppress(ProvennError):  # what was drawn has no meaning
            catalogs.append(_next(draw, catalog, other_catalog, catalogs))
    requests = draw(st.lists(st.sampled_from(catalogs[::-1]), min_size=1, max_size=3))
    requests = [_asked(draw, catalog) for catalog in requests]
    fragments = []
    for number, catalog in enumerate(
        draw(st.lists(st.sampled_from(catalogs[2:] or catalogs), max_size=3, unique=True)), 1
    ):
        identities = st.lists(st.sampled_from(sorted(catalog.schema.by_identity)), unique=True)
        held = draw(st.one_of(st.none(), identities))
        fragments.append(stored(catalog, held, number=number, rows=draw(st.integers(1, 12))))
    world = World({stars.digest: pa.table(STARS), galaxies.digest: pa.table(GALAXIES)}, tuple(catalogs))
    chosen = draw(st.lists(st.sampled_from(catalogs), max_size=3, unique=True))
    return world, requests, fragments, _truths(Oracle(world.tables), chosen)


def _next(draw: st.DrawFn, catalog: Catalog, other: Catalog, catalogs: list[Catalog]) -> Catalog:
    verbs = ("match", "match", "match", "matched", "matched", "select", "select", "calculate", "derive", "sample")
    match draw(st.sampled_from((*verbs, "combine", "concat", "restrict", "exclude"))):
        case "match":
            radius, matches = draw(st.sampled_from(RADII)), draw(st.sampled_from(["best", "all", "mutual", 2, 3]))
            left, right = draw(st.permutations([catalog, draw(st.sampled_from(catalogs))]))
            limits = {"matches": matches, "min_radius": draw(st.sampled_from([None, None, 25.0]))}
            if "reach" in left.schema.names and draw(st.booleans()):
                return CrossMatch.of(left, right, "reach", max_radius=radius, **limits)
            return CrossMatch.of(left, right, radius, **limits)
        case "matched":
            pairs = [candidate for candidate in catalogs if "&" in candidate.population.name] or [catalog]
            return MatchedSources.of(draw(st.sampled_from(pairs)), draw(st.sampled_from(["left", "right"])))
        case "select":
            return SelectSources.of(catalog, draw(st.sampled_from(CRITERIA)))
        case "calculate":
            return scaled(catalog, "z", 0.5, "x" if "x" in catalog.schema.names else "separation")
        case "derive":
            if "x" in catalog.schema.names and draw(st.booleans()):
                return DeriveAttributes.of(catalog, SqlCalculator.of({"reach": "x * 97.3"}, {"reach": "arcsec"}))
            return DeriveAttributes.of(
                catalog, SqlCalculator.of({"d": "x * 2" if "x" in catalog.schema.names else "y + 1"})
            )
        case "sample":
            return SampleSources.of(catalog, 0.5, draw(st.integers(0, 1)))
        case "combine":
            return CombineAttributes.of(catalog, other)
        case "concat":
            return ConcatSources.of(catalog, other, overlap="first")
        case "restrict":
            return RestrictSources(catalog, other)
        case _:
            return ExcludeSources(catalog, other)


def _asked(draw: st.DrawFn, catalog: Catalog) -> Catalog:
    if draw(st.booleans()):
        return catalog
    return KeepAttributes.of(catalog, draw(st.lists(st.sampled_from(catalog.schema.names), unique=True)))


def _sources(oracle: Oracle, catalog: Catalog) -> frozenset[tuple[object, ...]]:
    table = oracle.table(catalog)
    return frozenset(zip(*(table.column(attribute.name).to_pylist() for attribute in catalog.schema.key), strict=True))


def _truths(oracle: Oracle, catalogs: list[Catalog]) -> list[Statement]:
    """Some of what the data say, as if it had been observed."""
    sources = {catalog: _sources(oracle, catalog) for catalog in catalogs}
    statements = [(nonempty if sources[catalog] else empty)(catalog.digest) for catalog in catalogs]
    alike = [
        equal(catalog.digest, other.digest)
        for catalog, other in combinations(catalogs, 2)
        if catalog.population == other.population and sources[catalog] == sources[other]
    ]
    return statements + alike


def _rounded(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Rows without the last digits of numbers: two libraries compute sines."""

    def short(value: object) -> object:
        with suppress(TypeError, ValueError):
            return f"{float(value) + 0.0:.9g}" if isinstance(value, str) else value
        return value

    return sorted((tuple(map(short, row)) for row in rows), key=repr)


@pytest.mark.parametrize(
    "examples", [pytest.param(2, id="quick"), pytest.param(1500, id="campaign", marks=pytest.mark.campaign)]
)
def test_the_rewritten_plan_gives_what_the_definition_says(engine, folder, examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases(folder))
    def check_one(case):
        check(engine, case, _rounded)

    check_one()


@pytest.mark.parametrize(
    "examples", [pytest.param(8, id="quick"), pytest.param(3000, id="campaign", marks=pytest.mark.campaign)]
)
def test_nothing_is_proved_that_the_data_refute(folder, examples):
    """From definitions alone, and with facts that are true."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases(folder))
    def check_one(case):
        world, _, _, facts = case
        oracle = Oracle(world.tables)
        knowledge = known(cone(*world.catalogs), facts).knowledge
        sources = {catalog: _sources(oracle, catalog) for catalog in world.catalogs}
        for catalog in world.catalogs:
            for other in world.catalogs:
                if catalog == other or catalog.population != other.population:
                    continue
                sources_of_catalog, sources_of_other, both = (
                    sources[catalog],
                    sources[other],
                    (catalog.digest, other.digest),
                )
                assert sources_of_catalog <= sources_of_other or not knowledge.entails(subset(*both))
                assert not sources_of_catalog & sources_of_other or not knowledge.entails(disjoint(*both))
                assert sources_of_catalog & sources_of_other or not knowledge.entails(overlapping(*both))

    check_one()


# --- what is known, and what is planned ---

SKY = {"hip": "bigint", "ra": "double", "dec": "double", "plx": "double"}
LEFT, RIGHT = base("hipparcos", SKY), base("tycho", SKY | {"bt": "double"})
SOUTH = SelectSources.of(LEFT, "dec < 0")


def proves(statement: Statement, *catalogs: Catalog) -> bool:
    return known(cone(*catalogs)).knowledge.entails(statement)


def matched(left: Catalog, right: Catalog, radius: float, side: str = "left", matches: str | int = "all") -> Catalog:
    return MatchedSources.of(CrossMatch.of(left, right, radius, matches=matches), side)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("matches", ["best", "all", "mutual", 3])
def test_matched_sources_are_a_subset_of_their_side(side, matches):
    matched_sources = matched(LEFT, RIGHT, 2, side, matches)
    parent = LEFT if side == "left" else RIGHT
    assert proves(subset(matched_sources.digest, parent.digest), matched_sources)
    assert not proves(subset(parent.digest, matched_sources.digest), matched_sources)
    assert matched_sources.schema == parent.schema
    assert matched_sources.population == parent.population


def test_what_nests_is_known_to():
    """Radii, the sources that are matched, and pairs themselves."""
    every, best, three = (matched(LEFT, RIGHT, 2, "left", which) for which in ("all", "best", 3))
    assert every.extent == best.extent == three.extent, "whoever has a neighbour has a nearest one"
    mutual = matched(LEFT, RIGHT, 2, "left", "mutual")
    assert proves(subset(mutual.digest, best.digest), mutual, best)
    assert not proves(subset(best.digest, mutual.digest), mutual, best)
    wide, south = matched(LEFT, RIGHT, 5), matched(SOUTH, RIGHT, 2)
    assert proves(subset(every.digest, wide.digest), every, wide)
    assert proves(subset(south.digest, every.digest), south, every)
    assert proves(subset(south.digest, wide.digest), south, wide)
    assert not proves(subset(wide.digest, every.digest), every, wide)
    right, nearest = matched(LEFT, RIGHT, 2, "right"), matched(LEFT, RIGHT, 2, "right", "best")
    assert proves(subset(nearest.digest, right.digest), nearest, right)
    assert not proves(subset(right.digest, nearest.digest), nearest, right)
    turned = matched(RIGHT, LEFT, 2, "left")
    assert proves(equal(turned.digest, right.digest), turned, right), "it is the same distance both ways"
    few, many, near = (CrossMatch.of(LEFT, RIGHT, r, matches=m) for r, m in ((2, "all"), (5, "all"), (2, "best")))
    far = CrossMatch.of(LEFT, RIGHT, 5)
    for part, whole in ((few, many), (near, few), (near, far), (near, many), (far, many)):
        assert proves(subset(part.digest, whole.digest), part, whole)
        assert not proves(subset(whole.digest, part.digest), part, whole)
    assert not proves(subset(far.digest, few.digest), far, few)


def test_other_positions_or_other_sources_to_match_with_say_nothing():
    narrow = matched(LEFT, SelectSources.of(RIGHT, "bt > 1"), 2)
    assert not proves(subset(narrow.digest, matched(LEFT, RIGHT, 2).digest), narrow, matched(LEFT, RIGHT, 2))
    swapped = MatchedSources.of(CrossMatch.of(LEFT, RIGHT, 2, on=(None, ("dec", "ra"))), "left")
    assert not proves(equal(swapped.digest, matched(LEFT, RIGHT, 2).digest), swapped, matched(LEFT, RIGHT, 2))


def test_only_what_is_needed_is_read_for_a_match():
    pairs = CrossMatch.of(LEFT, RIGHT, 2)
    step = build_step(KeepAttributes.of(pairs, ["bt"]))
    read = step.reads(frozenset({pairs.schema["bt"].identity}))
    assert read == (
        frozenset(LEFT.schema[name].identity for name in ("ra", "dec")),
        frozenset(RIGHT.schema[name].identity for name in ("ra", "dec", "bt")),
    )


def test_fragments_serve_inside_matches_and_for_them():
    costly = scaled(LEFT)
    pairs = CrossMatch.of(costly, RIGHT, 2)
    assert plan(pairs) == "match(calculate(scan), scan)"
    assert "reuse" in plan(pairs, fragments=[stored(costly)])
    assert plan(pairs, fragments=[stored(pairs)]) == "reuse"
    assert plan(SelectSources.of(pairs, "separation < 1"), fragments=[stored(pairs)]) == "select(reuse)"
    request = MatchedSources.of(pairs, "left")
    assert plan(KeepAttributes.of(request, ["ra"]), fragments=[stored(pairs)]) == "matched(scan, reuse)"
    assert plan(request) == "calculate(matched(scan, match(scan, scan)))", "only for those that are matched"


def test_what_is_not_selected_is_not_matched_twice():
    request = SelectSources.of(matched(LEFT, RIGHT, 2), "plx > 10")
    assert plan(request) == "matched(select(scan), match(scan, scan))"
    both = CombineAttributes.of(request, KeepAttributes.of(matched(LEFT, RIGHT, 2), ["plx"]))
    assert shape(build_step(both)).count("match(") == 2


def test_a_catalog_that_is_proved_empty_is_not_matched():
    request = SelectSources.of(matched(LEFT, RIGHT, 2), "plx > 10 AND plx < 5")
    assert plan(request) == "nothing"
