"""``provenn store``: compute a catalog and keep its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, open_archive_at
from provenn.cli.completion import complete_attribute_names
from provenn.cli.fragments import fragment_data
from provenn.cli.notices import notices_data, write_notices
from provenn.cli.output import AsJson, write_json, write_text
from provenn.sizes import format_size

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["store"]


def store(
    catalog: CatalogName,
    attributes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ATTRIBUTES",
            help="Only these attributes.",
            show_default=False,
            autocompletion=complete_attribute_names,
        ),
    ] = None,
    *,
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Compute a catalog and store its data, so that they are not computed again. The key is always stored.

    Data that are already stored are not recomputed.

    Try:

    - `provenn store bright`
    - `provenn store bright dist_pc photo_z`
    """
    notices: list[Notice] = []
    with open_archive_at(archive_path, spark=spark, notices=notices) as archive:
        stored = archive.store(catalog, attributes=attributes or None)
        if as_json:
            write_json({**notices_data(notices), **fragment_data(stored)})
            return
        fragment = stored.fragment
        write_text(f"fragment #{fragment.id}: {fragment.rows:,} sources of {stored.name}, {format_size(fragment.size)}")
        write_text(f"  {', '.join(stored.attributes)}")
        write_notices(notices)
