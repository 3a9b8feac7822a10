"""A look finds exactly the positions in regions that Spark finds: random regions, positions at special places."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.criteria import parse_criterion, render
from provenn.errors import CriterionError
from provenn.files.data_folder import DataFolder
from provenn.look.refusal import NeedsSpark
from provenn.look.row_conditions import find_true_rows
from provenn.look.suitability import check_condition
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from tests.look.test_conditions import read_rows

MANY = 60
"""How many criteria Spark evaluates in one query."""

LONGITUDES = [
    *(0.0, -0.0, 1e-12, 90.0, 179.9999999999, 180.0, 359.9999999999, 360.0, 360.0000001, -1.0, -360.0, 725.5, 1e17),
    *(float("nan"), float("inf"), float("-inf"), None),
]
LATITUDES = [
    *(0.0, -0.0, 90.0, -90.0, 89.99999999, -89.99999999, 90.00000001, -91.0, 60.0, 45.0),
    *(float("nan"), float("inf"), float("-inf"), None),
]


def make_table(random: Random, rows: int = 120) -> pa.Table:
    """Return positions as doubles, floats and whole numbers: at random, and at special places."""
    ra = [random.choice([random.uniform(0, 360), random.uniform(0, 360), *LONGITUDES]) for _ in range(rows)]
    dec = [random.choice([random.uniform(-90, 90), random.uniform(-90, 90), *LATITUDES]) for _ in range(rows)]
    whole = [random.choice([None, *range(-90, 91)]) for _ in range(rows)]
    columns = {"k": pa.array(range(rows)), "ra": pa.array(ra), "dec": pa.array(dec), "vmag": pa.array(ra[::-1])}
    single = {"ra4": columns["ra"].cast(pa.float32()), "dec4": columns["dec"].cast(pa.float32())}
    return pa.table({**columns, **single, "lon": pa.array(whole, pa.int64()), "lat": pa.array(whole[::-1], pa.int16())})


def make_region(random: Random, table: pa.Table) -> str:
    """Return a criterion on the position: a cone, a box or a polygon, some of them about a position of the table."""
    position = random.choice(["ra, dec", "ra, dec", "ra4, dec4", "lon, lat"])
    row = random.randrange(table.num_rows)
    ra, dec = table.column("ra")[row].as_py(), table.column("dec")[row].as_py()
    if ra is None or dec is None or not (0 <= ra < 360 and -90 <= dec <= 90) or random.random() < 0.4:
        ra, dec = random.uniform(0, 360), random.uniform(-90, 90)
    size = random.choice([1e-9, 1e-6, 1e-3, 0.5, 5.0, 30.0, 60.0])
    match random.randrange(4):
        case 0 | 1:
            return f"in_cone({position}, {ra!r}, {dec!r}, {random.choice([size, 90.0, 120.0, 179.999, 180.0])!r})"
        case 2:
            end = random.choice([ra + size, random.uniform(0, 360)]) % 360
            top = min(90.0, dec + size)
            return f"in_box({position}, {ra!r}, {end!r}, {min(dec, top - 1e-9)!r}, {top!r})"
    size = max(0.5, size)
    corners = [(ra + x * size, max(-90.0, min(90.0, dec + y * size))) for x, y in ((-1, -1), (1, -0.8), (0.7, 1))]
    return f"in_polygon({position}, {', '.join(f'{x % 360!r}, {y!r}' for x, y in corners)})"


def make_criterion(random: Random, table: pa.Table) -> str:
    """Return a region, its complement, or regions joined with each other and with a comparison."""
    region = make_region(random, table)
    other = random.choice([make_region(random, table), f"vmag < {random.uniform(0, 360)!r}", "dec IS NOT NULL"])
    return random.choice(
        [region, f"NOT {region}", f"{region} IS NOT TRUE", f"{region} IS NULL"]
        + [f"{region} {word} {other}" for word in ("AND", "OR", "AND NOT", "OR NOT")]
    )


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_look_finds_the_positions_that_spark_finds(seed: int, engine: Engine, tmp_path_factory):
    random = Random(seed)
    table = make_table(random)
    path: Path = tmp_path_factory.mktemp("sky") / "rows.parquet"
    parquet.write_table(table, path, row_group_size=50)
    base = Base.of(Files.at(path), key=("k",), population="row")
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    rows = read_rows(path, base)
    masks, flags = {}, []
    refused = 0
    for _ in range(MANY):
        text = make_criterion(random, table)
        try:
            criterion = parse_criterion(text, base.schema)
        except CriterionError:  # sides that touch, or a polygon that is too large
            continue
        check_condition(criterion.condition)
        try:
            mask = find_true_rows(criterion.condition, rows.num_rows, lambda identity: rows.column(names[identity]))
        except NeedsSpark:
            refused += 1
            continue
        flags.append(f"(({render(criterion, names)}) IS TRUE) AS c{len(masks)}")
        masks[len(masks), text] = mask
    assert len(masks) > refused, "most regions have no source on the border"
    expected = read_base(engine, base, DataFolder.of(path.parent)).selectExpr("k", *flags).toArrow().sort_by("k")
    for (number, text), mask in masks.items():
        assert mask.tolist() == expected.column(f"c{number}").to_pylist(), text


def find_rows(text: str, ra: list[float | None], dec: list[float | None], tmp_path: Path) -> list[bool]:
    """Return which positions fulfil a criterion."""
    path = tmp_path / "rows.parquet"
    columns = {"ra": pa.array(ra, pa.float64()), "dec": pa.array(dec, pa.float64())}
    parquet.write_table(pa.table({"k": range(len(ra)), **columns}), path)
    base = Base.of(Files.at(path), key=("k",), population="row")
    names = {attribute.identity: attribute.name for attribute in base.schema.attributes}
    rows = read_rows(path, base)
    condition = parse_criterion(text, base.schema).condition
    mask: list[bool] = find_true_rows(condition, len(ra), lambda identity: rows.column(names[identity])).tolist()
    return mask


@pytest.mark.parametrize(
    ("text", "ra", "dec"),
    [
        ("in_cone(ra, dec, 10, 20, 1)", 10.0, 21.0),
        ("in_cone(ra, dec, 10, 20, 1)", 10.0, 21.0 + 5e-10),
        ("in_cone(ra, dec, 0, 90, 1)", 77.0, 89.0),
        ("in_polygon(ra, dec, 10, 0, 20, 0, 15, 8)", 12.0, 0.0),
        ("in_polygon(ra, dec, 10, 0, 20, 0, 15, 8)", 15.0, 8.0),
    ],
)
def test_a_source_on_a_border_is_left_to_spark(tmp_path: Path, text: str, ra: float, dec: float):
    with pytest.raises(NeedsSpark, match="border"):
        find_rows(text, [0.0, ra], [0.0, dec], tmp_path)


def test_the_border_of_a_box_belongs_to_it(tmp_path: Path):
    text = "in_box(ra, dec, 350, 10, -5, 5)"
    positions = [(350.0, 0.0), (349.999, 0.0), (10.0, 5.0), (370.0, -5.0), (-10.0, 0.0), (0.0, 5.000001), (None, 0.0)]
    ra, dec = map(list, zip(*positions, strict=True))
    assert find_rows(text, ra, dec, tmp_path) == [True, False, True, True, True, False, False]


@pytest.mark.parametrize(
    "text", ["in_moc(ra, dec, '3/304')", "in_cone(ra + 1, dec, 10, 20, 1)", "in_cone(CAST(t AS DOUBLE), dec, 1, 2, 3)"]
)
def test_other_regions_and_positions_are_left_to_spark(tmp_path: Path, text: str):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"k": [1], "ra": [1.0], "dec": [2.0], "t": ["3"]}), path)
    schema = Base.of(Files.at(path), key=("k",), population="row").schema
    with pytest.raises(NeedsSpark):
        check_condition(parse_criterion(text, schema).condition)
