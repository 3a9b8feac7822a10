"""Checks of definitions: digests are computed again, catalogs are restored, and compared with the indices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sqlalchemy import delete, insert, select, update

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.restoring import restore
from provenn.database.tables import attributes as attribute_rows
from provenn.database.tables import bases, catalogs, dependencies, populations, schemas
from provenn.database.tables import wordings as wording_rows
from provenn.database.transactions import Reading, Writing
from provenn.definitions import attributes, wordings
from provenn.definitions.ancestors import restore_definition
from provenn.digests import CatalogDigest, canonical_json
from provenn.errors import CorruptArchiveError, ProvennError
from provenn.files.file_set import TABLE
from provenn.soundness.problems import ArchiveProblem, Progress, no_progress

__all__ = ["Definitions"]

_EVERY = 1000
_HEAD = (catalogs.c.kind, catalogs.c.population, catalogs.c.extent, catalogs.c.parameters, catalogs.c.notes)


@dataclass(slots=True)
class Definitions:
    """All definitions of an archive.

    Parameters
    ----------
    sound
        The catalogs that could be restored, by digest; `find_problems` fills it.
    """

    sound: dict[CatalogDigest, Catalog]

    def find_problems(
        self, reading: Reading, progress: Progress = no_progress, *, deep: bool = False
    ) -> Iterator[ArchiveProblem]:
        """Check all definitions; with `deep`, parse criteria and expressions anew."""
        links = _read_links(reading)
        digests = dict.fromkeys(reading.connection.scalars(select(catalogs.c.digest)))
        dependencies_by_digest = {
            digest: tuple(dependency for _, dependency in links.get(digest, ())) for digest in digests | links
        }
        order, cycles = _sort_catalogs(dependencies_by_digest)
        broken, unchecked = set[CatalogDigest](), 0
        for cycle in cycles:
            yield ArchiveProblem(
                _describe_catalog(cycle[0]), f"it is made from itself: {' <- '.join(member[:12] for member in cycle)}"
            )
            broken |= set(cycle)
        heads: dict[CatalogDigest, tuple[Any, ...]] = {}
        for number, digest in enumerate(order):
            if number % _EVERY == 0:
                progress("definitions", number, len(order))
                heads = _read_heads(reading, order[number : number + _EVERY])
            if any(dependency in broken for dependency in dependencies_by_digest.get(digest, ())):
                broken.add(digest)
                unchecked += 1
                continue
            restored = self._restore_catalog(digest, heads.get(digest), dependencies_by_digest.get(digest, ()))
            if isinstance(restored, ArchiveProblem):
                broken.add(digest)
                yield restored
                continue
            self.sound[digest] = restored
            if deep:
                yield from _find_lies(restored)
            yield from _find_row_problems(restored, heads[digest], links.get(digest, ()))
        if unchecked:
            yield ArchiveProblem(
                "definitions", f"{unchecked:,} catalogs depend on damaged catalogs, and cannot be checked"
            )

    def _restore_catalog(
        self, digest: CatalogDigest, head: tuple[Any, ...] | None, dependency_digests: tuple[CatalogDigest, ...]
    ) -> Catalog | ArchiveProblem:
        """Return the catalog of a definition, or a problem."""
        where = _describe_catalog(digest)
        try:
            definition = restore_definition(digest, None if head is None else list(head[:5]), dependency_digests)
            parents = [self.sound[dependency] for dependency in dependency_digests]
            catalog = restore(definition.kind, definition.parameters, definition.notes, parents)
        except CorruptArchiveError as error:
            return ArchiveProblem(where, error.message)
        except (ProvennError, AttributeError, LookupError, TypeError, ValueError) as error:
            return ArchiveProblem(where, f"it cannot be restored: {error}")
        if catalog.digest != digest:
            return ArchiveProblem(where, "its definition was changed after it was written")
        return catalog

    def find_index_problems(self, reading: Reading) -> Iterator[ArchiveProblem]:
        """Check the tables beside the definitions, used to find catalogs quickly."""
        yield from self._find_schema_problems(reading)
        yield from self._find_attribute_problems(reading)
        yield from self._find_wording_problems(reading)
        yield from self._find_population_problems(reading)
        yield from self._find_base_problems(reading)

    def _find_schema_problems(self, reading: Reading) -> Iterator[ArchiveProblem]:
        """Check the table of schemas."""
        query = select(schemas.c.digest, schemas.c.attributes, schemas.c.names)
        for digest, attribute_count, names in reading.connection.execute(query):
            where = f"schema {digest[:12]}"
            if attributes.compute_schema_digest(names) != digest:
                using = [
                    catalog
                    for catalog in self.sound.values()
                    if attributes.compute_schema_digest(attributes.format_schema_names(catalog)) == digest
                ]
                yield ArchiveProblem(
                    where, "its names were changed", remedy="index", mend=partial(_rewrite_schema, digest, using)
                )
            elif attributes.count_schema_attributes(names) != attribute_count:
                values = {"attributes": attributes.count_schema_attributes(names)}
                mend = partial(_change, schemas, schemas.c.digest == digest, values)
                yield ArchiveProblem(where, f"it does not have {attribute_count} attributes", remedy="index", mend=mend)

    def _find_attribute_problems(self, reading: Reading) -> Iterator[ArchiveProblem]:
        """Check the index of attributes."""
        table = attribute_rows.c
        query = select(table.catalog, table.name, table.identity, table.population)
        for batch in split_batches(self.sound.values(), _EVERY):
            indexed: dict[CatalogDigest, set[tuple[str, ...]]] = {catalog.digest: set() for catalog in batch}
            for digest, *rest in reading.connection.execute(query.where(table.catalog.in_(indexed))):
                indexed[digest].add(tuple(rest))
            for catalog in batch:
                expected = {(*pair, catalog.population.name) for pair in attributes.list_new_attributes(catalog)}
                if indexed[catalog.digest] != expected:
                    yield ArchiveProblem(
                        _describe_catalog(catalog.digest),
                        "the index of its attributes contradicts its definition",
                        remedy="index",
                        mend=partial(_rewrite_attribute_index, catalog),
                    )

    def _find_wording_problems(self, reading: Reading) -> Iterator[ArchiveProblem]:
        """Check the index of wordings."""
        table = wording_rows.c
        query = select(table.catalog, table.text)
        for batch in split_batches(self.sound.values(), _EVERY):
            digests = [catalog.digest for catalog in batch]
            indexed = dict(reading.connection.execute(query.where(table.catalog.in_(digests))).all())
            for catalog in batch:
                if indexed.get(catalog.digest, "") != wordings.format_wording(catalog):
                    yield ArchiveProblem(
                        _describe_catalog(catalog.digest),
                        "its wording, or the index of its wording, was changed",
                        remedy="index",
                        mend=partial(wordings.change_wording, catalog=catalog),
                    )

    def _find_population_problems(self, reading: Reading) -> Iterator[ArchiveProblem]:
        """Check the keys of populations."""
        known_keys = dict(reading.connection.execute(select(populations.c.name, populations.c.key)).all())
        for population in {catalog.population.name: catalog.population for catalog in self.sound.values()}.values():
            key = canonical_json([str(kind) for kind in population.key])
            if known_keys.get(population.name, key) != key:
                mend = partial(_change, populations, populations.c.name == population.name, {"key": key})
                yield ArchiveProblem(
                    f"population {population.name}", f"its key is not {key}", remedy="index", mend=mend
                )

    def _find_base_problems(self, reading: Reading) -> Iterator[ArchiveProblem]:
        """Check the records of files of base catalogs."""
        query = select(bases.c.catalog, bases.c.location, bases.c.row_count, bases.c.content, bases.c.caveat)
        recorded = {digest: values for digest, *values in reading.connection.execute(query)}
        for digest, base in self.sound.items():
            if not isinstance(base, Base):
                continue
            if recorded.get(digest) != list(_describe_place(base).values()):
                what = "the record of its files contradicts its notes"
                yield ArchiveProblem(
                    _describe_catalog(digest), what, remedy="index", mend=partial(_rewrite_place, base)
                )
            if base.files.format != TABLE and base.files.fingerprints and not base.files.agrees():
                what = "its changed files can no longer be identified; ingest them again to repair this"
                yield ArchiveProblem(_describe_catalog(digest), what, "remark", "none")


def _sort_catalogs(
    dependencies_by_digest: Mapping[CatalogDigest, tuple[CatalogDigest, ...]],
) -> tuple[list[CatalogDigest], list[Sequence[CatalogDigest]]]:
    """Return the digests of catalogs in the order of dependency, and the cycles, if there are any."""
    graph, cycles = dict(dependencies_by_digest), []
    while True:
        try:
            order = list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            cycles.append(error.args[1])
            graph = {digest: digests for digest, digests in graph.items() if digest not in error.args[1]}
        else:
            cyclic = {digest for cycle in cycles for digest in cycle}
            return [digest for digest in order if digest not in cyclic], cycles


def _read_heads(reading: Reading, digests: Sequence[CatalogDigest]) -> dict[CatalogDigest, tuple[Any, ...]]:
    """Return the columns of catalogs that hold their definitions, by digest; missing catalogs are left out."""
    query = select(catalogs.c.digest, *_HEAD, catalogs.c.schema).where(catalogs.c.digest.in_(digests))
    return {digest: tuple(head) for digest, *head in reading.connection.execute(query)}


def _read_links(reading: Reading) -> dict[CatalogDigest, list[tuple[int, CatalogDigest]]]:
    """Return the positions and digests of the dependencies, by catalog."""
    table = dependencies.c
    query = select(table.catalog, table.position, table.dependency).order_by(table.catalog, table.position)
    links: dict[CatalogDigest, list[tuple[int, CatalogDigest]]] = {}
    for catalog, position, dependency in reading.connection.execute(query):
        links.setdefault(catalog, []).append((position, dependency))
    return links


def _find_row_problems(
    restored: Catalog, head: tuple[Any, ...], links: Iterable[tuple[int, str]]
) -> Iterator[ArchiveProblem]:
    """Check the columns of a catalog's row against the definition."""
    _, population, extent, _, _, schema = head
    where = _describe_catalog(restored.digest)
    if population != restored.population.name:
        row = catalogs.c.digest == restored.digest
        mend = partial(_change, catalogs, row, {"population": restored.population.name})
        yield ArchiveProblem(where, f"its population is not {population}", remedy="index", mend=mend)
    if extent != restored.extent.digest:
        row = catalogs.c.digest == restored.digest
        mend = partial(_change, catalogs, row, {"extent": restored.extent.digest})
        yield ArchiveProblem(where, "its extent contradicts its definition", remedy="index", mend=mend)
    if schema != attributes.compute_schema_digest(attributes.format_schema_names(restored)):
        yield ArchiveProblem(
            where, "its schema contradicts its definition", remedy="index", mend=partial(_restore_schema_link, restored)
        )
    if [position for position, _ in links] != list(range(len(restored.dependencies))):
        what = "its dependencies are numbered wrongly"
        yield ArchiveProblem(where, what, remedy="index", mend=partial(_renumber_dependencies, restored))


