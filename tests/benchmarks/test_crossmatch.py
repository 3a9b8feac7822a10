"""The benchmark of cross-matches: the ways find the same number of pairs."""

from pathlib import Path

from benchmarks import crossmatch
from tests.programs import program
from tests.spark.conftest import engine

__all__ = ["engine"]


def test_all_ways_find_the_same_pairs(engine, tmp_path: Path, monkeypatch):
    program("stilts")
    monkeypatch.setattr(crossmatch, "WARM", 0)
    crossmatch.write_skies(tmp_path, 3000, 500)
    took, pairs = crossmatch.measure(tmp_path, 5.0, 1, engine.session)
    assert all(clock > 0 for clock, _ in took.values())
    assert len(took) == 5
    assert 800 < pairs <= 900
