"""The identity of files is their content: a correction is another catalog, however small and well hidden."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import provenn
from provenn.errors import FilesChangedError, KeyValuesError
from tests.archive.corrections import bright, corrected, first_release, footer, rewrite_in_place, write
from tests.repetitions import repeat_a_few
from tests.spark.conftest import engine

__all__ = ["engine"]


@pytest.fixture
def survey(engine, tmp_path: Path) -> Iterator[provenn.Archive]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as opened:
        yield opened


@pytest.fixture
def releases(tmp_path: Path) -> tuple[Path, Path]:
    """Two releases, of which the second corrects the first, with the same sizes and footers."""
    first = first_release()
    dr1, dr2 = write(tmp_path / "dr1.parquet", first), write(tmp_path / "dr2.parquet", corrected(first))
    assert dr1.stat().st_size == dr2.stat().st_size
    assert footer(dr1) == footer(dr2)
    assert dr1.read_bytes() != dr2.read_bytes()
    return dr1, dr2


@pytest.mark.parametrize("seed", repeat_a_few(range(25), 5))
def test_every_correction_is_another_catalog_though_size_and_footer_are_the_same(archive, tmp_path, seed):
    first = first_release(seed)
    dr1 = archive.ingest("dr1", write(tmp_path / "dr1.parquet", first), key="hip", population="star")
    dr2 = archive.ingest("dr2", write(tmp_path / "dr2.parquet", corrected(first, seed)), key="hip", population="star")
    assert dr1.digest != dr2.digest
    assert archive.relate(dr1, dr2).summary == "unknown"


def test_each_release_has_its_own_rows_and_counts(survey, releases):
    first = first_release()
    for name, path, stars in (("dr1", releases[0], first), ("dr2", releases[1], corrected(first))):
        survey.ingest(name, path, key="hip", population="star")
        found = survey[name].select("vmag < 3", name=f"bright_{name}")
        assert found.count() == bright(stars)
        assert set(survey[name].to_pandas()["hip"]) == set(stars["hip"])


def test_a_file_that_was_corrected_in_place_is_noticed_before_its_data_are_used(survey, releases):
    dr1, dr2 = releases
    stars = survey.ingest("stars", dr1, key="hip", population="star")
    assert stars.count() == len(first_release()["hip"])
    rewrite_in_place(dr1, dr2.read_bytes())
    for use in (stars.to_pandas, stars.store, stars.select("vmag < 3").count, stars.count):
        with pytest.raises(FilesChangedError, match=r"dr1\.parquet"):
            use()
    assert survey.fragments() == []


def test_a_file_that_is_corrected_during_a_run_spoils_what_was_computed(survey, releases, monkeypatch):
    from provenn.spark import fragment_files  # noqa: PLC0415 - with the engine

    dr1, dr2 = releases
    stars = survey.ingest("stars", dr1, key="hip", population="star")
    stars.count()
    plainly = fragment_files._write

    def correct_and_write(*arguments: object) -> None:
        plainly(*arguments)
        rewrite_in_place(dr1, dr2.read_bytes())

    monkeypatch.setattr(fragment_files, "_write", correct_and_write)
    with pytest.raises(FilesChangedError, match=r"dr1\.parquet"):
        stars.store()
    assert survey.fragments() == []


def test_a_duplicate_cannot_slip_in_behind_a_verified_key(survey, releases):
    stars, doubled = write(releases[0], first_release(), use_dictionary=False), first_release()
    doubled["hip"][17] = doubled["hip"][18]
    survey.ingest("stars", stars, key="hip", population="star", verify=True)
    other = write(stars.with_name("doubled.parquet"), doubled, use_dictionary=False)
    assert footer(stars) == footer(other)
    rewrite_in_place(stars, other.read_bytes())
    with pytest.raises(FilesChangedError):
        survey["stars"].to_pandas()
    with pytest.raises(KeyValuesError):
        survey.ingest("stars", stars, key="hip", population="star", rebuild=True, verify=True)


def test_a_check_of_every_byte_names_the_catalog_and_the_file_that_changed(archive, releases):
    dr1, dr2 = releases
    archive.ingest("stars", dr1, key="hip", population="star")
    assert archive.check(deep=True).sound
    rewrite_in_place(dr1, dr2.read_bytes())
    found = archive.check(deep=True)
    assert not found.sound
    (problem,) = found.problems
    assert problem.what == f"stars: {dr1} changed since it was ingested"


@pytest.mark.parametrize("by", ["rsync", "copy", "in place", "moved over"])
def test_a_csv_file_edited_in_its_middle_with_its_time_kept_is_noticed(archive, tmp_path, by):
    path, other = tmp_path / "stars.csv", tmp_path / "other.csv"
    lines = [f"{number},{number % 15}.5" for number in range(50_000)]
    path.write_text("\n".join(["hip,vmag", *lines]))
    stars = archive.ingest("stars", path, key="hip", population="star")
    lines[25_000] = "25000,19.9"
    other.write_text("\n".join(["hip,vmag", *lines]))
    times = path.stat()
    assert other.stat().st_size == times.st_size
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    match by:
        case "rsync" | "moved over":
            other.replace(path)
        case "copy":
            shutil.copy2(other, path)
        case _:
            rewrite_in_place(path, other.read_bytes())
    assert path.stat().st_mtime_ns == times.st_mtime_ns
    with pytest.raises(FilesChangedError, match=r"stars\.csv"):
        stars.definition.files.check()
    assert archive.ingest("again", path, key="hip", population="star").digest != stars.digest
