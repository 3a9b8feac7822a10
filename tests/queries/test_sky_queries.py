"""Regions in queries of Spark's dialect: selections, cross-matches, and what is written as plain SQL."""

from collections import Counter

import pytest

from provenn.catalogs import CrossMatch, OpaqueQuery, OpaqueSelection, cone
from provenn.errors import QueryError
from tests.queries.adql_world import make_adql_world


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_adql_world(tmp_path_factory.mktemp("sky"), seed=11)


def list_classes(translation):
    return {type(catalog) for catalog in cone(translation.catalog)}


@pytest.mark.parametrize(
    ("text", "reference", "used", "unused"),
    [
        (
            "SELECT hip FROM stars WHERE in_cone(ra, dec, 1, 0.5, 1.5) AND vmag < 8",
            "SELECT hip FROM stars WHERE dist(ra, dec, 1, 0.5) <= 1.5 AND vmag < 8",
            None,
            OpaqueSelection,
        ),
        (
            "SELECT s.hip, g.id FROM gaia g JOIN stars s ON in_cone(s.ra, s.dec, g.ra, g.dec, 0.05)",
            "SELECT s.hip, g.id FROM gaia g JOIN stars s ON dist(s.ra, s.dec, g.ra, g.dec) <= 0.05",
            CrossMatch,
            OpaqueQuery,
        ),
        (
            "SELECT a.hip, b.hip AS other FROM stars a JOIN stars b ON in_cone(a.ra, a.dec, b.ra, b.dec, 0.5)",
            "SELECT a.hip, b.hip FROM stars a JOIN stars b ON dist(a.ra, a.dec, b.ra, b.dec) <= 0.5",
            CrossMatch,
            OpaqueQuery,
        ),
        (
            "SELECT s.hip, g.id FROM stars s LEFT JOIN gaia g ON in_cone(s.ra, s.dec, g.ra, g.dec, 0.05)",
            "SELECT s.hip, g.id FROM stars s LEFT JOIN gaia g ON dist(s.ra, s.dec, g.ra, g.dec) <= 0.05",
            OpaqueQuery,
            CrossMatch,
        ),
        (
            "SELECT count(*) AS n FROM stars WHERE in_cone(ra, dec, 0, 0, 2)",
            "SELECT count(*) FROM stars WHERE dist(ra, dec, 0, 0) <= 2",
            OpaqueQuery,
            OpaqueSelection,
        ),
    ],
)
def test_regions_in_queries_have_the_rows_of_the_reference(world, text, reference, used, unused):
    classes = list_classes(world.translate(text, dialect="spark"))
    assert used is None or used in classes
    assert unused not in classes
    rows = world.answer(text, "spark")
    assert Counter(rows) == Counter(world.refer(reference))
    assert rows


def test_an_impossible_region_is_refused(world):
    with pytest.raises(QueryError, match="declination"):
        world.translate("SELECT hip, in_cone(ra, dec, 10, 95, 1) AS inside FROM stars", dialect="spark")
