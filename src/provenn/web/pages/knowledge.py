"""The page of facts beyond definitions: declared by people or observed in data, with contradicted facts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse, Response

from provenn.archive import Archive
from provenn.archive.concatenations import NEEDING_PROOF
from provenn.errors import ProvennError
from provenn.gate.entrances import entrance
from provenn.knowledge.stored_facts import Fact
from provenn.people.visibility import Visibility
from provenn.web.asking import FormProblem, LiveAnswer, add_form, make_problem, refuse_live
from provenn.web.pages.catalog import CatalogLink
from provenn.web.pages.compare import suggest_names
from provenn.web.rendering import ServedArchive, render
from provenn.web.saying import LinkedStatement, split_statement

__all__ = ["router"]

router = APIRouter()

Origin = Literal["any", "declared", "observed"]
State = Literal["held", "retracted", "suspended", "any"]

_PER_PAGE = 50
_KNOWN = {
    "holds": "this is proved already",
    "fails": "this contradicts what is known",
    "unknown": "this is not known yet",
}
_QUICK = 200
"""Maximum number of concatenations that are checked without a request by the user."""


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact.

    Attributes
    ----------
    number, statement
        The number and the statement of the fact.
    origin, reason
        The origin (declared or observed), and the reason to hold the fact true.
    by, at
        The author and the time of the declaration.
    state
        Held true, retracted, or suspended because data contradict the fact.
    ended_by, ended_at, ended_because
        The author, time and reason of the retraction; None and empty for a fact held true.
    """

    number: int
    statement: LinkedStatement
    origin: str
    reason: str
    by: str
    at: datetime
    state: str
    ended_by: str | None
    ended_at: datetime | None
    ended_because: str


@dataclass(frozen=True, slots=True)
class FactCounts:
    """The numbers of facts: declared and observed facts held true, retracted facts, and suspended facts."""

    declared: int
    observed: int
    retracted: int
    suspended: int


@dataclass(frozen=True, slots=True)
class FactDraft:
    """A statement that the user wants to declare, and the reason."""

    statement: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KnowledgePage:
    """A page of the list of facts.

    Attributes
    ----------
    catalog, origin, state
        The request: facts about a catalog, of an origin, in a state.
    suggested
        Names of catalogs to choose from.
    numbers
        The numbers of facts of any origin and in any state.
    facts, total, page, pages
        The facts on this page, the number of facts on all pages, the number of this page (from 1) and of pages.
    concatenations
        The number of concatenations in the archive.
    unproved
        The concatenations whose members must be disjoint but are not proved so any more; None without a check.
    problem
        The error in the input.
    draft
        The statement to declare, as far as the user has written it.
    warning
        What the fact declared last implies, if it empties or equates catalogs.
    """

    catalog: str
    origin: Origin
    state: State
    suggested: tuple[str, ...]
    numbers: FactCounts
    facts: tuple[FactLine, ...]
    total: int
    page: int
    pages: int
    concatenations: int
    unproved: tuple[CatalogLink, ...] | None
    problem: FormProblem | None
    draft: FactDraft = FactDraft()
    warning: str = ""


