"""Folders that provenn writes in HATS: valid for the library of HATS, and for LSDB the same catalog as for provenn."""

import hashlib
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.catalogs import Files
from provenn.data.leftovers import LEFTOVER
from provenn.errors import BaseFilesError, DefinitionError, FormatError, RunError, StoreError
from provenn.files.hats_properties import HEALPIX_COLUMN
from provenn.files.parquet_columns import VOTABLE_KEY
from provenn.sky import box, cone
from provenn.spark.tables.parquet_file import ORIGIN_KEY
from provenn.spark.tables.skymap_file import make_skymap
from provenn.targets.steps import Scan, walk_steps
from tests.hats.real_lsdb import run_lsdb
from tests.hats.skies import measure_distance, write_sky
from tests.waiting import wait_until

PIXEL_ROWS, WIDTH = 300, 1800.0
CONES = [
    (0.0, 90.0, 10.0),
    (0.01, 0.0, 5.0),
    (45.0, 0.0, 0.3),
    (200.0, -41.8, 12.0),
    (10.0, -89.9, 3.0),
    (300.0, 45.0, 0.001),
]
CROWD, MAP_ORDERS = (np.array([3, 4, 77, (12 << 20) - 1]), np.array([5, 6, 7, 8])), (4, 8, 10)
BOXES = [(350.0, 10.0, -20.0, 20.0), (44.0, 46.0, -1.0, 1.0), (80.0, 100.0, 60.0, 62.0)]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("hats")


@pytest.fixture(scope="module")
def table(place):
    return write_sky(place / "sky.parquet", 4000, 1)


@pytest.fixture(scope="module")
def archive(place, table):
    with provenn.open(place / "survey") as opened:
        sky = opened.ingest("sky", place / "sky.parquet", key="id", population="star")
        assert sky.count() == len(table)
        sky.write(place / "with margin", format="hats", pixel_rows=PIXEL_ROWS, margin=WIDTH)
        sky.select("mag < 15", name="bright").write(place / "bright", format="hats", pixel_rows=100)
        sky.select("mag < -100", name="none").write(place / "none", format="hats")
        sky.select("id = 17", name="tiny").write(place / "tiny", format="hats")
        yield opened


@pytest.fixture(scope="module")
def ingested(archive, place):
    """The folder that provenn wrote, as a base catalog of provenn."""
    return archive.ingest("read", place / "with margin", key="id", population="other star")


@pytest.fixture(scope="module")
def answers(archive, place):
    """What LSDB says, asked once."""
    assert archive["none"].count() == 0
    whole, bright = str(place / "with margin"), str(place / "bright")
    questions = {
        f"valid {name}": ("valid", {"path": str(place / name)}) for name in ("with margin", "bright", "none", "tiny")
    }
    questions |= {f"rows {name}": ("rows", {"path": str(place / name)}) for name in ("with margin", "none", "tiny")}
    questions |= {
        f"cone {region}": ("ids", {"path": whole, "kind": "cone", "arguments": [*region[:2], region[2] * 3600]})
        for region in CONES
    }
    questions |= {
        f"box {region}": ("ids", {"path": whole, "kind": "box", "arguments": [region[:2], region[2:]]})
        for region in BOXES
    }
    questions["cells"] = ("cells", {"path": whole})
    questions["margin"] = ("margin", {"path": whole})
    questions["skymap"] = ("skymap", {"path": f"{whole}/sky"})
    for order in MAP_ORDERS:
        path = place / f"map-{order}.fits"
        path.write_bytes(make_skymap(CROWD, 10, order))
        questions[f"map {order}"] = ("cells_of_map", {"path": str(path)})
    questions["pairs"] = ("pairs", {"left": bright, "right": whole, "radius": WIDTH, "neighbors": 1})
    questions["written"] = (
        "write",
        {"table": str(place / "sky.parquet"), "path": str(place / "lsdb"), "rows": 500, "margin": 60},
    )
    return run_lsdb(**questions)


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def read_parts(folder: Path) -> dict[tuple[int, int], pa.Table]:
    parts = {}
    for path in folder.rglob("Npix=*.parquet"):
        order = int(path.parents[1].name.partition("=")[2])
        parts[order, int(path.stem.partition("=")[2])] = parquet.ParquetFile(path).read()
    return parts


