"""ADQL that is wrong is refused: the error says where, and what was meant."""

# ruff: noqa: E501, S608 - each query is a line, and none takes values from outside

import pyarrow as pa
import pytest

from provenn.errors import QueryError
from tests.queries.adql_world import AdqlWorld, make_adql_world
from tests.spark.lineages import write_base


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_adql_world(tmp_path_factory.mktemp("sky"))


BAD = [
    # query, problem, hint, line, column
    ("SELECT hip FORM stars", "stars cannot be parsed here", "syntax", 1, 17),
    ("SELECT hip\nFROM stars\nWHERE vmag < ", "cannot be parsed", "syntax", 3, 12),
    ("SELECT FROM stars", "SELECT names no columns", "the columns", 1, 13),
    ("SELECT hip FROM star", "there is no table star", "stars", 1, 17),
    ("SELECT hip FROM archive.stras", "there is no table stras", "stars", 1, 17),
    ("SELECT hpi FROM stars", "there is no column hpi", "hip", 1, 8),
    ("SELECT s.vmga FROM stars AS s", "there is no column s.vmga", "vmag", 1, 8),
    ('SELECT "VMAG" FROM stars', "there is no column VMAG", "vmag", 1, 8),
    ("SELECT hip FROM stars, gaia", "several columns are called hip", "name of the table", 1, 8),
    ("SELECT hip FROM stars LIMIT 5", "ADQL has no LIMIT", "TOP", 1, 23),
    ("SELECT hip FROM stars FETCH FIRST 5 ROWS ONLY", "ADQL has no FETCH", "TOP", 1, 23),
    ("SELECT TOP x hip FROM stars", "", "", 1, None),
    ("SELECT TOP 1.5 hip FROM stars", "TOP and OFFSET take a whole number", "write the number", 1, None),
    ("SELECT hip, FROM stars", "nothing follows this comma", "remove", 1, 11),
    ("SELECT hip FROM stars WHERE hip IN (1,)", "nothing follows this comma", "remove", 1, 38),
    ("SELECT hip FROM stars ORDER BY hip,", "nothing follows this comma", "remove", 1, 35),
    ("SELECT hip FROM stars WHERE hip IN ()", "IN lists no values", "NULL", 1, 29),
    ("SELECT hip FROM stars WHERE CONTAINS(POINT(ra, dec), CIRCLE(0, 0, 1))", "CONTAINS is 1 or 0, and no condition", "= 1", 1, 29),
    ("SELECT hip FROM stars WHERE vmag < 5 AND NOT (INTERSECTS(POINT(ra, dec), CIRCLE(0, 0, 1)))", "INTERSECTS is 1 or 0", "= 1", 1, 47),
    ("SELECT CASE WHEN vmag + 1 THEN 2 END AS x FROM stars", "a condition is expected here", "compare", 1, None),
    ("SELECT hip FROM stars WHERE hip", "a condition is expected here, and hip is a value of type int", "compare", 1, 29),
    ("SELECT hip FROM stars WHERE NOT hip", "hip is a value of type int", "compare", 1, 33),
    ("SELECT hip FROM stars WHERE vmag > 1 OR Name", "Name is a value of type string", "compare", 1, 41),
    ("SELECT hip FROM stars WHERE COALESCE(hip, 1)", "is a value of type int", "compare", 1, None),
    ("SELECT hip FROM stars WHERE (SELECT MAX(hip) FROM stars)", "this is a value of type int", "compare", 1, None),
    ("SELECT con FROM stars GROUP BY con HAVING COUNT(*)", "COUNT(*) is a value of type bigint", "compare", 1, 43),
    ("SELECT con FROM stars GROUP BY con HAVING MIN(vmag) AND 1 = 1", "is a value of type double", "compare", 1, None),
    ("SELECT n FROM (SELECT COUNT(*) AS n FROM stars) AS t WHERE n", "n is a value of type bigint", "compare", 1, 60),
    ("SELECT s.hip FROM stars AS s JOIN gaia AS g ON s.hip", "hip is a value of type int", "compare", 1, 48),
    ("SELECT s.hip FROM stars AS s LEFT JOIN gaia AS g ON s.hip = g.hip AND s.vmag", "vmag is a value", "compare", 1, 71),
    ("SELECT CASE WHEN hip THEN 1 ELSE 2 END AS x FROM stars", "hip is a value of type int", "compare", 1, 18),
    ("SELECT SUM(CASE WHEN Name THEN 1 ELSE 0 END) AS x FROM stars", "Name is a value of type string", "compare", 1, 22),
    ("SELECT hip FROM stars WHERE hip IN (SELECT hip FROM gaia WHERE hip)", "hip is a value of type int", "compare", 1, 64),
    ("WITH t AS (SELECT hip FROM stars) SELECT a.hip FROM t AS a JOIN t AS b ON a.hip = b.hip WHERE b.hip", "hip is a value", "compare", 1, 95),
    ("SELECT v FROM (SELECT hip AS v FROM stars UNION SELECT hip FROM gaia) AS u WHERE v", "v is a value of type int", "compare", 1, 82),
    ("SELECT SUM(vmag > 1) AS s FROM stars", "a number is expected here, and vmag > 1 is TRUE or FALSE", "CASE", 1, 12),
    ("SELECT hip FROM stars WHERE (vmag > 1) > 2", "a number is expected here", "CASE", 1, None),
    ("SELECT hip FROM stars WHERE -(vmag > 1) < 3", "a number is expected here", "CASE", 1, None),
    ("SELECT (vmag IS NULL) + 1 AS x FROM stars", "a number is expected here", "CASE", 1, None),
    ("SELECT hip FROM stars FOR UPDATE", "ADQL has no FOR UPDATE", "leave it out", 1, None),
    ("SELECT hip FROM stars SORT BY hip", "ADQL has no SORT BY", "leave it out", 1, None),
    ("SELECT hip FROM stars WHERE Name RLIKE 'a.*'", "ADQL has no RLIKE", "LIKE", 1, 29),
    ("SELECT hip FROM stars WHERE hip IS DISTINCT FROM 3", "ADQL has no IS DISTINCT FROM", "<>", 1, 29),
    ("SELECT * EXCEPT (hip) FROM stars", "ADQL has * alone", "list the columns", 1, None),
    ("DROP TABLE stars", "DROP does not begin a query", "SELECT", 1, 1),
    ("SELECT hip FROM stars; SELECT 1", "more than one statement", "one by one", 1, 24),
    ("SELECT 'abc FROM stars", "a quote or a comment is not closed", "", None, None),
    ("SELECT SQTR(vmag) FROM stars", "SQTR is not a function of ADQL", "sqrt", 1, 8),
    ("SELECT gavo_histogram(vmag) FROM stars", "GAVO_HISTOGRAM is not a function of ADQL", "the functions are", 1, 8),
    ("SELECT RAND() FROM stars", "RAND has other values each time", "column", 1, 8),
    ("SELECT POWER(vmag) FROM stars", "POWER takes 2 arguments, not 1", "", 1, 8),
    ("SELECT ROUND(vmag, nobs) FROM stars", "ROUND takes a constant", "number", 1, 8),
    ("SELECT CAST(vmag AS BLOB) FROM stars", "CAST does not take the type", "DOUBLE PRECISION", 1, 13),
    ("SELECT POINT(ra, dec) FROM stars", "POINT is a geometry, and no value", "coordinates", 1, 8),
    ("SELECT ABS(POINT(ra, dec)) FROM stars", "ABS does not take a geometry", "", 1, 8),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(ra, CIRCLE(1, 2, 3))", "CONTAINS takes geometries", "POINT", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec))", "CONTAINS takes 2 geometries", "", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, 2))", "CIRCLE takes a centre and a radius", "", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, 95, 1))", "declination", "", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, 2, -1))", "the radius of a circle is -1", "180", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT('GALACTIC', ra, dec), CIRCLE(1, 2, 3))", "does not convert positions from GALACTIC", "frame", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(1, 2, 3, 4))", "at least 3 vertices", "", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), BOX(ra, 2, 3, 4))", "BOX takes numbers here, not columns", "CIRCLE", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), MOC('3/9999'))", "", "", 1, 33),
    ("SELECT hip FROM stars WHERE 1 = INTERSECTS(CIRCLE(ra, dec, 1), POLYGON(1, 2, 3, 2, 2, 4))", "INTERSECTS of these regions is not supported", "points and circles", 1, 33),
    ("SELECT AREA(POLYGON(1, 2, 3, 2, 2, 4)) FROM stars", "AREA is known for points", "", 1, 8),
    ("SELECT DISTANCE(ra, dec) FROM stars", "DISTANCE takes geometries", "", 1, 8),
    ("SELECT REGION('circle 1 2 3') FROM stars", "REGION is not supported", "POINT", 1, 8),
    ("SELECT IN_UNIT(vmag, 'mas') FROM stars", "the unit of vmag is not known", "leave IN_UNIT out", 1, 8),
    ("SELECT IN_UNIT(plx, 'parsnip') FROM stars", "'parsnip' is not a unit", "", 1, 8),
    ("SELECT IN_UNIT(plx, 'kg') FROM stars", "plx is in mas, which does not convert to kg", "", 1, 8),
    ("SELECT hip FROM stars WHERE ra > plx", "this mixes different units: ra in deg, plx in mas", "IN_UNIT", 1, 29),
    ("SELECT hip FROM stars WHERE vmag < 3 AND COS(dec) > 0.5", "dec, which is in deg, does not fit cos()", "IN_UNIT(dec, 'rad')", 1, 29),
    ("SELECT COS(dec * PI() / 180) AS c FROM stars", "does not fit cos()", "", 1, 12),
    ("SELECT AVG(ra - plx) AS d FROM stars", "this mixes different units", "IN_UNIT", 1, None),
    ("SELECT hip FROM stars WHERE Name LIKE con", "the pattern of LIKE is not a text", "quotes", 1, 29),
    ("SELECT con, vmag FROM stars GROUP BY con", "vmag is neither in GROUP BY", "use MAX or MIN", 1, None),
    ("SELECT hip FROM stars WHERE vmag > AVG(vmag)", "an aggregate is not allowed in WHERE", "use HAVING", 1, None),
    ("SELECT hip FROM stars UNION SELECT hip, vmag FROM stars", "1 columns cannot be combined with 2", "", 1, None),
    ("SELECT hip FROM stars WHERE vmag = 'a'", "vmag is a number (double), and 'a' is a text: they cannot be compared", "CAST", 1, 29),
    ("SELECT hip FROM stars WHERE hip IN (1, '2')", "hip is a number (int), and '2' is a text", "without quotes: 2", 1, 29),
    ("SELECT hip FROM stars WHERE vmag BETWEEN '1' AND 2", "vmag is a number (double), and '1' is a text", "quotes: 1", 1, 29),
    ("SELECT hip FROM stars WHERE Name > 3", "Name is a text (string), and 3 is a number", "in quotes: '3'", 1, 29),
    ("SELECT hip FROM stars WHERE hip LIKE '1%'", "LIKE takes a text, and hip is a number (int)", "VARCHAR", 1, 29),
    ("SELECT hip FROM stars WHERE seen > 'soon'", "'soon' is not a moment", "TIMESTAMP('", 1, None),
    ("SELECT hip FROM stars WHERE seen = 3", "seen is a moment (timestamp), and 3 is a number", "TIMESTAMP('", 1, 29),
    ("SELECT s.hip FROM stars AS s JOIN cons AS c ON s.hip = c.con", "hip is a number (int), and con is a text", "CAST", 1, 48),
    ("SELECT hip FROM stars WHERE hip IN (SELECT con FROM cons)", "con of the subquery is a text", "CAST", 1, 29),
    ("SELECT hip FROM stars WHERE hip = (SELECT MAX(con) FROM cons)", "is a text", "CAST", 1, 29),
    ("SELECT con FROM stars GROUP BY con HAVING COUNT(*) > 'x'", "COUNT(*) is a number (bigint)", "CAST", 1, 43),
    ("SELECT hip FROM stars WHERE vmag < 1e999", "1e999 is too large", "1.79e308", 1, None),
    (f"SELECT hip + {'9' * 39} AS x FROM stars", f"{'9' * 39} is too large", "1.79e308", 1, None),
    ("SELECT Name + 1 AS x FROM stars", "+ takes a number, and Name is a text (string)", "DOUBLE PRECISION", 1, 8),
    ("SELECT ROUND(Name) AS x FROM stars", "ROUND takes a number, and Name is a text", "DOUBLE PRECISION", 1, 14),
    ("SELECT SUM(Name) AS x FROM stars", "SUM takes a number, and Name is a text", "DOUBLE PRECISION", 1, 12),
    ("SELECT UPPER(hip) AS x FROM stars", "UPPER takes a text, and hip is a number", "VARCHAR", 1, 14),
    ("SELECT hip || 'a' AS x FROM stars", "|| takes a text, and hip is a number", "VARCHAR", 1, 8),
    ("SELECT vmag & 1 AS x FROM stars", "& takes whole numbers, and vmag is a number (double)", "BIGINT", 1, 8),
    ("SELECT COALESCE(hip, 'none') AS x FROM stars", "COALESCE has results of one type", "CAST", 1, None),
    ("SELECT CASE WHEN hip > 1 THEN hip ELSE 'none' END AS x FROM stars", "CASE has results of one type", "CAST", 1, None),
    ("SELECT hip FROM stars WHERE DISTANCE(Name, dec, 1, 2) < 3", "DISTANCE takes a number, and Name is a text", "", 1, 38),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(Name, dec), CIRCLE(1, 2, 3))", "POINT takes a number", "", 1, 48),
    ("SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, 2, Name))", "CIRCLE takes a number", "", 1, 71),
    ("SELECT ivo_healpix_index(3, Name, dec) AS x FROM stars", "IVO_HEALPIX_INDEX takes a number", "", 1, 29),
    ("SELECT hip FROM stars UNION SELECT con FROM cons", "UNION does not mix types: hip is a number", "CAST", 1, None),
    ("SELECT hip FROM stars JOIN (SELECT con AS hip FROM cons) AS c USING (hip)", "a join does not mix types", "CAST", 1, None),
    ("SELECT SUM(*) AS s FROM stars", "SUM takes a single value", "SUM(vmag)", 1, 8),
    ("SELECT MAX(hip, 2) AS s FROM stars", "MAX takes a single value", "MAX(vmag)", 1, 8),
    ("SELECT COUNT(*, 1) AS n FROM stars", "COUNT takes * or a single value", "COUNT(vmag)", 1, 8),
    ("SELECT COUNT() AS n FROM stars", "COUNT takes * or a single value", "COUNT(vmag)", 1, 8),
    ("SELECT COUNT(DISTINCT *) AS n FROM stars", "COUNT takes * or a single value", "COUNT(vmag)", 1, 8),
    ("SELECT COUNT(DISTINCT hip, vmag) AS n FROM stars", "COUNT takes * or a single value", "COUNT(vmag)", 1, 8),
    ("SELECT SUM(hip) OVER () AS s FROM stars", "ADQL has no windows", "leave it out", 1, None),
    ("SELECT COUNT(*) FILTER (WHERE hip < 3) AS n FROM stars", "ADQL has no FILTER", "leave it out", 1, None),
    ("SELECT hip % 2 AS r FROM stars", "ADQL has no %", "MOD(x, y)", 1, None),
    ("SELECT hip DIV 2 AS r FROM stars", "ADQL has no DIV", "FLOOR", 1, None),
    ("SELECT hip::int AS r FROM stars", ":: cannot be parsed here", "syntax", 1, 11),
    ("SELECT Name[0] AS r FROM stars", "ADQL has no parts of arrays", "leave it out", 1, None),
    ("SELECT [hip] AS r FROM stars", "ADQL has no ARRAY", "leave it out", 1, None),
    ("SELECT hip FROM stars WHERE (hip, nobs) = (1, 2)", "ADQL has no lists of values in parentheses", "", 1, None),
    ("SELECT hip FROM stars WHERE hip IN 1", "IN takes a list in parentheses", "IN (1, 2, 3)", 1, None),
    ("SELECT hip FROM stars WHERE hip BETWEEN SYMMETRIC 3 AND 1", "ADQL has no SYMMETRIC", "leave it out", 1, 29),
    ("SELECT hip FROM stars WHERE hip OVERLAPS 2", "ADQL has no OVERLAPS", "leave it out", 1, None),
    ("SELECT hip FROM stars WHERE hip > 1e", "1e is not a number", "1.5e3", 1, 35),
    ("SELECT 1.2.3 AS x FROM stars", "ADQL has no parts of values", "leave it out", 1, None),
    ("SELECT con, COUNT(*) AS n FROM stars GROUP BY ROLLUP (con)", "ADQL has no ROLLUP", "leave it out", 1, None),
    ("SELECT con, COUNT(*) AS n FROM stars GROUP BY CUBE (con)", "ADQL has no CUBE", "leave it out", 1, None),
    ("SELECT COUNT(*) AS n FROM stars GROUP BY GROUPING SETS ((con))", "ADQL has no GROUPING SETS", "", 1, None),
    ("SELECT con FROM stars GROUP BY ALL", "ADQL has no GROUP BY ALL", "leave it out", 1, None),
    ("SELECT DISTINCT ON (con) hip FROM stars", "ADQL has no DISTINCT ON", "leave it out", 1, None),
    ("SELECT TOP 1 WITH TIES hip FROM stars ORDER BY hip", "ADQL has no PERCENT and WITH TIES", "", 1, None),
    ("SELECT hip FROM stars UNION BY NAME SELECT hip FROM gaia", "ADQL has no BY NAME", "leave it out", 1, None),
    ("WITH RECURSIVE a AS (SELECT hip FROM stars) SELECT hip FROM a", "ADQL has no WITH RECURSIVE", "", 1, None),
    ("WITH a AS (SELECT hip FROM stars), A AS (SELECT id FROM gaia) SELECT * FROM a", "two queries of WITH are called a", "another name", 1, None),
    ("SELECT s.hip FROM stars AS s LEFT SEMI JOIN gaia AS g ON s.hip = g.hip", "ADQL has no LEFT SEMI JOIN", "EXISTS", 1, None),
    ("SELECT s.hip FROM stars AS s NATURAL JOIN gaia AS g ON s.hip = g.hip", "NATURAL JOIN takes no condition", "ON", 1, None),
    ("SELECT s.hip FROM stars AS s CROSS JOIN gaia AS g ON s.hip = g.hip", "CROSS JOIN takes no condition", "ON", 1, None),
    ("SELECT s.hip FROM stars AS s JOIN gaia AS g", "this JOIN has no condition", "CROSS JOIN", 1, None),
    ("SELECT N'x' AS x FROM stars", "ADQL has no NATIONAL", "leave it out", 1, None),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD, ids=[text[:60] for text, *_ in BAD])
