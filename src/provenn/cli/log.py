"""``provenn log``: what happened to a name."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson, write_json, write_table

__all__ = ["log"]


def log(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name; it may be deleted.", show_default=False, autocompletion=catalog_names
        ),
    ],
    *,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show on which catalogs a name was, the latest first.

    Try:

    - `provenn log bright`
    """
    with opened(archive, as_json) as found:
        changes = found.log(name)
        if as_json:
            write_json([{"catalog": one.catalog, "at": one.at.isoformat(), "by": one.by} for one in changes])
        else:
            rows = [(f"{one.at:%Y-%m-%d %H:%M:%S}", one.by, (one.catalog or "deleted")[:12]) for one in changes]
            write_table(("when", "by", "catalog"), rows)
