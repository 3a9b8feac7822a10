"""Large MOCs in an archive: kept as files by their digest, found again, moved, checked, and never lost."""

import gzip
import json
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import astropy.units as u
import numpy as np
import pytest
from astropy.coordinates import angular_separation

import provenn
from provenn.data.garbage_collection import collect_garbage
from provenn.errors import CriterionError, FileError, FilesMissingError
from provenn.sky import box, cone, moc
from provenn.sky.moc_library import LIBRARY, parse_digest
from tests.archive.samples import write_parquet
from tests.sky.forgetting import forget_mocs
from tests.sky.large_mocs import bright_star_mask, survey_rectangle
from tests.spark.conftest import engine

__all__ = ["engine"]

RANDOM = np.random.default_rng(13)
COLUMNS = {
    "hip": list(range(500)),
    "ra": RANDOM.uniform(0, 360, 500).tolist(),
    "dec": RANDOM.uniform(-3, 3, 500).tolist(),
}


@pytest.fixture
def sky(archive, tmp_path) -> provenn.Catalog:
    file = write_parquet(tmp_path / "sky.parquet", COLUMNS, has_statistics=False)  # regions alone decide
    return archive.ingest("sky", file, key="hip", population="star")


@pytest.fixture
def survey(sky) -> provenn.Catalog:
    return sky.select(moc(survey_rectangle(11)), name="survey")


@pytest.fixture(autouse=True)
def _nothing_in_memory():
    """What one test keeps in memory does not serve another one."""
    LIBRARY._places.clear()
    yield
    forget_mocs()


def digest(catalog) -> str:
    return catalog.definition.selection.criterion.split("moc:")[1][:64]


def file_of(archive, catalog):
    return Path(archive.context.workshop.folder.location, "mocs", f"{digest(catalog)}.txt")


def test_a_criterion_names_a_large_moc_by_digest_and_the_store_has_its_cells(archive, survey):
    region = moc(survey_rectangle(11))
    assert parse_digest(region.text) == digest(survey)
    assert len(survey.definition.text) < 200
    assert file_of(archive, survey).read_text() == region.cells_text


@pytest.mark.usefixtures("archive")
def test_the_same_moc_however_it_is_given_is_one_catalog(sky, survey, tmp_path):
    region = moc(survey_rectangle(11))
    survey_rectangle(11).save(tmp_path / "a.fits", format="fits")
    assert sky.select(moc(tmp_path / "a.fits")) == survey
    assert sky.select(f"in_moc(ra, dec, '{region.text}')") == survey
    assert sky.select(f"in_moc(ra, dec, '{region.cells_text}')") == survey


@pytest.mark.usefixtures("survey")
def test_large_mocs_are_related_to_regions_and_to_each_other(archive, sky):
    sky.select(box(6, 214, -0.9, 0.9), name="inner")
    sky.select(box(4, 216, -2, 2), name="outer")
    sky.select(cone(30, 40, 5), name="far")
    sky.select(moc(survey_rectangle(12)), name="finer")
    sky.select(moc(bright_star_mask()), name="mask")
    forget_mocs()
    assert archive.relate("inner", "survey").summary == "subset"
    assert archive.relate("survey", "outer").summary == "subset"
    assert archive.relate("survey", "far").summary == "disjoint"
    assert archive.relate("finer", "survey").summary == "subset"
    assert archive.relate("finer", "outer").summary == "subset"
    clean = archive["survey"].exclude("mask", name="clean")
    assert archive.relate(clean, "mask").summary == "disjoint"


def test_another_process_finds_the_cells_in_the_store(survey, tmp_path):
    forget_mocs()
    with provenn.open(tmp_path / "survey") as again:
        again["sky"].select(f"in_moc(ra, dec, 'moc:{digest(survey)}') AND dec > 0", name="north")
        assert again.relate("north", "survey").summary == "subset"


def test_the_moc_of_a_derived_attribute_and_of_a_calculator_is_kept(archive, sky):
    text = f"in_moc(ra, dec, '{moc(survey_rectangle(11)).text}')"
    derived = sky.derive(covered=text)
    assert archive.check().problems == ()
    assert file_of_text(archive, str(derived.definition.parameters()))
    other = f"in_moc(ra, dec, '{moc(survey_rectangle(12)).text}')"
    archive.calculator("covered", sql={"covered": other})
    assert file_of_text(archive, other)


def file_of_text(archive, text) -> bool:
    named = text.split("moc:")[1][:64]
    return any(entry.name == f"{named}.txt" for entry in archive.context.workshop.folder.entries("mocs"))


