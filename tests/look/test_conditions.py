"""A look selects exactly the rows that Spark selects: random criteria on random rows of all types."""

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


@pytest.mark.parametrize("notes", [{"org.apache.spark.version": "2.4.8"}, {"org.apache.spark.legacyDateTime": ""}])
def test_files_of_an_old_spark_with_days_of_another_calendar_are_left_to_spark(notes: dict[str, str], tmp_path: Path):
    path = tmp_path / "rows.parquet"
    table = pa.table({"k": [1, 2], "day": pa.array([-200_000, 0], pa.date32())})
    parquet.write_table(table.replace_schema_metadata({"org.apache.spark.version": "3.5.1"}), path)
    base = Base.of(Files.at(path), key=("k",), population="row")
    assert read_rows(path, base).num_rows == 2
    parquet.write_table(table.replace_schema_metadata(notes), path)
    with pytest.raises(NeedsSpark, match="an old Spark wrote"):
        read_rows(path, base)


@pytest.mark.parametrize("text", ["x > y", "ln(x) > 5", "x % 2 < 1", "text LIKE 'a%'"])
def test_other_criteria_are_left_to_spark(text: str):
    schema = {
        "x": Attribute("b.x", parse_type("double")),
        "y": Attribute("b.y", parse_type("double")),
        "text": Attribute("b.text", parse_type("string")),
    }
    with pytest.raises(NeedsSpark):
        check_condition(parse_criterion(text, schema).condition)
