"""``provenn facts``: the declared and observed facts."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, fact_data, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_table, write_text

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

    `provenn show` lists the facts that follow from the definition of a catalog.

    Try:

    - `provenn facts`
    - `provenn facts north --all`
    """
    with open_archive_at(archive_path, as_json) as archive:
        facts = archive.facts(catalog, retracted=everything)
        if as_json:
            write_json([fact_data(fact) for fact in facts])
            return
        if not facts:
            write_text("no facts")
            return
        rows = []
        for fact in facts:
            retraction = f"retracted by {fact.retracted_by}: {fact.retracted_reason}".rstrip(": ")
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
