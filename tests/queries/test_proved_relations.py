"""What is proved about the rows of queries with windows, tags and aggregates of all rows."""
# ruff: noqa: E501, S608 - a query reads best in one line, and the queries are made here

import pytest

from provenn.logic import disjoint, equal, subset
from tests.queries.shops import collect_knowledge, make_shop

RANKED = "SELECT id, total, rank() OVER (PARTITION BY day ORDER BY total) AS r FROM orders WHERE total > 1"
TAGGED = "SELECT 'c' AS tag, id, age AS x FROM customers UNION ALL SELECT 'o', id, total FROM orders"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return make_shop(tmp_path_factory.mktemp("shop"))


def judge(shop, first, second, statement):
    catalog, other = (shop.translate(text).catalog for text in (first, second))
    return collect_knowledge(catalog, other).entails(statement(catalog.digest, other.digest))


EQUAL = {
    "a window keeps the rows": (RANKED, "SELECT id FROM orders WHERE total > 1"),
    "the order of conditions does not matter": (
        "SELECT id FROM (SELECT *, rank() OVER (ORDER BY day) AS r FROM orders WHERE total > 1 AND day = 'mon') x WHERE r <= 2",
        "SELECT id FROM (SELECT *, rank() OVER (ORDER BY day) AS s FROM orders WHERE day = 'mon' AND total > 1) x WHERE s < 3",
    ),
    "row_number() as a value": (
        "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY total) AS n FROM orders) x WHERE n <= 3",
        "SELECT id, n FROM (SELECT id, row_number() OVER (ORDER BY total) AS n FROM orders) x WHERE n < 4",
    ),
    "aggregates of all rows": (
        "SELECT count(*) AS n FROM orders WHERE total > 1 AND day = 'mon'",
        "SELECT sum(id) AS s FROM orders WHERE day = 'mon' AND total > 1",
    ),
    "a member by its tag": (
        f"SELECT id FROM ({TAGGED}) u WHERE tag = 'c'",
        f"SELECT id, x FROM ({TAGGED}) u WHERE tag < 'd'",
    ),
}
INSIDE = {
    "a condition on a rank": (f"SELECT id FROM ({RANKED}) x WHERE r > 2", "SELECT id FROM orders"),
    "a narrower condition on a rank": (
        f"SELECT id FROM ({RANKED}) x WHERE r <= 2",
        f"SELECT id FROM ({RANKED}) x WHERE r <= 3",
    ),
    "QUALIFY": ("SELECT id FROM orders QUALIFY rank() OVER (ORDER BY total) <= 3", "SELECT id FROM orders"),
    "a member of a tagged union": (f"SELECT id FROM ({TAGGED}) u WHERE tag = 'c'", TAGGED),
}
APART = {
    "ranks": (f"SELECT id FROM ({RANKED}) x WHERE r > 2", f"SELECT id FROM ({RANKED}) x WHERE r = 1"),
    "members of a tagged union": (
        f"SELECT id FROM ({TAGGED}) u WHERE tag = 'c'",
        f"SELECT id FROM ({TAGGED}) u WHERE tag = 'o' AND x > 1",
    ),
}
OPEN = {
    "ranks among other rows": (
        f"SELECT id FROM ({RANKED}) x WHERE r <= 2",
        "SELECT id FROM (SELECT id, rank() OVER (PARTITION BY day ORDER BY total) AS r FROM orders) x WHERE r <= 2",
    ),
    "ranks in another order": (
        "SELECT id FROM (SELECT id, rank() OVER (ORDER BY total) AS r FROM orders) x WHERE r <= 2",
        "SELECT id FROM (SELECT id, rank() OVER (ORDER BY total DESC) AS r FROM orders) x WHERE r <= 2",
    ),
}


@pytest.mark.parametrize(("first", "second"), EQUAL.values(), ids=EQUAL)
def test_equal_rows_are_proved(shop, first, second):
    assert judge(shop, first, second, equal)


@pytest.mark.parametrize(("first", "second"), INSIDE.values(), ids=INSIDE)
def test_a_part_is_proved(shop, first, second):
    assert judge(shop, first, second, subset)
    assert not judge(shop, second, first, subset)


@pytest.mark.parametrize(("first", "second"), APART.values(), ids=APART)
def test_disjoint_rows_are_proved(shop, first, second):
    assert judge(shop, first, second, disjoint)


@pytest.mark.parametrize(("first", "second"), OPEN.values(), ids=OPEN)
def test_what_depends_on_all_rows_is_not_claimed_of_others(shop, first, second):
    for statement in (equal, subset, disjoint):
        assert not judge(shop, first, second, statement)
        assert not judge(shop, second, first, statement)


def test_a_window_keeps_the_identities_of_plain_columns_and_has_its_own(shop):
    ranked, plain = shop.translate(RANKED).catalog, shop.translate("SELECT id, total FROM orders").catalog
    assert ranked.schema["total"].identity == plain.schema["total"].identity
    wider = shop.translate(RANKED.replace("> 1", "> 0")).catalog
    again = shop.translate(RANKED.replace("AS r", "AS place")).catalog
    assert ranked.schema["r"].identity == again.schema["place"].identity
    assert ranked.schema["r"].identity != wider.schema["r"].identity


def test_an_aggregate_of_the_same_rows_has_the_same_value(shop):
    def find_identity(text):
        translation = shop.translate(text)
        return translation.catalog.schema[translation.columns[0]].identity

    both = find_identity("SELECT sum(id) AS a FROM orders WHERE total > 1 AND day = 'mon'")
    assert both == find_identity("SELECT sum(id) AS b FROM (SELECT * FROM orders WHERE day = 'mon') x WHERE total > 1")
    assert both != find_identity("SELECT sum(id) AS a FROM orders WHERE total > 1")


def test_a_tagged_union_is_known_by_tag_and_key(shop):
    catalog = shop.translate(TAGGED).catalog
    assert [attribute.name for attribute in catalog.schema.key] == ["tag", "id"]
    assert catalog.population.name == "tag, id"


@pytest.mark.parametrize(
    ("text", "remarks"),
    [
        ("SELECT id, rank() OVER (ORDER BY total) AS r FROM orders", []),
        ("SELECT id, row_number() OVER (ORDER BY id) AS r FROM orders", []),
        ("SELECT order_id, lag(price) OVER (PARTITION BY order_id ORDER BY line) AS r FROM items", []),
        ("SELECT id, sum(id) OVER (ORDER BY day ROWS 1 PRECEDING) AS r FROM orders", ["sum()"]),
        ("SELECT id, lead(id) OVER (ORDER BY day) AS r FROM orders", ["lead()"]),
    ],
)
def test_a_notice_says_where_the_key_decides(shop, text, remarks):
    assert [remark.part for remark in shop.translate(text).remarks] == remarks
