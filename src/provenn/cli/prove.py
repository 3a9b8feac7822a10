"""``provenn prove``: whether a statement follows from facts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, holds_archive, open_archive_at
from provenn.cli.output import AsJson, Overwrite, SvgFile, write_json, write_paragraphs, write_svg
from provenn.errors import UnknownCatalogError
from provenn.hints import phrase_for_command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from provenn.archive import Proof
    from provenn.cli.given import FactPlace
    from provenn.cli.prove_view import StatementAnswer
    from provenn.logic import Statement

__all__ = ["prove"]

_LONGEST_BUDGET = 1e9


def _check_seconds(seconds: float | None) -> float | None:
    """Return a budget in seconds if it is valid."""
    if seconds is not None and not 0 <= seconds <= _LONGEST_BUDGET:  # refuses NaN, too
        raise typer.BadParameter(f"a number of seconds is expected, not {seconds}")
    return seconds


def prove(
    statement: Annotated[
        str, typer.Argument(metavar="STATEMENT", help='What to prove, for example "B == D".', show_default=False)
    ],
    *,
    given_facts: Annotated[
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
            help="A file of facts, one statement per line, # for comments; - is the standard input. May be repeated.",
            show_default=False,
        ),
    ] = None,
    closed: Annotated[
        bool,
        typer.Option(
            "--closed",
            help="Close the universe: the sets may hold every object. By default it is open: some object is "
            "outside every set.",
        ),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            callback=_check_seconds,
            help="Stop searching for a proof after this time; the statement is then not proved.",
            show_default=False,
        ),
    ] = None,
    archive_path: Annotated[
        str | None,
        typer.Option(
            "--archive",
            "-a",
            metavar="PATH",
            envvar="PROVENN_ARCHIVE",
            help="The folder of an archive, or the address of its database: names then mean its catalogs. By "
            "default the current folder, if it is an archive.",
            show_default=False,
        ),
    ] = None,
    no_archive: Annotated[
        bool, typer.Option("--no-archive", help="Use no archive; names mean arbitrary sets.")
    ] = False,
    svg: SvgFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Prove a statement from facts, or show a possible world in which it is false.

    In an archive, names mean catalogs, and the facts come from their lineage, from declarations and observations, and
    from --given and --facts. If no name is a catalog, given facts are about arbitrary sets.

    A statement is **proved** if it is true in every world that the facts allow: then a minimal list of the necessary
    facts is shown. It is **refuted** if it is false in all of these worlds, and otherwise **not proved**.

    Statements use the syntax of Python: `& | - ^ ~` on sets, `{}` for the empty set, `== != <= < >= >`, `empty(A)`,
    `nonempty(A)`, `disjoint(A, B)`, `overlapping(A, B)`, `outside(A, B)`, `and`, `or`, `not`. Put names with unusual
    characters in quotes. Statements are never executed.

    Exit status: 0 proved, 1 not proved or refuted, 2 invalid input, including facts that contradict each other.

    Try:

    - `provenn prove --given "B < A" --given "C == A" --given "D == B & C" "B == D"`
    - `provenn prove --facts survey.facts "disjoint(bright, faint)" --svg answer.svg`
    - `provenn prove --archive survey "bright == both"`
    """
    is_implied = archive_path is None and holds_archive(CURRENT_FOLDER)
    if is_implied:
        archive_path = CURRENT_FOLDER
    used_archive = None if no_archive else archive_path
    if closed and used_archive is not None:
        raise typer.BadParameter("the universe of an archive is open: use --closed with --no-archive")
    from provenn.cli.given import collect_facts  # noqa: PLC0415 - other commands start without the logic

    places = collect_facts(given_facts or (), facts or ())
    view: ModuleType
    answer: StatementAnswer | Proof
    if used_archive is not None and is_implied and _is_about_arbitrary_sets(statement, places, used_archive):
        typer.echo("note: none of these names is a catalog of the archive in this folder", err=True)
        used_archive = None
    if used_archive is None:
        view, answer = _prove_from_facts(statement, places, closed, budget)
    else:
        view, answer = _prove_in_archive(statement, places, used_archive, budget)
    if as_json:
        write_json(view.answer_data(answer))
    elif svg != Path("-"):
        write_paragraphs(view.answer_paragraphs(answer))
    if svg is not None:
        write_svg(view.answer_svg(answer), svg, overwrite=overwrite)
    raise typer.Exit(0 if answer.proved else 1)


def _is_about_arbitrary_sets(statement: str, places: "Mapping[Statement, FactPlace]", archive_path: str) -> bool:
    """Return whether facts are given, and neither they nor the statement name a catalog of the archive."""
    from provenn.logic import statement as parse_statement  # noqa: PLC0415 - as above

    labels = {label for fact in (parse_statement(statement), *places) for label in fact.labels}
    with open_archive_at(archive_path) as archive:
        return bool(places) and not any(label in archive for label in labels)


def _prove_from_facts(
    statement: str, places: "Mapping[Statement, FactPlace]", closed: bool, budget: float | None
) -> "tuple[ModuleType, StatementAnswer]":
    """Prove a statement from the facts of the command line alone; return the view and the answer."""
    from provenn.cli import prove_view  # noqa: PLC0415 - as above

    return prove_view, prove_view.answer_statement(statement, places, open_universe=not closed, budget=budget)


def _prove_in_archive(
    statement: str, places: "Mapping[Statement, FactPlace]", archive_path: str, budget: float | None
) -> "tuple[ModuleType, Proof]":
    """Prove a statement about catalogs, from the facts of an archive and of the command line."""
    from provenn.cli import prove_in_archive  # noqa: PLC0415 - as above

    try:
        with open_archive_at(archive_path) as archive:
            return prove_in_archive, archive.prove(statement, given=[*places], budget=budget, why=True)
    except UnknownCatalogError as error:
        error.hint = f"{phrase_for_command(error.hint)}; --no-archive proves from given facts alone"
        raise
