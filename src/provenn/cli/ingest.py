"""``provenn ingest``: a catalog defined on files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    ReadingOptions,
    open_archive_at,
    parse_pairs,
    write_catalog,
)
from provenn.cli.output import AsJson

if TYPE_CHECKING:
    from provenn.archive import Archive

__all__ = ["ingest"]


def ingest(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the catalog.", show_default=False)],
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A file, a folder, a quoted pattern, or a Spark table.", show_default=False
        ),
    ],
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            "-k",
            metavar="COLUMN",
            help="A column that identifies a source. May be repeated.",
            show_default=False,
        ),
    ] = None,
    no_key: Annotated[
        bool,
        typer.Option("--no-key", help="No column identifies a source: identify rows by the content of their file."),
    ] = False,
    population: Annotated[
        str,
        typer.Option(
            "--population",
            "-p",
            metavar="WORD",
            help="What one row is: star, galaxy, visit. Only catalogs of the same population can be compared.",
        ),
    ],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="A format of Spark, or fits, votable, ecsv, ipac, mrt, tsv, table; by default from the suffix.",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=TYPE",
            help="The type of a column, if the files do not state it. May be repeated.",
            show_default=False,
        ),
    ] = None,
    option: ReadingOptions = None,
    null: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="A word that stands for NULL in text files, such as null or NA.",
            show_default=False,
        ),
    ] = None,
    rebuild: Annotated[
        bool | None,
        typer.Option(
            "--rebuild/--no-rebuild",
            help="If the name is on an earlier version of the files: move it and redefine the dependent "
            "catalogs, or move only this name.",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Read the key now, and refuse NULL or repeated keys. By default keys are checked when data are "
            "first used.",
        ),
    ] = False,
    trust: Annotated[
        Literal["content", "metadata"] | None,
        typer.Option(
            metavar="WHAT",
            help="How to tell whether files have changed: content reads all bytes, also from object stores; "
            "metadata reads only size, time and footer, and every answer carries a caveat. By default all bytes, "
            "or the ETags of an object store.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="The version of a Delta table, or the snapshot of an Iceberg table; by default the newest.",
            show_default=False,
        ),
    ] = None,
    when: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="A time, such as 2026-11-16T18:30: the version of a Delta or Iceberg table that was the newest then.",
            show_default=False,
        ),
    ] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FOLDER",
            help="HATS: a layer, with further attributes of the same sources. May be repeated.",
            show_default=False,
        ),
    ] = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog on files: Parquet, CSV, ECSV, FITS, VOTable, IPAC, MRT, JSON, ORC, text, Delta, Iceberg.

    All bytes are read once, because a catalog is identified by the content of its files. Later changes of the files are
    noticed when their data are used; ingest them again under the same name to create a new version.

    Try:

    - `provenn ingest hipparcos hip.parquet --key hip --population star`
    - `provenn ingest names "names/*.csv" -k hip -p star --schema hip=bigint`
    - `provenn ingest gaia gaia.fits -k source_id -p star --option hdu=2 --verify`
    - `provenn ingest gaia "GaiaSource_*.csv.gz" -k source_id -p star --null=null`
    - `provenn ingest stars survey.stars --format table -k hip -p star`
    - `provenn ingest detections "night*.csv" --no-key -p detection`
    - `provenn ingest stars lake/stars -k hip -p star --version 3`
    - `provenn ingest gaia gaia-hats -k source_id -p star --layer distances-hats`
    """
    if key and no_key:
        raise typer.BadParameter("use either --key or --no-key, not both")
    types, options = parse_pairs(schema or (), "COLUMN=TYPE"), parse_pairs(option or (), "KEY=VALUE")
    with open_archive_at(archive_path) as archive:
        if not key and not no_key:
            reading = {"format": format_, "schema": types or None, "options": options or None, "null": null}
            raise typer.BadParameter(_ask_for_key(archive, path, reading))
        catalog = archive.ingest(
            name,
            path,
            key=key or None,
            population=population,
            format=format_,
            schema=types or None,
            options=options or None,
            null=null,
            rebuild=rebuild,
            verify=verify,
            trust=trust,
            version=version,
            when=when,
            layers=layer or (),
        )
        write_catalog(catalog, name, as_json)


def _ask_for_key(archive: Archive, path: str, reading: dict[str, Any]) -> str:
    """Return the request to name the key, with the columns that could be one; `reading` says how files are read."""
    from provenn.archive.call_mistakes import find_key_columns  # noqa: PLC0415 - only where there is an error

    columns = find_key_columns({"self": archive, "path": path, **reading})
    candidates = f"; columns that could be a key: {', '.join(columns)}" if columns else ""
    return f"name the columns that identify a source with --key COLUMN, or use --no-key{candidates}"
