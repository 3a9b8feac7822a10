"""0.0 and -0.0 are one key: joins take them for equal, and no criterion, sample or match tells them apart."""

import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.errors import KeyValuesError
from tests.repetitions import repeat_a_few
from tests.spark.conftest import engine

__all__ = ["engine"]

LEFT, RIGHT = [0.0, 1.5, math.nan, -2.0], [-0.0, 1.5, math.nan, 7.0]
ASKED = {  # criteria, and the keys of which they are true, of those that both catalogs have
    # these tell 0.0 from -0.0 where an attribute has both
    "CAST(k AS STRING) = '0.0'": {"0.0"},
    "CAST(k AS STRING) = '-0.0'": set(),
    "pow(k, -1) > 0": {"0.0", "1.5", "nan"},
    "atan2(k, -1) > 0": {"0.0", "1.5", "nan"},
    "atan2(k, -1) < 0": set(),
    "concat('s', CAST(k AS STRING)) IN ('s0.0', 's1.5')": {"0.0", "1.5"},
    # these never do
    "k = 0": {"0.0"},
    "k >= 0": {"0.0", "1.5", "nan"},
    "k <= -0.0": {"0.0"},
    "k IN (0, 1.5)": {"0.0", "1.5"},
    "k = double('NaN')": {"nan"},
    "NOT (k < 0)": {"0.0", "1.5", "nan"},
}

FEW = ("CAST(k AS STRING) = '0.0'", "pow(k, -1) > 0", "atan2(k, -1) < 0", "k IN (0, 1.5)", "CAST(k AS STRING) = '-0.0'")
"""Criteria that are tried also outside of campaigns, one in each of `WAYS`; the first of either type of keys."""

WAYS = {  # catalogs of the sources of both, of which a criterion is true
    "combined": lambda left, right, text: left.combine(right).select(text),
    "combined the other way round": lambda left, right, text: right.combine(left).select(text),
    "restricted": lambda left, right, text: right.restrict(left).select(text),
    "selected before": lambda left, right, text: right.select(text).restrict(left),
    "selected on both sides": lambda left, right, text: left.select(text).restrict(right.select(text)),
}


def make_cases() -> Iterator[Any]:
    """Make a case of each type of keys, criterion and way.

    Outside of campaigns a few criteria are asked, each in one way, of both sorts.
    """
    for kind in ("double", "float"):
        for text, expected in ASKED.items():
            for number, way in enumerate(WAYS):
                is_quick = FEW[number] == text and (kind == "double" or text == FEW[0])
                yield pytest.param(
                    kind, way, text, expected, marks=[] if is_quick else pytest.mark.campaign, id=f"{kind}-{way}-{text}"
                )


@pytest.fixture(scope="module", params=["double", "float"])
def survey(request, engine, tmp_path_factory) -> Iterator[provenn.Archive]:
    """Two catalogs of the same sources, one of which has 0.0 as the key of a source, the other -0.0."""
    folder = tmp_path_factory.mktemp("zeros")
    kind = pa.float64() if request.param == "double" else pa.float32()
    with provenn.open(folder / "survey", spark=engine.session, progress=False) as opened:
        for name, keys in (("left", LEFT), ("right", RIGHT)):
            columns = {"k": pa.array(keys, kind), name: pa.array(range(4)), "ra": [0.0, 10.0, 20.0, 30.0]}
            parquet.write_table(pa.table(columns | {"dec": [1.0] * 4}), folder / f"{name}.parquet")
            opened.ingest(name, folder / f"{name}.parquet", key="k", population="star")
            opened[name].keep("k", name, name=f"own {name}")
        yield opened


def keys(catalog: provenn.Catalog) -> set[str]:
    return set(map(str, catalog.to_arrow()["k"].to_pylist()))


@pytest.mark.parametrize(("survey", "way", "text", "expected"), [*make_cases()], indirect=["survey"])
def test_a_criterion_on_the_key_keeps_the_source_on_both_sides_of_a_join(survey, way, text, expected):
    assert keys(WAYS[way](survey["own left"], survey["own right"], text)) == expected


@pytest.mark.parametrize(
    ("survey", "text", "expected"),
    [
        pytest.param(kind, *asked, marks=[] if kind == "double" and asked[0] == FEW[0] else pytest.mark.campaign)
        for kind in ("double", "float")
        for asked in ASKED.items()
    ],
    indirect=["survey"],
)
def test_a_criterion_on_the_key_excludes_the_source_of_the_other_catalog(survey, text, expected):
    assert not keys(survey["own left"].select(text).exclude(survey["own right"])) & expected


def test_what_is_stored_is_the_same_source(survey):
    stored = survey["own right"].select("k <= 2")
    stored.store()
    assert keys(stored.select("CAST(k AS STRING) = '0.0'")) == {"0.0"}
    assert keys(survey["own left"].combine(stored).select("pow(k, -1) > 0")) == {"0.0", "1.5"}


@pytest.mark.parametrize("seed", repeat_a_few(range(6), 1))
def test_a_sample_holds_the_source_of_both_catalogs_or_of_none(survey, seed):
    samples = [keys(survey[name].sample(0.5, seed=seed)) for name in ("own left", "own right")]
    assert samples[0] - {"-2.0"} == samples[1] - {"7.0"}


def test_pairs_of_the_source_are_pairs_with_one_key(survey):
    pairs = survey["left"].crossmatch(survey["right"], 1, matches="all")
    assert keys(pairs.select("CAST(k AS STRING) = CAST(k_2 AS STRING)")) == {"0.0", "1.5", "nan"}
    assert keys(pairs.matched("right").select("CAST(k AS STRING) = '0.0'")) == {"0.0"}


def test_an_attribute_that_is_no_key_keeps_its_sign(engine, tmp_path):
    parquet.write_table(pa.table({"k": [1, 2], "x": [0.0, -0.0]}), tmp_path / "a.parquet")
    with provenn.open(tmp_path / "survey", spark=engine.session, progress=False) as opened:
        stars = opened.ingest("stars", tmp_path / "a.parquet", key="k", population="star")
        assert stars.select("CAST(x AS STRING) = '-0.0'").to_arrow()["k"].to_pylist() == [2]


def test_both_in_one_catalog_are_a_key_that_occurs_twice(engine, tmp_path):
    parquet.write_table(pa.table({"k": [0.0, -0.0]}), tmp_path / "a.parquet")
    with provenn.open(tmp_path / "survey", spark=engine.session, progress=False) as opened:
        stars = opened.ingest("stars", tmp_path / "a.parquet", key="k", population="star")
        with pytest.raises(KeyValuesError, match=r"0\.0 \(2 times\)"):
            stars.count()
