"""A report: all there is to say of a catalog, in one file that needs nothing else, to attach to a paper or a ticket."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from jinja2 import Environment
from markupsafe import Markup

from provenn import __version__
from provenn.archive import Archive, Catalog, Description, Provenance, Relation, Stored
from provenn.archive.lineage import Step
from provenn.display.figure import shortened
from provenn.display.markup import visible
from provenn.display.plan import PlanArgument, plan_svg
from provenn.errors import ProvennError
from provenn.targets.telling import picture
from provenn.web.rendering import environment

__all__ = ["Planned", "Report", "report_html", "reported"]

_DRAWN: Final = 60
_DEEPEST: Final = 1000
_MOST: Final = 200
_CHAIN: Final = 40
_LONGEST: Final = 500
_RELATED: Final = 12

# What takes long where there is much: it is done for less, or not at all, and the report says so.
_COMPARED: Final = 500
"""In an archive of more catalogs, same sources are only seen where that needs no proof."""
_PLANNED: Final = 250
"""How many catalogs a lineage may have to be planned."""
_EXPLAINED: Final = 3000
"""How many definitions are gone through to prove relations."""


@dataclass(frozen=True, slots=True)
class Planned:
    """How a catalog would be computed: a picture, and why that is enough; or why it cannot be."""

    svg: str = ""
    reasons: tuple[PlanArgument, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All there is to say of a catalog.

    Attributes
    ----------
    archive
        What the archive is called: its folder or its database, without the way there.
    version, made_at
        The version of provenn that made the report, and when.
    told
        The catalog in words.
    svg
        Its lineage as a picture.
    steps, provenance
        Its lineage as a list, the catalog first; and what is at the bottom of it.
    relations
        How it relates to those it is made from, and to named catalogs that have the same sources.
    more
        Whether there are others that are left out.
    compared
        Whether all catalogs with the same sources were looked for, and not only those that have them by construction.
    plan
        How it would be computed.
    stored
        What is stored of it.
    """

    archive: str
    version: str
    made_at: datetime
    told: Description
    svg: str
    steps: tuple[Step, ...]
    provenance: Provenance
    relations: tuple[Relation, ...]
    more: bool
    compared: bool
    plan: Planned
    stored: tuple[Stored, ...]


def reported(archive: Archive, which: str) -> Report:
    """Gather what there is to say of a catalog. Nothing is computed, and no file is looked at.

    Raises
    ------
    UnknownCatalogError
        If there is no such catalog.
    """
    one = archive.catalog(which)
    steps = archive.lineage(which).steps
    compared = len(archive) <= _COMPARED
    # Those that have a name come first; there may be very many that have none.
    named = takewhile(lambda other: other.names, archive.same_sources(one, by_construction=not compared))
    same = list(islice(named, _RELATED + 1))
    others = [other for other in dict.fromkeys([*one.dependencies, *same]) if other.population == one.population]
    related = min(_RELATED, max(2, _EXPLAINED // len(steps)))
    return Report(
        archive=_called(archive.place),
        version=__version__,
        made_at=datetime.now(UTC),
        told=archive.describe(which),
        svg=archive.neighbourhood(which, depth=_DEEPEST, direction="up", most=_DRAWN).svg(inline=True),
        steps=steps,
        provenance=archive.provenance(which),
        relations=tuple(archive.relate(which, other) for other in others[:related]),
        more=len(others) > related,
        compared=compared,
        plan=_planned(one, len(steps)),
        stored=tuple(archive.fragments(one)),
    )


def report_html(report: Report) -> str:
    """Return a report as one HTML document: without a script, and without a reference to anything outside of it."""
    values = {"report": report, "most": _MOST, "chain": _CHAIN}
    return _templates().get_template("report.html").render(values)


def _planned(catalog: Catalog, steps: int) -> Planned:
    if steps > _PLANNED:
        return Planned(problem=f"its lineage of {steps:,} catalogs is too long for the plan to be in a report")
    try:
        plan = catalog.plan()
        reasons = [one for one in plan.reasons if one.statements][:_RELATED]
        told = tuple(PlanArgument(one.because, tuple(map(str, one.statements)), one.proof) for one in reasons)
        return Planned(plan_svg(picture(plan), inline=True), told)
    except ProvennError as error:
        return Planned(problem=error.message)


def _called(place: str) -> str:
    """Return what an archive is called, without where it is.

    >>> _called("/home/ada/survey/provenn.sqlite"), _called("postgresql://ada:***@db.example.org/surveys")
    ('survey', 'surveys')
    """
    if "://" in place:
        return urlsplit(place).path.strip("/")
    return Path(place).absolute().parent.name


def _short(text: object) -> str:
    return visible(shortened(str(text), _LONGEST))


@cache
def _templates() -> Environment:
    made = environment().overlay()
    made.filters = made.filters | {"short": _short}
    style = (Path(__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
    made.globals = made.globals | {"style": Markup(style)}  # noqa: S704 - our own file
    return made
