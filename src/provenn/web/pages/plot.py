"""The page with two attributes of a catalog against each other: a density, or light curves."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from provenn.archive.plots import Plot, list_plottable, make_plot
from provenn.errors import ProvennError, SparkNeededError, TooLargeError
from provenn.web.asking import FormProblem, add_form, make_problem
from provenn.web.catalog_data import MOST_UNASKED
from provenn.web.pages.lineage import CatalogReference
from provenn.web.rendering import ServedArchive

__all__ = ["router"]

router = APIRouter()

Word = Annotated[str, Query(max_length=500)]


@dataclass(frozen=True, slots=True)
class PlotPage:
    """Two attributes of a catalog against each other.

    Attributes
    ----------
    name, digest
        The catalog.
    x, y
        The attributes that the viewer chose.
    offered
        The attributes to choose from.
    svg
        The plot; empty without a choice.
    left_out
        The number of sources without both values.
    refusal, can_be_counted
        Why the plot is not shown, and whether it is shown if the viewer asks for it.
    problem
        The error in the input.
    rests_on
        The declared facts on which the plot rests, in words.
    """

    name: str
    digest: str
    x: str
    y: str
    offered: tuple[str, ...]
    svg: str = ""
    left_out: int = 0
    refusal: str = ""
    can_be_counted: bool = False
    problem: FormProblem | None = None
    rests_on: tuple[str, ...] = ()


def show_plot(
    archive: ServedArchive,
    which: CatalogReference,
    *,
    x: Word = "",
    y: Word = "",
    count: Annotated[bool, Query(description="Whether to read very many sources, too")] = False,
) -> PlotPage:
    """Show two attributes of a catalog against each other."""
    catalog = archive.catalog(which)
    name = which if which in catalog.names else catalog.name
    plot: Plot | None = None
    refusal, can_be_counted, problem = "", False, None
    try:
        if x and y:
            most = None if count else MOST_UNASKED
            plot = make_plot(archive.context, catalog.definition, name, x, y, engine="look", most=most)
    except (SparkNeededError, TooLargeError) as error:
        refusal, can_be_counted = error.message, isinstance(error, TooLargeError) and not count
    except ProvennError as error:
        problem = make_problem("attributes", error)
    return PlotPage(
        name,
        catalog.digest,
        x,
        y,
        list_plottable(catalog.definition),
        "" if plot is None else plot.svg(inline=True),
        0 if plot is None else plot.left_out,
        refusal,
        can_be_counted,
        problem,
        () if plot is None else tuple(fact.words for fact in plot.rests_on),
    )


add_form(router, "/catalogs/{which}/plot", show_plot, "plot.html")
