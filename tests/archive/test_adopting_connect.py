"""DataFrames of Spark Connect become the catalogs that the same programs give in a classic session."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest

import provenn
from provenn.errors import QueryError
from tests.spark.conftest import engine
from tests.spark.connect_programs import OPAQUE, PAIRS, PROGRAMS, REFUSED, TABLES
from tests.spark.connect_server import connect_server

__all__ = ["engine"]

pytestmark = pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")


@pytest.fixture(scope="module")
def places(engine, tmp_path_factory):
    """An archive with two tables, and the tables in a classic session and in one of a server."""
    from pyspark.sql import Window, functions  # noqa: PLC0415 - every process imports all test files
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("connect")
    classic = engine.session.newSession()
    classic.conf.set("spark.sql.session.timeZone", "UTC")
    for name, text in TABLES.items():
        classic.sql(text).coalesce(1).write.parquet(str(folder / f"{name}.parquet"))
    with (
        connect_server(folder) as url,
        provenn.open(folder / "shop", spark=engine.session, progress=False, who="ada") as archive,
    ):
        remote = SparkSession(url)
        remote.conf.set("spark.sql.session.timeZone", "UTC")
        archive.ingest("orders", folder / "orders.parquet", key="id", population="order")
        archive.ingest("customers", folder / "customers.parquet", key="number", population="customer")

        def list_tables(session, functions, window):
            frames = {name: session.read.parquet(str(folder / f"{name}.parquet")) for name in TABLES}
            return SimpleNamespace(session=session, f=functions, w=window, **frames)

        connect_functions = importlib.import_module("pyspark.sql.connect.functions")
        connect_window = importlib.import_module("pyspark.sql.connect.window").Window
        yield SimpleNamespace(
            archive=archive,
            remote=remote,
            classic=list_tables(classic, functions, Window),
            connect=list_tables(remote, connect_functions, connect_window),
        )
        remote.client.close()


def collect(catalog, names):
    columns = [catalog.to_arrow()[name].to_pylist() for name in names]
    return sorted(tuple(map(repr, row)) for row in zip(*columns, strict=True))


def check_rows(adopted, frame):
    assert collect(adopted, frame.columns) == sorted(tuple(map(repr, row)) for row in frame.collect())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_same_catalog_in_both_sessions(places, name):
    frame = PROGRAMS[name](places.connect)
    adopted, classic = places.archive.adopt(frame), places.archive.adopt(PROGRAMS[name](places.classic))
    if name not in OPAQUE and adopted.definition.digest != classic.definition.digest:
        assert places.archive.relate(adopted, classic).summary == "equal"
    assert adopted.definition.schema.names == classic.definition.schema.names
    check_rows(adopted, frame)


@pytest.mark.parametrize("name", PAIRS)
def test_a_program_gives_the_catalog_of_a_text(places, name):
    program, text = PAIRS[name]
    tables = places.connect
    for table in TABLES:
        getattr(tables, table).createOrReplaceTempView(f"known_{table}")
    frame = program(places.connect)
    adopted = places.archive.adopt(frame, tables={f"known_{table}": table for table in TABLES})
    assert places.archive.relate(adopted, places.archive.sql(text)).summary == "equal"
    check_rows(adopted, frame)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused_by_name(places, name):
    program, pattern = REFUSED[name]
    count = len(places.archive)
    with pytest.raises(QueryError, match=pattern):
        places.archive.adopt(program(places.connect), "refused")
    assert len(places.archive) == count


def test_a_view_is_a_given_catalog_or_refused(places):
    tables = places.connect
    tables.orders.where("price > 5").createOrReplaceTempView("expensive")
    for frame in (places.remote.table("expensive"), places.remote.sql("SELECT id FROM expensive")):
        with pytest.raises(QueryError, match=r"expensive`? is a view") as caught:
            places.archive.adopt(frame)
        assert 'tables={"expensive": "…"}' in caught.value.hint
    named = places.archive.adopt(tables.orders.where("price > 5"), "expensive_orders")
    adopted = places.archive.adopt(places.remote.table("expensive").where("id > 1"), tables={"expensive": named})
    assert places.archive.relate(adopted, named).summary == "subset"


@pytest.mark.parametrize(("name", "value"), [("spark.sql.ansi.enabled", "false"), ("spark.sql.caseSensitive", "true")])
def test_a_session_that_means_something_else_is_refused(places, name, value):
    tables = places.connect
    before = places.remote.conf.get(name)
    places.remote.conf.set(name, value)
    try:
        with pytest.raises(QueryError, match=f"{name}={value}"):
            places.archive.adopt(tables.orders)
    finally:
        places.remote.conf.set(name, before)


def test_moments_need_the_time_zone_of_provenn(places):
    tables = places.connect
    frame = tables.orders.select("id", tables.f.col("day").cast("timestamp").alias("moment"))
    assert places.archive.adopt(frame)
    places.remote.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        with pytest.raises(QueryError, match="time zone"):
            places.archive.adopt(frame)
        assert places.archive.adopt(tables.orders.where("id > 1"))
    finally:
        places.remote.conf.set("spark.sql.session.timeZone", "UTC")


def test_a_function_that_the_user_registers_is_refused(places):
    from pyspark.sql.types import StringType  # noqa: PLC0415 - every process imports all test files

    session = places.remote
    for name in ("soundex", "own_words"):
        session.udf.register(name, lambda text: text, StringType())
    try:
        with pytest.raises(QueryError, match=r"own_words\(\) is not a known function"):
            places.archive.adopt(places.connect.orders.selectExpr("id", "own_words(note)"))
        frame = places.connect.orders.where("soundex(note) = 'R300'")  # Spark's own function comes first
        check_rows(places.archive.adopt(frame), frame)
        assert frame.count() == 2
    finally:
        session.sql("DROP TEMPORARY FUNCTION soundex").collect()
        session.sql("DROP TEMPORARY FUNCTION own_words").collect()


def test_files_that_are_not_known_are_ingested_with_a_key(places, tmp_path):
    tables = places.connect
    tables.orders.select("id", "note").write.parquet(str(tmp_path / "notes.parquet"))
    frame = places.remote.read.parquet(str(tmp_path / "notes.parquet")).where("id > 2")
    with pytest.raises(QueryError, match=r"notes\.parquet are not known"):
        places.archive.adopt(frame)
    adopted = places.archive.adopt(frame, "late_notes", keys={"notes": "id"})
    assert places.archive.relate(adopted, "notes").summary == "subset"
    check_rows(adopted, frame)


def test_paths_of_another_machine_are_refused(places, monkeypatch):
    tables = places.connect
    monkeypatch.setattr(type(places.remote.client), "host", "cluster.example", raising=False)
    with pytest.raises(QueryError, match=r"on the machine cluster\.example"):
        places.archive.adopt(tables.orders)


def test_a_script_on_connect_is_watched(places):
    tables = places.connect
    with places.archive.watching(places.remote) as watched:
        dear_orders = tables.orders.where("price > 5")
        some_orders = tables.orders.sample(0.5)
        dear_orders.createOrReplaceTempView("dear_view")
    assert sorted(watched.catalogs) == ["dear_orders"]
    assert sorted(watched.refused) == ["dear_view", "some_orders"]
    del some_orders

    @places.archive.watch
    def cheap_orders():
        return tables.orders.where("price <= 5")

    cheap_orders()
    assert places.archive.relate("dear_orders", "cheap_orders").summary == "disjoint"
