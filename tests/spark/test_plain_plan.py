"""Compiled catalogs hold what their definitions say, as DuckDB computes it from the definitions alone."""

import math
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
)
from provenn.spark.engine import Engine
from tests.spark.frames import comparable, computed, notes, parquet_leaf
from tests.spark.lineages import World, worlds, write_base
from tests.spark.oracle import Oracle, spark_hash, xxh64
from tests.spark.plain_plan import compile_catalog

NAN = math.nan


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("worlds")


def table(**columns: list[object]) -> pa.Table:
    """A table of integers, doubles and strings; magnitudes are in mag."""
    fields = {name: pa.array(values) for name, values in columns.items()}
    units = {name: {"unit": "mag", "description": f"the {name}"} for name in columns if name.endswith("mag")}
    return pa.table(fields, schema=pa.schema([pa.field(n, a.type, metadata=units.get(n)) for n, a in fields.items()]))


@pytest.fixture(scope="module")
def stars(folder) -> Base:
    data = table(hip=[1, 2, 3, 4, 5], vmag=[1.5, None, NAN, -0.0, 6.0], spect=["A0", "", None, "G2", "é"])
    return write_base(folder, data, key="hip", files=2)


@pytest.fixture(scope="module")
def more(folder) -> Base:
    data = table(id=[4, 5, 6, 7], vmag=[40.0, 50.0, None, 70.0], plx=[1, 2, 0, None])
    return write_base(folder, data, key="id")


def rows(engine: Engine, catalog: Catalog) -> list[tuple[object, ...]]:
    """The rows of a catalog, sorted; doubles as they are written."""
    (found,) = computed([catalog], parquet_leaf(engine.session))
    return found


# --- each class ---


def test_a_base_is_what_its_files_hold(engine, stars):
    assert rows(engine, stars) == [
        (1, "1.5", "A0"),
        (2, None, ""),
        (3, "nan", None),
        (4, "-0.0", "G2"),
        (5, "6.0", "é"),
    ]


SELECTED = {
    "vmag < 6": [1, 4],
    "vmag > 6": [3],
    "vmag = 0": [4],
    "vmag >= 0 AND vmag <= 0": [4],
    "vmag IS NULL": [2],
    "(vmag < 6) IS NOT TRUE": [2, 3, 5],
    "NOT (vmag < 6)": [3, 5],
    "isnan(vmag)": [3],
    "1 / (hip - 1) > 0": [2, 3, 4, 5],
    "FALSE": [],
}


def test_a_selection_keeps_the_sources_for_which_its_criterion_is_true(engine, stars):
    found = computed([SelectSources.of(stars, one) for one in SELECTED], parquet_leaf(engine.session))
    assert [[row[0] for row in one] for one in found] == list(SELECTED.values())


def test_a_restriction_keeps_what_the_other_holds_and_an_exclusion_the_rest(engine, stars, more):
    assert [row[0] for row in rows(engine, RestrictSources(stars, more))] == [4, 5]
    assert [row[0] for row in rows(engine, ExcludeSources(stars, more))] == [1, 2, 3]
    nobody = SelectSources.of(more, "plx > 100")
    assert rows(engine, RestrictSources(stars, nobody)) == []
    assert rows(engine, ExcludeSources(stars, nobody)) == rows(engine, stars)


def test_attributes_are_kept_in_the_order_asked_for_and_the_key_comes_first(engine, stars):
    assert rows(engine, KeepAttributes.of(stars, ["spect"]))[0] == (1, "A0")
    assert rows(engine, KeepAttributes.of(stars, ["spect", "hip"]))[0] == ("", 2)


def test_names_can_be_exchanged_and_the_key_is_the_key_under_any_name(engine, stars, more):
    swapped = RenameAttributes.of(stars, {"hip": "vmag", "vmag": "hip"})
    assert compile_catalog(swapped, parquet_leaf(engine.session)).columns == ["vmag", "hip", "spect"]
    assert [row[0] for row in rows(engine, RestrictSources(swapped, more))] == [4, 5]


