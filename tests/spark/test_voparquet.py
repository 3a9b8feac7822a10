"""Parquet files that provenn writes describe their columns to programs of the Virtual Observatory, as VOParquet."""

from io import BytesIO

import pyarrow as pa
import pytest
from astropy.io import votable
from astropy.table import Table
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import fs, parquet

from provenn.catalogs import Attribute, Files
from provenn.criteria import parse_type
from provenn.errors import BaseFilesError
from provenn.files.export_notes import NO_NOTES, FileNotes
from provenn.files.parquet_columns import VOTABLE_KEY, VOTABLE_VERSION_KEY
from provenn.spark.tables.parquet_file import write_parquet
from provenn.spark.tables.parts import PartFiles
from provenn.spark.tables.voparquet import build_voparquet_header
from provenn.spark.writing import write
from tests.programs import lint_votable
from tests.spark.test_writing import schema_of

TABLE = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "ra": pa.array([10.5, None], pa.float64()),
        "flux": pa.array([[1.0, 2.0], []], pa.list_(pa.float32())),
        "name": pa.array(["a", None]),
        "curve": pa.array(
            [[{"t": 1.0, "m": 2.0}], []], pa.list_(pa.struct([("t", pa.float64()), ("m", pa.float64())]))
        ),
    }
)
NOTES = {
    "id": {"ucd": "meta.id;meta.main"},
    "ra": {"unit": "deg", "ucd": "pos.eq.ra;meta.main", "description": 'right ascension, "ICRS" & <mean>'},
    "flux": {"unit": "Jy", "ucd": "phot.flux"},
    "curve": {"description": "times and magnitudes"},
}
METADATA = {"RADESYS": "ICRS", "EPOCH": 2016.0, "AUTHOR": "A. Stronomer"}


def write_table(path, table=TABLE, notes=NO_NOTES, described=NOTES):
    """Write a table as provenn does once Spark has computed it."""
    place = path.with_name("rows.parquet")
    parquet.write_table(table, place)
    attributes = [
        Attribute(name, f"x:{name}", parse_type("double"), nullable=True, **described.get(name, {}))
        for name in table.schema.names
    ]
    with path.open("wb") as stream:
        write_parquet(PartFiles(fs.LocalFileSystem(), [str(place)], table.schema), attributes, stream, notes)
    return path


def strip_fields(path):
    """Write a file anew with no metadata but the header of VOParquet."""
    table = parquet.read_table(path)
    fields = [pa.field(field.name, field.type) for field in table.schema]
    kept = {key: value for key, value in table.schema.metadata.items() if key.startswith(b"IVOA.")}
    parquet.write_table(table.cast(pa.schema(fields, kept)), path)


def test_the_header_is_a_votable_whose_fields_are_the_columns(tmp_path):
    path = write_table(tmp_path / "out.parquet", notes=FileNotes("1", metadata=METADATA))
    footer = parquet.read_schema(path).metadata
    assert footer[VOTABLE_VERSION_KEY.encode()] == b"1.0"
    header = footer[VOTABLE_KEY.encode()]
    table = votable.parse(BytesIO(header), verify="exception").get_first_table()
    assert [field.name for field in table.fields] == TABLE.schema.names
    assert [(field.datatype, field.arraysize) for field in table.fields] == [
        ("long", None),
        ("double", None),
        ("float", "*"),
        ("char", "*"),
        ("char", "*"),
    ]
    (tmp_path / "header.vot").write_bytes(header)
    assert lint_votable(tmp_path / "header.vot") == ""


def test_units_ucds_and_descriptions_come_back_from_the_header_alone(tmp_path):
    path = write_table(tmp_path / "out.parquet", notes=FileNotes("1", metadata=METADATA))
    strip_fields(path)
    files = Files.at(path)
    described = {column.name: (column.unit, column.ucd, column.description) for column in files.columns}
    expected = {
        name: tuple(NOTES.get(name, {}).get(key, "") for key in ("unit", "ucd", "description")) for name in described
    }
    assert described == expected
    assert files.table_metadata == METADATA


