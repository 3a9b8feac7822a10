"""``provenn export``: the data of a catalog, as files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, open_archive_at
from provenn.cli.completion import complete_attribute_names
from provenn.cli.notices import CheckFacts, notices_data, write_notices
from provenn.cli.output import AsJson, write_json
from provenn.cli.output_files import OutputFormat
from provenn.cli.row_tables import write_file_summary, written_file_data

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["export"]


def export(
    catalog: CatalogName,
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH", help="A file or a folder; the suffix determines the format.", show_default=False
        ),
    ] = None,
    *,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="The same as PATH.", show_default=False),
    ] = None,
    format_: OutputFormat = None,
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ATTRIBUTE",
            autocompletion=complete_attribute_names,
            help="Partition into folders by the values of this attribute. May be repeated.",
            show_default=False,
        ),
    ] = None,
    single: Annotated[
        bool | None,
        typer.Option(
            "--single/--folder",
            help="One file, or a folder of files. By default one file if the path has a suffix.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Let `provenn refresh` write the files anew when the catalog has changed.")
    ] = False,
    pixel_rows: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="HATS: the most sources of a part of the sky; by default 1000000.",
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="ANGLE",
            help="HATS: also write a margin of this width around each part: in arcsec, or for example '1 arcmin'.",
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="RA DEC",
            help="HATS: the attributes of the position, if they are not found.",
            show_default=False,
        ),
    ] = None,
    layer: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="HATS: write only the attributes that this core in HATS lacks, for the same sources.",
            show_default=False,
        ),
    ] = None,
    check: CheckFacts = False,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Compute a catalog and write it to files, which appear only when they are complete.

    With --follow, `provenn exports` lists the files, and `provenn refresh` brings them up to date.

    Try:

    - `provenn export bright bright.fits`
    - `provenn export bright folder --format parquet --partition-by field`
    - `provenn export bright folder --format hats --margin '10 arcsec'`
    - `provenn export distances folder --format hats --layer gaia-hats`
    """
    if on is not None and on[1].startswith("-"):
        raise typer.BadParameter(f"--on takes two attributes, such as --on ra dec; got {' '.join(on)}")
    place = path or output
    if place is None or (path and output):
        raise typer.BadParameter("expected one path: PATH, or --output PATH")
    notices: list[Notice] = []
    with open_archive_at(archive_path, spark=spark, notices=notices) as archive:
        file = archive[catalog].write(
            place,
            format=format_,
            partition_by=partition_by or (),
            single=single,
            overwrite=overwrite,
            check=check,
            follow=follow and catalog,
            pixel_rows=pixel_rows,
            margin=margin,
            on=on,
            layer=layer,
        )
        if as_json:
            write_json({**written_file_data(file), **notices_data(notices)})
        else:
            write_file_summary(file)
            write_notices(notices)
