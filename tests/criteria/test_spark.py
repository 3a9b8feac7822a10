"""Spark itself agrees: on what criteria select, on the types of expressions, on when functions are NULL.

Runs in `make campaign` where pyspark is installed.
"""

import math
import os
import sys
from itertools import product

import pytest

from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type, render
from provenn.criteria.functions import FUNCTIONS
from provenn.criteria.nodes import Nulls
from tests.criteria.oracle import TYPES, constants, criteria, rows
from tests.strategies import drawn

pytestmark = pytest.mark.campaign

EXTREMES = {
    "int": [None, 0, 1, -1, 2, 12, -(2**31), 2**31 - 1],
    "bigint": [None, 0, 1, -1, -(2**63), 2**63 - 1],
    "double": [None, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan],
    "string": [None, "", "a", "A", "ab c", "é", "it's", "\\", "%_", "1", "NaN", "2020-01-01", "😀x"],
    "date": [None, "1970-01-01", "2020-02-29", "0001-01-01", "9999-12-31", "-5877641-06-24", "+5881580-07-10"],
    "timestamp": [
        None,
        "1970-01-01 00:00:00",
        "2020-02-29 12:34:56.789012",
        "0001-01-01 00:00:00",
        "-290308-12-21 19:59:06",
        "+294247-01-10 04:00:54.775807",
    ],
    "text": ["'month'", "'Quarter'", "'no such unit'"],
    "whole": ["0", "3", "256", "-2"],
}
EXTREMES["any"] = EXTREMES["string"]


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    settings_ = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    builder = sql.SparkSession.builder.master("local[1]")
    for key, value in settings_.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize(
    "columns",
    [
        *({"x": kind} for kind in TYPES),
        *({"x": kind, "y": kind, "z": "int"} for kind in ("double", "string", "boolean")),
    ],
    ids=lambda columns: "-".join(columns.values()),
)
def test_spark_selects_exactly_the_rows_of_the_true_set(spark, columns):
    trees = drawn(criteria(*columns.items(), between_columns=len(columns) > 1), 100, 1)
    table = list(
        {repr(row): row for tree in trees for row in rows(columns, constants(tree), nullable=True)[:20]}.values()
    )
    fields = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    values = [(number, *row.values()) for number, row in enumerate(table)]
    spark.createDataFrame(values, f"i int, {fields}").cache().createOrReplaceTempView("t")
    schema = {name: Attribute(name, parse_type(kind)) for name, kind in columns.items()}
    for start in range(0, len(trees), 25):
        part = trees[start : start + 25]
        read = [parse_criterion(tree.sql(), schema) for tree in part]
        labels = sorted({atom.label for item in read for atom in item.atoms})
        asked = [*labels, *(render(item, {name: name for name in columns}) for item in read)]
        for row in spark.sql(f"SELECT i, {', '.join(asked)} FROM t").collect():  # noqa: S608
            number, *answers = row
            inside = dict(zip(labels, (answer is True for answer in answers), strict=False))
            for tree, parsed, selected in zip(part, read, answers[len(labels) :], strict=True):
                assert selected is tree.truth(table[number]), (parsed, table[number])
                assert parsed.true.evaluate(inside.__getitem__, False, True) == (selected is True), (
                    parsed,
                    table[number],
                )
                assert parsed.false.evaluate(inside.__getitem__, False, True) == (selected is False), (
                    parsed,
                    table[number],
                )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_these_types_are_null_then_and_never_fail(spark, name):
    function = FUNCTIONS[name]
    for count in range(function.least, len(function.arguments) + 1):
        kinds = function.arguments[:count]
        constant = [kind in ("text", "whole") for kind in kinds]
        given_kinds = ["string" if kind == "any" else kind for kind in kinds]
        for chosen in product(
            *(EXTREMES[kind] if fixed else [None] for kind, fixed in zip(kinds, constant, strict=True))
        ):
            columns = {f"c{n}": kind for n, kind in enumerate(given_kinds) if not constant[n]}
            arguments = [text or f"c{n}" for n, text in enumerate(chosen)]
            schema = {column: Attribute(column, parse_type(kind)) for column, kind in columns.items()}
            expression = parse_expression(f"{name}({', '.join(arguments)})", schema)
            sources = [f"(SELECT explode({_array(kind)}) AS {column})" for column, kind in columns.items()]
            sql = render(expression, {column: column for column in columns})
            is_null = [f"{column} IS NULL" for column in columns]
            table = " CROSS JOIN ".join(sources) or "(SELECT 1)"
            answer = spark.sql(f"SELECT {sql} AS r, {', '.join([*is_null, 'TRUE'])} FROM {table}")  # noqa: S608
            assert answer.dtypes[0][1] == str(expression.type)
            for row in answer.selectExpr("r IS NULL", *(f"`{column}`" for column in answer.columns[1:])).collect():
                result, *given_nulls, _ = row
                match function.nulls:
                    case Nulls.ANY:
                        assert result == any(given_nulls)
                    case Nulls.ANY_OR_FAILED:
                        assert result or not any(given_nulls)
                    case Nulls.NEVER:
                        assert not result


def _array(kind: str) -> str:
    def written(value) -> str:
        if value is None:
            return f"CAST(NULL AS {kind})"
        text = str(value).replace("\\", "\\\\").replace("'", "\\'")
        return f"CAST('{text}' AS {kind})"

    return f"array({', '.join(map(written, EXTREMES[kind]))})"
