"""Two releases of one survey: the second has other magnitudes of the same galaxies, and a galaxy more."""

from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

import provenn
from provenn.catalogs import Calculator
from tests.spark import functions

__all__ = ["DR1", "DR2", "redshift", "two_releases"]

DR1 = {"id": [1, 2, 3, 4], "g": [15.0, 16.0, 17.0, 18.0]}
DR2 = {"id": [1, 2, 3, 4, 5], "g": [16.0, 17.0, 18.0, 19.0, 20.0]}


def two_releases(archive: provenn.Archive, folder: Path) -> tuple[provenn.Catalog, provenn.Catalog]:
    """Ingest both releases."""
    releases = []
    for name, columns in (("DR1", DR1), ("DR2", DR2)):
        parquet.write_table(pa.table(columns), folder / f"{name}.parquet")
        releases.append(archive.ingest(name, folder / f"{name}.parquet", key="id", population="galaxy"))
    return releases[0], releases[1]


def redshift(archive: provenn.Archive, name: str = "pz", factor: float = 10.0) -> Calculator:
    """Register a calculator in Python that gives z, a multiple of g."""
    parameters = {"output": "z", "factor": factor}
    return archive.calculator(name, functions.scaled, inputs=["g"], outputs={"z": "double"}, parameters=parameters)
