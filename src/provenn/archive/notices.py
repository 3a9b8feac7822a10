"""What a user should know of an answer: that it rests on declared facts, or that data contradict one.

There is one way for it. `Notices` keeps what was noticed, and tells each notice once: as a Python warning, unless
somebody else is to be told.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from provenn.errors import ProvennWarning
from provenn.store.facts import Fact

if TYPE_CHECKING:
    from provenn.archive.implications import Implied
    from provenn.targets.checking import Checked

__all__ = [
    "Kind",
    "Notice",
    "Notices",
    "Notify",
    "notice_of_implications",
    "notice_of_rest",
    "notice_of_suspension",
    "notices_of_checks",
]

Kind = Literal["rests on", "suspended", "confirmed", "not checked", "implies"]

_INSIDE = (str(Path(__file__).parents[1]), contextlib.__file__)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a user should know of an answer.

    Attributes
    ----------
    kind
        ``"rests on"``: the answer rests on declared facts. ``"suspended"``: data contradict declared facts, which are
        not used any more. ``"confirmed"``: declared facts were checked on the data, and hold. ``"not checked"``: they
        could not be. ``"implies"``: a declaration empties or equates catalogs.
    message
        The same in words.
    facts
        The declared facts.
    """

    kind: Kind
    message: str
    facts: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        return self.message


Notify = Callable[[Notice], None] | Literal[False] | None
"""Who is told of notices: a function, nobody, or by default whoever sees Python's warnings."""


class Notices:
    """What was noticed, each once, in order.

    Parameters
    ----------
    notify
        Who is told.
    """

    def __init__(self, notify: Notify = None) -> None:
        self.notify = notify
        self._told: dict[tuple[str, str], Notice] = {}
        self._lock = Lock()

    @property
    def all(self) -> tuple[Notice, ...]:
        """All of them."""
        with self._lock:
            return tuple(self._told.values())

    def tell(self, notices: Iterable[Notice]) -> None:
        """Keep notices, and tell those that were not told before."""
        for notice in notices:
            with self._lock:
                known = (notice.kind, notice.message) in self._told
                self._told.setdefault((notice.kind, notice.message), notice)
            if known or self.notify is False:
                continue
            if self.notify is not None:
                self.notify(notice)
            elif notice.kind != "confirmed":
                warnings.warn(notice.message, ProvennWarning, stacklevel=_outside())


def _outside() -> int:
    """Return how far up the code is that called provenn: its line is shown with a warning."""
    frame, level = sys._getframe(1), 1  # noqa: SLF001 - as warnings itself does
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    return level


def notice_of_rest(what: str, facts: Sequence[Fact], *, empty: bool = False) -> list[Notice]:
    """Return the notice that an answer rests on declared facts, if it rests on any.

    Parameters
    ----------
    what
        What was asked for.
    facts
        The facts, with names in their statements.
    empty
        Whether the answer is empty by them.
    """
    if not facts:
        return []
    by = "is empty by" if empty else "rests on"
    return [Notice("rests on", f"{what} {by} {'; '.join(fact.words for fact in facts)}", tuple(facts))]


def notice_of_suspension(facts: Sequence[Fact]) -> list[Notice]:
    """Return a notice for each declared fact that data contradict, with names in the statements."""
    return [
        Notice(
            "suspended",
            f"{fact.words} is not used any more: {(fact.retracted_reason or '').removeprefix('suspended: ')}",
            (fact,),
        )
        for fact in facts
    ]


def notice_of_implications(what: str, implied: Implied, facts: Sequence[Fact]) -> list[Notice]:
    """Return the notice that facts empty or equate catalogs, if they do.

    Parameters
    ----------
    what
        What does, in words.
    implied
        What is newly implied.
    facts
        The facts, with names in their statements.
    """
    return [Notice("implies", f"{what}, {implied.words}", tuple(facts))] if implied else []


def notices_of_checks(checked: Sequence[Checked], named: Callable[[list[Fact]], list[Fact]]) -> list[Notice]:
    """Return notices of what checks have found, but for facts that are suspended for it, of which others tell.

    Parameters
    ----------
    checked
        What was found.
    named
        Puts names into the statements of facts.
    """
    told = []
    for one, fact in zip(checked, named([one.fact for one in checked]), strict=True):
        if one.verdict == "holds":
            told.append(Notice("confirmed", f"{fact.words} holds in the data", (fact,)))
        elif one.verdict == "unknown":
            message = f"{fact.words} was not checked: it mentions too many catalogs to compare them at once"
            told.append(Notice("not checked", message, (fact,)))
        elif not one.suspended:
            told.append(Notice("suspended", f"{fact.words} does not hold in the data, and was not used", (fact,)))
    return told
