"""Estimates from samples of rows: close for values of any spread, for several attributes, for terms and regions."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    DeriveAttributes,
    ExcludeSources,
    Files,
    RestrictSources,
    SelectSources,
    SqlCalculator,
)
from provenn.catalogs.extent import intersection, leaf
from provenn.criteria.domains import encode_double
from provenn.targets.costs import estimate_rows
from provenn.targets.literal import build_step
from provenn.targets.row_samples import RowSample
from provenn.targets.selectivity import estimate_kept_share
from tests.spark.oracle import Oracle
from tests.targets.scenes import sample_of, scene_of, stored

ROWS = 20_000
DRAWN = np.random.default_rng(7)
FLUX = DRAWN.lognormal(0, 3, ROWS)
STARS = {
    "id": range(ROWS),
    "flux": FLUX,
    "mag": [None if n % 20 == 0 else 25 - 2.5 * math.log10(flux) for n, flux in enumerate(FLUX)],
    "noise": [math.nan if n % 10 == 0 else value for n, value in enumerate(DRAWN.normal(size=ROWS))],
    "ra": DRAWN.uniform(0, 90, ROWS),
    "dec": DRAWN.uniform(-10, 10, ROWS),
    "word": DRAWN.choice(["star", "galaxy", "quasar"], ROWS, p=[0.9, 0.09, 0.01]),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Base:
    path = tmp_path_factory.mktemp("skewed") / "t.parquet"
    parquet.write_table(pa.table(STARS), path, row_group_size=5_000)
    return Base.of(Files.at(path), key="id", population="star")


def estimate(catalog: Catalog) -> float:
    return estimate_rows(scene_of(catalog), build_step(catalog))


def count(base: Base, catalog: Catalog) -> int:
    return Oracle({base.digest: pa.table(STARS)}).table(catalog).num_rows


def check(base: Base, catalog: Catalog, rows: int = 2_048) -> None:
    """The estimate lies within five standard deviations of what a sample of so many rows shows."""
    true = count(base, catalog)
    share = max(true / ROWS, 1 / rows)
    assert estimate(catalog) == pytest.approx(true, abs=5 * ROWS * math.sqrt(share / rows))


@pytest.mark.parametrize(
    "criterion",
    [
        "flux < 0.1", "flux > 1", "flux > 100", "mag < 20", "mag IS NULL", "NOT (mag < 20)", "noise > 1",
        "isnan(noise)",
        "mag < 22 AND flux > 1", "mag < 22 AND flux < 1", "mag < 22 OR noise > 0",
        "mag BETWEEN 24 AND 25 AND noise < 0",
        "word = 'galaxy'", "word <> 'star' AND mag < 24", "word IN ('quasar', 'galaxy')", "id < 2000",
        f"id IN ({', '.join(map(str, range(0, ROWS, 40)))})",
    ],
)  # fmt: skip
def test_comparisons_with_constants_are_estimated_from_all_rows(base, criterion):
    check(base, SelectSources.of(base, criterion))


@pytest.mark.parametrize(
    "criterion",
    [
        "mag - 25 < -2", "flux * 2 > 1", "log10(flux) > 0.5", "log10(flux) > 0.5 AND mag < 25", "pow(flux, 2) < 1",
        "sqrt(flux) < 1", "coalesce(mag, 0) < 20", "abs(noise) > 1", "flux > noise",
        "CASE WHEN word = 'star' THEN mag < 24 ELSE FALSE END", "in_cone(ra, dec, 45, 0, 8)",
        "in_box(ra, dec, 0, 30, 0, 10)",
        "in_cone(ra, dec, 45, 0, 20) AND mag < 24",
    ],
)  # fmt: skip
def test_terms_and_regions_are_estimated_from_some_rows(base, criterion):
    check(base, SelectSources.of(base, criterion), rows=256)


def test_derived_attributes_are_what_they_are_made_of(base):
    derived = DeriveAttributes.of(base, SqlCalculator.of({"b": "mag + 1", "c": "flux + 0"}))
    derived = DeriveAttributes.of(derived, SqlCalculator.of({"e": "b - c", "f": "b + 1"}))
    check(base, SelectSources.of(derived, "e > 20"), rows=256)
    check(base, SelectSources.of(derived, "f > 26 AND c < 3"), rows=256)


def test_what_depends_on_a_selection_is_estimated_on_it(base):
    bright = SelectSources.of(base, "mag < 24")
    check(base, SelectSources.of(bright, "flux > 1"))
    check(base, SelectSources.of(bright, "flux < 1"))
    faint = SelectSources.of(base, "flux < 3")
    check(base, ExcludeSources.of(bright, faint))
    check(base, RestrictSources.of(bright, faint))


def test_below_the_least_share_of_a_sample_statistics_count(base):
    rare = SelectSources.of(base, "flux > 1e5 AND noise > 3")
    assert 0 < estimate(rare) < ROWS / 2_048
    assert estimate(SelectSources.of(base, "mag > 1000")) == 0


def test_an_estimate_is_always_the_same(base):
    selected = SelectSources.of(base, "log10(flux) > 0.5 AND mag < 25")
    assert estimate(selected) == estimate(selected)


def test_what_no_sample_decides_is_guessed_as_before(base):
    """A condition on an attribute without a sample is independent of what the sample decides."""
    sample = sample_of(base)
    without = RowSample(
        base.extent, {name: keys for name, keys in sample.columns.items() if not name.endswith(":noise")}
    )
    selected = SelectSources.of(base, "flux > 1 AND noise + mag > 3")
    scene = replace(scene_of(selected), samples=(without,), sampled_conditions={}, estimates={})
    alone = SelectSources.of(base, "flux > 1")
    assert estimate_rows(scene, build_step(selected)) == pytest.approx(estimate(alone) / 3, rel=0.1)


def test_a_sample_of_a_fragment_knows_what_no_file_holds(base):
    """A calculator's values are only in fragments."""
    bright = SelectSources.of(base, "mag < 24")
    derived = DeriveAttributes.of(bright, SqlCalculator.of({"score": "flux * 0"}))
    identity = derived.schema["score"].identity
    keys = tuple(encode_double(float(n % 10)) for n in range(1_000))
    selected = SelectSources.of(derived, "score < 2")
    scan = stored(derived, rows=5_000)
    scene = replace(scene_of(selected, fragments=[scan]), samples=(RowSample(derived.extent, {identity: keys}),))
    (condition,) = (
        part for part in selected.extent.parts if part.digest not in {p.digest for p in derived.extent.parts}
    )
    assert estimate_kept_share(scene, condition, derived.extent) == pytest.approx(0.2)
    # The rows of the fragment say nothing about sources that are not among them.
    assert estimate_kept_share(scene, condition, base.extent) != pytest.approx(0.2)


def test_a_sample_of_other_sources_decides_nothing(base):
    sample = RowSample(leaf("f" * 64), sample_of(base).columns)
    selected = SelectSources.of(base, "word = 'quasar'")
    scene = replace(scene_of(selected), samples=(sample,), sampled_conditions={}, estimates={})
    assert estimate_rows(scene, build_step(selected)) == pytest.approx(ROWS / 3)


@pytest.mark.parametrize("keys", [("a", "b"), (), (None, None), (10**400, 3)])
def test_a_damaged_sample_harms_nothing(base, keys):
    selected = SelectSources.of(base, "mag < 24 AND flux + 1 < 3")
    columns = {attribute.identity: keys for attribute in base.schema.attributes}
    scene = replace(scene_of(selected), samples=(RowSample(base.extent, columns),), sampled_conditions={}, estimates={})
    assert 0 <= estimate_rows(scene, build_step(selected)) <= ROWS


def test_combined_catalogs_have_estimates(base):
    bright, near = SelectSources.of(base, "mag < 24"), SelectSources.of(base, "dec < 0")
    assert 0 < estimate(CombineAttributes.of(bright, near)) <= ROWS
    assert intersection([bright.extent, near.extent]).digest
