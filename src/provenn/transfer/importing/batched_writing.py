"""Writing the rows of definitions in many short transactions, with pauses for other processes.

The rows stay invisible until the last transaction of the import publishes them; `provenn.database.staged_rows` explains
how and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from provenn.database.staged_rows import StagedRows, let_others_write, stage_rows
from provenn.database.tables import definers, schemas
from provenn.database.transactions import Database
from provenn.digests import CatalogDigest
from provenn.transfer.importing.held_catalogs import find_held_digests
from provenn.transfer.importing.imported_definitions import DEFINERS, definer_rows, definition_rows
from provenn.transfer.importing.staging import StagedDefinition, StagedFile
from provenn.transfer.importing.taking import ImportSession

__all__ = ["LARGEST_BATCH", "WrittenRows", "write_in_batches"]

LARGEST_BATCH = 10_000
"""The approximate number of rows that one transaction writes; a thousand characters of a definition count as a row.

A file with fewer rows is written in the transaction that publishes it: that takes no longer.
"""

_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The rows of a file written before the publishing transaction.

    Parameters
    ----------
    rows
        The staged rows of its definitions; None if the file is small, and no rows were written.
    held_before
        The digests of the definitions that the archive held already. No definition is ever deleted.
    """

    rows: StagedRows | None = None
    held_before: frozenset[CatalogDigest] = frozenset()


@contextmanager
def write_in_batches(database: Database, staged: StagedFile) -> Iterator[WrittenRows]:
    """Write the rows of a file's definitions in short transactions; the body must publish the rows to keep them.

    Parameters
    ----------
    database
        The archive.
    staged
        The contents of the file.

    Raises
    ------
    ArchiveError
        If the database fails, others write for too long, or the archive was upgraded or replaced.
    """
    if sum(map(_weigh_definition, staged.definitions.values())) <= LARGEST_BATCH:
        yield WrittenRows()
        return
    with stage_rows(database) as rows:
        with database.reading() as reading:
            held = frozenset(find_held_digests(reading, staged.definitions))
        known_schemas: set[str] = set()
        for digests in _split_definitions(staged):
            with database.writing() as writing:
                _write_batch(ImportSession(writing, "", staged), rows, digests, held, known_schemas)
            let_others_write()
        yield WrittenRows(rows, held)


def _write_batch(
    session: ImportSession,
    rows: StagedRows,
    digests: list[CatalogDigest],
    held: frozenset[CatalogDigest],
    known_schemas: set[str],
) -> None:
    """Stage the rows of some definitions, and of the definers."""
    fresh = [digest for digest in digests if digest not in held]
    for table, columns, values in definition_rows(session, fresh, known_schemas):
        new_rows = list(values)
        rows.insert(session.writing, table, columns, new_rows)
        if table is schemas:
            known_schemas.update(row[0] for row in new_rows)
    definer_values = definer_rows(session, digests)
    rows.insert(session.writing, definers, DEFINERS, (definer_values[key] for key in sorted(definer_values)))


def _split_definitions(staged: StagedFile) -> Iterable[list[CatalogDigest]]:
    """Yield the digests of all definitions, sorted, in lists worth about `LARGEST_BATCH` rows."""
    batch: list[CatalogDigest] = []
    weight = 0
    for digest in sorted(staged.definitions):
        batch.append(digest)
        weight += _weigh_definition(staged.definitions[digest])
        if weight >= LARGEST_BATCH:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _weigh_definition(definition: StagedDefinition) -> int:
    """Return the number of rows for which a definition counts."""
    rows = 1 + len(definition.dependencies) + len(definition.attributes) + len(definition.created)
    return rows + (len(definition.parameters) + len(definition.notes) + len(definition.schema)) // _CHARACTERS
