"""``provenn prove``: whether a statement follows from facts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, holds_archive, opened
from provenn.cli.output import AsJson, SvgFile, errors_as_json, write_json, write_paragraphs, write_svg
from provenn.errors import UnknownCatalogError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from provenn.archive import Proof
    from provenn.cli.given import Place
    from provenn.cli.prove_view import Answer
    from provenn.logic import Statement

__all__ = ["prove"]

_LONGEST = 1e9


def _checked(seconds: float | None) -> float | None:
    if seconds is not None and not 0 <= seconds <= _LONGEST:  # nor is NaN a time
        raise typer.BadParameter(f"a number of seconds is expected, not {seconds}")
    return seconds


def prove(
    statement: Annotated[
        str, typer.Argument(metavar="STATEMENT", help='What to prove, for example "B == D".', show_default=False)
    ],
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
    archive: Annotated[
        str | None,
        typer.Option(
            "--archive",
            "-a",
            metavar="PATH",
            envvar="PROVENN_ARCHIVE",
            help="The folder of an archive, or the address of its database: names are then those of its catalogs. By "
            "default the current folder, if it is one.",
            show_default=False,
        ),
    ] = None,
    no_archive: Annotated[
        bool, typer.Option("--no-archive", help="Use no archive, also where there is one; names mean any sets.")
    ] = False,
    svg: SvgFile = None,
    as_json: AsJson = False,
) -> None:
    """Prove a statement from facts, or show a possible world in which it is false.

    In an archive, names are those of catalogs, and the facts are what their lineage says, what was declared, and what
    is given here besides.

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
    - `provenn prove --archive survey "bright == both"`
    """
    if archive is None and holds_archive(CURRENT_FOLDER):
        archive = CURRENT_FOLDER
    where = None if no_archive else archive
    if closed and where is not None:
        raise typer.BadParameter("an archive is open: --closed goes with --no-archive")
    with errors_as_json(as_json):
        from provenn.cli.given import given_facts  # noqa: PLC0415 - commands that need no logic start without it

        places = given_facts(given or (), facts or ())
        view: ModuleType
        answer: Answer | Proof
        if where is None:
            view, answer = _from_facts(statement, places, closed, budget)
        else:
            view, answer = _in_archive(statement, places, where, budget)
        if as_json:
            write_json(view.data(answer))
        elif svg != Path("-"):
            write_paragraphs(view.paragraphs(answer))
        if svg is not None:
            write_svg(view.picture(answer), svg)
    raise typer.Exit(0 if answer.proved else 1)


def _from_facts(
    statement: str, places: "Mapping[Statement, Place]", closed: bool, budget: float | None
) -> "tuple[ModuleType, Answer]":
    """Prove a statement from given facts alone."""
    from provenn.cli import prove_view  # noqa: PLC0415 - as above

    return prove_view, prove_view.answer(statement, places, open_universe=not closed, budget=budget)


def _in_archive(
    statement: str, places: "Mapping[Statement, Place]", archive: str, budget: float | None
) -> "tuple[ModuleType, Proof]":
    """Prove a statement about the catalogs of an archive, from all that is known of them and given facts."""
    from provenn.cli import prove_in_archive  # noqa: PLC0415 - as above

    try:
        with opened(archive) as found:
            return prove_in_archive, found.prove(statement, given=[*places], budget=budget)
    except UnknownCatalogError as error:
        error.hint += "; --no-archive proves from given facts alone"
        raise
