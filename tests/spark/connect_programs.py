"""Programs that make DataFrames, for a classic session and for one of Spark Connect.

A program takes the tables by name, the session, and of either package the functions `f` and the windows `w`.
"""

from __future__ import annotations

from decimal import Decimal

__all__ = ["OPAQUE", "PAIRS", "PROGRAMS", "REFUSED", "TABLES"]

TABLES = {
    "orders": """SELECT * FROM VALUES
        (1, 10, 5.50, DATE '2020-01-01', 'red', array('a', 'b')), (2, 10, 7.25, DATE '2020-02-01', NULL, array('b')),
        (3, 20, NULL, DATE '2020-02-01', 'blue', array()), (4, NULL, 1.00, NULL, 'red', NULL),
        (5, 20, 7.25, DATE '2021-03-05', 'it\\'s', array('c', NULL)),
        (6, 40, 0.10, DATE '2021-03-05', 'blue', array('a'))
        AS t(id, customer, price, day, note, tags)""",
    "customers": """SELECT * FROM VALUES
        (10, 'ann', 1.5D), (20, 'bob', double('NaN')), (30, NULL, -0.0D), (40, 'cy', NULL) AS t(number, name, score)""",
}
"""The tables, with NULLs and repetitions; the keys are `id` and `number`."""


def _number(session):
    window = session.w.partitionBy("id").orderBy(session.f.desc("price"))
    return session.orders.withColumn("r", session.f.row_number().over(window))


PROGRAMS = {
    "table": lambda s: s.orders,
    "where text": lambda s: s.orders.where("price > 5"),
    "where column": lambda s: s.orders.where(s.f.col("price") > 5),
    "where attribute": lambda s: s.orders.where(s.orders.price >= Decimal("5.50")),
    "where double": lambda s: s.orders.where(s.f.col("price") > 5.4),
    "where other case": lambda s: s.orders.where(s.f.col("PRICE") > 5).select("ID"),
    "and or not": lambda s: s.orders.where(
        ((s.f.col("price") > 1) & (s.f.col("note") == "red")) | ~s.f.col("customer").isin(10, 20)
    ),
    "not equal": lambda s: s.orders.where((s.f.col("note") != "red") & s.f.col("price").isNotNull()),
    "null safe": lambda s: s.orders.where(s.f.col("note").eqNullSafe("red") | s.f.col("note").isNull()),
    "like": lambda s: s.orders.where(s.f.col("note").like("b%") | s.f.col("note").startswith("it")),
    "between": lambda s: s.orders.where(s.f.col("id").between(2, 4)),
    "dates": lambda s: s.orders.where(s.f.col("day") < s.f.lit("2020-02-01").cast("date")),
    "interval": lambda s: s.orders.where("day < DATE '2020-03-01' - INTERVAL '1' MONTH"),
    "select": lambda s: s.orders.select("id", (s.f.col("price") + 1).alias("more")).where("more > 2"),
    "select text": lambda s: s.orders.selectExpr("id", "price * 2 AS twice", "upper(note)"),
    "select star": lambda s: s.orders.select("*", s.f.lit(1).alias("one")),
    "unnamed": lambda s: s.orders.select("id", s.f.col("id") + 1, s.f.length("note")),
    "arithmetic": lambda s: s.orders.select("id", (s.f.col("id") - 2 * -s.f.col("id")).alias("a"), (s.f.col("id") % 2)),
    "when": lambda s: s.orders.withColumn("kind", s.f.when(s.f.col("price") > 5, "high").otherwise(s.f.col("note"))),
    "coalesce": lambda s: s.orders.withColumn("customer", s.f.coalesce("customer", s.f.lit(0))),
    "functions": lambda s: s.orders.select("id", s.f.year("day"), s.f.upper("note"), s.f.substring("note", 1, 2)),
    "rename": lambda s: s.orders.withColumnRenamed("price", "cost").where("cost > 1"),
    "toDF": lambda s: s.customers.toDF("a", "b", "c").where("a > 10"),
    "drop": lambda s: s.orders.drop("tags", "nothing").where("id > 2"),
    "cast": lambda s: s.orders.select(
        "id", s.f.col("id").cast("string").alias("text"), s.f.col("price").cast("double")
    ),
    "join": lambda s: s.orders.join(s.customers, s.orders.customer == s.customers.number).select("id", "name"),
    "left join": lambda s: s.orders.join(s.customers, s.orders.customer == s.customers.number, "left").drop("number"),
    "semi join": lambda s: s.orders.join(s.customers, s.orders.customer == s.customers.number, "left_semi"),
    "anti join": lambda s: s.orders.join(s.customers, s.orders.customer == s.customers.number, "left_anti"),
    "join by name": lambda s: s.orders.join(s.customers.withColumnRenamed("number", "customer"), "customer"),
    "left join by name": lambda s: s.orders.join(
        s.customers.withColumnRenamed("number", "customer"), ["customer"], "left"
    ).select("id", "name"),
    "full join by name": lambda s: s.orders.select("id", "note").join(
        s.customers.selectExpr("number AS id", "name"), "id", "full"
    ),
    "right join by name": lambda s: s.orders.drop("tags").join(
        s.customers.selectExpr("number AS customer", "name"), "customer", "right"
    ),
    "self join with aliases": lambda s: (
        s.orders.alias("a").join(s.orders.alias("b"), s.f.col("a.id") == s.f.col("b.id")).select("a.id", "b.note")
    ),
    "column of a part": lambda s: s.orders.select("id", "price").where(s.orders.price > 5),
    "group": lambda s: s.orders.groupBy("customer").agg(
        s.f.sum("price").alias("s"), s.f.count("*").alias("n"), s.f.countDistinct("note").alias("d")
    ),
    "group count": lambda s: s.orders.groupBy("note").count().where("count > 1"),
    "group by expression": lambda s: s.orders.groupBy(s.f.year("day").alias("y")).agg(s.f.max("price"), s.f.avg("id")),
    "group of all": lambda s: s.orders.agg(s.f.max("price")),
    "expression of groups": lambda s: s.orders.groupBy("note").agg((s.f.sum("price") / s.f.count("*")).alias("mean")),
    "group and join": lambda s: (
        s.orders.groupBy("customer")
        .agg(s.f.min("price").alias("least"))
        .join(s.customers, s.f.col("customer") == s.f.col("number"))
        .select("number", "least", "name")
    ),
    "distinct": lambda s: s.orders.select("note").distinct(),
    "dropDuplicates": lambda s: s.orders.select("note", "customer").dropDuplicates(),
    "first of group": lambda s: _number(s).where("r = 1").drop("r"),
    "union by name": lambda s: s.orders.select("id", "note").unionByName(
        s.customers.selectExpr("name AS note", "number AS id")
    ),
    "union": lambda s: s.orders.where("id <= 2").union(s.orders.where("id > 4")),
    "intersect": lambda s: s.orders.select("customer").intersect(s.customers.select("number")),
    "subtract": lambda s: s.orders.select("id", "price").subtract(s.orders.select("id", "price").where("price > 6")),
    "limit": lambda s: s.orders.orderBy(s.f.desc("price"), "id").limit(3),
    "limit below a selection": lambda s: s.orders.orderBy(s.f.desc_nulls_first("price"), "id").select("id").limit(2),
    "offset": lambda s: s.orders.orderBy("id").offset(1).limit(2),
    "moved": lambda s: s.orders.repartition(3).hint("broadcast").coalesce(1).sortWithinPartitions("id"),
    "range": lambda s: s.session.range(1, 10, 2).join(s.orders, "id", "left_semi"),
    "explode": lambda s: s.orders.select("id", s.f.explode("tags").alias("tag")),
    "alias": lambda s: s.orders.where("customer IS NOT NULL AND id > 1").alias("o").where("o.id < 6"),
}
"""Programs by name."""


