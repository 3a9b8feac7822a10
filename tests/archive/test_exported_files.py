"""Exported files say which catalog they hold, what it is made from and how it is measured, as the viewer sees it."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from pyarrow import parquet

import provenn
from provenn.catalogs import definition_digest
from provenn.files.export_notes import FileNotes, LineageNote
from tests.repetitions import repeat_a_few
from tests.spark.conftest import engine

__all__ = ["engine"]

NAMESPACE = "{http://www.ivoa.net/xml/VOTable/v1.3}"
FORMATS = ["stars.parquet", "stars.fits", "stars.vot", "folder"]


@pytest.fixture
def archive(engine, tmp_path):
    with provenn.open(tmp_path / "survey", spark=engine.session.sparkContext.master, who="ada") as made:
        yield made


def fits_base(path: Path, first: int = 1, **header) -> Path:
    """Write two stars with positions, and a header that says how they are measured."""
    table = Table({"hip": [first, first + 1], "ra": [10.0, 20.0], "dec": [-5.0, 5.0], "vmag": [1.5, 7.0]})
    table["ra"].unit = table["dec"].unit = "deg"
    table.meta = header
    table.write(path)
    return path


def names_base(path: Path) -> Path:
    path.write_text("hip,name\n1,Sirius\n2,Vega\n")
    return path


def exported(catalog, path: Path) -> tuple[dict, dict]:
    """Write a catalog; return what the file says of its origin, and its metadata."""
    catalog.write(path, format="parquet" if path.name == "folder" else None)
    if path.suffix == ".parquet":
        notes = parquet.read_schema(path).metadata
        return json.loads(notes[b"provenn.origin"]), json.loads(notes[b"provenn.table"])
    if path.suffix == ".fits":
        header = fits.getheader(path, 1)
        keywords = {key: header[key] for key in header if key in ("EPOCH", "RADESYS", "EQUINOX", "MJDREF", "OBSERVER")}
        return json.loads(header["PRVJSON"]), keywords
    if path.suffix == ".vot":
        root = ET.parse(path).getroot()  # noqa: S314 - ours
        infos = {one.get("name"): one.get("value") for one in root.iter(f"{NAMESPACE}INFO")}
        system = next((dict(one.attrib) for one in root.iter(f"{NAMESPACE}COOSYS")), {})
        return json.loads(infos["provenn_origin"]), infos | system
    told = json.loads((path / "_provenn.json").read_text())
    return told["origin"], told["table"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_says_which_catalog_it_is_what_it_is_made_from_and_how_it_is_measured(archive, tmp_path, name):
    header = {"EPOCH": 2016.0, "RADESYS": "ICRS", "OBSERVER": "Ada"}
    stars = archive.ingest("stars", fits_base(tmp_path / "in.fits", **header), key="hip", population="star")
    bright = stars.select("vmag < 6", name="bright")
    origin, metadata = exported(bright, tmp_path / name)
    check_origin(origin, stars, bright, tmp_path)
    check_measured(metadata, tmp_path / name)
    again = archive.ingest("again", tmp_path / name, key="hip", population="star")
    if name != "folder":
        found = again.definition.files.table_metadata
        assert {key: found[key] for key in header} == header


def check_origin(origin: dict, stars: provenn.Catalog, bright: provenn.Catalog, folder: Path) -> None:
    """Check what a file says of the bright stars."""
    assert (origin["digest"], origin["name"]) == (bright.digest, "bright")
    assert origin["words"] == "the sources of stars where vmag < 6"
    assert [(one["name"], one["digest"]) for one in origin["lineage"]] == [
        ("bright", bright.digest),
        ("stars", stars.digest),
    ]
    assert origin["lineage"][1]["words"] == "2 rows of in.fits"
    for one in origin["lineage"]:
        assert definition_digest(one["kind"], one["parameters"], one["made_from"]) == one["digest"]
    assert str(folder) not in json.dumps(origin), "where files lie on this machine is nobody's business"
    assert "ada" not in json.dumps(origin)


def check_measured(metadata: dict, path: Path) -> None:
    """Check what a file says of how its table is measured."""
    assert metadata["OBSERVER"] == "Ada"
    if path.suffix == ".vot":
        assert (metadata["system"], metadata["epoch"]) == ("ICRS", "J2016.0")
        fields = {one.get("name"): one for one in ET.parse(path).iter(f"{NAMESPACE}FIELD")}  # noqa: S314
        assert fields["vmag"].get("ref") is None
    else:
        assert (metadata["EPOCH"], metadata["RADESYS"]) == (2016.0, "ICRS")


@pytest.mark.parametrize("name", repeat_a_few(FORMATS[:3], 1))
def test_a_target_says_it_too(archive, tmp_path, name):
    stars = archive.ingest("stars", fits_base(tmp_path / "in.fits"), key="hip", population="star")
    target = archive.target(stars, ["vmag"], where="vmag < 6")
    origin, _ = exported(target, tmp_path / name)
    assert origin["digest"] == target.catalog().digest
    assert [one["name"] for one in origin["lineage"]][-1] == "stars"


def test_people_read_it_in_the_history_of_fits(archive, tmp_path):
    stars = archive.ingest("stars", fits_base(tmp_path / "in.fits", HISTORY="observed"), key="hip", population="star")
    bright = stars.select("vmag < 6", name="bright")
    bright.write(tmp_path / "a.fits")
    with fits.open(tmp_path / "a.fits") as file:
        file.verify("exception")
        header = file[1].header
    assert (header["PRVDIGST"], header["PRVNAME"]) == (bright.digest, "bright")
    history = "\n".join(header["HISTORY"])
    assert "observed" in history
    assert "provenn: bright: the sources of stars where vmag < 6" in history
    again = archive.ingest("again", tmp_path / "a.fits", key="hip", population="star")
    assert again.definition.files.table_metadata["HISTORY"] == ["observed"], "what provenn wrote is not the table's"
    assert not [key for key in again.definition.files.table_metadata if key.startswith("PRV")]


def test_how_a_table_is_measured_survives_a_derived_attribute(archive, tmp_path):
    stars = archive.ingest("stars", fits_base(tmp_path / "in.fits", EPOCH=2016.0), key="hip", population="star")
    _, metadata = exported(stars.derive(twice="2 * vmag"), tmp_path / "stars.parquet")
    assert metadata == {"EPOCH": 2016.0}


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")  # it rests on a declaration
def test_what_two_tables_say_differently_is_left_out_and_told(archive, tmp_path):
    one = fits_base(tmp_path / "one.fits", EPOCH=2016.0, RADESYS="ICRS", OBSERVER="Ada")
    two = fits_base(tmp_path / "two.fits", first=3, EPOCH=1991.25, RADESYS="ICRS", OBSERVER="Bob")
    left, right = (archive.ingest(path.stem, path, key="hip", population="star") for path in (one, two))
    archive.declare("disjoint(one, two)")
    written = left.concat(right, name="both").write(tmp_path / "both.fits")
    header = fits.getheader(tmp_path / "both.fits", 1)
    assert header["RADESYS"] == "ICRS"
    assert not {"EPOCH", "OBSERVER"} & set(header)
    assert written.left_out == ("EPOCH: one says 2016.0, two says 1991.25",)
    assert "left out: EPOCH: one says 2016.0, two says 1991.25" in "\n".join(header["HISTORY"])


def test_a_table_without_positions_does_not_make_a_frame_ambiguous(archive, tmp_path):
    header = {"RADESYS": "ICRS", "TIMESYS": "TCB", "MJDREF": 55197.0}
    stars = archive.ingest("stars", fits_base(tmp_path / "in.fits", **header), key="hip", population="star")
    names = archive.ingest("names", names_base(tmp_path / "names.csv"), key="hip", population="star")
    _, metadata = exported(stars.combine(names), tmp_path / "both.parquet")
    assert metadata == {"RADESYS": "ICRS"}, "of times nobody knows what the other table means"
    (tmp_path / "more.csv").write_text("hip,ra_deg,dec_deg\n1,10.0,-5.0\n2,20.0,5.0\n")
    more = archive.ingest("more", tmp_path / "more.csv", key="hip", population="star")
    _, metadata = exported(stars.combine(more), tmp_path / "more.parquet")
    assert metadata == {}


def test_a_table_that_only_chooses_sources_says_nothing_of_their_values(archive, tmp_path):
    stars = archive.ingest("stars", fits_base(tmp_path / "a.fits", EPOCH=2016.0), key="hip", population="star")
    other = archive.ingest("other", fits_base(tmp_path / "b.fits", EPOCH=2000.0), key="hip", population="star")
    _, metadata = exported(stars.restrict(other), tmp_path / "a.parquet")
    assert metadata == {"EPOCH": 2016.0}


def test_names_that_the_viewer_does_not_see_are_not_told(archive, tmp_path):
    stars = archive.ingest("stars", fits_base(tmp_path / "in.fits"), key="hip", population="star")
    stars.select("vmag < 6", name="secret").named("secret", visibility="private")
    public = archive["secret"].keep("hip", "vmag", name="shared")
    public.named("shared", visibility="public")
    seen = archive.as_seen_by("bob")
    origin, _ = exported(seen["shared"], tmp_path / "a.parquet")
    assert "secret" not in json.dumps(origin)
    assert [one["name"] for one in origin["lineage"]] == ["shared", public.dependencies[0].digest[:12], "stars"]


def test_csv_has_no_place_for_it(archive, tmp_path):
    stars = archive.ingest("stars", fits_base(tmp_path / "in.fits", EPOCH=2016.0), key="hip", population="star")
    stars.write(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == "hip,ra,dec,vmag"
    assert not list(tmp_path.glob("*provenn*"))


# --- without Spark ---


def lineage(number: int) -> tuple[LineageNote, ...]:
    steps = [
        LineageNote(f"{n:064d}", "SelectSources", f"s{n}", "x" * 50, (f"{n + 1:064d}",), {"a": "y" * 50})
        for n in range(number)
    ]
    return (*steps, LineageNote(f"{number:064d}", "Base", "base", "rows", (), {"files": "z"}))


@pytest.mark.parametrize(
    ("most", "named", "definitions"), [(10**6, 101, True), (30_000, 101, False), (2_000, 1, False)]
)
def test_a_long_lineage_is_told_as_far_as_there_is_room(most, named, definitions):
    notes = FileNotes("1", "0" * 64, "s0", "words", lineage(100))
    told = json.loads(notes.text(most))
    assert len(notes.text(most)) <= most
    assert told["catalogs"] == 101
    assert len(told["lineage"]) == named
    assert all(("parameters" in one) == definitions for one in told["lineage"])


def test_numbers_of_numpy_do_not_get_into_metadata(tmp_path):
    path = fits_base(tmp_path / "a.fits", EPOCH=np.float64(2016.0))
    assert type(provenn.catalogs.Files.at(path).table_metadata["EPOCH"]) is float
