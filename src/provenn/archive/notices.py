"""Notices to the user about an answer: the answer rests on declared facts, or data contradict a declared fact.

All notices pass through `Notices`, which keeps every notice and announces each notice once: as a Python warning, or to
the listener of the archive.
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

if TYPE_CHECKING:
    from provenn.archive.implications import Implied
    from provenn.knowledge.stored_facts import Fact
    from provenn.people.visibility import Visibility
    from provenn.targets.checking import CheckedFact

__all__ = [
    "Notice",
    "NoticeKind",
    "Notices",
    "Notify",
    "make_check_notices",
    "make_implication_notices",
    "make_repetition_notices",
    "make_rest_notices",
    "make_suspension_notices",
    "make_wording_notice",
]

NoticeKind = Literal[
    "rests on",
    "suspended",
    "confirmed",
    "not checked",
    "implies",
    "repeated",
    "worded",
    "grown",
    "not understood",
    "stated",
    "not warm",
]

_INSIDE = (str(Path(__file__).parents[1]), contextlib.__file__)


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to the user about an answer.

    Attributes
    ----------
    kind
        ``"rests on"``: the answer rests on declared facts. ``"suspended"``: data contradict declared facts, which are
        not used any more. ``"confirmed"``: declared facts were checked on the data, and hold. ``"not checked"``: the
        check of declared facts was impossible. ``"implies"``: a declaration empties or equates catalogs.
        ``"repeated"``: the fact was declared before, with another reason or visibility. ``"worded"``: the catalog was
        defined before with another wording, which it keeps. ``"not understood"``: a part of a query is opaque, or is
        read in a certain way. ``"grown"``: files came to a folder that the answer does not have. ``"stated"``: the
        metadata of files contradict an argument, or say more than is used. ``"not warm"``: there is a warm Spark that
        cannot be used. Notices of the kinds ``"confirmed"``, ``"worded"``, ``"grown"`` and ``"not warm"`` are no Python
        warnings.
    message
        The notice in words.
    facts
        The declared facts.
    """

    kind: NoticeKind
    message: str
    facts: tuple[Fact, ...] = ()

    def __str__(self) -> str:
        return self.message


Notify = Callable[[Notice], None] | Literal[False] | None
"""The listener for notices: a function, False for none, by default Python's warnings."""


class Notices:
    """The notices of an archive, in order and without repetitions.

    Parameters
    ----------
    notify
        The listener for notices.
    """

    def __init__(self, notify: Notify = None) -> None:
        self.notify = notify
        self._notices: dict[tuple[str, str], Notice] = {}
        self._lock = Lock()

    @property
    def all(self) -> tuple[Notice, ...]:
        """All notices."""
        with self._lock:
            return tuple(self._notices.values())

    def tell(self, notices: Iterable[Notice]) -> None:
        """Keep notices, and announce the new notices."""
        for notice in notices:
            with self._lock:
                is_known = (notice.kind, notice.message) in self._notices
                self._notices.setdefault((notice.kind, notice.message), notice)
            if is_known or self.notify is False:
                continue
            if self.notify is not None:
                self.notify(notice)
            elif notice.kind not in ("confirmed", "worded", "grown", "not warm"):
                warnings.warn(notice.message, ProvennWarning, stacklevel=_find_caller_level())


def make_repetition_notices(fact: Fact, reason: str, visibility: Visibility) -> list[Notice]:
    """Return the notice that a fact was declared before, if the reason or visibility differs now."""
    parts = []
    if reason not in ("", fact.reason):
        parts.append("the audit log records the new reason")
    if visibility != fact.visibility:
        parts.append(f"everyone still sees it, although the new declaration is {visibility}")
    if not parts:
        return []
    before = f", because: {fact.reason}" if fact.reason else ", without a reason"
    message = f"{fact.declared_by} already declared fact #{fact.id}{before}; it is unchanged, and "
    return [Notice("repeated", message + ", and ".join(parts), (fact,))]


def make_wording_notice(catalog_name: str, earlier: str) -> Notice:
    """Return the notice that a catalog was defined before, with another wording."""
    return Notice("worded", f"{catalog_name} was defined before, in words that it keeps: {earlier}")


def _find_caller_level() -> int:
    """Return the stack level of the code that called provenn: a warning shows the line of the call."""
    frame, level = sys._getframe(1), 1  # noqa: SLF001 - as warnings itself does
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    return level


def make_rest_notices(what: str, facts: Sequence[Fact], *, empty: bool = False) -> list[Notice]:
    """Return the notice about an answer's declared facts, if any.

    Parameters
    ----------
    what
        The subject of the request.
    facts
        The facts, with names in their statements.
    empty
        Whether the facts prove that the answer is empty.
    """
    if not facts:
        return []
    by = "is empty by" if empty else "rests on"
    return [Notice("rests on", f"{what} {by} {'; '.join(fact.words for fact in facts)}", tuple(facts))]


def make_suspension_notices(facts: Sequence[Fact]) -> list[Notice]:
    """Return a notice for each declared fact contradicted by data, with names in the statements."""
    return [
        Notice(
            "suspended",
            f"{fact.words} is no longer used: {fact.ended_because}",
            (fact,),
        )
        for fact in facts
    ]


def make_implication_notices(what: str, implied: Implied, facts: Sequence[Fact]) -> list[Notice]:
    """Return the notice about facts emptying or equating catalogs; none if nothing is implied.

    Parameters
    ----------
    what
        The cause, in words.
    implied
        The new implications.
    facts
        The facts, with names in their statements.
    """
    return [Notice("implies", f"{what}, {implied.words}", tuple(facts))] if implied else []


def make_check_notices(checked: Sequence[CheckedFact], name_facts: Callable[[list[Fact]], list[Fact]]) -> list[Notice]:
    """Return notices about checked facts, except suspended facts, which have notices of their own.

    Parameters
    ----------
    checked
        The results of the checks.
    name_facts
        Returns facts with names in their statements.
    """
    notices = []
    for check, fact in zip(checked, name_facts([check.fact for check in checked]), strict=True):
        if check.verdict == "holds":
            notices.append(Notice("confirmed", f"{fact.words} holds in the data", (fact,)))
        elif check.verdict == "unknown":
            message = f"{fact.words} was not checked: it mentions too many catalogs to compare at once"
            notices.append(Notice("not checked", message, (fact,)))
        elif not check.suspended:
            notices.append(Notice("suspended", f"{fact.words} does not hold in the data, and was not used", (fact,)))
    return notices
