"""``provenn head``: a few sources of a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, EngineName, SparkUrl, open_archive_at
from provenn.cli.notices import CheckFacts, notices_data, write_notices
from provenn.cli.output import AsJson, write_json
from provenn.cli.row_tables import rows_data, write_rows
from provenn.targets.engine_choice import choose_engine

if TYPE_CHECKING:
    from provenn.archive import Notice

__all__ = ["show_head"]


def show_head(
    catalog: CatalogName,
    *,
    most: Annotated[int, typer.Option("--most", "-n", metavar="NUMBER", min=0, help="How many sources.")] = 10,
    check: CheckFacts = False,
    engine: EngineName = "auto",
    spark: SparkUrl = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show a few sources of a catalog, in no particular order. Nothing is stored.

    Try:

    - `provenn head bright -n 3`
    """
    notices: list[Notice] = []
    with open_archive_at(archive_path, spark=spark, notices=notices) as archive:
        rows = archive[catalog].collect_first_rows(most, check=check, engine=choose_engine(engine))
        if as_json:
            write_json({**rows_data(rows), **notices_data(notices)})
        else:
            write_rows(rows)
            write_notices(notices)
