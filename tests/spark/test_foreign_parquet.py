"""Parquet of other writers: masks, units and odd types arrive as the writer's own reader has them, or are refused."""

from pathlib import Path

import astropy.units as u
import duckdb
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import SkyCoord
from astropy.table import MaskedColumn, QTable, Table
from astropy.time import Time
from astropy.utils.masked import Masked
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.errors import BaseFilesError, RunError
from provenn.files.data_folder import DataFolder
from provenn.files.file_records import encode_files, restore_files
from provenn.spark.reading import read_base
from provenn.spark.spark_errors import translate_errors


@pytest.fixture
def read(engine, tmp_path: Path):
    """Read the rows of files in the order of the key, as lists of values by column."""

    def rows(files: Files, key: str = "id") -> dict[str, list]:
        base = Base.of(files, key=key, population="star")
        frame = read_base(engine, base, DataFolder.of(tmp_path / "data"))
        assert [(name, kind.replace("`", "")) for name, kind in frame.dtypes] == [
            (column.name, str(column.type).replace("`", "")) for column in files.columns
        ]
        return frame.orderBy(key).toArrow().to_pydict()

    return rows


def types(files: Files) -> dict[str, str]:
    return {column.name: str(column.type) for column in files.columns}


# --- astropy ---


def masked_table() -> Table:
    table = Table({"id": [1, 2, 3]})
    table["mag"] = MaskedColumn([1.5, -999.0, 3.5], mask=[False, True, False], unit="mag", description="V")
    table["mag"].info.meta = {"ucd": "phot.mag;em.opt.V"}
    table["n"] = MaskedColumn(np.array([5, 6, 7], "i2"), mask=[True, False, False])
    table["name"] = MaskedColumn(["a", "b", ""], mask=[False, True, False])
    table["good"] = MaskedColumn([True, False, True], mask=[False, False, True])
    table["whole"] = MaskedColumn([1, 2, 3])
    return table


def test_masked_values_of_astropy_are_null_and_masks_are_no_attributes(tmp_path, read):
    masked_table().write(tmp_path / "a.parquet")
    files = Files.at(tmp_path / "a.parquet")
    assert list(types(files)) == ["id", "mag", "n", "name", "good", "whole"]
    mag = files.columns[1]
    assert (mag.unit, mag.description, mag.ucd, mag.nullable) == ("mag", "V", "phot.mag;em.opt.V", True)
    assert read(files) == {
        "id": [1, 2, 3],
        "mag": [1.5, None, 3.5],
        "n": [None, 6, 7],
        "name": ["a", None, ""],
        "good": [True, False, None],
        "whole": [1, 2, 3],
    }


def test_a_criterion_does_not_select_what_is_masked(engine, tmp_path):
    masked_table().write(tmp_path / "a.parquet")
    base = Base.of(Files.at(tmp_path / "a.parquet"), key="id", population="star")
    frame = read_base(engine, base, DataFolder.of(tmp_path / "data"))
    assert [row.id for row in frame.where("mag < 0").collect()] == []
    assert [row.id for row in frame.where("mag IS NULL").collect()] == [2]


def test_quantities_times_and_positions_of_astropy(tmp_path, read):
    """A simple position becomes ra and dec, as it does from memory; a time stays the two numbers that are stored."""
    table = QTable({"id": [1, 2]})
    table["v"] = [1.5, 2.5] * u.km / u.s
    table["plx"] = Masked([5.0, 6.0] * u.mas, mask=[False, True])
    table["sky"] = SkyCoord([10.0, 20.0] * u.deg, [-5.0, 5.0] * u.deg)
    table["gal"] = SkyCoord(l=[1.0, 2.0] * u.deg, b=[3.0, 4.0] * u.deg, frame="galactic")
    table["when"] = Time([50000.0, 50001.0], format="mjd", scale="tdb")
    table["when"][1] = np.ma.masked
    table.write(tmp_path / "a.parquet")
    files = Files.at(tmp_path / "a.parquet")
    assert [(column.name, column.unit, column.ucd) for column in files.columns] == [
        ("id", "", ""),
        ("v", "km.s**-1", ""),
        ("plx", "mas", ""),
        ("ra", "deg", "pos.eq.ra;meta.main"),
        ("dec", "deg", "pos.eq.dec;meta.main"),
        ("gal.l", "deg", ""),
        ("gal.b", "deg", ""),
        ("when.jd1", "", ""),
        ("when.jd2", "", ""),
    ]
    rows = read(files)
    assert rows["plx"] == [5.0, None]
    assert (rows["ra"], rows["dec"], rows["gal.l"]) == ([10.0, 20.0], [-5.0, 5.0], [1.0, 2.0])
    assert rows["when.jd1"][0] + rows["when.jd2"][0] == 2450000.5
    assert (rows["when.jd1"][1], rows["when.jd2"][1]) == (None, None)


