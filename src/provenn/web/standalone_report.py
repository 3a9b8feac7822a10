"""Reports: everything known about a catalog in one self-contained HTML file, for a paper or a ticket."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from jinja2 import Environment
from markupsafe import Markup

from provenn._version import __version__
from provenn.archive import Archive, Catalog, Description, Provenance, Relation, Stored
from provenn.archive.lineage_tree import LineageStep
from provenn.archive.plots import list_counted_plots, make_plot
from provenn.display.figure import shorten_label
from provenn.display.markup import make_printable
from provenn.display.plan import PlanArgument, plan_svg
from provenn.errors import ProvennError
from provenn.web.catalog_data import see_sky
from provenn.web.rendering import load_environment

__all__ = ["Report", "ReportPlan", "make_report", "render_report"]

_DRAWN: Final = 60
_DEEPEST: Final = 1000
_MOST: Final = 200
_CHAIN: Final = 40
_LONGEST: Final = 500
_RELATED: Final = 12
_PLOTS: Final = 6

# Limits on expensive parts: beyond them a part is reduced or left out, and the report says so.
_COMPARED: Final = 500
"""In an archive with more catalogs, equal sources are only reported where no proof is needed."""
_PLANNED: Final = 250
"""Maximum number of catalogs in a lineage for the report to contain a plan."""
_EXPLAINED: Final = 3000
"""Maximum number of definitions to examine for proofs of relations."""


@dataclass(frozen=True, slots=True)
class ReportPlan:
    """The plan of a catalog: a picture and the reasons for the plan, or the problem that prevents a plan."""

    svg: str = ""
    reasons: tuple[PlanArgument, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything known about a catalog.

    Attributes
    ----------
    archive
        The name of the archive: its folder or its database, without the path.
    version, made_at
        The version of provenn that made the report, and the time.
    description
        The catalog in words.
    svg
        The lineage as a picture.
    steps, provenance
        The lineage as a list, the catalog first; and the base files of the lineage.
    relations
        The relations to the dependencies, and to named catalogs with the same sources.
    more
        Whether further relations are left out.
    compared
        Whether all catalogs with the same sources were searched, not only those with equal sources by construction.
    plan
        The plan that would compute the catalog.
    stored
        The stored fragments of the catalog.
    sky
        The map of its sources, if they were counted before; otherwise empty.
    plots
        The plots of its attributes that were counted before.
    """

    archive: str
    version: str
    made_at: datetime
    description: Description
    svg: str
    steps: tuple[LineageStep, ...]
    provenance: Provenance
    relations: tuple[Relation, ...]
    more: bool
    compared: bool
    plan: ReportPlan
    stored: tuple[Stored, ...]
    sky: str = ""
    plots: tuple[str, ...] = ()


def make_report(archive: Archive, which: str) -> Report:
    """Gather everything known about a catalog, without computing data or reading files.

    Raises
    ------
    UnknownCatalogError
        If the archive has no such catalog.
    """
    catalog = archive.catalog(which)
    steps = archive.lineage(which).steps
    compared = len(archive) <= _COMPARED
    # Named catalogs come first; there may be very many unnamed catalogs.
    named = takewhile(lambda other: other.names, archive.same_sources(catalog, by_construction=not compared))
    same = list(islice(named, _RELATED + 1))
    others = [
        other for other in dict.fromkeys([*catalog.dependencies, *same]) if other.population == catalog.population
    ]
    related = min(_RELATED, max(2, _EXPLAINED // len(steps)))
    return Report(
        archive=_name_archive(archive.place),
        version=__version__,
        made_at=datetime.now(UTC),
        description=archive.describe(which),
        svg=archive.neighbourhood(which, depth=_DEEPEST, direction="up", most=_DRAWN).svg(inline=True),
        steps=steps,
        provenance=archive.provenance(which),
        relations=tuple(archive.relate(which, other) for other in others[:related]),
        more=len(others) > related,
        compared=compared,
        plan=_plan_catalog(catalog, len(steps)),
        stored=tuple(archive.fragments(catalog)),
        sky=_draw_counted_sky(catalog),
        plots=tuple(_draw_counted_plots(catalog)),
    )


def render_report(report: Report) -> str:
    """Return a report as one HTML document without scripts and without external references."""
    values = {"report": report, "most": _MOST, "chain": _CHAIN}
    return _load_templates().get_template("report.html").render(values)


def _plan_catalog(catalog: Catalog, steps: int) -> ReportPlan:
    if steps > _PLANNED:
        return ReportPlan(problem=f"its lineage of {steps:,} catalogs is too long for a plan in a report")
    try:
        plan = catalog.plan()
        reasons = [reason for reason in plan.reasons if reason.statements][:_RELATED]
        arguments = tuple(
            PlanArgument(reason.because, tuple(map(str, reason.statements)), reason.proof) for reason in reasons
        )
        return ReportPlan(plan_svg(plan.picture, inline=True), arguments)
    except ProvennError as error:
        return ReportPlan(problem=error.message)


def _draw_counted_sky(catalog: Catalog) -> str:
    """Return the map of a catalog whose sources were counted before; no data are read for it."""
    sky_map, _ = see_sky(catalog, most=-1)
    return "" if sky_map is None else sky_map.svg(inline=True)


def _draw_counted_plots(catalog: Catalog) -> Iterator[str]:
    """Yield the first plots of a catalog whose values were counted before; no data are read for them."""
    context, definition = catalog.archive.context, catalog.definition
    for x, y in list_counted_plots(context, definition)[:_PLOTS]:
        with suppress(ProvennError):
            yield make_plot(context, definition, catalog.name, x, y, engine="look", most=-1).svg(inline=True)


def _name_archive(place: str) -> str:
    """Return the name of an archive without its location.

    >>> _name_archive("/home/ada/survey/provenn.sqlite"), _name_archive("postgresql://ada:***@db.example.org/surveys")
    ('survey', 'surveys')
    """
    if "://" in place:
        return urlsplit(place).path.strip("/")
    return Path(place).absolute().parent.name


def _shorten(text: object) -> str:
    return make_printable(shorten_label(str(text), _LONGEST))


@cache
def _load_templates() -> Environment:
    templates = load_environment().overlay()
    templates.filters = templates.filters | {"short": _shorten}
    style = (Path(__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
    templates.globals = templates.globals | {"style": Markup(style)}  # noqa: S704 - our own file
    return templates
