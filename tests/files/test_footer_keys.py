"""Keys added to footers of Parquet: pyarrow and DuckDB read them, and everything else as before."""

from io import BytesIO

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.errors import StoreError
from provenn.files.footer_keys import TAIL, add_footer_keys, read_footer_size

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
TABLE = pa.table(
    {
        "a": pa.array([1, None, 3]),
        "b": pa.array([[1.5], [], None], pa.list_(pa.float64())),
        "c": pa.array([{"x": True, "y": "é"}, None, {"x": False, "y": None}]),
        "d": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int8())),
    }
)


def write_table(keys: dict[str, str], **options) -> bytes:
    stream = BytesIO()
    parquet.write_table(TABLE.replace_schema_metadata(keys), stream, **options)
    return stream.getvalue()


def extend(content: bytes, keys: dict[str, str]) -> bytes:
    size = read_footer_size(content[-TAIL:])
    return content + add_footer_keys(content[-TAIL - size : -TAIL], keys)


@given(
    st.dictionaries(NAMES, NAMES, max_size=20),
    st.dictionaries(
        st.text("xyz", min_size=3),
        st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace").decode()),
        max_size=20,
    ),
    st.booleans(),
)
def test_old_keys_new_keys_and_rows_are_read(before, new, has_checksums):
    new = {f"new {key}": value for key, value in new.items()}
    options = {"write_page_checksum": has_checksums, "row_group_size": 1, "write_page_index": has_checksums}
    content = extend(write_table(before, **options), new)
    file = parquet.ParquetFile(BytesIO(content), page_checksum_verification=has_checksums)
    assert file.read().replace_schema_metadata(None).equals(TABLE)
    notes = {key.decode(): value.decode() for key, value in file.metadata.metadata.items() if key != b"ARROW:schema"}
    assert notes == {**before, **new}


@pytest.mark.parametrize("number", [1, 13, 14, 15, 200])
def test_duckdb_reads_them_as_well(tmp_path, number):
    new = {f"key {place}": "value" * place for place in range(number)}
    (tmp_path / "a.parquet").write_bytes(extend(write_table({"old": "1"}), new))
    path = str(tmp_path / "a.parquet")
    rows = duckdb.execute("SELECT key, value FROM parquet_kv_metadata(?)", [path]).fetchall()
    read = {key.decode(): value.decode() for key, value in rows if key != b"ARROW:schema"}
    assert read == {"old": "1", **new}
    assert duckdb.execute("SELECT sum(a), count(*) FROM read_parquet(?)", [path]).fetchall() == [(4, 3)]


def test_a_second_addition_follows_the_first():
    content = extend(extend(write_table({}), {"first": "1"}), {"second": "2"})
    notes = parquet.read_metadata(BytesIO(content)).metadata
    assert (notes[b"first"], notes[b"second"]) == (b"1", b"2")


@given(st.binary(max_size=40))
def test_nonsense_is_an_error(footer):
    with pytest.raises(StoreError):
        add_footer_keys(footer, {"a": "b"})


def test_a_file_that_ends_otherwise_is_an_error():
    for tail in (b"", b"PAR1", b"\1\0\0\0PARE"):
        with pytest.raises(StoreError, match="end of a Parquet file"):
            read_footer_size(tail)


def test_a_footer_cut_short_is_an_error():
    content = write_table({"old": "1"})
    size = read_footer_size(content[-TAIL:])
    footer = content[-TAIL - size : -TAIL]
    for length in range(0, size - 200, 7):
        with pytest.raises(StoreError):
            add_footer_keys(footer[:length], {"a": "b"})
