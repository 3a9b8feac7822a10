"""Rules of the normal form, of outer groups, anti joins and set operations: each keeps the rows of random tables."""
# ruff: noqa: E501 - a query reads best in one line

from itertools import combinations

import pytest

from benchmarks.query_pairs import SUITE
from benchmarks.query_suites import read_suite
from provenn.logic import equal, subset
from tests.queries.shops import make_shop, prove

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
    "several partners, left": "SELECT c.id, c.city, o.id AS oid, o.total FROM customers c LEFT JOIN orders o ON o.customer = c.id",
    "several partners, right": "SELECT c.id, o.total FROM orders o RIGHT JOIN customers c ON o.customer = c.id AND o.total > 2",
    "several partners, full": "SELECT c.id, o.id AS oid, o.day FROM orders o FULL JOIN customers c ON o.customer = c.id",
    "several partners, full, and a condition": "SELECT c.id, o.id AS oid FROM orders o FULL JOIN customers c ON o.customer = c.id AND c.age > 19 WHERE c.city = 'Oslo' OR o.total > 1",
    "several partners, then groups": "SELECT c.city, count(*) AS n, sum(o.total) AS s FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.city",
    "several partners, then DISTINCT": "SELECT DISTINCT c.age, o.day FROM customers c LEFT JOIN orders o ON o.customer = c.id",
    "several partners, then all rows": "SELECT count(*) AS n, max(o.total) AS m FROM customers c LEFT JOIN orders o ON o.customer = c.id",
    "several partners, then a partner": "SELECT c.id, v.level, o.total FROM customers c LEFT JOIN orders o ON o.customer = c.id LEFT JOIN vips v ON v.id = c.id",
    "several partners, then another table": "SELECT c.id, o.id AS oid, v.level FROM customers c LEFT JOIN orders o ON o.customer = c.id JOIN vips v ON v.id = c.id",
    "several partners, with constants": "SELECT c.id, o.word, o.id + 1 AS n FROM customers c LEFT JOIN (SELECT id, customer, 'x' AS word FROM orders) o ON o.customer = c.id",
    "several partners, and a window": "SELECT c.id, rank() OVER (PARTITION BY c.city ORDER BY o.total) AS r FROM customers c LEFT JOIN orders o ON o.customer = c.id",
    "none of several partners": "SELECT c.id, c.city, o.id AS oid FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL",
    "none of several partners with a condition": "SELECT c.id FROM orders o RIGHT JOIN customers c ON o.customer = c.id AND o.total > 2 WHERE o.id IS NULL AND c.age > 19",
    "none of many partners": "SELECT a.id FROM orders a LEFT JOIN items b ON a.total = b.price AND b.kind = 'a' WHERE b.line IS NULL",
    "a NULL of a partner that is wanted": "SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.total IS NULL",
    "no partner, and a value that it would have": "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer = c.id WHERE c.id IS NULL AND coalesce(c.age, 1) = 1",
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
    """count(*) counts the row without a partner, and coalesce makes a value of its NULL: groups of the joined rows."""
    for value in ("count(*)", "sum(coalesce(o.total, 1))", "count(c.id)"):
        text = f"SELECT c.id, {value} AS n FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id"  # noqa: S608 - no input
        for shop in shops:
            translation = shop.translate(text)
            assert translation.catalog.population.name == "id_is_null, id"
            assert shop.compute(translation) == shop.run(text)


def test_rows_without_any_of_several_partners_are_sources_of_their_table(shops):
    shop = shops[0]
    outer = shop.translate("SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL")
    inner = shop.translate(
        "SELECT id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)"
    )
    assert prove(equal(outer.catalog.digest, inner.catalog.digest), [outer.catalog, inner.catalog])


def test_a_right_join_is_the_left_join_of_its_mirror_image_and_part_of_the_full_join(shops):
    left, right, full = (
        shops[0].translate(f"SELECT c.id, o.total FROM {tables}").catalog  # noqa: S608 - no input
        for tables in (
            "customers c LEFT JOIN orders o ON o.customer = c.id",
            "orders o RIGHT JOIN customers c ON c.id = o.customer",
            "customers c FULL JOIN orders o ON o.customer = c.id",
        )
    )
    assert prove(equal(left.digest, right.digest), [left, right])
    assert prove(subset(left.digest, full.digest), [left, full])


def test_a_join_with_repetitions_is_never_called_equal_to_one_without(shops):
    """Pairs that differ in nothing but how often a row occurs."""
    shop = shops[0]
    texts = [
        "SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id",
        "SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.total > 1",
        "SELECT c.id FROM customers c",
        "SELECT DISTINCT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id",
    ]
    catalogs = [shop.translate(text).catalog for text in texts]
    for first, second in combinations(catalogs, 2):
        is_comparable = first.population == second.population
        assert not (is_comparable and prove(equal(first.digest, second.digest), [first, second]))


def test_tables_that_may_have_several_partners_each_stay_opaque(shops):
    for text in (
        "SELECT a.id FROM orders a LEFT JOIN orders b ON a.customer = b.customer",
        "SELECT c.id, i.kind FROM customers c LEFT JOIN items i ON i.price = c.age",
    ):
        with pytest.raises(NotImplementedError, match="opaque"):
            shops[0].translate(text)


def test_a_chain_of_outer_joins_is_translated_once_each(shops):
    """Each join is tried in several ways, which must not double the work of the joins below it."""
    joins = " ".join(f"LEFT JOIN vips v{n} ON v{n}.id = c.id AND v{n}.level = {n}" for n in range(12))
    text = f"SELECT c.id, o.id AS oid, v11.level FROM customers c LEFT JOIN orders o ON o.customer = c.id {joins}"  # noqa: S608 - no input
    translation = shops[0].translate(text)
    assert shops[0].compute(translation) == shops[0].run(text)


def test_the_suite_of_pairs_covers_every_kind():
    kinds = {pair.kind for pair in read_suite(SUITE)}
    assert kinds == {"plain", "join", "outer join", "subquery", "aggregate", "set operation"}
