"""What to know of an answer: on which declared facts it rests, and which ones data contradict."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import fact_data
from provenn.cli.output import write_text

if TYPE_CHECKING:
    from provenn.archive import Notice
    from provenn.store.facts import Fact

__all__ = ["CheckFacts", "facts_of", "notices_data", "resting_on", "write_notices"]

CheckFacts = Annotated[
    bool,
    typer.Option(
        "--check",
        help="First check the declared facts on which the answer would rest, on the data; then use none of them.",
    ),
]


def facts_of(notices: Iterable[Notice], kind: str) -> list[Fact]:
    """Return the facts that notices of a kind are about."""
    return [fact for notice in notices if notice.kind == kind for fact in notice.facts]


def resting_on(notices: Iterable[Notice]) -> str:
    """Return on which declared facts an answer rests, to be put behind it; empty if it rests on none."""
    return "; ".join(fact.words for fact in facts_of(notices, "rests on"))


def notices_data(notices: Iterable[Notice]) -> dict[str, Any]:
    """Return notices for programs: the facts on which an answer rests, and what checks have found, if any were made."""
    found = list(notices)
    kinds = {"suspended": "suspended", "confirmed": "confirmed", "not checked": "not_checked"}
    told: dict[str, Any] = {"rests_on": [fact_data(fact) for fact in facts_of(found, "rests on")]}
    checks = {word: [fact_data(fact) for fact in facts_of(found, kind)] for kind, word in kinds.items()}
    return told | {word: facts for word, facts in checks.items() if facts}


def write_notices(notices: Iterable[Notice], *, resting: bool = True) -> None:
    """Write notices for people, a line each; those on what an answer rests only if it does not say so itself."""
    for notice in notices:
        if resting or notice.kind != "rests on":
            write_text(notice.message)
