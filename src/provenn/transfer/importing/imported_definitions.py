"""Importing restored definitions: the rows, and the publishing transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Table, select, update

from provenn.batches import split_batches
from provenn.database.bulk_insertion import insert_rows
from provenn.database.tables import attributes, bases, catalogs, definers, dependencies, schemas, wordings
from provenn.definitions import catalog_store, moc_files
from provenn.definitions.attributes import compute_schema_digest, count_schema_attributes
from provenn.digests import CatalogDigest
from provenn.sky.moc_library import PREFIX
from provenn.transfer.importing.continued_bases import check_continued_bases
from provenn.transfer.importing.held_catalogs import find_held_digests
from provenn.transfer.importing.staging import StagedDefinition, StagedFile
from provenn.transfer.importing.taking import ImportSession, insert_missing

__all__ = ["DEFINERS", "definer_rows", "definition_rows", "take_definitions"]

DEFINERS = ("catalog", "who", "at", "defined")
"""The columns of `definer_rows`."""

TableRows = tuple[Table, tuple[str, ...], Iterable[tuple[Any, ...]]]
"""A table, its columns, and the values of rows."""


def take_definitions(session: ImportSession) -> int:
    """Insert the definitions of a file missing from the archive; return the number of inserted definitions.

    Raises
    ------
    PopulationError
        If a population of the same name has another key in this archive.
    FileError
        If the files of a base catalog have other contents in this archive.
    """
    staged, writing, rows = session.staged, session.writing, session.rows
    # If other processes have deleted the staged rows meanwhile, rows are written from memory.
    published = rows if rows is not None and rows.are_complete(writing) else None
    if published is None:
        held = frozenset(find_held_digests(writing, staged.definitions))
    else:
        held = session.held_before | published.find_held(writing)
    for digest in held:
        _require_same_contents(session, staged.definitions[digest])
    fresh = staged.definitions.keys() - held
    catalog_store.add_populations(writing, staged.populations)
    parameters = (staged.definitions[digest].parameters for digest in fresh)
    moc_files.keep_named(writing, (text for text in parameters if PREFIX in text))
    if published is None:
        for table, columns, values in definition_rows(session, sorted(fresh)):
            insert_rows(writing.connection, table, columns, values)
        _record_definers(session, fresh)
    else:
        published.publish(writing, held)
    catalog_store.record_unseen_definitions(session.unrestricted, _find_outside(staged, fresh))
    check_continued_bases(session, fresh)
    return len(fresh)


def _require_same_contents(session: ImportSession, definition: StagedDefinition) -> None:
    """Refuse an old base catalog with other file contents here: an old digest does not cover contents."""
    if definition.files is not None and definition.files.is_recorded:
        query = select(bases.c.content).where(bases.c.catalog == definition.digest)
        if session.writing.connection.scalar(query) not in ("", definition.files.content):
            raise definition.line.make_error(
                "the files of this base catalog have a different content here; ingest them again"
            )


def _find_outside(staged: StagedFile, fresh: Collection[CatalogDigest]) -> list[Any]:
    """Return the dependencies of new catalogs outside the file."""
    if not staged.outside:
        return []
    needed = {dependency for digest in fresh for dependency in staged.definitions[digest].dependencies}
    return [catalog for digest, catalog in staged.outside.items() if digest in needed]


def definition_rows(
    session: ImportSession, digests: Sequence[CatalogDigest], known_schemas: Collection[str] = ()
) -> Iterator[TableRows]:
    """Yield the rows of definitions, table by table, in the order of foreign keys.

    Parameters
    ----------
    session
        The import.
    digests
        The digests of the definitions, sorted: both databases then write each page of an index once.
    known_schemas
        The digests of schemas that other transactions wrote before.
    """
    choose_author = session.choose_author
    definitions = [session.staged.definitions[digest] for digest in digests]
    schema_digests = {text: compute_schema_digest(text) for text in {definition.schema for definition in definitions}}
    yield (
        schemas,
        ("digest", "attributes", "names"),
        _missing_schemas(
            session, {digest: text for text, digest in schema_digests.items() if digest not in known_schemas}
        ),
    )
    yield (
        catalogs,
        (
            *("digest", "kind", "population", "parameters", "notes", "extent"),
            *("created_at", "created_by", "schema"),
        ),
        (
            (
                *(
                    definition.digest,
                    definition.kind,
                    definition.population,
                    definition.parameters,
                    definition.notes,
                    definition.extent,
                ),
                *(definition.created[0][0], choose_author(definition.created[0][1]), schema_digests[definition.schema]),
            )
            for definition in definitions
        ),
    )
    yield (
        dependencies,
        ("catalog", "position", "dependency"),
        (
            (definition.digest, position, digest)
            for definition in definitions
            for position, digest in enumerate(definition.dependencies)
        ),
    )
    yield (
        attributes,
        ("catalog", "name", "identity", "population"),
        (
            (definition.digest, name, identity, definition.population)
            for definition in definitions
            for name, identity in definition.attributes
        ),
    )
    yield (
        wordings,
        ("catalog", "text"),
        ((definition.digest, definition.wording) for definition in definitions if definition.wording),
    )
    yield (
        bases,
        ("catalog", "location", "row_count", "seen_at", "seen_by", "content", "caveat"),
        (
            (
                definition.digest,
                files.location,
                files.row_count,
                files.seen[0],
                choose_author(files.seen[1]),
                files.content,
                files.caveat,
            )
            for definition in definitions
            if (files := definition.files) is not None
        ),
    )


def _missing_schemas(session: ImportSession, texts: Mapping[str, str]) -> list[tuple[Any, ...]]:
    """Return the rows of new schemas, in order; `texts` is by digest."""
    query = select(schemas.c.digest)
    held = {
        digest
        for batch in split_batches(texts)
        for digest in session.writing.connection.scalars(query.where(schemas.c.digest.in_(batch)))
    }
    return [(digest, count_schema_attributes(texts[digest]), texts[digest]) for digest in sorted(texts.keys() - held)]


def definer_rows(session: ImportSession, digests: Iterable[CatalogDigest]) -> dict[tuple[str, str], tuple[Any, ...]]:
    """Return the rows of `DEFINERS`, the people named by the file as definers; by catalog and person.

    If the importer has limited rights, the importer is the only definer.
    """
    rows: dict[tuple[str, str], tuple[Any, ...]] = {}
    for digest in digests:
        definition = session.staged.definitions[digest]
        for at, person in reversed(definition.created):
            key = (digest, session.choose_author(person))
            defined = person not in definition.computed_by or (key in rows and rows[key][3])
            rows[key] = (*key, at, defined)
    return rows


def _record_definers(session: ImportSession, fresh: Collection[CatalogDigest]) -> None:
    """Record the definers of new catalogs, and of catalogs held before."""
    new_rows = definer_rows(session, fresh)
    insert_rows(session.writing.connection, definers, DEFINERS, (new_rows[key] for key in sorted(new_rows)))
    earlier_rows = definer_rows(session, session.staged.definitions.keys() - fresh)
    for batch in split_batches(earlier_rows):
        rows = {key: dict(zip(DEFINERS, earlier_rows[key], strict=True)) for key in batch}
        insert_missing(session.writing, definers, ("catalog", "who"), rows)
    _confirm_definers(session, {key for key, row in earlier_rows.items() if row[3]})


def _confirm_definers(session: ImportSession, defined: Iterable[tuple[str, str]]) -> None:
    """Mark catalogs needed only by runs so far as defined, if the file names a person as definer."""
    pairs = set(defined)
    execute, table = session.writing.connection.execute, definers
    query = select(table.c.catalog, table.c.who).where(~table.c.defined)
    for batch in split_batches({digest for digest, _ in pairs}):
        for digest, person in execute(query.where(table.c.catalog.in_(batch))).all():
            if (digest, person) in pairs:
                condition = (table.c.catalog == digest, table.c.who == person)
                execute(update(table).where(*condition).values(defined=True))
