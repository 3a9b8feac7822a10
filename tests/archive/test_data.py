"""The data of catalogs: every way to have them, where they are kept, and what is too much for one process."""

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from pyarrow import parquet

import provenn
from provenn.errors import (
    ArchiveError,
    AttributeNotFoundError,
    EngineError,
    FilesChangedError,
    StoreError,
    TargetError,
    TooLargeError,
)
from provenn.spark.progress import Progress
from tests.archive.samples import STARS, write_parquet
from tests.postgres import new_schema
from tests.spark.conftest import engine

__all__ = ["engine"]


@pytest.fixture(scope="module")
def spark(engine) -> str:
    """The Spark of all tests, as an archive is told of it."""
    return engine.session.sparkContext.master


@pytest.fixture(scope="module")
def survey(spark, tmp_path_factory) -> Iterator[provenn.Archive]:
    folder = tmp_path_factory.mktemp("data")
    with provenn.open(folder / "survey", spark=spark, progress=False) as opened:
        opened.ingest("stars", write_parquet(folder / "stars.parquet"), key="hip", population="star")
        opened["stars"].select("vmag < 6", name="bright")
        opened["stars"].derive(dist_pc="1000 / plx", name="near")
        yield opened


def rows(table: pa.Table) -> list[dict]:
    return sorted(table.to_pylist(), key=lambda row: row["hip"])


# --- the verbs ---


def test_all_ways_to_have_a_base_agree_with_its_file(survey, tmp_path):
    stars = survey["stars"]
    expected = repr(pa.table(STARS).to_pylist())  # NaN is not equal to itself
    assert repr(rows(stars.to_arrow())) == expected
    assert stars.to_arrow().column_names == list(STARS)
    assert repr(rows(pa.Table.from_batches(stars.to_spark().toArrow().to_batches()))) == expected
    assert stars.count() == 6
    frame = stars.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert sorted(frame["hip"]) == STARS["hip"]
    assert len(stars.head(2)) == 2
    assert len(stars.head()) == 6
    assert stars.head(0).columns.tolist() == list(STARS)
    assert len(stars.head(10**12)) == 6
    for number in (-1, 1.5, "all"):
        with pytest.raises(TargetError, match="expected a number of sources"):
            stars.head(number)
    assert stars.write(tmp_path / "stars.parquet").rows == 6
    assert repr(rows(parquet.read_table(tmp_path / "stars.parquet"))) == expected


def test_whole_numbers_that_no_double_holds_come_through_beside_null(survey, tmp_path):
    large = 2**62 + 1
    content = {"hip": [1, 2], "gaia": pa.array([large, None], pa.int64()), "near": pa.array([7, None], pa.int64())}
    ids = survey.ingest("ids", write_parquet(tmp_path / "ids.parquet", content), key="hip", population="star")
    for frame in (ids.to_pandas(), ids.head()):
        found = frame.sort_values("hip")
        assert (found["gaia"].tolist()[0], found["gaia"].isna().tolist()) == (large, [False, True])
        assert str(found["near"].dtype) == "float64"


def test_a_selection_and_a_derivation_are_computed(survey):
    assert [row["hip"] for row in rows(survey["bright"].to_arrow())] == [1, 2], "NaN is not below 6, and NULL neither"
    assert survey["bright"].count() == 2
    near = {row["hip"]: row["dist_pc"] for row in rows(survey["near"].to_arrow())}
    assert near == {1: 10.0, 2: 50.0, 3: 200.0, 4: None, 5: 1000.0, 6: None}, "1000 / 0 is NULL"
    both = survey["bright"].combine("near")
    assert [row["dist_pc"] for row in rows(both.to_arrow())] == [10.0, 50.0]


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".fits", ".vot"])
def test_files_of_every_format_are_written(survey, tmp_path, suffix):
    path = tmp_path / f"bright{suffix}"
    assert survey["bright"].keep("hip", "vmag").write(path).rows == 2
    assert path.is_file()
    assert list(tmp_path.iterdir()) == [path], "and nothing else"
    if suffix == ".csv":
        assert sorted(pyarrow.csv.read_csv(path).column("hip").to_pylist()) == [1, 2]


def test_a_file_that_is_there_is_only_replaced_if_that_is_meant(survey, tmp_path):
    path = tmp_path / "out.parquet"
    path.write_text("precious")
    with pytest.raises(StoreError, match=r"out\.parquet"):
        survey["bright"].write(path)
    assert path.read_text() == "precious"
    assert survey["bright"].write(path, overwrite=True).rows == 2
    assert parquet.read_table(path).num_rows == 2


