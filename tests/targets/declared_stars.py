"""A hundred stars and their distances, in an archive of each test's own, on the Spark of all tests."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import provenn

__all__ = ["NEAR", "VERY_NEAR", "N", "stars_archive"]

N, NEAR, VERY_NEAR = 100, 60, 20


@pytest.fixture
def stars_archive(engine, tmp_path) -> Iterator[provenn.Archive]:
    """Stars of which 60 are near, and 20 of these very near; 50 of them are in another table, too."""
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as archive:
        stars = archive.ingest(
            "stars", pa.table({"id": range(N), "plx": [float(N - n) for n in range(N)]}), key="id", population="star"
        )
        stars.select(f"plx > {N - NEAR}", name="near")
        stars.select(f"plx > {N - VERY_NEAR}", name="very_near")
        others = {"id": [*range(50), 1000], "bt": [n / 10 for n in range(51)]}
        archive.ingest("tycho", pa.table(others), key="id", population="star")
        yield archive