def test_wrong_adql_is_refused_with_its_place_and_a_hint(world, bad):
    text, problem, hint, line, column = bad
    with pytest.raises(QueryError) as caught:
        world.translate(text)
    assert problem in caught.value.problem
    assert hint in (caught.value.hint or "")
    if column is not None:
        assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "condition",
    [
        "CONTAINS(POINT({}, dec), CIRCLE(150, 2, 1)) = 1",
        "CONTAINS(POINT({}, dec), BOX(150, 2, 1, 1)) = 1",
        "DISTANCE({}, dec, 150, 2) < 1",
        "DISTANCE(POINT(150, 2), POINT({}, dec)) < id",
        "ivo_healpix_index(5, {}, dec) = 3",
    ],
)
def test_a_right_ascension_in_hours_is_not_taken_for_degrees(tmp_path, condition):
    fields = [pa.field("id", pa.int32()), pa.field("ra", pa.float64(), metadata={"unit": "h"})]
    schema = pa.schema([*fields, pa.field("dec", pa.float64(), metadata={"unit": "deg"})])
    table = pa.table({"id": [1, 2], "ra": [10.0, 20.0], "dec": [2.0, 3.0]}, schema=schema)
    world = AdqlWorld({"fields": table}, {"fields": write_base(tmp_path, table, key="id", population="field")})
    with pytest.raises(QueryError) as caught:
        world.translate(f"SELECT id FROM fields WHERE {condition.format('ra')}")
    assert "which is in h, does not fit" in caught.value.problem
    assert "by 15" in caught.value.hint
    world.translate(f"SELECT id FROM fields WHERE {condition.format('15 * ra')}")


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("flux = 1", "flux is an array (array<double>), and 1 is a number"),
        ("flux = 'a'", "flux is an array (array<double>), and 'a' is a text"),
        ("flux IN (1, 2)", "flux is an array"),
        ("flux + 1 > 2", "+ takes a number, and flux is an array"),
        ("ABS(flux) > 2", "ABS takes a number, and flux is an array"),
        ("UPPER(flux) = 'A'", "UPPER takes a text, and flux is an array"),
        ("raw = 'a'", "raw is binary data (binary), and 'a' is a text"),
        ("raw > 5", "raw is binary data"),
        ("id IN (SELECT flux FROM spectra)", "flux of the subquery is an array"),
    ],
)
def test_arrays_and_binary_data_are_compared_with_nothing_else(tmp_path, condition, problem):
    table = pa.table({"id": [1, 2], "flux": [[1.0], None], "raw": [b"a", None]})
    world = AdqlWorld({"spectra": table}, {"spectra": write_base(tmp_path, table, key="id", population="spectrum")})
    with pytest.raises(QueryError) as caught:
        world.translate(f"SELECT id FROM spectra WHERE {condition}")
    assert problem in caught.value.problem


