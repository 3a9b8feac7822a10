"""``provenn retract``: take a fact back."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, fact_data, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["retract"]


def retract(
    number: Annotated[
        int,
        typer.Argument(
            metavar="NUMBER", help="The number of the fact; `provenn facts` lists the numbers.", show_default=False
        ),
    ],
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="The reason.", show_default=False)] = "",
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Retract a declared fact. Every proof that used it is dropped.

    Concatenations that rely on the fact are listed: their members are no longer known to be disjoint.

    Try:

    - `provenn retract 3 --reason "they overlap near the equator"`
    """
    with open_archive_at(archive_path) as archive:
        fact = archive.retract(number, reason=reason)
        unproved = [catalog.name for catalog in archive.unproved()]
        if as_json:
            write_json({**fact_data(fact), "unproved": unproved})
            return
        write_text(f"retracted fact #{fact.id}: {fact.statement}")
        for name in unproved:
            write_text(f"the members of {name} are no longer known to be disjoint")
