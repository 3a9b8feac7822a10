"""The Venn diagram of catalogs: the number of sources in each region, counted in one pass over the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from provenn.spark.columns import quote_name

__all__ = ["MOST_SETS", "count_regions", "label_regions"]

MOST_SETS = 62
"""The most sets in a diagram, because each set takes a bit of a bigint."""


def count_regions(sets: Sequence[tuple[DataFrame, Sequence[str]]]) -> DataFrame:
    """Return the number of sources in each inhabited region of some sets.

    Parameters
    ----------
    sets
        For each set, a frame that holds every source once, and its key columns in the order of the population's key.

    Returns
    -------
    DataFrame
        ``inside``: a number with the bit of each set, by position, in which the region lies; and ``sources``: the
        number of sources in the region.
    """
    marked = [
        frame.selectExpr(
            *(f"{quote_name(name)} AS k{number}" for number, name in enumerate(key)), f"{1 << bit}L AS inside"
        )
        for bit, (frame, key) in enumerate(sets)
    ]
    key = [f"k{number}" for number in range(len(sets[0][1]))]
    united = reduce(DataFrame.unionByName, marked) if len(marked) > 1 else marked[0]
    sources = united.groupBy(*key).agg({"inside": "bit_or"}).toDF(*key, "inside")
    return sources.groupBy("inside").count().toDF("inside", "sources")


def label_regions(labels: Sequence[str], counts: Mapping[int, int]) -> dict[frozenset[str], int]:
    """Return the number of sources in each region, by the labels of the sets in which the region lies."""
    return {
        frozenset(label for bit, label in enumerate(labels) if inside >> bit & 1): sources
        for inside, sources in counts.items()
    }
