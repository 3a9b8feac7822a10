"""The page that compares two or three catalogs, and proves or refutes a statement about catalogs."""

from dataclasses import dataclass
from itertools import islice
from shlex import quote
from typing import Annotated, Final, Literal

import numpy as np
from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse, Response

from provenn.archive import Archive
from provenn.archive.overlaps import map_overlap, map_region
from provenn.archive.witnesses import describe_help
from provenn.display import relationship_html, venn_states_svg, world_svg
from provenn.display.row_counts import Rows
from provenn.display.sky_map import missing_map_svg
from provenn.display.venn import RegionState
from provenn.errors import ProvennError, SparkNeededError, TooLargeError
from provenn.gate.entrances import entrance
from provenn.web.asking import FormProblem, add_form, make_problem
from provenn.web.catalog_data import MOST_UNASKED, has_position
from provenn.web.failures import PAGE_FAILURE
from provenn.web.pages.catalog import CatalogLink
from provenn.web.policy import make_picture
from provenn.web.remembering import Remembering
from provenn.web.rendering import ServedArchive, make_query
from provenn.web.saying import LinkedStatement, ProofReason, split_reasons, split_statement

__all__ = ["SUGGESTED", "router", "suggest_names"]

router = APIRouter()

SUGGESTED = 200
"""Maximum number of catalogs with names that a field suggests."""

_BUDGET = 3.0
"""Time limit in seconds for a proof."""

_DRAWN = 16
"""Maximum number of drawn hypercubes."""

_SAYS: Final = {"holds": "proved", "fails": "refuted", "unknown": "unknown"}

Name = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True)
class VennRegion:
    """A region of the Venn diagram: in words; its state, and in words; and its number of sources, as far as proved.

    The number outside all catalogs is not known, and None. `inside` has a digit for each catalog: 1 if the region lies
    inside, 0 otherwise.
    """

    words: str
    state: RegionState
    says: str
    sources: Rows | None = None
    inside: str = ""

    @property
    def may_be_drawn(self) -> bool:
        """Whether the region lies in a catalog, and is not proved to be empty."""
        return "1" in self.inside and self.state is not RegionState.EMPTY


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """The relation of two catalogs, the facts that prove it, the assumptions about base files, and what helps.

    The proof to read is `chain`: the facts, and for a long proof the statements that follow between them. `left` and
    `right` are the names of the catalogs.
    """

    words: str
    summary: str
    reasons: tuple[ProofReason, ...]
    caveats: tuple[str, ...]
    helps: tuple[str, ...]
    chain: tuple[ProofReason, ...] = ()
    left: str = ""
    right: str = ""


