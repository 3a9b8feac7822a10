"""TPC-H in an archive and in DuckDB: small for `make test`, larger for `make campaign`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import provenn
from provenn.spark.engine import Engine
from tests.spark.conftest import engine
from tests.tpch.tables import Tables, connect_duckdb, generate_tables, ingest_tables

__all__ = ["engine"]

SMALL, LARGE = 0.01, 0.1
"""Scale factors: 60,000 and 600,000 items."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The tables in an archive, and in DuckDB."""

    archive: provenn.Archive
    tables: Tables
    duckdb: Any


def _open_benchmark(folder: Path, engine: Engine, scale: float) -> Iterator[Benchmark]:
    generate_tables(folder, scale)
    with (
        provenn.open(folder / "archive", spark=engine.session, progress=False) as archive,
        connect_duckdb(folder) as duckdb,
    ):
        yield Benchmark(archive, ingest_tables(archive, folder), duckdb)


@pytest.fixture(scope="module")
def tpch(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[Benchmark]:
    """TPC-H at a small scale."""
    yield from _open_benchmark(tmp_path_factory.mktemp("tpch"), engine, SMALL)


@pytest.fixture(scope="module")
def large_tpch(tmp_path_factory: pytest.TempPathFactory, engine: Engine) -> Iterator[Benchmark]:
    """TPC-H at a larger scale."""
    yield from _open_benchmark(tmp_path_factory.mktemp("large"), engine, LARGE)