def list_facts(
    archive: ServedArchive,
    *,
    catalog: Annotated[str, Query(max_length=500)] = "",
    origin: Origin = "any",
    state: State = "any",
    page: Annotated[int, Query(ge=1, le=10_000_000)] = 1,
    unproved: Annotated[bool, Query(description="Search all catalogs for unproved concatenations")] = False,
    declared: Annotated[int, Query(ge=0, le=2**62, description="The number of a fact just declared")] = 0,
) -> KnowledgePage:
    """List facts: about a catalog, declared or observed, held true or not any more."""
    all_facts: Sequence[Fact] = ()
    problem = None
    try:
        all_facts = list(archive.facts(catalog if catalog.strip() else None, retracted=True))[::-1]
    except ProvennError as error:
        problem = make_problem("catalog", error)
    matching = [fact for fact in all_facts if origin in ("any", fact.origin) and state in ("any", _find_state(fact))]
    shown = matching[(page - 1) * _PER_PAGE : page * _PER_PAGE]
    labels = list(dict.fromkeys(label for fact in shown for label in fact.statement.labels))
    digests = {name: labelled.digest for name, labelled in zip(labels, archive.catalogs(labels), strict=True)}
    concatenations = sum(archive.matches(kind=kind) for kind in NEEDING_PROOF)
    return KnowledgePage(
        catalog,
        origin,
        state,
        suggest_names(archive),
        _count_facts(all_facts),
        tuple(_make_fact_line(fact, digests) for fact in shown),
        len(matching),
        page,
        max(1, -(-len(matching) // _PER_PAGE)),
        concatenations,
        _list_unproved(archive) if unproved or concatenations <= _QUICK else None,
        problem,
        warning=_describe_implications(archive, declared),
    )


def _describe_implications(archive: Archive, number: int) -> str:
    """Return what a fact implies that is seldom intended, as the archive noticed when it was declared."""
    notices = (notice for notice in archive.notices if notice.kind == "implies") if number else ()
    return next((notice.message for notice in notices if any(fact.id == number for fact in notice.facts)), "")


def _find_state(fact: Fact) -> Literal["held", "retracted", "suspended"]:
    if fact.holds:
        return "held"
    return "suspended" if fact.suspended else "retracted"


def _count_facts(facts: Sequence[Fact]) -> FactCounts:
    kinds = [fact.origin if fact.holds else _find_state(fact) for fact in facts]
    return FactCounts(*(kinds.count(kind) for kind in ("declared", "observed", "retracted", "suspended")))


def _make_fact_line(fact: Fact, digests: Mapping[str, str]) -> FactLine:
    return FactLine(
        fact.id,
        split_statement(fact.statement, digests),
        fact.origin,
        fact.reason,
        fact.declared_by,
        fact.declared_at,
        _find_state(fact),
        fact.retracted_by,
        fact.retracted_at,
        fact.ended_because,
    )


def _list_unproved(archive: Archive) -> tuple[CatalogLink, ...]:
    return tuple(CatalogLink(catalog.name, catalog.digest) for catalog in archive.unproved())


def check_statement(archive: ServedArchive, *, statement: Annotated[str, Query(max_length=2000)] = "") -> LiveAnswer:
    """Check a statement while it is typed: whether it can be read, and what is known about it."""
    if not statement.strip():
        return LiveAnswer(True, "")
    try:
        verdict = archive.prove(statement).verdict
    except ProvennError as error:
        return refuse_live(make_problem("statement", error))
    return LiveAnswer(verdict != "fails", _KNOWN[verdict])


add_form(router, "/knowledge", list_facts, "knowledge.html")
router.get("/api/knowledge/check", name="check_statement")(check_statement)


@router.post("/knowledge/declare", include_in_schema=False)
@entrance("form for a fact", "length", "criteria")
def declare_fact(
    archive: ServedArchive,
    *,
    statement: Annotated[str, Form(max_length=2000)] = "",
    reason: Annotated[str, Form(max_length=2000)] = "",
    visibility: Annotated[Visibility, Form()] = "public",
) -> Response:
    """Declare a fact, and show it in the list."""
    try:
        fact = archive.declare(statement, reason=reason, visibility=visibility)
    except ProvennError as error:
        problem = make_problem("statement", error)
        page = replace(list_facts(archive), problem=problem, draft=FactDraft(statement, reason))
        return render("knowledge.html", {"content": page, "json": "/api/knowledge"}, problem.status)
    return RedirectResponse(f"/knowledge?declared={fact.id}", 303)


@router.post("/knowledge/retract", include_in_schema=False)
@entrance("form for a retraction", "length", "types")
def retract_fact(
    archive: ServedArchive,
    *,
    number: Annotated[int, Form(ge=1, le=2**62)],
    reason: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """Retract a fact, and show the list."""
    archive.retract(number, reason=reason)
    return RedirectResponse("/knowledge", 303)
