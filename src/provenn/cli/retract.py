"""``provenn retract``: take a fact back."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, fact_data, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["retract"]


def retract(
    number: Annotated[
        int, typer.Argument(metavar="NUMBER", help="The number of the fact; `provenn facts` tells.", show_default=False)
    ],
    *,
    reason: Annotated[str, typer.Option("--reason", "-r", metavar="TEXT", help="Why.", show_default=False)] = "",
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Take a declared fact back. Every proof that used it is forgotten.

    Concatenations that were defined because of it are named: their members are not known to be disjoint any more.

    Try:

    - `provenn retract 3 --reason "they overlap near the equator"`
    """
    with opened(archive, as_json) as found:
        fact = found.retract(number, reason=reason)
        unproved = [one.name for one in found.unproved()]
        if as_json:
            write_json({**fact_data(fact), "unproved": unproved})
            return
        write_text(f"retracted fact #{fact.id}: {fact.statement}")
        for name in unproved:
            write_text(f"the members of {name} are not known to be disjoint any more")
