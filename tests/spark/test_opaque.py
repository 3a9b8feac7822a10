"""Opaque SQL on Spark: rows, keys, bags, and what goes wrong."""

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.catalogs import (
    Base,
    Catalog,
    OpaqueQuery,
    OpaqueSelection,
    RenameAttributes,
    SelectSources,
)
from provenn.errors import DefinitionError, KeyValuesError, RunError
from provenn.spark.engine import Engine
from provenn.spark.opaque_operations import identify_rows, name_table
from provenn.spark.spark_errors import translate_errors
from provenn.targets.literal import build_step
from tests.spark.frames import collected
from tests.spark.lineages import write_base
from tests.spark.oracle import Oracle
from tests.spark.row_numbers import number_rows
from tests.targets.scenes import scene_of
from tests.targets.test_equivalence import frame_of

NAN = math.nan
ROWS = {
    "k": pa.array(range(6)),
    "x": pa.array([None, NAN, 0.0, -0.0, 1.0, 2.0]),
    "n": pa.array([1, 1, 2, 2, 3, None], pa.int32()),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("worlds")


@pytest.fixture(scope="module")
def stars(folder) -> Base:
    return write_base(folder, pa.table(ROWS), key="k", files=2)


@pytest.fixture(scope="module")
def names(folder) -> Base:
    return write_base(folder, pa.table({"k": pa.array([1, 2, 7]), "s": ["a", "b{}", "c"]}), key="k")


def compute(engine: Engine, catalog: Catalog) -> list[tuple[object, ...]]:
    """The rows of a catalog, by its literal plan."""
    with translate_errors("computing"):
        frame = frame_of(engine, scene_of(catalog), build_step(catalog), catalog, Oracle({}))
        return collected([frame], [catalog.schema.attributes])[0]


CONDITIONS = {
    "parent.n >= (SELECT avg(n) FROM input_1)": [2, 3, 4],
    "EXISTS (SELECT 1 FROM input_1 AS t WHERE t.n = parent.n AND t.k <> parent.k)": [0, 1, 2, 3],
    "parent.n NOT IN (SELECT n FROM input_1 WHERE k = 5)": [],
    "parent.k IN (SELECT k FROM input_2)": [1, 2],
    "parent.x = 0": [2, 3],
    "isnan(parent.x) OR parent.x IS NULL": [0, 1],
    "1 / (parent.k - 1) > 0": [2, 3, 4, 5],
    "CAST('no number' AS INT) IS NULL": [0, 1, 2, 3, 4, 5],
    "CAST(NULL AS BOOLEAN)": [],
    "parent.n = 1 OR (SELECT max(s) FROM input_2) = '{}'": [0, 1],
    "array_contains(transform(sequence(1, 2), e -> e + 1), parent.n)": [2, 3, 4],
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_opaque_selection_keeps_the_sources_for_which_its_condition_is_true(engine, stars, names, condition):
    rows = compute(engine, OpaqueSelection.of(stars, condition, [stars, names]))
    assert [row[0] for row in rows] == CONDITIONS[condition]


def test_columns_of_the_parent_keep_their_meaning_under_other_names(engine, stars, names):
    renamed = RenameAttributes.of(stars, {"n": "s", "x": "n"})
    condition = "EXISTS (SELECT 1 FROM input_1 WHERE input_1.k = parent.s AND s = 'a')"
    assert [row[0] for row in compute(engine, OpaqueSelection.of(renamed, condition, [names]))] == [0, 1]


def test_a_name_without_a_table_never_means_a_column_of_the_parent(engine, stars, names):
    """Otherwise the same condition would mean another set for another parent."""
    selection = OpaqueSelection.of(stars, "EXISTS (SELECT 1 FROM input_1 WHERE n = 1)", [names])
    with pytest.raises(DefinitionError, match=r"Spark does not understand .* `n` cannot be resolved"):
        compute(engine, selection)


def test_an_error_names_columns_as_people_do(engine, stars, names):
    selection = OpaqueSelection.of(
        stars, "EXISTS (SELECT 1 FROM input_1 WHERE n = 1 AND input_1.k = parent.x)", [names]
    )
    with pytest.raises(DefinitionError, match=r"Spark does not understand EXISTS\(.*= x\)") as caught:
        compute(engine, selection)
    assert not re.search("[0-9a-f]{64}", caught.value.message)


def test_the_session_keeps_no_views(engine, stars):
    before = engine.session.catalog.listTables()
    compute(engine, OpaqueQuery.of([stars], "SELECT k FROM input_1", [("k", "bigint", True)]))
    compute(engine, OpaqueSelection.of(stars, "EXISTS (SELECT 1 FROM input_1)", [stars]))
    assert engine.session.catalog.listTables() == before


QUERIES = {
    "WITH t AS (SELECT n, count(*) AS c FROM input_1 WHERE n IS NOT NULL GROUP BY n) SELECT * FROM t": [
        (1, 2),
        (2, 2),
        (3, 1),
    ],
    "SELECT input_1.n, rank() OVER (ORDER BY max(input_1.k)) AS c FROM input_1 WHERE n < 3 GROUP BY n": [
        (1, 1),
        (2, 2),
    ],
    "SELECT n, c FROM VALUES (1, 2), (3, 4) AS t(n, c) WHERE n IN (SELECT n FROM input_1)": [(1, 2), (3, 4)],
}
KINDS = [("bigint",), ("int",), ("int",)]


@pytest.mark.parametrize(("text", "kind"), list(zip(QUERIES, KINDS, strict=True)))
def test_an_opaque_query_gives_the_rows_that_spark_computes(engine, stars, text, kind):
    query = OpaqueQuery.of([stars], text, [("n", "int", True), ("c", *kind, True)], key="n", population="number")
    assert compute(engine, query) == QUERIES[text]


FAULTS = [
    ("SELECT n FROM input_1", "n", [("n", "int", True)], KeyValuesError, "the key column n holds a NULL"),
    ("SELECT n FROM input_1 WHERE n < 2", "n", [("n", "int", True)], KeyValuesError, "n occurs more than once: 1"),
    ("SELECT x FROM input_1 WHERE x = 0", "x", [("x", "double", True)], KeyValuesError, "more than once: 0.0"),
    ("SELECT x FROM input_1", None, [("x", "double", False)], KeyValuesError, "the column x holds a NULL"),
    ("SELECT k, x FROM input_1", "k", [("k", "bigint", True), ("x", "double", False)], KeyValuesError, "x holds"),
    ("SELECT k FROM input_1", "k", [("k", "int", True)], DefinitionError, "gives the columns k bigint; .* k int"),
    ("SELECT k AS K FROM input_1", "k", [("k", "bigint", True)], DefinitionError, "gives the columns K bigint"),
    ("SELECT k, n FROM input_1", "k", [("k", "bigint", True)], DefinitionError, "k bigint, n int; .* k bigint"),
    ("SELECT K FROM input_1", "K", [("K", "bigint", True)], DefinitionError, "cannot be resolved"),
    ("SELECT sum(s) AS k FROM input_1 GROUP BY 2", "k", [("k", "bigint", True)], DefinitionError, "not understand"),
    ("SELECT (SELECT k FROM input_1) AS k FROM input_1", "k", [("k", "bigint", True)], RunError, "More than one row"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_as_the_catalog_states_is_a_clear_error(engine, stars, fault):
    text, key, columns, error, message = fault
    with pytest.raises(error, match=message):
        compute(engine, OpaqueQuery.of([stars], text, columns, key=key))


def test_rows_that_the_query_leaves_out_are_not_checked(engine, stars, names):
    """Spark must not move the check below the join that leaves rows out."""
    text = "SELECT input_1.k, input_1.n FROM input_1 JOIN input_2 ON input_1.k = input_2.k"
    query = OpaqueQuery.of([stars, names], text, [("k", "bigint", False), ("n", "int", False)], key="k")
    assert compute(engine, query) == [(1, 1), (2, 2)]
    bag = OpaqueQuery.of([stars, names], text, [("k", "bigint", False), ("n", "int", False)])
    assert [row[2:] for row in compute(engine, SelectSources.of(bag, "n < 2"))] == [(1, 1)]


# --- bags ---

SCALARS = {
    "int": st.sampled_from([0, 1, -1, 12]),
    "bigint": st.sampled_from([0, 1, -1, 2**63 - 1]),
    "double": st.sampled_from([0.0, -0.0, 1.0, 0.1, NAN, math.inf, 5e-324, 1e300]),
    "string": st.sampled_from(["", "N", "1:N", "a", "é", "😀", "A0:", "null"]),
    "boolean": st.booleans(),
    "date": st.sampled_from([date(1970, 1, 1), date(2020, 3, 1)]),
    "timestamp": st.sampled_from([datetime(1970, 1, 1, tzinfo=UTC), datetime(2020, 3, 1, 1, tzinfo=UTC)]),
    "decimal(5,2)": st.sampled_from([Decimal("0.00"), Decimal("1.50")]),
    "binary": st.sampled_from([b"", b"N", b"\x00\xff"]),
}


@st.composite
def kinds_and_values(draw: st.DrawFn, depth: int = 2) -> tuple[str, st.SearchStrategy[object]]:
    """A type, and values of it, NULL included."""
    form = draw(st.sampled_from(["scalar", "scalar", "array", "struct", "map"])) if depth else "scalar"
    if form == "scalar":
        kind = draw(st.sampled_from(sorted(SCALARS)))
        return kind, st.none() | SCALARS[kind]
    inner, values = draw(kinds_and_values(depth=depth - 1))
    if form == "array":
        return f"array<{inner}>", st.none() | st.lists(values, max_size=3)
    if form == "struct":
        other, others = draw(kinds_and_values(depth=depth - 1))
        return f"struct<a:{inner},b:{other}>", st.none() | st.tuples(values, others)
    return f"map<string,{inner}>", st.none() | st.dictionaries(SCALARS["string"], values, max_size=3)


@st.composite
def bags(draw: st.DrawFn) -> tuple[list[str], list[tuple[object, ...]]]:
    """Types of columns, and rows of them, of which many are equal."""
    columns = [draw(kinds_and_values()) for _ in range(draw(st.integers(1, 3)))]
    row = st.tuples(*(values for _, values in columns))
    few = draw(st.lists(row, min_size=1, max_size=4))
    return [kind for kind, _ in columns], draw(st.lists(st.sampled_from(few), max_size=8))


@pytest.mark.parametrize(
    "examples", [pytest.param(10, id="quick"), pytest.param(1000, id="campaign", marks=pytest.mark.campaign)]
)
def test_the_rows_of_a_bag_are_a_multiset(engine, stars, examples):
    """Rows are the same source if and only if DISTINCT takes them for equal, and every copy is a source."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(bags())
    def check_one(bag):
        kinds, rows = bag
        check_bag(engine, stars, kinds, rows)

    check_one()


def check_bag(engine: Engine, stars: Base, kinds: list[str], rows: list[tuple[object, ...]]) -> None:
    session = engine.session
    names = [f"c{place}" for place in range(len(kinds))]
    frame = session.createDataFrame(rows, ", ".join(map("{} {}".format, names, kinds)))
    kinds = [field.dataType.simpleString() for field in frame.schema.fields]
    columns = list(zip(names, kinds, [True] * len(kinds), strict=True))
    query = OpaqueQuery.of([stars], f"SELECT {', '.join(names)} FROM input_1", columns)  # noqa: S608
    found = name_table(identify_rows(frame, query), [(one.identity, one.name) for one in query.schema.attributes])
    given_rows = number_rows(rows, names, kinds)
    assert sorted((repr(key), repr(plain(row))) for key, row in given_rows) == sorted(
        (repr((row, copy)), repr(tuple(map(plain, values)))) for row, copy, *values in found.collect()
    )
    if "map" not in "".join(kinds):
        distinct = frame.groupBy(*names).count().collect()
        counts = sorted(row["count"] for row in distinct)
        assert counts == sorted(row["count"] for row in found.groupBy(query.schema.key[0].name).count().collect())


def plain(value: object) -> object:
    """What Spark collects, as it was given."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, dict):  # in any order
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value
    return bytes(value) if isinstance(value, bytearray) else value
