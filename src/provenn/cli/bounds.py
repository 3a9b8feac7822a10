"""``provenn bounds``: the least and the most sources of a set."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    caveat_lines,
    fact_data,
    open_archive_at,
    reason_data,
    reason_lines,
)
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.archive import Bounds

__all__ = ["show_bounds"]


def show_bounds(
    expression: Annotated[
        str,
        typer.Argument(
            metavar="EXPRESSION",
            help='A catalog, or an expression of catalogs, for example "A & B - C".',
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ],
    *,
    why: Annotated[bool, typer.Option("--why", help="Show the counts and facts of the proof.")] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show how many sources a set has, at least and at most, without reading data.

    Each bound is proved from known counts, definitions and facts, and shown with the inequality that proves it. Sets
    are joined by `& | - ^ ~`; put names with unusual characters in quotes.

    Exit status: 0 answered, 2 invalid input, including counts that contradict facts.

    Try:

    - `provenn bounds "bright & near" --why`
    """
    with open_archive_at(archive_path) as archive:
        bounds = archive.bounds(expression)
        if as_json:
            write_json(_bounds_data(bounds))
        else:
            write_text("\n".join(_bounds_lines(bounds, why=why)))


def _bounds_data(bounds: "Bounds") -> dict[str, Any]:
    """Return the answer as JSON data."""
    return {
        "expression": bounds.expression,
        "low": bounds.low,
        "high": bounds.high,
        "low_why": bounds.low_why,
        "high_why": bounds.high_why,
        "counts": [
            {"set": str(known.count.region), "low": known.count.low, "high": known.count.high, "because": known.because}
            for known in bounds.counts
        ],
        "reasons": reason_data(bounds.reasons),
        "caveats": list(bounds.caveats),
        "rests_on": [fact_data(fact) for fact in bounds.rests_on],
        "complete": bounds.is_complete,
    }


def _bounds_lines(bounds: "Bounds", *, why: bool) -> list[str]:
    """Return the answer as lines for a terminal; a line break in a name makes no line."""
    from provenn.display.markup import make_printable  # noqa: PLC0415 - JSON does not need it

    lines = [bounds.words, *(f"  {line}" for line in bounds.why.splitlines())]
    if why:
        lines += ["because", *(f"  {known}" for known in bounds.counts), *reason_lines(bounds.reasons)]
    else:
        lines += [f"  rests on {fact.words}" for fact in bounds.rests_on]
    return [make_printable(line) for line in (*lines, *caveat_lines(bounds.caveats))]
