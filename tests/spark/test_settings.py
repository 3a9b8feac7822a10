"""No setting of Spark changes an answer: neither of the user's session, nor of the Spark it runs on, nor of ours.

The settings are those that Spark itself knows, also the internal ones. In `make test` all are changed at once; in
`make campaign` also one by one.
"""

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs import Base, Catalog, DeriveAttributes, Files, RestrictSources, SampleSources, SelectSources
from provenn.catalogs.calculators import SqlCalculator
from provenn.errors import EngineError
from provenn.files.data_folder import DataFolder
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from provenn.spark.settings import PINNED, SETTINGS, decides_meaning, hold_settings
from tests.conftest import ROOT
from tests.spark.plain_plan import compile_catalog

KNOWN = {  # settings that change what Spark reads, writes or answers, with values that are not those of the engine
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.variable.substitute": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.legacy.literal.pickMinimumPrecision": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true",
    "spark.sql.legacy.followThreeValuedLogicInArrayExists": "false",
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.bangEqualsNot": "true",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.legacy.nullInEmptyListBehavior": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInRead": "LEGACY",
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.sources.partitionOverwriteMode": "DYNAMIC",
    "spark.sql.columnNameOfCorruptRecord": "n",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.icu.caseMappings.enabled": "false",
}
STARS, SEEN, DERIVED_STARS = range(3)  # places among the catalogs of the battery
NOTICED = {  # those that change what the battery below gives, where nothing holds them; and a catalog that shows it
    "spark.sql.ansi.enabled": DERIVED_STARS,
    "spark.sql.session.timeZone": DERIVED_STARS,
    "spark.sql.caseSensitive": STARS,
    "spark.sql.parser.escapedStringLiterals": DERIVED_STARS,
    "spark.sql.variable.substitute": DERIVED_STARS,
    "spark.sql.parquet.datetimeRebaseModeInRead": STARS,
    "spark.sql.columnNameOfCorruptRecord": SEEN,
}
DERIVED = {
    "quotient": "n / (n - 1)",
    "cast": "CAST(s AS int)",
    "day": "CAST(t AS date)",
    "hour": "hour(t)",
    "year": "year(d)",
    "price": "c * c / 3",
    "literal": "1.50 * c",
    "exponent": "n * 1e0",
    "upper": "upper(s)",
    "slash": "concat(s, 'a\\\\b', '${spark.app.name}')",
    "padded": "rpad(s, 8)",
    "first": "substring(s, 1, 2)",
    "sum": "n + 9223372036854775807",
    "whole": "floor(x)",
    "hash": "xxhash64(s, n, x)",
    "greatest": "greatest(x, 0.0)",
    "moment": "CAST('2020-07-01 12:00:00' AS timestamp)",
    "from text": "to_date(s)",
    "length": "length(s)",
}
CRITERIA = (
    "x > 5",
    "x < 0 OR x = 0",
    "s = 'Abc '",
    "s LIKE 'a\\\\_%' OR s RLIKE '^A'",
    "d < '1582-10-10'",
    "t >= '2020-02-01 00:00:00' AND t < '2020-02-01 05:00:00'",
    "c IN (1.10, 2.2, 3)",
    "X = 'upper'",
    "in_cone(ra, dec, 10, 20, 30)",
    "in_polygon(ra, dec, 0, 0, 40, 0, 40, 40, 0, 40)",
    "n + 1 IS NULL",
    "n NOT IN (1, NULL) OR " + " OR ".join(f"n BETWEEN {10 * one} AND {10 * one + 4}" for one in range(60)),
)


