"""The stored data that a run reads: if the run fails, they are read in full, and damaged data are not used again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from provenn.catalogs.base import Base
from provenn.data.fragments import Fragment

__all__ = ["StoredReads", "note_conversion", "note_fragment", "note_reads", "note_table"]


@dataclass(slots=True)
class StoredReads:
    """The stored data that a run has read so far.

    Attributes
    ----------
    fragments
        The fragments, by number.
    conversions
        The addresses of converted base files.
    tables
        The base catalogs that were ingested from memory, by digest.
    """

    fragments: dict[int, Fragment] = field(default_factory=dict)
    conversions: set[str] = field(default_factory=set)
    tables: dict[str, Base] = field(default_factory=dict)


_READS: ContextVar[StoredReads | None] = ContextVar("reads", default=None)


@contextmanager
def note_reads() -> Iterator[StoredReads]:
    """Record all stored data that are read in this thread while the body runs."""
    reads = StoredReads()
    token = _READS.set(reads)
    try:
        yield reads
    finally:
        _READS.reset(token)


def note_fragment(fragment: Fragment) -> None:
    """Record that a fragment is read."""
    reads = _READS.get()
    if reads is not None:
        reads.fragments[fragment.id] = fragment


def note_conversion(address: str) -> None:
    """Record that converted base files are read."""
    reads = _READS.get()
    if reads is not None:
        reads.conversions.add(address)


def note_table(base: Base) -> None:
    """Record that a table is read that was ingested from memory."""
    reads = _READS.get()
    if reads is not None:
        reads.tables[base.digest] = base
