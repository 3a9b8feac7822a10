"""Definitions: every digest is computed anew, every catalog restored, and what is looked up by compared with that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sqlalchemy import delete, insert, select, update

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.digest import canonical_json
from provenn.catalogs.files import TABLE
from provenn.catalogs.lineage import restore
from provenn.errors import CorruptArchiveError, ProvennError
from provenn.store import attributes, wordings
from provenn.store.checks import Problem, Progress, no_progress
from provenn.store.cones import stored_definition
from provenn.store.database import Reading, Writing
from provenn.store.tables import attributes as attribute_rows
from provenn.store.tables import bases, catalogs, dependencies, populations, schemas
from provenn.store.tables import wordings as wording_rows

__all__ = ["Definitions"]

_EVERY = 1000
_HEAD = (catalogs.c.kind, catalogs.c.population, catalogs.c.extent, catalogs.c.parameters, catalogs.c.notes)


@dataclass(slots=True)
class Definitions:
    """All definitions of an archive.

    Parameters
    ----------
    sound
        The catalogs that could be restored, by digest; `problems` fills it.
    """

    sound: dict[str, Catalog]

    def problems(self, reading: Reading, told: Progress = no_progress) -> Iterator[Problem]:
        """Look at all of them."""
        execute = reading.connection.execute
        heads = {
            digest: (*head, schema)
            for digest, *head, schema in execute(select(catalogs.c.digest, *_HEAD, catalogs.c.schema))
        }
        links = _links(reading)
        made_of = {digest: tuple(one for _, one in links.get(digest, ())) for digest in heads | links}
        order, cycles = _ordered(made_of)
        broken, below = set[str](), 0
        for cycle in cycles:
            yield Problem(_where(cycle[0]), f"it is made from itself: {' <- '.join(one[:12] for one in cycle)}")
            broken |= set(cycle)
        for number, digest in enumerate(order):
            if number % _EVERY == 0:
                told("definitions", number, len(order))
            if any(one in broken for one in made_of.get(digest, ())):
                broken.add(digest)
                below += 1
                continue
            made = self._restored(digest, heads.get(digest), made_of.get(digest, ()))
            if isinstance(made, Problem):
                broken.add(digest)
                yield made
                continue
            self.sound[digest] = made
            yield from _row_problems(made, heads[digest], links.get(digest, ()))
        if below:
            yield Problem(
                "definitions", f"{below:,} catalogs are made from such that are damaged, and cannot be checked"
            )

    def _restored(self, digest: str, head: tuple[Any, ...] | None, made_of: tuple[str, ...]) -> Catalog | Problem:
        where = _where(digest)
        try:
            one = stored_definition(digest, None if head is None else list(head[:5]), made_of)
            made = restore(one.kind, one.parameters, one.notes, [self.sound[each] for each in made_of])
        except CorruptArchiveError as error:
            return Problem(where, error.message)
        except (ProvennError, AttributeError, LookupError, TypeError, ValueError) as error:
            return Problem(where, f"it cannot be restored: {error}")
        if made.digest != digest:
            return Problem(where, "its definition was changed after it was written")
        return made

    def index_problems(self, reading: Reading) -> Iterator[Problem]:
        """Look at what is kept beside definitions, so that catalogs are found quickly."""
        yield from self._schemas(reading)
        yield from self._attributes(reading)
        yield from self._wordings(reading)
        yield from self._populations(reading)
        yield from self._bases(reading)

    def _schemas(self, reading: Reading) -> Iterator[Problem]:
        query = select(schemas.c.digest, schemas.c.attributes, schemas.c.names)
        for digest, number, names in reading.connection.execute(query):
            where = f"schema {digest[:12]}"
            if attributes.schema_digest(names) != digest:
                using = [
                    one
                    for one in self.sound.values()
                    if attributes.schema_digest(attributes.schema_names(one)) == digest
                ]
                yield Problem(where, "its names were changed", remedy="index", mend=partial(_new_schema, digest, using))
            elif attributes.schema_size(names) != number:
                values = {"attributes": attributes.schema_size(names)}
                mend = partial(_change, schemas, schemas.c.digest == digest, values)
                yield Problem(where, f"it has not {number} attributes", remedy="index", mend=mend)

    def _attributes(self, reading: Reading) -> Iterator[Problem]:
        table = attribute_rows.c
        there: dict[str, set[tuple[str, ...]]] = {}
        query = select(table.catalog, table.name, table.identity, table.population)
        for catalog, *rest in reading.connection.execute(query):
            there.setdefault(catalog, set()).add(tuple(rest))
        for digest, one in self.sound.items():
            wanted = {(*pair, one.population.name) for pair in attributes.new_attributes(one)}
            if there.get(digest, set()) != wanted:
                yield Problem(
                    _where(digest),
                    "the index of its attributes is not what its definition says",
                    remedy="index",
                    mend=partial(_new_index, one),
                )

    def _wordings(self, reading: Reading) -> Iterator[Problem]:
        there = dict(reading.connection.execute(select(wording_rows.c.catalog, wording_rows.c.text)).all())
        for digest, one in self.sound.items():
            if there.get(digest, "") != wordings.wording(one):
                what = "its wording, or the index of it, was changed"
                yield Problem(_where(digest), what, remedy="index", mend=partial(wordings.change, catalog=one))

    def _populations(self, reading: Reading) -> Iterator[Problem]:
        known = dict(reading.connection.execute(select(populations.c.name, populations.c.key)).all())
        for one in {each.population.name: each.population for each in self.sound.values()}.values():
            key = canonical_json([str(kind) for kind in one.key])
            if known.get(one.name, key) != key:
                mend = partial(_change, populations, populations.c.name == one.name, {"key": key})
                yield Problem(f"population {one.name}", f"its key is not {key}", remedy="index", mend=mend)

    def _bases(self, reading: Reading) -> Iterator[Problem]:
        query = select(bases.c.catalog, bases.c.location, bases.c.row_count, bases.c.content, bases.c.caveat)
        there = {digest: said for digest, *said in reading.connection.execute(query)}
        for digest, one in self.sound.items():
            if not isinstance(one, Base):
                continue
            if there.get(digest) != list(_place(one).values()):
                what = "what is recorded of its files is not what its notes say"
                yield Problem(_where(digest), what, remedy="index", mend=partial(_new_place, one))
            if one.files.format != TABLE and one.files.fingerprints and not one.files.agrees():
                what = "which of its files changed cannot be told any more; ingesting them again mends it"
                yield Problem(_where(digest), what, "remark", "none")


def _ordered(made_of: Mapping[str, tuple[str, ...]]) -> tuple[list[str], list[Sequence[str]]]:
    """Return catalogs, each after those it is made from; and the cycles, if some are made from themselves."""
    graph, cycles = dict(made_of), []
    while True:
        try:
            order = list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            cycles.append(error.args[1])
            graph = {digest: made for digest, made in graph.items() if digest not in error.args[1]}
        else:
            looped = {digest for cycle in cycles for digest in cycle}
            return [digest for digest in order if digest not in looped], cycles


def _links(reading: Reading) -> dict[str, list[tuple[int, str]]]:
    table = dependencies.c
    query = select(table.catalog, table.position, table.dependency).order_by(table.catalog, table.position)
    found: dict[str, list[tuple[int, str]]] = {}
    for catalog, position, dependency in reading.connection.execute(query):
        found.setdefault(catalog, []).append((position, dependency))
    return found


def _row_problems(made: Catalog, head: tuple[Any, ...], links: Iterable[tuple[int, str]]) -> Iterator[Problem]:
    """Look at what else the row of a catalog says, which follows from its definition."""
    _, population, extent, _, _, schema = head
    where, row = _where(made.digest), catalogs.c.digest == made.digest
    if population != made.population.name:
        mend = partial(_change, catalogs, row, {"population": made.population.name})
        yield Problem(where, f"its population is not {population}", remedy="index", mend=mend)
    if extent != made.extent.digest:
        mend = partial(_change, catalogs, row, {"extent": made.extent.digest})
        yield Problem(where, "its extent is not what its definition says", remedy="index", mend=mend)
    if schema != attributes.schema_digest(attributes.schema_names(made)):
        yield Problem(where, "its schema is not its own", remedy="index", mend=partial(_own_schema, made))
    if [position for position, _ in links] != list(range(len(made.dependencies))):
        what = "its dependencies have other numbers than they should"
        yield Problem(where, what, remedy="index", mend=partial(_number, made))


def _where(digest: str) -> str:
    return f"catalog {digest}"


# --- mending ---


def _change(table: Any, row: Any, values: dict[str, Any], writing: Writing) -> None:  # noqa: ANN401 - of SQLAlchemy
    writing.connection.execute(update(table).where(row).values(values))


def _own_schema(one: Catalog, writing: Writing) -> None:
    schema = attributes.add_schemas(writing, [one])[one.digest]
    _change(catalogs, catalogs.c.digest == one.digest, {"schema": schema}, writing)


def _new_schema(digest: str, using: list[Catalog], writing: Writing) -> None:
    names = attributes.schema_names(using[0]) if using else None
    if names is not None:
        values = {"names": names, "attributes": attributes.schema_size(names)}
        _change(schemas, schemas.c.digest == digest, values, writing)
    else:  # no sound catalog has it
        writing.connection.execute(
            delete(schemas).where(schemas.c.digest == digest, ~schemas.c.digest.in_(select(catalogs.c.schema)))
        )


def _new_index(one: Catalog, writing: Writing) -> None:
    writing.connection.execute(delete(attribute_rows).where(attribute_rows.c.catalog == one.digest))
    attributes.index(writing, [one])


def _place(one: Base) -> dict[str, Any]:
    """Return what the table of base catalogs says of one, but for when and by whom it was seen."""
    files = one.files
    caveat = files.caveat or ""
    return {"location": files.location, "row_count": files.row_count, "content": files.content, "caveat": caveat}


def _new_place(one: Base, writing: Writing) -> None:
    place = _place(one)
    row = bases.c.catalog == one.digest
    if not writing.connection.execute(update(bases).where(row).values(place)).rowcount:
        seen = {"seen_at": writing.when, "seen_by": writing.who}
        writing.connection.execute(insert(bases), {"catalog": one.digest, **place, **seen})


def _number(one: Catalog, writing: Writing) -> None:
    writing.connection.execute(delete(dependencies).where(dependencies.c.catalog == one.digest))
    links = [
        {"catalog": one.digest, "position": position, "dependency": each.digest}
        for position, each in enumerate(one.dependencies)
    ]
    writing.connection.execute(insert(dependencies), links)
