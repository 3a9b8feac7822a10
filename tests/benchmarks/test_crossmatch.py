"""The benchmark of cross-matches: the ways find the same number of pairs."""

import shutil
from pathlib import Path

import pytest

from benchmarks import crossmatch
from tests.spark.conftest import engine

__all__ = ["engine"]


@pytest.mark.skipif(shutil.which("stilts") is None, reason="STILTS is not installed")
def test_all_ways_find_the_same_pairs(engine, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(crossmatch, "WARM", 0)
    crossmatch.write_skies(tmp_path, 3000, 500)
    took, pairs = crossmatch.measure(tmp_path, 5.0, 1, engine.session)
    assert all(clock > 0 for clock, _ in took.values())
    assert len(took) == 5
    assert 800 < pairs <= 900
