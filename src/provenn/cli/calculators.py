"""``provenn calculators``: the calculators that answer targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_nothing, write_table, write_text

if TYPE_CHECKING:
    from provenn.definitions.registered_calculators import RegisteredCalculator

__all__ = ["calculator_data", "show_calculators"]


def show_calculators(
    *,
    code: Annotated[
        bool, typer.Option("--code", help="Show the captured source of functions from notebooks and scripts.")
    ] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List the registered calculators, and the attributes that they derive.

    Try:

    - `provenn calculators`
    - `provenn calculators --code`: read the source of a notebook function before you allow it
    """
    with open_archive_at(archive_path) as archive:
        calculators = [calculator_data(calculator) for calculator in archive.calculators()]
        if as_json:
            write_json(calculators)
        elif not calculators:
            write_nothing("no calculators", "provenn calculator registers a function")
        else:
            header = ["calculator", "derives", "from", "by", "registered by"]
            first_columns = [
                [calculator["name"], ", ".join(calculator["outputs"]), ", ".join(calculator["inputs"])]
                for calculator in calculators
            ]
            last_columns = [
                [calculator["function"] or "SQL", calculator["registered_by"]] for calculator in calculators
            ]
            write_table(
                header,
                [
                    [*first_cells, *last_cells]
                    for first_cells, last_cells in zip(first_columns, last_columns, strict=True)
                ],
            )
            for calculator in calculators if code else ():
                if calculator["code"]:
                    write_text(
                        f"\n{calculator['name']}, by {calculator['registered_by']}: {calculator['permit']}"
                        f"\n\n{calculator['code']}"
                    )


def calculator_data(registration: RegisteredCalculator) -> dict[str, Any]:
    """Return a registered calculator as JSON data."""
    from provenn.catalogs import PythonCalculator, SqlCalculator  # noqa: PLC0415 - slow to import
    from provenn.criteria import names_in  # noqa: PLC0415

    calculator = registration.calculator
    python = calculator if isinstance(calculator, PythonCalculator) else None
    sql = dict(calculator.expressions) if isinstance(calculator, SqlCalculator) else None
    inputs = dict.fromkeys(name for text in (sql or {}).values() for name in names_in(text))
    return {
        "name": registration.name,
        "function": None if python is None else python.function,
        "sql": sql,
        "inputs": list(inputs if python is None else python.inputs),
        "outputs": list(calculator.names),
        "units": dict(calculator.units) if isinstance(calculator, PythonCalculator | SqlCalculator) else {},
        "permit": None if python is None else python.permit,
        "code": (python.code or None) if python is not None else None,
        "digest": calculator.digest,
        "registered_at": registration.registered_at.isoformat(),
        "registered_by": registration.registered_by,
    }