def _find_lies(catalog: Catalog) -> Iterator[ArchiveProblem]:
    """Yield a problem if the definition holds a set or a type that does not follow from its words."""
    try:
        catalog.check_consistency()
    except ProvennError as error:
        yield ArchiveProblem(_describe_catalog(catalog.digest), error.message)


def _describe_catalog(digest: CatalogDigest) -> str:
    return f"catalog {digest}"


# --- mending ---


def _change(table: Any, row: Any, values: dict[str, Any], writing: Writing) -> None:  # noqa: ANN401 - of SQLAlchemy
    writing.connection.execute(update(table).where(row).values(values))


def _restore_schema_link(catalog: Catalog, writing: Writing) -> None:
    schema = attributes.add_schemas(writing, [catalog])[catalog.digest]
    _change(catalogs, catalogs.c.digest == catalog.digest, {"schema": schema}, writing)


def _rewrite_schema(digest: str, using: list[Catalog], writing: Writing) -> None:
    names = attributes.format_schema_names(using[0]) if using else None
    if names is not None:
        values = {"names": names, "attributes": attributes.count_schema_attributes(names)}
        _change(schemas, schemas.c.digest == digest, values, writing)
    else:  # no sound catalog has this schema
        writing.connection.execute(
            delete(schemas).where(schemas.c.digest == digest, ~schemas.c.digest.in_(select(catalogs.c.schema)))
        )


