"""DataFrames become catalogs: their leaves are found in the archive, and their sets are those of the same SQL."""

from __future__ import annotations

import contextlib
import warnings

import pytest

import provenn
from provenn.archive.query_answers import answer_query
from provenn.errors import BaseFilesError, FilesChangedError, ProvennError, ProvennWarning, QueryError
from tests.spark.conftest import engine

__all__ = ["engine"]

TABLES = {
    "orders": """SELECT * FROM VALUES (1, 10, 5.50, 'red'), (2, 10, 7.25, NULL), (3, 20, NULL, 'blue'),
        (4, NULL, 1.00, 'red'), (5, 20, 7.25, 'blue') AS t(id, customer, price, note)""",
    "customers": "SELECT * FROM VALUES (10, 'ann'), (20, 'bob'), (30, NULL) AS t(number, name)",
}


@pytest.fixture
def spark(engine):
    """A session of a user."""
    session = engine.session.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


@pytest.fixture
def archive(tmp_path, engine, spark):
    """An archive with orders, and customers beside it that it does not know."""
    for name, text in TABLES.items():
        spark.sql(text).coalesce(1).write.parquet(str(tmp_path / f"{name}.parquet"))
    with provenn.open(tmp_path / "shop", spark=engine.session, progress=False, who="ada") as opened:
        opened.ingest("orders", tmp_path / "orders.parquet", key="id", population="order")
        yield opened


@pytest.fixture
def orders(spark, tmp_path, archive):  # noqa: ARG001 - it writes the files
    return spark.read.parquet(str(tmp_path / "orders.parquet"))


@pytest.fixture
def customers(spark, tmp_path, archive):  # noqa: ARG001 - it writes the files
    return spark.read.parquet(str(tmp_path / "customers.parquet"))


def collect(catalog, *names):
    return sorted(zip(*(catalog.to_arrow()[name].to_pylist() for name in names), strict=True), key=repr)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM orders WHERE price > 5",
        "SELECT id, note FROM orders WHERE note = 'red' OR customer IN (10, 20)",
        "SELECT id, price + 1 AS more FROM orders WHERE NOT (price <= 5.5)",
        "SELECT note, count(*) AS n FROM orders WHERE price IS NOT NULL GROUP BY note",
        "SELECT a.id FROM orders a JOIN orders b ON a.id = b.id WHERE b.price > 5",
    ],
)
def test_plan_and_text_give_the_same_catalog(archive, orders, spark, text):
    orders.createOrReplaceTempView("orders")
    adopted, defined = archive.adopt(spark.sql(text)), archive.sql(text)
    assert adopted.definition.extent == defined.definition.extent
    assert archive.relate(adopted, defined).summary == "equal"
    names = spark.sql(text).columns
    assert collect(adopted, *names) == sorted((tuple(row) for row in spark.sql(text).collect()), key=repr)


def test_an_adopted_frame_is_related_to_what_it_is_made_from(archive, orders):
    archive.adopt(orders.where("price > 5"), "expensive")
    archive.adopt(orders.where("price > 6").select("id"), "dear")
    archive.adopt(orders.where("price <= 5"), "cheap")
    assert archive.relate("dear", "expensive").summary == "subset"
    assert archive.relate("cheap", "dear").summary == "disjoint"
    assert archive.relate("expensive", "orders").summary == "subset"


def test_files_that_are_not_known_need_a_key(archive, orders, customers):
    joined = orders.join(customers, orders.customer == customers.number, "left_semi")
    with pytest.raises(QueryError, match=r"customers\.parquet are not known") as caught:
        archive.adopt(joined, "theirs")
    assert 'keys={"customers": ["id"]}' in caught.value.hint
    assert len(archive) == 1
    theirs = archive.adopt(joined, "theirs", keys={"customers": "number"})
    assert archive.relate(theirs, "orders").summary == "subset"
    assert archive.catalog("customers").definition.population.name == "customers"
    assert collect(theirs, "id") == [(1,), (2,), (3,), (5,)]


def test_a_frame_that_cannot_be_read_ingests_nothing(archive, customers):
    with pytest.raises(QueryError, match="Sample"):
        archive.adopt(customers.sample(0.5), "some", keys={"customers": "number"})
    assert len(archive) == 1


def test_a_name_on_other_data_is_not_moved(archive, spark, tmp_path):
    spark.range(3).write.parquet(str(tmp_path / "elsewhere" / "orders.parquet"))
    other = spark.read.parquet(str(tmp_path / "elsewhere" / "orders.parquet"))
    with pytest.raises(QueryError, match="the name orders is on another catalog"):
        archive.adopt(other, keys={"orders": "id"})


def test_a_view_is_its_query_or_a_given_catalog(archive, orders, spark):
    orders.where("price > 5").createOrReplaceTempView("part")
    by_query = archive.adopt(spark.table("part"))
    assert archive.relate(by_query, "orders").summary == "subset"
    assert archive.relate(archive.adopt(spark.table("part"), tables={"part": "orders"}), "orders").summary == "equal"


def test_a_frame_of_provenn_is_recognised(archive, orders):
    few = archive.catalog("orders").select("price > 5", name="few")
    adopted = archive.adopt(few.to_spark().where("id > 1").select("id"), "fewer")
    assert archive.relate(adopted, few).summary == "subset"
    assert archive.relate(archive.adopt(few.to_spark()), few).summary == "equal"
    joined = archive.adopt(orders.join(few.to_spark(), "id", "left_semi"))
    assert archive.relate(joined, few).summary == "equal"


