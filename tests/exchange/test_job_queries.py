"""Datasets whose job states its SQL: exact where the statement says which rows they hold, and as before elsewhere."""

import pytest

from provenn.exchange import import_lineage
from tests.exchange.emitters import AIRFLOW, DBT, POSTGRES, SPARK, make_event, make_table
from tests.exchange.pipelines import events_file
from tests.exchange.test_import import archive, empty

__all__ = ["archive", "empty"]

ORDERS = "order_id bigint, customer_id bigint, status string, total double"
KEY = {"key": "order_id", "population": "order"}
PAID = "SELECT order_id, total FROM shop.orders WHERE status = 'paid'"


def table(name, columns="", **options):
    return make_table(POSTGRES, f"warehouse.shop.{name}", columns, **options)


def event(query, output="paid", columns="order_id bigint, total double", inputs=None, producer=AIRFLOW, **options):
    read = [table("orders", ORDERS)] if inputs is None else inputs
    return make_event(producer, f"load_{output}", query, read, table(output, columns), **options)


def read(archive, *events, **options):
    done = import_lineage(archive, events_file(*events), **KEY, **options)
    return {catalog.dataset.rpartition(".")[2]: (catalog.how, catalog.missing) for catalog in done.catalogs}


def relate(archive, left, right):
    return archive.relate(f"warehouse.shop.{left}", f"warehouse.shop.{right}").summary


# --- what emitters send ---


def test_a_table_that_airflow_creates_is_exact(archive):
    done = read(archive, event(f"CREATE TABLE shop.paid AS {PAID}"))
    assert done == {"orders": ("base", ""), "paid": ("exact", "")}
    archive["warehouse.shop.orders"].select("status = 'paid'", name="mine")
    assert archive.relate("warehouse.shop.paid", "mine").summary == "equal"


def test_without_its_sql_the_same_table_is_a_set_of_its_own(archive):
    assert read(archive, event(None))["paid"] == ("base", "there is no column lineage")
    archive["warehouse.shop.orders"].select("status = 'paid'", name="mine")
    assert archive.relate("warehouse.shop.paid", "mine").summary == "unknown"


def test_spark_names_tables_by_paths_and_says_which_tables_they_are(archive):
    orders = make_table("s3://lake", "warehouse/orders", ORDERS, symlink="shop.orders")
    columns = "order_id bigint, total double"
    large = make_table("s3://lake", "warehouse/large", columns, symlink="shop.large")
    paid = make_table("s3://lake", "warehouse/paid", columns, symlink="shop.paid")
    start = make_event(
        SPARK, "a", f"CREATE TABLE spark_catalog.shop.paid USING parquet AS {PAID}", [orders], paid, state="START"
    )
    events = [
        start,
        start | {"eventType": "COMPLETE"},
        make_event(
            SPARK,
            "b",
            f"CREATE OR REPLACE TABLE shop.large USING parquet AS {PAID} AND total > 100",
            [orders],
            large,
        ),
    ]
    assert {how for how, _ in read(archive, *events).values()} == {"base", "exact"}
    assert archive.relate("warehouse/large", "warehouse/paid").summary == "subset"


def test_an_overwritten_table_may_keep_partitions_so_that_exact_must_be_said(archive):
    overwriting = event(f"INSERT OVERWRITE TABLE shop.paid {PAID}")
    how, missing = read(archive, overwriting)["paid"]
    assert (how, missing.rpartition(": ")[2]) == (
        "base",
        "it does not say that the dataset holds no other rows, nor does --exact",
    )
    assert read(archive, overwriting, exact=True, prefix="exact ")["paid"] == ("exact", "")


def test_dbt_states_the_query_of_a_model_alone_so_that_exact_must_be_said(archive):
    """A model may be incremental, and its query that of the increment."""
    model = event('select * from "warehouse"."shop"."orders" where total > 100', "large", ORDERS, producer=DBT)
    how, missing = read(archive, model)["large"]
    assert how == "base"
    assert missing.endswith(
        "its SQL is not used: it does not say that the dataset holds no other rows, nor does --exact"
    )
    assert read(archive, model, exact=True, prefix="exact ")["large"] == ("exact", "")
    archive["exact warehouse.shop.orders"].select("total > 50", name="above 50")
    assert archive.relate("exact warehouse.shop.large", "above 50").summary == "subset"


