"""Relations between sets of TPC-H: what must be proved is proved, and what is proved holds in DuckDB's rows."""

from itertools import combinations

import pytest

from tests.tpch.sets import POPULATIONS, SETS, find_keys

PAIRS = [pair for definitions in POPULATIONS for pair in combinations(definitions, 2)]

HOLDS = {
    "equal": lambda left, right: left == right,
    "subset": lambda left, right: left <= right,
    "superset": lambda left, right: left >= right,
    "disjoint": lambda left, right: not left & right,
    "overlapping": lambda left, right: bool(left & right),
    "unknown": lambda left, right: True,  # noqa: ARG005 - nothing is claimed
}

PROVED = [
    line.split(" -- ")
    for line in """
nations of Europe -- equal -- nations in the region Europe
nations of Europe -- disjoint -- nations of Asia
Germany -- superset -- nations with German customers
customers in Europe -- equal -- customers of European nations
customers in Europe -- disjoint -- customers in Asia
customers of European nations -- disjoint -- customers outside Europe
customers in Asia -- subset -- customers outside Europe
customers in Germany -- subset -- customers in Germany or France
builders in Europe, selected before -- equal -- builders in Europe, selected after
builders in Europe, selected after -- subset -- builders
builders in Europe, selected before -- disjoint -- customers outside Europe
customers with orders -- disjoint -- customers without orders
customers with orders of January 1995 -- subset -- customers with orders of 1995
customers with orders of 1995 -- subset -- customers with orders of 1994 or 1995
customers with orders of 1995 -- subset -- customers with orders
customers with orders of 1995 -- disjoint -- customers without orders
Europeans with orders of 1995 -- equal -- customers with European orders of 1995
Europeans with orders of 1995 -- subset -- customers of European nations
customers with European orders of 1995 -- disjoint -- customers outside Europe
customers with orders -- subset -- customers that orders name
customers with orders -- equal -- customers combined with numbers of orders
customers with more than 20 orders -- subset -- customers with more than 10 orders
customers with more than 20 orders -- disjoint -- customers with at most 10 orders
customers with more than 20 orders -- disjoint -- customers without orders
Europeans with more than 20 orders, grouped before -- equal -- Europeans with more than 20 orders, grouped after
Europeans with more than 20 orders, grouped after -- subset -- customers with more than 10 orders
Europeans with more than 20 orders, grouped after -- subset -- customers with orders
customers with more than 5 orders of 1995 -- disjoint -- customers without orders
customers with more than 5 orders of 1995 -- subset -- customers that orders name
orders of Europeans of 1995 -- equal -- orders of Europeans of 1995, in other words
orders of Europeans of 1995 -- subset -- orders of 1995
orders of Europeans of 1995 -- disjoint -- orders of Asians of 1995
orders of Germans of 1995 -- subset -- orders of Germans and French of 1994 to 1996
orders of 1995 of European builders -- subset -- orders of European builders
orders of 1995 of European builders -- subset -- orders of Europeans of 1995, in other words
orders of European builders -- disjoint -- orders of Asians of 1995
orders with late items by air -- subset -- orders with late items
orders with late items by air -- disjoint -- orders without late items
orders of 1995 with late items, selected before -- equal -- orders of 1995 with late items, selected after
orders of 1995 with late items, selected after -- subset -- orders of 1995
orders of 1995 with late items, selected after -- disjoint -- orders without late items
very large orders -- subset -- large orders
very large orders of Europeans of 1995 -- subset -- very large orders
very large orders of Europeans of 1995 -- subset -- orders of Europeans of 1995, in other words
very large orders of Europeans of 1995 -- disjoint -- orders of Asians of 1995
latest order of each customer -- subset -- two latest orders of each customer
latest order of each European, selected before -- equal -- latest order of each European, selected after
latest order of each European, selected before -- subset -- two latest orders of each customer
latest order of each European, selected after -- disjoint -- orders of Asians of 1995
items of Europeans of 1995 -- equal -- items of Europeans of 1995, selected after
items of orders with late items -- disjoint -- items of orders without late items
items in a group with late items -- disjoint -- items of orders without late items
items of small boxes -- subset -- items of small containers
European offers of Brand#23 -- subset -- European offers
cheapest European offers -- subset -- European offers
suppliers of some forest parts -- subset -- suppliers of forest parts
suppliers with European offers -- subset -- suppliers in Europe
suppliers with European offers -- subset -- suppliers in Europe with offers
parts whose cheapest offer is European -- subset -- parts with European offers
parts whose cheapest offer is European -- disjoint -- parts without European offers
""".strip().splitlines()
]


