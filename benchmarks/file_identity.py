"""What it costs to know a file by all its bytes: against reading it, and against SHA-256.

Run ``python -m benchmarks file_identity``. A Parquet file of about a gigabyte, which lies in the memory of the system,
is read by hand, hashed with SHA-256, and looked at by provenn: for the first time, and once more when its digest is
known. All ways take turns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.measure import show, shown
from provenn.catalogs import Files
from provenn.data.file_memory import FileMemory
from provenn.formats.opening import open_database

__all__ = ["main"]

ROWS, COLUMNS, TURNS = 10_000_000, 12, 5
CHUNK = 8 * 2**20


def main() -> None:
    """Measure and print a table."""
    with TemporaryDirectory() as folder, open_database(Path(folder) / "archive.db", create=True) as database:
        path = Path(folder) / "stars.parquet"
        generator = np.random.default_rng(1)
        columns = {f"column_{number}": generator.random(ROWS) for number in range(COLUMNS)}
        parquet.write_table(pa.table({"hip": np.arange(ROWS), **columns}), path, use_dictionary=False)
        del columns
        known, forgotten = FileMemory(database), FileMemory(database, reread=True)
        ways: dict[str, Callable[[], object]] = {
            "read": lambda: read(path),
            "SHA-256": lambda: sha256(path),
            "provenn, first look": lambda: Files.at(path, memory=forgotten),
            "provenn, unchanged file": lambda: Files.at(path, memory=known),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(TURNS):
            for name, way in ways.items():
                began = perf_counter()
                way()
                times[name].append(perf_counter() - began)
        base, size = median(times["read"]), path.stat().st_size / 1e6
    rows = [
        (name, shown(median(found)), f"{size / median(found):,.0f}".replace(",", " "), f"{median(found) / base:.2f}")
        for name, found in times.items()
    ]
    show(f"a file of {size:,.0f} MB".replace(",", " "), ("way", "s", "MB/s", "ratio to reading"), rows)


def read(path: Path) -> None:
    """Read a file from its beginning to its end."""
    buffer = bytearray(CHUNK)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