def test_arrays_of_astropy_have_their_masks_element_by_element(tmp_path, read):
    table = Table({"id": [1, 2, 3]})
    table["x"] = MaskedColumn(np.arange(6.0).reshape(3, 2), mask=[[False, True], [True, True], [False, False]])
    table.write(tmp_path / "a.parquet")
    assert read(Files.at(tmp_path / "a.parquet"))["x"] == [[0.0, None], None, [4.0, 5.0]]


def test_bytes_of_astropy_are_text_and_bytes_that_are_none_are_refused(tmp_path, engine, read):
    """Tables that astropy read from FITS hold text as bytes."""
    Table({"id": [1, 2], "s": np.array([b"Sirius", b"Vega "])}).write(tmp_path / "a.parquet")
    files = Files.at(tmp_path / "a.parquet")
    assert types(files)["s"] == "string"
    assert read(files)["s"] == ["Sirius", "Vega "]
    Table({"id": [1, 2], "s": np.array([b"ok", b"\xff"])}).write(tmp_path / "b.parquet")
    base = Base.of(Files.at(tmp_path / "b.parquet"), key="id", population="star")
    with pytest.raises(RunError, match="UTF"), translate_errors("it"):
        read_base(engine, base, DataFolder.of(tmp_path / "data")).collect()


def test_part_files_of_which_some_have_masks_and_some_have_not(tmp_path, read):
    """The writer leaves out the mask where nothing is masked, so files of one table have different columns."""
    (tmp_path / "in").mkdir()
    masked_table().write(tmp_path / "in" / "a.parquet")
    other = masked_table()
    other["id"] += 3
    other.filled().write(tmp_path / "in" / "b.parquet")
    rows = read(Files.at(tmp_path / "in"))
    assert rows["id"] == [1, 2, 3, 4, 5, 6]
    assert rows["mag"][:3] == [1.5, None, 3.5]
    assert None not in rows["mag"][3:]


