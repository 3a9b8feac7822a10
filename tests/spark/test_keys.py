"""Keys are verified: how many rows there are, and what is told of keys that are NULL or occur twice."""

import math
import os
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from pyarrow import parquet
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.catalogs import Base, Files, key_values
from provenn.errors import FilesChangedError, KeyValuesError
from provenn.files.data_folder import DataFolder
from provenn.spark import keys
from provenn.spark.keys import verify_key


@pytest.fixture
def verify(engine, tmp_path):
    def verified(columns: dict, key: str | list[str] = "hip", **options) -> int:
        parquet.write_table(pa.table(columns), tmp_path / "a.parquet", **options)
        base = Base.of(Files.at(tmp_path / "a.parquet"), key=key, population=f"star {tuple(columns)}")
        return verify_key(engine, base, DataFolder.of(tmp_path / "data"))

    return verified


def test_good_keys_are_counted(verify):
    assert verify({"hip": [1, 2, 3], "x": [1, 1, 1]}) == 3
    assert verify({"hip": ["a", "A", "", " "]}) == 4
    assert verify({"hip": [1.5, math.nan, math.inf, 0.0]}) == 4
    assert verify({"night": [1, 1, 2], "star": ["a", "b", "a"], "x": [0, 0, 0]}, ["night", "star"]) == 3
    assert verify({"hip": pa.array([], pa.int64())}) == 0


def test_keys_that_are_null_are_counted(verify):
    with pytest.raises(KeyValuesError, match="2 of 4 rows have a NULL key") as caught:
        verify({"hip": [None, 2, None, 3]})
    assert "occur" not in str(caught.value)
    with pytest.raises(KeyValuesError, match="1 of 2 rows have a NULL key"):
        verify({"night": [1, 1], "star": ["a", None]}, ["night", "star"])


def test_keys_that_occur_twice_are_counted_and_some_are_shown(verify):
    with pytest.raises(KeyValuesError) as caught:
        verify({"hip": [7, 7, 7, 8, 8, 1, None]})
    assert caught.value.message.endswith(
        "1 of 7 rows have a NULL key; 2 keys occur more than once: 7 (3 times), 8 (2 times)"
    )
    assert "another key column" in caught.value.hint
    with pytest.raises(KeyValuesError, match=r"\(1, a\) \(2 times\)"):
        verify({"night": [1, 1], "star": ["a", "a"]}, ["night", "star"])


def test_of_many_only_some_are_shown(verify):
    with pytest.raises(KeyValuesError, match=r"1,000 keys occur more than once: 0 \(2 times\), 1 .*4 \(2 times\) …"):
        verify({"hip": [*range(1000), *range(1000)]})


@pytest.mark.parametrize("twice", [[math.nan, math.nan], [0.0, -0.0]])
def test_numbers_that_equal_themselves_in_joins_do_so_here(verify, twice):
    with pytest.raises(KeyValuesError, match="1 key occurs more than once"):
        verify({"hip": twice})


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.none() | st.integers(-70, 70) | st.integers(-(2**63), 2**63 - 1), max_size=12),
    st.booleans(),
)
def test_both_ways_of_counting_agree_with_python(verify, values, dense):
    """By bits and by groups; both are right for whatever numbers, one is faster where they lie close together."""
    known = [one for one in values if one is not None]
    good = len(known) == len(values) == len(set(known))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_is_dense", lambda _: dense)
        if good:
            assert verify({"hip": pa.array(values, pa.int64())}) == len(values)
        else:
            with pytest.raises(KeyValuesError) as caught:
                verify({"hip": pa.array(values, pa.int64())})
            repeated = len({one for one in known if known.count(one) > 1})
            noun = "key occurs" if repeated == 1 else "keys occur"
            assert (f"{repeated} {noun} more than once" in caught.value.message) == bool(repeated)
            assert (f"{len(values) - len(known)} of {len(values)} rows" in caught.value.message) == (known != values)


def test_numbers_that_lie_close_together_are_known_from_the_metadata(tmp_path):
    def dense(columns, key="hip", **options):
        parquet.write_table(pa.table(columns), tmp_path / "a.parquet", **options)
        return keys._is_dense(Base.of(Files.at(tmp_path / "a.parquet"), key=key, population="star"))

    assert dense({"hip": list(range(1000))}, row_group_size=100)
    assert not dense({"hip": [0, 2**60]})
    assert not dense({"hip": [1, 2]}, write_statistics=False)
    assert not dense({"hip": ["a", "b"]})
    assert not dense({"a": [1], "b": [1]}, ["a", "b"])
    assert not dense({"hip": pa.array([], pa.int64())})


