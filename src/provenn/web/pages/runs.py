"""What was run: by whom, how long it took, what it reused, and what that saved."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from provenn.archive.runs import Ran
from provenn.errors import ProvennError
from provenn.web.asking import Problem, add_form, problem_of
from provenn.web.pages.compare import suggested
from provenn.web.rendering import Held

__all__ = ["router"]

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Runs:
    """The latest runs.

    Attributes
    ----------
    catalog, most
        What was asked for: runs of a catalog, and how many.
    suggested
        Names of catalogs to choose from.
    runs
        The runs, the latest first.
    seconds, saved
        How many seconds all of these took, and about how many more they would have taken without what was reused.
    problem
        What is wrong with what was asked.
    """

    catalog: str
    most: int
    suggested: tuple[str, ...]
    runs: tuple[Ran, ...]
    seconds: float
    saved: float
    problem: Problem | None


def list_runs(
    archive: Held,
    *,
    catalog: Annotated[str, Query(max_length=500)] = "",
    most: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Runs:
    """List the latest runs, of the archive or of a catalog."""
    found: tuple[Ran, ...] = ()
    problem = None
    try:
        found = tuple(archive.runs(catalog if catalog.strip() else None, most=most))
    except ProvennError as error:
        problem = problem_of("catalog", error)
    seconds = sum(one.seconds or 0.0 for one in found)
    return Runs(
        catalog, most, suggested(archive), found, seconds, sum((one.saved or 0.0 for one in found), 0.0), problem
    )


add_form(router, "/runs", list_runs, "runs.html")
