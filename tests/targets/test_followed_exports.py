"""Followed exports: written anew when their catalog changed, by those who may, and never over files of others."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from sqlalchemy import update

import provenn
from provenn.archive import export_refreshing
from provenn.data import followed_exports
from provenn.database.tables import exports
from provenn.errors import CatalogNameError, CorruptArchiveError, NotYoursError, StoreError
from tests.targets.test_grown_archives import Survey


@pytest.fixture
def survey(engine, tmp_path) -> Iterator[Survey]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as archive:
        survey = Survey(archive, tmp_path)
        survey.write(0)
        survey.ingest()
        yield survey


def told(survey: Survey, *names: str, **options: object) -> list[str]:
    """What a refresh says of exports, with their last names alone."""
    entries = survey.archive.refresh(*names, **options)
    exported = [entry for entry in entries if isinstance(entry, export_refreshing.RefreshedExport)]
    return [str(entry).replace(entry.path, Path(entry.path).name) for entry in exported]


def read(path: Path) -> dict[int, float]:
    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    return dict(zip(table["id"].to_pylist(), table["z"].to_pylist(), strict=True))


def test_followed_files_are_brought_up_to_date_for_the_price_of_the_difference(survey, tmp_path):
    archive = survey.archive
    archive["stars"].derive(survey.calculator(), name="fits")
    archive["fits"].write(tmp_path / "out.parquet", follow=True)
    archive.target("fits", ["z"], where="x < 0.5").write(tmp_path / "low.csv", follow=True)
    archive["fits"].write(tmp_path / "once.parquet")
    assert survey.calls() == 20
    assert told(survey) == ["low.csv: unchanged", "out.parquet: unchanged"]
    survey.write(1)
    assert told(survey, plan=True) == [
        "low.csv: to be written anew: fits changes",
        "out.parquet: to be written anew: fits changes",
    ]
    assert len(read(tmp_path / "out.parquet")) == 20
    assert told(survey, "stars") == ["low.csv: written anew, 10 rows", "out.parquet: written anew, 40 rows"]
    assert survey.calls() == 20
    assert read(tmp_path / "out.parquet") == survey.scratch()
    assert read(tmp_path / "low.csv") == {key: z for key, z in survey.scratch().items() if z < 1}
    assert len(read(tmp_path / "once.parquet")) == 20
    assert [export.rows for export in archive.exports()] == [10, 40]
    archive.redefine("fits", archive["fits"].select("x < 1"))
    assert told(survey) == ["low.csv: written anew, 10 rows", "out.parquet: written anew, 20 rows"]
    assert survey.calls() == 0
    archive.stop_following(tmp_path / "out.parquet")
    assert [Path(export.path).name for export in archive.exports()] == ["low.csv"]
    with pytest.raises(StoreError, match="no followed export"):
        archive.stop_following(tmp_path / "out.parquet")


def test_files_of_others_are_left_alone(survey, tmp_path, monkeypatch):
    archive, out = survey.archive, tmp_path / "out.parquet"
    archive["stars"].write(out, follow=True)
    mine = out.read_bytes()
    out.write_bytes(b"precious")
    survey.write(1)
    assert told(survey) == [
        "out.parquet: left alone: it was changed since it was exported; export it again to replace it"
    ]
    assert out.read_bytes() == b"precious"
    out.unlink()
    out.symlink_to(tmp_path / "elsewhere.parquet")
    assert told(survey) == ["out.parquet: left alone: it is a link now"]
    out.unlink()
    monkeypatch.setattr(followed_exports, "stamp_files", lambda _: "")
    out.write_bytes(mine)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another account"))
    (line,) = told(survey)
    assert line.startswith("out.parquet: left alone: ")


def test_an_archive_writes_nothing_that_its_user_has_not_allowed(survey, tmp_path, monkeypatch):
    """The rows of a foreign archive may name any file and any person."""
    archive, out = survey.archive, tmp_path / "out.parquet"
    archive["stars"].write(out, follow=True)
    survey.write(1)
    with archive.context.database.writing() as writing:
        writing.connection.execute(update(exports).values(path=str(tmp_path / "victim.parquet"), stamp=""))
    (line,) = told(survey)
    assert line.startswith(
        "victim.parquet: left alone: you have not allowed this archive to write it: provenn allow exp"
    )
    assert not (tmp_path / "victim.parquet").exists()
    monkeypatch.setenv("PROVENN_ALLOW", line.split()[-1])
    assert told(survey) == ["victim.parquet: written anew, 40 rows"]
    for request in ("{", "[1, 2]", '[[1], null, "error"]'):
        with archive.context.database.writing() as writing:
            writing.connection.execute(update(exports).values(request=request))
        with pytest.raises(CorruptArchiveError, match=r"victim\.parquet"):
            archive.exports()


def test_an_interrupted_refresh_is_continued(survey, tmp_path, monkeypatch):
    archive, out = survey.archive, tmp_path / "out.parquet"
    archive["stars"].write(out, follow=True)
    survey.write(1)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(export_refreshing, "record_written", die)
        with pytest.raises(KeyboardInterrupt):
            archive.refresh()
    assert parquet.read_table(out).num_rows == 40, "the files came, and the record did not"
    assert told(survey) == ["out.parquet: written anew, 40 rows"]
    assert told(survey) == ["out.parquet: unchanged"]


def test_an_export_follows_a_name_on_this_machine(survey, tmp_path):
    archive, out = survey.archive, tmp_path / "out.parquet"
    stars = archive["stars"]
    for path in ("s3://bucket/out.parquet", f"file://{out}"):
        with pytest.raises(StoreError, match="only files on this machine"):
            stars.write(path, follow=True)
    with pytest.raises(CatalogNameError, match="only an export of a named catalog"):
        stars.select("x < 1").write(out, follow=True)
    for name in ("stars@1", "other", stars.digest):
        with pytest.raises(CatalogNameError, match="is not a name of this catalog"):
            stars.write(out, follow=name)
    archive.name(stars, "suns")
    with pytest.raises(CatalogNameError, match="several names: stars, suns"):
        stars.write(out, follow=True)
    with pytest.raises(StoreError, match="no folder that may be used"):
        archive.as_seen_by("ada", roots=[str(tmp_path / "data")])["stars"].write(out, follow="suns")
    assert not out.exists()
    stars.write(out, follow="suns")
    assert archive.exports()[0].request.name == "suns"


def test_people_follow_their_own_exports_of_what_they_see(survey, tmp_path):
    archive, out = survey.archive, tmp_path / "out.parquet"
    archive["stars"].write(out, follow=True)
    bob = archive.as_seen_by("bob")
    assert bob.exports() == []
    with pytest.raises(StoreError, match="no followed export"):
        bob.stop_following(out)
    with pytest.raises(NotYoursError, match="ada exports to"):
        bob["stars"].write(out, overwrite=True, follow=True)
    bob["stars"].write(tmp_path / "his.parquet", follow=True)
    assert len(archive.exports()) == 2
    survey.write(1)
    assert told(survey) == ["out.parquet: written anew, 40 rows"]
    archive.name("stars", "stars", visibility="private")
    (left,) = export_refreshing.refresh_exports(bob)
    assert left.state == "left alone"
    assert parquet.read_table(tmp_path / "his.parquet").num_rows == 20


def test_values_that_come_from_elsewhere_count_as_well(survey, tmp_path):
    archive = survey.archive
    folder = tmp_path / "other"
    folder.mkdir()
    parquet.write_table(pa.table({"id": [0, 1], "z": [1.0, 2.0]}), folder / "0.parquet")
    archive.ingest("other", folder, key="id", population="star")
    archive.target("stars", ["other.z"], missing="null").write(tmp_path / "out.parquet", follow=True)
    assert told(survey) == ["out.parquet: unchanged"]
    parquet.write_table(pa.table({"id": [2], "z": [3.0]}), folder / "1.parquet")
    assert told(survey) == ["out.parquet: written anew, 20 rows"]
    values = read(tmp_path / "out.parquet")
    assert {key: z for key, z in values.items() if z is not None} == {0: 1.0, 1: 2.0, 2: 3.0}
