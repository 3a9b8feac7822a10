"""`provenn fragments` and `provenn gc`: what is stored, and getting space back. Nothing is computed."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from provenn.archive import open_archive
from provenn.cli.sizes import read_size
from provenn.data import fragments
from provenn.data.parquet_contents import read_parquet_contents
from provenn.files.data_folder import DataFolder


@pytest.fixture
def stored(survey):
    """Two fragments of bright, stored by hand; the first took longer to compute."""
    folder = DataFolder.of(survey.folder / "store")
    with open_archive(survey.folder, who="Ada") as archive:
        bright = archive["bright"].definition
        for name, seconds in (("one", 60.0), ("two", 1.0)):
            path = Path(folder.at("fragments", name))
            path.mkdir(parents=True)
            pq.write_table(pa.table({"hip": [1, 2], name: [1.5, 2.5]}), path / "part.parquet")
            found = read_parquet_contents(folder, f"fragments/{name}", 1)
            with archive.context.database.writing() as writing:
                columns = [(bright.schema["hip"].identity, "hip"), (name, name)]
                place = {"location": f"fragments/{name}", "rows": found.rows, "files": found.files}
                fragments.register(writing, bright, columns, seconds=seconds, **place)
    return survey


def test_nothing_is_stored_at_first(survey):
    assert survey("fragments").startswith("no fragments\n")
    assert survey.json("fragments") == []
    assert survey("gc") == "freed 0 B; fragments have 0 B\n"


def test_fragments_are_listed_by_the_catalog_that_they_were_stored_for(stored):
    first, one, two = stored("fragments").splitlines()
    assert " ".join(first.split()) == "fragment sources of attributes rows size since by used"
    assert one.split()[:5] == ["#1", "bright", "hip,", "one", "2"]
    assert two.split()[:5] == ["#2", "bright", "hip,", "two", "2"]
    told = stored.json("fragments bright")
    assert [(one["number"], one["name"], one["attributes"], one["rows"]) for one in told] == [
        (1, "bright", ["hip", "one"], 2),
        (2, "bright", ["hip", "two"], 2),
    ]
    assert told[0]["stored_by"] == "Ada"
    assert told[0]["unusable"] is None
    assert stored("fragments stars").startswith("no fragments\n")


def test_a_limit_drops_the_least_useful_and_the_list_says_why(stored):
    size = stored.json("fragments")[0]["size"]
    told = stored(f"gc --limit {size + 10} --dry-run")
    assert "would delete fragments/two" in told
    assert len(stored.json("fragments")) == 2
    told = stored.json(f"gc --limit '{size + 10}B'")
    assert [one["number"] for one in told["dropped"]] == [2]
    assert (told["deleted"], told["kept"], told["dry_run"]) == (["fragments/two"], size, False)
    assert [one["number"] for one in stored.json("fragments")] == [1]
    assert f"least useful beyond the limit of {size + 10:,} bytes" in stored("fragments --all")
    gone = stored.json("fragments --all")[1]
    assert None not in (gone["dropped_at"], gone["removed_at"])
    assert not (stored.folder / "store" / "fragments" / "two").exists()


def test_leftovers_are_deleted_when_they_are_old(stored):
    leftover = stored.folder / "store" / "_temporary" / "left"
    leftover.mkdir(parents=True)
    assert "deleted" not in stored("gc")
    then = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    os.utime(leftover, (then, then))
    assert stored("gc").startswith("deleted _temporary/left\nfreed ")
    assert not leftover.exists()


@pytest.mark.parametrize("text", ["", "GB", "-1", "1 GBB", "1e9", "1ib", "ten"])
def test_a_size_that_is_none_is_refused(text):
    with pytest.raises(typer.BadParameter, match="10GB"):
        read_size(text)
