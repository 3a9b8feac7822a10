"""ADQL through an archive and Spark: the rows of the reference, and what is proved and stored serves the next query."""

# ruff: noqa: E501 - each query is a line

import warnings

import pyarrow.parquet as pq
import pytest

import provenn
from provenn.archive.query_answers import answer_query
from provenn.catalogs import CrossMatch, SelectSources, cone
from provenn.errors import QueryError
from tests.queries.adql_features import FEATURES
from tests.queries.adql_world import KEYS, AdqlWorld, make_sky_tables, read_value

FURTHER = [
    # Opaque parts, whose regions are written as SQL of Spark; functions that DuckDB computes otherwise.
    (
        "SELECT s.hip, g.id FROM stars AS s LEFT OUTER JOIN gaia AS g ON DISTANCE(s.ra, s.dec, g.ra, g.dec) < 0.06 AND 1 = CONTAINS(POINT(g.ra, g.dec), POLYGON(358, -2, 2, -2, 0, 3))",
        "SELECT s.hip, g.id FROM stars s LEFT JOIN gaia g ON dist(s.ra, s.dec, g.ra, g.dec) < 0.06 AND triple(358, -2, 2, -2, g.ra, g.dec) >= 0 AND triple(2, -2, 0, 3, g.ra, g.dec) >= 0 AND triple(0, 3, 358, -2, g.ra, g.dec) >= 0",
        False,
    ),
    (
        "SELECT con, SUM(IN_UNIT(plx, 'arcsec')) AS s FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 3)) GROUP BY con ORDER BY con",
        "SELECT con, sum(plx / 1000) FROM stars WHERE dist(ra, dec, 0, 0) <= 3 GROUP BY con ORDER BY con NULLS FIRST",
        True,
    ),
    (
        "SELECT TOP 4 hip, LOG(plx) AS l, TRUNCATE(-vmag, 1) AS t, CEILING(1e20) AS c FROM archive.stars WHERE plx > 0 ORDER BY ABS(vmag - 6) DESC, hip OFFSET 1",
        "SELECT hip, ln(plx), -trunc(vmag * 10) / 10, 1e20 FROM stars WHERE plx > 0 ORDER BY abs(vmag - 6) DESC NULLS LAST, hip LIMIT 4 OFFSET 1",
        True,
    ),
    (
        "SELECT hip, LOG(nobs) AS l, SQRT(vmag) AS r, MOD(hip, nobs) AS m FROM stars WHERE NOT Name LIKE 'a\\%'",
        'SELECT hip, CASE WHEN nobs > 0 THEN ln(nobs) END, sqrt(vmag), CASE WHEN nobs <> 0 THEN hip % nobs END FROM stars WHERE "Name" IS NOT NULL',
        False,
    ),
    (  # the set does not depend on nobs, because the first condition is never TRUE
        "SELECT hip, UPPER(Name) AS u FROM stars WHERE nobs NOT IN (NULL, 1) OR vmag > 4",
        'SELECT hip, upper("Name") FROM stars WHERE vmag > 4',
        False,
    ),
]


@pytest.fixture(scope="module")
def world():
    return AdqlWorld(make_sky_tables(5), {})


@pytest.fixture(scope="module")
def archive(world, engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    spark = engine.session.sparkContext.master
    with warnings.catch_warnings(action="ignore"), provenn.open(folder / "sky", spark=spark, progress=False) as archive:
        for name, table in world.tables.items():
            pq.write_table(table, folder / f"{name}.parquet")
            archive.ingest(name, folder / f"{name}.parquet", key=KEYS[name], population=name)
        yield archive


def answer(archive, text):
    """Return the rows of a query, with the columns and in the order of the query."""
    collected = answer_query(archive, text, dialect="adql", schemas=["archive"], keeps_order=True)
    rows = collected.catalog.to_arrow().to_pylist()
    frame = collected.collect()
    assert list(frame.columns) == list(collected.columns)
    assert len(frame) == len(rows)
    values = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    return [tuple(map(read_value, row)) for row in values]


def order_rows(rows):
    return sorted(rows, key=repr)


def test_answers_of_spark_are_those_of_the_reference(archive, world):
    spark_only = [(one.query, one.reference, one.is_ordered) for one in FEATURES if one.needs_spark]
    for query, reference, is_ordered in [*spark_only, *FURTHER]:
        rows, expected = answer(archive, query), world.refer(reference)
        assert rows, query
        if is_ordered:
            assert rows == expected, query
        assert order_rows(rows) == order_rows(expected), query


def test_a_region_in_a_region_is_proved_to_be_a_subset(archive):
    wide = "SELECT hip, ra, dec, vmag FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 3))"
    near = "SELECT hip FROM stars WHERE DISTANCE(POINT('ICRS', ra, dec), POINT(0.5, 0)) < 1 AND vmag < 6"
    far = "SELECT hip FROM stars WHERE CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 3)) = 0"
    wide_catalog, near_catalog, far_catalog = (archive.sql(text, dialect="adql") for text in (wide, near, far))
    assert archive.relate(near_catalog, wide_catalog).summary == "subset"
    assert archive.relate(far_catalog, wide_catalog).summary == "disjoint"
    wide_catalog.store()
    inside = archive.sql(
        "SELECT hip, vmag FROM stars WHERE DISTANCE(ra, dec, 0.5, 0) <= 1 AND vmag < 6", dialect="adql"
    )
    steps = inside.plan().text()
    assert "stored" in steps, steps


def test_a_count_in_a_region_counts_a_catalog(archive):
    text = "SELECT COUNT(*) AS n FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 2))"
    with warnings.catch_warnings(action="ignore"):
        counted = answer_query(archive, text, dialect="adql").catalog.definition
    assert any(isinstance(catalog, SelectSources) for catalog in cone(counted))


def test_a_join_by_distance_is_a_cross_match(archive):
    text = "SELECT s.hip, g.id FROM stars AS s JOIN gaia AS g ON DISTANCE(s.ra, s.dec, g.ra, g.dec) <= 0.05"
    defined = archive.sql(text, dialect="adql")
    assert any(isinstance(catalog, CrossMatch) for catalog in cone(defined.definition))
    direct = archive["stars"].crossmatch("gaia", 0.05 * 3600, matches="all")
    assert archive.relate(defined, direct).summary == "equal"


def test_tables_and_schemas_of_the_caller_are_names_in_the_text(archive, world):
    text = 'SELECT archive.stars.hip FROM archive.stars JOIN TAP_UPLOAD."mine" AS m ON archive.stars.hip = m.hip'
    named = {"TAP_UPLOAD.mine": archive["gaia"]}
    asked = answer_query(archive, text, dialect="adql", tables=named, schemas=["Archive"])
    hips = asked.catalog.to_arrow()[asked.columns[0]].to_pylist()
    assert sorted(hips) == sorted(
        row[0] for row in world.refer("SELECT s.hip FROM stars s JOIN gaia g ON s.hip = g.hip")
    )
    with pytest.raises(QueryError, match="no catalog is named"):
        answer_query(archive, "SELECT hip FROM public.stars", dialect="adql", schemas=["archive"])
