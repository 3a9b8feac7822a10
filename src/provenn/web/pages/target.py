"""The page of a target: the user picks sources and attributes, sees the plan, and starts a job."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse

from provenn.archive import Archive, Target
from provenn.catalogs import PythonCalculator
from provenn.criteria import split_commas
from provenn.display import world_svg
from provenn.display.plan import PlanNode, PlanPicture, plan_svg, plan_text
from provenn.display.row_counts import Rows
from provenn.errors import NotCoveredError, ProvennError
from provenn.gate.entrances import entrance
from provenn.targets.keeping import Keep
from provenn.targets.plan import Plan
from provenn.targets.planning import Missing
from provenn.web.asking import FormProblem, add_form, make_problem
from provenn.web.jobs import Format, JobRequest
from provenn.web.pages.catalog import CatalogLink
from provenn.web.pages.compare import suggest_names
from provenn.web.pages.jobs import ServedJobs
from provenn.web.rendering import ServedArchive

__all__ = ["router"]

router = APIRouter()

_OFFERED = 60
"""Maximum number of attributes with a checkbox; the user types further attributes."""

_SUGGESTED = 1000
_DRAWN = 2
"""Maximum number of catalogs with the attribute that are drawn beside the catalog without it."""

Word = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """The request for a target, as written by the user."""

    sources: str
    attributes: tuple[str, ...]
    where: str
    missing: Missing
    keep: Keep


@dataclass(frozen=True, slots=True)
class PlanReason:
    """The justification of a rule: in words, as statements, and with the facts that prove the statements."""

    rule: str
    because: str
    statements: tuple[str, ...]
    proof: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanNote:
    """A note on a plan: a heading and lines."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TargetPlan:
    """The plan of a target.

    Attributes
    ----------
    what
        The result in words.
    attributes
        The attributes of the result, the key included.
    rows
        The number of sources, as far as known.
    rests_on
        The declared facts on which the answer rests, in words.
    before, after
        The steps as defined, and the steps to execute.
    reused, calculated, created
        The numbers of the fragments to read; the Python calculators to call; the number of newly defined catalogs.
    notes
        The origin of each attribute, and the proofs, new catalogs, kept results and choices of the plan.
    reasons
        The justification that the steps to execute give the requested result.
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
    notes: tuple[PlanNote, ...]
    reasons: tuple[PlanReason, ...]


@dataclass(frozen=True, slots=True)
class PossibleWorld:
    """A possible world: some sets, and the inhabited regions, each as the sets that contain it."""

    sets: tuple[str, ...]
    regions: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class TargetPage:
    """The request, the choices and the plan of the page.

    Attributes
    ----------
    wanted
        The request.
    suggested
        Names of catalogs to choose sources from.
    source
        The catalog of the sources; None without a valid choice.
    offered, others
        Attributes with a checkbox, the attributes of the catalog itself first; and the names of further attributes.
    plan
        The plan; None without a valid request.
    problem
        The error in the input.
    world
        A possible world in which some sources lack an attribute, if that is the problem.
    """

    wanted: TargetRequest
    suggested: tuple[str, ...]
    source: CatalogLink | None
    offered: tuple[str, ...]
    others: tuple[str, ...]
    plan: TargetPlan | None
    problem: FormProblem | None
    world: PossibleWorld | None = None


def plan_target(
    archive: ServedArchive,
    *,
    sources: Word = "",
    attributes: Annotated[list[Word] | None, Query(max_length=200)] = None,
    more: Annotated[
        str,
        Query(max_length=2000, description="More attributes, separated by commas, for example vmag, DR1.z AS z_dr1"),
    ] = "",
    where: Annotated[str, Query(max_length=2000)] = "",
    missing: Missing = "error",
    keep: Keep = "worthwhile",
) -> TargetPage:
    """Plan how attributes of sources would be computed. Nothing is computed for it."""
    names = tuple(dict.fromkeys(name for name in (*(attributes or ()), *split_commas(more)) if name))
    wanted = TargetRequest(sources, names, where, missing, keep)
    source, plan, problem, world = None, None, None, None
    offered: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    field = "sources"
    try:
        if sources.strip():
            source, offered, others = _list_choices(archive, sources, names)
            field = "attributes"
        if source is not None and names:
            target = archive.target(sources, names, where=where or None, missing=missing, keep=keep)
            plan = _plan_target(target)
    except ProvennError as error:
        problem = make_problem(_find_field(archive, wanted, field), error)
        if isinstance(error, NotCoveredError) and source is not None:
            world = _reduce_world(archive, source, error)
    return TargetPage(wanted, suggest_names(archive), source, offered, others, plan, problem, world)


def _find_field(archive: Archive, wanted: TargetRequest, field: str) -> str:
    """Return the field with the error: the condition, if the request is valid without it."""
    if field != "attributes" or not wanted.where.strip():
        return field
    try:
        archive.target(wanted.sources, wanted.attributes, missing=wanted.missing, keep=wanted.keep).plan()
    except ProvennError:
        return field
    return "where"


def _list_choices(
    archive: Archive, sources: str, requested: tuple[str, ...]
) -> tuple[CatalogLink, tuple[str, ...], tuple[str, ...]]:
    """Return the catalog of the sources, the attributes with a checkbox, and further attributes."""
    catalog = archive.catalog(sources)
    key = {attribute.name for attribute in catalog.schema.key}
    own = [name for name in catalog.schema.names if name not in key]
    known = archive.attributes(catalog.definition.population.name)
    all_names = [name for name in dict.fromkeys((*own, *known)) if name not in key]
    first = all_names[:_OFFERED]
    offered = tuple(dict.fromkeys((*first, *(name for name in requested if name in set(all_names)))))
    return CatalogLink(sources, catalog.digest), offered, tuple(all_names[_OFFERED : _OFFERED + _SUGGESTED])


def _reduce_world(archive: Archive, source: CatalogLink, error: NotCoveredError) -> PossibleWorld | None:
    """Return the world of an error, reduced to the sources and some catalogs with the missing attribute."""
    if error.world is None:
        return None
    names = {source.digest: source.name}
    for match in archive.search(attribute=error.attribute, named=True, most=_SUGGESTED):
        if len(names) <= _DRAWN and error.attribute in archive.catalog(match.digest).schema.names:
            names.setdefault(match.digest, match.names[0])
    regions = {tuple(name for digest, name in names.items() if digest in region) for region in error.world.regions}
    return PossibleWorld(tuple(names.values()), tuple(sorted(regions)))


def _plan_target(target: Target) -> TargetPlan:
    plan = target.plan()
    plan_picture = plan.picture
    return TargetPlan(
        plan_picture.title,
        tuple(column.name for column in plan.columns),
        plan.rows,
        tuple(fact.words for fact in plan.rests_on),
        plan_picture.before,
        plan_picture.after,
        tuple(fragment.id for fragment in plan.fragments),
        _list_calculators(plan),
        len(plan.created),
        tuple(PlanNote(heading, lines) for heading, lines in plan_picture.notes),
        tuple(
            PlanReason(reason.rule, reason.because, tuple(map(str, reason.statements)), reason.proof)
            for reason in plan.reasons
            if reason.statements
        ),
    )


def _list_calculators(plan: Plan) -> tuple[str, ...]:
    calculators = (calculation.calculator for calculation in plan.calculations)
    functions = (calculator.function for calculator in calculators if isinstance(calculator, PythonCalculator))
    return tuple(dict.fromkeys(functions))


def _draw_pictures(page: TargetPage) -> dict[str, str]:
    plan, world = page.plan, page.world
    if world is not None:
        title = "A possible world in which some sources do not have it"
        return {
            "picture": world_svg(world.sets, [frozenset(region) for region in world.regions], title=title, inline=True)
        }
    if plan is None:
        return {}
    plan_picture = PlanPicture(plan.what, plan.before, plan.after)
    return {"picture": plan_svg(plan_picture, inline=True), "text": plan_text(plan_picture, 120)}


add_form(router, "/target", plan_target, "target.html", _draw_pictures)


@router.post("/target/run", include_in_schema=False)
@entrance("form for a job", "length", "types", "criteria")
def run_target(
    jobs: ServedJobs,
    *,
    sources: Annotated[str, Form(min_length=1, max_length=500)],
    attributes: Annotated[list[str], Form(min_length=1, max_length=200)],
    where: Annotated[str, Form(max_length=2000)] = "",
    missing: Annotated[Missing, Form()] = "error",
    keep: Annotated[Keep, Form()] = "worthwhile",
    format: Annotated[Format, Form()] = "parquet",  # noqa: A002 - Spark's word for it
) -> RedirectResponse:
    """Have a target computed, and go to its job."""
    job = jobs.start(JobRequest(sources, tuple(attributes), where or None, missing, keep, format))
    return RedirectResponse(f"/jobs/{job.id}", 303)