# -- the folder --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("archive")
def test_the_folder_has_the_files_of_the_standard(place, golden):
    golden("tests/golden/hats_files.txt", "\n".join(list_files(place / "bright")) + "\n")
    assert [name for name in list_files(place / "with margin") if "/" not in name] == ["collection.properties"]


@pytest.mark.usefixtures("archive")
def test_parts_hold_as_many_sources_as_wanted_sorted_inside_their_pixel(place, table):
    parts = read_parts(place / "with margin" / "sky")
    assert len(parts) > 30
    assert len({order for order, _ in parts}) > 1, "the crowded field is divided further"
    for (order, number), part in parts.items():
        cells = part[HEALPIX_COLUMN].to_numpy()
        assert 0 < len(part) <= PIXEL_ROWS
        assert np.all(np.diff(cells) >= 0)
        assert np.all(cells >> (2 * (29 - order)) == number)
    rows = pa.concat_tables(part.drop_columns(HEALPIX_COLUMN) for part in parts.values()).sort_by("id")
    assert rows.cast(table.schema).equals(table)


@pytest.mark.usefixtures("archive")
def test_every_file_has_its_checksum(place):
    for folder in (place / "bright", place / "with margin" / "sky", place / "with margin" / "sky_1800arcs"):
        lines = (folder / "SHA256SUMS").read_text().splitlines()
        stated = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        assert sorted(stated) == [name for name in list_files(folder) if name != "SHA256SUMS"]
        assert all(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in stated.items()
        )


