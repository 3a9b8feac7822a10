"""The page of bounds: how many sources a catalog or an expression has, at least and at most, and why."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from provenn.archive import Bounds
from provenn.errors import ProvennError
from provenn.logic.terms import quote_label
from provenn.web.asking import FormProblem, add_form, make_problem
from provenn.web.pages.compare import suggest_names
from provenn.web.rendering import ServedArchive

__all__ = ["router"]

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ProofLine:
    """A count or a fact of a proof, and where it comes from."""

    text: str
    because: str


@dataclass(frozen=True, slots=True)
class ProvedBounds:
    """The bounds of a set.

    Attributes
    ----------
    low, high
        The least and the most sources; `high` is None if nothing bounds the set.
    words, why
        The bounds in words, and the inequality that proves each.
    lines
        The counts and facts in the proofs.
    caveats
        The assumptions of the answer about base files.
    """

    low: int
    high: int | None
    words: str
    why: tuple[str, ...]
    lines: tuple[ProofLine, ...]
    caveats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoundsPage:
    """The question, and its answer.

    Attributes
    ----------
    expression
        The set: a catalog, or an expression of catalogs.
    suggested
        Names of catalogs to choose from.
    bounds
        The answer; None without a question.
    problem
        The error in the input.
    """

    expression: str
    suggested: tuple[str, ...]
    bounds: ProvedBounds | None
    problem: FormProblem | None


def show_bounds(
    archive: ServedArchive,
    expression: Annotated[str, Query(max_length=2_000, description="an expression such as A & B - C")] = "",
    catalog: Annotated[str, Query(max_length=500, description="the name of a single catalog")] = "",
) -> BoundsPage:
    """Show how many sources a set has, at least and at most, without reading data."""
    wanted = expression if expression.strip() or not catalog.strip() else quote_label(catalog)
    bounds, problem = None, None
    if wanted.strip():
        try:
            bounds = _describe_bounds(archive.bounds(wanted))
        except ProvennError as error:
            problem = make_problem("expression", error)
    return BoundsPage(wanted, suggest_names(archive), bounds, problem)


def _describe_bounds(bounds: Bounds) -> ProvedBounds:
    lines = [ProofLine(str(known.count), known.because) for known in bounds.counts]
    lines += [ProofLine(str(reason.statement), reason.because) for reason in bounds.reasons]
    return ProvedBounds(
        bounds.low, bounds.high, bounds.words, tuple(bounds.why.splitlines()), tuple(lines), bounds.caveats
    )


add_form(router, "/bounds", show_bounds, "bounds.html")