def test_an_unknown_digest_is_refused(sky):
    with pytest.raises(CriterionError, match="no open archive holds"):
        sky.select(f"in_moc(ra, dec, 'moc:{'0' * 64}')")
    with pytest.raises(CriterionError, match="takes the cells as quoted text"):
        sky.select("in_moc(ra, dec, 'moc:../../x')")


def test_a_portable_file_brings_large_mocs_along(archive, survey, tmp_path):
    assert archive.export_definitions(tmp_path / "all.provenn")["moc"] == 1
    forget_mocs()
    LIBRARY.remove_place(archive.context.workshop.folder.location)
    with provenn.open(tmp_path / "other", who="bob") as other:
        came = other.import_definitions(tmp_path / "all.provenn")
        assert (came.new["moc"], came.there["moc"]) == (1, 0)
        assert other["survey"] == survey
        assert other.check(deep=True).problems == ()
        other["sky"].select(cone(30, 0.1, 0.5), name="field")
        assert other.relate("field", "survey").summary == "subset"
        assert other.import_definitions(tmp_path / "all.provenn").there["moc"] == 1


def test_a_portable_file_without_large_mocs_is_as_it_was(archive, sky, tmp_path):
    sky.select(cone(1, 2, 3), name="field")
    assert "moc" not in archive.export_definitions(tmp_path / "all.provenn")
    with provenn.open(tmp_path / "other") as other:
        assert "moc" not in other.import_definitions(tmp_path / "all.provenn").new


@pytest.mark.usefixtures("survey")
def test_an_export_leaves_out_mocs_that_it_does_not_name(archive, sky, tmp_path):
    assert "moc" not in archive.export_definitions(tmp_path / "one.provenn", [sky])


def test_what_another_person_may_not_see_is_not_exported(archive, survey, tmp_path):
    archive.name(survey, "survey", visibility="private")
    with provenn.open(tmp_path / "survey", who="eve", confined=True) as hers:
        assert "moc" not in hers.export_definitions(tmp_path / "hers.provenn")


@pytest.mark.usefixtures("survey")
def test_a_backup_has_large_mocs_with_or_without_data(archive, tmp_path):
    for data in (True, False):
        archive.backup(tmp_path / f"copy {data}", data=data)
        forget_mocs()
        LIBRARY.remove_place(archive.context.workshop.folder.location)
        with provenn.open(tmp_path / f"copy {data}") as copy:
            assert copy.check(deep=True).problems == ()
            copy["sky"].select(box(4, 216, -2, 2), name="outer")
            assert copy.relate("survey", "outer").summary == "subset"


@pytest.mark.usefixtures("survey", "tmp_path")
def test_garbage_is_what_no_definition_names(archive):
    Path(archive.context.workshop.folder.location, "mocs", f"{'a' * 64}.txt").write_text("3/1")
    database, folder = archive.context.database, archive.context.workshop.folder
    found = collect_garbage(database, folder, age=timedelta(0))
    assert found.deleted == (f"mocs/{'a' * 64}.txt",)
    assert not collect_garbage(database, folder, age=timedelta(0)).deleted
    assert archive.check().problems == ()


@pytest.mark.parametrize("content", [None, "3/1"])
def test_check_tells_when_a_file_is_gone_or_changed_and_selecting_again_mends_it(archive, sky, survey, content):
    path = file_of(archive, survey)
    path.unlink()
    if content is not None:
        path.write_text(content)
    forget_mocs()
    (problem,) = archive.check().problems
    assert digest(survey) in problem.where
    assert problem.state == "damage"
    sky.select("dec > 0", name="north")
    assert archive.relate("survey", "north").summary == "unknown", "nothing is claimed of cells that nobody knows"
    with pytest.raises(FilesMissingError):
        archive.export_definitions(path.with_suffix(".provenn"))
    assert sky.select(moc(survey_rectangle(11))) == survey
    assert archive.check().problems == ()


@pytest.mark.usefixtures("survey")
def test_cells_that_do_not_have_their_digest_are_not_imported(archive, tmp_path):
    archive.export_definitions(tmp_path / "all.provenn")
    lines = gzip.decompress((tmp_path / "all.provenn").read_bytes()).splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"cells":"', b'"cells":"1/1 ')
    lines[-1] = json.dumps({"digest": sha256(b"".join(lines[:-1])).hexdigest()}).encode() + b"\n"
    (tmp_path / "bad.provenn").write_bytes(gzip.compress(b"".join(lines)))
    with provenn.open(tmp_path / "other") as other, pytest.raises(FileError, match="digest does not match its cells"):
        other.import_definitions(tmp_path / "bad.provenn")


