"""A real hub in a process of its own, and an archive of stars beside it."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.spark.engine import Engine
from tests.samp import processes
from tests.spark.conftest import engine

__all__ = ["engine"]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The lock file of a hub, which SAMP_HUB names; files for others go to a cache of the tests."""
    folder = tmp_path_factory.mktemp("hub")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAMP_HUB", f"std-lockurl:{(folder / 'lock').as_uri()}")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        with processes.provenn("samp", "hub") as (_, message):
            yield message["hub"]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[provenn.Archive]:
    """Six stars, with units, UCDs, a missing value, and a selection of them."""
    folder = tmp_path_factory.mktemp("stars")
    notes = {
        "hip": {"ucd": "meta.id;meta.main"},
        "vmag": {"unit": "mag", "ucd": "phot.mag;em.opt.V", "description": "V magnitude"},
        "plx": {"unit": "mas", "ucd": "pos.parallax", "description": "Parallax"},
    }
    types = {"hip": pa.int64(), "vmag": pa.float64(), "plx": pa.float64(), "name": pa.string()}
    schema = pa.schema([pa.field(name, kind, metadata=notes.get(name)) for name, kind in types.items()])
    columns = {
        "hip": [1, 2, 3, 4, 5, 6],
        "vmag": [-1.44, 0.03, 4.5, 5.9, 6.1, None],
        "plx": [379.2, 130.2, 10.0, 5.0, 1.0, 2.0],
        "name": ["Sirius", "Vega", None, "Rigel", "x<y&z", None],
    }
    parquet.write_table(pa.table(columns, schema=schema), folder / "stars.parquet")
    with provenn.open(folder / "survey", spark=engine.session, progress=False) as archive:
        stars = archive.ingest("stars", folder / "stars.parquet", key="hip", population="star")
        stars.select("vmag < 6", name="bright")
        yield archive


@pytest.fixture
def folder(survey: provenn.Archive) -> Path:
    """The folder of the archive."""
    return Path(survey.place).parent
