"""Notices on an answer: the declared facts behind the answer, and the declared facts in conflict with data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import fact_data
from provenn.cli.output import write_text
from provenn.hints import phrase_for_command

if TYPE_CHECKING:
    from provenn.archive import Notice
    from provenn.knowledge.stored_facts import Fact

__all__ = ["CheckFacts", "list_facts", "name_supporting_facts", "notices_data", "write_notices"]

CheckFacts = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Check the declared facts behind the answer on the data, and do not rely on them.",
    ),
]


def list_facts(notices: Iterable[Notice], kind: str) -> list[Fact]:
    """Return the facts of all notices of a kind."""
    return [fact for notice in notices if notice.kind == kind for fact in notice.facts]


def name_supporting_facts(notices: Iterable[Notice]) -> str:
    """Return the declared facts behind an answer in words; empty without any."""
    return "; ".join(fact.words for fact in list_facts(notices, "rests on"))


def notices_data(notices: Iterable[Notice]) -> dict[str, Any]:
    """Return notices as JSON data: the facts behind an answer, and the results of checks, if any ran."""
    listed_notices = list(notices)
    key_by_kind = {"suspended": "suspended", "confirmed": "confirmed", "not checked": "not_checked"}
    supporting_facts: dict[str, Any] = {
        "rests_on": [fact_data(fact) for fact in list_facts(listed_notices, "rests on")]
    }
    checks = {key: [fact_data(fact) for fact in list_facts(listed_notices, kind)] for kind, key in key_by_kind.items()}
    news = [phrase_for_command(notice.message) for notice in listed_notices if notice.kind == "grown"]
    return supporting_facts | {key: facts for key, facts in checks.items() if facts} | ({"news": news} if news else {})


def write_notices(notices: Iterable[Notice], *, resting: bool = True) -> None:
    """Write notices, one per line; without `resting`, leave out the facts behind the answer."""
    for notice in notices:
        if resting or notice.kind != "rests on":
            write_text(phrase_for_command(notice.message))
