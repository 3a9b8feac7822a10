"""``provenn count``: how many sources a catalog has."""

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["show_count"]


def show_count(
    catalog: CatalogName,
    *,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Tell how many sources a catalog has. They are counted, unless that is known; it is known from then on.

    Try:

    - `provenn count bright`
    """
    with opened(archive, as_json, spark=spark) as found:
        number = found[catalog].count()
        if as_json:
            write_json({"catalog": catalog, "sources": number})
        else:
            write_text(str(number))
