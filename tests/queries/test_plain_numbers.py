"""SQL takes numbers as they are: with units or without, a query has the same rows, or it is refused."""

from collections import Counter
from dataclasses import replace

import pytest

from provenn.catalogs import cone
from provenn.errors import QueryError
from provenn.queries.query_reading import QueryTable, read_query
from provenn.queries.translation import translate
from tests.queries.adql_world import make_adql_world
from tests.queries.shops import prove
from tests.spark.oracle import Oracle

MIXED = [
    "SELECT hip FROM stars WHERE ra > plx",
    "SELECT hip FROM stars WHERE ra IN (plx, 3) OR ra BETWEEN plx AND 100",
    "SELECT hip, CASE WHEN ra > 180 THEN ra ELSE plx END AS v FROM stars",
    "SELECT hip, coalesce(ra, plx) AS v FROM stars",
    "SELECT s.hip FROM stars s JOIN gaia g ON g.hip = s.hip AND g.ra > s.plx",
    "SELECT hip FROM stars s WHERE EXISTS (SELECT 1 FROM gaia g WHERE g.hip = s.hip AND g.ra > s.plx)",
    "SELECT con, avg(ra - plx) AS d FROM stars GROUP BY con",
    "SELECT hip, rank() OVER (ORDER BY ra - plx) AS r FROM stars",
]
SHOWN = [
    "SELECT con, avg(ra) - avg(plx) AS n FROM stars GROUP BY con",
    "SELECT hip, sum(ra) OVER (PARTITION BY con) - plx AS r FROM stars",
]
LATER = [
    "SELECT hip FROM (SELECT hip, ra * 2 AS x, plx * 1 AS y FROM stars) t WHERE x > y",
    "SELECT con, count(*) AS n FROM stars GROUP BY con HAVING avg(ra) > avg(plx)",
    "SELECT con, n FROM (SELECT con, avg(ra) AS a, avg(plx) AS b, count(*) AS n FROM stars GROUP BY con) t WHERE a > b",
    "SELECT hip FROM stars WHERE ra > (SELECT avg(plx) FROM stars)",
    "SELECT hip FROM (SELECT hip, max(ra) OVER (PARTITION BY con) AS m, plx FROM stars) t WHERE m > plx",
    "SELECT hip FROM (SELECT hip, ra AS v FROM stars WHERE plx > 5 UNION SELECT hip, plx FROM stars) t WHERE v > 20",
    "SELECT hip FROM stars WHERE plx IN (SELECT ra FROM gaia)",
]
FITTING = [
    "SELECT hip, ra - dec AS d FROM stars WHERE ra + 1 > dec * 2 AND plx > 3",
    "SELECT con, max(ra) - min(ra) AS width FROM stars GROUP BY con",
]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    return [
        make_adql_world(tmp_path_factory.mktemp("sky"), has_units=True),
        make_adql_world(tmp_path_factory.mktemp("plain"), has_units=False),
    ]


def compute(world, catalog, columns):
    oracle = Oracle({world.catalogs[name].digest: table for name, table in world.tables.items()})
    rows = oracle.table(catalog).select(list(columns)).to_pylist()
    return Counter(tuple(map(repr, row.values())) for row in rows)


def is_converted(catalog):
    """Whether a part of a lineage converts degrees and milliarcseconds."""
    return any("3600000" in repr(part.parameters()) for part in cone(catalog))


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "adql"])
@pytest.mark.parametrize("text", MIXED)
def test_columns_in_different_units_are_not_compared(worlds, text, dialect):
    with pytest.raises(QueryError, match=r"different units|not a function of ADQL|ADQL has no windows"):
        worlds[0].translate(text, dialect=dialect)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [(text, dialect) for text in LATER for dialect in ("spark", "adql") if dialect != "adql" or "OVER" not in text],
)
def test_values_of_groups_windows_and_subqueries_are_plain_numbers(worlds, text, dialect):
    """Criteria would convert them; the part that compares them is opaque instead, and Spark takes the numbers."""
    results = [world.translate(text, dialect=dialect) for world in worlds]
    rows = [compute(world, result.catalog, result.columns) for world, result in zip(worlds, results, strict=True)]
    assert rows[0] == rows[1]
    assert not is_converted(results[0].catalog)


@pytest.mark.parametrize("text", SHOWN)
def test_a_result_of_values_in_different_units_is_refused(worlds, text):
    with pytest.raises(QueryError, match="this query cannot be a catalog: this mixes different units"):
        worlds[0].translate(text, dialect="spark")


@pytest.mark.parametrize("text", FITTING)
def test_columns_in_the_same_unit_are_understood(worlds, text):
    assert worlds[0].translate(text, dialect="spark").remarks == ()


@pytest.mark.parametrize("text", [*MIXED, *LATER])
def test_trees_that_no_text_was_read_for_take_numbers_as_they_are(worlds, text):
    """The plan of a DataFrame says nothing about units, so that only the catalogs know them."""

    class UnitlessTables:
        def find_table(self, parts):
            return replace(worlds[0].find_table(parts), units={})

    assert QueryTable("stars", ("hip",)).units == {}
    node = read_query(text, UnitlessTables())
    world = worlds[0]
    try:
        adopted = translate(node, world.catalogs, prove=prove, find_types=world.find_types)
    except QueryError as error:
        assert "different units" in str(error)  # noqa: PT017 - or it has the rows of plain numbers
        return
    plain = worlds[1].translate(text, dialect="spark")
    assert not is_converted(adopted.catalog)
    assert compute(world, adopted.catalog, adopted.columns) == compute(worlds[1], plain.catalog, plain.columns)
