"""Rows are evaluated as Spark evaluates them, and the rows that tell criteria apart do so on Spark."""

import datetime as dt
import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from provenn.catalogs import DeriveAttributes, SelectSources, SqlCalculator, cone
from provenn.criteria import parse_criterion, render
from provenn.criteria.domains import decode_number, encode_double, encode_float
from provenn.criteria.nodes import Constant
from provenn.criteria.row_values import Uncertain, evaluate_condition
from provenn.criteria.types import BOOLEAN, DATE, STRING
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.row_search import RowSearch
from provenn.logic.terms import term
from provenn.targets.known import build_definition
from tests.catalogs.samples import base

COLUMNS = {
    "g": "double",
    "r": "double",
    "f": "float",
    "n": "int",
    "m": "bigint",
    "s": "string",
    "b": "boolean",
    "d": "date",
    "q": "decimal(9,2)",
    "ra": "double",
    "dec": "double",
}
STARS = base("stars", {"hip": "bigint", **COLUMNS})
NAMES = {STARS.schema[name].identity: name for name in STARS.schema.names}
ARROW = {
    "double": pa.float64(),
    "float": pa.float32(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "decimal(9,2)": pa.decimal128(9, 2),
}
CRITERIA = [
    *("g < 5", "g <= 5", "g > 5", "g BETWEEN 4 AND 6", "g IS NULL", "isnan(g)", "g <> 5", "g IN (1, 2, 3)"),
    *("g - r > 1", "r < g - 1", "g + r <= 0.3", "g * 2 > 10", "-g > -5", "1000 / g < 100", "g / r = 2", "abs(g) > 20"),
    *("g < r", "g = r", "g <=> r", "greatest(g, r) < 5", "least(g, r, 3) > 2", "coalesce(g, 99) < 20"),
    *("CASE WHEN g < 5 THEN r ELSE 1 END > 3", "if(b, g, r) < 5", "nullif(g, 5) > 4", "nvl(g, r) = 1"),
    *("f < 5.1", "f <= g", "CAST(f AS double) = 0.1", "f + 1 > 3", "n + 1 > 3", "n * n > 9", "-n < 5", "abs(n) = n"),
    *("n % 10 = 3", "n % 5 = 3", "pmod(n, 10) = 3", "m - 1 < 0", "n < g", "m = n", "CAST(g AS int) = 5", "n / 2 > 1"),
    *("s = 'x'", "s < 'b'", "s IN ('a', 'é')", "s LIKE 'x%'", "b", "NOT b", "b IS NULL", "b = (g < 5)"),
    *("d < DATE '2020-01-01'", "d = DATE '2020-02-29'", "q < 5.10", "q + 1 > 3", "q * 2 = 10.2", "q < g", "q = n"),
    *("in_box(ra, dec, 350, 10, -5, 5)", "in_cone(ra, dec, 0, 0, 6)", "in_polygon(ra, dec, 0, 0, 9, 0, 5, 8)"),
    *("dec > 0 AND ra < 10", "g < 5 AND r > 5 OR n = 3", "NOT (g < 5 AND r > 5)", "g < 5 OR g IS NULL"),
]
NASTY = {
    "double": [
        *(None, 0.0, -0.0, 1.0, 2.0, 4.999999999999999, 5.0, 5.000000000000001, -5.0, 0.1, 0.2, 20.0),
        *(1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 3.0, 6.0, 10.0),
    ],
    "float": [None, 0.0, 5.1, 0.1, 2.0, math.nan, math.inf, -math.inf, 1e-45, 3e38],
    "int": [None, 0, 1, 2, 3, 5, 8, 13, -7, -(2**31), 2**31 - 1],
    "bigint": [None, 0, 1, 3, -1, -(2**63), 2**63 - 1],
    "string": [None, "", "x", "a", "b", "é", "xyz"],
    "boolean": [None, True, False],
    "date": [None, dt.date(2020, 1, 1), dt.date(2019, 12, 31), dt.date(2020, 2, 29)],
    "decimal(9,2)": [None, 0, 5, 510, 509, 200, 999999999, -999999999],
}
PLACES = {"ra": [0.0, 1.0, 5.0, 9.0, 351.0, 355.0, 180.0, None], "dec": [0.0, 1.0, 2.0, 4.0, 5.0, -4.0, 89.0, None]}


def encode(kind, value):
    """Return a value of Python as a constant; decimals are drawn as their digits."""
    if value is None or kind.name == "decimal":
        return Constant(kind, value)
    if kind == BOOLEAN:
        return Constant(kind, int(not value))
    if kind == DATE:
        return Constant(kind, value.toordinal() - dt.date(1970, 1, 1).toordinal())
    if kind.name in ("double", "float"):
        return Constant(kind, encode_double(value) if kind.name == "double" else encode_float(float(np.float32(value))))
    return Constant(kind, value)


def decode(constant):
    kind, key = constant.type, constant.key
    if key is None or kind == STRING:
        return key
    if kind == BOOLEAN:
        return not key
    if kind == DATE:
        return dt.date.fromordinal(key + dt.date(1970, 1, 1).toordinal())
    return decode_number(kind, key)


def make_frame(engine, rows):
    table = {"i": pa.array(range(len(rows)), pa.int32())}
    for name, kind in COLUMNS.items():
        table[name] = pa.array([row.get(name) for row in rows], ARROW[kind])
    return engine.session.createDataFrame(pa.table(table))


def ask_spark(engine, rows, criteria):
    """Return the truth of each criterion on each row, as Spark has it."""
    asked = [f"{render(one, NAMES)} AS c{n}" for n, one in enumerate(criteria)]
    answer = sorted(make_frame(engine, rows).selectExpr("i", *asked).collect())
    return [list(row[1:]) for row in answer]


def test_rows_are_evaluated_as_spark_evaluates_them(engine):
    random = np.random.default_rng(3)
    drawn = []
    for _ in range(600):
        row = {name: NASTY[kind][random.integers(len(NASTY[kind]))] for name, kind in COLUMNS.items()}
        row |= {name: values[random.integers(len(values))] for name, values in PLACES.items()}
        drawn.append(row)
    constants = [{STARS.schema[n].identity: encode(STARS.schema[n].type, v) for n, v in row.items()} for row in drawn]
    rows = [{NAMES[identity]: decode(constant) for identity, constant in row.items()} for row in constants]
    criteria = [parse_criterion(text, STARS.schema) for text in CRITERIA]
    answers = ask_spark(engine, rows, criteria)
    certain = dict.fromkeys(CRITERIA, 0)
    for values, row, truths in zip(constants, rows, answers, strict=True):
        for text, criterion, truth in zip(CRITERIA, criteria, truths, strict=True):
            try:
                said = evaluate_condition(criterion.condition, values)
            except Uncertain:
                continue
            certain[text] += 1
            assert said == truth, (text, row)
    assert min(certain.values()) > 10


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.campaign)])
def test_rows_that_tell_criteria_apart_do_so_on_spark(engine, number):
    random = np.random.default_rng(number)
    texts = [CRITERIA[place] for place in random.permutation(len(CRITERIA))[:24]]
    derived = DeriveAttributes.of(STARS, SqlCalculator.of({"col": "g - r", "twice": "2 * (g - r)"}))
    found = []
    for one, other in list(combinations(texts, 2))[:120]:
        left, right = SelectSources.of(derived, one), SelectSources.of(STARS, other)
        if random.integers(3) == 0:
            left = SelectSources.of(left, "col > 1 OR twice IS NULL")
        lineage = {catalog.digest: catalog for catalog in cone(left, right)}
        known = build_knowledge(map(build_definition, lineage.values()))
        row = RowSearch(known, lineage).find_row(term(left.digest) - right.digest)
        if row is not None:
            assert left.digest in row.inside
            assert right.digest not in row.inside
            extra = "g - r > 1 OR 2 * (g - r) IS NULL" if "col" in left.text else "TRUE"
            chosen = one if "col" not in left.text else left.parent.text
            found.append((row, f"({chosen}) AND ({extra})", other))
    assert len(found) > 60
    rows = [{NAMES[identity]: decode(constant) for identity, constant in row.values.items()} for row, _, _ in found]
    criteria = sorted({text for _, *pair in found for text in pair})
    parsed = [parse_criterion(text, STARS.schema) for text in criteria]
    answers = ask_spark(engine, rows, parsed)
    for (_, one, other), row, truths in zip(found, rows, answers, strict=True):
        assert truths[criteria.index(one)] is True, (one, row)
        assert truths[criteria.index(other)] is not True, (other, row)