@pytest.mark.usefixtures("survey")
def test_an_import_whose_definitions_name_a_missing_moc_is_refused(archive, tmp_path):
    """As in a file from which somebody took the line of the MOC."""
    archive.export_definitions(tmp_path / "all.provenn")
    lines = gzip.decompress((tmp_path / "all.provenn").read_bytes()).splitlines(keepends=True)
    del lines[1]
    lines[0] = lines[0].replace(b'"moc":1', b'"moc":0')
    lines[-1] = json.dumps({"digest": sha256(b"".join(lines[:-1])).hexdigest()}).encode() + b"\n"
    (tmp_path / "bad.provenn").write_bytes(gzip.compress(b"".join(lines)))
    forget_mocs()
    LIBRARY.remove_place(archive.context.workshop.folder.location)
    with provenn.open(tmp_path / "other") as other, pytest.raises(FileError, match="no open archive holds the MOC"):
        other.import_definitions(tmp_path / "bad.provenn")
    with provenn.open(tmp_path / "other") as other:
        assert not list(other)


@pytest.fixture
def working(engine, tmp_path):
    with provenn.open(tmp_path / "computing", spark=engine.session.sparkContext.master, who="ada") as archive:
        archive.ingest("sky", write_parquet(tmp_path / "sky.parquet", COLUMNS), key="hip", population="star")
        yield archive


def find_near(ra: float, dec: float, radius: float) -> np.ndarray:
    """Tell which sources are within a distance of a position, as astropy finds it; all in degrees."""
    away = angular_separation(*np.radians([COLUMNS["ra"], COLUMNS["dec"]]), *np.radians([ra, dec]))
    return np.degrees(away) <= radius


def test_sources_in_and_outside_a_large_moc_are_those_that_mocpy_finds(working):
    inside = survey_rectangle(11).contains_lonlat(COLUMNS["ra"] * u.deg, COLUMNS["dec"] * u.deg)
    survey = working["sky"].select(moc(survey_rectangle(11)), name="survey")
    forget_mocs()
    assert sorted(survey.to_pandas()["hip"]) == np.flatnonzero(inside).tolist()
    assert sorted(working["sky"].exclude(survey).to_pandas()["hip"]) == np.flatnonzero(~inside).tolist()


@pytest.mark.campaign
def test_sources_in_one_large_moc_and_outside_another_are_those_that_mocpy_finds(working):
    """What Spark finds in either is tested in `tests/spark`."""
    inside = survey_rectangle(11).contains_lonlat(COLUMNS["ra"] * u.deg, COLUMNS["dec"] * u.deg)
    survey = working["sky"].select(moc(survey_rectangle(11)), name="survey")
    clean = survey.exclude(working["sky"].select(moc(bright_star_mask())))
    masked = bright_star_mask().contains_lonlat(COLUMNS["ra"] * u.deg, COLUMNS["dec"] * u.deg)
    assert sorted(clean.to_pandas()["hip"]) == np.flatnonzero(inside & ~masked).tolist()


CENTRES = np.random.default_rng(3).uniform([0, -3], [360, 3], (60, 2))
CONES = " OR ".join(f"in_cone(ra, dec, {ra}, {dec}, 2)" for ra, dec in CENTRES)


def test_sources_outside_many_cones_are_those_that_astropy_finds(working):
    inside = np.any([find_near(ra, dec, 2) for ra, dec in CENTRES], axis=0)
    rest = working["sky"].exclude(working["sky"].select(CONES, name="fields"))
    assert sorted(rest.to_pandas()["hip"]) == np.flatnonzero(~inside).tolist()


@pytest.mark.campaign
def test_sources_in_many_cones_and_elsewhere_are_those_that_astropy_finds(working):
    """What Spark finds in many cones is tested in `tests/spark`."""
    inside = np.any([find_near(ra, dec, 2) for ra, dec in CENTRES], axis=0)
    assert sorted(working["sky"].select(CONES).to_pandas()["hip"]) == np.flatnonzero(inside).tolist()
    some = working["sky"].select("ra < 90 OR in_cone(ra, dec, 100, 0, 2) OR " + CONES).select("dec > 0")
    ra, dec = np.array(COLUMNS["ra"]), np.array(COLUMNS["dec"])
    expected = (inside | find_near(100, 0, 2) | (ra < 90)) & (dec > 0)
    assert sorted(some.to_pandas()["hip"]) == np.flatnonzero(expected).tolist()
