"""Estimates from statistics of columns: close where values spread evenly, and always between bounds that hold."""

import math
from dataclasses import replace
from functools import reduce
from operator import xor
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Catalog, ExcludeSources, Files, SelectSources
from provenn.catalogs.extent import leaf
from provenn.display.row_counts import Rows
from provenn.targets.bounds import bound_answer_rows, bound_step_rows
from provenn.targets.costs import estimate_rows
from provenn.targets.literal import build_step, build_steps
from provenn.targets.selectivity import estimate_kept_share
from tests.spark.oracle import Oracle
from tests.targets.scenes import scene_of

EVEN = {
    "id": range(1000),
    "x": [None if n % 10 == 0 else n / 100 for n in range(1000)],
    "n": pa.array((n % 50 for n in range(1000)), pa.int32()),
    "d": pa.array((n % 250 for n in range(1000)), pa.date32()),
    "s": [None if n % 4 == 0 else f"star {n}" for n in range(1000)],
    "none": pa.array([None] * 1000, pa.float64()),
    "nan": [math.nan if n % 2 else n / 100 for n in range(1000)],
    "same": [5.0] * 1000,
}


def write_base(folder: Path, columns: dict, rows: int = 100) -> Base:
    parquet.write_table(pa.table(columns), folder / "t.parquet", row_group_size=rows)
    return Base.of(Files.at(folder / "t.parquet"), key="id", population="star")


def count_true(base: Base, catalog: Catalog, columns: dict) -> int:
    return Oracle({base.digest: pa.table(columns)}).table(catalog).num_rows


def shown(catalog: Catalog) -> Rows:
    return bound_answer_rows(scene_of(catalog), (build_step(catalog),))


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Base:
    return write_base(tmp_path_factory.mktemp("even"), EVEN)


@pytest.mark.parametrize(
    "criterion",
    [
        "x < 6", "x <= 0.01", "x between 2 and 3", "not (x < 6)", "x < 2 or x > 8", "x < 2 or n > 40",
        "x < 2 and n < 10",
        "n = 4", "n <> 4", "n in (3, 4, 7)", "n between 10 and 19", f"n in ({', '.join(map(str, range(0, 50, 2)))})",
        "d < date'1970-03-01'", "x is null", "x is not null", "s is null", "x is null or n < 5", "same = 5", "same < 5",
        "none is null", "none > 3", "x > 20", "x < -1",
    ],
)  # fmt: skip
def test_an_estimate_is_close_where_values_spread_evenly(base, criterion):
    selected = SelectSources.of(base, criterion)
    true = count_true(base, selected, EVEN)
    assert estimate_rows(scene_of(selected), build_step(selected)) == pytest.approx(true, abs=1)


def without_sample(base: Base) -> Base:
    return replace(base, files=replace(base.files, samples=()))


@pytest.mark.parametrize("criterion", ["x < 6", "x <= 0.1", "not (x < 6)", "n = 4", "n <> 4", "d < date'1970-03-01'"])
def test_without_a_sample_an_even_spread_is_moderated(base, criterion):
    """Moderated towards a third: neither an even spread nor a very uneven one is missed by far."""
    selected = SelectSources.of(without_sample(base), criterion)
    estimate = estimate_rows(scene_of(selected), build_step(selected)) / 900
    true = min(0.999, count_true(base, selected, EVEN) / 900)
    odds, estimated_odds = true / (1 - true), estimate / (1 - estimate)
    assert min(odds, 0.5) * 0.5 <= estimated_odds <= max(odds, 0.5) * 2


@pytest.mark.parametrize("criterion", ["x is null", "s is null", "same = 5", "none > 3", "x > 20", "x < -1", "x < 100"])
def test_without_a_sample_what_is_stated_is_not_moderated(base, criterion):
    selected = SelectSources.of(without_sample(base), criterion)
    true = count_true(base, selected, EVEN)
    assert estimate_rows(scene_of(selected), build_step(selected)) == pytest.approx(true)


def test_what_is_not_stated_is_a_third(base):
    for criterion in ("s < 'star 5'", "sin(x) < 0.1", "coalesce(x, 99) < 5"):
        selected = SelectSources.of(without_sample(base), criterion)
        assert estimate_rows(scene_of(selected), build_step(selected)) == pytest.approx(1000 / 3)


