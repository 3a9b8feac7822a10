"""Two or three catalogs compared, and any statement about catalogs: what is proved, and what is possible."""

from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Final

import numpy as np
from fastapi import APIRouter, Query

from provenn.archive import Archive
from provenn.display import relationship_html, venn_states_svg, world_svg
from provenn.display.venn import RegionState
from provenn.errors import ProvennError
from provenn.web.asking import Problem, add_form, problem_of
from provenn.web.rendering import Held
from provenn.web.saying import Because, Said, because, said

__all__ = ["SUGGESTED", "Linked", "router", "suggested"]

router = APIRouter()

SUGGESTED = 200
"""How many names a field suggests."""

_BUDGET = 3.0
"""Seconds in which a proof must be found."""

_DRAWN = 16
"""How many hypercubes are drawn."""

_SAYS: Final = {"holds": "proved", "fails": "refuted", "unknown": "unknown"}

Name = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True)
class Linked:
    """A catalog."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Region:
    """A region of the Venn diagram: in words, and whether it is empty, inhabited or unknown; and that in words."""

    words: str
    state: RegionState
    says: str


@dataclass(frozen=True, slots=True)
class Pair:
    """How two catalogs relate, the facts that prove it, and what is taken on trust of base files."""

    words: str
    summary: str
    reasons: tuple[Because, ...]
    caveats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """What is known of two or three catalogs.

    Attributes
    ----------
    catalogs
        The catalogs.
    regions
        What is known of each region; the last catalog changes fastest, outside before inside.
    kind, hypercubes
        What kind of relationship it is, and how many hypercubes are possible.
    cells
        The first of these, each as whether each region holds anything.
    pairs
        How each pair relates.
    """

    catalogs: tuple[Linked, ...]
    regions: tuple[Region, ...]
    kind: str
    hypercubes: int
    cells: tuple[tuple[bool, ...], ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a statement holds.

    Attributes
    ----------
    statement
        What was asked.
    verdict
        Whether it is ``proved``, ``refuted`` (its opposite is proved), or ``unknown``.
    ran_out
        Whether it is unknown because the time ran out.
    reasons
        The facts that prove it, or its opposite.
    sets, world
        If it is unknown: the sets in it, and the regions in which something is, in a possible world in which it is
        false, each as the sets it lies in.
    caveats
        What is taken on trust of base files, a sentence each.
    """

    statement: Said
    verdict: str
    ran_out: bool
    reasons: tuple[Because, ...]
    sets: tuple[str, ...]
    world: tuple[tuple[str, ...], ...] | None
    caveats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparing:
    """What was asked, and the answers.

    Attributes
    ----------
    a, b, c
        The catalogs to compare, as they were named.
    ask
        The statement.
    suggested
        Names of catalogs to choose from.
    compared, answer
        The answers; None if there is nothing to answer.
    problem
        What is wrong with what was asked.
    """

    a: str
    b: str
    c: str
    ask: str
    suggested: tuple[str, ...]
    compared: Compared | None
    answer: Answer | None
    problem: Problem | None


def compare_catalogs(
    archive: Held,
    *,
    a: Name = "",
    b: Name = "",
    c: Name = "",
    ask: Annotated[str, Query(max_length=2000)] = "",
) -> Comparing:
    """Compare two or three catalogs; prove a statement about catalogs."""
    which = [one for one in (a, b, c) if one.strip()]
    compared, answer, problems = None, None, []
    if len(which) > 1:
        try:
            compared = _compared(archive, which)
        except ProvennError as error:
            problems.append(problem_of("catalogs", error))
    if ask.strip():
        try:
            answer = _answer(archive, ask)
        except ProvennError as error:
            problems.append(problem_of("ask", error))
    return Comparing(a, b, c, ask, suggested(archive), compared, answer, next(iter(problems), None))


def suggested(archive: Archive) -> tuple[str, ...]:
    """Return some names of catalogs, those of the newest first."""
    return tuple(name for one in archive.search(named=True, most=SUGGESTED) for name in one.names)


def _compared(archive: Archive, which: list[str]) -> Compared:
    found = archive.compare(*which)
    return Compared(
        tuple(Linked(name, digest) for name, digest in zip(found.names, found.digests, strict=True)),
        tuple(Region(one.words, one.state, one.says) for one in found.regions),
        str(found.hypercubes.kind),
        len(found.hypercubes),
        tuple(tuple(map(bool, one.ravel())) for one in islice(found.hypercubes.arrays(), _DRAWN)),
        tuple(Pair(one.words, one.summary, because(one.reasons), one.caveats) for one in found.relations),
    )


def _answer(archive: Archive, ask: str) -> Answer:
    found = archive.prove(ask, budget=_BUDGET)
    sets = found.statement.labels
    digests = {name: one.digest for name, one in zip(sets, archive.catalogs(sets), strict=True)}
    regions = None if found.world is None else sorted((sorted(one) for one in found.world.regions), key=_size)
    return Answer(
        said(found.statement, digests),
        _SAYS[found.verdict],
        found.verdict == "unknown" and found.world is None,
        because(found.reasons),
        sets,
        None if regions is None else tuple(map(tuple, regions)),
        found.caveats,
    )


def _size(region: list[str]) -> tuple[int, list[str]]:
    return len(region), region


def _drawn(found: Comparing) -> dict[str, str]:
    pictures = {}
    if found.compared is not None:
        names = [one.name for one in found.compared.catalogs]
        shape = (2,) * len(names)
        cubes = [np.array(one, np.bool_).reshape(shape) for one in found.compared.cells]
        total = found.compared.hypercubes
        pictures["venn"] = venn_states_svg(names, [one.state for one in found.compared.regions], inline=True)
        pictures["cubes"] = relationship_html(names, cubes, kind=found.compared.kind, total=total)
    if found.answer is not None and found.answer.world is not None:
        regions = [frozenset(one) for one in found.answer.world]
        title = f"A possible world in which {found.answer.statement.text} is false"
        pictures["world"] = world_svg(found.answer.sets, regions, title=title, inline=True)
    return pictures


add_form(router, "/compare", compare_catalogs, "compare.html", _drawn)
