"""``provenn report``: all there is to say of a catalog, in one HTML file."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, opened
from provenn.cli.output import AsJson, write_json
from provenn.errors import StoreError

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
            _check(output, overwrite=overwrite)
        made = reported(found, catalog)
        text = report_html(made)
        if output == _STANDARD_OUTPUT:
            typer.echo(text.encode(), nl=False)
            return
        _write(output, text, overwrite=overwrite)
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


def _check(file: Path, *, overwrite: bool) -> None:
    if file.is_dir():
        raise StoreError(f"{file} is a folder", hint="name a file in it")
    if file.exists() and not overwrite:
        raise StoreError(f"{file} is there already", hint="choose another name, or say --overwrite")


def _write(file: Path, text: str, *, overwrite: bool) -> None:
    """Write a file that is there when all of it is, and not before."""
    temporary = None
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=file.parent, prefix=".provenn-", delete=False
        ) as opened_file:
            temporary = Path(opened_file.name)
            opened_file.write(text)
        temporary.chmod(0o666 & ~_mask())
        _check(file, overwrite=overwrite)
        temporary.replace(file)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, StoreError):
            raise StoreError(f"{file} cannot be written: {error.strerror}", hint="choose another place") from error
        raise


def _mask() -> int:
    """Return which rights new files do not have here; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
