"""Frames and epochs that files state are those of a cross-match, unless the user gives others; astropy is the judge."""

import numpy as np
import pyarrow as pa
import pytest
from astropy import units
from astropy.coordinates import FK5, ICRS, SkyCoord
from astropy.table import Table
from astropy.time import Time
from pyarrow import parquet

import provenn
from provenn.errors import DefinitionError, ProvennWarning
from provenn.files.stated_frames import read_stated_frame

VOTABLE = """<?xml version="1.0"?>
<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE>{systems}
<TABLE><FIELD name="id" datatype="long"/><FIELD name="ra" datatype="double" unit="deg" ref="s"/>
<FIELD name="dec" datatype="double" unit="deg" ref="s"/><FIELD name="pmra" datatype="double" unit="mas/yr"/>
<FIELD name="pmdec" datatype="double" unit="mas/yr"/><DATA><TABLEDATA>{rows}</TABLEDATA></DATA></TABLE>
</RESOURCE></VOTABLE>"""
RANDOM = np.random.default_rng(4)
ROWS = 40
RA, DEC = RANDOM.uniform(0, 360, ROWS), RANDOM.uniform(-80, 80, ROWS)
PMRA, PMDEC = RANDOM.normal(0, 500, ROWS), RANDOM.normal(0, 500, ROWS)


def make_columns(ra=RA, dec=DEC) -> dict[str, np.ndarray]:
    return {"id": np.arange(ROWS), "ra": ra, "dec": dec, "pmra": PMRA, "pmdec": PMDEC}


def write_votable(path, systems: str) -> None:
    rows = "".join(
        "<TR>" + "".join(f"<TD>{value!r}</TD>" for value in map(float, row[1:])).join([f"<TD>{row[0]}</TD>", "</TR>"])
        for row in zip(*make_columns().values(), strict=True)
    )
    path.write_text(VOTABLE.format(systems=systems, rows=rows))


def write_fits(path, **keywords) -> None:
    table = Table(make_columns())
    for name, unit in (("ra", "deg"), ("dec", "deg"), ("pmra", "mas/yr"), ("pmdec", "mas/yr")):
        table[name].unit = unit
    table.meta.update(keywords)
    table.write(path, overwrite=True)


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey") as opened:
        parquet.write_table(pa.table(make_columns()), tmp_path / "plain.parquet")
        opened.ingest("plain", tmp_path / "plain.parquet", key="id", population="plain")
        yield opened


def ingest(archive, path, name="stated"):
    return archive.ingest(name, path, key="id", population=f"source of {name}")


def measure_pairs(pairs) -> np.ndarray:
    """Return the separations of the pairs of the same number."""
    rows = pairs.to_pandas()
    return rows[rows["id"] == rows["id_2"]].sort_values("id")["separation"].to_numpy()


def describe(pairs) -> str:
    """Return how positions are placed, as plans say it."""
    return "; ".join(pairs.definition.describe_placements())


# -- frames ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fits", "votable", "voparquet"])
def test_a_stated_frame_is_used_and_the_plan_says_why(archive, tmp_path, kind):
    if kind == "votable":
        write_votable(tmp_path / "a.vot", '<COOSYS ID="s" system="eq_FK5" equinox="J2000"/>')
        stated = ingest(archive, tmp_path / "a.vot")
    else:
        write_fits(tmp_path / "a.fits", RADESYS="FK5", EQUINOX=2000.0)
        stated = ingest(archive, tmp_path / "a.fits")
    if kind == "voparquet":
        stated.write(tmp_path / "a.parquet")
        table = parquet.read_table(tmp_path / "a.parquet")
        kept = {key: text for key, text in table.schema.metadata.items() if key.startswith(b"IVOA")}
        parquet.write_table(table.replace_schema_metadata(kept), tmp_path / "other.parquet")
        stated = ingest(archive, tmp_path / "other.parquet", "other")
    pairs = stated.crossmatch("plain", "1 arcsec", matches="all")
    assert "left positions turn from fk5 to icrs (their files state FK5, equinox 2000)" in describe(pairs)
    fk5, icrs = SkyCoord(RA, DEC, unit="deg", frame=FK5()), SkyCoord(RA, DEC, unit="deg", frame=ICRS())
    assert measure_pairs(pairs) == pytest.approx(fk5.icrs.separation(icrs).arcsec, abs=1e-7)
    assert archive.relate(pairs, stated.crossmatch("plain", 1, matches="all", frame=("fk5", None))).summary == "equal"


