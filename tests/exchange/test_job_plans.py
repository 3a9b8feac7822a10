"""Datasets whose job states its plan of Spark: the same catalogs as by SQL, or a reason why the plan is not used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pyspark.sql import types

from provenn.exchange import import_lineage
from provenn.exchange.stated_plan_texts import find_plan
from provenn.spark.plan_reading_json import read_type
from tests.exchange.emitters import SPARK, make_event, make_table
from tests.exchange.pipelines import events_file
from tests.exchange.test_import import archive, empty
from tests.spark.conftest import engine

__all__ = ["archive", "empty", "engine"]

ORDERS = "order_id bigint, customer_id bigint, status string, total double, day date"
CUSTOMERS = "customer_id bigint, city string, debt double"
TABLES = {"orders": ORDERS, "customers": CUSTOMERS}
POPULATION = {"_producer": SPARK, "_schemaURL": ""}


@pytest.fixture(scope="module")
def session(engine, tmp_path_factory):
    """A session of a user with two empty tables, and files with the same columns."""
    session = engine.session.newSession()
    folder = tmp_path_factory.mktemp("lake")
    for name, columns in TABLES.items():
        session.createDataFrame([], columns).write.parquet(str(folder / name))
        session.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    session.conf.set("provenn.tests.folder", str(folder))
    return session


def optimize(session, command):
    """Return the optimized plan of a command in JSON, as the integration of OpenLineage writes it; nothing is run."""
    mode = session._jvm.org.apache.spark.sql.execution.CommandExecutionMode.NON_ROOT()
    execution = session._jsparkSession.sessionState().executePlan(command, mode)
    return json.loads(execution.optimizedPlan().toJSON())


def save(session, frame, mode="overwrite", partitions=()):
    """Return the plan of a program that saves a DataFrame as files."""
    writer = frame.write.mode(mode).format("parquet")._jwrite
    if partitions:
        writer = writer.partitionBy(session._jvm.PythonUtils.toSeq(list(partitions)))
    path = session.conf.get("provenn.tests.folder") + "/out"
    return optimize(session, writer.saveCommand(session._jvm.scala.Option.apply(path)))


def describe(frame):
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in frame.schema)


def make_lake_table(name, columns, symlink="", overwritten=False):
    table = make_table("s3://lake", name, columns, symlink=symlink)
    if name in ("orders", "customers"):
        key = "order_id" if name == "orders" else "customer_id"
        table["facets"]["provenn_population"] = {**POPULATION, "population": name.rstrip("s"), "key": [key]}
    if overwritten:
        table["facets"]["lifecycleStateChange"] = {**POPULATION, "lifecycleStateChange": "OVERWRITE"}
    return table


def make_run(plan, name, columns, inputs=("orders",), overwritten=True, **options):
    """Return an event of a job with a plan, as the integration with Spark writes it."""
    read = [make_lake_table(each, TABLES[each]) for each in inputs]
    facets = {"spark.logicalPlan": {**POPULATION, "plan": plan}}
    written = make_lake_table(name, columns, overwritten=overwritten)
    return make_event(SPARK, f"load_{name}", None, read, written, run_facets=facets, **options)


def read(archive, *events, exact=True, **options):
    done = import_lineage(archive, events_file(*events), exact=exact, **options)
    return {catalog.dataset.rpartition("/")[2]: (catalog.how, catalog.missing) for catalog in done.catalogs}


# --- plans and SQL mean the same ---

QUERIES = [
    "SELECT order_id, total FROM orders WHERE status = 'paid'",
    "SELECT order_id FROM orders WHERE total * 2 > 10 AND NOT (status = 'paid') OR day < DATE '2020-02-29'",
    "SELECT order_id, CASE WHEN total > 5 THEN 'high' END AS level, upper(status) AS word FROM orders",
    "SELECT order_id FROM orders WHERE status IN ('paid', 'sent') AND status LIKE 'p%' AND day IS NOT NULL",
    "SELECT o.order_id, c.city FROM orders o JOIN customers c ON o.customer_id = c.customer_id WHERE c.debt > 1",
    "SELECT o.order_id, c.city FROM orders o LEFT JOIN customers c ON o.customer_id = c.customer_id",
    "SELECT city, customer_id FROM customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE total > 2)",
    "SELECT customer_id, count(*) AS n, sum(total) AS s, max(day) AS d FROM orders WHERE total > 1 GROUP BY 1",
    "SELECT DISTINCT city FROM customers WHERE city <> 'Oslo'",
    "SELECT order_id, total FROM orders WHERE total > (SELECT avg(total) FROM orders)",
    "SELECT order_id, rank() OVER (PARTITION BY customer_id ORDER BY total DESC) AS r FROM orders",
]


@pytest.mark.parametrize("query", QUERIES)
def test_the_plan_of_a_query_is_exact_and_has_the_sources_of_its_sql(archive, session, query):
    """The optimizer writes conditions anew, so that the plan is another tree than the SQL: its sources are equal."""
    frame = session.sql(query)
    inputs = [name for name in TABLES if f" {name}" in query]
    done = read(archive, make_run(save(session, frame), "out", describe(frame), inputs))
    assert done["out"] == ("exact", "")
    stated = archive.sql(query, name="by sql")
    assert archive.relate("out", stated).summary == "equal"
    assert archive["out"].population == archive["by sql"].population


def test_runs_of_one_program_state_one_plan(archive, session):
    """Numbers of columns differ between runs, and START, RUNNING and COMPLETE repeat the plan."""
    query = "SELECT order_id, total FROM orders WHERE total > 3"
    events = []
    for run in ("one", "two"):
        frame = session.sql(query)
        plan = save(session, frame)
        events += [make_run(plan, "out", describe(frame), run=run, state=state) for state in ("START", "COMPLETE")]
    texts = {find_plan(event["run"]["facets"]) for event in events}
    assert len(texts) == 1
    assert read(archive, *events)["out"] == ("exact", "")
    other = save(session, session.sql(query.replace("3", "4")))
    changed = make_run(other, "out", describe(frame), run="three")
    missing = read(archive, *events, changed, prefix="changed ")["out"][1]
    assert missing.endswith("its plan of Spark is not used: the job has several queries")


def test_tables_of_a_catalog_are_read_whole_so_that_nothing_must_be_assumed(archive, session):
    """A leaf with a name is the table; a leaf of files may be some of the files, which only the user can exclude."""
    session.sql("CREATE TABLE IF NOT EXISTS plan_orders USING parquet AS SELECT * FROM orders")
    try:
        frame = session.table("plan_orders").where("total > 3").select("order_id", "total")
        named = make_lake_table("orders", ORDERS, symlink="default.plan_orders")
        facets = {"spark.logicalPlan": {**POPULATION, "plan": save(session, frame)}}
        out = make_lake_table("out", describe(frame), overwritten=True)
        event = make_event(SPARK, "load", None, [named], out, run_facets=facets)
        assert read(archive, event, exact=False)["out"] == ("exact", "")
        assert archive.relate("out", archive["orders"].select("total > 3")).summary == "equal"
    finally:
        session.sql("DROP TABLE plan_orders")
    frame = session.sql("SELECT order_id, total FROM orders WHERE total > 3")
    missing = read(archive, make_run(save(session, frame), "files", describe(frame)), exact=False)["files"][1]
    assert missing.endswith("it does not say that it reads all of s3://lake/orders, nor does --exact")


@pytest.mark.parametrize(
    ("mode", "partitions", "overwritten"), [("append", (), False), ("overwrite", ("customer_id",), True)]
)
def test_a_dataset_that_keeps_rows_is_not_exact(archive, session, mode, partitions, overwritten):
    """The mode is not in the plan but in the event; of partitions, a setting decides which are replaced."""
    session.sql("CREATE TABLE IF NOT EXISTS kept_orders USING parquet AS SELECT * FROM orders")
    try:
        frame = session.table("kept_orders").select("order_id", "customer_id")
        named = make_lake_table("orders", ORDERS, symlink="default.kept_orders")
        facets = {"spark.logicalPlan": {**POPULATION, "plan": save(session, frame, mode, partitions)}}
        out = make_lake_table("out", describe(frame), overwritten=overwritten)
        event = make_event(SPARK, "load", None, [named], out, run_facets=facets)
    finally:
        session.sql("DROP TABLE kept_orders")
    missing = read(archive, event, exact=False)["out"][1]
    assert missing.endswith("it does not say that the dataset holds no other rows, nor does --exact")
    assert read(archive, event, prefix="assumed ")["out"] == ("exact", "")


WORDS = ", ".join(f"'{number}'" for number in range(20))
REFUSED = {
    "SELECT order_id FROM orders WHERE customer_id + 1 > 3": "how Spark evaluates Add",
    "SELECT order_id FROM orders WHERE CAST(customer_id AS INT) = 3": "how Spark evaluates Cast",
    "SELECT customer_id, sum(order_id) AS s FROM orders GROUP BY customer_id": "how Spark evaluates Sum",
    "SELECT order_id FROM orders WHERE status LIKE 'a_b'": "how Spark evaluates Like",
    f"SELECT order_id FROM orders WHERE status IN ('a', {WORDS})": (  # noqa: S608 - all texts stand here
        "InSet in the plan of the DataFrame compares with a list that the plan does not state"
    ),
    "SELECT order_id FROM orders LIMIT 3": "LIMIT: which rows are the first is not known",
    "SELECT order_id FROM orders WHERE rand() > 0.5": "Rand in the plan of the DataFrame is not deterministic",
    "SELECT order_id, total FROM orders UNION ALL SELECT order_id, total FROM orders": "UNION ALL may give a row twice",
    "SELECT o.order_id FROM orders o CROSS JOIN VALUES (1), (2) AS t(n)": "holds rows that the event does not state",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_the_plan_does_not_say_is_the_reason_why_it_is_not_used(archive, session, query):
    frame = session.sql(query)
    how, missing = read(archive, make_run(save(session, frame), "out", describe(frame)))["out"]
    assert how == "base"
    assert REFUSED[query] in missing


def test_what_was_cached_is_not_in_the_plan(archive, session):
    frame = session.sql("SELECT order_id, total FROM orders WHERE total > 7").cache()
    try:
        plan = save(session, frame.where("total > 8"))
    finally:
        frame.unpersist()
    missing = read(archive, make_run(plan, "out", describe(frame)))["out"][1]
    assert "InMemoryRelation in the plan of the DataFrame was cached" in missing


def test_inputs_with_the_same_columns_cannot_be_told_apart(archive, session):
    frame = session.sql("SELECT order_id, total FROM orders")
    event = make_run(save(session, frame), "out", describe(frame))
    event["inputs"].append(make_lake_table("older_orders", ORDERS))
    assert "several inputs of the job have the columns" in read(archive, event, key="order_id")["out"][1]


def test_a_leaf_of_a_database_may_be_a_query(archive, session):
    """JDBC reads a table or a query of the user, and the plan does not say which."""
    frame = session.sql("SELECT order_id, total FROM orders")
    event = make_run(save(session, frame), "out", describe(frame))
    event["inputs"][0]["namespace"] = "postgres://warehouse:5432"
    assert "it does not say what it reads of" in read(archive, event)["out"][1]


def test_the_sql_of_a_job_goes_before_its_plan(archive, session):
    frame = session.sql("SELECT order_id, total FROM orders WHERE total > 3")
    event = make_run(save(session, frame), "out", describe(frame))
    event["job"]["facets"]["sql"] = {"query": "INSERT OVERWRITE out VALUES (1)", "_producer": SPARK}
    assert read(archive, event)["out"] == ("exact", ""), "its SQL is not understood, but its plan"


SHORTENED = [
    [],
    "…",
    {"type": "org.apache.spark.sql.catalyst.plans.logical.Project", "children": []},
    [{"class": "org.apache.spark.sql.execution.datasources.LogicalRelation"}],
]


@pytest.mark.parametrize("plan", SHORTENED)
def test_plans_of_other_emitters_say_that_they_are_shortened(archive, plan):
    how, missing = read(archive, make_run(plan, "out", "order_id bigint, total double"))["out"]
    assert how == "base"
    assert "plan of Spark" in missing
    assert "is not used" in missing


def test_a_plan_with_a_missing_part_is_never_an_error(archive, session):
    """Each node, and each field of each node, is left out or replaced in turn: events come from anywhere."""
    frame = session.sql(
        "SELECT customer_id, count(*) AS n FROM orders WHERE total > 1 AND day > DATE '2020-01-01' GROUP BY customer_id"
    )
    plan = save(session, frame)
    events = [make_run(broken, f"out{place}", describe(frame)) for place, broken in enumerate(break_plans(plan))]
    done = read(archive, *events)
    missing = [reason for name, (how, reason) in done.items() if how == "base" and name.startswith("out")]
    assert len(missing) > len(events) / 2
    assert all("plan of Spark" in reason for reason in missing)


def break_plans(nodes):
    """Yield plans in which a node is missing, or a field is missing or has another value."""
    for place, node in enumerate(nodes):
        yield nodes[:place] + nodes[place + 1 :]
        for name in node:
            yield [
                *nodes[:place],
                {other: value for other, value in node.items() if other != name},
                *nodes[place + 1 :],
            ]
            for value in (None, -1, "x", [], {}, [[{"class": 5}]]):
                yield [*nodes[:place], node | {name: value}, *nodes[place + 1 :]]


def test_reading_a_plan_needs_no_spark(session, tmp_path):
    frame = session.sql("SELECT order_id, total FROM orders WHERE total > 3")
    (tmp_path / "events.jsonl").write_text(json.dumps(make_run(save(session, frame), "out", describe(frame))))
    program = (
        "import sys, provenn\nfrom provenn.exchange import import_lineage\n"
        "with provenn.open(sys.argv[1]) as archive, open(sys.argv[2], 'rb') as file:\n"
        "    print(import_lineage(archive, file, exact=True).catalogs[-1].how, 'pyspark' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "new"), str(tmp_path / "events.jsonl")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() == ["exact", "False"]


def test_types_in_json_are_those_of_pyspark():
    simple = [
        *(types.ByteType(), types.ShortType(), types.IntegerType(), types.LongType(), types.FloatType()),
        *(types.DoubleType(), types.DecimalType(15, 2), types.StringType(), types.BooleanType(), types.DateType()),
        *(types.TimestampType(), types.TimestampNTZType(), types.BinaryType(), types.NullType(), types.VarcharType(5)),
        *(types.DayTimeIntervalType(0, 1), types.YearMonthIntervalType(), types.CalendarIntervalType()),
    ]
    nested = [
        make(kind)
        for kind in simple
        for make in (
            types.ArrayType,
            lambda kind: types.MapType(types.StringType(), kind),
            lambda kind: types.StructType([types.StructField("a b", kind), types.StructField("c", types.LongType())]),
        )
    ]
    for kind in (*simple, *nested):
        assert read_type(json.loads(kind.json())) == kind.simpleString()
