"""``provenn redefine``: another definition for a name, and for what is made from it."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, SparkUrl, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["redefine"]


def redefine(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name to move.", show_default=False, autocompletion=complete_catalog_names
        ),
    ],
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG",
            help="The new definition: a name that it has, or the beginning of its digest.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="SQL", help="Instead of a catalog: another criterion for this selection.", show_default=False
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what would be done.")] = False,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Move a name to another definition, with every named catalog that is made from the earlier one.

    What was calculated for the earlier definition is reused; calculators are called for the other sources only. Names
    move last, in one transaction.

    Try:

    - `provenn redefine bright --where "vmag < 7" --plan`
    - `provenn redefine bright 3c6fb3ef`
    """
    with open_archive_at(archive_path, spark=spark) as archive:
        redefined = archive.redefine(name, catalog, where=where, plan=plan)
        if as_json:
            write_json({"name": name, "catalogs": [entry.to_json() for entry in redefined.catalogs]})
        else:
            write_text(str(redefined))
