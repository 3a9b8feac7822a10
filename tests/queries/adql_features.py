"""The features of ADQL, each with a query and the query in DuckDB's dialect that must have the same rows."""

# ruff: noqa: E501, S608 - each query is a line, and none takes values from outside
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["FEATURES", "Feature", "write_table"]


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of ADQL.

    Parameters
    ----------
    group
        The part of the language.
    name
        The feature, in a few words.
    query
        A query in ADQL.
    reference
        A query of DuckDB with the same rows.
    is_ordered
        Whether the order of the rows counts.
    needs_spark
        Whether DuckDB cannot compute the catalog of the query.
    """

    group: str
    name: str
    query: str
    reference: str
    is_ordered: bool = False
    needs_spark: bool = False


_NULLS = "NULLS FIRST"

FEATURES = (
    # --- SELECT ---
    Feature("Queries", "columns", "SELECT hip, vmag FROM stars", "SELECT hip, vmag FROM stars"),
    Feature("Queries", "all columns", "SELECT * FROM cons", "SELECT * FROM cons"),
    Feature("Queries", "duplicates stay", "SELECT con FROM stars", "SELECT con FROM stars"),
    Feature("Queries", "SELECT ALL", "SELECT ALL con FROM stars", "SELECT con FROM stars"),
    Feature("Queries", "DISTINCT", "SELECT DISTINCT con FROM stars", "SELECT DISTINCT con FROM stars"),
    Feature(
        "Queries",
        "TOP with ORDER BY",
        "SELECT TOP 5 hip, vmag FROM stars ORDER BY vmag DESC, hip",
        "SELECT hip, vmag FROM stars ORDER BY vmag DESC NULLS LAST, hip LIMIT 5",
        is_ordered=True,
    ),
    Feature(
        "Queries",
        "DISTINCT with TOP",
        "SELECT DISTINCT TOP 2 con FROM stars WHERE con IS NOT NULL ORDER BY con",
        "SELECT DISTINCT con FROM stars WHERE con IS NOT NULL ORDER BY con LIMIT 2",
        is_ordered=True,
    ),
    Feature(
        "Queries",
        "OFFSET",
        "SELECT TOP 3 hip FROM stars ORDER BY hip OFFSET 4",
        "SELECT hip FROM stars ORDER BY hip LIMIT 3 OFFSET 4",
        is_ordered=True,
    ),
    Feature(
        "Queries",
        "ORDER BY an expression",
        "SELECT hip, vmag FROM stars WHERE vmag > 3 ORDER BY ABS(vmag - 6), hip",
        "SELECT hip, vmag FROM stars WHERE vmag > 3 ORDER BY abs(vmag - 6), hip",
        is_ordered=True,
    ),
    Feature(
        "Queries",
        "ORDER BY a number of a column",
        "SELECT con, hip FROM stars ORDER BY 1, 2 DESC",
        f"SELECT con, hip FROM stars ORDER BY con {_NULLS}, hip DESC",
        is_ordered=True,
    ),
    Feature("Queries", "names in double quotes", 'SELECT "Name" AS "my name" FROM stars', 'SELECT "Name" FROM stars'),
    Feature("Queries", "names in any case", "SELECT HIP, Vmag FROM STARS", "SELECT hip, vmag FROM stars"),
    Feature(
        "Queries",
        "names of tables",
        "SELECT s.hip FROM stars AS s WHERE s.vmag < 4",
        "SELECT hip FROM stars WHERE vmag < 4",
    ),
    Feature("Queries", "comments", "SELECT hip FROM stars -- all of them", "SELECT hip FROM stars"),
    # --- WHERE ---
    Feature(
        "Conditions",
        "comparisons",
        "SELECT hip FROM stars WHERE vmag <= 5 AND nobs <> 3",
        "SELECT hip FROM stars WHERE vmag <= 5 AND nobs <> 3",
    ),
    Feature(
        "Conditions",
        "OR, NOT",
        "SELECT hip FROM stars WHERE NOT (vmag < 5 OR nobs = 3)",
        "SELECT hip FROM stars WHERE NOT (vmag < 5 OR nobs = 3)",
    ),
    Feature(
        "Conditions",
        "BETWEEN",
        "SELECT hip FROM stars WHERE vmag BETWEEN 2.5 AND 6.25",
        "SELECT hip FROM stars WHERE vmag BETWEEN 2.5 AND 6.25",
    ),
    Feature(
        "Conditions",
        "IN",
        "SELECT hip FROM stars WHERE con IN ('Cyg', 'Lyr')",
        "SELECT hip FROM stars WHERE con IN ('Cyg', 'Lyr')",
    ),
    Feature(
        "Conditions", "IS NULL", "SELECT hip FROM stars WHERE vmag IS NULL", "SELECT hip FROM stars WHERE vmag IS NULL"
    ),
    Feature(
        "Conditions",
        "LIKE",
        "SELECT hip FROM stars WHERE Name LIKE 'b%'",
        "SELECT hip FROM stars WHERE \"Name\" LIKE 'b%'",
    ),
    Feature(
        "Conditions",
        "ILIKE",
        "SELECT hip FROM stars WHERE Name ILIKE 'B%'",
        "SELECT hip FROM stars WHERE \"Name\" ILIKE 'B%'",
    ),
    Feature(
        "Conditions",
        "texts with a quote",
        "SELECT hip FROM stars WHERE Name = 'it''s'",
        "SELECT hip FROM stars WHERE \"Name\" = 'it''s'",
    ),
    Feature(
        "Conditions",
        "EXISTS",
        "SELECT hip FROM stars AS s WHERE EXISTS (SELECT 1 FROM gaia AS g WHERE g.hip = s.hip)",
        "SELECT hip FROM stars WHERE hip IN (SELECT hip FROM gaia WHERE hip IS NOT NULL)",
    ),
    Feature(
        "Conditions",
        "IN with a subquery",
        "SELECT id FROM gaia WHERE hip IN (SELECT hip FROM stars WHERE vmag < 5)",
        "SELECT id FROM gaia WHERE hip IN (SELECT hip FROM stars WHERE vmag < 5)",
    ),
    Feature(
        "Conditions",
        "a subquery as a value",
        "SELECT hip FROM stars WHERE vmag > (SELECT AVG(vmag) FROM stars)",
        "SELECT hip FROM stars WHERE vmag > (SELECT avg(vmag) FROM stars)",
    ),
    # --- tables ---
    Feature(
        "Tables",
        "JOIN",
        "SELECT id, vmag FROM gaia JOIN stars ON gaia.hip = stars.hip",
        "SELECT id, vmag FROM gaia JOIN stars ON gaia.hip = stars.hip",
    ),
    Feature(
        "Tables",
        "USING",
        "SELECT hip, area FROM stars JOIN cons USING (con)",
        "SELECT hip, area FROM stars JOIN cons USING (con)",
    ),
    Feature(
        "Tables",
        "NATURAL JOIN",
        "SELECT hip, rank FROM stars NATURAL JOIN cons",
        "SELECT hip, rank FROM stars NATURAL JOIN cons",
    ),
    Feature(
        "Tables",
        "LEFT OUTER JOIN",
        "SELECT hip, area FROM stars LEFT OUTER JOIN cons ON stars.con = cons.con",
        "SELECT hip, area FROM stars LEFT JOIN cons ON stars.con = cons.con",
    ),
    Feature(
        "Tables",
        "RIGHT OUTER JOIN",
        "SELECT s.hip, g.id FROM stars AS s RIGHT OUTER JOIN gaia AS g ON s.hip = g.hip",
        "SELECT s.hip, g.id FROM stars s RIGHT JOIN gaia g ON s.hip = g.hip",
    ),
    Feature(
        "Tables",
        "FULL OUTER JOIN",
        "SELECT s.hip, g.id FROM stars AS s FULL OUTER JOIN gaia AS g ON s.hip = g.hip",
        "SELECT s.hip, g.id FROM stars s FULL JOIN gaia g ON s.hip = g.hip",
    ),
    Feature(
        "Tables",
        "tables with commas",
        "SELECT g.id, c.area FROM gaia AS g, stars AS s, cons AS c WHERE g.hip = s.hip AND s.con = c.con",
        "SELECT g.id, c.area FROM gaia g, stars s, cons c WHERE g.hip = s.hip AND s.con = c.con",
    ),
    Feature(
        "Tables",
        "several partners on both sides",
        "SELECT a.hip, b.hip AS other FROM stars AS a JOIN stars AS b ON a.con = b.con AND a.hip < b.hip",
        "SELECT a.hip, b.hip FROM stars a JOIN stars b ON a.con = b.con AND a.hip < b.hip",
    ),
    Feature(
        "Tables",
        "a subquery as a table",
        "SELECT q.v FROM (SELECT vmag + 1 AS v FROM stars WHERE nobs > 2) AS q WHERE q.v < 6",
        "SELECT v FROM (SELECT vmag + 1 AS v FROM stars WHERE nobs > 2) q WHERE v < 6",
    ),
    Feature(
        "Tables",
        "WITH",
        "WITH bright AS (SELECT hip, con FROM stars WHERE vmag < 5) SELECT con FROM bright WHERE hip > 10",
        "SELECT con FROM stars WHERE vmag < 5 AND hip > 10",
    ),
    # --- sets ---
    Feature(
        "Sets",
        "UNION",
        "SELECT hip FROM stars WHERE vmag < 4 UNION SELECT hip FROM stars WHERE nobs > 5",
        "SELECT hip FROM stars WHERE vmag < 4 UNION SELECT hip FROM stars WHERE nobs > 5",
    ),
    Feature(
        "Sets",
        "UNION ALL",
        "SELECT con FROM stars UNION ALL SELECT con FROM cons",
        "SELECT con FROM stars UNION ALL SELECT con FROM cons",
    ),
    Feature(
        "Sets",
        "INTERSECT",
        "SELECT con FROM stars INTERSECT SELECT con FROM cons",
        "SELECT con FROM stars INTERSECT SELECT con FROM cons",
    ),
    Feature(
        "Sets",
        "EXCEPT",
        "SELECT hip FROM stars EXCEPT SELECT hip FROM gaia",
        "SELECT hip FROM stars EXCEPT SELECT hip FROM gaia",
    ),
    # --- groups ---
    Feature(
        "Groups",
        "aggregates of all rows",
        "SELECT COUNT(*) AS n, COUNT(vmag) AS v, MIN(vmag) AS a, MAX(vmag) AS b, AVG(vmag) AS m, SUM(nobs) AS s FROM stars",
        "SELECT count(*), count(vmag), min(vmag), max(vmag), avg(vmag), sum(nobs) FROM stars",
    ),
    Feature(
        "Groups",
        "aggregates of no rows",
        "SELECT COUNT(*) AS n, SUM(nobs) AS s FROM stars WHERE hip < 0",
        "SELECT 0, NULL",
    ),
    Feature(
        "Groups",
        "COUNT DISTINCT",
        "SELECT COUNT(DISTINCT con) AS n FROM stars",
        "SELECT count(DISTINCT con) FROM stars",
    ),
    Feature(
        "Groups",
        "GROUP BY",
        "SELECT con, COUNT(*) AS n, AVG(vmag) AS m FROM stars GROUP BY con",
        "SELECT con, count(*), avg(vmag) FROM stars GROUP BY con",
    ),
    Feature(
        "Groups",
        "GROUP BY a floating-point number",
        "SELECT vmag, COUNT(*) AS n FROM stars GROUP BY vmag",
        "SELECT vmag, count(*) FROM stars GROUP BY vmag",
    ),
    Feature(
        "Groups",
        "GROUP BY an expression",
        "SELECT FLOOR(vmag) AS f, COUNT(*) AS n FROM stars GROUP BY FLOOR(vmag)",
        "SELECT floor(vmag), count(*) FROM stars GROUP BY 1",
    ),
    Feature(
        "Groups",
        "HAVING",
        "SELECT con, COUNT(*) AS n FROM stars GROUP BY con HAVING COUNT(*) > 8",
        "SELECT con, count(*) FROM stars GROUP BY con HAVING count(*) > 8",
    ),
    Feature(
        "Groups",
        "TOP of groups",
        "SELECT TOP 2 con, COUNT(*) AS n FROM stars WHERE con IS NOT NULL GROUP BY con ORDER BY n DESC, con",
        "SELECT con, count(*) AS n FROM stars WHERE con IS NOT NULL GROUP BY con ORDER BY n DESC, con LIMIT 2",
        is_ordered=True,
    ),
    # --- values ---
    Feature(
        "Values",
        "arithmetic",
        "SELECT hip, vmag + 5 - 2 * nobs AS x, -vmag AS y FROM stars",
        "SELECT hip, vmag + 5 - 2 * nobs, -vmag FROM stars",
    ),
    Feature(
        "Values",
        "division",
        "SELECT hip, nobs / 2 AS half, vmag / nobs AS q FROM stars",
        "SELECT hip, quotient(nobs, 2), quotient(vmag, nobs) FROM stars",
    ),
    Feature(
        "Values",
        "numbers",
        "SELECT hip, 1.5e2 AS a, .5 AS b, 0xFF AS c FROM cons JOIN stars USING (con)",
        "SELECT hip, 150.0, 0.5, 255 FROM cons JOIN stars USING (con)",
    ),
    Feature(
        "Values",
        "CASE",
        "SELECT hip, CASE WHEN vmag < 4 THEN 'bright' WHEN vmag < 8 THEN 'faint' ELSE 'none' END AS k FROM stars",
        "SELECT hip, CASE WHEN vmag < 4 THEN 'bright' WHEN vmag < 8 THEN 'faint' ELSE 'none' END FROM stars",
    ),
    Feature(
        "Values",
        "COALESCE",
        "SELECT hip, COALESCE(vmag, plx, -1) AS v FROM stars",
        "SELECT hip, coalesce(vmag, plx, -1) FROM stars",
    ),
    Feature(
        "Values",
        "CAST to a number",
        "SELECT hip, CAST(nobs AS DOUBLE PRECISION) AS a, CAST(hip AS SMALLINT) AS b, CAST(vmag AS REAL) AS c, CAST(hip AS BIGINT) AS d FROM stars",
        "SELECT hip, nobs, hip, vmag, hip FROM stars",
    ),
    Feature(
        "Values",
        "CAST to a text",
        "SELECT hip, CAST(nobs AS VARCHAR(5)) AS a, CAST(Name AS CHAR(2)) AS b FROM stars",
        'SELECT hip, CAST(nobs AS VARCHAR), left("Name", 2) FROM stars',
    ),
    Feature(
        "Values",
        "TIMESTAMP",
        "SELECT hip FROM stars WHERE seen < TIMESTAMP('2020-03-01T00:00:00')",
        "SELECT hip FROM stars WHERE seen < TIMESTAMPTZ '2020-03-01 00:00:00+00'",
    ),
    Feature(
        "Values",
        "||",
        "SELECT hip, Name || '-' || con AS x FROM stars",
        "SELECT hip, \"Name\" || '-' || con FROM stars",
    ),
    Feature(
        "Values",
        "LOWER, UPPER",
        "SELECT hip, LOWER(Name) AS l, UPPER(Name) AS u FROM stars",
        'SELECT hip, lower("Name"), upper("Name") FROM stars',
    ),
    Feature(
        "Values",
        "ABS, SIGN, SQRT, POWER",
        "SELECT hip, ABS(plx) AS a, SIGN(plx) AS s, SQRT(vmag) AS r, POWER(vmag, 2) AS p FROM stars",
        "SELECT hip, abs(plx), sign(plx), sqrt(vmag), pow(vmag, 2) FROM stars",
    ),
    Feature(
        "Values",
        "EXP, LOG, LOG10",
        "SELECT hip, EXP(vmag / 10) AS e, LOG(vmag) AS l, LOG10(vmag) AS t FROM stars WHERE vmag > 0",
        "SELECT hip, exp(vmag / 10), ln(vmag), log10(vmag) FROM stars WHERE vmag > 0",
    ),
    Feature(
        "Values",
        "CEILING, FLOOR",
        "SELECT hip, CEILING(plx) AS c, FLOOR(plx) AS f FROM stars",
        "SELECT hip, ceil(plx), floor(plx) FROM stars",
    ),
    Feature(
        "Values",
        "ROUND",
        "SELECT hip, ROUND(vmag) AS a, ROUND(vmag, 1) AS b, ROUND(vmag * 10, -1) AS c FROM stars",
        "SELECT hip, round(vmag), round(CAST(vmag AS DECIMAL(9, 2)), 1), round(CAST(vmag * 10 AS DECIMAL(9, 2)), -1) FROM stars",
    ),
    Feature(
        "Values",
        "TRUNCATE",
        "SELECT hip, TRUNCATE(plx) AS a, TRUNCATE(vmag, 1) AS b FROM stars",
        "SELECT hip, trunc(plx), trunc(vmag * 10) / 10 FROM stars",
    ),
    Feature(
        "Values",
        "MOD",
        "SELECT hip, MOD(hip, 7) AS m, MOD(nobs, 2) AS n FROM stars",
        "SELECT hip, hip % 7, nobs % 2 FROM stars",
    ),
    Feature(
        "Values",
        "trigonometry",
        "SELECT hip, SIN(RADIANS(dec)) AS s, COS(RADIANS(dec)) AS c, TAN(RADIANS(dec)) AS t, DEGREES(ASIN(nobs / 10.)) AS a, ACOS(nobs / 10.) AS b, ATAN(vmag) AS d, ATAN2(vmag, plx) AS e FROM stars",
        "SELECT hip, sin(radians(dec)), cos(radians(dec)), tan(radians(dec)), degrees(asin(nobs / 10)), acos(nobs / 10), atan(vmag), atan2(vmag, plx) FROM stars",
    ),
    Feature(
        "Values",
        "PI, COT",
        "SELECT hip, PI() AS p, COT(vmag + 0.1) AS c FROM stars",
        "SELECT hip, pi(), 1 / tan(vmag + 0.1) FROM stars",
    ),
    Feature(
        "Values",
        "bits",
        "SELECT hip, hip & 5 AS a, hip | 5 AS b, hip ^ 5 AS x FROM stars",
        "SELECT hip, hip & 5, hip | 5, xor(hip, 5) FROM stars",
    ),
    Feature(
        "Values",
        "IN_UNIT",
        "SELECT hip, IN_UNIT(plx, 'arcsec') AS p FROM stars WHERE IN_UNIT(dec, 'arcmin') > 30",
        "SELECT hip, plx / 1000 FROM stars WHERE dec * 60 > 30",
        needs_spark=True,
    ),
    # --- geometry ---
    Feature(
        "Geometry",
        "a point in a circle",
        "SELECT hip FROM stars WHERE 1 = CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS', 0.5, -0.5, 2))",
        "SELECT hip FROM stars WHERE dist(ra, dec, 0.5, -0.5) <= 2",
    ),
    Feature(
        "Geometry",
        "ADQL 2.1: CIRCLE(POINT, radius)",
        "SELECT hip FROM stars WHERE CONTAINS(POINT(ra, dec), CIRCLE(POINT(359.5, 1), 1.5)) = 1",
        "SELECT hip FROM stars WHERE dist(ra, dec, 359.5, 1) <= 1.5",
    ),
    Feature(
        "Geometry",
        "outside of a circle",
        "SELECT hip FROM stars WHERE CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 2)) = 0",
        "SELECT hip FROM stars WHERE dist(ra, dec, 0, 0) > 2",
    ),
    Feature(
        "Geometry",
        "CONTAINS as a value",
        "SELECT hip, CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 2)) AS inside FROM stars",
        "SELECT hip, CAST(dist(ra, dec, 0, 0) <= 2 AS INT) FROM stars",
    ),
    Feature(
        "Geometry",
        "POLYGON",
        "SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(358, -2, 2, -2, 0, 3))",
        "SELECT hip FROM stars WHERE triple(358, -2, 2, -2, ra, dec) >= 0 AND triple(2, -2, 0, 3, ra, dec) >= 0 AND triple(0, 3, 358, -2, ra, dec) >= 0",
    ),
    Feature(
        "Geometry",
        "POLYGON of points",
        "SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(POINT(358, -2), POINT(2, -2), POINT(0, 3)))",
        "SELECT hip FROM stars WHERE triple(358, -2, 2, -2, ra, dec) >= 0 AND triple(2, -2, 0, 3, ra, dec) >= 0 AND triple(0, 3, 358, -2, ra, dec) >= 0",
    ),
    Feature(
        "Geometry",
        "BOX",
        "SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), BOX(0, 0, 4, 2))",
        "SELECT hip FROM stars WHERE abs(uy(ra, dec) / ux(ra, dec)) <= tan(radians(2)) AND abs(uz(ra, dec) / ux(ra, dec)) <= tan(radians(1))",
    ),
    Feature(
        "Geometry",
        "INTERSECTS of a point",
        "SELECT hip FROM stars WHERE 1 = INTERSECTS(POINT(ra, dec), CIRCLE(0, 0, 1.5))",
        "SELECT hip FROM stars WHERE dist(ra, dec, 0, 0) <= 1.5",
    ),
    Feature(
        "Geometry",
        "INTERSECTS of circles",
        "SELECT hip FROM stars WHERE 1 = INTERSECTS(CIRCLE(ra, dec, 0.5), CIRCLE(1, 1, 1))",
        "SELECT hip FROM stars WHERE dist(ra, dec, 1, 1) <= 1.5",
    ),
    Feature(
        "Geometry",
        "a circle in a circle",
        "SELECT hip FROM stars WHERE 1 = CONTAINS(CIRCLE(ra, dec, 0.5), CIRCLE(1, 1, 2))",
        "SELECT hip FROM stars WHERE dist(ra, dec, 1, 1) <= 1.5",
    ),
    Feature(
        "Geometry",
        "DISTANCE of points",
        "SELECT hip, DISTANCE(POINT(ra, dec), POINT(1, 1)) AS d FROM stars",
        "SELECT hip, dist(ra, dec, 1, 1) FROM stars",
    ),
    Feature(
        "Geometry",
        "DISTANCE of numbers",
        "SELECT hip FROM stars WHERE DISTANCE(ra, dec, 1, 1) < 1.25",
        "SELECT hip FROM stars WHERE dist(ra, dec, 1, 1) < 1.25",
    ),
    Feature(
        "Geometry",
        "COORD1, COORD2, CENTROID",
        "SELECT hip, COORD1(POINT(ra, dec)) AS a, COORD2(CENTROID(CIRCLE(ra, dec, 1))) AS d FROM stars",
        "SELECT hip, ra, dec FROM stars",
    ),
    Feature(
        "Geometry",
        "AREA of a circle",
        "SELECT hip, AREA(CIRCLE(ra, dec, 2)) AS a FROM stars",
        "SELECT hip, 2 * pi() * (1 - cos(radians(2))) * pow(180 / pi(), 2) FROM stars",
    ),
    Feature(
        "Geometry",
        "a count in a region",
        "SELECT COUNT(*) AS n FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 2))",
        "SELECT count(*) FROM stars WHERE dist(ra, dec, 0, 0) <= 2",
    ),
    Feature(
        "Geometry",
        "a cross-match",
        "SELECT s.hip, g.id FROM stars AS s JOIN gaia AS g ON 1 = CONTAINS(POINT(s.ra, s.dec), CIRCLE(g.ra, g.dec, 0.06))",
        "SELECT s.hip, g.id FROM stars s JOIN gaia g ON dist(s.ra, s.dec, g.ra, g.dec) <= 0.06",
    ),
    Feature(
        "Geometry",
        "a cross-match by DISTANCE",
        "SELECT s.hip, g.id, DISTANCE(s.ra, s.dec, g.ra, g.dec) AS d FROM stars AS s, gaia AS g WHERE DISTANCE(s.ra, s.dec, g.ra, g.dec) < 1 AND s.vmag < 5",
        "SELECT s.hip, g.id, dist(s.ra, s.dec, g.ra, g.dec) FROM stars s, gaia g WHERE dist(s.ra, s.dec, g.ra, g.dec) < 1 AND s.vmag < 5",
    ),
    Feature(
        "Geometry",
        "a circle from columns",
        "SELECT s.hip, g.id FROM stars AS s JOIN gaia AS g ON s.hip = g.hip AND DISTANCE(s.ra, s.dec, g.ra, g.dec) < g.gmag / 4",
        "SELECT s.hip, g.id FROM stars s JOIN gaia g ON s.hip = g.hip AND dist(s.ra, s.dec, g.ra, g.dec) < g.gmag / 4",
    ),
    Feature(
        "Geometry",
        "MOC",
        "SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), MOC('3/304 5/4000-4500'))",
        "SELECT hip FROM stars WHERE cell(ra, dec, 3) = 304 OR cell(ra, dec, 5) BETWEEN 4000 AND 4500",
        needs_spark=True,
    ),
    Feature(
        "Geometry",
        "ivo_healpix_index",
        "SELECT hip, ivo_healpix_index(8, ra, dec) AS pixel FROM stars WHERE dec > 0",
        "SELECT hip, cell(ra, dec, 8) FROM stars WHERE dec > 0",
        needs_spark=True,
    ),
    Feature(
        "Geometry",
        "a map of counts",
        "SELECT ivo_healpix_index(4, ra, dec) AS pixel, COUNT(*) AS n FROM stars GROUP BY ivo_healpix_index(4, ra, dec)",
        "SELECT cell(ra, dec, 4), count(*) FROM stars GROUP BY 1",
        needs_spark=True,
    ),
    Feature(
        "Geometry",
        "sources of a HEALPix cell",
        "SELECT hip FROM stars WHERE ivo_healpix_index(0, ra, dec) = 4 AND vmag < 9",
        "SELECT hip FROM stars WHERE cell(ra, dec, 0) = 4 AND vmag < 9",
        needs_spark=True,
    ),
)
"""All features, in the order of the reference."""


def write_table() -> str:
    """Return the table of the reference: a section for each part of the language."""
    lines: list[str] = []
    for group in dict.fromkeys(feature.group for feature in FEATURES):
        lines += [f"### {group}", "", "| feature | query |", "| --- | --- |"]
        for feature in FEATURES:
            if feature.group == group:
                query = " ".join(feature.query.split("\n")).replace("|", "\\|")
                lines.append(f"| {feature.name.replace('|', chr(92) + '|')} | `{query}` |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    reference = Path(__file__).parents[2] / "docs/reference/adql.md"
    before, begin, rest = reference.read_text(encoding="utf-8").partition(
        "<!-- features: tests/queries/adql_features.py -->"
    )
    after = "<!-- end of features -->" + rest.partition("<!-- end of features -->")[2]
    reference.write_text(f"{before}{begin}\n\n{write_table()}\n{after}", encoding="utf-8")