def is_proved(archive, left, relation, right):
    """Return whether a relation, or the equality of both sets, is proved."""
    return archive.relate(left, right).summary in {relation, "equal" if relation.endswith("set") else relation}


@pytest.fixture(scope="module")
def catalogs(tpch):
    return {name: define(tpch.tables) for name, define in SETS.items()}


@pytest.fixture(scope="module")
def keys(tpch):
    return find_keys(tpch.duckdb)


@pytest.mark.parametrize(("left", "relation", "right"), PROVED, ids=lambda text: text)
def test_a_relation_between_variants_is_proved(tpch, catalogs, left, relation, right):
    assert is_proved(tpch.archive, catalogs[left], relation, catalogs[right])


@pytest.mark.parametrize("stride", [pytest.param(1, marks=pytest.mark.campaign), 6])
def test_every_proved_relation_holds_in_the_rows(tpch, catalogs, keys, stride):
    pairs = [*((left, right) for left, _, right in PROVED), *PAIRS[::stride]]
    summaries = {pair: tpch.archive.relate(*map(catalogs.get, pair)).summary for pair in pairs}
    wrong = [(pair, summary) for pair, summary in summaries.items() if not HOLDS[summary](*map(keys.get, pair))]
    assert wrong == []
    assert sum(summary != "unknown" for summary in summaries.values()) > len(PROVED)


def test_the_sets_are_no_trivial_sets(keys):
    assert [name for name, rows in keys.items() if not rows] == []


def test_a_fact_about_nations_is_a_fact_about_their_customers_and_orders(tpch, catalogs, keys):
    inside = [
        ("customers of the nation Germany", "customers of European nations"),
        ("orders of 1995 of customers of the nation Germany", "orders of Europeans of 1995, in other words"),
    ]
    assert all(keys[part] < keys[whole] for part, whole in inside)

    def relate():
        return [tpch.archive.relate(catalogs[part], catalogs[whole]) for part, whole in inside]

    assert [relation.summary for relation in relate()] == ["unknown", "unknown"], "no definition says where Germany is"
    catalogs["Germany"].named("germany")
    catalogs["nations of Europe"].named("europe")
    fact = tpch.archive.declare("germany <= europe", reason="geography")
    assert [(relation.summary, relation.rests_on) for relation in relate()] == [("subset", (fact,))] * 2
    tpch.archive.retract(fact.id)
    assert [relation.summary for relation in relate()] == ["unknown", "unknown"]


def test_references_that_were_verified_prove_more(tpch, catalogs, keys):
    tables = tpch.tables
    inside = [
        ("customers with more than 10 orders", "customers with orders"),
        ("customers with more than 5 orders of 1995", "customers with orders of 1995"),
        ("late items", "items of orders with late items"),
    ]
    assert all(keys[part] < keys[whole] for part, whole in inside)

    def relate():
        return [tpch.archive.relate(catalogs[part], catalogs[whole]).summary for part, whole in inside]

    assert relate() == ["unknown"] * 3, "a reference may lead nowhere"
    assert tables.orders.lookup(tables.customer, on="o_custkey", attributes=["c_name"]).count() == 15_000
    assert relate() == ["subset", "subset", "unknown"]
    items = tables.lineitem.lookup(tables.orders, on="l_orderkey", attributes=["o_orderdate"])
    assert items.count() == len(tpch.duckdb.execute("FROM lineitem").fetchall())
    assert relate() == ["subset"] * 3


@pytest.mark.campaign
@pytest.mark.parametrize("name", SETS)
def test_a_set_in_verbs_has_the_keys_of_the_set_in_sql(catalogs, keys, name):
    key = [attribute.name for attribute in catalogs[name].schema.key]
    columns = catalogs[name].to_arrow().select(key).to_pydict()
    assert set(zip(*columns.values(), strict=True)) == keys[name]
