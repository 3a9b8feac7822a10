"""What each file of a base catalog states of itself, kept beside the definition: plans skip files by it.

Bounds are values of data. They are read only for catalogs that the viewer plans; they are in no definition, no text and
no portable file.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import insert, select

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.database.tables import file_bounds
from provenn.database.transactions import Reading, Writing
from provenn.digests import CatalogDigest

__all__ = ["read_file_bounds", "record_file_bounds"]


def record_file_bounds(writing: Writing, base: Base) -> None:
    """Record what each file of a new base catalog states, if the files were read."""
    rows = [{"catalog": base.digest, "column": name, "content": text} for name, text in base.files.file_bounds]
    if rows:
        writing.connection.execute(insert(file_bounds), rows)


def read_file_bounds(
    reading: Reading, bases: Collection[CatalogDigest], columns: Collection[str]
) -> dict[tuple[CatalogDigest, str], str]:
    """Return the bounds of columns in the files of base catalogs, in stored form, by catalog and column.

    Parameters
    ----------
    reading
        The transaction.
    bases
        The base catalogs, which the viewer sees.
    columns
        The columns.
    """
    wanted = sorted(columns)
    stored: dict[tuple[CatalogDigest, str], str] = {}
    for batch in split_batches(sorted(bases) if wanted else []):
        query = select(file_bounds.c.catalog, file_bounds.c.column, file_bounds.c.content).where(
            file_bounds.c.catalog.in_(batch), file_bounds.c.column.in_(wanted)
        )
        stored.update({(catalog, column): text for catalog, column, text in reading.connection.execute(query)})
    return stored