@pytest.mark.parametrize(
    ("metadata", "frame", "words", "epoch"),
    [
        ({}, "", "", None),
        ({"RADESYS": "ICRS", "EQUINOX": 2000.0}, "icrs", "ICRS", None),
        ({"RADESYS": "FK5"}, "fk5", "FK5", None),
        ({"RADECSYS": "FK5", "EPOCH": 2015.5}, "fk5", "FK5", 2015.5),
        ({"EQUINOX": 2000}, "fk5", "FK5, equinox 2000", None),
        ({"equinox": 1950.0}, "", "FK4, equinox 1950", None),
        ({"RADESYS": "FK5", "EQUINOX": 1975.0}, "", "FK5, equinox 1975", None),
        ({"RADESYS": "GAPPT"}, "", "GAPPT", None),
        ({"EPOCH": 2000.0}, "", "", None),
        ({"RADESYS": "ICRS", "EPOCH": "J2016.0"}, "icrs", "ICRS", 2016.0),
        ({"RADESYS": "ICRS", "EPOCH": "B1950"}, "icrs", "ICRS", None),
        ({"RADESYS": "ICRS", "EPOCH": True}, "icrs", "ICRS", None),
        ({"COOSYS": [{"system": "galactic"}, {"system": "ICRS", "epoch": "J2015.5"}]}, "icrs", "ICRS", 2015.5),
        ({"COOSYS": [{"system": "eq_FK5"}, {"system": "ICRS"}]}, "", "", None),
        ({"COOSYS": "nonsense"}, "", "", None),
    ],
)
def test_keywords_mean_what_the_standards_say(metadata, frame, words, epoch):
    stated = read_stated_frame(metadata)
    assert (stated.frame, stated.words, stated.epoch) == (frame, words, epoch)


def test_frames_of_astropy_headers_are_the_same():
    """Without RADESYS, astropy infers the frame from the equinox as the FITS standard says."""
    from astropy.wcs import WCS  # noqa: PLC0415 - it takes a while to import
    from astropy.wcs.utils import wcs_to_celestial_frame  # noqa: PLC0415

    for keywords in ({}, {"EQUINOX": 2000.0}, {"EQUINOX": 1950.0}, {"RADESYS": "FK5"}, {"RADESYS": "ICRS"}):
        wcs = WCS({"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN", **keywords})
        expected = wcs_to_celestial_frame(wcs).name
        stated = read_stated_frame(keywords)
        assert (stated.words.partition(",")[0].lower() or "icrs") == expected


def test_a_frame_that_is_not_converted_is_an_error_until_one_is_given(archive, tmp_path):
    write_fits(tmp_path / "a.fits", RADESYS="FK4", EQUINOX=1950.0)
    stated = ingest(archive, tmp_path / "a.fits")
    with pytest.raises(DefinitionError, match="left side state the frame FK4, equinox 1950"):
        stated.crossmatch("plain", 1)
    with pytest.raises(DefinitionError, match="right side state the frame FK4"):
        archive["plain"].crossmatch(stated, 1)
    with pytest.warns(ProvennWarning, match="left positions are taken as icrs, but their files state FK4"):
        assert stated.crossmatch("plain", 1, frame=("icrs", None)).count() == ROWS


