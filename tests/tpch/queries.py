"""The 22 queries of TPC-H in the verbs of catalogs, with the parameters of the validation run.

A join to the one side is a `lookup`, EXISTS and IN are `having`, NOT EXISTS is `without`, GROUP BY is a `group`. The
population of a group is that of the objects it groups by, where there is one: the revenue of a supplier is an attribute
of suppliers. What follows is said differently than in SQL:

- A scalar subquery is a group by a constant, and a lookup by the same constant (11, 15, 22). A group of no sources does
  not exist, whereas SQL returns one row of NULLs (6, 14, 17, 19).
- A correlated subquery is a group by the attributes that it compares, and a lookup of its value (2, 17, 20).
- "Another supplier of the same order" (21) is a count of distinct suppliers of the order.
- An outer join that counts nothing as 0 is a lookup with ``missing="null"``, and `coalesce` (13).
- ORDER BY and LIMIT belong to the request, not to the set: `QUERIES` states them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from provenn.archive import Catalog
from tests.tpch.tables import Tables

__all__ = ["QUERIES", "REVENUE", "Query", "follow_customer", "follow_supplier"]

REVENUE = "l_extendedprice * (1 - l_discount)"
_TOTAL = {"total": "0"}
"""The constant by which everything is one group."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query in verbs.

    Parameters
    ----------
    number
        The number of the query in the TPC-H specification.
    define
        Returns the catalog that answers it; its attributes have the names of the columns in SQL.
    order
        The columns by which the answer is sorted, "-" before descending ones.
    limit
        How many rows of the sorted answer are asked for.
    """

    number: int
    define: Callable[[Tables], Catalog]
    order: tuple[str, ...]
    limit: int | None


QUERIES: dict[int, Query] = {}
"""The queries by number."""


def _query(number: int, *order: str, limit: int | None = None) -> Callable[..., Callable[[Tables], Catalog]]:
    """Return a decorator that adds a query to `QUERIES`."""

    def add(define: Callable[[Tables], Catalog]) -> Callable[[Tables], Catalog]:
        QUERIES[number] = Query(number, define, order, limit)
        return define

    return add


def follow_supplier(catalog: Catalog, tables: Tables, on: str, *attributes: str, prefix: str = "") -> Catalog:
    """Look up a supplier with its nation and region."""
    return _follow_nation(
        catalog.lookup(tables.supplier, on=on, attributes=["s_nationkey", *attributes]), tables, "s_nationkey", prefix
    )


def follow_customer(catalog: Catalog, tables: Tables, *attributes: str, prefix: str = "") -> Catalog:
    """Look up the order of an item, and its customer with nation and region."""
    orders = tables.orders.lookup(tables.customer, on="o_custkey", attributes=["c_nationkey"])
    items = catalog.lookup(orders, on="l_orderkey", attributes=["c_nationkey", *attributes])
    return _follow_nation(items, tables, "c_nationkey", prefix)


def _follow_nation(catalog: Catalog, tables: Tables, on: str, prefix: str) -> Catalog:
    nations = tables.nation.lookup(tables.region, on="n_regionkey", attributes=["r_name"])
    return catalog.lookup(nations, on=on, attributes=["n_name", "r_name"], prefix=prefix)


@_query(1, "l_returnflag", "l_linestatus")
def summarise_prices(tables: Tables) -> Catalog:
    """Return totals of items by return flag and status."""
    return tables.lineitem.select("l_shipdate <= DATE '1998-09-02'").group(
        ["l_returnflag", "l_linestatus"],
        sum_qty="sum(l_quantity)",
        sum_base_price="sum(l_extendedprice)",
        sum_disc_price=f"sum({REVENUE})",
        sum_charge=f"sum({REVENUE} * (1 + l_tax))",
        avg_qty="avg(l_quantity)",
        avg_price="avg(l_extendedprice)",
        avg_disc="avg(l_discount)",
        count_order="count(*)",
    )


@_query(2, "-s_acctbal", "n_name", "s_name", "p_partkey", limit=100)
def find_cheapest_suppliers(tables: Tables) -> Catalog:
    """Return the European offers with the lowest European price of their parts."""
    offers = follow_supplier(
        tables.partsupp, tables, "ps_suppkey", "s_acctbal", "s_name", "s_address", "s_phone", "s_comment"
    )
    european = offers.select("r_name = 'EUROPE'")
    cheapest = european.group("ps_partkey", population="part", lowest="min(ps_supplycost)")
    parts = tables.part.select("p_size = 15 AND p_type LIKE '%BRASS'").combine(cheapest)
    best = european.lookup(parts, on="ps_partkey", attributes=["p_mfgr", "lowest"], missing="drop")
    return best.select("ps_supplycost = lowest").rename(ps_partkey="p_partkey")


@_query(3, "-revenue", "o_orderdate", limit=10)
def find_shipping_priorities(tables: Tables) -> Catalog:
    """Return the revenue of orders that are not shipped yet."""
    customers = tables.customer.select("c_mktsegment = 'BUILDING'")
    orders = tables.orders.select("o_orderdate < DATE '1995-03-15'").lookup(
        customers, on="o_custkey", attributes=[], missing="drop"
    )
    items = tables.lineitem.select("l_shipdate > DATE '1995-03-15'")
    revenues = items.lookup(orders, on="l_orderkey", attributes=[], missing="drop").group(
        "l_orderkey", population="order", revenue=f"sum({REVENUE})"
    )
    return revenues.combine(tables.orders.rename(o_orderkey="l_orderkey"))


@_query(4, "o_orderpriority")
def check_priorities(tables: Tables) -> Catalog:
    """Return numbers of orders with late items by priority."""
    late = tables.lineitem.select("l_commitdate < l_receiptdate")
    orders = tables.orders.select("o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-10-01'")
    return orders.having(late, on="l_orderkey").group("o_orderpriority", order_count="count(*)")


@_query(5, "-revenue")
def sum_local_suppliers(tables: Tables) -> Catalog:
    """Return the revenue between customers and suppliers of one nation."""
    items = follow_customer(tables.lineitem, tables, "o_orderdate", prefix="c_")
    items = follow_supplier(items, tables, "l_suppkey")
    year = items.select("o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01'")
    return year.select("c_nationkey = s_nationkey AND r_name = 'ASIA'").group("n_name", revenue=f"sum({REVENUE})")


@_query(6)
def forecast_revenue(tables: Tables) -> Catalog:
    """Return what discounts cost."""
    items = tables.lineitem.select(
        "l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' "
        "AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24"
    )
    return items.derive(_TOTAL).group("total", revenue="sum(l_extendedprice * l_discount)")


@_query(7, "supp_nation", "cust_nation", "l_year")
def sum_shipping(tables: Tables) -> Catalog:
    """Return the trade between two nations: a nation is looked up twice, in two roles."""
    items = follow_supplier(tables.lineitem, tables, "l_suppkey", prefix="supp_")
    items = follow_customer(items, tables, prefix="cust_")
    items = items.rename(supp_n_name="supp_nation", cust_n_name="cust_nation")
    trade = items.select(
        "(supp_nation = 'FRANCE' AND cust_nation = 'GERMANY' OR supp_nation = 'GERMANY' AND cust_nation = 'FRANCE') "
        "AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'"
    )
    by_year = trade.derive(l_year="year(l_shipdate)")
    return by_year.group(["supp_nation", "cust_nation", "l_year"], revenue=f"sum({REVENUE})")


@_query(8, "o_year")
def share_market(tables: Tables) -> Catalog:
    """Return the share of a nation in the market for a part."""
    items = follow_customer(tables.lineitem, tables, "o_orderdate", prefix="cust_")
    items = follow_supplier(items, tables, "l_suppkey", prefix="supp_")
    parts = tables.part.select("p_type = 'ECONOMY ANODIZED STEEL'")
    american = items.lookup(parts, on="l_partkey", attributes=[], missing="drop").select(
        "cust_r_name = 'AMERICA' AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'"
    )
    shares = american.derive(o_year="year(o_orderdate)").group(
        "o_year",
        volume=f"sum({REVENUE})",
        brazilian=f"sum(CASE WHEN supp_n_name = 'BRAZIL' THEN {REVENUE} ELSE 0 END)",
    )
    return shares.derive(mkt_share="CAST(brazilian AS double) / CAST(volume AS double)")


@_query(9, "nation", "-o_year")
def sum_profits(tables: Tables) -> Catalog:
    """Return the profit by nation and year: the offer of an item has a key of two attributes."""
    parts = tables.part.select("p_name LIKE '%green%'")
    items = tables.lineitem.lookup(parts, on="l_partkey", attributes=[], missing="drop")
    items = items.lookup(tables.partsupp, on=["l_partkey", "l_suppkey"], attributes=["ps_supplycost"])
    items = items.lookup(tables.orders, on="l_orderkey", attributes=["o_orderdate"])
    items = follow_supplier(items, tables, "l_suppkey").rename(n_name="nation")
    return items.derive(o_year="year(o_orderdate)").group(
        ["nation", "o_year"], sum_profit=f"sum({REVENUE} - ps_supplycost * l_quantity)"
    )


@_query(10, "-revenue", limit=20)
def list_returned_items(tables: Tables) -> Catalog:
    """Return the revenue that customers sent back."""
    orders = tables.orders.select("o_orderdate >= DATE '1993-10-01' AND o_orderdate < DATE '1994-01-01'")
    items = tables.lineitem.select("l_returnflag = 'R'")
    returned = items.lookup(orders, on="l_orderkey", attributes=["o_custkey"], missing="drop").rename(
        o_custkey="c_custkey"
    )
    revenues = returned.group("c_custkey", population="customer", revenue=f"sum({REVENUE})")
    return revenues.combine(tables.customer.lookup(tables.nation, on="c_nationkey", attributes=["n_name"]))


@_query(11, "-value", "ps_partkey")
def find_important_stock(tables: Tables) -> Catalog:
    """Return the parts that make up much of the stock of a nation."""
    offers = follow_supplier(tables.partsupp, tables, "ps_suppkey").select("n_name = 'GERMANY'").derive(_TOTAL)
    value = "sum(ps_supplycost * ps_availqty)"
    stock = offers.group("total", population="stock", all_value=value)
    parts = offers.group("ps_partkey", population="part", value=value)
    return (
        parts.derive(_TOTAL)
        .lookup(stock, on="total")
        .select("CAST(value AS decimal(28,2)) > CAST(all_value AS decimal(28,2)) * 0.0001")
    )


@_query(12, "l_shipmode")
def compare_shipping_modes(tables: Tables) -> Catalog:
    """Return how many late items belong to urgent orders."""
    late = tables.lineitem.select(
        "l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate "
        "AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01'"
    )
    items = late.lookup(tables.orders, on="l_orderkey", attributes=["o_orderpriority"])
    return items.derive(urgent="o_orderpriority IN ('1-URGENT', '2-HIGH')").group(
        "l_shipmode",
        high_line_count="sum(CASE WHEN urgent THEN 1 ELSE 0 END)",
        low_line_count="sum(CASE WHEN urgent THEN 0 ELSE 1 END)",
    )


@_query(13, "-custdist", "-c_count")
def distribute_customers(tables: Tables) -> Catalog:
    """Return how many customers have how many orders, 0 included."""
    orders = tables.orders.select("o_comment NOT LIKE '%special%requests%'")
    counts = orders.group("o_custkey", population="customer", number="count(*)")
    customers = tables.customer.lookup(counts, on="c_custkey", missing="null").derive(c_count="coalesce(number, 0)")
    return customers.group("c_count", custdist="count(*)")


@_query(14)
def measure_promotions(tables: Tables) -> Catalog:
    """Return the share of promoted parts in the revenue of a month."""
    month = tables.lineitem.select("l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'")
    revenues = (
        month.lookup(tables.part, on="l_partkey", attributes=["p_type"])
        .derive(_TOTAL)
        .group(
            "total",
            promoted=f"sum(CASE WHEN p_type LIKE 'PROMO%' THEN {REVENUE} ELSE 0 END)",
            revenue=f"sum({REVENUE})",
        )
    )
    return revenues.derive(promo_revenue="100.0D * CAST(promoted AS double) / CAST(revenue AS double)")


@_query(15, "s_suppkey")
def find_top_supplier(tables: Tables) -> Catalog:
    """Return the suppliers with the highest revenue."""
    quarter = tables.lineitem.select("l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-04-01'")
    revenues = quarter.rename(l_suppkey="s_suppkey").group(
        "s_suppkey", population="supplier", total_revenue=f"sum({REVENUE})"
    )
    constant = revenues.derive(_TOTAL)
    highest = constant.group("total", population="top revenue", highest="max(total_revenue)")
    return constant.lookup(highest, on="total").select("total_revenue = highest").combine(tables.supplier)


@_query(16, "-supplier_cnt", "p_brand", "p_type", "p_size")
def count_suppliers(tables: Tables) -> Catalog:
    """Return numbers of suppliers without complaints by kinds of parts."""
    parts = tables.part.select(
        "p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)"
    )
    trusted = tables.supplier.exclude(tables.supplier.select("s_comment LIKE '%Customer%Complaints%'"))
    offers = tables.partsupp.lookup(trusted, on="ps_suppkey", attributes=[], missing="drop")
    offers = offers.lookup(parts, on="ps_partkey", attributes=["p_brand", "p_type", "p_size"], missing="drop")
    return offers.group(["p_brand", "p_type", "p_size"], supplier_cnt="count(DISTINCT ps_suppkey)")


@_query(17)
def sum_small_quantities(tables: Tables) -> Catalog:
    """Return the yearly revenue of small quantities of a part."""
    usual = tables.lineitem.group("l_partkey", population="part", usual="avg(l_quantity)")
    parts = tables.part.select("p_brand = 'Brand#23' AND p_container = 'MED BOX'").combine(usual)
    items = tables.lineitem.lookup(parts, on="l_partkey", attributes=["usual"], missing="drop")
    small = items.select("l_quantity < 0.2 * usual").derive(_TOTAL)
    return small.group("total", price="sum(l_extendedprice)").derive(avg_yearly="CAST(price AS double) / 7.0D")


@_query(18, "-o_totalprice", "o_orderdate", limit=100)
def find_large_orders(tables: Tables) -> Catalog:
    """Return the orders of more than 300 pieces, with their customers."""
    quantities = tables.lineitem.group("l_orderkey", population="order", sum_quantity="sum(l_quantity)")
    large = quantities.select("sum_quantity > 300").rename(l_orderkey="o_orderkey").combine(tables.orders)
    return large.lookup(tables.customer, on="o_custkey", attributes=["c_name"]).rename(o_custkey="c_custkey")


@_query(19)
def sum_discounted_revenue(tables: Tables) -> Catalog:
    """Return the revenue of some kinds of parts in some quantities."""
    items = tables.lineitem.lookup(tables.part, on="l_partkey", attributes=["p_brand", "p_container", "p_size"])
    kinds = (
        ("Brand#12", "'SM CASE', 'SM BOX', 'SM PACK', 'SM PKG'", 1, 5),
        ("Brand#23", "'MED BAG', 'MED BOX', 'MED PKG', 'MED PACK'", 10, 10),
        ("Brand#34", "'LG CASE', 'LG BOX', 'LG PACK', 'LG PKG'", 20, 15),
    )
    choice = " OR ".join(
        f"(p_brand = '{brand}' AND p_container IN ({containers}) AND p_size BETWEEN 1 AND {size} "
        f"AND l_quantity BETWEEN {least} AND {least + 10})"
        for brand, containers, least, size in kinds
    )
    by_air = items.select("l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON'")
    return by_air.select(choice).derive(_TOTAL).group("total", revenue=f"sum({REVENUE})")


@_query(20, "s_name")
def find_excess_stock(tables: Tables) -> Catalog:
    """Return the suppliers of a nation with much more stock of a part than was ordered."""
    year = tables.lineitem.select("l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'")
    ordered = year.group(["l_partkey", "l_suppkey"], population="offer", ordered="sum(l_quantity)")
    forest = tables.part.select("p_name LIKE 'forest%'")
    offers = tables.partsupp.combine(ordered.rename(l_partkey="ps_partkey", l_suppkey="ps_suppkey"))
    excess = offers.select("ps_availqty > 0.5 * ordered").lookup(forest, on="ps_partkey", attributes=[], missing="drop")
    nations = tables.nation.select("n_name = 'CANADA'")
    suppliers = tables.supplier.lookup(nations, on="s_nationkey", attributes=[], missing="drop")
    return suppliers.having(excess, on="ps_suppkey")


@_query(21, "-numwait", "s_name", limit=100)
def find_late_suppliers(tables: Tables) -> Catalog:
    """Return the suppliers who alone kept orders of several suppliers waiting."""
    late = tables.lineitem.select("l_receiptdate > l_commitdate")
    number = "count(DISTINCT l_suppkey)"
    several = tables.lineitem.group("l_orderkey", population="order", suppliers=number).select("suppliers > 1")
    alone = late.group("l_orderkey", population="order", late_suppliers=number).select("late_suppliers = 1")
    orders = tables.orders.select("o_orderstatus = 'F'").restrict(several).restrict(alone)
    waiting = late.lookup(orders, on="l_orderkey", attributes=[], missing="drop")
    waiting = follow_supplier(waiting, tables, "l_suppkey", "s_name").select("n_name = 'SAUDI ARABIA'")
    return waiting.group("s_name", numwait="count(*)")


@_query(22, "cntrycode")
def find_sales_opportunities(tables: Tables) -> Catalog:
    """Return customers with a high balance and no orders, by country code."""
    customers = tables.customer.derive(cntrycode="substring(c_phone, 1, 2)", **_TOTAL).select(
        "cntrycode IN ('13', '31', '23', '29', '30', '18', '17')"
    )
    average = customers.select("c_acctbal > 0.00").group("total", population="balance", average="avg(c_acctbal)")
    rich = customers.lookup(average, on="total").select("c_acctbal > average")
    idle = rich.without(tables.orders, on="o_custkey")
    return idle.group("cntrycode", numcust="count(*)", totacctbal="sum(c_acctbal)")