@pytest.fixture(scope="module")
def catalogs(tmp_path_factory) -> list[Catalog]:
    """Catalogs on values that settings treat in different ways, from Parquet and from CSV."""
    folder: Path = tmp_path_factory.mktemp("bases")
    moment = dt.datetime(2020, 2, 1, tzinfo=dt.UTC)
    columns = {
        "n": pa.array([1, 2, 3, 9_223_372_036_854_775_807, -1, 12], pa.int64()),
        "x": pa.array([float("nan"), -0.0, 0.0, 1e308, None, 5.5], pa.float64()),
        "s": pa.array(["Abc ", "abc", "a_%", "12", "ıİß", None]),
        "X": pa.array(["upper", "Upper", "", "'", '"', "\\"]),
        "d": pa.array([dt.date(1582, 10, 1), dt.date(1, 1, 1), dt.date(1582, 10, 20), *[dt.date(2020, 2, 1)] * 3]),
        "t": pa.array([moment + dt.timedelta(hours=3 * one) for one in range(6)], pa.timestamp("us", "UTC")),
        "c": pa.array([*map(Decimal, ("1.10", "2.20", "3.00", "99999999.99", "0.01", "-1.00"))], pa.decimal128(10, 2)),
        "ra": pa.array([10.0, 350.0, 20.0, 30.0, None, 0.0]),
        "dec": pa.array([20.0, 0.0, 30.0, -10.0, 1.0, 20.0]),
    }
    parquet.write_table(pa.table(columns), folder / "stars.parquet")
    (folder / "seen.csv").write_text(
        'n,day,at,word\n1,2020-01-31,2020-01-31 12:00:00,"a ""b"" c"\n2,1500-02-28,2020-07-01 00:30:00,\n12,,,""\n'
    )
    stars = Base.of(Files.at(folder / "stars.parquet"), key="n", population="star")
    seen = Base.of(Files.at(folder / "seen.csv"), key="n", population="star")
    return [
        stars,
        seen,
        DeriveAttributes.of(stars, SqlCalculator.of(DERIVED)),
        DeriveAttributes.of(seen, SqlCalculator.of({"hour": "hour(at)", "year": "year(day)"})),
        RestrictSources(stars, seen),
        SampleSources.of(stars, 0.5, seed=1),
        *(SelectSources.of(stars, text) for text in CRITERIA),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> DataFolder:
    return DataFolder.of(tmp_path_factory.mktemp("data"))


def answers(engine: Engine, catalogs: list[Catalog], folder: DataFolder) -> list[tuple[object, ...]]:
    """Return all rows of all catalogs, as texts, with the types of their columns; in one job."""

    def leaf(one: Catalog) -> DataFrame | None:
        return read_base(engine, one, folder) if isinstance(one, Base) else None

    frames = [compile_catalog(one, leaf) for one in catalogs]
    texts = [
        frame.select(
            sql.lit(number).alias("number"),
            sql.array(*(sql.col(f"`{name}`").cast("string") for name in frame.columns)).alias("values"),
        )
        for number, frame in enumerate(frames)
    ]
    types = [(number, str(frame.dtypes)) for number, frame in enumerate(frames)]
    rows = reduce(DataFrame.union, texts).collect()
    return [*types, *sorted(((row[0], repr(row[1])) for row in rows), key=repr)]


@pytest.fixture(scope="module")
def expected(engine, catalogs, folder) -> list[tuple[object, ...]]:
    return answers(engine, catalogs, folder)


def entries(engine: Engine) -> dict[str, str]:
    """Return the settings that Spark knows and lets be changed, with other values than they have by default."""
    module = getattr(getattr(engine.session._jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    others: dict[str, str] = {}
    found = module.getConfigEntries().iterator()
    while found.hasNext():
        entry = found.next()
        name, default = entry.key(), entry.defaultValueString()
        if not module.isStaticConfigKey(name) and default in ("true", "false"):
            others[name] = "false" if default == "true" else "true"
    return others | KNOWN


@contextmanager
def other_settings(engine: Engine, settings: dict[str, str]) -> Iterator[None]:
    """Change a session, as anybody may who has a DataFrame of it."""
    conf = engine.session._jsparkSession.sessionState().conf()
    before = dict(engine.session.conf.getAll)
    for name, value in settings.items():
        conf.setConfString(name, value)
    try:
        yield
    finally:
        for name in settings:
            conf.setConfString(name, before[name]) if name in before else conf.unsetConf(name)


@pytest.fixture
def not_held(monkeypatch) -> None:
    monkeypatch.setattr(Engine, "_hold", lambda *_: None)


@pytest.mark.usefixtures("not_held")
@pytest.mark.parametrize("name", NOTICED)
def test_the_battery_notices_a_setting_that_is_not_held(engine, catalogs, folder, expected, name):
    """Otherwise the other tests would prove nothing. One catalog of the battery that changes is enough."""
    place = NOTICED[name]
    with other_settings(engine, {name: KNOWN[name]}):
        try:
            changed = answers(engine, [catalogs[place]], folder)
        except PySparkException:
            return  # it fails, as in ANSI mode
    assert [answer[1:] for answer in changed] != [answer[1:] for answer in expected if answer[0] == place]


def test_all_settings_that_decide_meaning_at_once_change_nothing(engine, catalogs, folder, expected):
    """Changed in the session in which answers are computed, between two runs."""
    wrong = {name: value for name, value in entries(engine).items() if decides_meaning(name)}
    assert len(wrong) > 200
    with other_settings(engine, wrong):
        assert answers(engine, catalogs, folder) == expected
        assert {name: engine.session.conf.get(name) for name in SETTINGS} == SETTINGS


def test_a_spark_that_was_started_with_other_settings_gives_the_same_answers(engine, catalogs, folder, expected):
    """Sessions begin with the settings of the Spark they run on, as spark-defaults.conf or spark-submit say them."""
    shared = engine.session._jsparkSession.sharedState().conf()
    before = {name: shared.get(name, None) for name in KNOWN}
    try:
        for name, value in KNOWN.items():
            shared.set(name, value)
        theirs = engine.session.newSession()
        assert theirs.conf.get("spark.sql.ansi.enabled") == "true"
        with Engine(theirs) as ours:
            assert answers(ours, catalogs, folder) == expected
        assert theirs.conf.get("spark.sql.ansi.enabled") == "true", "theirs stays as it is"
    finally:
        for name, value in before.items():
            shared.remove(name) if value is None else shared.set(name, value)


@pytest.mark.campaign
def test_no_setting_changes_an_answer(engine, catalogs, folder, expected):
    """One by one, also of those that stay as the user has them: they decide how fast, and where, work is done."""
    for name, value in entries(engine).items():
        with other_settings(engine, {name: value}):
            assert answers(engine, catalogs, folder) == expected, name


def test_all_settings_that_do_not_decide_meaning_at_once_change_nothing(engine, catalogs, folder, expected):
    """They stay as the user has them."""
    kept = {name: value for name, value in entries(engine).items() if not decides_meaning(name)}
    assert len(kept) > 100
    with other_settings(engine, kept):
        assert answers(engine, catalogs, folder) == expected
        assert {name: engine.session.conf.get(name) for name in kept} == kept


def test_settings_that_do_not_decide_meaning_stay_as_they_are(engine):
    assert engine.session.conf.get("spark.sql.shuffle.partitions") == "4"
    kept = [name for name in entries(engine) if not decides_meaning(name)]
    assert not SETTINGS.keys() & set(kept)
    assert not [name for name in kept if name.startswith(("spark.sql.ansi.", "spark.sql.legacy.", "spark.sql.parser."))]


def test_all_settings_that_are_pinned_are_documented():
    text = (ROOT / "docs/how-to/choose-a-spark.md").read_text()
    assert [one.name for one in PINNED if f"| `{one.name}` | `{one.value}` | {one.reason} |" not in text] == []


class Fixed:
    """A session with a setting that an administrator has fixed."""

    getAll: ClassVar = {"spark.sql.ansi.enabled": "true"}  # noqa: N815 - as pyspark has it

    @property
    def conf(self) -> "Fixed":
        return self

    def set(self, name: str, value: str) -> None:
        raise ValueError(f"{name} cannot be {value}\nmore")


def test_a_setting_that_cannot_be_made_is_refused_by_name():
    with pytest.raises(
        EngineError, match=re.escape("does not allow spark.sql.ansi.enabled to be set to false: spark.sql")
    ):
        hold_settings(Fixed())
