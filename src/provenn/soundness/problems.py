"""The checks of `provenn check`, one module per kind of object; problems are returned as values.

A check reads all objects of a kind, recomputes every digest, and does not stop at errors: an unreadable object is a
problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from provenn.database.transactions import Writing
from provenn.digests import CatalogDigest
from provenn.errors import ProvennError

__all__ = ["REMEDIES", "ArchiveProblem", "Progress", "Remedy", "State", "collect_problems", "no_progress"]

State = Literal["damage", "leftover", "remark"]
"""Damage may give wrong answers, or none. A leftover only takes space. A remark needs no repair."""

Remedy = Literal["compute", "index", "forget", "delete", "restore", "rewrite", "none"]

REMEDIES: dict[Remedy, str] = {
    "compute": "its data are dropped, and recomputed from its lineage",
    "index": "it is rebuilt from the definitions",
    "forget": "it is dropped, and recomputed when it is next needed",
    "delete": "it is deleted",
    "restore": "restore it from a backup",
    "rewrite": "write the file again, with correct statistics or without any, and ingest it again",
    "none": "nothing in the archive needs repair",
}
"""The description of what ``--repair`` does, or of what only people can do."""

Progress = Callable[[str, int, int], None]
"""A function that is called with the subject of the check, the number of checked items, and the number of all items."""


def no_progress(what: str, done: int, of: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True)
class ArchiveProblem:
    """A problem in an archive, found by a check.

    Parameters
    ----------
    where
        The damaged object, such as ``fragment #3`` or the digest of a catalog.
    what
        The description of the problem.
    state
        The severity.
    remedy
        The possible repair.
    mend
        Repairs the database; None if the database needs no repair, or cannot be repaired.
    stored
        For a fragment that can be computed again: the digest of its catalog, and the identities of its attributes.
    """

    where: str
    what: str
    state: State = "damage"
    remedy: Remedy = "restore"
    mend: Callable[[Writing], object] | None = field(default=None, compare=False, repr=False)
    stored: tuple[CatalogDigest, frozenset[str]] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def collect_problems(where: str, check: Iterable[ArchiveProblem]) -> Iterator[ArchiveProblem]:
    """Yield the problems found by a check; if the check itself fails, yield the failure as a problem."""
    try:
        yield from check
    except ProvennError as error:
        yield ArchiveProblem(where, error.message)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Changed values can make any later code fail, each in its own way.
        yield ArchiveProblem(where, f"cannot be read: {type(error).__name__}: {error}".rstrip(": "))
