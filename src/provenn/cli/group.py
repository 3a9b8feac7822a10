"""``provenn group``: groups of sources, with aggregates."""

from typing import Annotated

import typer

from provenn.cli.archives import (
    CURRENT_FOLDER,
    ArchivePath,
    CatalogName,
    NewName,
    open_archive_at,
    parse_pairs,
    write_catalog,
)
from provenn.cli.output import AsJson

__all__ = ["define_groups"]


def define_groups(
    catalog: CatalogName,
    aggregates: Annotated[
        list[str] | None,
        typer.Argument(metavar="ATTRIBUTE=AGGREGATE", help="Attributes of the groups, in quotes.", show_default=False),
    ] = None,
    *,
    by: Annotated[
        list[str],
        typer.Option(
            metavar="ATTRIBUTE",
            help="The attribute in which the sources of a group agree. May be repeated.",
            show_default=False,
        ),
    ],
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            "-p",
            metavar="WORD",
            help="What one group is: the population that the attributes refer to, or a new one.",
            show_default="the names of the attributes",
        ),
    ] = None,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: one source for each group of sources that agree in some attributes, with aggregates.

    Sources with NULL in one of these attributes are in no group.

    Try:

    - `provenn group detections --by objid --population object n="count(*)" mean="avg(mag)" --name statistics`
    - `provenn group detections --by objid --population object curve="collect(mag ORDER BY mjd)"`
    - `provenn group detections --by night --by band`
    """
    aggregate_by_attribute = parse_pairs(aggregates or (), "ATTRIBUTE=AGGREGATE")
    with open_archive_at(archive_path) as archive:
        groups = archive[catalog].group(by, aggregate_by_attribute, population=population, name=name)
        write_catalog(groups, name, as_json)
