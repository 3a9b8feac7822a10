"""``provenn store``: compute and keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, opened
from provenn.cli.completion import attribute_names
from provenn.cli.fragments import fragment_data
from provenn.cli.notices import notices_data, write_notices
from provenn.cli.output import AsJson, write_json, write_text
from provenn.cli.sizes import size_text

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
            autocompletion=attribute_names,
        ),
    ] = None,
    *,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Compute a catalog and keep its data, so that nobody computes them again. The key is always kept.

    What is kept already is not computed.

    Try:

    - `provenn store bright`
    - `provenn store bright dist_pc photo_z`
    """
    notices: list[Notice] = []
    with opened(archive, as_json, spark=spark, notices=notices) as found:
        kept = found.store(catalog, attributes=attributes or None)
        if as_json:
            write_json({**notices_data(notices), **fragment_data(kept)})
            return
        one = kept.fragment
        write_text(f"fragment #{one.id}: {one.rows:,} sources of {kept.name}, {size_text(one.size)}")
        write_text(f"  {', '.join(kept.attributes)}")
        write_notices(notices)
