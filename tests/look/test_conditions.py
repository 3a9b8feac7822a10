"""A look selects exactly the rows that Spark selects: random criteria on random rows of all types."""

import math
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.criteria import Attribute, parse_criterion, parse_type, render
from provenn.errors import CriterionError
from provenn.files.data_folder import DataFolder
from provenn.look.allowance import Allowance
from provenn.look.parquet_rows import ReadColumn, read_parquet_rows
from provenn.look.refusal import NeedsSpark
from provenn.look.row_conditions import find_true_rows
from provenn.look.suitability import check_condition
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from tests.look.criteria import make_criterion, make_table

MANY = 150
"""How many criteria Spark evaluates in one query."""


def read_rows(path: Path, base: Base, most: int = 7) -> pa.Table:
    """Return the rows of a base catalog, read without Spark."""
    columns = [ReadColumn(attribute.name, attribute.name, attribute.type) for attribute in base.schema.attributes]
    with path.open("rb") as opened:
        return pa.concat_tables(read_parquet_rows(opened, path.name, columns, Allowance(), most))


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_look_selects_the_rows_that_spark_selects(seed: int, engine: Engine, tmp_path_factory):
    random = Random(seed)
    table, texts = make_table(random), [make_criterion(random) for _ in range(MANY)]
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    parquet.write_table(table, path, row_group_size=11)
    base = Base.of(Files.at(path), key=("k",), population="row")
    schema = base.schema
    read = {}
    for text in texts:
        try:
            criterion = parse_criterion(text, schema)
            check_condition(criterion.condition)
        except (CriterionError, NeedsSpark):
            continue
        read[text] = criterion
    assert len(read) > MANY / 3
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    frame = read_base(engine, base, DataFolder.of(path.parent))
    flags = [f"(({render(criterion, names)}) IS TRUE) AS c{number}" for number, criterion in enumerate(read.values())]
    expected = frame.selectExpr("k", *flags).toArrow().sort_by("k")
    rows = read_rows(path, base)
    for number, (text, criterion) in enumerate(read.items()):
        mask = find_true_rows(criterion.condition, rows.num_rows, lambda identity: rows.column(names[identity]))
        assert mask.tolist() == expected.column(f"c{number}").to_pylist(), text


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_look_reads_the_values_that_spark_reads(seed: int, engine: Engine, tmp_path_factory):
    table = make_table(Random(seed))
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    parquet.write_table(table, path, row_group_size=11)
    base = Base.of(Files.at(path), key=("k",), population="row")
    expected = read_base(engine, base, DataFolder.of(path.parent)).toArrow().sort_by("k")
    rows = read_rows(path, base).combine_chunks()
    assert rows.schema.types == expected.schema.types
    for name in rows.column_names:
        # repr distinguishes -0.0 from 0.0, and finds NaN equal to NaN
        assert list(map(repr, rows.column(name).to_pylist())) == list(map(repr, expected.column(name).to_pylist())), (
            name
        )


def make_positions(random: Random, rows: int) -> pa.Table:
    """Return positions everywhere, around some fields, and where there are none."""
    odd = [
        None,
        math.nan,
        math.inf,
        -math.inf,
        -0.0,
        0.0,
        360.0,
        -10.0,
        725.0,
        1e300,
        89.9999,
        90.0,
        -90.0,
        90.1,
        180.0,
    ]
    ra, dec = [], []
    for _ in range(rows):
        around = random.choice([0.0, 45.0, 180.0, 359.9])
        ra.append(random.choice([random.choice(odd), random.uniform(0, 360), around + random.gauss(0, 1)]))
        dec.append(random.choice([random.choice(odd), random.uniform(-90, 90), random.gauss(0, 2)]))
    return pa.table({"k": range(rows), "ra": pa.array(ra, pa.float64()), "dec": pa.array(dec, pa.float64())})


def make_region(random: Random) -> str:
    """Return a cone or a box, of any size and anywhere; sometimes outside of it."""
    if random.random() < 0.5:
        centre = random.choice([(0, 90), (0, -90), (0, 0), (45, 0), (180, 45), (random.uniform(0, 360), 10)])
        radius = random.choice([0.3, 1, 5, 60, 89.5, 90, 120, 179.9, 180])
        text = f"in_cone(ra, dec, {centre[0]}, {centre[1]}, {radius})"
    else:
        start, low = random.choice([0, 10, 355, random.uniform(0, 360)]), random.choice([-90, -5, 0, 60])
        end, high = (start + random.choice([3, 20, 200, 359])) % 360, min(90, low + random.choice([1, 10, 100]))
        text = f"in_box(ra, dec, {start}, {end}, {low}, {high})"
    return random.choice([text, f"NOT {text}", f"{text} OR ra IS NULL", f"{text} AND dec > 0"])


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_look_finds_the_positions_in_regions_that_spark_finds(seed: int, engine: Engine, tmp_path_factory):
    random = Random(seed)
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    parquet.write_table(make_positions(random, 400), path, row_group_size=150)
    base = Base.of(Files.at(path), key=("k",), population="row")
    criteria = {text: parse_criterion(text, base.schema) for text in {make_region(random) for _ in range(40)}}
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    flags = [f"(({render(criterion, names)}) IS TRUE) AS c{n}" for n, criterion in enumerate(criteria.values())]
    expected = read_base(engine, base, DataFolder.of(path.parent)).selectExpr("k", *flags).toArrow().sort_by("k")
    rows, compared = read_rows(path, base), 0
    for number, (text, criterion) in enumerate(criteria.items()):
        check_condition(criterion.condition)
        try:
            mask = find_true_rows(criterion.condition, rows.num_rows, lambda identity: rows.column(names[identity]))
        except NeedsSpark:  # a position on the border
            continue
        compared += 1
        assert mask.tolist() == expected.column(f"c{number}").to_pylist(), text
    assert compared > len(criteria) / 4


def test_a_position_on_a_border_is_left_to_spark():
    schema = {name: Attribute(f"b.{name}", parse_type("double")) for name in ("ra", "dec")}
    for text in ("in_cone(ra, dec, 10, 0, 1)", "in_box(ra, dec, 5, 11, -1, 1)"):
        condition = parse_criterion(text, schema).condition
        columns = {"b.ra": pa.array([11.0, 10.5]), "b.dec": pa.array([0.0, 0.25])}
        with pytest.raises(NeedsSpark, match="on the border"):
            find_true_rows(condition, 2, columns.__getitem__)
        inside = {name: values.slice(1) for name, values in columns.items()}
        assert find_true_rows(condition, 1, inside.__getitem__).tolist() == [True]


@pytest.mark.parametrize(
    "text", ["x > y", "x + 1 > 5", "sqrt(x) < 2", "text LIKE 'a%'", "in_polygon(x, y, 0, 0, 1, 0, 1, 1)"]
)
def test_other_criteria_are_left_to_spark(text: str):
    schema = {
        "x": Attribute("b.x", parse_type("double")),
        "y": Attribute("b.y", parse_type("double")),
        "text": Attribute("b.text", parse_type("string")),
    }
    with pytest.raises(NeedsSpark):
        check_condition(parse_criterion(text, schema).condition)
