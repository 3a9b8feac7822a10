"""``provenn store``: compute and keep."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, opened
from provenn.cli.fragments import fragment_data
from provenn.cli.output import AsJson, write_json, write_text
from provenn.cli.sizes import size_text

__all__ = ["store"]


def store(
    catalog: CatalogName,
    *,
    attributes: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only these attributes, with commas between them.", show_default=False),
    ] = None,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Compute a catalog and keep its data, so that nobody computes them again. The key is always kept.

    What is kept already is not computed.

    Try:

    - `provenn store bright`
    - `provenn store bright --attributes dist_pc,photo_z`
    """
    wanted = None if attributes is None else [one.strip() for one in attributes.split(",") if one.strip()]
    with opened(archive, as_json, spark=spark) as found:
        kept = found.store(catalog, attributes=wanted)
        if as_json:
            write_json(fragment_data(kept))
            return
        one = kept.fragment
        write_text(f"fragment #{one.id}: {one.rows:,} sources of {kept.name}, {size_text(one.size)}")
        write_text(f"  {', '.join(kept.attributes)}")
