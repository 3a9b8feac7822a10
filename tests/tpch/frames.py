"""Queries of TPC-H as programs with DataFrames: they mean the same as the texts, in other words."""

from __future__ import annotations

from typing import Any

__all__ = ["FRAMES"]


def _revenue(sql: Any) -> Any:
    return sql.sum(sql.col("l_extendedprice") * (1 - sql.col("l_discount"))).alias("revenue")


def _day(sql: Any, text: str) -> Any:
    return sql.lit(text).cast("date")


def _select_query_1(tables: Any, sql: Any) -> Any:
    price = sql.col("l_extendedprice") * (1 - sql.col("l_discount"))
    return (
        tables.lineitem.where(sql.col("l_shipdate") <= sql.expr("DATE '1998-12-01' - INTERVAL '90' DAY"))
        .groupBy("l_returnflag", "l_linestatus")
        .agg(
            sql.sum("l_quantity").alias("sum_qty"),
            sql.sum("l_extendedprice").alias("sum_base_price"),
            sql.sum(price).alias("sum_disc_price"),
            sql.sum(price * (1 + sql.col("l_tax"))).alias("sum_charge"),
            sql.avg("l_quantity").alias("avg_qty"),
            sql.avg("l_extendedprice").alias("avg_price"),
            sql.avg("l_discount").alias("avg_disc"),
            sql.count("*").alias("count_order"),
        )
        .orderBy("l_returnflag", "l_linestatus")
    )


def _select_query_3(tables: Any, sql: Any) -> Any:
    return (
        tables.customer.where("c_mktsegment = 'BUILDING'")
        .join(tables.orders, sql.col("c_custkey") == sql.col("o_custkey"))
        .where(sql.col("o_orderdate") < _day(sql, "1995-03-15"))
        .join(tables.lineitem, sql.col("l_orderkey") == sql.col("o_orderkey"))
        .where(sql.col("l_shipdate") > _day(sql, "1995-03-15"))
        .groupBy("l_orderkey", "o_orderdate", "o_shippriority")
        .agg(_revenue(sql))
        .select("l_orderkey", "revenue", "o_orderdate", "o_shippriority")
    )


def _select_query_4(tables: Any, sql: Any) -> Any:
    late = tables.lineitem.where("l_commitdate < l_receiptdate")
    return (
        tables.orders.where("o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH")
        .join(late, sql.col("l_orderkey") == sql.col("o_orderkey"), "left_semi")
        .groupBy("o_orderpriority")
        .agg(sql.count("*").alias("order_count"))
        .orderBy("o_orderpriority")
    )


def _select_query_5(tables: Any, sql: Any) -> Any:
    region = tables.region.where("r_name = 'ASIA'")
    is_local = (sql.col("l_suppkey") == sql.col("s_suppkey")) & (sql.col("c_nationkey") == sql.col("s_nationkey"))
    return (
        tables.lineitem.join(tables.orders, sql.col("l_orderkey") == sql.col("o_orderkey"))
        .where("o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR")
        .join(tables.customer, sql.col("c_custkey") == sql.col("o_custkey"))
        .join(tables.supplier, is_local)
        .join(tables.nation, sql.col("s_nationkey") == sql.col("n_nationkey"))
        .join(region, sql.col("n_regionkey") == sql.col("r_regionkey"))
        .groupBy("n_name")
        .agg(_revenue(sql))
    )


def _select_query_6(tables: Any, sql: Any) -> Any:
    return (
        tables.lineitem.where(sql.col("l_shipdate") >= _day(sql, "1994-01-01"))
        .where(sql.col("l_shipdate") < sql.expr("DATE '1994-01-01' + INTERVAL '1' YEAR"))
        .where("l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24")
        .agg(sql.sum(sql.col("l_extendedprice") * sql.col("l_discount")).alias("revenue"))
    )


def _select_query_10(tables: Any, sql: Any) -> Any:
    ordered = tables.orders.where(
        "o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH"
    )
    keys = ["c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment"]
    return (
        tables.lineitem.where("l_returnflag = 'R'")
        .join(ordered, sql.col("l_orderkey") == sql.col("o_orderkey"))
        .join(tables.customer, sql.col("c_custkey") == sql.col("o_custkey"))
        .join(tables.nation, sql.col("c_nationkey") == sql.col("n_nationkey"))
        .groupBy(*keys)
        .agg(_revenue(sql))
        .select("c_custkey", "c_name", "revenue", "c_acctbal", "n_name", "c_address", "c_phone", "c_comment")
    )


def _select_query_12(tables: Any, sql: Any) -> Any:
    is_high = sql.col("o_orderpriority").isin("1-URGENT", "2-HIGH")
    return (
        tables.lineitem.where(sql.col("l_shipmode").isin("MAIL", "SHIP"))
        .where("l_commitdate < l_receiptdate AND l_shipdate < l_commitdate")
        .where("l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR")
        .join(tables.orders, sql.col("o_orderkey") == sql.col("l_orderkey"))
        .groupBy("l_shipmode")
        .agg(
            sql.sum(sql.when(is_high, 1).otherwise(0)).alias("high_line_count"),
            sql.sum(sql.when(~is_high, 1).otherwise(0)).alias("low_line_count"),
        )
    )


def _select_query_14(tables: Any, sql: Any) -> Any:
    price = sql.col("l_extendedprice") * (1 - sql.col("l_discount"))
    promoted = sql.sum(sql.when(sql.col("p_type").like("PROMO%"), price).otherwise(sql.lit(0)))
    return (
        tables.lineitem.join(tables.part, sql.col("l_partkey") == sql.col("p_partkey"))
        .where("l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH")
        .agg((sql.expr("100.00") * promoted / sql.sum(price)).alias("promo_revenue"))
    )


FRAMES = {
    1: _select_query_1,
    3: _select_query_3,
    4: _select_query_4,
    5: _select_query_5,
    6: _select_query_6,
    10: _select_query_10,
    12: _select_query_12,
    14: _select_query_14,
}
"""Programs by the number of the query; those of queries with a LIMIT have all rows."""
