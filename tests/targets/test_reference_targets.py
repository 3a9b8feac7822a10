"""Targets through references: what partners and groups give, how often calculators are called, and after growth."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.errors import AmbiguousAttributeError, CriterionError, MissingPartnerError, NotCoveredError, TargetError
from tests.targets.test_stored_once import Fitted

STARS, DETECTIONS = 100, 2_000
REFERRED = 90
"""The stars beyond have no detection."""


def write_detections(file: Path, first: int, stars: list[int], count: int) -> None:
    """Write detections of some stars, one after the other, with keys from `first` on."""
    ids = range(first, first + count)
    columns = {
        "id": list(ids),
        "star": [stars[n % len(stars)] for n in ids],
        "mag": [float(n * 7 % 13) for n in ids],
        "mjd": [float(n) for n in ids],
    }
    parquet.write_table(pa.table(columns), file)


@pytest.fixture
def archive(engine, tmp_path) -> Iterator[provenn.Archive]:
    """An archive of stars, and of detections that refer to them."""
    ids = range(STARS)
    stars = {"hip": list(ids), "vmag": [n / 10 for n in ids], "plx": [float(n) for n in ids]}
    parquet.write_table(pa.table(stars), tmp_path / "stars.parquet")
    (tmp_path / "nights").mkdir()
    write_detections(tmp_path / "nights" / "1.parquet", 0, list(range(REFERRED)), DETECTIONS)
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as opened:
        opened.ingest("stars", tmp_path / "stars.parquet", key="hip", population="star")
        opened.ingest("detections", tmp_path / "nights", key="id", population="detection")
        yield opened


@pytest.fixture
def log(tmp_path) -> Path:
    """The folder that calculators write to."""
    folder = tmp_path / "log"
    folder.mkdir()
    return folder


def test_a_calculator_of_partners_is_called_once_for_each(archive, log):
    """Narrower, the same, wider: only for partners that it was never called for."""
    archive["detections"].lookup("stars", on="star", attributes=["vmag"], name="located")
    fitted = Fitted(archive, log, inputs=("hip", "plx"))
    few = archive.target(sources="detections", attributes=["mag", fitted.value], where="star.vmag < 0.5")
    rows = few.to_pandas()
    assert sorted(set(rows["id"] % REFERRED)) == [0, 1, 2, 3, 4]
    assert (rows[fitted.value] == rows["id"] % REFERRED * 2.0).all()
    assert fitted.calls() == 5
    assert len(few.to_pandas()) == len(rows)
    assert fitted.calls() == 0
    wider = archive.target(sources="detections", attributes=[f"star.{fitted.value} AS z"], where="star.vmag < 1")
    assert (wider.to_pandas()["z"] >= 0).all()
    assert fitted.calls() == 5
    everything = archive.target(sources="detections", attributes=[fitted.value])
    assert len(everything.to_pandas()) == DETECTIONS
    assert fitted.calls() == REFERRED - 10
    assert len(everything.to_pandas()) == DETECTIONS
    assert fitted.calls() == 0


def test_paths_in_criteria_select_what_lookups_select(archive):
    detections = archive["detections"]
    located = detections.lookup("stars", on="star", attributes=["vmag"], missing="drop")
    by_path = detections.select("star.vmag < 2 AND mag < 3")
    by_lookup = located.select("vmag < 2 AND mag < 3")
    assert archive.relate(by_path, by_lookup).summary == "equal"
    assert by_path.attributes == detections.attributes
    bright = archive["stars"].select("vmag < 3")
    assert archive.relate(by_path, detections.lookup(bright, on="star", missing="drop")).summary == "subset"
    frame = detections.to_pandas()
    expected = frame[(frame["star"] / 10 < 2) & (frame["mag"] < 3)]["id"]
    assert sorted(by_path.to_pandas()["id"]) == sorted(expected)


def test_bad_paths_are_refused(archive):
    detections = archive["detections"]
    with pytest.raises(TargetError, match=r"star\.vmag"):
        detections.select("star.vmag < 2")  # nobody said where star leads
    detections.lookup("stars", on="star", attributes=["vmag"])
    with pytest.raises(TargetError, match="nothing"):
        detections.select("star.nothing < 2")
    with pytest.raises(CriterionError, match="without a partner"):
        detections.select("star.vmag < 2 OR mag < 1")
    with pytest.raises(TargetError, match=r"mag\.vmag"):
        detections.select("mag.vmag < 2")


def test_groups_give_attributes_of_what_they_refer_to(archive):
    archive["detections"].group("star", population="star", n_det="count(*)", name="counted")
    with pytest.raises(NotCoveredError, match="n_det"):
        archive.target(sources="stars", attributes=["n_det"]).to_pandas()
    rows = archive.target(sources="stars", attributes=["n_det"], where="vmag > 8.85", missing="null").to_pandas()
    counts = dict(zip(rows["hip"], rows["n_det"].fillna(-1), strict=True))
    assert counts == {89: 22, **dict.fromkeys(range(90, 100), -1)}
    archive["detections"].select("mag < 3").group("star", population="star", n_det="count(*)", name="counted_bright")
    with pytest.raises(AmbiguousAttributeError, match="n_det"):
        archive.target(sources="stars", attributes=["n_det"], missing="null").plan()


def test_a_reference_that_must_lead_somewhere_is_verified_once(archive, tmp_path):
    detections = archive["detections"]
    located = detections.lookup("stars", on="star", attributes=["vmag"], name="located")
    assert archive.relate(located, detections).summary == "subset"
    assert located.count() == DETECTIONS
    relation = archive.relate(located, detections)
    assert relation.summary == "equal"
    assert "observed" in "".join(str(reason) for reason in archive.prove("located == detections").reasons)
    write_detections(tmp_path / "lost.parquet", 10_000, [3, 4711], 10)
    lost = archive.ingest("lost", tmp_path / "lost.parquet", key="id", population="detection")
    with pytest.raises(MissingPartnerError, match="4711"):
        lost.lookup("stars", on="star").to_pandas()
    assert lost.lookup("stars", on="star", missing="drop").count() == 5
    assert lost.lookup("stars", on="star", missing="null").to_pandas()["vmag"].isna().sum() == 5


def test_only_groups_with_new_members_are_computed_after_a_night(archive, log, tmp_path):
    """Aggregates, selections by them and calculators on them: the same as from scratch, called for five stars."""
    fitted = Fitted(archive, log, inputs=("star", "s"))
    grouped = archive["detections"].group("star", population="star", n="count(*)", s="stddev(mag)", name="grouped")
    variable = grouped.select("s > 3.7", name="variable")
    variable.derive(fitted.calculator, name="fitted")
    before = archive["fitted"].to_pandas()
    assert fitted.calls() == len(before) > 50
    write_detections(tmp_path / "nights" / "2.parquet", DETECTIONS, [1, 2, 3, 4, 5], 20)
    archive.refresh()
    after = archive["fitted"].to_pandas().sort_values("star", ignore_index=True)
    assert fitted.calls() == 5
    frames = [pd.read_parquet(tmp_path / "nights" / f"{night}.parquet") for night in (1, 2)]
    scratch = pd.concat(frames).groupby("star").agg(n=("id", "count"), s=("mag", "std")).reset_index()
    scratch = scratch[scratch["s"] > 3.7].reset_index(drop=True)
    assert list(after["star"]) == list(scratch["star"])
    assert list(after["n"]) == list(scratch["n"])
    assert after["s"].tolist() == pytest.approx(scratch["s"].tolist())
    assert after[fitted.value].tolist() == pytest.approx((scratch["s"] * 2).tolist())


def test_references_in_a_circle_end(archive, tmp_path):
    """Stars name their brightest detection, which names its star: an unknown name is an error, a known one is found."""
    ids = range(STARS)
    table = {"hip": list(ids), "brightest": [n % REFERRED for n in ids], "colour": [n / 7 for n in ids]}
    parquet.write_table(pa.table(table), tmp_path / "choices.parquet")
    choices = archive.ingest("choices", tmp_path / "choices.parquet", key="hip", population="star")
    choices.lookup("detections", on="brightest", attributes=["mag"])
    archive["detections"].lookup("choices", on="star", attributes=["colour"])
    with pytest.raises(TargetError, match="nothing_at_all"):
        archive.target(sources="choices", attributes=["nothing_at_all"]).plan()
    attributes = ["brightest.mag AS m", "brightest.star.colour AS c"]
    rows = archive.target(sources="choices", attributes=attributes).to_pandas()
    assert rows["m"].tolist() == [float(n % REFERRED * 7 % 13) for n in rows["hip"]]
    assert rows["c"].tolist() == pytest.approx([n % REFERRED / 7 for n in rows["hip"]])
