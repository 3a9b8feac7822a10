"""``provenn derive``: new attributes."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, opened, pairs, write_catalog
from provenn.cli.completion import calculator_names
from provenn.cli.output import AsJson

__all__ = ["derive"]


def derive(
    catalog: CatalogName,
    expressions: Annotated[
        list[str] | None,
        typer.Argument(metavar="ATTRIBUTE=EXPRESSION", help="New attributes, and SQL in quotes.", show_default=False),
    ] = None,
    *,
    calculator: Annotated[
        str | None,
        typer.Option(
            "--calculator",
            "-c",
            metavar="NAME",
            autocompletion=calculator_names,
            help="Instead: a registered calculator, or an attribute that one provides.",
            show_default=False,
        ),
    ] = None,
    units: Annotated[
        list[str] | None,
        typer.Option(
            "--unit",
            metavar="ATTRIBUTE=UNIT",
            help="The unit of a new attribute. May be repeated.",
            show_default=False,
        ),
    ] = None,
    name: NewName = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the same sources, with new attributes calculated from those there are.

    Try:

    - `provenn derive hipparcos dist_pc="1000 / plx" --name near`
    - `provenn derive hipparcos dist="1000 / plx" --unit dist=pc`
    - `provenn derive galaxies --calculator photo_z`
    """
    calculated = pairs(expressions or (), "ATTRIBUTE=EXPRESSION")
    if (calculator is None) == (not calculated):
        raise typer.BadParameter("give either ATTRIBUTE=EXPRESSION or --calculator")
    stated = pairs(units or (), "ATTRIBUTE=UNIT")
    for attribute in stated:
        if attribute not in calculated:
            raise typer.BadParameter(f"--unit {attribute}: no such attribute is derived by an expression here")
    measured = {new: (text, stated[new]) if new in stated else text for new, text in calculated.items()}
    with opened(archive, as_json) as found:
        write_catalog(found[catalog].derive(calculator or measured, name=name), name, as_json)
