"""What was seen in data before is told under the same rule as data: while the base files are what they were."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import provenn
from provenn.errors import FilesChangedError, FilesMissingError, ProvennError
from tests.archive.corrections import rewrite_in_place
from tests.archive.samples import write_parquet
from tests.spark.conftest import engine

__all__ = ["engine"]


@pytest.fixture
def survey(engine, tmp_path) -> Iterator[provenn.Archive]:
    """An archive with a base catalog on a folder, two from it, and their counts; one of them is empty."""
    master = engine.session.sparkContext.master
    (tmp_path / "stars").mkdir()
    write_parquet(tmp_path / "stars" / "a.parquet")
    with provenn.open(tmp_path / "survey", spark=master, progress=False) as archive:
        stars = archive.ingest("stars", tmp_path / "stars", key="hip", population="star")
        assert stars.count() == 6
        assert stars.select("vmag < 6", name="bright").count() == 2
        assert stars.select("hip % 7 = 0", name="none").count() == 0
        yield archive


def correct(folder: Path) -> None:
    other = write_parquet(folder / "_other.parquet", {"hip": [1]})
    rewrite_in_place(folder / "a.parquet", other.read_bytes())


CHANGES = {
    "a file less": (lambda folder: (folder / "a.parquet").unlink(), FilesMissingError),
    "a correction in place": (correct, FilesChangedError),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_remembered_count_raises_as_reading_does(survey, tmp_path, change):
    action, error = CHANGES[change]
    action(tmp_path / "stars")
    for name in ("stars", "bright", "none"):
        catalog = survey[name]
        target = survey.target(name, ["vmag"])
        for use in (catalog.count, catalog.to_arrow, catalog.head, target.count, target.to_arrow):
            with pytest.raises(error):
                use()
        with pytest.raises(error):
            catalog.write(tmp_path / "out.parquet")


def test_a_file_that_came_later_changes_nothing_of_a_version(survey, tmp_path):
    write_parquet(tmp_path / "stars" / "b.parquet")
    for name, rows in (("stars", 6), ("bright", 2), ("none", 0)):
        assert survey[name].count() == survey[name].to_arrow().num_rows == rows
        assert survey.target(name, ["vmag"]).to_arrow().num_rows == rows


def test_a_proof_from_definitions_alone_does_not_depend_on_files(survey, tmp_path):
    (tmp_path / "stars" / "a.parquet").unlink()
    nothing = survey["stars"].select("vmag < 1 AND vmag > 2")
    assert nothing.count() == 0
    assert nothing.to_arrow().num_rows == 0


def outcome(use) -> object:
    try:
        return use()
    except ProvennError as error:
        return type(error)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.sampled_from(["count", "store", "read", "change", "restore"]),
        min_size=1,
        max_size=6,
    )
)
def test_count_and_rows_agree_or_raise_the_same_whatever_happened_before(engine, tmp_path_factory, events):
    """The oracle is the table that was ingested, and whether its file is there."""
    folder = tmp_path_factory.mktemp("events")
    path = folder / "stars.parquet"
    parquet.write_table(pa.table({"hip": [1, 2, 3], "vmag": [1.0, 5.0, 9.0]}), path)
    whole = path.read_bytes()
    master = engine.session.sparkContext.master
    with provenn.open(folder / "survey", spark=master, progress=False) as archive:
        stars = archive.ingest("stars", path, key="hip", population="star")
        bright = stars.select("vmag < 6").derive(twice="2 * vmag")
        for event in events:
            match event:
                case "count":
                    outcome(bright.count)
                case "store":
                    outcome(bright.store)
                case "read":
                    outcome(bright.to_arrow)
                case "change":
                    path.write_bytes(whole[:-20] + b"x" + whole[-19:])
                case _:
                    path.write_bytes(whole)
            counted, read = outcome(bright.count), outcome(lambda: bright.to_arrow().num_rows)
            assert counted == read
            if path.read_bytes() == whole:
                assert counted == 2