def test_a_very_long_chain_of_conditions_is_read(world):
    text = " OR ".join(f"hip = {number}" for number in range(3000))
    assert len(world.answer(f"SELECT hip FROM stars WHERE {text}")) == 60


def test_deep_nesting_is_refused(world):
    with pytest.raises(QueryError, match="nested too deeply"):
        world.translate("SELECT " + "(" * 60 + "1" + ")" * 60 + " FROM stars")


@pytest.mark.parametrize(
    ("dialect", "query"),
    [
        ("adql", "SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), MOC('PATH'))"),
        ("adql", "SELECT CONTAINS(POINT(ra, dec), MOC('PATH')) AS x, COUNT(*) AS n FROM stars GROUP BY hip, ra, dec"),
        ("spark", "SELECT hip FROM stars WHERE in_moc(ra, dec, 'PATH')"),
        ("spark", "SELECT s.hip FROM stars s LEFT JOIN gaia g ON s.hip = g.id AND in_moc(g.ra, g.dec, 'PATH')"),
        ("spark", "SELECT count(DISTINCT CASE WHEN in_moc(ra, dec, 'PATH') THEN hip END) AS n FROM stars"),
    ],
)
def test_the_text_of_a_query_opens_no_file(world, tmp_path, dialect, query):
    """Otherwise everybody who may query an archive could ask which files its machine has."""
    (tmp_path / "coverage.txt").write_text("0/0-3")
    problems = []
    for name in ("coverage.txt", "nothing.txt"):
        with pytest.raises(QueryError) as caught:
            world.translate(query.replace("PATH", str(tmp_path / name)), dialect=dialect)
        problems.append(f"{caught.value.problem} {caught.value.hint}".replace(name, "NAME"))
    assert problems[0] == problems[1]
    assert "3/1-4 5/200" in problems[0]


