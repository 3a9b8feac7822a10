"""The formats of answers hold the same rows, with NULL, NaN, texts of all kinds, arrays and moments."""

import csv
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from astropy.io import fits, votable
from pyarrow import parquet

from provenn.errors import FormatError, TapError
from provenn.tap.answer_files import write_answer
from provenn.tap.answer_formats import FORMATS, find_format
from provenn.tap.column_types import find_column_type
from provenn.tap.plain_tables import make_plain_table
from provenn.tap.votable_writing import VOTableNotes
from tests.programs import lint_votable

NOON = datetime(2026, 11, 18, 12, 30, 5, 250000, tzinfo=UTC)

COLUMNS: dict[str, tuple[Any, list[Any], list[Any], str]] = {
    "b": (pa.bool_(), [True, False, None], [True, False, None], "boolean"),
    "tiny": (pa.int8(), [-128, 127, None], [-128, 127, None], "tinyint"),
    "i": (pa.int32(), [-(2**31), 2**31 - 1, None], [-(2**31), 2**31 - 1, None], "int"),
    "l": (pa.int64(), [-(2**63), 2**63 - 1, None], [-(2**63), 2**63 - 1, None], "bigint"),
    "f": (pa.float32(), [0.1, float("inf"), None], [np.float32(0.1), float("inf"), None], "float"),
    "d": (pa.float64(), [0.1, float("nan"), None], [0.1, float("nan"), None], "double"),
    "t": (pa.string(), ["a <&> b", "c\nd", None], ["a <&> b", "c\nd", None], "string"),
    "u": (pa.string(), ["\N{TELESCOPE}", "é", None], ["\N{TELESCOPE}", "é", None], "string"),
    "day": (pa.date32(), [date(2026, 11, 18), date(1, 1, 1), None], ["2026-11-18", "0001-01-01", None], "date"),
    "at": (pa.timestamp("us", "UTC"), [NOON, NOON, None], ["2026-11-18T12:30:05.250000"] * 2 + [None], "timestamp"),
    "whole": (pa.decimal128(12, 0), [Decimal(5), Decimal(-7), None], [5, -7, None], "decimal(12,0)"),
    "part": (pa.decimal128(12, 2), [Decimal("1.25"), Decimal("-7.5"), None], [1.25, -7.5, None], "decimal(12,2)"),
    "many": (pa.list_(pa.float64()), [[1.0, 2.5], [], None], [[1.0, 2.5], [], None], "array<double>"),
    "box": (
        pa.struct([("x", pa.int32())]),
        [{"x": 1}, {"x": 2}, None],
        ['{"x": 1}', '{"x": 2}', None],
        "struct<x:int>",
    ),
}
"""Columns: the type, the values, the plain values, and the type in Spark's spelling."""


def make_table(*names: str) -> Any:
    chosen = {name: COLUMNS[name] for name in names or COLUMNS}
    fields = [
        pa.field(name, kind, metadata={"unit": "m"} if name == "d" else None) for name, (kind, *_) in chosen.items()
    ]
    table = pa.Table.from_arrays(
        [pa.array(values, kind) for kind, values, *_ in chosen.values()], schema=pa.schema(fields)
    )
    return make_plain_table(table)


def write(folder: Path, name: str, table: Any, **notes: Any) -> Path:
    path = folder / "answer"
    write_answer(table, path, find_format(name), VOTableNotes(**notes))
    return path


def same(value: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isnan(expected):
        return value is None or isnan(value)
    return value == expected


def test_plain_tables_have_the_values():
    table = make_table()
    for name, (_, _, expected, _) in COLUMNS.items():
        values = table.column(name).to_pylist()
        assert all(same(value, wanted) for value, wanted in zip(values, expected, strict=True)), (name, values)


@pytest.mark.parametrize("name", ["votable", "votable/td"])
def test_a_votable_has_the_values_and_the_declared_types(tmp_path, name):
    table = make_table()
    path = write(tmp_path, name, table, overflow=True, infos=[("QUERY", "SELECT '<x>\x07'")])
    parsed = votable.parse(path)
    first = parsed.get_first_table()
    for field in first.fields:
        _, _, expected, type_name = COLUMNS[field.name]
        declared = find_column_type(type_name)
        assert (field.datatype.replace("unicodeChar", "char"), field.xtype or "") == (declared.datatype, declared.xtype)
        column = first.array[field.name]
        for value, wanted, masked in zip(column.data, expected, np.ma.getmaskarray(column), strict=True):
            if wanted is None:
                assert np.all(masked) or np.size(value) == 0 or value in ("", b"") or isnan(value), field.name
            elif isinstance(wanted, list):
                assert list(value) == wanted
            else:
                assert same(value.item() if hasattr(value, "item") else value, wanted), field.name
    assert not [line for line in lint_votable(path).splitlines() if line.startswith(("ERROR", "WARNING"))]
    statuses = [info.value for info in parsed.resources[0].infos if info.name == "QUERY_STATUS"]
    assert statuses[0] == "OK"
    assert b'value="OVERFLOW"' in path.read_bytes()


def test_other_formats_have_the_values(tmp_path):
    table = make_table()
    document = json.loads(write(tmp_path, "json", table, overflow=True).read_text())
    assert document["status"] == "OVERFLOW"
    position = list(COLUMNS).index("d")
    assert [row[position] for row in document["rows"]] == [0.1, "NaN", None]
    assert document["columns"][position]["unit"] == "m"
    read = parquet.read_table(write(tmp_path, "parquet", table))
    assert read.equals(table) or read.to_pylist()[0] == table.to_pylist()[0]
    for name, separator in (("csv", ","), ("tsv", "\t")):
        with write(tmp_path, name, table).open(newline="") as stream:
            head, *rows = csv.reader(stream, delimiter=separator)
        assert head == list(COLUMNS)
        assert [row[head.index("l")] for row in rows] == [str(-(2**63)), str(2**63 - 1), ""]
        assert rows[1][head.index("t")] == ("c\nd" if name == "csv" else "c d")


def test_fits_has_the_values_that_it_can_hold(tmp_path):
    table = make_table("b", "i", "f", "d", "day", "at", "whole", "part")
    with fits.open(write(tmp_path, "fits", table)) as opened:
        rows = opened[1].data
        assert rows["day"][0] == "2026-11-18"
        assert list(rows["part"][:2]) == [1.25, -7.5]
        assert opened[1].columns["d"].unit == "m"
    with pytest.raises(FormatError, match="ASCII"):
        write(tmp_path, "fits", make_table("u"))


def test_formats_have_names_and_media_types():
    for answer_format in FORMATS:
        assert find_format(answer_format.name.upper()) is answer_format
        assert find_format(answer_format.media_type) is answer_format
    assert find_format("text/csv; charset=utf-8").name == "csv"
    with pytest.raises(TapError, match="unknown RESPONSEFORMAT 'docx'"):
        find_format("docx")


def test_an_empty_answer_has_its_columns(tmp_path):
    empty = make_table().slice(0, 0)
    for answer_format in FORMATS:
        table = empty.select(["i", "d", "at"]) if answer_format.name == "fits" else empty
        write(tmp_path, answer_format.name, table)
    path = write(tmp_path, "votable", empty)
    assert len(votable.parse(path).get_first_table().array) == 0