def test_models_that_are_made_from_models_are_related_through_both(archive):
    first = event(f"CREATE VIEW shop.paid AS {PAID}")
    second = event(
        "CREATE TABLE shop.large AS SELECT * FROM paid WHERE total > 100",
        "large",
        inputs=[table("paid", "order_id bigint, total double")],
    )
    third = event(
        "CREATE TABLE shop.both AS SELECT p.order_id, l.total FROM paid p JOIN large l ON p.order_id = l.order_id",
        "both",
        inputs=[table("paid"), table("large")],
    )
    done = read(archive, third, second, first)
    assert {how for how, _ in done.values()} == {"base", "exact"}
    assert relate(archive, "large", "paid") == "subset"
    assert relate(archive, "both", "large") == "equal"


def test_a_table_of_groups_has_a_key_of_its_own(archive):
    query = "CREATE TABLE shop.{} AS SELECT status, sum(total) AS total FROM shop.orders {} GROUP BY status"
    columns = "status string, total double"
    done = read(
        archive,
        event(query.format("sums", "WHERE status IS NOT NULL"), "sums", columns),
        event(query.format("again", "WHERE status IS NOT NULL"), "again", columns),
    )
    assert done["sums"] == done["again"] == ("exact", "")
    assert relate(archive, "sums", "again") == "equal"


def test_reading_the_same_events_again_changes_nothing(archive):
    events = [event(f"CREATE TABLE shop.paid AS {PAID}")]
    read(archive, *events)
    assert import_lineage(archive, events_file(*events), **KEY).new == 0


# --- what is not claimed ---


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"INSERT INTO shop.paid {PAID}", "it does not say that the dataset holds no other rows"),
        (f"CREATE TABLE IF NOT EXISTS shop.paid AS {PAID}", "it does not say that the dataset holds no other rows"),
        (f"CREATE TABLE shop.paid AS {PAID} LIMIT 10", "LIMIT: which rows are the first"),
        (f"CREATE TABLE shop.paid AS ({PAID} LIMIT 10) UNION ({PAID})", "LIMIT: which of equal rows come first"),
        (f"CREATE TABLE shop.paid AS {PAID} WITH NO DATA", "CREATE … WITH NO DATA writes no rows"),
        (f"CREATE TABLE shop.other AS {PAID}", "it writes shop.other"),
        (f"CREATE TABLE shop.paid (a, b) AS {PAID}", "CREATE writes only a part"),
        (f"INSERT INTO shop.paid {PAID} ON CONFLICT DO NOTHING", "INSERT writes only a part of a table"),
        ("DELETE FROM shop.orders", "DELETE writes no query"),
        ("DROP TABLE shop.orders", "DROP writes no query"),
        ("TRUNCATE shop.orders; CREATE TABLE shop.paid AS SELECT 1", "there is more than one statement"),
        ("CREATE TABLE shop.paid AS SELECT order_id FROM WHERE (", "WHERE cannot be parsed here"),
        ("CREATE TABLE shop.paid AS SELECT order_id, total FROM shop.returns", "shop.returns is not an input"),
        ("CREATE TABLE shop.paid AS SELECT 1 AS order_id, 2 AS total", "the job reads more than its query"),
        ("CREATE TABLE shop.paid AS SELECT order_id FROM shop.orders", "the dataset has other columns"),
        ("CREATE TABLE shop.paid AS SELECT order_id, random() AS total FROM shop.orders", ""),
        ("CREATE TABLE shop.paid AS SELECT order_id, ttl AS total FROM shop.orders", "there is no column ttl"),
        (
            "CREATE TABLE shop.paid AS SELECT order_id, lag(total) OVER (ORDER BY total) AS total FROM shop.orders",
            "lag(): which of equal rows come first is not known",
        ),
        (
            "CREATE TABLE shop.paid AS SELECT order_id, median(total) OVER () AS total FROM shop.orders",
            "median is not a known window function",
        ),
        (
            "CREATE TABLE shop.paid AS SELECT a.order_id, b.total FROM shop.orders a JOIN orders b USING (order_id)",
            "several tables may be the input",
        ),
    ],
)
def test_what_the_sql_does_not_say_is_not_claimed_and_the_reason_is_told(archive, query, reason):
    how, missing = read(archive, event(query))["paid"]
    assert how == "base"
    assert f"its SQL is not used: {reason}" in missing


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([event(f"CREATE TABLE paid AS {PAID}", state="FAIL")], "a run failed"),
        (
            [event(f"CREATE TABLE paid AS {PAID}"), event(f"CREATE TABLE paid AS {PAID} AND total > 1", run="2")],
            "the job has several queries",
        ),
        ([event(f"CREATE TABLE paid AS {PAID}", inputs=[table("orders")])], "the columns of"),
        ([event(f"CREATE TABLE paid AS {PAID}", dialect="cobol")], "its dialect cobol is not known"),
        (
            [event(f"CREATE TABLE paid AS {PAID}", inputs=[table("orders", "id bigint, status string, total double")])],
            "the key of",
        ),
        (
            [event(f"CREATE TABLE paid AS {PAID}", inputs=[table("orders", ORDERS), table("more", ORDERS)])],
            "the job reads more than its query",
        ),
        (
            [
                event(
                    f"CREATE TABLE paid AS {PAID}",
                    inputs=[table("orders", ORDERS), make_table(POSTGRES, "archive.shop.orders", ORDERS)],
                )
            ],
            "shop.orders may be several of the inputs",
        ),
    ],
)
def test_events_that_leave_something_open_claim_nothing(archive, events, reason):
    how, missing = read(archive, *events)["paid"]
    assert how == "base"
    assert f"its SQL is not used: {reason}" in missing


