"""Lineages whose catalogs use the one before them twice: plans stay small, or it is said why they cannot."""

from itertools import pairwise

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.catalogs.extent import leaf, union
from provenn.errors import TargetError
from provenn.targets import sizes
from provenn.targets.conditions import write_condition_sql
from provenn.targets.sizes import is_inflated, measure_written_size
from provenn.targets.steps import Select, walk_steps

ROWS = 64
LEVELS = 6


@pytest.fixture(scope="module")
def archive(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    # x0 to x5 are the digits of the number of a row; some values are missing.
    digits = {f"x{n}": [None if row == 9 else float(row >> n & 1) for row in range(ROWS)] for n in range(LEVELS)}
    parquet.write_table(pa.table({"id": range(ROWS), **digits}), folder / "stars.parquet")
    master = engine.session.sparkContext.master
    with provenn.open(folder / "survey", spark=master, progress=False, who="ada") as opened:
        opened.ingest("stars", folder / "stars.parquet", key="id", population="star")
        yield opened


def odd_catalog(archive, levels):
    """Return the sources for which an odd number of criteria holds: each catalog uses the one before it twice."""
    stars = archive["stars"]
    odd = stars.select("x0 > 0.5")
    for level in range(1, levels):
        other = stars.select(f"x{level % LEVELS} > {0.5 - level // LEVELS / 100}")
        odd = odd.exclude(other).concat(other.exclude(odd))
    return odd


def longest_condition(plan):
    return max(
        len(write_condition_sql(plan.scene, step)) for step in walk_steps(plan.after) if isinstance(step, Select)
    )


def test_a_set_that_uses_the_one_before_it_twice_doubles_when_it_is_written_out():
    extent, sizes_seen = leaf("0"), []
    for level in range(1, 100):
        extent ^= leaf(str(level))
        sizes_seen.append(measure_written_size(extent))
    written, different = zip(*sizes_seen, strict=True)
    assert all(later > 2 * earlier for earlier, later in pairwise(written))
    assert different[-1] < 500
    assert is_inflated(extent)
    assert is_inflated(~extent)


def test_a_set_that_is_long_by_definition_is_no_problem():
    assert not is_inflated(union(leaf(str(number)) for number in range(50_000)))


def test_without_a_limit_the_condition_doubles_with_every_catalog(archive, monkeypatch):
    monkeypatch.setattr(sizes, "MOST_WRITTEN", 10**9)
    lengths = [longest_condition(archive.target(odd_catalog(archive, n), ["id"]).plan()) for n in (3, 4, 5, 6)]
    assert all(later > 1.9 * earlier for earlier, later in pairwise(lengths))


@pytest.mark.parametrize("limit", [1, 20, 60, 1000])
def test_a_plan_that_does_without_the_long_condition_gives_the_same_sources(archive, monkeypatch, limit):
    monkeypatch.setattr(sizes, "GROWTH", 1)
    monkeypatch.setattr(sizes, "MOST_WRITTEN", limit)
    target = archive.target(odd_catalog(archive, LEVELS - 1), ["id"], keep="never")
    if limit < 1000:
        assert not all(isinstance(step, Select) or not step.inputs for step in walk_steps(target.plan().after))
    expected = [row for row in range(ROWS) if row != 9 and (row & (ROWS // 2 - 1)).bit_count() % 2]
    assert sorted(target.to_arrow().column("id").to_pylist()) == expected


def test_a_plan_that_would_be_too_long_is_refused_with_the_name_of_the_catalog(archive, monkeypatch):
    monkeypatch.setattr(sizes, "MOST_WRITTEN", 30)
    monkeypatch.setattr(sizes, "MOST_PLANNED", 300)
    archive.name(odd_catalog(archive, 12), "odd")
    with pytest.raises(TargetError, match=r"odd cannot be computed: .* used repeatedly") as caught:
        archive.target("odd", ["id"])
    assert "ingest the file" in caught.value.hint
    assert archive.relate("odd", "stars").summary == "subset", "what is known of it is known all the same"
