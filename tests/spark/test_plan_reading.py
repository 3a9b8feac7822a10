"""Plans of DataFrames, read as trees: the SQL that is written for a tree has the rows of the DataFrame."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from provenn.errors import QueryError
from provenn.queries.normal_form import normalise
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.query_writing import write_sql
from provenn.queries.tree import (
    DistinctNode,
    FilterNode,
    LimitNode,
    ProjectNode,
    ScanNode,
    SetOperationNode,
    SortNode,
    walk_tree,
)
from provenn.spark import plan_reading
from provenn.spark.plan_reading import read_dataframe
from provenn.spark.plan_reading_functions import FUNCTIONS
from provenn.spark.plan_reading_leaves import KnownTable
from tests.tpch.answers import are_same_rows, read_sql
from tests.tpch.tables import connect_duckdb, generate_tables


class PathLeaves:
    """Leaves that are called by the stem of their path."""

    def find_view(self, name):  # noqa: ARG002 - no view is a table
        return None

    def find_relation(self, relation):
        return KnownTable(Path(relation.roots[0]).stem, relation.columns)


class ViewTables:
    """The tables of a session, for the reader of texts."""

    def __init__(self, session):
        self.session = session

    def find_table(self, parts):
        return QueryTable(parts[-1], tuple(self.session.table(parts[-1]).columns))


def make_session(engine, **settings):
    session = engine.session.newSession()
    for name, value in {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2", **settings}.items():
        session.conf.set(name, value)
    return session


ORDERS = """SELECT * FROM VALUES
    (1, 10, 5.50, DATE '2020-01-01', 'red', array('a', 'b')), (2, 10, 7.25, DATE '2020-02-01', NULL, array('b')),
    (3, 20, NULL, DATE '2020-02-01', 'blue', array()), (4, NULL, 1.00, NULL, 'red', NULL),
    (5, 20, 7.25, DATE '2021-03-05', 'it\\'s', array('c', NULL)), (6, 40, 0.10, DATE '2021-03-05', 'blue', array('a'))
    AS t(id, customer, price, day, note, tags)
"""
CUSTOMERS = """SELECT * FROM VALUES
    (10, 'ann', 1.5D), (20, 'bob', double('NaN')), (30, NULL, -0.0D), (30, 'cy', NULL) AS t(number, name, score)
"""


@pytest.fixture(scope="module")
def spark(engine, tmp_path_factory):
    """A session of a user, with two tables that have NULLs and repetitions."""
    folder = tmp_path_factory.mktemp("tables")
    session = make_session(engine)
    for name, text in {"orders": ORDERS, "customers": CUSTOMERS}.items():
        session.sql(text).write.parquet(str(folder / f"{name}.parquet"))
        session.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
    return session


def count_rows(frame):
    return Counter(tuple(map(repr, row)) for row in frame.collect())


def check_frame(session, frame):
    """Compare a DataFrame with the SQL of its tree, and return the tree."""
    tree = read_dataframe(frame, PathLeaves())
    written = session.sql(write_sql(tree))
    assert written.columns == frame.columns
    assert [field.dataType for field in written.schema] == [field.dataType for field in frame.schema]
    assert count_rows(written) == count_rows(frame), write_sql(tree)
    return tree


TEXTS = [
    "SELECT id, price * 2 AS twice, note FROM orders WHERE price > 1 AND (note = 'red' OR note IS NULL)",
    "SELECT * FROM orders WHERE NOT (note = 'red') AND customer IN (10, 20)",
    "SELECT * FROM orders WHERE note LIKE 'b%' OR day BETWEEN '2020-01-15' AND DATE '2020-12-31'",
    "SELECT id, nullif(customer, CASE WHEN id BETWEEN 1 AND 2 THEN 10 ELSE 20 END) AS other FROM orders",
    "SELECT nullif(id, nullif(CASE WHEN customer BETWEEN 5 AND 15 THEN 1 ELSE 5 END, nullif(id, 3))) AS n FROM orders",
    "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.number",
    "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer = c.number AND c.name = 'ann'",
    "SELECT o.id, c.name FROM orders o RIGHT JOIN customers c ON o.customer = c.number",
    "SELECT o.id, c.number FROM orders o FULL JOIN customers c ON o.customer = c.number",
    "SELECT a.id, b.id AS other FROM orders a JOIN orders b USING (customer) WHERE a.id < b.id",
    "SELECT id FROM orders o LEFT SEMI JOIN customers c ON o.customer = c.number",
    "SELECT id FROM orders o LEFT ANTI JOIN customers c ON o.customer = c.number",
    "SELECT count(*) FROM orders CROSS JOIN customers",
    "SELECT customer, count(*) AS n, sum(price) + 1 AS total, avg(id) AS mean FROM orders GROUP BY customer",
    "SELECT customer + 1 AS next, (customer + 1) * 2 AS twice, max(day) AS last FROM orders GROUP BY customer + 1",
    "SELECT count(*), sum(price), min(note) FROM orders WHERE id > 100",
    "SELECT note, count(DISTINCT customer) AS n FROM orders GROUP BY note HAVING sum(price) > 1",
    "SELECT note, sum(price) FILTER (WHERE id > 2) AS s FROM orders GROUP BY note",
    "SELECT DISTINCT note FROM orders",
    "SELECT note FROM orders UNION SELECT name FROM customers",
    "SELECT note FROM orders UNION ALL SELECT name FROM customers",
    "SELECT customer FROM orders INTERSECT SELECT number FROM customers",
    "SELECT customer FROM orders EXCEPT SELECT number FROM customers",
    "SELECT customer FROM orders EXCEPT ALL SELECT number FROM customers",
    "SELECT number FROM customers INTERSECT ALL SELECT number FROM customers",
    "SELECT id FROM orders o WHERE EXISTS (SELECT 1 FROM customers c WHERE c.number = o.customer)",
    "SELECT id FROM orders WHERE customer IN (SELECT number FROM customers WHERE name IS NOT NULL)",
    "SELECT id FROM orders WHERE customer NOT IN (SELECT number FROM customers)",
    "SELECT number FROM customers WHERE number NOT IN (SELECT customer FROM orders)",
    "SELECT id FROM orders WHERE price > (SELECT avg(price) FROM orders)",
    "SELECT id, (SELECT max(name) FROM customers c WHERE c.number = o.customer) AS name FROM orders o",
    "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY price DESC, id) AS r FROM orders",
    "SELECT id, sum(price) OVER (PARTITION BY customer) AS s, lag(id, 1, 0) OVER (ORDER BY id) AS l FROM orders",
    "SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM orders",
    "SELECT id, rank() OVER (ORDER BY day NULLS LAST) AS r, ntile(2) OVER (ORDER BY id) AS t FROM orders",
    "WITH a AS (SELECT id FROM orders), b AS (SELECT * FROM a) SELECT x.id FROM a x JOIN b y ON x.id = y.id + 1",
    "SELECT id, CASE WHEN price > 5 THEN 'high' WHEN price > 1 THEN 'low' END AS level FROM orders",
    "SELECT id, CASE note WHEN 'red' THEN 1 ELSE 2 END AS n, coalesce(customer, 0) AS c FROM orders",
    "SELECT id, year(day) AS y, date_add(day, 3) AS later, day + INTERVAL 3 MONTH AS q FROM orders",
    "SELECT id, day - INTERVAL '40' DAY AS a, day - INTERVAL 2 WEEK AS b, day - INTERVAL '1' MONTH AS c FROM orders",
    "SELECT 1 FROM orders WHERE day < DATE '2021-04-01' - INTERVAL 1 MONTH OR day > DATE '2020-01-31' + INTERVAL 9 DAY",
    "SELECT CAST(day AS TIMESTAMP) - INTERVAL '1' DAY AS a, CAST(day AS TIMESTAMP) + INTERVAL 1 YEAR AS b FROM orders",
    "SELECT id, upper(note) || '!' AS n, length(note) AS l, substring(note, 1, 2) AS s FROM orders",
    "SELECT id, tag FROM orders LATERAL VIEW explode(tags) t AS tag",
    "SELECT id, place, tag FROM orders LATERAL VIEW OUTER posexplode(tags) t AS place, tag",
    "SELECT number, score FROM customers WHERE score > 1 OR score = 0",
    "SELECT 1 AS one, 'a' AS a, NULL AS nothing, 1.50 AS d, 2.5D AS f, DATE '2020-02-29' AS day",
    "SELECT id FROM orders WHERE id > 1 ORDER BY price DESC, id LIMIT 2 OFFSET 1",
    "SELECT id FROM orders ORDER BY id OFFSET 4",
]


@pytest.mark.parametrize("text", TEXTS)
def test_plan_and_text_of_a_query_have_its_rows(spark, text):
    frame = spark.sql(text)
    check_frame(spark, frame)
    written = spark.sql(write_sql(read_query(text, ViewTables(spark))))
    assert count_rows(written) == count_rows(frame)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT customer, note, sum(price) AS s, grouping(note) AS g FROM orders GROUP BY ROLLUP (customer, note)",
        "SELECT customer, note, count(*) FROM orders GROUP BY GROUPING SETS ((customer), (note), ())",
        "SELECT id, transform(tags, x -> concat(x, note)) AS t, exists(tags, x -> x = 'a') AS e FROM orders",
        "SELECT id, named_struct('a', 1, 'b c', note).`b c` AS f, array(id, 2)[1] AS g, map('k', id)['k'] FROM orders",
        "SELECT id, nullif(note, 'red') AS n, nvl2(note, 1, 2) AS m, price BETWEEN 1 AND 6 AS b FROM orders",
        "SELECT id, note LIKE 'it/_s' ESCAPE '/' AS l, note RLIKE 'e$' AS r, note <=> NULL AS n FROM orders",
        "SELECT TIMESTAMP '1500-01-01 10:00:00.25' AS t, TIMESTAMP_NTZ '2020-01-01 00:00:00' AS n, X'0aff' AS x",
        "SELECT DATE '0001-01-01' AS old, CAST('-Infinity' AS DOUBLE) AS i, -0.0D AS z, 1e300D AS big, 0.1F AS f",
        "SELECT -2147483648 AS i, -9223372036854775808 AS b, 5Y AS y, 5S AS s, 0.00 AS zero, 12345.6789 AS d",
        "SELECT 'back\\\\slash \\n \\' \"' AS s, '' AS empty, 'Grüße \u2603' AS u",
        "SELECT * FROM VALUES (1, DATE '2020-01-01', 'x', 1.5BD), (2, NULL, 'y', NULL) AS t(a, b, c, d)",
        "SELECT id - 2 * -id AS a, (id - 2) - (id - 3) AS b, id / 2 / 3 AS c, id % 2 + 1 AS d, id DIV 2 FROM orders",
        "SELECT id & 3 | 4 AS a, ~id AS b, NOT id = 1 AND id > 2 OR id < 0 AS c FROM orders",
        "SELECT CAST(price AS INT) AS i, CAST(id AS STRING) AS s, CAST(day AS STRING) AS n FROM orders",
        "SELECT trim(LEADING 'r' FROM note) AS t, trim(note) AS u, rtrim('d', note) AS v FROM orders",
    ],
)
def test_what_only_plans_show_has_the_rows_of_the_query(spark, text):
    check_frame(spark, spark.sql(text))


def list_frames(spark):
    from pyspark.sql import Window  # noqa: PLC0415 - every process imports all test files
    from pyspark.sql import functions as sql  # noqa: PLC0415

    orders, customers = spark.table("orders"), spark.table("customers")
    numbered = orders.withColumn("r", sql.row_number().over(Window.partitionBy("customer").orderBy(sql.desc("id"))))
    return {
        "select": orders.select("id", (sql.col("price") + 1).alias("more")).where("more > 2"),
        "join": orders.join(customers, orders.customer == customers.number, "left").drop("number"),
        "self join": orders.alias("a").join(orders.alias("b"), "customer").select("a.id", "b.note"),
        "full join by name": orders.join(customers.withColumnRenamed("number", "customer"), "customer", "full"),
        "group": orders.groupBy("customer").agg(sql.sum("price").alias("s"), sql.countDistinct("note").alias("n")),
        "group of all": orders.agg(sql.max("price")),
        "first": numbered.where("r = 1").drop("r"),
        "union by name": orders.select("id", "note").unionByName(customers.selectExpr("name AS note", "number AS id")),
        "union with missing": orders.select("id").unionByName(customers.select("name"), allowMissingColumns=True),
        "distinct": orders.select("note").distinct(),
        "dropDuplicates": orders.select("note", "customer").dropDuplicates(),
        "dropna of doubles": customers.dropna("any"),
        "dropna of all": customers.select("name", "score").dropna("all"),
        "dropna": orders.dropna(subset=["price"]).fillna({"note": "none"}),
        "explode": orders.select("id", sql.explode("tags").alias("tag")),
        "when": orders.withColumn("kind", sql.when(sql.col("price") > 5, "a").otherwise(sql.col("note"))),
        "isin": orders.where(sql.col("note").isin("red", "blue") & ~sql.col("id").isin(1)),
        "startswith": orders.where(sql.col("note").startswith("b") | sql.col("note").contains("t'")),
        "range": spark.range(3, 20, 4).join(orders, "id", "left_semi"),
        "empty range": spark.range(5, 5),
        "sorted": orders.orderBy(sql.desc_nulls_first("price"), "id").limit(3),
        "moved": orders.repartition(3).hint("broadcast").coalesce(1).sortWithinPartitions("id"),
        "intersect": orders.select("customer").intersect(customers.select("number")),
        "subtract": orders.select("customer").exceptAll(customers.select("number")),
        "repeated column": orders.select("id", "id", sql.col("note").alias("id")),
        "unpivot": orders.unpivot("id", ["customer"], "what", "amount"),
        "rollup": orders.rollup("customer").count(),
        "limit below a selection": orders.orderBy(sql.desc("price"), "id").select("id").limit(2),
        "limit of filtered rows": orders.orderBy("price", "id").where("id > 1").select("note").limit(2),
        "observed": orders.observe("n", sql.count("*").alias("n")),
    }


def test_frames_of_the_api_have_the_rows_of_their_trees(spark):
    for frame in list_frames(spark).values():
        check_frame(spark, frame)


def test_the_tree_of_a_simple_frame_is_the_tree_that_one_expects(spark):
    tree = check_frame(spark, spark.table("orders").where("id > 3").select("id").orderBy("id").limit(2))
    assert isinstance(tree, LimitNode)
    assert tree.number == 2
    assert isinstance(tree.input, SortNode)
    assert isinstance(tree.input.input, ProjectNode)
    assert isinstance(tree.input.input.input, FilterNode)
    assert tree.input.input.input.condition.sql("spark") == "c1 > 3"
    assert isinstance(tree.input.input.input.input, ScanNode)


def test_the_order_that_decides_stands_below_the_limit(spark):
    tree = check_frame(spark, spark.sql("SELECT note FROM orders ORDER BY price DESC, id LIMIT 2"))
    limits = [node for node in walk_tree(tree) if isinstance(node, LimitNode)]
    assert [type(node.input) for node in limits] == [SortNode]
    moved = spark.table("orders").orderBy("price").select("id").repartition(2).limit(2)
    assert not any(isinstance(node, SortNode) for node in walk_tree(read_dataframe(moved, PathLeaves())))


def test_union_distinct_is_one_set_operation(spark):
    tree = check_frame(spark, spark.sql("SELECT note FROM orders UNION SELECT name FROM customers"))
    kinds = [type(node) for node in walk_tree(tree)]
    assert SetOperationNode in kinds
    assert DistinctNode not in kinds


def test_each_column_of_a_tree_has_a_number_of_its_own(spark):
    frame = spark.sql("WITH a AS (SELECT id, note FROM orders) SELECT * FROM a x JOIN a y ON x.id = y.id")
    numbers = [
        column.number
        for node in walk_tree(read_dataframe(frame, PathLeaves()))
        if isinstance(node, ScanNode | ProjectNode)
        for column in node.columns
    ]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(
    "condition",
    [
        "DATE '2020-03-31' - INTERVAL '1' MONTH",
        "DATE '2020-03-31' + INTERVAL '11' MONTH",
        "DATE '2020-02-29' + INTERVAL '1' YEAR",
        "DATE '2020-02-29' - INTERVAL '90' DAY",
        "INTERVAL '2' WEEK + DATE '2020-12-25'",
    ],
)
def test_constant_dates_with_intervals_are_the_dates_of_spark(spark, condition):
    frame = spark.table("orders").where(f"day < {condition}")
    normal = normalise(read_dataframe(frame, PathLeaves()))
    (folded,) = (node.condition for node in walk_tree(normal) if isinstance(node, FilterNode))
    (row,) = spark.sql(f"SELECT CAST({condition} AS STRING) AS day").collect()
    assert folded.sql("spark").endswith(f"CAST('{row.day}' AS DATE)")


def test_intervals_of_several_units_are_refused(spark):
    for text in (
        "day + INTERVAL '1-2' YEAR TO MONTH",
        "day + INTERVAL '1 02' DAY TO HOUR",
        "day + INTERVAL '1' DAY * id",
    ):
        with pytest.raises(QueryError, match="not supported"):
            read_dataframe(spark.table("orders").selectExpr(text), PathLeaves())


def refuse_frames(spark):
    from pyspark.sql import functions as sql  # noqa: PLC0415 - see above

    orders = spark.table("orders")
    twice = sql.udf(lambda number: number and number * 2, "int")
    return [
        (orders.dropDuplicates(["customer"]), r"Deduplicate.*dropDuplicates\(subset\)"),
        (orders.select(twice("id")), "PythonUDF.*function of the user"),
        (orders.where(sql.rand() > 0.5), "Rand.*not deterministic"),
        (orders.sample(0.5), "Sample.*not deterministic"),
        (orders.select(sql.current_date()), "CurrentDate.*clock"),
        (orders.select(sql.monotonically_increasing_id()), "MonotonicallyIncreasingID.*stored"),
        (orders.groupBy("customer").agg(sql.first("note")), "First.*arbitrary"),
        (orders.groupBy("customer").agg(sql.collect_list("note")), "CollectList.*arbitrary"),
        (orders.select(sql.input_file_name()), "InputFileName.*stored"),
        (spark.createDataFrame([(1, "a")], "x int, y string"), "LogicalRDD.*in memory"),
        (orders.mapInPandas(lambda parts: parts, orders.schema), "MapInPandas.*whole partitions"),
        (orders.select(sql.explode(sql.create_map("id", "note"))), "Explode.*map"),
        (spark.sql("SELECT id FROM orders WHERE note COLLATE UTF8_LCASE = 'RED'"), "collation|Collate"),
        (spark.sql("SELECT * FROM range(10), LATERAL (SELECT id + 1 AS next)"), "LateralJoin"),
        (spark.sql("SELECT * FROM orders PIVOT (sum(price) FOR note IN ('red', 'blue'))"), "PivotFirst|not supported"),
        (spark.sql("SELECT note, percentile(price, 0.5) FROM orders GROUP BY note"), "Percentile"),
    ]


def test_what_has_no_fixed_meaning_is_refused_with_its_class(spark):
    for frame, pattern in refuse_frames(spark):
        with pytest.raises(QueryError, match=pattern):
            read_dataframe(frame, PathLeaves())


@pytest.mark.parametrize(
    ("expression", "is_read"),
    [
        ("id + 1", False),
        ("-id", False),
        ("abs(id)", False),
        ("CAST(price AS INT)", False),
        ("CAST(note AS INT)", False),
        ("price + 1", True),
        ("id % 2", True),
        ("id / 2", True),
        ("CAST(id AS BIGINT)", True),
        ("CAST(id AS STRING)", True),
        ("try_add(id, 1)", True),
        ("round(id, 2)", True),
    ],
)
def test_without_ansi_mode_only_what_gives_no_wrong_number_is_read(engine, spark, expression, is_read):
    session = make_session(engine, **{"spark.sql.ansi.enabled": "false"})
    frame = session.read.parquet(*spark.table("orders").inputFiles()).selectExpr(expression)
    if is_read:
        read_dataframe(frame, PathLeaves())
    else:
        with pytest.raises(QueryError, match="ANSI mode is off") as caught:
            read_dataframe(frame, PathLeaves())
        assert "spark.sql.ansi.enabled" in caught.value.hint


def test_another_time_zone_is_refused_where_it_decides(engine, spark):
    session = make_session(engine, **{"spark.sql.session.timeZone": "America/New_York"})
    orders = session.read.parquet(*spark.table("orders").inputFiles())
    read_dataframe(orders.where("day > '2020-01-15' AND price > 1"), PathLeaves())
    for expression in (
        "CAST(day AS TIMESTAMP)",
        "hour(CAST(day AS TIMESTAMP))",
        "CAST(timestamp_micros(id) AS STRING)",
        "timestamp_micros(id) + INTERVAL '1' DAY",
    ):
        with pytest.raises(QueryError, match="America/New_York"):
            read_dataframe(orders.selectExpr(expression), PathLeaves())


def test_a_moment_means_the_same_in_every_time_zone(engine, spark):
    session = make_session(engine, **{"spark.sql.session.timeZone": "America/New_York"})
    tree = read_dataframe(session.sql("SELECT TIMESTAMP '2020-07-01 12:00:00' AS t"), PathLeaves())
    assert [str(row.t) for row in spark.sql(write_sql(tree)).selectExpr("CAST(t AS STRING) AS t").collect()] == [
        "2020-07-01 16:00:00"
    ]


def test_a_session_that_reads_otherwise_is_refused(engine):
    session = make_session(engine, **{"spark.sql.legacy.timeParserPolicy": "LEGACY"})
    with pytest.raises(QueryError, match="timeParserPolicy=LEGACY"):
        read_dataframe(session.sql("SELECT to_date('2020', 'yyyy')"), PathLeaves())


def test_decimals_of_another_precision_are_refused(engine, spark):
    session = make_session(engine, **{"spark.sql.decimalOperations.allowPrecisionLoss": "false"})
    frame = session.read.parquet(*spark.table("orders").inputFiles()).selectExpr("price * price")
    with pytest.raises(QueryError, match="loss of precision"):
        read_dataframe(frame, PathLeaves())


def test_long_conditions_are_read(spark):
    text = " OR ".join(f"id = {number}" for number in range(400))
    check_frame(spark, spark.table("orders").where(text))


def test_ctes_that_name_others_twice_are_bounded(spark, monkeypatch):
    monkeypatch.setattr(plan_reading, "_MOST_NODES", 500)
    parts = ["c0 AS (SELECT id FROM orders)"]
    pattern = "c{} AS (SELECT a.id FROM c{} a JOIN c{} b ON a.id = b.id)"
    parts += [pattern.format(number, number - 1, number - 1) for number in range(1, 9)]
    with pytest.raises(QueryError, match="more than 500 parts"):
        read_dataframe(spark.sql("WITH {} SELECT * FROM c8".format(", ".join(parts))), PathLeaves())  # noqa: S608


def test_functions_are_written_with_the_values_and_types_of_spark(spark):
    """The examples in Spark's own documentation, many in one query."""
    from pyspark.errors import AnalysisException, ParseException, PySparkException  # noqa: PLC0415 - see above

    registry = spark._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    functions, names = registry.listFunction(), set(FUNCTIONS.values())
    examples = []
    for place in range(functions.size()):
        found = registry.lookupFunction(functions.apply(place))
        if found.isDefined() and found.get().getName() in names:
            texts = re.findall(r"> SELECT ([^;]*);\n", found.get().getExamples())
            examples += [text for text in texts if " FROM " not in text.upper() and "\n" not in text]
    readable = []
    for text in examples:
        try:
            frame = spark.sql("SELECT " + text)
            read_dataframe(frame, PathLeaves())
        except (QueryError, AnalysisException, ParseException):  # a part of the example is refused
            continue
        readable.append(text)
    assert len(readable) > 200
    pending = [readable[start : start + 25] for start in range(0, len(readable), 25)]
    while pending:
        texts = pending.pop()
        try:
            frame = spark.sql("SELECT " + ", ".join(texts))
            frame.collect()
        except PySparkException:  # an example that shows how a function fails, or cannot stand beside others
            pending += [texts[:middle] for middle in (len(texts) // 2,) if middle]
            pending += [texts[len(texts) // 2 :]] if len(texts) > 1 else []
            continue
        columns = [f"v{place}" for place in range(len(frame.columns))]
        written = spark.sql(write_sql(read_dataframe(frame.toDF(*columns), PathLeaves())))
        types = [field.dataType.simpleString() for field in frame.schema]
        assert [field.dataType.simpleString() for field in written.schema] == types
        assert list(map(repr, written.collect()[0])) == list(map(repr, frame.collect()[0]))


@pytest.fixture(scope="module")
def tpch(tmp_path_factory, engine):
    """TPC-H at a tiny scale, for Spark and DuckDB."""
    folder = generate_tables(tmp_path_factory.mktemp("tpch"), 0.001)
    session = make_session(engine)
    for file in folder.glob("*.parquet"):
        session.read.parquet(str(file)).createOrReplaceTempView(file.stem)
    with connect_duckdb(folder) as duckdb:
        yield session, duckdb


@pytest.mark.parametrize("number", range(1, 23))
def test_the_trees_of_tpch_have_the_answers_of_duckdb(tpch, number):
    session, duckdb = tpch
    text = read_sql(number)
    expected = duckdb.execute(text).fetchall()
    rows = [tuple(row) for row in session.sql(write_sql(read_dataframe(session.sql(text), PathLeaves()))).collect()]

    def order(row):
        return [str(round(value, 3) if isinstance(value, float | Decimal) else value) for value in row]

    assert are_same_rows(sorted(rows, key=order), sorted(expected, key=order))
