"""``provenn count``: how many sources a catalog has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, EngineName, SparkUrl, open_archive_at
from provenn.cli.notices import CheckFacts, name_supporting_facts, notices_data, write_notices
from provenn.cli.output import AsJson, write_json, write_text
from provenn.targets.engine_choice import choose_engine

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["show_count"]


def show_count(
    catalog: CatalogName,
    *,
    check: CheckFacts = False,
    engine: EngineName = "auto",
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show the number of sources of a catalog, counting them only if the number is unknown.

    If the number rests on declared facts, they are shown.

    Try:

    - `provenn count bright`
    - `provenn count bright --check`
    """
    notices: list[Notice] = []
    with open_archive_at(archive_path, spark=spark, notices=notices) as archive:
        number = archive[catalog].count(check=check, engine=choose_engine(engine))
        if as_json:
            write_json({"catalog": catalog, "sources": number, **notices_data(notices)})
            return
        supporting_facts = name_supporting_facts(notices)
        write_text(
            f"{number:,} source{'s' * (number != 1)}, by {supporting_facts}" if supporting_facts else str(number)
        )
        write_notices(notices, resting=False)
