"""The smaller side of a join is sent to the other one, by its known size; the rows are the same in any case."""

from itertools import product

import pytest

from provenn.catalogs import RestrictSources, SelectSources
from provenn.spark.row_operations import combine_frames, exclude_rows, restrict_rows
from provenn.targets import join_sizes
from provenn.targets.join_sizes import find_small_sides, is_small
from provenn.targets.literal import build_step
from provenn.targets.steps import Scan
from tests.targets.samples import BRIGHT, STARS
from tests.targets.scenes import scene_of, stored


def test_a_side_is_small_by_its_count():
    few, many = stored(BRIGHT, rows=1_000, number=1), stored(STARS, rows=50_000_000, number=2)
    scene = scene_of(STARS, BRIGHT, fragments=[few, many], rows={BRIGHT.extent.digest: 1_000})
    assert is_small(scene, few, 3)
    assert not is_small(scene, many, 1)
    assert find_small_sides(scene, [many, few], [2, 2]) == {1}
    assert find_small_sides(scene, [few, many], [2, 2]) == {0}


def test_the_largest_of_small_sides_is_not_sent():
    scene = scene_of(STARS, BRIGHT)
    sides = [stored(BRIGHT, rows=10, number=1), stored(STARS, rows=500, number=2), stored(STARS, rows=20, number=3)]
    assert find_small_sides(scene, sides, [1, 1, 1]) == {0, 2}


def test_an_estimate_that_may_be_far_too_low_sends_nothing(monkeypatch):
    scan = Scan(STARS)
    selected = build_step(SelectSources.of(STARS, "vmag = 3"))
    rows = {STARS.extent.digest: 1_000_000_000}
    assert not is_small(scene_of(STARS, rows=rows), scan, 1)
    monkeypatch.setattr(join_sizes, "_SENT_VALUES", 10**9)
    assert is_small(scene_of(STARS, rows=rows), selected, 1)
    monkeypatch.setattr(join_sizes, "_MISJUDGED", 0.5)
    assert not is_small(scene_of(STARS, rows=rows), selected, 1), "all of them may fulfil it"


@pytest.fixture(scope="module")
def frames(engine):
    session = engine.session
    left = session.createDataFrame([(1, "a"), (2, "b"), (3, None), (5, "e")], "k INT, x STRING")
    right = session.createDataFrame([(2, 2.0), (3, None), (4, 4.0)], "k INT, y DOUBLE")
    return left, right


def test_rows_do_not_depend_on_what_is_sent(frames):
    """Each way to send sides is a different join in Spark: inner or semi, hashed on either side, or sorted."""
    left, right = frames
    for small in ([], [0], [1], [0, 1]):
        assert sorted(restrict_rows(left, right, ["k"], small).collect()) == [(2, "b"), (3, None)]
        assert sorted(combine_frames([left, right], ["k"], small).collect()) == [(2, "b", 2.0), (3, None, None)]
    for is_few in (True, False):
        assert sorted(exclude_rows(left, right, ["k"], is_small=is_few).collect()) == [(1, "a"), (5, "e")]


def test_spark_sends_the_known_side(frames):
    left, right = frames
    sides = {frozenset({0}): "BuildLeft", frozenset({1}): "BuildRight"}
    for small, joined in product(sides, (restrict_rows, lambda a, b, key, sent: combine_frames([a, b], key, sent))):
        plan = joined(left, right, ["k"], small)._jdf.queryExecution().executedPlan().toString()
        assert "BroadcastHashJoin" in plan
        assert sides[small] in plan


def test_a_restriction_names_its_sides_in_order():
    scene = scene_of(STARS, BRIGHT, rows={BRIGHT.extent.digest: 5, STARS.extent.digest: 10**9})
    step = build_step(RestrictSources(STARS, BRIGHT))
    assert find_small_sides(scene, step.inputs, [3, 1]) == {1}