@pytest.mark.parametrize(
    "condition",
    ["TRUE", "vmag > 3 AND TRUE", "(vmag > 3) = (plx > 2)", "NULL", "NOT (vmag > 3)", "COALESCE(vmag > 3, FALSE)"],
)
def test_truth_values_are_conditions(world, condition):
    world.translate(f"SELECT hip FROM stars WHERE {condition}")


@pytest.mark.parametrize(
    "condition",
    [
        "seen > '2020-02-01'",
        "seen BETWEEN '2020-02' AND '2020-03-01 12:00:00'",
        "(vmag > 3) = TRUE",
        "(vmag > 3) = 'true'",
        "(vmag > 3) = 1",
        "vmag = NULL",
        "Name IN ('a', NULL)",
        "CAST(hip AS VARCHAR(5)) = '3'",
        "Name = CAST(3 AS VARCHAR(5))",
    ],
)
def test_values_that_fit_are_compared(world, condition):
    world.translate(f"SELECT hip FROM stars WHERE {condition}")


def test_spark_compares_texts_with_numbers_in_its_own_dialect(world):
    world.translate("SELECT hip FROM stars WHERE vmag = '3'", dialect="spark")


def test_spark_reads_texts_beside_and_as_truth_values(world):
    """Spark converts such texts, so its own dialect keeps them; a number is refused in any dialect."""
    world.translate("SELECT hip FROM stars WHERE 'true' AND vmag > 3", dialect="spark")
    with pytest.raises(QueryError, match="hip is a value of type int"):
        world.translate("SELECT hip FROM stars WHERE hip AND vmag > 3", dialect="spark")
