"""``provenn facts``: the declared and observed facts."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, fact_data, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_nothing, write_table, write_text

if TYPE_CHECKING:
    from provenn.archive.listed_facts import ListedFact

__all__ = ["show_facts"]


def show_facts(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG",
            help="Only facts that mention this catalog.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also retracted facts.")] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List the declared and observed facts.

    `provenn show` lists the facts that follow from the definition of a catalog. A declared fact stays with the version
    that it was declared on; below the list, the command says which facts to declare again for the current version.

    Try:

    - `provenn facts`
    - `provenn facts north --all`
    """
    with open_archive_at(archive_path) as archive:
        facts = archive.facts(catalog, retracted=everything)
        if as_json:
            write_json(
                [
                    {
                        **fact_data(fact),
                        "outdated": fact.outdated,
                        "again": None if fact.again is None else str(fact.again),
                    }
                    for fact in facts
                ]
            )
            return
        if not facts:
            write_nothing("no facts", 'provenn declare "disjoint(north, south)" declares a fact')
            return
        rows, notes = [], []
        for fact in facts:
            retraction = f"retracted by {fact.retracted_by}: {fact.retracted_reason}".rstrip(": ")
            if fact.outdated:
                notes.append(_describe_outdated(fact))
            rows.append(
                (
                    f"#{fact.id}",
                    str(fact.statement),
                    fact.origin,
                    f"{fact.declared_at:%Y-%m-%d}",
                    fact.declared_by,
                    fact.reason if fact.holds else "; ".join(filter(None, [fact.reason, retraction])),
                )
            )
        write_table(("fact", "statement", "origin", "since", "by", "reason"), rows)
        for note in notes:
            write_text(note)


def _describe_outdated(fact: ListedFact) -> str:
    """Return what became of a fact that was declared on an earlier version of a name."""
    if fact.again is None:
        return f"#{fact.id} was declared on {fact.outdated}: it holds there as well, by proof"
    return f"#{fact.id} was declared on {fact.outdated}: say it again with provenn declare {quote(str(fact.again))}"
