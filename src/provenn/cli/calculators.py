"""``provenn calculators``: the calculators that serve targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_table, write_text

if TYPE_CHECKING:
    from provenn.store.calculators import Registered

__all__ = ["calculator_data", "show_calculators"]


def show_calculators(
    *,
    code: Annotated[
        bool, typer.Option("--code", help="Show the captured source of functions from notebooks and scripts.")
    ] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List the calculators that are registered, and what they derive.

    Try:

    - `provenn calculators`
    - `provenn calculators --code`: read what somebody wrote in a notebook before you allow it
    """
    with opened(archive, as_json) as found:
        told = [calculator_data(one) for one in found.calculators()]
        if as_json:
            write_json(told)
        elif not told:
            write_text("no calculator is registered")
        else:
            header = ["calculator", "derives", "from", "by", "registered by"]
            rows = [[one["name"], ", ".join(one["outputs"]), ", ".join(one["inputs"])] for one in told]
            rest = [[one["function"] or "SQL", one["registered_by"]] for one in told]
            write_table(header, [[*left, *right] for left, right in zip(rows, rest, strict=True)])
            for one in told if code else ():
                if one["code"]:
                    write_text(f"\n{one['name']}, by {one['registered_by']}: {one['permit']}\n\n{one['code']}")


def calculator_data(one: Registered) -> dict[str, Any]:
    """Return a calculator for programs."""
    from provenn.catalogs import PythonCalculator, SqlCalculator  # noqa: PLC0415 - slow to import
    from provenn.criteria import names_in  # noqa: PLC0415

    made = one.calculator
    python = made if isinstance(made, PythonCalculator) else None
    sql = dict(made.expressions) if isinstance(made, SqlCalculator) else None
    inputs = dict.fromkeys(name for text in (sql or {}).values() for name in names_in(text))
    return {
        "name": one.name,
        "function": None if python is None else python.function,
        "sql": sql,
        "inputs": list(inputs if python is None else python.inputs),
        "outputs": list(made.names),
        "units": dict(made.units) if isinstance(made, PythonCalculator | SqlCalculator) else {},
        "permit": None if python is None else python.permit,
        "code": (python.code or None) if python is not None else None,
        "digest": made.digest,
        "registered_at": one.registered_at.isoformat(),
        "registered_by": one.registered_by,
    }