def test_nulls_bound_what_needs_a_value(base):
    assert shown(SelectSources.of(base, "x < 6")).high == 900
    assert shown(SelectSources.of(base, "x + n < 6")).high == 900
    assert shown(SelectSources.of(base, "s > 'a' and x < 6")).high == 750
    assert shown(SelectSources.of(base, "x is null and n < 3")).high == 100
    assert shown(SelectSources.of(base, "none > 3")) == Rows.exactly(0)
    assert shown(SelectSources.of(base, "x < 6 or n < 3")).high == 1000


def test_nulls_count_what_is_null(base):
    assert shown(SelectSources.of(base, "x is null")) == Rows.exactly(100)
    assert shown(SelectSources.of(base, "s is not null")) == Rows.exactly(750)


def test_a_term_is_null_more_often_than_its_parts(base):
    """A division by zero is NULL, so that the NULLs of x are too few for the NULLs of x / n."""
    for criterion in ("(x / n) is null", "(x / n) is not null"):
        selected = SelectSources.of(base, criterion)
        rows = shown(selected)
        assert rows.low <= count_true(base, selected, EVEN) <= rows.high
        assert not rows.is_exact


def test_values_of_an_estimate_are_no_bound(base):
    """NaN is above all numbers and is not in the statistics."""
    beyond = SelectSources.of(base, "nan > 100")
    assert count_true(base, beyond, EVEN) == 500
    assert shown(beyond).high == 1000


def test_files_known_by_metadata_alone_bound_nothing(tmp_path):
    parquet.write_table(pa.table(EVEN), tmp_path / "t.parquet")
    base = Base.of(Files.at(tmp_path / "t.parquet", trust="metadata"), key="id", population="star")
    assert shown(SelectSources.of(base, "x < 6")).high == 1000


def test_a_long_chain_of_exclusive_conditions_is_estimated_once(base):
    """A chain of XOR shares its parts: visited anew at each use, it would take years."""
    columns = ["x", "n", "same"]
    selected = SelectSources.of(base, " or ".join(f"{columns[n % 3]} = {n}" for n in range(30)))
    scene = scene_of(selected)
    chain = reduce(xor, map(leaf, scene.atoms))
    assert 0 <= estimate_kept_share(scene, chain, base.extent) <= 1


DOUBLES = st.sampled_from(
    [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, -5e-324, 1.0, 2.5, -3.0, 1.7e308, -1.7e308]
)
CRITERIA = st.sampled_from(
    ["{} < 1", "{} <= 0", "{} > 0", "{} = 0", "{} <> 1", "{} >= 2.5", "{} is null", "{} is not null", "not ({} < 1)",
     "{} in (1, 2, 3)", "{} + 1 > 2",
     "(x / {}) is null", "(x / {}) is not null", "(n / {}) < 2",
     "abs({}) < 2", "coalesce({}, 1) = 1", "{} between -1 and 1", "x < n and {} < 3"]
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("random")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_bounds_hold_and_every_estimate_lies_between_them(folder, data):
    size = data.draw(st.integers(0, 12))

    def draw(values: st.SearchStrategy) -> list:
        return data.draw(st.lists(st.none() | values, min_size=size, max_size=size))

    columns = {
        "id": pa.array(range(size), pa.int64()),
        "x": pa.array(draw(DOUBLES), pa.float64()),
        "n": pa.array(draw(st.integers(-3, 3)), pa.int64()),
        "none": pa.nulls(size, pa.float64()),
    }
    base = write_base(Path(mkdtemp(dir=folder)), columns, data.draw(st.integers(1, 12)))
    terms = st.builds(str.format, CRITERIA, st.sampled_from(["x", "n", "none"]))
    first = SelectSources.of(base, data.draw(terms))
    second = SelectSources.of(
        first, f"({data.draw(terms)}) {data.draw(st.sampled_from(['and', 'or']))} {data.draw(terms)}"
    )
    outside = ExcludeSources(base, second)
    scene = scene_of(first, second, outside)
    steps = build_steps(base, first, second, outside)
    for catalog in (first, second, outside):
        rows, true = bound_step_rows(scene, steps[catalog.digest]), count_true(base, catalog, columns)
        assert rows.low <= true <= rows.high
        assert rows.low <= rows.estimate <= rows.high
