"""``provenn head``: a few sources of a catalog."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, opened
from provenn.cli.output import AsJson, write_json
from provenn.cli.rows import rows_data, write_rows

__all__ = ["show_head"]


def show_head(
    catalog: CatalogName,
    *,
    most: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="How many sources.")] = 10,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show a few sources of a catalog, whichever come first. Nothing is kept.

    Try:

    - `provenn head bright --most 3`
    """
    with opened(archive, as_json, spark=spark) as found:
        rows = found[catalog].head(most)
        if as_json:
            write_json(rows_data(rows))
        else:
            write_rows(rows)
