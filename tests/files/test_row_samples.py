"""Samples of rows: always the same, whole rows, like the others, and never more than allowed."""

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.criteria.domains import encode_double, encode_float
from provenn.files import row_samples
from provenn.files.file_records import encode_files, restore_files
from provenn.files.file_set import Files
from provenn.files.row_samples import MOST_ROWS, decode_sample, encode_sample, sample_parquet

VALUES = {
    "double": (pa.float64(), [1.5, -0.0, math.nan, None, -math.inf], [encode_double(1.5), 0, encode_double(math.nan)]),
    "float": (pa.float32(), [1.5, 0.0, math.nan, None], [encode_float(1.5), 0, encode_float(math.nan)]),
    "int": (pa.int32(), [5, -(2**31), None], [5, -(2**31)]),
    "bigint": (pa.int64(), [5, 2**63 - 1, None], [5, 2**63 - 1]),
    "date": (pa.date32(), [date(1970, 1, 3), None], [2]),
    "timestamp": (pa.timestamp("us", "UTC"), [datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), None], [1_000_000]),
    "timestamp_ntz": (pa.timestamp("ms"), [datetime(1970, 1, 1, 0, 0, 1), None], [1_000_000]),  # noqa: DTZ001 - it has none
    "boolean": (pa.bool_(), [True, False, None], [0, 1]),
    "string": (pa.string(), ["b", "ä" * 100, None], ["b", "ä" * 64]),
    "decimal(38,2)": (pa.decimal128(38, 2), [Decimal("1.25"), Decimal("9" * 36 + ".99"), None], [125, 10**38 - 1]),
}


def read_samples(files: Files) -> dict:
    return {name: decode_sample(text) for name, text in files.samples}


def write(path: Path, columns: dict, rows: int = 1000) -> Path:
    parquet.write_table(pa.table(columns), path, row_group_size=rows)
    return path


@pytest.mark.parametrize("kind", VALUES)
def test_values_become_the_keys_that_criteria_compare(tmp_path, kind):
    arrow, values, keys = VALUES[kind]
    files = Files.at(write(tmp_path / "t.parquet", {"x": pa.array(values, arrow)}))
    assert str(files.columns[0].type) == kind
    (sampled,) = read_samples(files).values()
    assert len(sampled) == len(values)
    assert set(keys) <= set(sampled)
    assert sampled.count(None) == values.count(None)


def test_the_same_files_have_the_same_sample_wherever_they_lie(tmp_path):
    columns = {"n": range(30_000), "x": np.random.default_rng(5).normal(size=30_000)}
    first = Files.at(write(tmp_path / "a.parquet", columns))
    (tmp_path / "there").mkdir()
    second = Files.at((tmp_path / "a.parquet").rename(tmp_path / "there" / "b.parquet"))
    assert first.samples
    assert first.samples == second.samples


def test_a_sample_is_of_whole_rows(tmp_path):
    columns = {"n": range(30_000), "twice": [2 * n for n in range(30_000)]}
    sampled = read_samples(Files.at(write(tmp_path / "t.parquet", columns)))
    assert len(sampled["n"]) == MOST_ROWS == len(set(sampled["n"]))
    assert sampled["twice"] == tuple(2 * n for n in sampled["n"])
    assert 14_000 < np.mean(sampled["n"]) < 16_000
    assert 14_000 < np.mean(sampled["n"][:512]) < 16_000  # the beginning is a sample, too


def test_a_sample_is_no_part_of_the_files(tmp_path):
    """Neither identity nor notes know of it: it travels in no definition."""
    files = Files.at(write(tmp_path / "t.parquet", {"n": range(100), "s": ["a", *["secret"] * 98, "z"]}))
    identity, notes = encode_files(files)
    assert files.samples
    assert "samples" not in {*identity, *notes}
    assert "secret" not in str((identity, notes))
    restored = restore_files(identity, notes)
    assert restored == files
    assert not restored.samples


def test_of_many_columns_fewer_rows_are_taken(tmp_path):
    columns = {f"x{n}": range(5_000) for n in range(200)}
    sampled = read_samples(Files.at(write(tmp_path / "t.parquet", columns, 5_000)))
    assert {len(keys) for keys in sampled.values()} == {(1 << 16) // 200}


def test_of_large_row_groups_the_first_rows_are_taken_where_they_are_like_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(row_samples, "_MOST_READ", 100)
    drawn = np.random.default_rng(1)
    columns = {"sorted": range(20_000), "drawn": drawn.normal(size=20_000), "word": drawn.choice(list("abc"), 20_000)}
    sampled = read_samples(Files.at(write(tmp_path / "t.parquet", columns, 5_000)))
    assert set(sampled) == {"drawn", "word"}
    assert len(sampled["drawn"]) == MOST_ROWS


def test_files_of_nothing_have_no_sample(tmp_path):
    assert Files.at(write(tmp_path / "t.parquet", {"n": pa.array([], pa.int32())})).samples == ()


@dataclass(frozen=True)
class Broken:
    def open(self):
        raise OSError("the disk is gone")


def test_rows_that_cannot_be_read_are_no_reason_to_fail():
    assert sample_parquet([Broken()], {"x": VALUES and row_samples.DOUBLE}) == {}


def test_a_damaged_page_is_no_reason_to_fail(tmp_path):
    path = write(tmp_path / "t.parquet", {"n": range(1000)})
    content = bytearray(path.read_bytes())
    content[4:400] = b"\xff" * 396
    path.write_bytes(content)
    assert Files.at(path).row_count == 1000


@given(st.one_of(st.lists(st.none() | st.integers()), st.lists(st.none() | st.text())))
def test_a_sample_survives_storing(keys):
    assert decode_sample(encode_sample(tuple(keys))) == tuple(keys)


@pytest.mark.parametrize("text", ["", "?", "AAAA", encode_sample((1, "a")), encode_sample(([1],)), "eJw="])
def test_foreign_text_is_no_sample(text):
    assert decode_sample(text) is None


def test_a_text_that_unpacks_to_very_much_is_no_sample():
    assert decode_sample(encode_sample(("a" * 100_000_000,))) is None