def test_a_mask_that_is_not_understood_is_refused(tmp_path):
    masked_table().write(tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    metadata = {**table.schema.metadata}
    metadata[b"table_meta_yaml"] = metadata[b"table_meta_yaml"].replace(b"      data:", b"      datum:")
    parquet.write_table(table.replace_schema_metadata(metadata), tmp_path / "b.parquet")
    with pytest.raises(BaseFilesError, match=r"the mask .* of b\.parquet"):
        Files.at(tmp_path / "b.parquet")


def test_a_header_that_cannot_be_read_is_told(tmp_path):
    table = pa.table({"id": [1]}).replace_schema_metadata({"table_meta_yaml": "meta: [1, {"})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(BaseFilesError, match=r"a\.parquet.*table_meta_yaml"):
        Files.at(tmp_path / "a.parquet")


def test_what_a_header_says_is_never_executed(tmp_path):
    text = "datatype:\n- {name: id, datatype: int64}\nmeta: !!python/object/apply:os.system ['touch /tmp/never']\n"
    table = pa.table({"id": [1]}).replace_schema_metadata({"table_meta_yaml": text})
    parquet.write_table(table, tmp_path / "a.parquet")
    assert types(Files.at(tmp_path / "a.parquet")) == {"id": "bigint"}


def test_a_definition_of_an_earlier_version_keeps_its_columns(tmp_path, read):
    """What was ingested with masks as attributes stays what it was: its values may be stored, or published."""
    masked_table().write(tmp_path / "a.parquet")
    now = Files.at(tmp_path / "a.parquet")
    identity, notes = encode_files(now)
    earlier = [["id", "bigint", True], ["mag", "double", True], ["mag.mask", "boolean", True]]
    then = restore_files({**identity, "options": {}, "columns": earlier}, notes)
    assert read(then) == {"id": [1, 2, 3], "mag": [1.5, -999.0, 3.5], "mag.mask": [False, True, False]}


# --- VOParquet ---


def test_units_descriptions_and_ucds_of_voparquet(tmp_path, read):
    table = Table({"id": [1, 2], "ra": [10.0, 20.0]})
    said = {
        "id": {"unit": None, "ucd": "meta.id", "description": "number"},
        "ra": {"unit": "deg", "ucd": "pos.eq.ra;meta.main", "description": "right ascension"},
    }
    table.write(tmp_path / "a.parquet", format="parquet.votable", metadata=said)
    files = Files.at(tmp_path / "a.parquet")
    assert [(column.unit, column.ucd, column.description) for column in files.columns] == [
        ("", "meta.id", "number"),
        ("deg", "pos.eq.ra;meta.main", "right ascension"),
    ]
    assert read(files) == {"id": [1, 2], "ra": [10.0, 20.0]}


def test_a_damaged_header_of_voparquet_is_told(tmp_path):
    metadata = {"IVOA.VOTable-Parquet.version": "1.0", "IVOA.VOTable-Parquet.content": "<VOTABLE><RES"}
    parquet.write_table(pa.table({"id": [1]}).replace_schema_metadata(metadata), tmp_path / "a.parquet")
    with pytest.raises(BaseFilesError, match=r"a\.parquet"):
        Files.at(tmp_path / "a.parquet")


# --- other writers ---


def test_durations_say_their_unit(tmp_path, read):
    table = pa.table({"id": [1], "ns": pa.array([5], pa.duration("ns")), "s": pa.array([5], pa.duration("s"))})
    parquet.write_table(table, tmp_path / "a.parquet")
    files = Files.at(tmp_path / "a.parquet")
    assert [column.unit for column in files.columns] == ["", "ns", "s"]
    assert read(files)["ns"] == [5]


@pytest.mark.parametrize("kind", [pa.binary_view(), pa.string_view(), pa.list_view(pa.int64()), pa.json_()])
def test_views_and_json_are_read_as_what_they_hold(tmp_path, read, kind):
    value = {"binary_view": b"x", "string_view": "x"}.get(str(kind), [1] if "list" in str(kind) else '{"a": 1}')
    parquet.write_table(pa.table({"id": [1], "x": pa.array([value], kind)}), tmp_path / "a.parquet")
    assert read(Files.at(tmp_path / "a.parquet"))["x"] == [value]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [("INTERVAL 1 DAY", "interval"), ("TIME '01:02:03'", "time64"), ("uuid()", "uuid")],
)
def test_what_spark_cannot_read_of_duckdb_is_refused_where_it_is_used(tmp_path, engine, expression, kind):
    """The writer's own reader has another value than Spark would make of it."""
    path = tmp_path / "a.parquet"
    duckdb.execute(f"COPY (SELECT 1::BIGINT AS id, {expression} AS x) TO '{path}' (FORMAT parquet)")
    base = Base.of(Files.at(path), key="id", population="star")
    frame = read_base(engine, base, DataFolder.of(tmp_path / "data"))
    assert frame.select("id").collect() == [(1,)]
    with (
        pytest.raises(RunError, match=f"the column x has the type .*{kind}.*, which Spark does not support"),
        translate_errors("it"),
    ):
        frame.collect()


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("nulls", [0, 1, 2])
def test_null_arrays_of_duckdb_are_read_right_or_refused(tmp_path, read, length, nulls):
    """DuckDB writes them in a way that makes Spark give wrong values in the rows that follow."""
    arrays = [None] * nulls + [[float(one) for one in range(length)], [9.0] * length]
    given = pa.table({"id": range(len(arrays)), "x": pa.array(arrays, pa.list_(pa.float64(), length))})
    duckdb.register("given", given)
    for kind, path in ((f"DOUBLE[{length}]", tmp_path / "array.parquet"), ("DOUBLE[]", tmp_path / "list.parquet")):
        duckdb.execute(f"COPY (SELECT id, x::{kind} AS x FROM given) TO '{path}' (FORMAT parquet)")  # noqa: S608 - ours
    assert read(Files.at(tmp_path / "list.parquet"))["x"] == arrays
    if length > 1 and nulls:
        with pytest.raises(BaseFilesError, match=r"the column x of array\.parquet holds NULL arrays"):
            Files.at(tmp_path / "array.parquet")
    else:
        assert read(Files.at(tmp_path / "array.parquet"))["x"] == arrays