def test_astropy_reads_values_units_and_ucds(tmp_path):
    plain = TABLE.select(["id", "ra"]).slice(0, 1)
    table = Table.read(write_table(tmp_path / "out.parquet", plain), format="parquet.votable")
    assert (table["ra"].unit, table["ra"].meta["ucd"], list(table["ra"])) == ("deg", "pos.eq.ra;meta.main", [10.5])
    assert table["ra"].description == NOTES["ra"]["description"]


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
@example("m/s & <b>", "]]>", "\x00\ud800")
def test_no_text_spoils_the_header(unit, ucd, description):
    attribute = Attribute("x", "x:x", parse_type("double"), nullable=True, unit=unit, ucd=ucd, description=description)
    header = build_voparquet_header(pa.schema([("x", pa.float64())]), [attribute], NO_NOTES)[VOTABLE_KEY]
    assert header.encode("utf-8", "replace")
    assert (
        votable.parse(BytesIO(header.encode("utf-8", "replace")), verify="ignore").get_first_table().fields[0].name
        == "x"
    )


def test_every_part_file_of_a_folder_has_the_header(engine, tmp_path):
    frame = engine.session.sql("SELECT id, double(id) AS ra, timestamp_micros(id) AS t FROM range(5)").repartition(2)
    write(engine, frame, schema_of(frame, ra=NOTES["ra"]), tmp_path / "out", format="parquet")
    parts = sorted((tmp_path / "out").glob("part-*.parquet"))
    assert len(parts) == 2
    for path in (tmp_path / "out" / "_common_metadata", *parts):
        header = parquet.read_schema(path).metadata[VOTABLE_KEY.encode()]
        assert votable.parse(BytesIO(header)).get_first_table().fields[1].unit == "deg"
    read = engine.session.read.parquet(str(tmp_path / "out"))
    assert read.dtypes == frame.dtypes
    assert sorted(map(tuple, read.collect())) == sorted(map(tuple, frame.collect()))
    assert read.schema["ra"].metadata == NOTES["ra"]
    assert [column.unit for column in Files.at(tmp_path / "out").columns] == ["", "deg", ""]


def test_part_files_in_folders_of_values_have_the_header_of_their_own_columns(engine, tmp_path):
    frame = engine.session.sql("SELECT id, id % 2 AS odd, double(id) AS ra FROM range(5)")
    write(
        engine,
        frame,
        schema_of(frame, ra=NOTES["ra"]),
        tmp_path / "out",
        format="parquet",
        partition_by=["odd"],
        notes=FileNotes("1", metadata=METADATA),
    )
    parts = sorted((tmp_path / "out").rglob("part-*.parquet"))
    assert {path.parent.name for path in parts} == {"odd=0", "odd=1"}
    for path in parts:
        strip_fields(path)
        header = parquet.read_schema(path).metadata[VOTABLE_KEY.encode()]
        assert [field.name for field in votable.parse(BytesIO(header)).get_first_table().fields] == ["id", "ra"]
    files = Files.at(tmp_path / "out")
    assert {column.name: column.unit for column in files.columns} == {"id": "", "ra": "deg", "odd": ""}
    assert files.table_metadata == METADATA


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><VOTABLE>&b;</VOTABLE>', "document type"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><VOTABLE/>', "document type"),
        (b"<VOTABLE><RESOURCE><TABLE>" + b" " * (1 << 24), "more than"),
        (b"\x00\xff", "cannot be read as VOTable"),
        (b"<VOTABLE><RESOURCE/></VOTABLE>", "no table"),
    ],
)
def test_a_hostile_header_is_refused(tmp_path, header, problem):
    table = TABLE.replace_schema_metadata({VOTABLE_KEY: header})
    parquet.write_table(table, tmp_path / "bad.parquet")
    with pytest.raises(BaseFilesError, match=problem):
        Files.at(tmp_path / "bad.parquet")


def test_fields_that_are_no_columns_are_ignored(tmp_path):
    field = (
        '<FIELD name="other" datatype="double" unit="m"/><FIELD name="ra" datatype="char" arraysize="*" unit="rad"/>'
    )
    header = f"<VOTABLE><RESOURCE><TABLE>{field}</TABLE></RESOURCE></VOTABLE>"
    parquet.write_table(TABLE.replace_schema_metadata({VOTABLE_KEY: header}), tmp_path / "odd.parquet")
    columns = {column.name: column for column in Files.at(tmp_path / "odd.parquet").columns}
    assert list(columns) == TABLE.schema.names
    assert (str(columns["ra"].type), columns["ra"].unit) == ("double", "rad")
