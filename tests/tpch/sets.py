"""Sets of nations, customers, orders, items, offers, suppliers and parts of TPC-H, in verbs.

The same sets are in ``sql/sets.sql``, as queries for their keys. Those are written independently, so that DuckDB can
judge what provenn proves of the sets.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from provenn.archive import Catalog
from tests.tpch.queries import follow_customer, follow_supplier
from tests.tpch.tables import Tables

__all__ = ["POPULATIONS", "SETS", "find_keys"]

Definitions = dict[str, Callable[[Tables], Catalog]]


def find_keys(connection: Any) -> dict[str, set[tuple[Any, ...]]]:
    """Return the keys of the sources of each set, as DuckDB finds them."""
    folder = Path(__file__).with_name("sql")
    connection.execute(folder.joinpath("views.sql").read_text(encoding="utf-8"))
    blocks = folder.joinpath("sets.sql").read_text(encoding="utf-8").removeprefix("-- ").split("\n-- ")
    queries = dict(block.split("\n", 1) for block in blocks)
    return {name: set(connection.execute(query).fetchall()) for name, query in queries.items()}


def _nations(tables: Tables) -> Catalog:
    return tables.nation.lookup(tables.region, on="n_regionkey", attributes=["r_name"])


def _customers(tables: Tables, nations: Catalog | None = None) -> Catalog:
    nations = nations or _nations(tables)
    attributes = [name for name in ("n_name", "r_name") if name in nations.attributes]
    return tables.customer.lookup(nations, on="c_nationkey", attributes=attributes, missing="drop")


def _orders(tables: Tables, customers: Catalog | None = None) -> Catalog:
    customers = customers or _customers(tables)
    attributes = ["c_mktsegment", "n_name", "r_name"]
    return tables.orders.lookup(customers, on="o_custkey", attributes=attributes, missing="drop")


def _items(tables: Tables, orders: Catalog, *attributes: str) -> Catalog:
    return tables.lineitem.lookup(orders, on="l_orderkey", attributes=attributes, missing="drop")


def _offers(tables: Tables) -> Catalog:
    offers = tables.partsupp.lookup(tables.part, on="ps_partkey", attributes=["p_brand", "p_size", "p_name"])
    return follow_supplier(offers, tables, "ps_suppkey")


def _count_orders(tables: Tables) -> Catalog:
    return tables.orders.group("o_custkey", population="customer", n="count(*)", spent="sum(o_totalprice)")


_IN_1995 = "o_orderdate >= DATE '1995-01-01' AND o_orderdate < DATE '1996-01-01'"


_NATIONS: Definitions = {
    "nations of Europe": lambda tables: _nations(tables).select("r_name = 'EUROPE'"),
    "nations in the region Europe": lambda tables: tables.nation.lookup(
        tables.region.select("r_name = 'EUROPE'"), on="n_regionkey", attributes=[], missing="drop"
    ),
    "Germany": lambda tables: tables.nation.select("n_name = 'GERMANY'"),
    "nations of Asia": lambda tables: _nations(tables).select("r_name = 'ASIA'"),
    "nations with German customers": lambda tables: tables.nation.having(
        tables.customer.lookup(
            tables.nation.select("n_name = 'GERMANY'"), on="c_nationkey", attributes=[], missing="drop"
        ),
        on="c_nationkey",
    ),
}

_CUSTOMERS: Definitions = {
    "customers in Europe": lambda tables: _customers(tables).select("r_name = 'EUROPE'"),
    "customers of European nations": lambda tables: _customers(tables, _nations(tables).select("r_name = 'EUROPE'")),
    "customers in Germany": lambda tables: _customers(tables).select("n_name = 'GERMANY'"),
    "customers of the nation Germany": lambda tables: _customers(tables, tables.nation.select("n_name = 'GERMANY'")),
    "customers in Germany or France": lambda tables: _customers(tables).select("n_name IN ('GERMANY', 'FRANCE')"),
    "customers in Asia": lambda tables: _customers(tables).select("r_name = 'ASIA'"),
    "customers outside Europe": lambda tables: tables.customer.exclude(
        _customers(tables, _nations(tables).select("r_name = 'EUROPE'"))
    ),
    "builders": lambda tables: tables.customer.select("c_mktsegment = 'BUILDING'"),
    "builders in Europe, selected before": lambda tables: tables.customer.select("c_mktsegment = 'BUILDING'").lookup(
        _nations(tables).select("r_name = 'EUROPE'"), on="c_nationkey", attributes=[], missing="drop"
    ),
    "builders in Europe, selected after": lambda tables: _customers(tables).select(
        "r_name = 'EUROPE' AND c_mktsegment = 'BUILDING'"
    ),
    "customers with orders": lambda tables: tables.customer.having(tables.orders, on="o_custkey"),
    "customers with a number of orders": lambda tables: tables.customer.lookup(
        _count_orders(tables), on="c_custkey", missing="drop"
    ),
    "customers combined with numbers of orders": lambda tables: tables.customer.combine(_count_orders(tables)),
    "customers without orders": lambda tables: tables.customer.without(tables.orders, on="o_custkey"),
    "customers with orders of 1995": lambda tables: tables.customer.having(
        tables.orders.select(_IN_1995), on="o_custkey"
    ),
    "customers with orders of January 1995": lambda tables: tables.customer.having(
        tables.orders.select("trunc(o_orderdate, 'month') = DATE '1995-01-01'"), on="o_custkey"
    ),
    "customers with orders of 1994 or 1995": lambda tables: tables.customer.having(
        tables.orders.select("year(o_orderdate) IN (1994, 1995)"), on="o_custkey"
    ),
    "Europeans with orders of 1995": lambda tables: (
        _customers(tables).select("r_name = 'EUROPE'").having(tables.orders.select(_IN_1995), on="o_custkey")
    ),
    "customers with European orders of 1995": lambda tables: (
        _orders(tables).select(f"r_name = 'EUROPE' AND {_IN_1995}").group("o_custkey", population="customer")
    ),
    "customers that orders name": _count_orders,
    "customers with at least one order": lambda tables: _count_orders(tables).select("n >= 1"),
    "customers with more than 10 orders": lambda tables: _count_orders(tables).select("n > 10"),
    "customers with more than 20 orders": lambda tables: _count_orders(tables).select("n > 20"),
    "customers with at most 10 orders": lambda tables: _count_orders(tables).select("n <= 10"),
    "Europeans with more than 20 orders, grouped before": lambda tables: (
        _count_orders(tables).restrict(_customers(tables).select("r_name = 'EUROPE'")).select("n > 20")
    ),
    "Europeans with more than 20 orders, grouped after": lambda tables: (
        _orders(tables)
        .select("r_name = 'EUROPE'")
        .group("o_custkey", population="customer", n="count(*)")
        .select("n > 20")
    ),
    "customers with more than 5 orders of 1995": lambda tables: (
        tables.orders.select(_IN_1995).group("o_custkey", population="customer", n="count(*)").select("n > 5")
    ),
}

_ORDERS: Definitions = {
    "orders of 1995": lambda tables: tables.orders.select(_IN_1995),
    "orders of Europeans of 1995": lambda tables: _orders(tables).select(f"r_name = 'EUROPE' AND {_IN_1995}"),
    "orders of Europeans of 1995, in other words": lambda tables: tables.orders.select(
        "year(o_orderdate) = 1995"
    ).lookup(
        _customers(tables, _nations(tables).select("r_name = 'EUROPE'")), on="o_custkey", attributes=[], missing="drop"
    ),
    "orders of Germans of 1995": lambda tables: _orders(tables).select(f"n_name = 'GERMANY' AND {_IN_1995}"),
    "orders of 1995 of customers of the nation Germany": lambda tables: tables.orders.select(_IN_1995).lookup(
        _customers(tables, tables.nation.select("n_name = 'GERMANY'")), on="o_custkey", attributes=[], missing="drop"
    ),
    "orders of Germans and French of 1994 to 1996": lambda tables: _orders(
        tables, _customers(tables).select("n_name IN ('GERMANY', 'FRANCE')")
    ).select("year(o_orderdate) BETWEEN 1994 AND 1996"),
    "orders of Asians of 1995": lambda tables: _orders(tables).select(f"r_name = 'ASIA' AND {_IN_1995}"),
    "orders of European builders": lambda tables: tables.orders.lookup(
        _customers(tables).select("r_name = 'EUROPE' AND c_mktsegment = 'BUILDING'"),
        on="o_custkey",
        attributes=[],
        missing="drop",
    ),
    "orders of 1995 of European builders": lambda tables: (
        _orders(tables).select("c_mktsegment = 'BUILDING'").select("year(o_orderdate) = 1995 AND r_name = 'EUROPE'")
    ),
    "orders with late items": lambda tables: tables.orders.having(
        tables.lineitem.select("l_receiptdate > l_commitdate"), on="l_orderkey"
    ),
    "orders with late items by air": lambda tables: tables.orders.having(
        tables.lineitem.select("l_commitdate < l_receiptdate AND l_shipmode = 'AIR'"), on="l_orderkey"
    ),
    "orders without late items": lambda tables: tables.orders.without(
        tables.lineitem.select("l_receiptdate > l_commitdate"), on="l_orderkey"
    ),
    "orders of 1995 with late items, selected before": lambda tables: tables.orders.select(_IN_1995).having(
        tables.lineitem.select("l_receiptdate > l_commitdate"), on="l_orderkey"
    ),
    "orders of 1995 with late items, selected after": lambda tables: (
        _items(tables, tables.orders.select("year(o_orderdate) = 1995"))
        .select("l_receiptdate > l_commitdate")
        .group("l_orderkey", population="order")
    ),
    "large orders": lambda tables: tables.lineitem.group("l_orderkey", population="order", q="sum(l_quantity)").select(
        "q > 200"
    ),
    "very large orders": lambda tables: tables.lineitem.group(
        "l_orderkey", population="order", q="sum(l_quantity)"
    ).select("q >= 250.5"),
    "very large orders of Europeans of 1995": lambda tables: (
        _items(tables, _orders(tables).select(f"r_name = 'EUROPE' AND {_IN_1995}"))
        .group("l_orderkey", population="order", q="sum(l_quantity)")
        .select("q >= 250.5")
    ),
    "latest order of each customer": lambda tables: tables.orders.first("o_custkey", "o_orderdate DESC"),
    "two latest orders of each customer": lambda tables: tables.orders.first("o_custkey", "o_orderdate DESC", n=2),
    "latest order of each European, selected before": lambda tables: (
        _orders(tables).select("r_name = 'EUROPE'").first("o_custkey", "o_orderdate DESC")
    ),
    "latest order of each European, selected after": lambda tables: tables.orders.first(
        "o_custkey", "o_orderdate DESC"
    ).lookup(_customers(tables).select("r_name = 'EUROPE'"), on="o_custkey", attributes=[], missing="drop"),
}

_ITEMS: Definitions = {
    "items of Europeans of 1995": lambda tables: _items(
        tables, _orders(tables).select(f"r_name = 'EUROPE' AND {_IN_1995}")
    ),
    "items of Europeans of 1995, selected after": lambda tables: follow_customer(
        tables.lineitem, tables, "o_orderdate"
    ).select(f"r_name = 'EUROPE' AND {_IN_1995}"),
    "items of Germans of 1995": lambda tables: follow_customer(tables.lineitem, tables, "o_orderdate").select(
        "n_name = 'GERMANY' AND year(o_orderdate) = 1995"
    ),
    "items of German suppliers": lambda tables: follow_supplier(tables.lineitem, tables, "l_suppkey").select(
        "n_name = 'GERMANY'"
    ),
    "items of European suppliers": lambda tables: follow_supplier(tables.lineitem, tables, "l_suppkey").select(
        "r_name = 'EUROPE'"
    ),
    "late items": lambda tables: tables.lineitem.select("l_receiptdate > l_commitdate"),
    "items of orders with late items": lambda tables: _items(
        tables, tables.orders.having(tables.lineitem.select("l_receiptdate > l_commitdate"), on="l_orderkey")
    ),
    "items in a group with late items": lambda tables: _items(
        tables, tables.lineitem.select("l_receiptdate > l_commitdate").group("l_orderkey", population="order")
    ),
    "items of orders without late items": lambda tables: _items(
        tables, tables.orders.without(tables.lineitem.select("l_receiptdate > l_commitdate"), on="l_orderkey")
    ),
    "items of small boxes": lambda tables: tables.lineitem.lookup(
        tables.part, on="l_partkey", attributes=["p_container"]
    ).select("p_container = 'SM BOX'"),
    "items of small containers": lambda tables: tables.lineitem.lookup(
        tables.part.select("p_container LIKE 'SM%'"), on="l_partkey", attributes=[], missing="drop"
    ),
    "items of small boxes, by their offers": lambda tables: tables.lineitem.lookup(
        tables.partsupp.lookup(
            tables.part.select("p_container = 'SM BOX'"), on="ps_partkey", attributes=[], missing="drop"
        ),
        on=["l_partkey", "l_suppkey"],
        attributes=[],
        missing="drop",
    ),
}

_OFFERS: Definitions = {
    "European offers": lambda tables: _offers(tables).select("r_name = 'EUROPE'"),
    "European offers of Brand#23": lambda tables: _offers(tables).select("r_name = 'EUROPE' AND p_brand = 'Brand#23'"),
    "offers that were ordered": lambda tables: tables.partsupp.having(tables.lineitem, on=["l_partkey", "l_suppkey"]),
    "offers that were ordered in 1994": lambda tables: tables.lineitem.select("year(l_shipdate) = 1994").group(
        ["l_partkey", "l_suppkey"], population="offer"
    ),
    "cheapest offers": lambda tables: tables.partsupp.first("ps_partkey", "ps_supplycost"),
    "cheapest European offers": lambda tables: (
        _offers(tables).select("r_name = 'EUROPE'").first("ps_partkey", "ps_supplycost")
    ),
    "cheapest offers of Brand#23": lambda tables: (
        _offers(tables).select("p_brand = 'Brand#23'").first("ps_partkey", "ps_supplycost")
    ),
}

_SUPPLIERS: Definitions = {
    "suppliers of forest parts": lambda tables: tables.supplier.having(
        _offers(tables).select("p_name LIKE 'forest%'"), on="ps_suppkey"
    ),
    "suppliers of some forest parts": lambda tables: tables.supplier.having(
        _offers(tables).select("p_name LIKE 'forest b%'"), on="ps_suppkey"
    ),
    "suppliers in Europe": lambda tables: tables.supplier.lookup(
        _nations(tables).select("r_name = 'EUROPE'"), on="s_nationkey", attributes=[], missing="drop"
    ),
    "suppliers with European offers": lambda tables: (
        _offers(tables).select("r_name = 'EUROPE'").group("ps_suppkey", population="supplier")
    ),
    "suppliers in Europe with offers": lambda tables: tables.supplier.lookup(
        _nations(tables).select("r_name = 'EUROPE'"), on="s_nationkey", attributes=[], missing="drop"
    ).having(tables.partsupp, on="ps_suppkey"),
    "suppliers in Asia with offers": lambda tables: (
        follow_supplier(tables.partsupp, tables, "ps_suppkey")
        .select("r_name = 'ASIA'")
        .group("ps_suppkey", population="supplier")
    ),
}

_PARTS: Definitions = {
    "parts with European offers": lambda tables: tables.part.having(
        _offers(tables).select("r_name = 'EUROPE'"), on="ps_partkey"
    ),
    "parts with German offers": lambda tables: tables.part.having(
        _offers(tables).select("n_name = 'GERMANY'"), on="ps_partkey"
    ),
    "parts whose cheapest offer is European": lambda tables: tables.part.having(
        follow_supplier(tables.partsupp.first("ps_partkey", "ps_supplycost"), tables, "ps_suppkey").select(
            "r_name = 'EUROPE'"
        ),
        on="ps_partkey",
    ),
    "parts without European offers": lambda tables: tables.part.without(
        _offers(tables).select("r_name = 'EUROPE'"), on="ps_partkey"
    ),
}


POPULATIONS: tuple[Definitions, ...] = (_NATIONS, _CUSTOMERS, _ORDERS, _ITEMS, _OFFERS, _SUPPLIERS, _PARTS)
"""The sets of each population, by name."""

SETS: Definitions = {name: define for definitions in POPULATIONS for name, define in definitions.items()}
"""All sets by name."""
