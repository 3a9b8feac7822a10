"""``provenn exchange``: lineage for others, and of others."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson, write_json, write_text
from provenn.cli.writing import check_place, written
from provenn.errors import FileError

if TYPE_CHECKING:
    from provenn.exchange import Imported

__all__ = ["export_lineage", "import_lineage"]

_STANDARD = Path("-")


def export_lineage(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="[CATALOG]",
            help="Only this catalog and all it is made from.",
            show_default=False,
            autocompletion=catalog_names,
        ),
    ] = None,
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", allow_dash=True, help="The file; - is the standard output."),
    ],
    format_: Annotated[
        Literal["openlineage", "prov-json", "prov-n", "prov-xml"],
        typer.Option("--format", metavar="openlineage|prov-json|prov-n|prov-xml", help="What to write."),
    ] = "openlineage",
    namespace: Annotated[
        str, typer.Option(metavar="WORD", help="OpenLineage's namespace of the datasets and jobs.")
    ] = "provenn",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Write lineage for others to read: events of OpenLineage, or W3C PROV with terms of the IVOA.

    Catalogs, what they are made from, who defined them, runs and what is stored; no data.

    Try:

    - `provenn exchange export -o lineage.jsonl`
    - `provenn exchange export both --format prov-n -o -`
    """
    if as_json and output == _STANDARD:
        raise typer.BadParameter("the standard output cannot be both lineage and JSON", param_hint="--json")
    with opened(archive, as_json) as found:
        from provenn.exchange import export_lineage as export  # noqa: PLC0415 - other commands start without it

        if output == _STANDARD:
            if isinstance(sys.stdout, TextIOWrapper):
                sys.stdout.reconfigure(encoding="utf-8")  # as these formats are, whatever the terminal is
            export(found, sys.stdout, catalog, format=format_, namespace=namespace)
            return
        check_place(output, overwrite=overwrite)
        with written(output, overwrite=overwrite) as file:
            export(found, file, catalog, format=format_, namespace=namespace)
        if as_json:
            write_json({"path": str(output), "size": output.stat().st_size, "format": format_})
        else:
            typer.echo(f"wrote {output}", err=True)


def import_lineage(
    file: Annotated[Path, typer.Argument(metavar="FILE", allow_dash=True, help="Events; - is the standard input.")],
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
        typer.Option("--population", "-p", metavar="WORD", help="What one row of these is.", show_default=False),
    ] = "",
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Hold that a dataset has all sources that conditions and joins allow, and that joins are inner ones.",
        ),
    ] = False,
    prefix: Annotated[str, typer.Option(metavar="TEXT", help="What to put before the names.", show_default=False)] = "",
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Take the datasets of OpenLineage's events for catalogs, to ask how they relate. Nothing in them is executed.

    Only what the events state is claimed: a dataset whose key is taken over unchanged from others lies inside them, and
    inside the conditions under which they are read. Everything else is a set of its own, and is told.

    Try:

    - `provenn exchange import events.jsonl --key hip --population star`
    - `provenn exchange import events.jsonl -k id -p order --prefix spark:`
    """
    with opened(archive, as_json) as found:
        from provenn.exchange import import_lineage as take  # noqa: PLC0415 - other commands start without it

        with _opened(file) as events:
            done = take(found, events, key=key or (), population=population, exact=exact, prefix=prefix)
        if as_json:
            write_json(_data(done))
        else:
            write_text(str(done))


def _opened(file: Path) -> AbstractContextManager[IO[bytes]]:
    if file == _STANDARD:
        return nullcontext(sys.stdin.buffer)
    try:
        return file.open("rb")
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}", hint="is it the right path?") from error


def _data(done: Imported) -> dict[str, object]:
    return {
        "events": done.events,
        "new": done.new,
        "catalogs": [
            {
                "dataset": one.dataset,
                "names": list(one.names),
                "digest": one.digest,
                "how": one.how,
                "missing": one.missing,
            }
            for one in done.catalogs
        ],
    }
