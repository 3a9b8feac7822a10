"""``provenn calculator``: register a calculator."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at, parse_pairs
from provenn.cli.calculators import calculator_data
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["register_calculator"]


def register_calculator(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the calculator.", show_default=False)],
    function: Annotated[
        str | None,
        typer.Argument(metavar="[MODULE:FUNCTION]", help="A function of your module.", show_default=False),
    ] = None,
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", metavar="ATTRIBUTE", help="An attribute that it reads. May be repeated.", show_default=False
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            metavar="ATTRIBUTE=TYPE",
            help="An attribute that it derives. May be repeated.",
            show_default=False,
        ),
    ] = None,
    sql: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ATTRIBUTE=EXPRESSION", help="SQL instead of a function. May be repeated.", show_default=False
        ),
    ] = None,
    units: Annotated[
        list[str] | None,
        typer.Option(
            "--unit",
            metavar="ATTRIBUTE=UNIT",
            help="The unit of a derived attribute. May be repeated.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        str, typer.Option(metavar="row|catalog", help="Whether a result depends on one source or on the whole catalog.")
    ] = "row",
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Register a calculator for targets: a function over batches of pandas, or SQL.

    The module is searched where Python finds modules, and in the current folder. It is read, but not run.

    Try:

    - `provenn calculator photo_z sky:photo_z --input g --input r --output z=double`
    - `provenn calculator speed sky:speed --input pm --input plx --output v=double --unit v=km/s`
    - `provenn calculator colour --sql "colour=g - r"`
    - `provenn calculator distance --sql "dist=1000 / plx" --unit dist=pc`
    """
    if (function is None) == (not sql):
        raise typer.BadParameter("give either MODULE:FUNCTION or --sql")
    types, expressions = parse_pairs(outputs or (), "ATTRIBUTE=TYPE"), parse_pairs(sql or (), "ATTRIBUTE=EXPRESSION")
    unit_by_attribute = parse_pairs(units or (), "ATTRIBUTE=UNIT")
    options: Any = {"inputs": inputs or (), "outputs": types, "units": unit_by_attribute, "scope": scope}
    with open_archive_at(archive_path) as archive:
        if function is None:
            archive.calculator(name, sql=expressions, units=unit_by_attribute)
        else:
            archive.calculator(name, function, **options)
        registered = next(registration for registration in archive.calculators() if registration.name == name)
        if as_json:
            write_json(calculator_data(registered))
        else:
            write_text(f"{name}: derives {', '.join(registered.calculator.names)}")