def test_folder_and_files_say_where_they_come_from(archive, place):
    digest = archive["bright"].digest
    lines = (place / "bright" / "hats.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    assert (properties["provenn_digest"], properties["obs_collection"]) == (digest, "bright")
    assert properties["hats_builder"] == f"provenn {provenn.__version__}"
    assert properties["provenn_lineage"] == f"{digest} {archive['sky'].digest}"
    assert json.loads((place / "bright" / "_provenn.json").read_text())["origin"]["digest"] == digest
    for name in ("dataset/_common_metadata", next(iter(list_files(place / "bright" / "dataset")[2:]))):
        path = place / "bright" / name if name.startswith("dataset") else place / "bright" / "dataset" / name
        footer = parquet.read_schema(path).metadata
        assert json.loads(footer[ORIGIN_KEY.encode()])["digest"] == digest
        assert b'unit="mag"' in footer[VOTABLE_KEY.encode()]


# -- LSDB --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with margin", "bright", "none", "tiny"])
def test_the_library_of_hats_finds_them_valid(answers, name):
    assert answers[f"valid {name}"] is True


def test_lsdb_reads_the_same_rows_and_the_same_cells(answers, table):
    expected = [list(row.values()) for row in table.sort_by("id").to_pylist()]
    assert [row[1:] for row in answers["rows with margin"]] == [
        [value if not isinstance(value, float) else pytest.approx(value, abs=1e-13) for value in row]
        for row in expected
    ]
    assert [row[1] for row in answers["rows tiny"]] == [17]
    assert answers["rows none"] == []
    assert answers["cells"] == 0
    assert answers["skymap"][0] == len(table)


@pytest.mark.parametrize("region", CONES)
def test_cones_of_lsdb_hold_the_same_sources(answers, ingested, region):
    assert answers[f"cone {region}"] == sorted(ingested.select(cone(*region)).to_pandas()["id"])


@pytest.mark.parametrize("region", BOXES)
def test_boxes_of_lsdb_hold_the_same_sources(answers, ingested, region):
    assert answers[f"box {region}"] == sorted(ingested.select(box(*region)).to_pandas()["id"])


def test_cross_matches_of_lsdb_have_the_same_pairs(answers, archive):
    pairs = archive["bright"].crossmatch("sky", WIDTH).to_pandas()
    assert answers["pairs"] == sorted(
        [int(left), int(right)] for left, right in zip(pairs["id"], pairs["id_2"], strict=True)
    )


@pytest.mark.parametrize("order", MAP_ORDERS)
def test_maps_of_the_sky_list_all_cells_or_those_with_sources(answers, place, order):
    cells, rows = CROWD
    expected = {}
    for cell, number in zip(cells >> (2 * (10 - order)), rows, strict=True):
        expected[str(cell)] = expected.get(str(cell), 0) + int(number)
    assert answers[f"map {order}"] == [12 << (2 * order), expected]
    assert (place / f"map-{order}.fits").stat().st_size < 10_000_000, "a few crowded cells make no large map"


# -- margins -----------------------------------------------------------------------------------------------------------


def test_margins_hold_what_brute_force_finds(answers, table):
    ra, dec, ids = (table[name].to_numpy() for name in ("ra", "dec", "id"))
    margin = answers["margin"]
    assert margin["width"] == WIDTH
    assert set(margin["found"]) <= set(margin["pixels"])
    for pixel in margin["pixels"]:
        distances = measure_distance(*map(int, pixel.split("/")), ra, dec)
        found = set(margin["found"].get(pixel, [])) - set(ids[distances <= 1e-6].tolist())  # on the border itself
        assert set(ids[(distances > 1e-6) & (distances < WIDTH - 1)].tolist()) <= found
        assert found <= set(ids[(distances > 1e-6) & (distances < WIDTH + 1)].tolist())


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("region", CONES)
def test_a_region_reads_only_the_pixels_that_it_touches(ingested, place, region):
    selection = ingested.select(cone(*region))
    (scan,) = [step for step in walk_steps(selection.plan().after) if isinstance(step, Scan)] or [None]
    parts = read_parts(place / "with margin" / "sky")
    ra, dec, radius = region
    touched = [
        pixel for pixel in parts if measure_distance(*pixel, np.array([ra]), np.array([dec]))[0] <= radius * 3600
    ]
    assert len(touched) < len(parts)
    if scan is None:
        assert selection.count() == 0
    else:
        assert scan.file_count <= len(touched) + 1
        assert len(selection.to_spark().inputFiles()) == scan.file_count


def test_what_lsdb_writes_is_read_as_it_reads_it(answers, archive, place, table):
    assert answers["written"] == len(table)
    read = archive.ingest("of lsdb", place / "lsdb", key="id", population="third star")
    assert read.count() == len(table)
    for region in CONES:
        selection = read.select(cone(*region))
        assert sorted(selection.to_pandas()["id"]) == answers[f"cone {region}"]
        scans = [step for step in walk_steps(selection.plan().after) if isinstance(step, Scan)]
        assert all(scan.file_count < len(list((place / "lsdb").rglob("Npix=*"))) for scan in scans)


@pytest.mark.usefixtures("archive")
def test_units_and_ucds_come_back(place):
    columns = {column.name: column for column in Files.at(place / "bright").columns}
    assert (columns["mag"].unit, columns["mag"].description) == ("mag", "brightness")
    assert columns["ra"].ucd == "pos.eq.ra;meta.main"


def test_a_catalog_that_was_read_can_be_written_again(ingested, place):
    written = ingested.select(cone(45, 0, 2)).write(place / "again", format="hats")
    assert written.rows == ingested.select(cone(45, 0, 2)).count()
    assert Files.at(place / "again").row_count == written.rows


@pytest.mark.usefixtures("archive")
def test_a_margin_alone_is_no_catalog(place):
    with pytest.raises(BaseFilesError, match="is a HATS margin"):
        Files.at(place / "with margin" / "sky_1800arcs")


def test_a_catalog_without_sources_is_called_so(tmp_path):
    empty = pa.table(
        {"hip": pa.array([], pa.int64()), "ra": pa.array([], pa.float64()), "dec": pa.array([], pa.float64())}
    )
    with provenn.open(tmp_path / "survey") as archive:
        archive.ingest("none", empty, key="hip", population="star").write(tmp_path / "out", format="hats")
    with pytest.raises(BaseFilesError, match="HATS catalog without sources"):
        Files.at(tmp_path / "out")


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "error", "problem"),
    [
        ({"ra": [1.0, None], "dec": [1.0, 2.0]}, {}, FormatError, "1 of 2 sources have no position"),
        ({"ra": [1.0, 2.0], "dec": [math.nan, 2.0]}, {}, FormatError, "1 of 2 sources have no position"),
        ({"ra": [1.0, math.inf], "dec": [90.5, 2.0]}, {}, FormatError, "2 of 2 sources have no position"),
        ({"ra": ["1", "2"], "dec": [1.0, 2.0]}, {}, FormatError, "HATS needs numbers"),
        ({"x": [1.0, 2.0], "y": [1.0, 2.0]}, {}, DefinitionError, "none of these attributes is known to be a position"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0]}, {"pixel_rows": 0}, FormatError, "expected a number of sources"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0]}, {"margin": "2 deg"}, FormatError, "too wide"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0]}, {"margin": "wide"}, DefinitionError, "expected an angle"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0]}, {"on": ("ra", "ra")}, DefinitionError, "not ra twice"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0]}, {"on": "ra"}, DefinitionError, "a position is two attributes"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0]}, {"single": True}, FormatError, "divided by the sky alone"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0]}, {"format": "csv", "margin": 5}, FormatError, "only folders in HATS"),
        ({"ra": [1.0, 2.0], "dec": [1.0, 2.0], HEALPIX_COLUMN: ["a", "b"]}, {}, FormatError, "uses the name"),
    ],
)
def test_what_hats_cannot_hold_is_refused_and_leaves_nothing(tmp_path, columns, options, error, problem):
    parquet.write_table(pa.table({"id": [1, 2], **columns}), tmp_path / "a.parquet")
    with provenn.open(tmp_path / "survey") as archive:
        stars = archive.ingest("stars", tmp_path / "a.parquet", key="id", population="star")
        with pytest.raises(error, match=problem):
            stars.write(tmp_path / "out", **{"format": "hats", **options})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "survey"]


