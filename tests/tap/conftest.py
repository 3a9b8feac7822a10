"""A small archive with positions, units, a reference and odd names; a TAP service for it; and clients of both."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table

import provenn
from provenn.web import create_app
from provenn.web.guarding import guard_app
from provenn.web.serving import ServerLimits
from tests.spark.conftest import engine
from tests.waiting import LIMIT
from tests.web import calculations
from tests.web.running import running

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another httpx
    from starlette.testclient import TestClient

__all__ = ["engine"]

NUMBER = 400


def make_stars() -> Table:
    """Return stars all over the sky, some without a magnitude."""
    draw = np.random.default_rng(8)
    stars = Table(
        {
            "hip": np.arange(1, NUMBER + 1),
            "ra": draw.uniform(0, 360, NUMBER),
            "dec": np.degrees(np.arcsin(draw.uniform(-1, 1, NUMBER))),
            "vmag": np.ma.array(draw.normal(8, 2, NUMBER).astype("f4"), mask=np.arange(NUMBER) % 50 == 7),
            "spect": [f"{'OBAFGKM'[number % 7]}{number % 10}" for number in range(NUMBER)],
            "is_double": draw.integers(0, 2, NUMBER).astype(bool),
        }
    )
    stars["ra"].unit = stars["dec"].unit = "deg"
    stars["vmag"].unit = "mag"
    stars["vmag"].description = "magnitude in V"
    stars["ra"].info.meta, stars["dec"].info.meta = {"ucd": "pos.eq.ra"}, {"ucd": "pos.eq.dec"}
    return stars


def fill_archive(archive: provenn.Archive) -> None:
    """Define the catalogs of the tests."""
    stars = archive.ingest("stars", make_stars(), key="hip", population="star")
    stars.select("vmag < 6", name="bright")
    stars.select("vmag < 7", name="bright stars")
    stars.select("vmag < 5", name="order")
    seen = Table({"id": np.arange(60), "hip": np.arange(60) % 30 + 1, "mag": np.linspace(3, 9, 60)})
    detections = archive.ingest("detections", seen, key="id", population="detection")
    detections.lookup(stars, on="hip", attributes=["vmag"], missing="drop", name="identified")


@pytest.fixture(scope="session")
def archive(engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[provenn.Archive]:
    """The archive, which computes in the Spark of all tests."""
    folder: Path = tmp_path_factory.mktemp("tap") / "survey"
    master: Any = engine.session.sparkContext.master
    with provenn.open(folder, who="ada", progress=False, notify=False, spark=master) as opened:
        fill_archive(opened)
        opened.calculator("slow", calculations.slow, inputs=["vmag"], outputs={"late": "double"})
        opened["stars"].derive("slow", name="slow stars")
        yield opened


@pytest.fixture(scope="session")
def client(archive) -> Iterator[TestClient]:
    """A client of the application, without a network."""
    app = guard_app(create_app(archive))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def address(archive) -> Iterator[str]:
    """The address of a real TAP service, on which no machine is too slow."""
    with running(archive, limits=ServerLimits(seconds=LIMIT)) as server:
        yield f"{server}tap"