def test_a_target_must_be_a_catalog_first(archive):
    target = archive.target("orders", ["note"], where="price > 5")
    with pytest.raises(QueryError, match="not a catalog") as caught:
        archive.adopt(target.to_spark())
    assert "target.catalog()" in caught.value.hint
    catalog = target.catalog("notes")
    assert archive.relate(archive.adopt(target.to_spark()), catalog).summary == "equal"


def test_a_limit_counts(archive, orders):
    with pytest.warns(ProvennWarning, match="LIMIT"):
        first = archive.adopt(orders.orderBy("id").limit(2), "first")
    assert archive.relate(first, "orders").summary == "subset"
    assert collect(first, "id") == [(1,), (2,)]


def test_files_that_changed_are_noticed(archive, orders, tmp_path):
    for file in (tmp_path / "orders.parquet").glob("part-*"):
        file.write_bytes(file.read_bytes()[:-50] + bytes(50))
    with pytest.raises(FilesChangedError):
        archive.adopt(orders)


def test_other_files_are_not_the_catalog(archive, spark, tmp_path):
    spark.range(1).selectExpr("CAST(9 AS INT) AS id").write.mode("append").parquet(str(tmp_path / "orders.parquet"))
    with pytest.raises(QueryError, match="not known"):
        archive.adopt(spark.read.parquet(str(tmp_path / "orders.parquet")))


def test_another_type_than_that_of_the_catalog_is_refused(archive, spark, tmp_path):
    read = spark.read.schema("id INT, note STRING, price DECIMAL(9,2)").parquet(str(tmp_path / "orders.parquet"))
    with pytest.raises(QueryError, match=r"reads price as decimal\(9,2\)"):
        archive.adopt(read)
    narrow = spark.read.schema("id INT, note STRING").parquet(str(tmp_path / "orders.parquet"))
    assert archive.relate(archive.adopt(narrow), "orders").summary == "equal"


def test_texts_are_compared_only_if_the_caller_says_so(archive, spark, tmp_path):
    (tmp_path / "notes.csv").write_text("id,text\n1,a\n2,\n")
    archive.ingest("notes", tmp_path / "notes.csv", key="id", population="note")
    notes = spark.read.csv(str(tmp_path / "notes.csv"), header=True, schema="id BIGINT, text STRING")
    with pytest.raises(QueryError, match="cannot be compared"):
        archive.adopt(notes)
    adopted = archive.adopt(notes.where("id > 1"), tables={str(tmp_path / "notes.csv"): "notes"})
    assert archive.relate(adopted, "notes").summary == "subset"


def test_what_is_no_frame_of_spark_is_refused(archive, orders):
    with pytest.raises(QueryError, match="got a pandas"):
        archive.adopt(orders.toPandas())
    with pytest.raises(BaseFilesError, match="a Spark DataFrame") as caught:
        archive.ingest("orders_again", orders, key="id", population="order")
    assert "archive.adopt" in caught.value.hint


def test_a_watched_body_gives_its_variables_and_views(archive, orders, spark):
    kept = orders.where("id = 1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProvennWarning)
        with archive.watching(spark) as watched:
            expensive = orders.where("price > 5")
            _hidden = orders.where("price > 7")
            arbitrary = orders.dropDuplicates(["note"])
            expensive.select("id").createOrReplaceTempView("expensive_ids")
    assert sorted(watched.catalogs) == ["expensive", "expensive_ids"]
    assert list(watched.refused) == ["arbitrary"]
    assert archive.relate("expensive", "expensive_ids").summary == "equal"
    del kept, arbitrary


def test_a_watched_body_that_raises_leaves_nothing(archive, orders, spark):
    with contextlib.suppress(ZeroDivisionError), archive.watching(spark):
        expensive = orders.where("price > 5")
        assert expensive.count() / 0
    assert len(archive) == 1


def test_a_watched_function_returns_what_it_returns(archive, orders):
    @archive.watch
    def expensive(least):
        return orders.where(f"price > {least}")

    @archive.watch(tables={})
    def halves():
        return {"low": orders.where("id <= 2"), "high": orders.where("id > 2"), "number": 5}

    @archive.watch
    def pair():
        return orders.where("id = 1"), orders.where("id = 2")

    assert expensive(5).count() == 3
    assert halves()["number"] == 5
    pair()
    assert archive.relate("expensive", "orders").summary == "subset"
    assert archive.relate("low", "high").summary == "disjoint"
    assert archive.relate("pair_1", "pair_2").summary == "disjoint"


def test_an_archive_that_can_only_be_read_answers_queries_and_defines_nothing(tmp_path, engine, orders, monkeypatch):
    monkeypatch.setattr("provenn.database.connecting.is_sqlite_read_only", lambda _path: True)
    with provenn.open(tmp_path / "shop", spark=engine.session, progress=False, who="ada") as opened:
        rows = answer_query(opened, "SELECT id FROM orders WHERE price > 5 ORDER BY id DESC").collect()
        assert rows["id"].tolist() == [5, 2, 1]
        for define in (
            lambda: opened.sql("SELECT id FROM orders WHERE price > 5", name="expensive"),
            lambda: opened.adopt(orders.where("price > 5"), "expensive"),
        ):
            with pytest.raises(ProvennError, match="read-only") as caught:
                define()
            assert "no such" not in str(caught.value)
        assert len(opened) == 1
