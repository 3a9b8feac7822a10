"""``provenn calculator``: register a calculator."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened, pairs
from provenn.cli.calculators import calculator_data
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["register"]


def register(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the calculator.", show_default=False)],
    function: Annotated[
        str | None,
        typer.Argument(metavar="[MODULE:FUNCTION]", help="A function of a module of yours.", show_default=False),
    ] = None,
    *,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="ATTRIBUTE", help="What it reads. May be repeated.", show_default=False),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output", metavar="ATTRIBUTE=TYPE", help="What it derives. May be repeated.", show_default=False
        ),
    ] = None,
    sql: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ATTRIBUTE=EXPRESSION", help="Instead of a function: SQL. May be repeated.", show_default=False
        ),
    ] = None,
    units: Annotated[
        list[str] | None,
        typer.Option(
            "--unit",
            metavar="ATTRIBUTE=UNIT",
            help="The unit of what is derived. May be repeated.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        str, typer.Option(metavar="row|catalog", help="What a result depends on: one source, or all of them.")
    ] = "row",
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Register a calculator, which serves targets from now on: a function over batches of pandas, or SQL.

    The module is looked for where Python finds modules, and in the current folder.

    Try:

    - `provenn calculator photo_z sky:photo_z --input g --input r --output z=double`
    - `provenn calculator speed sky:speed --input pm --input plx --output v=double --unit v=km/s`
    - `provenn calculator colour --sql "colour=g - r"`
    - `provenn calculator distance --sql "dist=1000 / plx" --unit dist=pc`
    """
    if (function is None) == (not sql):
        raise typer.BadParameter("give either MODULE:FUNCTION or --sql")
    types, expressions = pairs(outputs or (), "ATTRIBUTE=TYPE"), pairs(sql or (), "ATTRIBUTE=EXPRESSION")
    measured = pairs(units or (), "ATTRIBUTE=UNIT")
    options: Any = {"inputs": inputs or (), "outputs": types, "units": measured, "scope": scope}
    with opened(archive, as_json) as found:
        if function is None:
            found.calculator(name, sql=expressions, units=measured)
        else:
            found.calculator(name, _imported(function), **options)
        made = next(one for one in found.calculators() if one.name == name)
        if as_json:
            write_json(calculator_data(made))
        else:
            write_text(f"{name}: derives {', '.join(made.calculator.names)}")


def _imported(place: str) -> Callable[..., object]:
    module, colon, name = place.partition(":")
    if not colon or not module or not name:
        raise typer.BadParameter(f"MODULE:FUNCTION is expected, not {place!r}")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise typer.BadParameter(f"cannot import {place}: {error}") from error
    if not callable(found):
        raise typer.BadParameter(f"{place} is no function")
    return found  # type: ignore[no-any-return] # whatever a module holds
