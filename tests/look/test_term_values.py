"""Arithmetic, angles and distances in conditions select the rows that Spark selects; derived values are Spark's."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.criteria import parse_criterion, parse_expression, render
from provenn.errors import CriterionError
from provenn.files.data_folder import DataFolder
from provenn.look.refusal import NeedsSpark
from provenn.look.row_conditions import compute_column, find_true_rows
from provenn.look.suitability import check_condition, is_exact_term
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from tests.look.test_conditions import read_rows

MANY = 60
NUMBERS = [
    *(
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        0.5,
        3.0,
        0.1,
        5e-324,
        1e-200,
        1e200,
        1.7976931348623157e308,
        1e16,
        90.0,
        180.0,
        360.0,
    ),
    *(float("nan"), float("inf"), float("-inf"), None),
]


def make_table(random: Random, rows: int = 80) -> pa.Table:
    """Return columns of doubles, floats and whole numbers, with special values."""

    def draw() -> float | None:
        return random.choice([random.uniform(-400, 400), random.uniform(-2, 2), *NUMBERS])

    columns = {name: pa.array([draw() for _ in range(rows)], pa.float64()) for name in ("x", "y")}
    whole = pa.array([random.choice([None, 0, 1, -3, 2**53 + 1, -(2**63)]) for _ in range(rows)], pa.int64())
    places = {
        "ra": pa.array([random.uniform(0, 360) for _ in range(rows)]),
        "dec": pa.array([random.uniform(-90, 90) for _ in range(rows)]),
    }
    return pa.table(
        {"k": range(rows), **columns, **places, "f": columns["y"].cast(pa.float32(), safe=False), "n": whole}
    )


def make_term(random: Random, depth: int, *, exact: bool) -> str:
    """Return a random term over the columns."""
    if depth == 0 or random.random() < 0.25:
        constants = [f"{random.choice([0.0, 1.0, 2.0, 0.1, 7.25, 1e-200, 1e300])!r}D", f"{random.uniform(-5, 5)!r}D"]
        return random.choice(["x", "y", "CAST(f AS DOUBLE)", "CAST(n AS DOUBLE)", *constants])
    first, second = (make_term(random, depth - 1, exact=exact) for _ in range(2))
    forms = [f"({first} {sign} {second})" for sign in "+-*/"] + [f"sqrt({first})", f"abs({first})", f"(- {first})"]
    if not exact:
        forms += [f"{name}({first})" for name in ("sin", "cos", "radians", "degrees")]
        forms += [f"atan2({first}, {second})", f"power({first}, 2)"]
    return random.choice(forms)


def make_distance(random: Random, table: pa.Table) -> str:
    """Return the distance from a position, as queries in ADQL compute it."""
    row = random.randrange(table.num_rows)
    ra, dec = (table.column(name)[row].as_py() for name in ("ra", "dec"))
    half = "sin(radians(ra - {0!r}D) / 2.0D)", "cos(radians(ra - {0!r}D) / 2.0D)"
    scale = f"cos(radians({dec!r}D)) * cos(radians(dec))"
    across, along = (f"{scale} * power({part.format(ra)}, 2)" for part in half)
    low, high = (f"power(sin(radians({text}) / 2.0D), 2)" for text in (f"dec - {dec!r}D", f"dec + {dec!r}D"))
    return f"degrees(2.0D * atan2(sqrt({across} + {low}), sqrt({along} + {high})))"


def open_base(table: pa.Table, folder: Path) -> tuple[Path, Base]:
    path = folder / "rows.parquet"
    parquet.write_table(table, path, row_group_size=33)
    return path, Base.of(Files.at(path), key=("k",), population="row")


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_conditions_on_terms_are_those_of_spark(seed: int, engine: Engine, tmp_path_factory):
    random = Random(seed)
    table = make_table(random)
    path, base = open_base(table, tmp_path_factory.mktemp("terms"))
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    rows = read_rows(path, base)
    masks, flags, refused = {}, [], 0
    for _ in range(MANY):
        if random.random() < 0.4:
            term, cuts = make_distance(random, table), [0.0, 1e-3, 1.0, 30.0, 179.0]
        else:
            term, cuts = make_term(random, 3, exact=random.random() < 0.5), [0.0, 1.0, -2.5, 1e300, 90.0]
        text = random.choice(
            [f"{term} {random.choice(['<', '<=', '>', '='])} {random.choice(cuts)!r}D", f"{term} IS NULL"]
        )
        try:
            criterion = parse_criterion(random.choice([text, f"NOT ({text})", f"({text}) IS NOT TRUE"]), base.schema)
            check_condition(criterion.condition)
        except (CriterionError, NeedsSpark):
            continue
        try:
            mask = find_true_rows(criterion.condition, rows.num_rows, lambda identity: rows.column(names[identity]))
        except NeedsSpark:
            refused += 1
            continue
        flags.append(f"(({render(criterion, names)}) IS TRUE) AS c{len(masks)}")
        masks[len(masks), text] = mask
    assert len(masks) > MANY / 6
    expected = read_base(engine, base, DataFolder.of(path.parent)).selectExpr("k", *flags).toArrow().sort_by("k")
    for (number, text), mask in masks.items():
        assert mask.tolist() == expected.column(f"c{number}").to_pylist(), text


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_derived_values_have_the_bits_of_spark(seed: int, engine: Engine, tmp_path_factory):
    random = Random(seed)
    path, base = open_base(make_table(random), tmp_path_factory.mktemp("derived"))
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    rows = read_rows(path, base)
    texts, columns = [], []
    for _ in range(MANY):
        expression = parse_expression(make_term(random, 3, exact=True), base.schema)
        if is_exact_term(expression.node):
            texts.append(f"{render(expression, names)} AS c{len(texts)}")
            columns.append(
                compute_column(expression.node, rows.num_rows, lambda identity: rows.column(names[identity]))
            )
    assert len(texts) > MANY / 3
    expected = read_base(engine, base, DataFolder.of(path.parent)).selectExpr("k", *texts).toArrow().sort_by("k")
    for number, column in enumerate(columns):
        # repr distinguishes -0.0 from 0.0, and finds NaN equal to NaN
        values, wanted = column.to_pylist(), expected.column(f"c{number}").to_pylist()
        assert list(map(repr, values)) == list(map(repr, wanted)), texts[number]


def test_a_source_at_the_centre_and_one_on_the_circle(tmp_path: Path):
    """The distance of a source from itself is 0, without a doubt; on the circle, rounding decides."""
    table = pa.table({"k": [1, 2, 3], "ra": [10.0, 10.0, 200.0], "dec": [20.0, 20.5, -5.0]})
    path, base = open_base(table, tmp_path)
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    rows = read_rows(path, base)
    term = make_distance(Random(1), table.slice(0, 1))

    def find(text: str) -> list[bool]:
        condition = parse_criterion(text, base.schema).condition
        mask: list[bool] = find_true_rows(condition, 3, lambda identity: rows.column(names[identity])).tolist()
        return mask

    assert find(f"{term} < 1.0D") == [True, True, False]
    assert find(f"{term} <= 0.0D") == [True, False, False]
    with pytest.raises(NeedsSpark, match="rounding"):
        find(f"{term} < 0.5D")
