"""Tables of stars, and calculators that take their time over them, as a fit of templates does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

__all__ = ["WIDE", "redshift", "temperature", "write_stars", "write_wide"]

ROUNDS = 150
"""How many steps a fit takes: about four microseconds a star."""

WIDE = 60
"""How many columns a wide table has."""

_MOST_AT_ONCE = 10_000_000
_ROWS_A_GROUP = 100_000


def redshift(batch: pa.Table) -> pa.Table:
    """Fit a redshift to two magnitudes."""
    return pa.table({"redshift": _fitted(batch["g"].to_numpy(), batch["r"].to_numpy())})


def temperature(batch: pa.Table) -> pa.Table:
    """Fit a temperature to a colour."""
    colour = batch["colour"].to_numpy()
    return pa.table({"temperature": 5000 * (1 + _fitted(colour, colour))})


def _fitted(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    found = np.full(len(one), 0.5)
    for step in range(ROUNDS):
        found = 0.5 * (found + np.abs(np.cos(one * found + other / (step + 1))))
    return found


def write_stars(path: Path, rows: int) -> None:
    """Write a table of stars: a key, magnitudes between 0 and 20, parallaxes between 0 and 50; some are not known.

    Very many are made and written piece by piece.
    """
    random = np.random.default_rng(1)
    first = _make_stars(random, 0, min(rows, _MOST_AT_ONCE))
    with parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first, row_group_size=_ROWS_A_GROUP)
        for start in range(first.num_rows, rows, _MOST_AT_ONCE):
            part = _make_stars(random, start, min(rows - start, _MOST_AT_ONCE))
            writer.write_table(part, row_group_size=_ROWS_A_GROUP)


def _make_stars(random: np.random.Generator, start: int, rows: int) -> pa.Table:
    known = random.random(rows) > 0.01
    columns = {
        "id": pa.array(np.arange(start, start + rows)),
        "vmag": pa.array(random.random(rows) * 20, mask=~known),
        "plx": pa.array(random.random(rows) * 50, mask=~random.permutation(known)),
        **{band: pa.array(random.random(rows) * 20) for band in "gri"},
    }
    return pa.table(columns)


def write_wide(path: Path, rows: int) -> None:
    """Write a table of stars with many columns, the first of which are as in `write_stars`."""
    random = np.random.default_rng(2)
    names = ("vmag", "plx", "g", "r", *(f"flux_{number}" for number in range(WIDE)))
    columns = {name: pa.array(random.random(rows) * 20) for name in names}
    parquet.write_table(pa.table({"id": pa.array(np.arange(rows)), **columns}), path, row_group_size=_ROWS_A_GROUP)