def test_a_variant_of_duckdb_is_one_of_spark(tmp_path, engine):
    duckdb.execute(
        f"COPY (SELECT 1::BIGINT AS id, [1, 2]::VARIANT AS x) TO '{tmp_path / 'a.parquet'}' (FORMAT parquet)"
    )
    files = Files.at(tmp_path / "a.parquet")
    assert types(files)["x"] == "variant"
    frame = read_base(engine, Base.of(files, key="id", population="star"), DataFolder.of(tmp_path / "data"))
    assert frame.selectExpr("CAST(x AS string)").collect() == [("[1,2]",)]


def test_a_mask_that_somebody_left_out_is_missed(tmp_path):
    """Without it, what is masked would be taken for real; a mask whose column was left out is a column."""
    masked_table().write(tmp_path / "a.parquet")
    parquet.write_table(parquet.read_table(tmp_path / "a.parquet", columns=["id", "mag"]), tmp_path / "b.parquet")
    with pytest.raises(BaseFilesError, match=r"b\.parquet lacks the column mag\.mask"):
        Files.at(tmp_path / "b.parquet")
    parquet.write_table(parquet.read_table(tmp_path / "a.parquet", columns=["id", "mag.mask"]), tmp_path / "c.parquet")
    assert types(Files.at(tmp_path / "c.parquet")) == {"id": "bigint", "mag.mask": "boolean"}


def test_what_spark_writes_it_reads(engine, tmp_path):
    """A variant, a column in which everything is NULL; intervals as whole numbers that say their unit."""
    engine.session.sql(
        "SELECT 1L AS id, parse_json('[1]') AS v, INTERVAL '1' DAY AS d, INTERVAL '2' YEAR AS y, NULL AS n"
    ).coalesce(1).write.parquet(str(tmp_path / "a"))
    files = Files.at(tmp_path / "a")
    assert types(files) == {"id": "bigint", "v": "variant", "d": "bigint", "y": "int", "n": "boolean"}
    assert [column.unit for column in files.columns] == ["", "", "us", "month", ""]
    frame = read_base(engine, Base.of(files, key="id", population="star"), DataFolder.of(tmp_path / "data"))
    assert frame.selectExpr("CAST(v AS string)", "d", "y", "n").collect() == [("[1]", 86_400_000_000, 24, None)]


def test_the_index_of_a_data_frame_is_said_to_be_one(tmp_path, read):
    import pandas as pd  # noqa: PLC0415 - it is needed here alone

    pd.DataFrame({"id": [1, 2]}, index=[7, 9]).to_parquet(tmp_path / "a.parquet")
    files = Files.at(tmp_path / "a.parquet")
    assert "index" in files.columns[1].description
    assert read(files) == {"id": [1, 2], "__index_level_0__": [7, 9]}


def test_whole_numbers_of_128_bits_are_refused_by_name(tmp_path):
    import polars as pl  # noqa: PLC0415 - it is needed here alone

    pl.DataFrame({"id": [1]}).with_columns(x=pl.Series([2**100], dtype=pl.Int128)).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(BaseFilesError, match=r"a\.parquet cannot be read as Parquet"):
        Files.at(tmp_path / "a.parquet")
