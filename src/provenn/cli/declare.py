"""``provenn declare``: what you know."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, InProject, WhoSees, fact_data, opened
from provenn.cli.output import AsJson, write_json, write_text

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

    What contradicts the lineage or other facts is refused, and the conflict is told. A fact is about the catalogs that
    have these names now, wherever the names go later.

    Try:

    - `provenn declare "disjoint(north, south)" --reason "declination ranges"`
    """
    with opened(archive, as_json) as found:
        shown = visibility or ("project" if project else "public")
        fact = found.declare(statement, reason=reason, visibility=shown, project=project)
        if as_json:
            write_json(fact_data(fact))
        else:
            write_text(f"fact #{fact.id}: {fact.statement}")