def test_a_given_frame_wins_with_a_notice(archive, tmp_path):
    write_fits(tmp_path / "a.fits", RADESYS="FK5")
    stated = ingest(archive, tmp_path / "a.fits")
    with pytest.warns(ProvennWarning, match="left positions are taken as icrs, but their files state FK5"):
        pairs = stated.crossmatch("plain", 1, frame="icrs")
    assert np.all(measure_pairs(pairs) < 1e-9)


def test_selections_and_renamed_positions_keep_the_stated_frame_and_computed_ones_do_not(archive, tmp_path):
    write_fits(tmp_path / "a.fits", RADESYS="FK5")
    stated = ingest(archive, tmp_path / "a.fits")
    renamed = stated.select("id < 20").rename(ra="alpha", dec="delta")
    assert "turn from fk5" in describe(renamed.crossmatch("plain", 1))
    computed = stated.derive(lon=("ra + 0", "deg"), lat=("dec + 0", "deg"))
    assert "turn from" not in describe(computed.crossmatch("plain", 1, on=(("lon", "lat"), None)))


def test_a_match_with_a_stated_frame_survives_redefinition_and_exchange(archive, tmp_path):
    write_fits(tmp_path / "a.fits", RADESYS="FK5")
    pairs = ingest(archive, tmp_path / "a.fits").crossmatch("plain", 1)
    definition = pairs.definition
    assert definition.on(definition.dependencies).digest == definition.digest
    definition.check_consistency()


# -- epochs ------------------------------------------------------------------------------------------------------------


def test_a_stated_epoch_is_where_sources_start(archive, tmp_path):
    write_votable(tmp_path / "a.vot", '<COOSYS ID="s" system="ICRS" epoch="J2000.0"/>')
    stated = ingest(archive, tmp_path / "a.vot")
    start = SkyCoord(RA, DEC, unit="deg", pm_ra_cosdec=PMRA * units.mas / units.yr, pm_dec=PMDEC * units.mas / units.yr)
    start = SkyCoord(start, obstime=Time(2000.0, format="jyear"), distance=10 * units.pc)
    moved = start.apply_space_motion(Time(2016.0, format="jyear"))
    later = pa.table({"id": np.arange(ROWS), "ra": moved.ra.deg, "dec": moved.dec.deg})
    parquet.write_table(later, tmp_path / "later.parquet")
    found = archive.ingest("later", tmp_path / "later.parquet", key="id", population="later")
    pairs = stated.crossmatch(found, "0.5 arcsec", epoch=2016.0)
    assert "move by pmra, pmdec from 2000, the epoch that their files state, to 2016" in describe(pairs)
    assert len(measure_pairs(pairs)) == ROWS
    assert np.all(measure_pairs(pairs) < 1e-3)


def test_a_given_epoch_wins_with_a_notice_and_an_attribute_without(archive, tmp_path):
    write_fits(tmp_path / "a.fits", RADESYS="ICRS", EPOCH=1991.25)
    stated = ingest(archive, tmp_path / "a.fits")
    with pytest.warns(ProvennWarning, match=r"taken as of the epoch 2000, but their files state 1991\.25"):
        pairs = stated.crossmatch("plain", 1, epoch=2016.0, epochs=(2000.0, 2000.0))
    assert "from 2000 to 2016" in describe(pairs)
    own = stated.derive(ref_epoch="2010.5")
    pairs = own.crossmatch("plain", 1, epoch=2016.0, epochs=(None, 2000.0))
    assert "from ref_epoch to 2016" in describe(pairs)


def test_different_epochs_that_are_not_used_are_told(archive, tmp_path):
    for name, epoch in (("old", 1991.25), ("new", 2016.0)):
        write_fits(tmp_path / f"{name}.fits", RADESYS="ICRS", EPOCH=epoch)
        ingest(archive, tmp_path / f"{name}.fits", name)
    with pytest.warns(ProvennWarning, match=r"left side state the epoch 1991\.25, those of the right side 2016"):
        archive["old"].crossmatch("new", 1)
    assert "from 1991.25, the epoch" in describe(archive["old"].crossmatch("new", 1, epoch=2016))