OPAQUE = ("full join by name", "group of all", "range", "right join by name")
"""Programs of which nothing is proved: an aggregate of all rows, numbers without a catalog, outer joins of any rows."""


def _join_parts(tables):
    cheap, dear = tables.orders.where("price < 7"), tables.orders.where("price > 2")
    return cheap.join(dear, cheap.id == dear.id).select(cheap.id, dear.note)


PAIRS = {
    "self join of parts": (
        _join_parts,
        "SELECT a.id, b.note FROM orders a JOIN orders b ON a.id = b.id WHERE a.price < 7 AND b.price > 2",
    ),
    "subquery in a text": (
        lambda s: s.orders.where("id IN (SELECT id FROM known_orders WHERE price > 5)"),
        "SELECT * FROM orders WHERE id IN (SELECT id FROM orders WHERE price > 5)",
    ),
    "query in SQL": (
        lambda s: s.session.sql(
            "SELECT note, count(*) AS n FROM known_orders WHERE price > 1 GROUP BY note HAVING count(*) >= 1"
        ),
        "SELECT note, count(*) AS n FROM orders WHERE price > 1 GROUP BY note HAVING count(*) >= 1",
    ),
    "join in SQL": (
        lambda s: s.session.sql(
            "SELECT o.id, c.name FROM known_orders o JOIN known_customers c ON o.customer = c.number"
        ).where("name = 'ann'"),
        "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.number WHERE c.name = 'ann'",
    ),
}
"""Programs that only Spark Connect understands, or that name views, and queries with the same meaning."""


def _twice(number):
    return None if number is None else number * 2


REFUSED = {
    "sample": (lambda s: s.orders.sample(0.5), "Sample.*not deterministic"),
    "rand": (lambda s: s.orders.where(s.f.rand() > 0.5), "rand.*not deterministic"),
    "clock": (lambda s: s.orders.select(s.f.current_date()), "clock"),
    "duplicates": (lambda s: s.orders.dropDuplicates(["note"]), r"Deduplicate.*dropDuplicates\(subset\)"),
    "function of the user": (lambda s: s.orders.select(s.f.udf(_twice, "int")("id")), "PythonUDF"),
    "rows in memory": (lambda s: s.session.createDataFrame([(1,)], "x int"), "in memory"),
    "first": (lambda s: s.orders.groupBy("note").agg(s.f.first("id")), "First.*arbitrary"),
    "pandas": (lambda s: s.orders.mapInPandas(lambda parts: parts, s.orders.schema), "MapPartitions"),
    "text and number": (lambda s: s.orders.where(s.f.col("note") > 5), "string"),
    "text of a date": (lambda s: s.orders.where(s.f.col("note") < s.f.col("day")), "string|date"),
    "mixed union": (lambda s: s.orders.select("id").union(s.orders.select("price")), "mixes the types"),
    "column that is gone": (lambda s: s.orders.select("id").where(s.orders.price > 5), "not among the columns"),
    "variable": (lambda s: s.orders.where("note = '${spark.app.name}'"), "variable"),
    "rollup": (lambda s: s.orders.rollup("customer").count(), "ROLLUP"),
    "lambda": (lambda s: s.orders.select(s.f.transform("tags", lambda x: s.f.concat(x, x))), "LambdaFunction"),
    "interval of hours": (lambda s: s.orders.select(s.f.expr("day + INTERVAL '3' HOUR")), "HOUR"),
}
"""Programs that are refused over Spark Connect, and the reason."""
