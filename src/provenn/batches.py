"""Splitting long sequences into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

__all__ = ["QUERY_SIZE", "split_batches"]

QUERY_SIZE = 10_000
"""The most values in one query: databases limit their number."""

T = TypeVar("T")


def split_batches(values: Iterable[T], size: int = QUERY_SIZE) -> Iterator[list[T]]:
    """Yield the values in lists of at most `size` values.

    >>> list(split_batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch
