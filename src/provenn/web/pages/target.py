"""A target: sources and attributes are picked, the plan is seen, and a job computes it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse

from provenn.archive import Archive, Target
from provenn.catalogs import PythonCalculator
from provenn.criteria import split_commas
from provenn.display import world_svg
from provenn.display.plan import PlanNode, PlanPicture, plan_svg, plan_text
from provenn.display.rows import Rows
from provenn.errors import NotCoveredError, ProvennError
from provenn.targets.plan import Plan
from provenn.targets.planning import Missing
from provenn.targets.running import Keep
from provenn.targets.telling import picture
from provenn.web.asking import Problem, add_form, problem_of
from provenn.web.jobs import Asked, Format
from provenn.web.pages.compare import Linked, suggested
from provenn.web.pages.jobs import HeldJobs
from provenn.web.rendering import Held

__all__ = ["router"]

router = APIRouter()

_OFFERED = 60
"""How many attributes have a box to tick; others are typed."""

_SUGGESTED = 1000
_DRAWN = 2
"""How many catalogs that have an attribute are drawn beside one that has not."""

Word = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for, as it was written."""

    sources: str
    attributes: tuple[str, ...]
    where: str
    missing: Missing
    keep: Keep


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a rule could be applied: in words, as statements, and the facts that prove them."""

    rule: str
    because: str
    statements: tuple[str, ...]
    proof: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A heading, and lines below it."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """How a target is answered.

    Attributes
    ----------
    what
        What it gives.
    attributes
        Its attributes, the key included.
    rows
        How many sources there are, as far as that is known.
    rests_on
        The declared facts on which the answer rests, in words.
    before, after
        The steps as everything is defined, and those that are executed.
    reused, calculated, created
        The numbers of the fragments that are read; the calculators in Python that are called; how many catalogs were
        not defined yet.
    notes
        How each attribute is had, what is proved, created, kept and chosen.
    reasons
        Why the steps that are executed give what was asked for.
    """

    what: str
    attributes: tuple[str, ...]
    rows: Rows
    rests_on: tuple[str, ...]
    before: PlanNode
    after: PlanNode
    reused: tuple[int, ...]
    calculated: tuple[str, ...]
    created: int
    notes: tuple[Note, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Possible:
    """A possible world: some sets, and the regions in which something is, each as the sets it lies in."""

    sets: tuple[str, ...]
    regions: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Targeting:
    """What was asked for, what could be, and how it is answered.

    Attributes
    ----------
    wanted
        What was asked for.
    suggested
        Names of catalogs to choose sources from.
    source
        The catalog whose sources are meant, once it is known.
    offered, others
        Attributes to choose from: first those of the catalog itself; and names of more.
    plan
        The plan; None if there is nothing to plan yet.
    problem
        What is wrong with what was asked.
    world
        If some sources may not have an attribute: a possible world in which that is so.
    """

    wanted: Wanted
    suggested: tuple[str, ...]
    source: Linked | None
    offered: tuple[str, ...]
    others: tuple[str, ...]
    plan: Planned | None
    problem: Problem | None
    world: Possible | None = None


def plan_target(
    archive: Held,
    *,
    sources: Word = "",
    attributes: Annotated[list[Word] | None, Query(max_length=200)] = None,
    more: Annotated[
        str,
        Query(max_length=2000, description="More attributes, with commas between them, as in: vmag, DR1.z AS z_dr1"),
    ] = "",
    where: Annotated[str, Query(max_length=2000)] = "",
    missing: Missing = "error",
    keep: Keep = "worthwhile",
) -> Targeting:
    """Plan how attributes of sources would be computed. Nothing is computed for it."""
    names = tuple(dict.fromkeys(name for name in (*(attributes or ()), *split_commas(more)) if name))
    wanted = Wanted(sources, names, where, missing, keep)
    source, plan, problem, world = None, None, None, None
    offered: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    field = "sources"
    try:
        if sources.strip():
            source, offered, others = _choice(archive, sources, names)
            field = "attributes"
        if source is not None and names:
            target = archive.target(sources, names, where=where or None, missing=missing, keep=keep)
            plan = _planned(target)
    except ProvennError as error:
        problem = problem_of(field, error)
        if isinstance(error, NotCoveredError) and source is not None:
            world = _possible(archive, source, error)
    return Targeting(wanted, suggested(archive), source, offered, others, plan, problem, world)


def _choice(archive: Archive, sources: str, asked: tuple[str, ...]) -> tuple[Linked, tuple[str, ...], tuple[str, ...]]:
    """Return the catalog of the sources, the attributes to tick, and others."""
    catalog = archive.catalog(sources)
    key = {one.name for one in catalog.schema.key}
    own = [name for name in catalog.schema.names if name not in key]
    known = archive.attributes(catalog.definition.population.name)
    every = [name for name in dict.fromkeys((*own, *known)) if name not in key]
    first = every[:_OFFERED]
    offered = tuple(dict.fromkeys((*first, *(name for name in asked if name in set(every)))))
    return Linked(sources, catalog.digest), offered, tuple(every[_OFFERED : _OFFERED + _SUGGESTED])


def _possible(archive: Archive, source: Linked, error: NotCoveredError) -> Possible | None:
    """Return a world in which some sources lack an attribute, reduced to these sources and catalogs that have it."""
    if error.world is None:
        return None
    names = {source.digest: source.name}
    for one in archive.search(attribute=error.attribute, named=True, most=_SUGGESTED):
        if len(names) <= _DRAWN and error.attribute in archive.catalog(one.digest).schema.names:
            names.setdefault(one.digest, one.names[0])
    regions = {tuple(name for digest, name in names.items() if digest in one) for one in error.world.regions}
    return Possible(tuple(names.values()), tuple(sorted(regions)))


def _planned(target: Target) -> Planned:
    plan = target.plan()
    told = picture(plan)
    return Planned(
        told.title,
        tuple(one.name for one in plan.columns),
        plan.rows,
        tuple(fact.words for fact in plan.rests_on),
        told.before,
        told.after,
        tuple(one.id for one in plan.fragments),
        _calculated(plan),
        len(plan.created),
        tuple(Note(heading, lines) for heading, lines in told.notes),
        tuple(
            Reason(one.rule, one.because, tuple(map(str, one.statements)), one.proof)
            for one in plan.reasons
            if one.statements
        ),
    )


def _calculated(plan: Plan) -> tuple[str, ...]:
    found = (one.calculator for one in plan.calculations)
    return tuple(dict.fromkeys(one.function for one in found if isinstance(one, PythonCalculator)))


def _drawn(found: Targeting) -> dict[str, str]:
    plan, world = found.plan, found.world
    if world is not None:
        title = "A possible world in which some sources do not have it"
        return {"picture": world_svg(world.sets, [frozenset(one) for one in world.regions], title=title, inline=True)}
    if plan is None:
        return {}
    drawn = PlanPicture(plan.what, plan.before, plan.after)
    return {"picture": plan_svg(drawn, inline=True), "text": plan_text(drawn, 120)}


add_form(router, "/target", plan_target, "target.html", _drawn)


@router.post("/target/run", include_in_schema=False)
def run_target(
    jobs: HeldJobs,
    *,
    sources: Annotated[str, Form(min_length=1, max_length=500)],
    attributes: Annotated[list[str], Form(min_length=1, max_length=200)],
    where: Annotated[str, Form(max_length=2000)] = "",
    missing: Annotated[Missing, Form()] = "error",
    keep: Annotated[Keep, Form()] = "worthwhile",
    format: Annotated[Format, Form()] = "parquet",  # noqa: A002 - Spark's word for it
) -> RedirectResponse:
    """Have a target computed, and go to its job."""
    job = jobs.start(Asked(sources, tuple(attributes), where or None, missing, keep, format))
    return RedirectResponse(f"/jobs/{job.id}", 303)
