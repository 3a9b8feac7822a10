"""``provenn prove``: whether a statement follows from facts."""

from pathlib import Path
from typing import Annotated

import typer

from provenn.cli.output import AsJson, SvgFile, errors_as_json, write_json, write_paragraphs, write_svg

__all__ = ["prove"]

_LONGEST = 1e9


def _checked(seconds: float | None) -> float | None:
    if seconds is not None and not 0 <= seconds <= _LONGEST:  # nor is NaN a time
        raise typer.BadParameter(f"a number of seconds is expected, not {seconds}")
    return seconds


def prove(
    statement: Annotated[str, typer.Argument(help='What to prove, for example "B == D".', show_default=False)],
    *,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", "-g", metavar="STATEMENT", help="A fact. May be repeated.", show_default=False),
    ] = None,
    facts: Annotated[
        list[Path] | None,
        typer.Option(
            "--facts",
            "-f",
            metavar="FILE",
            allow_dash=True,
            help="A file of facts, one statement a line, # for comments; - is the standard input. May be repeated.",
            show_default=False,
        ),
    ] = None,
    closed: Annotated[
        bool,
        typer.Option(
            "--closed",
            help="The universe is closed: sets may hold all there is. By default it is open: some object is outside "
            "every set, also those that no fact mentions.",
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            callback=_checked,
            help="Stop looking for a proof after this time; it is then not proved.",
            show_default=False,
        ),
    ] = None,
    svg: SvgFile = None,
    as_json: AsJson = False,
) -> None:
    """Prove a statement from facts, or show a possible world in which it is false.

    It is **proved** if it is true in every world in which the facts are: then the facts that it follows from are
    shown, and none of them can be left out. It is **refuted** if it is false in all of them, and otherwise **not
    proved**.

    Statements are written in Python's syntax: `& | - ^ ~` on sets, `{}` for the empty set, `== != <= < >= >`,
    `empty(A)`, `nonempty(A)`, `disjoint(A, B)`, `overlapping(A, B)`, `outside(A, B)`, `and`, `or`, `not`. A name with
    odd characters goes in quotes. Nothing is ever executed.

    Exit status: 0 proved, 1 not proved or refuted, 2 bad input, among which facts that contradict each other.

    Try:

    - `provenn prove --given "B < A" --given "C == A" --given "D == B & C" "B == D"`
    - `provenn prove --facts survey.facts "disjoint(bright, faint)" --svg answer.svg`
    """
    with errors_as_json(as_json):
        from provenn.cli import prove_view as view  # noqa: PLC0415 - commands that need no logic start without it
        from provenn.cli.facts import given_facts  # noqa: PLC0415

        places = given_facts(given or (), facts or ())
        answer = view.answer(statement, places, open_universe=not closed, budget=budget)
        if as_json:
            write_json(view.data(answer))
        elif svg != Path("-"):
            write_paragraphs(view.paragraphs(answer))
        if svg is not None:
            write_svg(view.picture(answer), svg)
    raise typer.Exit(0 if answer.proved else 1)
