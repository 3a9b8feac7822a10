"""What is proved about pairs holds for matches on Spark, at the very separations of the pairs."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from tests.spark.conftest import engine

__all__ = ["engine"]

pytestmark = pytest.mark.usefixtures("engine")


def write_sources(path: Path, random: np.random.Generator, rows: int) -> Path:
    """Sources in a few crowded fields: across RA 0, at a pole, and elsewhere."""
    fields = np.array([(0.0, 3.0), (123.0, 89.99999), (210.0, -30.0)])[random.integers(3, size=rows)]
    dec = np.minimum(fields[:, 1] + random.uniform(-1, 1, rows) / 3600, 90)
    ra = (fields[:, 0] + random.uniform(-1, 1, rows) / 3600 / np.cos(np.radians(fields[:, 1]))) % 360
    ra[0] = math.nan
    table = {"id": range(rows), "ra": ra, "dec": dec, "mag": random.integers(15, 25, rows).astype(float)}
    parquet.write_table(pa.table(table), path)
    return path


def read_keys(catalog: provenn.Catalog) -> set[tuple[int, int]]:
    rows = catalog.to_pandas()
    return set(zip(rows["id"].tolist(), rows["id_2"].tolist(), strict=True))


@pytest.fixture
def sides(archive: provenn.Archive, tmp_path: Path) -> tuple[provenn.Catalog, provenn.Catalog]:
    random = np.random.default_rng(5)
    stars, galaxies = (
        archive.ingest(name, write_sources(tmp_path / f"{name}.parquet", random, 40), key="id", population=name)
        for name in ("star", "galaxy")
    )
    return stars, galaxies


@pytest.mark.parametrize("limit", [0, pytest.param(9, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("matches", ["all", "best"])
def test_a_selection_by_separation_is_a_match_of_that_radius(archive, sides, matches, limit):
    """At the separation of a pair, and just below it or, which shows no more, just above it."""
    stars, galaxies = sides
    pairs = stars.crossmatch(galaxies, 2, matches=matches)
    separations = sorted(pairs.to_pandas()["separation"])
    assert len(separations) > 10
    middle = separations[len(separations) // 2]
    for radius in (middle, math.nextafter(middle, limit)):
        selected = pairs.select(f"separation <= {radius!r}D")
        narrow = stars.crossmatch(galaxies, radius, matches=matches)
        assert archive.relate(selected, narrow).summary == "equal"
        assert read_keys(selected) == read_keys(narrow)


def test_a_selection_of_a_side_is_the_match_of_the_selected_catalog(archive, sides):
    stars, galaxies = sides
    every, best = (stars.crossmatch(galaxies, 1, matches=matches) for matches in ("all", "best"))
    bright, faint = stars.select("mag < 20"), galaxies.select("mag >= 20")
    alike = [
        (every.select("mag < 20"), bright.crossmatch(galaxies, 1, matches="all")),
        (every.select("mag_2 >= 20"), stars.crossmatch(faint, 1, matches="all")),
        (best.select("mag < 20"), bright.crossmatch(galaxies, 1)),
    ]
    for one, other in alike:
        assert archive.relate(one, other).summary == "equal"
        assert read_keys(one) == read_keys(other) != set()
    unlike = best.select("mag_2 >= 20"), stars.crossmatch(faint, 1)
    assert archive.relate(*unlike).summary == "subset"
    assert read_keys(unlike[0]) < read_keys(unlike[1])


def test_the_proof_is_in_words(archive, sides):
    stars, galaxies = sides
    wide, narrow = (stars.crossmatch(galaxies, radius, matches="all") for radius in (2, 1))
    reasons = str(archive.relate(wide.select("separation <= 1", name="close"), narrow))
    assert "within 1 arcsec" in reasons
    assert "left in star" in reasons