def test_positions_in_other_units_are_refused(tmp_path):
    fields = [
        pa.field("id", pa.int64()),
        *(pa.field(name, pa.float64(), metadata={"unit": "rad"}) for name in ("ra", "dec")),
    ]
    parquet.write_table(pa.table([[1], [1.0], [1.0]], pa.schema(fields)), tmp_path / "a.parquet")
    with provenn.open(tmp_path / "survey") as archive:
        stars = archive.ingest("stars", tmp_path / "a.parquet", key="id", population="star")
        with pytest.raises(FormatError, match="in degrees, and ra is in rad"):
            stars.write(tmp_path / "out", format="hats")


def test_what_is_there_is_replaced_only_on_demand(archive, place):
    with pytest.raises(StoreError, match="already exists"):
        archive["tiny"].write(place / "tiny", format="hats")
    before = list_files(place / "tiny")
    assert archive["tiny"].write(place / "tiny", format="hats", overwrite=True).rows == 1
    assert list_files(place / "tiny") == before


# -- nested tables -----------------------------------------------------------------------------------------------------


def test_light_curves_that_lsdb_nests_are_arrays_of_structs(tmp_path):
    random = np.random.default_rng(3)
    ra, dec = random.uniform(0, 360, 50), random.uniform(-80, 80, 50)
    parquet.write_table(pa.table({"id": np.arange(50), "ra": ra, "dec": dec}), tmp_path / "objects.parquet")
    whose = np.repeat(np.arange(40), 3)
    curve = {"object": whose, "sra": ra[whose], "sdec": dec[whose], "t": np.arange(120.0), "m": random.normal(size=120)}
    parquet.write_table(pa.table(curve), tmp_path / "sources.parquet")
    paths = {"objects": str(tmp_path / "objects.parquet"), "sources": str(tmp_path / "sources.parquet")}
    assert run_lsdb(nested=("write_nested", {**paths, "path": str(tmp_path / "nested")})) == {"nested": 40}
    with provenn.open(tmp_path / "survey") as archive:
        nested = archive.ingest("nested", tmp_path / "nested", key="id", population="star")
        assert str(nested.schema["curve"].type).startswith("array<struct<")
        rows = {row["id"]: row["curve"] for row in nested.to_arrow().to_pylist()}
        assert sorted(rows) == list(range(40))
        for number, points in rows.items():
            expected = [(curve["t"][place], curve["m"][place]) for place in np.flatnonzero(whose == number)]
            assert sorted((point["t"], point["m"]) for point in points) == expected
        exploded = nested.derive(n="size(curve)").to_pandas()
        assert list(exploded["n"]) == [3] * 40
        written = nested.write(tmp_path / "again", format="hats")
        assert written.rows == 40