def test_neither_the_archive_nor_what_is_read_is_ever_replaced(spark, tmp_path):
    (tmp_path / "base").mkdir()
    file = write_parquet(tmp_path / "base" / "stars.parquet")
    with provenn.open(tmp_path / "survey", spark=spark, progress=False) as archive:
        bright = archive.ingest("stars", file, key="hip", population="star").select("vmag < 6")
        for place in ("survey", "survey/provenn.sqlite", "survey/store", "survey/store/bright", "."):
            with pytest.raises(StoreError, match="the archive itself"):
                bright.write(tmp_path / place, format="parquet", overwrite=True)
        for place in ("base", "base/stars.parquet"):
            with pytest.raises(StoreError, match="which this would replace"):
                bright.write(tmp_path / place, format="parquet", overwrite=True)
        several = archive.ingest("several", file.parent, key="hip", population="star")
        with pytest.raises(StoreError, match="which this would replace"):
            several.write(file, overwrite=True)
        assert bright.write(tmp_path / "base" / "bright.parquet").rows == 2
        (tmp_path / "base" / "bright.parquet").unlink()  # it belongs to several
        assert archive["stars"].count() == 6


def test_what_is_stored_is_listed_and_used(survey):
    near = survey["near"]
    stored = near.store(attributes=["dist_pc"])
    assert stored.attributes == ("hip", "dist_pc")
    assert stored.fragment.rows == 6
    assert near.store(attributes=["dist_pc"]).fragment.id == stored.fragment.id, "it is kept once"
    assert stored.fragment.id in [stored_part.fragment.id for stored_part in survey.fragments("near")]
    plan = near.keep("dist_pc").plan()
    assert [fragment.id for fragment in plan.fragments] == [stored.fragment.id]
    with pytest.raises(AttributeNotFoundError, match="did you mean dist_pc"):
        near.store(attributes=["dist_pcc"])


def test_a_count_that_is_known_is_not_counted_again(survey, monkeypatch):
    bright = survey["stars"].select("vmag < 5.95")
    assert bright.count() == 2
    monkeypatch.setattr("provenn.spark.pipeline.Pipeline.count", None)
    assert bright.count() == 2
    assert bright.keep("vmag").count() == 2, "these are the same sources"
    assert survey.target(bright, ["plx"]).count() == 2


def test_what_does_not_fit_is_not_brought_here(survey):
    stars = survey["stars"]
    with pytest.raises(TooLargeError, match="stars has 6 sources, about") as caught:
        stars.to_arrow(limit=100)
    assert "limit=None" in caught.value.hint
    with pytest.raises(TooLargeError):
        stars.to_pandas(limit=0)
    assert stars.to_arrow(limit=None).num_rows == 6
    assert stars.to_arrow(limit=1000).num_rows == 6
    assert survey["bright"].keep().to_arrow(limit=16).num_rows == 2, "what counts is the result"
    assert survey.target("stars", ["vmag"], where="vmag < 6").to_arrow(limit=32).num_rows == 2
    with pytest.raises(TooLargeError):
        survey.target("stars", ["vmag"], where="vmag < 6").to_arrow(limit=31)


