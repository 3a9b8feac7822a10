"""What `provenn check` looks at, one module for each kind of thing; and what it tells: problems, as values.

A look reads all there is of its kind, recomputes every digest, and stops at nothing: what cannot be read is a problem,
and so is whatever cannot be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from provenn.errors import ProvennError
from provenn.store.database import Writing

__all__ = ["REMEDIES", "Problem", "Progress", "Remedy", "State", "found", "no_progress"]

State = Literal["damage", "leftover", "remark"]
"""Damage is what may give wrong answers, or none. A leftover only takes space. A remark is something to know about."""

Remedy = Literal["compute", "index", "forget", "delete", "restore", "none"]

REMEDIES: dict[Remedy, str] = {
    "compute": "its data are dropped, and computed anew from its lineage",
    "index": "it is made anew from the definitions",
    "forget": "it is forgotten; what it says is found again when it is next needed",
    "delete": "it is deleted",
    "restore": "only a backup has it",
    "none": "nothing in the archive is to be mended",
}
"""What ``--repair`` does, in words."""

Progress = Callable[[str, int, int], None]
"""Told what is looked at, how many of it were, and how many there are."""


def no_progress(what: str, done: int, of: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it should be.

    Parameters
    ----------
    where
        What it concerns, such as ``fragment #3`` or the digest of a catalog.
    what
        What is wrong with it.
    state
        How bad that is.
    remedy
        What can be done.
    mend
        Does it, as far as the database goes; None if nothing can be done, or not there.
    stored
        For a fragment that can be computed anew: the digest of its catalog, and the identities of its attributes.
    """

    where: str
    what: str
    state: State = "damage"
    remedy: Remedy = "restore"
    mend: Callable[[Writing], object] | None = field(default=None, compare=False, repr=False)
    stored: tuple[str, frozenset[str]] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def found(where: str, look: Iterable[Problem]) -> Iterator[Problem]:
    """Yield what a look finds; and, if it cannot go on, that."""
    try:
        yield from look
    except ProvennError as error:
        yield Problem(where, error.message)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Values that nobody has written: whatever is done with them fails in its own way.
        yield Problem(where, f"cannot be read: {type(error).__name__}: {error}".rstrip(": "))
