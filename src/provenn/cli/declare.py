"""``provenn declare``: declare a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    ProjectOption,
    VisibilityOption,
    fact_data,
    open_archive_at,
)
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["declare"]


def declare(
    statement: Annotated[
        str,
        typer.Argument(
            metavar="STATEMENT", help='The statement, for example "disjoint(north, south)".', show_default=False
        ),
    ],
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="The reason.", show_default=False)] = "",
    visibility: VisibilityOption = None,
    project: ProjectOption = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Declare a fact about catalogs, to be used in every later proof.

    A fact that contradicts the lineage, other facts or counts is refused, and the conflict is shown. You are warned if
    the fact implies that a named catalog is empty, or that two catalogs have the same sources. A fact is about the
    catalogs that have these names now, even if the names move later.

    Try:

    - `provenn declare "disjoint(north, south)" --reason "declination ranges"`
    """
    notices: list[Notice] = []
    with open_archive_at(archive_path, notices=notices) as archive:
        wanted_visibility = visibility or ("project" if project else "public")
        fact = archive.declare(statement, reason=reason, visibility=wanted_visibility, project=project)
        if as_json:
            consequences = {"empties": list(fact.empties), "equates": [list(pair) for pair in fact.equates]}
            write_json({**fact_data(fact), **consequences, "complete": fact.complete, "repeated": fact.repeated})
        else:
            write_text(f"fact #{fact.id}: {fact.statement}")
            for notice in notices:
                if notice.kind == "repeated":
                    write_text(f"note: {notice.message} (`provenn audit --json` shows it)")
            if fact.implied:
                write_text(f"warning: by this fact, {fact.implied.words}")