def test_nested_arrays_of_different_lengths_are_an_error(tmp_path):
    folder = tmp_path / "sky"
    part = folder / "dataset" / "Norder=0" / "Dir=0" / "Npix=4.parquet"
    part.parent.mkdir(parents=True)
    kind = pa.struct([("t", pa.list_(pa.float64())), ("m", pa.list_(pa.float64()))])
    curves = [{"t": [1.0, 2.0], "m": [3.0]}, None]
    parquet.write_table(
        pa.table({"id": [1, 2], "ra": [10.0, 11.0], "dec": [5.0, 6.0], "c": pa.array(curves, kind)}), part
    )
    (folder / "partition_info.csv").write_text("Norder,Npix\n0,4\n")
    (folder / "hats.properties").write_text("dataproduct_type=object\nhats_nrows=2\nhats_col_ra=ra\nhats_col_dec=dec\n")
    with provenn.open(tmp_path / "survey") as archive:
        sky = archive.ingest("sky", folder, key="id", population="star")
        assert sky.select("id = 2").to_arrow()["c"].to_pylist() == [None]
        with pytest.raises(RunError, match="different lengths"):
            sky.to_arrow()


# -- all or nothing ----------------------------------------------------------------------------------------------------

KILLED = """
import sys
from pathlib import Path
import provenn
folder = Path(sys.argv[1])
with provenn.open(folder / "survey") as archive:
    sky = archive.ingest("sky", folder / "sky.parquet", key="id", population="star")
    print("ready", flush=True)
    sky.write(folder / "out" / "sky", format="hats", pixel_rows=20, margin=WIDTH)
"""


def test_a_process_that_is_killed_leaves_nothing_visible(tmp_path):
    write_sky(tmp_path / "sky.parquet", 2000, 2)
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-c", KILLED.replace("WIDTH", "600"), tmp_path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout.readline() == b"ready\n"
        made = f"{LEFTOVER}*/result/*/dataset"
        wait_until(lambda: any((tmp_path / "out").glob(made)) or process.poll() is not None, "a part to appear")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert [path.name[: len(LEFTOVER)] for path in (tmp_path / "out").iterdir()] == [LEFTOVER]
    with provenn.open(tmp_path / "survey") as archive:  # the next process that writes there cleans up
        assert archive["sky"].write(tmp_path / "out" / "sky", format="hats").rows == 2000
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["sky"]


def test_files_that_follow_a_catalog_are_written_anew(tmp_path):
    write_sky(tmp_path / "sky.parquet", 100, 2)
    with provenn.open(tmp_path / "survey") as archive:
        sky = archive.ingest("sky", tmp_path / "sky.parquet", key="id", population="star")
        sky.select("id < 50", name="some").write(tmp_path / "out", format="hats", pixel_rows=10, follow=True)
        assert Files.at(tmp_path / "out").row_count == 50
        archive.redefine("some", where="id < 60")
        archive.refresh()
        assert Files.at(tmp_path / "out").row_count == 60
