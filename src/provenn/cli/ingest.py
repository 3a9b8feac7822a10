"""``provenn ingest``: a catalog on files."""

from typing import Annotated, Literal

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened, pairs, write_catalog
from provenn.cli.output import AsJson

__all__ = ["ingest"]


def ingest(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the catalog.", show_default=False)],
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="A file, a folder, a pattern in quotes; or a table of Spark.", show_default=False
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
        typer.Option(
            "--no-key", help="No column identifies a source: a source is a row of a file, by what the file holds."
        ),
    ] = False,
    population: Annotated[
        str, typer.Option("--population", "-p", metavar="WORD", help="What one row is: star, galaxy, visit.")
    ],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Spark's name of it, or fits, votable, ecsv, ipac, mrt, tsv, table; by default, suffixes tell.",
            show_default=False,
        ),
    ] = None,
    schema: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=TYPE",
            help="The type of a column, where the files do not say. May be repeated.",
            show_default=False,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="Spark's option to read the files. May be repeated.", show_default=False
        ),
    ] = None,
    null: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What stands for NULL in files of text, besides nothing at all: null, NA.",
            show_default=False,
        ),
    ] = None,
    rebuild: Annotated[
        bool | None,
        typer.Option(
            "--rebuild/--no-rebuild",
            help="If the name is on an earlier version of the files: move it, and define anew what is made from that "
            "version; or move this name alone.",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Read the key now, and refuse it if it is NULL or occurs twice. By default that is done when data are "
            "first used.",
        ),
    ] = False,
    trust: Annotated[
        Literal["content", "metadata"] | None,
        typer.Option(
            metavar="WHAT",
            help="What tells whether files are the same: content reads all bytes, also from object stores; metadata "
            "reads size, time and footer alone, and every answer says so. By default all bytes, or the ETags of "
            "an object store.",
            show_default=False,
        ),
    ] = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog on files: Parquet, CSV, ECSV, FITS, VOTable, IPAC, MRT, or whatever Spark can read.

    All bytes are read once: a catalog is what its files hold. If the files change later, that is noticed when their
    data are used, and another ingest under the same name makes a new version.

    Try:

    - `provenn ingest hipparcos hip.parquet --key hip --population star`
    - `provenn ingest names "names/*.csv" -k hip -p star --schema hip=bigint`
    - `provenn ingest gaia gaia.fits -k source_id -p star --option hdu=2 --verify`
    - `provenn ingest gaia "GaiaSource_*.csv.gz" -k source_id -p star --null=null`
    - `provenn ingest stars survey.stars --format table -k hip -p star`
    - `provenn ingest detections "night*.csv" --no-key -p detection`
    """
    if bool(key) == no_key:
        raise typer.BadParameter(
            "name the columns that identify a source: --key COLUMN; or say that there are none: --no-key"
            if no_key is False
            else "--no-key says that no column identifies a source, and --key names one"
        )
    types, options = pairs(schema or (), "COLUMN=TYPE"), pairs(option or (), "KEY=VALUE")
    with opened(archive, as_json) as found:
        made = found.ingest(
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
        )
        write_catalog(made, name, as_json)
