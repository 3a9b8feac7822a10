"""``provenn declare``: what you know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, InProject, WhoSees, fact_data, opened
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["declare"]


def declare(
    statement: Annotated[
        str, typer.Argument(metavar="STATEMENT", help='What holds: "disjoint(north, south)".', show_default=False)
    ],
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why.", show_default=False)] = "",
    visibility: WhoSees = None,
    project: InProject = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Declare a fact about catalogs, to be used in every proof from now on.

    What contradicts the lineage, other facts or counts is refused, and the conflict is told. That a catalog with a name
    cannot have any source by it, or that two have the same, is told too. A fact is about the catalogs that have these
    names now, wherever the names go later.

    Try:

    - `provenn declare "disjoint(north, south)" --reason "declination ranges"`
    """
    notices: list[Notice] = []
    with opened(archive, as_json, notices=notices) as found:
        shown = visibility or ("project" if project else "public")
        fact = found.declare(statement, reason=reason, visibility=shown, project=project)
        if as_json:
            new = {"empties": list(fact.empties), "equates": [list(pair) for pair in fact.equates]}
            write_json({**fact_data(fact), **new, "complete": fact.complete})
        else:
            write_text(f"fact #{fact.id}: {fact.statement}")
            if fact.implied:
                write_text(f"warning: by this fact, {fact.implied.words}")