def _rewrite_attribute_index(catalog: Catalog, writing: Writing) -> None:
    writing.connection.execute(delete(attribute_rows).where(attribute_rows.c.catalog == catalog.digest))
    attributes.index_attributes(writing, [catalog])


def _describe_place(base: Base) -> dict[str, Any]:
    """Return the columns of a base catalog's row, except time and person of the last sighting."""
    files = base.files
    caveat = files.caveat or ""
    return {"location": files.location, "row_count": files.row_count, "content": files.content, "caveat": caveat}


def _rewrite_place(base: Base, writing: Writing) -> None:
    place = _describe_place(base)
    row = bases.c.catalog == base.digest
    if not writing.connection.execute(update(bases).where(row).values(place)).rowcount:
        seen = {"seen_at": writing.when, "seen_by": writing.who}
        writing.connection.execute(insert(bases), {"catalog": base.digest, **place, **seen})


def _renumber_dependencies(catalog: Catalog, writing: Writing) -> None:
    writing.connection.execute(delete(dependencies).where(dependencies.c.catalog == catalog.digest))
    links = [
        {"catalog": catalog.digest, "position": position, "dependency": dependency.digest}
        for position, dependency in enumerate(catalog.dependencies)
    ]
    writing.connection.execute(insert(dependencies), links)
