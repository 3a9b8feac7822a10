"""Stamps of locations: equal exactly as long as no file came, went, or was written."""

import os

import pytest

from provenn.files import location_stamps
from provenn.files.location_stamps import stamp_location


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "new").write_text(""),
        lambda folder: (folder / "below" / "two").unlink(),
        lambda folder: (folder / "one").write_text("other"),
        lambda folder: os.utime(folder / "one"),
        lambda folder: (folder / "one").rename(folder / "three"),
        lambda folder: (folder / "_delta_log").mkdir() or (folder / "_delta_log" / "1.json").write_text(""),
    ],
)
def test_every_change_shows(tmp_path, change):
    """The stamp of a folder changes, and stays the same otherwise."""
    (tmp_path / "below").mkdir()
    for name in ("one", "below/two"):
        (tmp_path / name).write_text(name)
    before = stamp_location(str(tmp_path))
    assert before is not None
    assert stamp_location(str(tmp_path)) == before
    change(tmp_path)
    assert stamp_location(str(tmp_path)) != before


def test_what_cannot_be_told_cheaply_has_no_stamp(tmp_path, monkeypatch):
    """Patterns, object stores, links to folders and very many files; what is missing is told."""
    assert stamp_location("s3://bucket/survey") is None
    assert stamp_location(f"{tmp_path}/*.parquet") is None
    assert stamp_location(f"{tmp_path}/nothing") == "missing"
    (tmp_path / "one").write_text("one")
    assert stamp_location(f"{tmp_path}/one") != stamp_location(f"{tmp_path}/nothing")
    monkeypatch.setattr(location_stamps, "_MOST_FILES", 0)
    assert stamp_location(str(tmp_path)) is None
    monkeypatch.undo()
    (tmp_path / "link").symlink_to(tmp_path.parent, target_is_directory=True)
    assert stamp_location(str(tmp_path)) is None
