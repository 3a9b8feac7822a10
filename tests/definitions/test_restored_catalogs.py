"""The memory of restored catalogs: the same objects again, a bounded number of them, and few large ones."""

import pytest

import provenn
from provenn.definitions import restored_catalogs
from provenn.definitions.catalog_store import get_catalog


@pytest.fixture
def memory(monkeypatch):
    """The memory of the process, empty."""
    fresh = restored_catalogs._Memory()
    monkeypatch.setattr(restored_catalogs, "_MEMORY", fresh)
    monkeypatch.setattr(restored_catalogs, "_LEAST_CATALOGS", 3)
    monkeypatch.setattr(restored_catalogs, "_MOST_CATALOGS", 6)
    return fresh


def test_catalogs_are_restored_once_and_forgotten_in_order(tmp_path, memory, monkeypatch):
    (tmp_path / "stars.csv").write_text("hip,vmag\n1,1.0\n")
    with provenn.open(tmp_path / "survey", progress=False) as archive:
        stars = archive.ingest("stars", tmp_path / "stars.csv", key="hip", population="star")
        bright = [stars.select(f"vmag < {number}").digest for number in range(8)]
        first, again = (archive.context.read(get_catalog, bright[0]) for _ in range(2))
        assert first is again
        for digest in bright:
            archive.context.read(get_catalog, digest)
        assert list(memory.catalogs) == [*bright[2:7], stars.digest, bright[7]][-6:]
        assert memory.parts == sum(remembered.parts for remembered in memory.catalogs.values()) > 0
        monkeypatch.setattr(restored_catalogs, "_MOST_PARTS", 1)
        archive.context.read(get_catalog, bright[0])
        assert len(memory.catalogs) == 3, "catalogs of many parts count for more"
        assert archive.context.read(get_catalog, bright[0]) is archive.context.read(get_catalog, bright[0])
