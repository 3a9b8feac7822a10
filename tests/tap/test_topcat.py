"""TOPCAT itself lists the tables of the service in its TAP window, and runs a query there."""

from pathlib import Path

import pytest

import provenn
from provenn.web.serving import ServerLimits
from tests.tap.conftest import fill_archive
from tests.tap.topcat_window import PICTURE, show_window
from tests.waiting import LIMIT
from tests.web.running import running

_LARGEST = 300_000


@pytest.mark.campaign
def test_topcat_shows_the_tables_and_loads_an_answer(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)
    picture = tmp_path / "topcat.png"
    with provenn.open(tmp_path / "survey", progress=False, notify=False) as archive:
        fill_archive(archive)
        with running(archive, limits=ServerLimits(seconds=LIMIT)) as address:
            lines = show_window(f"{address}tap", picture)
    assert {"table: catalogs", "table: stars", 'table: "bright stars"', "table: TAP_SCHEMA.columns"} <= set(lines)
    assert lines[-1] == "rows: 22"
    assert 0 < picture.stat().st_size < _LARGEST


def test_the_picture_in_the_docs_is_small():
    assert 0 < PICTURE.stat().st_size < _LARGEST
