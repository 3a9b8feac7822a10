"""Rules of the normal form, of outer groups, anti joins and set operations: each keeps the rows of random tables."""
# ruff: noqa: E501 - a query reads best in one line

import pytest

from benchmarks.query_pairs import SUITE
from benchmarks.query_suites import read_suite
from tests.queries.shops import make_shop

RULES = {
    "condition on a group": "SELECT customer, count(*) AS n FROM orders GROUP BY customer HAVING customer > 2 AND count(*) > 0",
    "condition on a group of NULL": "SELECT city, n FROM (SELECT city, count(*) AS n FROM customers GROUP BY city) x WHERE city IS NULL OR city = 'Oslo'",
    "condition on a renamed group": "SELECT a FROM (SELECT customer + 1 AS a, sum(total) AS s FROM orders GROUP BY customer + 1) x WHERE a > 3 AND s > 1",
    "condition on no group": "SELECT n FROM (SELECT customer, count(*) AS n FROM orders GROUP BY customer) x WHERE 1 = 0",
    "rejected NULL": "SELECT o.id, c.city FROM orders o LEFT JOIN customers c ON o.customer = c.id WHERE c.age + 1 > 19",
    "rejected NULL, right": "SELECT o.id, c.city FROM customers c RIGHT JOIN orders o ON o.customer = c.id WHERE c.city LIKE '%o%'",
    "rejected NULL, full": "SELECT c.id, v.level FROM customers c FULL JOIN vips v ON c.id = v.id WHERE v.id IS NOT NULL",
    "rejected NULL on both sides": "SELECT c.id, v.level FROM customers c FULL JOIN vips v ON c.id = v.id WHERE v.id > 1 AND c.id IN (1, 2, 3, 4)",
    "kept NULL": "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer = c.id WHERE coalesce(c.age, 0) < 20",
    "kept NULL, OR": "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer = c.id WHERE c.age > 19 OR c.age IS NULL",
    "kept NULL, <=>": "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer = c.id WHERE c.age <=> o.total",
    "no partner": "SELECT o.id, c.city FROM orders o LEFT JOIN customers c ON o.customer = c.id WHERE c.id IS NULL AND o.total > 1",
    "no partner with a condition": "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer = c.id AND c.age > 19 WHERE c.id IS NULL",
    "no partner, right": "SELECT o.id FROM customers c RIGHT JOIN orders o ON o.customer = c.id WHERE c.id IS NULL",
    "a NULL that a partner may have": "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer = c.id WHERE c.age IS NULL",
    "counts of partners": "SELECT c.id, count(o.id) AS n, count(o.total) AS m FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id",
    "sums of partners": "SELECT c.city, c.id, sum(o.total + 1) AS s, max(o.day) AS d, avg(o.total) AS a FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.day = 'mon' GROUP BY c.id, c.city",
    "counts of different values of partners": "SELECT c.id, count(DISTINCT o.total) AS n FROM orders o RIGHT JOIN customers c ON o.customer = c.id GROUP BY c.id",
    "counts of counts": "SELECT n, count(*) AS times FROM (SELECT c.id, count(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id) x GROUP BY n",
    "partners, then HAVING": "SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id HAVING count(o.id) = 0",
    "count of a key": "SELECT customer, count(id) AS n, count(total) AS m FROM orders GROUP BY customer",
    "order of groups": "SELECT city, age, count(*) AS n FROM customers GROUP BY age, city",
    "INTERSECT by the key": "SELECT id FROM orders INTERSECT SELECT customer FROM orders",
    "EXCEPT by the key": "SELECT id FROM customers EXCEPT SELECT customer FROM orders",
    "INTERSECT of the key and NULL": "SELECT id, total FROM orders INTERSECT SELECT order_id, price FROM items",
    "groups of two columns of one name": "SELECT a.city AS x, b.city AS y, count(*) AS n FROM orders o JOIN customers a ON o.customer = a.id JOIN customers b ON o.total = b.id GROUP BY b.city, a.city",
}


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    return [make_shop(tmp_path_factory.mktemp("shop"), seed) for seed in range(5)]


@pytest.mark.parametrize("text", RULES.values(), ids=RULES)
def test_a_rule_keeps_the_rows(text, shops):
    for shop in shops:
        translation = shop.translate(text)
        assert shop.compute(translation) == shop.run(text)


def test_aggregates_that_see_rows_without_partners_are_no_outer_groups(shops):
    """count(*) counts the row without a partner, and coalesce makes a value of its NULL: both stay opaque."""
    for value in ("count(*)", "sum(coalesce(o.total, 1))", "count(c.id)"):
        text = f"SELECT c.id, {value} AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id"  # noqa: S608 - no input
        with pytest.raises(NotImplementedError, match="opaque"):
            shops[0].translate(text)


def test_the_suite_of_pairs_covers_every_kind():
    kinds = {pair.kind for pair in read_suite(SUITE)}
    assert kinds == {"plain", "join", "outer join", "subquery", "aggregate", "set operation"}
