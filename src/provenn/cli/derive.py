"""``provenn derive``: new attributes."""

from typing import Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    CatalogName,
    NewName,
    open_archive_at,
    parse_pairs,
    write_catalog,
)
from provenn.cli.completion import complete_calculator_names
from provenn.cli.output import AsJson

__all__ = ["derive"]


def derive(
    catalog: CatalogName,
    expressions: Annotated[
        list[str] | None,
        typer.Argument(metavar="ATTRIBUTE=EXPRESSION", help="New attributes, with SQL in quotes.", show_default=False),
    ] = None,
    *,
    calculator: Annotated[
        str | None,
        typer.Option(
            "--calculator",
            "-c",
            metavar="NAME",
            autocompletion=complete_calculator_names,
            help="A registered calculator instead, or an attribute that a calculator provides.",
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
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the same sources, with new attributes calculated from existing ones.

    Try:

    - `provenn derive hipparcos dist_pc="1000 / plx" --name near`
    - `provenn derive hipparcos dist="1000 / plx" --unit dist=pc`
    - `provenn derive galaxies --calculator photo_z`
    """
    expression_by_attribute = parse_pairs(expressions or (), "ATTRIBUTE=EXPRESSION")
    if (calculator is None) == (not expression_by_attribute):
        raise typer.BadParameter("give either ATTRIBUTE=EXPRESSION or --calculator")
    unit_by_attribute = parse_pairs(units or (), "ATTRIBUTE=UNIT")
    for attribute in unit_by_attribute:
        if attribute not in expression_by_attribute:
            raise typer.BadParameter(f"--unit {attribute}: no expression derives this attribute")
    definitions = {
        attribute: (text, unit_by_attribute[attribute]) if attribute in unit_by_attribute else text
        for attribute, text in expression_by_attribute.items()
    }
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].derive(calculator or definitions, name=name), name, as_json)
