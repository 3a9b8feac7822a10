"""``provenn exchange``: export lineage for other programs, and import lineage."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, Overwrite, write_json, write_text
from provenn.cli.output_files import check_output_path, open_output_file
from provenn.errors import FileError

if TYPE_CHECKING:
    from provenn.exchange import Imported

__all__ = ["export_lineage", "import_lineage"]

_STANDARD_STREAM = Path("-")


def export_lineage(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="[CATALOG]",
            help="Only this catalog and its lineage.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", allow_dash=True, help="The output file; - is the standard output."
        ),
    ],
    format_: Annotated[
        Literal["openlineage", "prov-json", "prov-n", "prov-xml"],
        typer.Option("--format", metavar="openlineage|prov-json|prov-n|prov-xml", help="The format to write."),
    ] = "openlineage",
    namespace: Annotated[
        str, typer.Option(metavar="WORD", help="The OpenLineage namespace of the datasets and jobs.")
    ] = "provenn",
    overwrite: Overwrite = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Write lineage for other programs: OpenLineage events, or W3C PROV with terms of the IVOA.

    The output has the catalogs, their dependencies, their authors, the runs and the stored fragments, but no data.

    Try:

    - `provenn exchange export -o lineage.jsonl`
    - `provenn exchange export both --format prov-n -o -`
    """
    if as_json and output == _STANDARD_STREAM:
        raise typer.BadParameter("lineage and JSON cannot both go to the standard output", param_hint="--json")
    with open_archive_at(archive_path) as archive:
        from provenn.exchange import export_lineage as export  # noqa: PLC0415 - other commands start without it

        if output == _STANDARD_STREAM:
            if isinstance(sys.stdout, TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8")  # the encoding of these formats, whatever the terminal uses
            export(archive, sys.stdout, catalog, format=format_, namespace=namespace)
            return
        check_output_path(output, overwrite=overwrite)
        with open_output_file(output, overwrite=overwrite) as file:
            export(archive, file, catalog, format=format_, namespace=namespace)
        if as_json:
            write_json({"path": str(output), "size": output.stat().st_size, "format": format_})
        else:
            typer.echo(f"wrote {output}", err=True)


def import_lineage(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", allow_dash=True, help="A file of events; - is the standard input.")
    ],
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            "-k",
            metavar="COLUMN",
            help="A column that identifies a source in every dataset that has it. May be repeated.",
            show_default=False,
        ),
    ] = None,
    population: Annotated[
        str,
        typer.Option("--population", "-p", metavar="WORD", help="The population: what one row is.", show_default=False),
    ] = "",
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Assume that datasets hold every source that conditions and joins allow, and that joins are "
            "inner joins.",
        ),
    ] = False,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="A prefix for the names.", show_default=False)] = "",
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Import the datasets of OpenLineage events as catalogs, to ask how they relate. Nothing is executed.

    Only what the events state is claimed: a dataset that takes its key unchanged from other datasets lies inside them,
    and inside the conditions under which they are read. Every other dataset becomes an independent set, and is listed
    as such.

    Try:

    - `provenn exchange import events.jsonl --key hip --population star`
    - `provenn exchange import events.jsonl -k id -p order --prefix spark:`
    """
    with open_archive_at(archive_path) as archive:
        from provenn.exchange import import_lineage as import_events  # noqa: PLC0415 - other commands start without it

        with _open_events(file) as events:
            imported = import_events(archive, events, key=key or (), population=population, exact=exact, prefix=prefix)
        if as_json:
            write_json(_import_data(imported))
        else:
            write_text(str(imported))


def _open_events(file: Path) -> AbstractContextManager[IO[bytes]]:
    """Open a file of events, or the standard input for ``-``."""
    if file == _STANDARD_STREAM:
        return nullcontext(sys.stdin.buffer)
    try:
        return file.open("rb")
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}", hint="check the path") from error


def _import_data(imported: Imported) -> dict[str, object]:
    """Return the result of an import as JSON data."""
    return {
        "events": imported.events,
        "new": imported.new,
        "catalogs": [
            {
                "dataset": catalog.dataset,
                "names": list(catalog.names),
                "digest": catalog.digest,
                "how": catalog.how,
                "missing": catalog.missing,
            }
            for catalog in imported.catalogs
        ],
    }