def test_changed_files_are_not_verified(engine, tmp_path):
    parquet.write_table(pa.table({"hip": [1]}), tmp_path / "a.parquet")
    base = Base.of(Files.at(tmp_path / "a.parquet"), key="hip", population="star")
    parquet.write_table(pa.table({"hip": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(FilesChangedError):
        verify_key(engine, base, DataFolder.of(tmp_path / "data"))


def test_ingest_verifies_the_key_at_once_if_asked(engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parquet.write_table(pa.table({"hip": [1, 1], "row": [1, 2]}), "a.parquet")
    assert engine.session, "which the command uses too"
    run = CliRunner().invoke
    assert run(cli.app, ["init"]).exit_code == 0
    words = ["ingest", "stars", "a.parquet", "--population", "star", "--verify", "--key"]
    bad = run(cli.app, [*words, "hip"])
    assert isinstance(bad.exception, KeyValuesError) or bad.exit_code == 2
    assert "1 key occurs more than once: 1 (2 times)" in f"{bad.output} {bad.exception}"
    words[1] = "rows"
    assert run(cli.app, [*words, "row"]).exit_code == 0
    facts = run(cli.app, ["facts"]).output
    assert "2 rows read: the key row is unique and never NULL" in " ".join(facts.split())


# --- how often keys are read ---


def rows_read(engine, work) -> int:
    """How many rows Spark reads from files while it does some work."""
    context, tag = engine.session.sparkContext, uuid4().hex
    context.addJobTag(tag)
    try:
        work()
    finally:
        context.removeJobTag(tag)
    store = context._jsc.sc().statusStore()
    every = store.jobsList(None)
    jobs = [every.apply(number) for number in range(every.size())]
    mine = [job.stageIds() for job in jobs if tag in job.jobTags().mkString(",")]
    stages = {ids.apply(number) for ids in mine for number in range(ids.size())}
    return sum(map(partial(_records_read, store), stages))


def _records_read(store: Any, stage: int) -> int:
    try:
        return int(store.lastStageAttempt(stage).inputRecords())
    except Py4JJavaError:  # it was skipped, as another one had given the same
        return 0


@pytest.mark.skipif("PROVENN_TEST_SPARK" in os.environ, reason="Connect tells nothing of its stages")
@pytest.mark.parametrize("kind", [pa.string(), pa.int64()], ids=["groups", "bits"])
def test_keys_are_read_once_and_bad_ones_once_as_well(engine, tmp_path, kind):
    def base_of(values: list[int]) -> Base:
        table = pa.table({"hip": pa.array(values, pa.int64()).cast(kind)})
        parquet.write_table(table, tmp_path / "a.parquet", row_group_size=1_000)
        return Base.of(Files.at(tmp_path / "a.parquet"), key="hip", population=f"star {kind}")

    def verify(base: Base) -> None:
        with suppress(KeyValuesError):
            verify_key(engine, base, DataFolder.of(tmp_path / "data"))

    assert rows_read(engine, lambda: verify(base_of(list(range(10_000))))) == 10_000
    doubled = [*range(9_999), 5_000]
    again = 0 if kind == pa.string() else 3_000  # of whole numbers, row groups around what occurs twice
    assert rows_read(engine, lambda: verify(base_of(doubled))) == 10_000 + again


def test_most_bad_keys_are_found_before_spark_starts(tmp_path, monkeypatch):
    """The first million rows are enough for keys that are none; and for the others, the sample finds nothing wrong."""
    monkeypatch.setattr(key_values, "_SAMPLE", 1_000)
    for name, values in (("a", list(range(900))), ("b", [7, *range(900, 1_500)])):
        parquet.write_table(pa.table({"hip": values}), tmp_path / f"{name}.parquet")
    with provenn.open(tmp_path / "survey", spark="nowhere", progress=False) as archive:
        with pytest.raises(KeyValuesError, match=r"first 1,501 rows, 1 key occurs more than once: 7 \(2 times\)"):
            archive.ingest("stars", tmp_path / "*.parquet", key="hip", population="star")
        monkeypatch.setattr(key_values, "_SAMPLE", 900)
        assert archive.ingest("stars", tmp_path / "*.parquet", key="hip", population="star")


@pytest.mark.parametrize(
    ("columns", "key", "problem"),
    [
        ({"hip": [1, None, None]}, "hip", "2 of 3 rows have a NULL key"),
        ({"hip": [1.5, math.nan, math.nan]}, "hip", r"1 key occurs more than once: nan \(2 times\)"),
        ({"night": [1, 1], "hip": ["a", "a"]}, ["night", "hip"], r"\(1, a\) \(2 times\)"),
        ({"hip": [True, True, False]}, "hip", r"True \(2 times\)"),
    ],
)
def test_the_first_look_says_what_is_wrong(tmp_path, columns, key, problem):
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    base = Base.of(Files.at(tmp_path / "a.parquet"), key=key, population="star")
    with pytest.raises(KeyValuesError, match=problem):
        key_values.check_first_keys(base, base.files)


@pytest.mark.parametrize(
    ("first", "second", "rows"),
    [
        (pa.array([1], pa.int32()), pa.array([2], pa.uint16()), 2),
        (pa.array(["a"]), pa.array(["b"]).dictionary_encode(), 2),
        (pa.array(["a"]), pa.array(["b"], pa.large_string()), 2),
        (pa.array([1], pa.timestamp("us", "UTC")), pa.array([2], pa.timestamp("ns", "UTC")), None),
    ],
    ids=["numbers", "dictionary", "large texts", "moments"],
)
def test_the_first_look_compares_keys_that_files_store_in_different_types(tmp_path, first, second, rows):
    parquet.write_table(pa.table({"id": first}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"id": second}), tmp_path / "b.parquet")
    base = Base.of(Files.at(tmp_path), key="id", population="star")
    assert key_values.check_first_keys(base, base.files) == rows
    if rows is not None:
        parquet.write_table(pa.table({"id": second.take(pa.array([0, 0]))}), tmp_path / "b.parquet")
        with pytest.raises(KeyValuesError, match=r"1 key occurs more than once: .* \(2 times\)"):
            key_values.check_first_keys(base, base.files)


def test_the_first_look_reads_values_from_names_of_folders(tmp_path):
    for year in (2025, 2026):
        (tmp_path / f"year={year}").mkdir()
        parquet.write_table(pa.table({"hip": [1, 2]}), tmp_path / f"year={year}" / f"{year}.parquet")
    good = Base.of(Files.at(tmp_path), key=["hip", "year"], population="star")
    key_values.check_first_keys(good, good.files)
    bad = Base.of(Files.at(tmp_path), key=["hip"], population="star")
    with pytest.raises(KeyValuesError, match="2 keys occur more than once"):
        key_values.check_first_keys(bad, bad.files)
