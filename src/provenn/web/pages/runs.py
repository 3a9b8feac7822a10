"""The page of runs: their people, durations, reused fragments and saved time."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from provenn.archive.run_history import Ran
from provenn.errors import ProvennError
from provenn.web.asking import FormProblem, add_form, make_problem
from provenn.web.pages.compare import suggest_names
from provenn.web.rendering import ServedArchive

__all__ = ["router"]

router = APIRouter()


@dataclass(frozen=True, slots=True)
class RunsPage:
    """The latest runs.

    Attributes
    ----------
    catalog, most
        The request: the catalog of the runs, and the maximum number of runs.
    suggested
        Names of catalogs to choose from.
    runs
        The runs, the latest first.
    seconds, saved
        The total seconds of the listed runs, and the approximate seconds saved by reuse.
    problem
        The error in the input.
    """

    catalog: str
    most: int
    suggested: tuple[str, ...]
    runs: tuple[Ran, ...]
    seconds: float
    saved: float
    problem: FormProblem | None


def list_runs(
    archive: ServedArchive,
    *,
    catalog: Annotated[str, Query(max_length=500)] = "",
    most: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> RunsPage:
    """List the latest runs, of the archive or of a catalog."""
    runs: tuple[Ran, ...] = ()
    problem = None
    try:
        runs = tuple(archive.runs(catalog if catalog.strip() else None, most=most))
    except ProvennError as error:
        problem = make_problem("catalog", error)
    seconds = sum(run.seconds or 0.0 for run in runs)
    return RunsPage(
        catalog, most, suggest_names(archive), runs, seconds, sum((run.saved or 0.0 for run in runs), 0.0), problem
    )


add_form(router, "/runs", list_runs, "runs.html")