def test_expressions_that_fail_on_a_value_are_null_there(engine, more):
    derived = DeriveAttributes.of(
        more, SqlCalculator.of({"far": "1 / plx", "V": "vmag", "big": "id * 4611686018427387904"})
    )
    assert [row[3:] for row in rows(engine, derived)] == [
        ("1.0", "40.0", None),
        ("0.5", "50.0", None),
        (None, None, None),
        (None, "70.0", None),
    ]


def test_another_name_for_a_column_keeps_its_unit(engine, stars):
    derived = DeriveAttributes.of(stars, SqlCalculator.of({"V": "vmag", "bright": "vmag - 1"}))
    frame = compile_catalog(derived, parquet_leaf(engine.session))
    assert frame.schema["V"].metadata == {"unit": "mag", "description": "the vmag"}
    assert frame.schema["bright"].metadata == {"unit": "mag"}


def test_a_combination_has_the_attributes_of_all_members_for_the_sources_of_all(engine, stars, more):
    other = RenameAttributes.of(more, {"vmag": "Vmag"})
    third = KeepAttributes.of(DeriveAttributes.of(stars, SqlCalculator.of({"n": "length(spect)"})), ["n"])
    made = CombineAttributes.of(stars, other, third)
    assert made.schema.names == ("hip", "vmag", "spect", "id", "Vmag", "plx", "n")
    assert rows(engine, made) == [(4, "-0.0", "G2", 4, "40.0", 1, 2), (5, "6.0", "é", 5, "50.0", 2, 1)]


def test_the_first_member_that_holds_a_source_gives_it(engine, stars, more):
    both = ConcatSources.of(stars, more, overlap="first")
    assert rows(engine, both) == [
        (1, "1.5"),
        (2, None),
        (3, "nan"),
        (4, "-0.0"),
        (5, "6.0"),
        (6, None),
        (7, "70.0"),
    ]
    again = ConcatSources.of(more, stars, more, overlap="first")
    assert [row[1] for row in rows(engine, again)] == ["1.5", None, "nan", "40.0", "50.0", None, "70.0"]


def test_a_source_that_several_members_hold_is_there_once(engine, stars):
    bright, faint = SelectSources.of(stars, "vmag < 6"), SelectSources.of(stars, "vmag >= 0")
    assert [row[0] for row in rows(engine, ConcatSources.of(bright, faint, bright))] == [1, 3, 4, 5]


def test_what_is_said_of_an_attribute_by_any_member_is_said_of_their_concatenation(engine, stars, folder):
    plain = write_base(folder, pa.table({"hip": [9], "vmag": [1.0]}), key="hip")
    made = ConcatSources.of(plain, stars, overlap="first")
    assert notes(made.schema["vmag"]) == {"description": "the vmag"}
    rows(engine, made)  # which compares the metadata


def test_a_catalog_that_is_given_is_not_made_from_others(engine, stars):
    bright = SelectSources.of(stars, "vmag < 6")
    read = parquet_leaf(engine.session)
    stored = compile_catalog(bright, read).limit(0)
    derived = DeriveAttributes.of(bright, SqlCalculator.of({"n": "hip + 1"}))
    found = compile_catalog(derived, lambda one: stored if one == bright else read(one))
    assert (found.columns, found.count()) == (["hip", "vmag", "spect", "n"], 0)


# --- samples ---


def test_xxhash64_of_the_oracle_has_the_values_of_its_specification():
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"abc") == 0x44BC2CF5AD770999
    assert xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1


@pytest.mark.parametrize(
    ("kinds", "values"),
    [
        (["bigint"], [(n,) for n in (0, 1, -1, 2**63 - 1, -(2**63))]),
        (["int"], [(n,) for n in (0, 1, -1, 2**31 - 1, -(2**31))]),
        (["smallint"], [(n,) for n in (0, -1, 2**15 - 1)]),
        (["string"], [("",), ("a",), ("é😀",), ("x" * 31,), ("x" * 32,), ("x" * 77,)]),
        (["string", "bigint"], [("", 1), ("a", -1)]),
    ],
    ids=lambda one: "-".join(one) if isinstance(one[0], str) else "",
)
def test_xxhash64_of_the_oracle_is_that_of_spark(engine, kinds, values):
    fields = ", ".join(f"c{n} {kind}" for n, kind in enumerate(kinds))
    frame = engine.session.createDataFrame(values, fields)
    columns = ", ".join(frame.columns)
    for *key, found in frame.selectExpr("*", f"xxhash64(CAST(-7 AS BIGINT), {columns}) AS found").collect():
        assert spark_hash([("bigint", -7), *zip(kinds, key, strict=True)]) == found % 2**64