@dataclass(frozen=True, slots=True)
class ComparedCatalogs:
    """The comparison of two or three catalogs.

    Attributes
    ----------
    catalogs
        The catalogs.
    regions
        The state of each region; the last catalog changes fastest, outside before inside.
    kind, hypercubes
        The kind of the relationship, and the number of possible hypercubes.
    cells
        The first hypercubes, each as one boolean per region: whether the region is inhabited.
    pairs
        The relation of each pair.
    is_open
        Whether a look at the data would tell more: two catalogs whose relation, or a region of it, is unknown.
    has_sky
        Whether there are different catalogs, which all have positions on the sky.
    rests_on
        The declared facts on which the regions rest, in words.
    """

    catalogs: tuple[CatalogLink, ...]
    regions: tuple[VennRegion, ...]
    kind: str
    hypercubes: int
    cells: tuple[tuple[bool, ...], ...]
    pairs: tuple[ComparedPair, ...]
    is_open: bool = False
    has_sky: bool = False
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProofAnswer:
    """The answer to the question whether a statement holds.

    Attributes
    ----------
    statement
        The statement of the request.
    verdict
        ``proved``, ``refuted`` (the opposite is proved), or ``unknown``.
    ran_out
        Whether the verdict is unknown because the time ran out.
    reasons
        The facts that prove the statement or its opposite.
    sets, world
        The sets of the statement; and, for an unknown verdict, the inhabited regions of a possible world in which the
        statement is false, each region as the sets that contain it.
    caveats
        The assumptions about base files, one sentence each.
    helps
        For an unknown verdict: the closest statements that are proved, and possible rows with which it would be false.
    chain
        The proof to read: the facts, and for a long proof the statements that follow between them.
    """

    statement: LinkedStatement
    verdict: str
    ran_out: bool
    reasons: tuple[ProofReason, ...]
    sets: tuple[str, ...]
    world: tuple[tuple[str, ...], ...] | None
    caveats: tuple[str, ...]
    helps: tuple[str, ...]
    chain: tuple[ProofReason, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparePage:
    """The request and the answers of the page.

    Attributes
    ----------
    a, b, c
        The names of the catalogs to compare, as written by the user.
    ask
        The statement.
    suggested
        Names of catalogs to choose from.
    compared, answer
        The answers; None without a valid request.
    problem
        The error in the input.
    """

    a: str
    b: str
    c: str
    ask: str
    suggested: tuple[str, ...]
    compared: ComparedCatalogs | None
    answer: ProofAnswer | None
    problem: FormProblem | None

    @property
    def is_repeatable(self) -> bool:
        """Whether the same request would be answered in the same way: not if the time for a proof ran out."""
        return self.problem is None and (self.answer is None or not self.answer.ran_out)


def compare_catalogs(
    archive: ServedArchive,
    *,
    a: Name = "",
    b: Name = "",
    c: Name = "",
    ask: Annotated[str, Query(max_length=2000)] = "",
) -> ComparePage:
    """Compare two or three catalogs; prove a statement about catalogs."""
    names = [name for name in (a, b, c) if name.strip()]
    compared, answer, problems = None, None, []
    if len(names) > 1:
        try:
            compared = _compare(archive, names)
        except ProvennError as error:
            problems.append(make_problem("catalogs", error))
    if ask.strip():
        try:
            answer = _prove(archive, ask)
        except ProvennError as error:
            problems.append(make_problem("ask", error))
    return ComparePage(a, b, c, ask, suggest_names(archive), compared, answer, next(iter(problems), None))


def suggest_names(archive: Archive) -> tuple[str, ...]:
    """Return names of the newest catalogs, the newest first."""
    return tuple(name for match in archive.search(named=True, most=SUGGESTED) for name in match.names)


def _compare(archive: Archive, names: list[str]) -> ComparedCatalogs:
    comparison = archive.compare(*names, why=True)
    is_pair = len(comparison.names) == 2
    return ComparedCatalogs(
        tuple(CatalogLink(name, digest) for name, digest in zip(comparison.names, comparison.digests, strict=True)),
        tuple(
            VennRegion(
                region.words, region.state, region.says, region.sources, "".join("01"[flag] for flag in region.inside)
            )
            for region in comparison.regions
        ),
        str(comparison.hypercubes.kind),
        len(comparison.hypercubes),
        tuple(tuple(map(bool, cube.ravel())) for cube in islice(comparison.hypercubes.arrays(), _DRAWN)),
        tuple(
            ComparedPair(
                relation.words,
                relation.summary,
                split_reasons(relation.reasons),
                relation.caveats,
                describe_help(relation.closest, relation.witnesses),
                split_reasons(relation.lines),
                relation.left,
                relation.right,
            )
            for relation in comparison.relations
        ),
        is_pair and any(region.state is RegionState.UNKNOWN for region in comparison.regions),
        len(comparison.digests) > 1 and all(has_position(archive.catalog(digest)) for digest in comparison.digests),
        tuple(fact.words for fact in comparison.rests_on),
    )


def _prove(archive: Archive, ask: str) -> ProofAnswer:
    proof = archive.prove(ask, budget=_BUDGET, why=True)
    sets = proof.statement.labels
    digests = {name: catalog.digest for name, catalog in zip(sets, archive.catalogs(sets), strict=True)}
    regions = (
        None if proof.world is None else sorted((sorted(region) for region in proof.world.regions), key=_order_region)
    )
    return ProofAnswer(
        split_statement(proof.statement, digests),
        _SAYS[proof.verdict],
        proof.verdict == "unknown" and proof.world is None,
        split_reasons(proof.reasons),
        sets,
        None if regions is None else tuple(map(tuple, regions)),
        proof.caveats,
        describe_help(proof.closest, proof.witnesses),
        split_reasons(proof.lines),
    )


def _order_region(region: list[str]) -> tuple[int, list[str]]:
    return len(region), region


def _draw_pictures(page: ComparePage) -> dict[str, str]:
    pictures = {}
    if page.compared is not None:
        names = [catalog.name for catalog in page.compared.catalogs]
        shape = (2,) * len(names)
        cubes = [np.array(cells, np.bool_).reshape(shape) for cells in page.compared.cells]
        total = page.compared.hypercubes
        pictures["venn"] = venn_states_svg(names, [region.state for region in page.compared.regions], inline=True)
        pictures["cubes"] = relationship_html(names, cubes, kind=page.compared.kind, total=total)
    if page.answer is not None and page.answer.world is not None:
        regions = [frozenset(region) for region in page.answer.world]
        title = f"A possible world in which {page.answer.statement.text} is false"
        pictures["world"] = world_svg(page.answer.sets, regions, title=title, inline=True)
    return pictures


add_form(router, "/compare", compare_catalogs, "compare.html", _draw_pictures, remembering=Remembering())


@router.post("/compare/look", include_in_schema=False)
@entrance("form for a look at two catalogs", "length")
def look_at_overlap(
    archive: ServedArchive,
    *,
    a: Annotated[str, Form(min_length=1, max_length=500)],
    b: Annotated[str, Form(min_length=1, max_length=500)],
    c: Annotated[str, Form(max_length=500)] = "",
    ask: Annotated[str, Form(max_length=2000)] = "",
) -> RedirectResponse:
    """Count the sources that two catalogs share and those of one alone, without Spark; go back to the comparison.

    The comparison may have a third catalog and a question.
    """
    try:
        archive.overlap(a, b, engine="look")
    except SparkNeededError as error:
        command = f"provenn relate {quote(a)} {quote(b)} --look"
        raise SparkNeededError(
            error.message, hint=f"ask the administrator to run {command}, which starts Spark"
        ) from error
    return RedirectResponse(make_query("/compare", a=a, b=b, c=c, ask=ask), 303)


@router.get(
    "/compare/sky.svg",
    response_class=Response,
    summary="The map of the sources that two catalogs share and of those of one alone, or of a region of three.",
    responses={200: {"content": {"image/svg+xml": {}}}, "4XX": {**PAGE_FAILURE}},
)
def draw_overlap(
    archive: ServedArchive,
    *,
    a: Name,
    b: Name,
    c: Name = "",
    inside: Literal["100", "010", "001", "110", "101", "011", "111"] = "111",
) -> Response:
    """Draw the regions of two catalogs on the sky; of three, the region with a 1 for each catalog around it."""
    catalogs = [archive.catalog(name) for name in (a, b, c) if name.strip()]
    named = [(catalog.definition, catalog.name) for catalog in catalogs]
    try:
        if len(named) == 2:
            return make_picture(map_overlap(archive.context, *named, most=MOST_UNASKED).svg())
        flags = [digit == "1" for digit in inside]
        return make_picture(map_region(archive.context, named, flags, most=MOST_UNASKED).svg())
    except (SparkNeededError, TooLargeError) as error:
        return make_picture(missing_map_svg(error.message))
