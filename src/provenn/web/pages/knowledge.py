"""What is known that no definition states: declared by people, or learned from data; and what contradicted it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from provenn.archive import Archive
from provenn.errors import ProvennError
from provenn.store.facts import Fact
from provenn.web.asking import Problem, add_form, problem_of
from provenn.web.pages.compare import Linked, suggested
from provenn.web.rendering import Held
from provenn.web.saying import Said, said

__all__ = ["router"]

router = APIRouter()

Origin = Literal["any", "declared", "observed"]
State = Literal["held", "retracted", "suspended", "any"]

_PER_PAGE = 50
_QUICK = 200
"""How many concatenations are looked through without asking."""

_SUSPENDED = "suspended: "


@dataclass(frozen=True, slots=True)
class Known:
    """A fact.

    Attributes
    ----------
    number, statement
        Its number, and what it says.
    origin, reason
        Whether it was declared or observed, and why it is held true.
    by, at
        Who said so, and when.
    state
        Whether it is held true, was retracted, or is suspended: data contradict it.
    ended_by, ended_at, ended_because
        Who took it back, when and why; None and empty if it is held true.
    """

    number: int
    statement: Said
    origin: str
    reason: str
    by: str
    at: datetime
    state: str
    ended_by: str | None
    ended_at: datetime | None
    ended_because: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """How many facts there are: declared and observed ones that are held true, retracted and suspended ones."""

    declared: int
    observed: int
    retracted: int
    suspended: int


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A page of what is known.

    Attributes
    ----------
    catalog, origin, state
        What was asked for: facts about a catalog, of an origin, in a state.
    suggested
        Names of catalogs to choose from.
    numbers
        How many facts there are, of any origin and in any state.
    facts, total, page, pages
        The facts on this page, how many there are on all pages, which page it is, from 1, and how many there are.
    concatenations
        How many concatenations the archive has.
    unproved
        Those that need their members to be disjoint, if that is not known any more; None if they were not looked for.
    problem
        What is wrong with what was asked.
    """

    catalog: str
    origin: Origin
    state: State
    suggested: tuple[str, ...]
    numbers: Numbers
    facts: tuple[Known, ...]
    total: int
    page: int
    pages: int
    concatenations: int
    unproved: tuple[Linked, ...] | None
    problem: Problem | None


def list_facts(
    archive: Held,
    *,
    catalog: Annotated[str, Query(max_length=500)] = "",
    origin: Origin = "any",
    state: State = "any",
    page: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    unproved: Annotated[bool, Query(description="Look for unproved concatenations, however many there are")] = False,
) -> Knowledge:
    """List facts: about a catalog, declared or observed, held true or not any more."""
    every: list[Fact] = []
    problem = None
    try:
        every = list(archive.facts(catalog if catalog.strip() else None, retracted=True))[::-1]
    except ProvennError as error:
        problem = problem_of("catalog", error)
    found = [one for one in every if origin in ("any", one.origin) and state in ("any", _state(one))]
    shown = found[(page - 1) * _PER_PAGE : page * _PER_PAGE]
    labels = list(dict.fromkeys(label for one in shown for label in one.statement.labels))
    digests = {name: one.digest for name, one in zip(labels, archive.catalogs(labels), strict=True)}
    concatenations = archive.matches(kind="ConcatSources")
    return Knowledge(
        catalog,
        origin,
        state,
        suggested(archive),
        _numbers(every),
        tuple(_known(one, digests) for one in shown),
        len(found),
        page,
        max(1, -(-len(found) // _PER_PAGE)),
        concatenations,
        _unproved(archive) if unproved or concatenations <= _QUICK else None,
        problem,
    )


def _state(fact: Fact) -> Literal["held", "retracted", "suspended"]:
    if fact.holds:
        return "held"
    return "suspended" if (fact.retracted_reason or "").startswith(_SUSPENDED) else "retracted"


def _numbers(facts: list[Fact]) -> Numbers:
    kinds = [one.origin if one.holds else _state(one) for one in facts]
    return Numbers(*(kinds.count(kind) for kind in ("declared", "observed", "retracted", "suspended")))


def _known(fact: Fact, digests: dict[str, str]) -> Known:
    return Known(
        fact.id,
        said(fact.statement, digests),
        fact.origin,
        fact.reason,
        fact.declared_by,
        fact.declared_at,
        _state(fact),
        fact.retracted_by,
        fact.retracted_at,
        (fact.retracted_reason or "").removeprefix(_SUSPENDED),
    )


def _unproved(archive: Archive) -> tuple[Linked, ...]:
    return tuple(Linked(one.name, one.digest) for one in archive.unproved())


add_form(router, "/knowledge", list_facts, "knowledge.html")