def test_samples_nest_have_about_their_size_and_commute_with_selections(engine, folder):
    base = write_base(folder, pa.table({"hip": list(range(2000))}), key="hip")
    tenth, half, all_ = (SampleSources.of(base, fraction, seed=3) for fraction in (0.1, 0.5, 1))
    selected = SelectSources.of(half, "hip < 700")
    commuted = SampleSources.of(SelectSources.of(base, "hip < 700"), 0.5, seed=3)
    other = SampleSources.of(base, 0.5, seed=4)
    found = [set(one) for one in computed([tenth, half, all_, selected, commuted, other], parquet_leaf(engine.session))]
    assert found[0] < found[1] < found[2] == {(n,) for n in range(2000)}
    assert 150 < len(found[0]) < 250
    assert 900 < len(found[1]) < 1100
    assert found[3] == found[4] == {row for row in found[1] if row[0] < 700}
    assert 400 < len(found[1] & found[5]) < 600


# --- where it runs ---


def test_a_session_of_other_settings_beside_it_changes_nothing(engine, folder):
    """The meaning of literals, names and casts is that of the engine's session, whichever session is active."""
    moments = pa.array([1_580_515_200_000_000, 1_580_533_200_000_000], pa.timestamp("us", "UTC"))  # 00:00 and 05:00
    data = pa.table({"id": [1, 2], "x": ["7", "no"], "X": moments})
    base = write_base(folder, data, key="id")
    made = DeriveAttributes.of(
        SelectSources.of(base, "X >= TIMESTAMP '2020-02-01 00:00:00' AND X < '2020-02-01 01:00:00'"),
        SqlCalculator.of({"day": "CAST(X AS date)", "hour": "hour(X)", "n": "CAST(x AS int)", "slash": "'a\\\\b'"}),
    )
    beside = engine.session.newSession()
    java = engine.session._jvm.org.apache.spark.sql.classic.SparkSession
    active = java.getActiveSession()
    for name, value in {
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.caseSensitive": "false",
        "spark.sql.parser.escapedStringLiterals": "true",
    }.items():
        beside.conf.set(name, value)
    try:
        java.setActiveSession(beside._jsparkSession)
        assert java.active().conf().get("spark.sql.caseSensitive") == "false"
        frame = compile_catalog(made, parquet_leaf(engine.session))
        (found,) = frame.selectExpr("id", "CAST(day AS string)", "hour", "n", "slash").collect()
    finally:
        java.setActiveSession(active.get()) if active.isDefined() else java.clearActiveSession()
    assert tuple(found) == (1, "2020-02-01", 0, 7, "a\\b")


# --- depth ---


def test_long_lineages_compile(engine, stars):
    """Sixty steps deep."""
    step = lambda one, n: DeriveAttributes.of(one, SqlCalculator.of({f"n{n}": f"hip + {n}"}))  # noqa: E731
    deep = reduce(step, range(60), stars)
    assert len(rows(engine, deep)[0]) == 63


# --- random lineages ---


def check(engine: Engine, world: World) -> None:
    """Compare the last catalogs, which depend on all others, with DuckDB's."""
    oracle = Oracle(world.tables)
    found = computed(world.ends[-3:], parquet_leaf(engine.session))
    for one, its_rows in zip(world.ends[-3:], found, strict=True):
        assert its_rows == comparable(oracle.table(one)), one


@pytest.mark.parametrize(
    ("calculators", "examples"),
    [
        pytest.param(False, 6, id="sql"),
        pytest.param(True, 4, id="python"),
        pytest.param(False, 2000, id="sql campaign", marks=pytest.mark.campaign),
        pytest.param(True, 2000, id="python campaign", marks=pytest.mark.campaign),
    ],
)
def test_random_lineages_have_the_rows_and_values_that_duckdb_finds(engine, folder, calculators, examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(worlds(folder, calculators=calculators))
    def check_one(world):
        check(engine, world)

    check_one()
