"""Real stars in an archive, and STILTS beside it."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from pyarrow import parquet

import provenn
from provenn.spark.engine import Engine
from tests.programs import program
from tests.real_stars import real_stars
from tests.spark.conftest import engine
from tests.waiting import LIMIT

__all__ = ["engine"]

TEXTS = dict.fromkeys(("name", "bayer", "flamsteed", "constellation"), "object")
"""Columns of text, whatever they look like in a CSV file."""


@pytest.fixture(scope="module")
def sky(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[provenn.Archive]:
    """Hipparcos, BigSky, names; and of BigSky the first entry of each Hipparcos number, which is a key then."""
    program("stilts")
    stars = real_stars()
    folder = tmp_path_factory.mktemp("sky")
    entries = parquet.read_table(stars.bigsky, columns=["hip", "star", "vmag", "constellation"]).to_pandas()
    first = entries.dropna(subset=["hip"]).drop_duplicates("hip").astype({"hip": "int64"})
    first.rename(columns={"vmag": "bigsky_vmag"}).to_parquet(folder / "first.parquet", index=False)
    with provenn.open(folder / "archive", spark=engine.session, progress=False) as archive:
        for name, file, key, population in (
            ("hipparcos", stars.hipparcos, "hip", "star"),
            ("names", stars.names, "hip", "star"),
            ("first", folder / "first.parquet", "hip", "star"),
            ("bigsky", stars.bigsky, "star", "entry"),
        ):
            archive.ingest(name, file, key=key, population=population)
        yield archive


@pytest.fixture(scope="module")
def exported(sky: provenn.Archive, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What STILTS reads: written by provenn, as FITS or, where there is Greek, as VOTable."""
    folder = tmp_path_factory.mktemp("exported")
    files = {
        "hipparcos": folder / "hipparcos.fits",
        "names": folder / "names.vot",
        "first": folder / "first.fits",
        "bigsky": folder / "bigsky.fits",
    }
    for name, file in files.items():
        catalog = sky[name].keep("ra", "dec") if name == "bigsky" else sky[name]
        catalog.write(file)
    return files


@pytest.fixture(scope="module")
def stilts(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., pd.DataFrame]:
    """Run a task of STILTS; return the table that it makes."""
    command, folder = program("stilts"), tmp_path_factory.mktemp("stilts")

    def run(task: str, *words: str) -> pd.DataFrame:
        out = folder / "out.csv"
        subprocess.run(
            [command, "-Dfile.encoding=UTF-8", task, *words, f"out={out}", "ofmt=csv"],
            check=True,
            capture_output=True,
            timeout=LIMIT,
        )
        return pd.read_csv(out, keep_default_na=False, na_values=[""], encoding="utf-8", dtype=TEXTS)

    return run
