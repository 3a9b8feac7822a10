"""Computing again without stored data that turn out to be damaged when read."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from provenn.errors import BaseFilesError, FormatError, ProvennError, RunError, StoreError

if TYPE_CHECKING:
    from provenn.data.stored_reads import StoredReads
    from provenn.database.transactions import Database
    from provenn.files.data_folder import DataFolder

__all__ = ["compute_despite_damage"]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_READING = re.compile(r"FAILED_READ_FILE|checksum|org\.apache\.parquet", re.IGNORECASE)
"""The messages of Spark and pyarrow about an unreadable file."""


def compute_despite_damage(database: Database, folder: DataFolder | None, compute: Callable[[], T]) -> T:
    """Compute; if stored data are damaged, drop the damaged data and compute again from the rest.

    Every attempt drops at least one fragment or conversion, so the loop ends.

    Parameters
    ----------
    database, folder
        The archive and its data; without a folder nothing is stored, and nothing can be damaged.
    compute
        Plans and computes, with the data stored now.

    Raises
    ------
    FilesChangedError
        If a table that was ingested from memory is damaged: it cannot be computed again.
    """
    if folder is None:
        return compute()
    from provenn.data.stored_reads import note_reads  # noqa: PLC0415 - Spark is slow to import

    dropped: set[str] = set()
    while True:
        with note_reads() as reads:
            try:
                return compute()
            except (BaseFilesError, FormatError, RunError, StoreError) as error:
                damaged = _drop_damaged(database, folder, reads) if _is_about_reading(error) else frozenset()
                if damaged <= dropped:  # undroppable data must not cause an endless loop
                    raise
                dropped |= damaged
                _LOG.warning("stored data were damaged and are recomputed: %s", error.message)


def _is_about_reading(error: ProvennError) -> bool:
    """Whether an error was caused by an unreadable file."""
    from provenn.spark.spark_errors import collect_error_text  # noqa: PLC0415 - Spark is slow to import

    cause: BaseException | None = error
    while cause is not None:
        if _READING.search(collect_error_text(cause)):
            return True
        cause = cause.__cause__
    return False


def _drop_damaged(database: Database, folder: DataFolder, reads: StoredReads) -> frozenset[str]:
    """Read all bytes that a run has read, and drop damaged data; return the places of the dropped data."""
    from provenn.data.conversions import discard_damaged  # noqa: PLC0415
    from provenn.data.given_tables import check_table  # noqa: PLC0415
    from provenn.data.usable_fragments import drop_damaged  # noqa: PLC0415

    for base in reads.tables.values():
        check_table(folder, base.files)
    fragments = drop_damaged(database, folder, reads.fragments.values())
    conversions = [address for address in sorted(reads.conversions) if discard_damaged(folder, address)]
    return frozenset([*conversions, *fragments])
