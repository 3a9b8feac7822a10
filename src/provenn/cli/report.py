"""``provenn report``: everything known about a catalog, in one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, open_archive_at
from provenn.cli.output import AsJson, Overwrite, write_json
from provenn.cli.output_files import check_output_path, open_output_file
from provenn.errors import StoreError

__all__ = ["report"]

_STANDARD_OUTPUT = Path("-")


def report(
    catalog: CatalogName,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", allow_dash=True, help="The output file; - is the standard output."
        ),
    ],
    overwrite: Overwrite = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Write everything about a catalog to one HTML file, to attach to a paper or a ticket.

    The report has the attributes, the lineage down to the files, calculators, relations with their proofs, facts, and
    the plan. The file needs no network and no scripts. No data are read.

    Try:

    - `provenn report bright -o bright.html`
    """
    if as_json and output == _STANDARD_OUTPUT:
        raise typer.BadParameter("the report and JSON cannot both go to the standard output", param_hint="--json")
    with open_archive_at(archive_path) as archive:
        from provenn.web.standalone_report import make_report, render_report  # noqa: PLC0415 - other commands start without it

        if output != _STANDARD_OUTPUT:
            _check_suffix(output)
            check_output_path(output, overwrite=overwrite)
        content = make_report(archive, catalog)
        text = render_report(content)
        if output == _STANDARD_OUTPUT:
            typer.echo(text.encode(), nl=False)
            return
        with open_output_file(output, overwrite=overwrite) as file:
            file.write(text)
        if as_json:
            write_json(
                {
                    "path": str(output),
                    "size": output.stat().st_size,
                    "name": content.description.name,
                    "digest": content.description.digest,
                    "attributes": len(content.description.attributes),
                    "lineage": len(content.steps),
                    "files": len(content.provenance.bases),
                    "calculators": len(content.provenance.calculations),
                    "relations": len(content.relations),
                    "facts": len(content.provenance.facts),
                    "plan": not content.plan.problem,
                    "fragments": len(content.stored),
                }
            )
        else:
            typer.echo(f"wrote {output}", err=True)


def _check_suffix(file: Path) -> None:
    """Refuse a file whose name promises another format than HTML; a pipe needs no suffix."""
    if file.suffix.lower() not in ("", ".html", ".htm", ".xhtml"):
        raise StoreError(f"reports are HTML, and {file.name} has another suffix", hint=f"name it {file.stem}.html")
