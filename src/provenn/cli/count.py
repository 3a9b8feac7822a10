"""``provenn count``: how many sources a catalog has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, SparkUrl, opened
from provenn.cli.notices import CheckFacts, notices_data, resting_on, write_notices
from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["show_count"]


def show_count(
    catalog: CatalogName,
    *,
    check: CheckFacts = False,
    spark: SparkUrl = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Tell how many sources a catalog has. They are counted, unless that is known; it is known from then on.

    A number that rests on declared facts is told with them.

    Try:

    - `provenn count bright`
    - `provenn count bright --check`
    """
    notices: list[Notice] = []
    with opened(archive, as_json, spark=spark, notices=notices) as found:
        number = found[catalog].count(check=check)
        if as_json:
            write_json({"catalog": catalog, "sources": number, **notices_data(notices)})
            return
        facts = resting_on(notices)
        write_text(f"{number:,} source{'s' * (number != 1)}, by {facts}" if facts else str(number))
        write_notices(notices, resting=False)