def test_a_dialect_that_nobody_states_is_not_guessed(archive):
    orders, paid = (make_table("lake", f"shop.{name}", ORDERS) for name in ("orders", "paid"))
    done = read(archive, make_event(AIRFLOW, "j", "CREATE TABLE shop.paid AS SELECT * FROM orders", [orders], paid))
    assert done["paid"][1].endswith("its SQL is not used: its dialect is not stated")


def test_values_are_inserted_by_position_so_that_columns_must_be_in_order(archive):
    query = "INSERT INTO shop.paid SELECT total, order_id FROM shop.orders"
    assert read(archive, event(query), exact=True)["paid"][0] == "base"
    ordered = event("INSERT INTO shop.paid SELECT order_id, total FROM shop.orders")
    assert read(archive, ordered, exact=True, prefix="ordered ")["paid"] == ("exact", "")


def test_a_comparison_with_other_rows_of_the_same_table_is_exact(archive):
    query = "CREATE TABLE shop.{} AS SELECT order_id, total FROM shop.orders o WHERE total > 10 AND {}"
    condition = "total > (SELECT avg(p.total) FROM shop.orders p WHERE p.customer_id = o.customer_id)"
    done = read(archive, *(event(query.format(name, condition), name) for name in ("first", "second")))
    assert done["first"][0] == done["second"][0] == "exact"
    assert relate(archive, "first", "second") == "equal"
    archive["warehouse.shop.orders"].select("total > 5", name="above 5")
    assert archive.relate("warehouse.shop.first", "above 5").summary == "subset"


@pytest.mark.parametrize("facet", [None, [], {}, {"query": 5}, {"query": "  "}, {"query": None}, "SELECT 1"])
def test_a_facet_without_sql_says_nothing(archive, facet):
    told = event(None)
    told["job"]["facets"]["sql"] = facet
    assert read(archive, told)["paid"] == ("base", "there is no column lineage")


def test_a_population_of_the_archive_with_another_key_keeps_nothing_out(archive, tmp_path):
    """Groups are named by their key, and the archive may have other sources of this name."""
    file = tmp_path / "words.csv"
    file.write_text("n,word\n1,a\n")
    archive.ingest("words", file, key="n", population="status")
    query = "CREATE TABLE shop.sums AS SELECT status, sum(total) AS total FROM orders WHERE status > '' GROUP BY status"
    assert read(archive, event(query, "sums", "status string, total double"))["sums"] == ("exact", "")
