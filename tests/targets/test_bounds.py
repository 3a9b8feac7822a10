"""Numbers of rows: every bound holds on random lineages, counts and fragments; the least one known cheaply is shown."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    ExcludeSources,
    KeepAttributes,
    RestrictSources,
    SelectSources,
    cone,
)
from provenn.display.row_counts import Rows
from provenn.logic import disjoint, subset
from provenn.targets.bounds import bound_answer_rows, bound_step_rows
from provenn.targets.literal import build_step, build_steps
from provenn.targets.rewriting import rewrite_plan
from provenn.targets.scene import Scene
from tests.catalogs.samples import base
from tests.spark.lineages import catalogs_on, worlds
from tests.spark.oracle import Oracle
from tests.targets.samples import BRIGHT, FAINT, NEAR, STARS, TYCHO, WITH_D
from tests.targets.scenes import needed, scene_of, stored


def known(catalog: Catalog, scene: Scene) -> Rows:
    """How many sources of a catalog are known, by both ways to compute it."""
    before = build_step(catalog)
    scene.note_definitions(before)
    return bound_answer_rows(scene, (before, rewrite_plan(before, needed(catalog), scene)[0]))


def counts(**numbers: int) -> dict[str, int]:
    named = {"stars": STARS, "bright": BRIGHT, "faint": FAINT, "near": NEAR, "tycho": TYCHO}
    return {named[name].extent.digest: number for name, number in numbers.items()}


def bounds(catalog: Catalog, *others: Catalog, **numbers: int) -> tuple[int, int | None]:
    found = known(catalog, scene_of(catalog, *others, rows=counts(**numbers)))
    return found.low, found.high


def test_a_selection_keeps_at_most_all():
    assert bounds(BRIGHT, stars=118_218) == (0, 118_218)


def test_an_intersection_has_at_most_as_many_as_its_smallest_member():
    """The files of both are read, but their sum bounds nothing: 118,218 and 22,951 are not 141,169."""
    joined = CombineAttributes.of(BRIGHT, TYCHO)
    assert bounds(joined, stars=118_218, tycho=22_951) == (0, 22_951)
    assert bounds(RestrictSources(STARS, TYCHO), stars=118_218, tycho=22_951) == (0, 22_951)
    assert bounds(CombineAttributes.of(SelectSources.of(BRIGHT, "plx > 1"), TYCHO), bright=40, tycho=100) == (0, 40)


def test_a_difference_keeps_at_least_what_the_other_cannot_take():
    assert bounds(ExcludeSources(STARS, TYCHO), stars=118_218, tycho=22_951) == (95_267, 118_218)


def test_a_union_has_at_most_the_sum_and_at_least_its_largest_member():
    union = ConcatSources.of(BRIGHT, NEAR)
    assert bounds(union, bright=10, near=20) == (20, 30)
    assert bounds(union, bright=10, near=20, stars=25) == (20, 25), "it lies in the stars"
    assert bounds(ConcatSources.of(BRIGHT, FAINT), bright=10, faint=20) == (30, 30), "they share no source"


def test_a_set_that_is_proved_to_hold_it_bounds_it_whatever_the_steps_are():
    brighter = SelectSources.of(SelectSources.of(STARS, "plx > 3"), "vmag < 5")
    assert bounds(brighter, BRIGHT, stars=1000, bright=70) == (0, 70)
    assert bounds(BRIGHT, brighter, stars=1000) == (0, 1000)
    scene = scene_of(BRIGHT, brighter, rows={brighter.extent.digest: 3, STARS.extent.digest: 1000})
    assert known(BRIGHT, scene).low == 3


def test_a_bound_never_rests_on_what_was_declared_beyond_what_the_steps_lean_on():
    scene = scene_of(NEAR, BRIGHT, facts=[subset(NEAR.digest, BRIGHT.digest)], rows=counts(stars=1000, bright=70))
    assert known(NEAR, scene).high == 1000


def test_bounds_that_a_wrong_declaration_makes_contradictory_are_not_shown():
    few = KeepAttributes.of(BRIGHT, ["hip"])
    union = ConcatSources.of(few, TYCHO)
    all_of_it = ConcatSources.of(union, base("other", {"hip": "bigint"}))
    facts, rows = [disjoint(BRIGHT.digest, TYCHO.digest)], counts(bright=10, tycho=20)
    assert known(union, scene_of(union, facts=facts, rows=rows)) == Rows.exactly(30)
    rows[all_of_it.extent.digest] = 25
    assert known(union, scene_of(union, all_of_it, facts=facts, rows=rows)) == Rows(20, 25, 25)


def test_what_is_counted_is_exact_and_what_nobody_can_tell_is_not_told():
    assert known(BRIGHT, scene_of(BRIGHT, rows=counts(bright=7))) == Rows.exactly(7)
    assert known(BRIGHT, scene_of(BRIGHT)) == Rows()
    assert (str(Rows()), Rows().bound) == ("", "not counted yet")


def test_a_fragment_has_the_rows_that_were_written():
    scene = scene_of(WITH_D, fragments=[stored(WITH_D, rows=12)])
    assert known(WITH_D, scene) == Rows.exactly(12)


def test_an_estimate_lies_between_the_bounds_and_is_marked():
    few = scene_of(RestrictSources(STARS, TYCHO), rows=counts(stars=1000, tycho=5))
    found = known(RestrictSources(STARS, TYCHO), few)
    assert found == Rows(0, 5, 5)
    assert (str(found), found.bound, found.with_noun("source")) == ("~5", "at most 5, ~5", "~5 sources")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("worlds")


@pytest.mark.parametrize(
    "examples", [pytest.param(8, id="quick"), pytest.param(3000, id="campaign", marks=pytest.mark.campaign)]
)
def test_every_bound_holds(folder, examples):
    """What DuckDB counts lies between the bounds, with any counts and fragments known before."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(data):
        world = data.draw(worlds(folder))
        one = data.draw(catalogs_on(world.catalogs))
        catalogs = [*world.catalogs, *([] if one is None else [one])]
        oracle = Oracle(world.tables)
        true = {catalog.digest: oracle.table(catalog).num_rows for catalog in catalogs}
        counted = data.draw(st.lists(st.sampled_from(catalogs), max_size=4, unique=True))
        kept = data.draw(st.lists(st.sampled_from(catalogs), max_size=2, unique=True))
        fragments = [stored(each, number=n, rows=true[each.digest]) for n, each in enumerate(kept, 1)]
        asked = catalogs[-1]
        rows = {each.extent.digest: true[each.digest] for each in counted}
        scene = scene_of(*catalogs, fragments=fragments, rows=rows)
        found = known(asked, scene)
        assert found.low <= true[asked.digest] <= (found.high if found.high is not None else true[asked.digest])
        for digest, step in build_steps(*cone(*catalogs)).items():
            shown = bound_step_rows(scene, step)
            if digest in true:
                assert shown.low <= true[digest]
                assert shown.high is None or true[digest] <= shown.high
            if shown.estimate is not None:
                assert shown.low <= shown.estimate
                assert shown.high is None or shown.estimate <= shown.high

    check()


def test_files_whose_rows_nobody_counted_bound_nothing():
    assert bounds(base("fresh", {"hip": "bigint", "x": "double"})) == (0, None)
