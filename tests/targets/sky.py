"""A small sky, the paper's catalogs on it, and fragments that are only registered: plans read no data."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from sqlalchemy import update

import provenn
from provenn.catalogs import PythonCalculator
from provenn.data import fragments
from provenn.database.tables import fragments as stored
from provenn.definitions import catalog_store

__all__ = ["N", "observed", "paper", "photo_z", "pretend_stored"]

N = 1000


def observed(archive: provenn.Archive, folder: Path) -> provenn.Catalog:
    """Galaxies with two magnitudes and a declination."""
    columns = {
        "id": pa.array(range(N)),
        "g": [15 + n % 80 / 10 for n in range(N)],
        "r": [14 + n % 70 / 10 for n in range(N)],
        "dec": [n % 180 - 90.0 for n in range(N)],
    }
    parquet.write_table(pa.table(columns), folder / "sky.parquet")
    return archive.ingest("A", folder / "sky.parquet", key="id", population="galaxy")


def photo_z(batch: object) -> object:
    """Never called: plans compute nothing."""
    return batch


def paper(
    archive: provenn.Archive, folder: Path, function: Callable[..., object] = photo_z
) -> dict[str, provenn.Catalog]:
    """The paper's example: B selects from A, C derives from A by an expensive calculator, D combines B and C."""
    a = observed(archive, folder)
    calculator = archive.calculator("photo_z", function, inputs=["g", "r"], outputs={"z": "double"})
    assert isinstance(calculator, PythonCalculator)
    b = a.select("g < 18", name="B")
    c = a.derive(calculator, name="C")
    return {"A": a, "B": b, "C": c, "D": b.combine(c, name="D")}


def pretend_stored(catalog: provenn.Catalog, attributes: Sequence[str], rows: int) -> None:
    """Register a fragment whose data nobody has written, on New Year's Day."""
    one = catalog.definition
    columns = [(one.schema[name].identity, name) for name in ("id", *attributes)]
    with catalog.archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, one)
        fragments.register(writing, one, columns, location=f"fragments/{rows}", rows=rows, files=(), seconds=3.0)
        writing.connection.execute(update(stored).values(stored_at=datetime(2026, 1, 1, tzinfo=UTC)))
