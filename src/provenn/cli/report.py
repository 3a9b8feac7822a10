"""``provenn report``: all there is to say of a catalog, in one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, opened
from provenn.cli.output import AsJson, write_json
from provenn.cli.writing import check_place, written

__all__ = ["report"]

_STANDARD_OUTPUT = Path("-")


def report(
    catalog: CatalogName,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", allow_dash=True, help="The file; - is the standard output."),
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Write all there is to say of a catalog to one HTML file, to attach to a paper or a ticket.

    Its attributes, its lineage down to the files, calculators, relations with their proofs, facts, and how it would be
    computed. The file needs no network and no script. No data are read for it.

    Try:

    - `provenn report bright -o bright.html`
    """
    if as_json and output == _STANDARD_OUTPUT:
        raise typer.BadParameter("the standard output cannot be both the report and JSON", param_hint="--json")
    with opened(archive, as_json) as found:
        from provenn.web.report import report_html, reported  # noqa: PLC0415 - other commands start without it

        if output != _STANDARD_OUTPUT:
            check_place(output, overwrite=overwrite)
        made = reported(found, catalog)
        text = report_html(made)
        if output == _STANDARD_OUTPUT:
            typer.echo(text.encode(), nl=False)
            return
        with written(output, overwrite=overwrite) as file:
            file.write(text)
        if as_json:
            write_json(
                {
                    "path": str(output),
                    "size": output.stat().st_size,
                    "name": made.told.name,
                    "digest": made.told.digest,
                    "attributes": len(made.told.attributes),
                    "lineage": len(made.steps),
                    "files": len(made.provenance.bases),
                    "calculators": len(made.provenance.calculations),
                    "relations": len(made.relations),
                    "facts": len(made.provenance.facts),
                    "plan": not made.plan.problem,
                    "fragments": len(made.stored),
                }
            )
        else:
            typer.echo(f"wrote {output}", err=True)
