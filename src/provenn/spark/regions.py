"""How many sources lie in which of several catalogs: their Venn diagram, counted in one pass over their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from provenn.spark.columns import quoted

__all__ = ["MOST_SETS", "inhabited", "region_counts"]

MOST_SETS = 62
"""How many sets can be told apart: each has a bit of a bigint."""


def region_counts(sets: Sequence[tuple[DataFrame, Sequence[str]]]) -> DataFrame:
    """Return how many sources lie in which sets, one row for each region that holds any.

    Parameters
    ----------
    sets
        The sources of each set, every one once, and the columns of their key, in the order of the population's.

    Returns
    -------
    DataFrame
        ``inside``: a number whose bits are those of the sets, by position; and ``sources``, how many there are.
    """
    marked = [
        frame.selectExpr(*(f"{quoted(name)} AS k{n}" for n, name in enumerate(key)), f"{1 << bit}L AS inside")
        for bit, (frame, key) in enumerate(sets)
    ]
    key = [f"k{n}" for n in range(len(sets[0][1]))]
    together = reduce(DataFrame.unionByName, marked) if len(marked) > 1 else marked[0]
    sources = together.groupBy(*key).agg({"inside": "bit_or"}).toDF(*key, "inside")
    return sources.groupBy("inside").count().toDF("inside", "sources")


def inhabited(labels: Sequence[str], counts: Mapping[int, int]) -> dict[frozenset[str], int]:
    """Return how many sources there are in each region, by the labels of the sets that it lies in."""
    return {
        frozenset(label for bit, label in enumerate(labels) if inside >> bit & 1): number
        for inside, number in counts.items()
    }