def test_files_that_changed_are_noticed(spark, tmp_path):
    path = write_parquet(tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", spark=spark, progress=False) as archive:
        stars = archive.ingest("stars", path, key="hip", population="star")
        assert stars.count() == 6
        write_parquet(path, extra=[1] * 6)
        with pytest.raises(FilesChangedError):
            stars.to_arrow()
        assert archive.fragments() == []


# --- where data are kept ---


def test_data_are_kept_in_the_folder_of_the_archive(spark, tmp_path):
    path = write_parquet(tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", spark=spark, progress=False) as archive:
        archive.ingest("stars", path, key="hip", population="star").select("vmag < 6", name="bright").store()
    assert list((tmp_path / "survey" / "store").rglob("*.parquet"))
    (tmp_path / "survey").rename(tmp_path / "moved")
    with provenn.open(tmp_path / "moved", spark=spark, progress=False) as archive:
        assert len(archive.fragments()) == 1
        assert archive["bright"].plan().after.word == "reuse"
        assert archive["bright"].to_arrow().num_rows == 2, "it moves with the archive"
        assert not archive.fragments(dropped=True)[0].unusable


def test_a_store_elsewhere_is_remembered_and_another_one_refused(spark, tmp_path):
    path = write_parquet(tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", store=tmp_path / "disk", spark=spark, progress=False) as archive:
        archive.ingest("stars", path, key="hip", population="star").store()
    assert list((tmp_path / "disk").rglob("*.parquet"))
    assert not (tmp_path / "survey" / "store").exists()
    with pytest.raises(ArchiveError, match=r"are at .*disk, not at .*other"):
        provenn.open(tmp_path / "survey", store=tmp_path / "other")
    assert not (tmp_path / "other").exists()
    for store in (None, tmp_path / "disk", str(tmp_path / "disk")):
        with provenn.open(tmp_path / "survey", store=store, spark=spark, progress=False) as archive:
            assert archive["stars"].to_arrow().num_rows == 6
            assert len(archive.fragments()) == 1


def test_another_store_is_refused_when_data_lie_in_the_usual_one(spark, tmp_path):
    """Nobody has named it, but there they are; elsewhere all of them would be missing."""
    path = write_parquet(tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", spark=spark, progress=False) as archive:
        archive.ingest("stars", path, key="hip", population="star").store()
    with pytest.raises(ArchiveError, match=r"are at store, not at .*other"):
        provenn.open(tmp_path / "survey", store=tmp_path / "other")
    with provenn.open(tmp_path / "survey", store=tmp_path / "survey" / "store") as archive:
        assert len(archive.fragments()) == 1


def test_a_store_that_is_told_by_a_relative_path_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    provenn.open("survey", store="disk").close()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with provenn.open(tmp_path / "survey") as archive:
        assert archive.context.workshop.folder.location == str(tmp_path / "disk")


def test_a_database_on_a_server_must_be_told_where_data_are_kept(spark, postgres, tmp_path):
    path = write_parquet(tmp_path / "stars.parquet")
    address = new_schema(postgres)
    with provenn.open(database=address, spark=spark, progress=False) as archive:
        stars = archive.ingest("stars", path, key="hip", population="star")
        assert archive.relate(stars, stars.select("vmag < 6")).summary == "superset", "no data are needed for it"
        with pytest.raises(ArchiveError, match="has no place for data") as caught:
            stars.to_arrow()
        assert "store=" in caught.value.hint
    with provenn.open(database=address, store=tmp_path / "disk", spark=spark, progress=False) as archive:
        assert archive["stars"].select("vmag < 6", name="bright").store().fragment.rows == 2
    with provenn.open(database=address, spark=spark, progress=False) as archive:
        assert archive["bright"].count() == 2
        assert archive["bright"].plan().after.word == "reuse"
        assert archive["bright"].to_arrow().num_rows == 2


# --- where data are computed, and who watches ---


def test_opening_an_archive_starts_nothing(tmp_path):
    with provenn.open(tmp_path / "survey", spark="spark://nowhere.invalid:7077") as archive:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        assert stars.select("vmag < 6").plan() is not None
        assert archive.context.workshop._pipeline is None
        with pytest.raises(EngineError, match=r"no Spark answers at spark://nowhere\.invalid:7077"):
            stars.to_arrow()


def test_a_session_of_ones_own_is_used_and_left_as_it_is(engine, tmp_path):
    session = engine.session.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    with provenn.open(tmp_path / "survey", spark=session, progress=False) as archive:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        assert stars.to_arrow().num_rows == 6
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert session.range(3).count() == 3


def test_what_is_not_spark_is_refused(tmp_path):
    with provenn.open(tmp_path / "survey", spark=42) as archive:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        with pytest.raises(EngineError, match="spark=42 is neither"):
            stars.to_arrow()


def test_progress_is_told_to_whoever_asks(spark, tmp_path):
    seen: list[Progress] = []
    with provenn.open(tmp_path / "survey", spark=spark, progress=seen.append) as archive:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        stars.select("vmag < 6", name="bright").to_arrow()
    assert any("verifying the key hip" in one.what for one in seen)
    assert seen[-1].what == "computing bright"
    assert seen[-1].remaining == 0


def test_progress_is_told_to_nobody_by_default_where_there_is_no_terminal(spark, tmp_path, capfd):
    with provenn.open(tmp_path / "survey", spark=spark) as archive:
        stars = archive.ingest("stars", write_parquet(tmp_path / "s.parquet"), key="hip", population="star")
        assert stars.to_arrow().num_rows == 6
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")
