"""What each file of a base catalog states of itself, kept beside the definition: plans skip files by it.

Bounds are values of data. They are read only for catalogs that the viewer plans; they are in no definition, no text and
no portable file.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import delete, insert, select

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.database.tables import file_bounds
from provenn.database.transactions import Reading, Writing
from provenn.digests import CatalogDigest
from provenn.files.file_bounds import encode_file_parts
from provenn.files.file_set import compute_files_digest

__all__ = ["read_file_bounds", "record_file_bounds", "record_file_parts"]


def record_file_bounds(writing: Writing, base: Base) -> None:
    """Record what each file of a new base catalog states, if the files were read."""
    rows = [{"catalog": base.digest, "column": name, "content": text} for name, text in base.files.file_bounds]
    if rows:
        writing.connection.execute(insert(file_bounds), rows)


def record_file_parts(writing: Writing, base: Base, core: CatalogDigest, division: str, parts: Sequence[str]) -> None:
    """Record in which part of a core each file of a base catalog has its keys; see `encode_file_parts`."""
    prints = [text for _, text in base.files.fingerprints]
    column, content = encode_file_parts(compute_files_digest(prints), core, division, parts)
    writing.connection.execute(
        delete(file_bounds).where((file_bounds.c.catalog == base.digest) & (file_bounds.c.column == column))
    )
    row = {"catalog": base.digest, "column": column, "content": content}
    writing.connection.execute(insert(file_bounds), [row])


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
