"""``provenn facts``: what was declared."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, fact_data, opened
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson, write_json, write_table, write_text

__all__ = ["show_facts"]


def show_facts(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG",
            help="Only facts that mention this catalog.",
            show_default=False,
            autocompletion=catalog_names,
        ),
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also facts that were retracted.")] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List the facts that were declared, or observed on the data.

    What the definition of a catalog says is not among them: `provenn show` tells.

    Try:

    - `provenn facts`
    - `provenn facts north --all`
    """
    with opened(archive, as_json) as found:
        told = found.facts(catalog, retracted=everything)
        if as_json:
            write_json([fact_data(one) for one in told])
            return
        if not told:
            write_text("nothing was declared")
            return
        rows = []
        for one in told:
            gone = f"retracted by {one.retracted_by}: {one.retracted_reason}".rstrip(": ")
            rows.append(
                (
                    f"#{one.id}",
                    str(one.statement),
                    one.origin,
                    f"{one.declared_at:%Y-%m-%d}",
                    one.declared_by,
                    one.reason if one.holds else "; ".join(filter(None, [one.reason, gone])),
                )
            )
        write_table(("fact", "statement", "origin", "since", "by", "reason"), rows)
