"""Stored groups of TPC-H: narrower questions read them, and compute none of their values again."""

import pytest

from provenn.targets.reference_steps import Group
from provenn.targets.steps import FragmentScan, Scan, walk_steps
from tests.tpch.queries import REVENUE

SUMS = {"revenue": f"sum({REVENUE})", "n": "count(*)"}
YEAR = "year(o_orderdate) = 1995"


@pytest.fixture(scope="module")
def revenues(tpch):
    """The revenue of each order, stored; in DuckDB as well."""
    tpch.duckdb.execute(
        "CREATE VIEW revenues AS SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, count(*) AS n "
        "FROM lineitem GROUP BY l_orderkey"
    )
    catalog = group_by_order(tpch.tables.lineitem).named("revenues")
    catalog.store()
    return catalog


def group_by_order(items):
    return items.group("l_orderkey", SUMS, population="order")


def find_european_orders(tables):
    nations = tables.nation.lookup(tables.region, on="n_regionkey", attributes=["r_name"]).select("r_name = 'EUROPE'")
    customers = tables.customer.lookup(nations, on="c_nationkey", attributes=[], missing="drop")
    return tables.orders.lookup(customers, on="o_custkey", attributes=[], missing="drop")


def find_items(tables, orders):
    return tables.lineitem.lookup(orders, on="l_orderkey", attributes=[], missing="drop")


NARROWER = {
    "groups of some orders": (
        lambda tables: tables.orders.archive["revenues"].restrict(tables.orders.select(YEAR)),
        "FROM revenues WHERE l_orderkey IN (SELECT o_orderkey FROM orders WHERE year(o_orderdate) = 1995)",
    ),
    "items of some orders, grouped": (
        lambda tables: group_by_order(find_items(tables, tables.orders.select(YEAR))),
        "FROM revenues WHERE l_orderkey IN (SELECT o_orderkey FROM orders WHERE year(o_orderdate) = 1995)",
    ),
    "items of European customers, grouped": (
        lambda tables: group_by_order(find_items(tables, find_european_orders(tables))),
        """FROM revenues WHERE l_orderkey IN (
            SELECT o_orderkey FROM orders, customer, nation, region
            WHERE o_custkey = c_custkey AND c_nationkey = n_nationkey AND n_regionkey = r_regionkey
            AND r_name = 'EUROPE'
        )""",
    ),
    "groups with a large sum": (
        lambda tables: tables.orders.archive["revenues"].select("revenue > 300000"),
        "FROM revenues WHERE revenue > 300000",
    ),
    "items with some keys, grouped": (
        lambda tables: group_by_order(tables.lineitem.select("l_orderkey < 1000")),
        "FROM revenues WHERE l_orderkey < 1000",
    ),
}


def find_rows(catalog, *columns):
    return set(zip(*catalog.to_arrow().select(columns).to_pydict().values(), strict=True))


@pytest.mark.usefixtures("revenues")
@pytest.mark.parametrize("case", NARROWER)
def test_a_narrower_question_reads_the_stored_groups(tpch, case):
    define, sql = NARROWER[case]
    catalog = define(tpch.tables)
    steps = list(walk_steps(catalog.plan().after))
    items = tpch.tables.lineitem.digest
    assert any(isinstance(step, FragmentScan) for step in steps)
    assert not any(isinstance(step, Group) or (isinstance(step, Scan) and step.base.digest == items) for step in steps)
    assert find_rows(catalog, "l_orderkey", "revenue", "n") == set(tpch.duckdb.execute(sql).fetchall())


def test_a_selection_of_members_is_computed_anew(tpch, revenues):
    by_air = group_by_order(tpch.tables.lineitem.select("l_shipmode = 'AIR'"))
    assert by_air.schema["revenue"].identity != revenues.schema["revenue"].identity
    assert not any(isinstance(step, FragmentScan) for step in walk_steps(by_air.plan().after))
    sql = "SELECT l_orderkey, count(*) FROM lineitem WHERE l_shipmode = 'AIR' GROUP BY l_orderkey"
    assert find_rows(by_air, "l_orderkey", "n") == set(tpch.duckdb.execute(sql).fetchall())


def test_the_revenue_of_customers_is_summed_from_the_stored_revenue_of_orders(tpch, revenues):
    orders = tpch.tables.orders.rename(o_orderkey="l_orderkey").combine(revenues)
    customers = orders.group("o_custkey", population="customer", spent="sum(revenue)")
    scans = [step.base.digest for step in walk_steps(customers.plan().after) if isinstance(step, Scan)]
    assert scans == [tpch.tables.orders.digest]
    sql = "SELECT o_custkey, sum(revenue) FROM revenues JOIN orders ON l_orderkey = o_orderkey GROUP BY o_custkey"
    assert find_rows(customers, "o_custkey", "spent") == set(tpch.duckdb.execute(sql).fetchall())
