"""What an archive knows, as lines of a portable file: all that who looks sees, or some catalogs with their lineage."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, BinaryIO

from sqlalchemy import select

from provenn.catalogs.digest import canonical_json
from provenn.errors import ArchiveError
from provenn.sky.moc_library import PREFIX, digests_in
from provenn.store import bases, calculators, moc_files
from provenn.store.catalog_store import entries
from provenn.store.cones import cone, in_batches
from provenn.store.database import Reading
from provenn.store.facts import all_facts
from provenn.store.folder import DataFolder
from provenn.store.portable import KINDS, moment_text, write_lines
from provenn.store.tables import catalogs, definers, dependencies, facts, name_history, names
from provenn.store.visibility import everything_seen, is_name_for, nearest_creation, seen

__all__ = ["export_archive"]

_Lines = Iterator[Mapping[str, Any]]
_AT_ONCE = 1000


def export_archive(
    reading: Reading, file: BinaryIO, only: Collection[str] | None = None, folder: DataFolder | None = None
) -> dict[str, int]:
    """Write definitions, names, facts, calculators and preferences; the same archive makes the same bytes.

    Parameters
    ----------
    reading
        The transaction; only what its viewer sees is written.
    file
        Where to.
    only
        The digests of catalogs: only they and what they are made from are written, with their names, and the facts
        that mention nothing else. Calculators that serve targets, and preferences, belong to the whole.
    folder
        Where the data are, with the large MOCs that definitions name.

    Returns
    -------
    dict
        How many of each kind were written; large MOCs are counted if there are any.

    Raises
    ------
    FilesMissingError
        If a large MOC that is named is not in the data folder.
    """
    digests = _digests(reading, only)
    there = frozenset(digests)
    called = _names(reading, there, deleted=only is None)
    numbers = [
        one.id for one in all_facts(reading, retracted=True) if all(label in there for label in one.statement.labels)
    ]
    registered = calculators.registered(reading) if only is None else ()
    preferred = calculators.preferred(reading).values() if only is None else ()
    named = _named_mocs(reading, digests, registered)
    counts = dict(zip(KINDS, map(len, (named, digests, called, numbers, registered, preferred)), strict=True))
    made: tuple[_Lines, ...] = (
        _moc_lines(named, folder),
        _definition_lines(reading, digests),
        _name_lines(reading, called, there),
        _fact_lines(reading, numbers),
        (
            {
                "name": one.name,
                "digest": one.calculator.digest,
                "definition": one.calculator.definition(),
                "by": one.registered_by,
                "at": moment_text(one.registered_at),
            }
            for one in registered
        ),
        (
            {"attribute": one.attribute, "identity": one.identity, "by": one.by, "at": moment_text(one.at)}
            for one in preferred
        ),
    )
    write_lines(file, counts, ((kind, line) for kind, lines in zip(KINDS, made, strict=True) for line in lines))
    return counts if named else {kind: count for kind, count in counts.items() if kind != "moc"}


def _moc_lines(named: Sequence[str], folder: DataFolder | None) -> _Lines:
    for digest in named:
        if folder is None:
            raise ArchiveError("nobody has said where the data are, with the large MOCs", hint='open it with store="…"')
        yield {"digest": digest, "cells": moc_files.read_cells(folder, digest)}


def _named_mocs(reading: Reading, digests: Collection[str], registered: Sequence[calculators.Registered]) -> list[str]:
    """Return the digests of the large MOCs that some definitions and calculators name."""
    found = {digest for one in registered for digest in digests_in(canonical_json(one.calculator.definition()))}
    query = select(catalogs.c.parameters).where(catalogs.c.parameters.contains(PREFIX))
    for batch in in_batches(digests):
        for text in reading.connection.scalars(query.where(catalogs.c.digest.in_(batch))):
            found |= digests_in(text)
    return sorted(found)


def _digests(reading: Reading, only: Collection[str] | None) -> list[str]:
    """Return the digests of catalogs, each after its dependencies, in an order that depends on nothing else."""
    if only is not None:
        made_of = {one.digest: one.dependencies for one in (cone(reading, only) if only else ())}
    else:
        there = everything_seen(reading, catalogs.c.digest)
        links: dict[str, list[str]] = {
            digest: [] for digest in reading.connection.scalars(select(catalogs.c.digest).where(there))
        }
        for one, dependency in reading.connection.execute(select(dependencies.c.catalog, dependencies.c.dependency)):
            if one in links:
                links[one].append(dependency)
        made_of = {digest: tuple(several) for digest, several in links.items()}
    order = TopologicalSorter(made_of)
    order.prepare()
    found: list[str] = []
    while order.is_active():
        ready = sorted(order.get_ready())
        found += ready
        order.done(*ready)
    return found


def _definition_lines(reading: Reading, digests: list[str]) -> _Lines:
    for start in range(0, len(digests), _AT_ONCE):
        batch = digests[start : start + _AT_ONCE]
        query = select(*catalogs.c["digest", "kind", "parameters", "notes"]).where(catalogs.c.digest.in_(batch))
        rows = {row.digest: row for row in reading.connection.execute(query)}
        made_of: dict[str, list[str]] = {}
        links = select(dependencies.c.catalog, dependencies.c.dependency).where(dependencies.c.catalog.in_(batch))
        for digest, dependency in reading.connection.execute(links.order_by(dependencies.c.position)):
            made_of.setdefault(digest, []).append(dependency)
        last_seen, created = bases.all_last_seen(reading, batch), _created(reading, batch)
        computed = _computed_by(reading, batch, created)
        for digest in batch:
            row = rows[digest]
            last = last_seen.get(digest)
            yield {
                "digest": digest,
                "kind": row.kind,
                "parameters": json.loads(row.parameters),
                "notes": json.loads(row.notes),
                "dependencies": made_of.get(digest, []),
                "created": created[digest],
                "seen": None if last is None else [moment_text(last.seen_at), last.seen_by],
                **({"computed_by": computed[digest]} if digest in computed else {}),
            }


def _created(reading: Reading, digests: Collection[str]) -> dict[str, list[list[str]]]:
    """Return when and by whom catalogs were defined first, and then by whom else; as far as the viewer may know."""
    told = {
        digest: [[moment_text(one.created_at), one.created_by]] for digest, one in entries(reading, digests).items()
    }
    if reading.viewer is not None:
        lineage = {digest: nearest_creation(reading, digest) for digest in digests if digest not in told}
        return told | {digest: [[moment_text(one[0]), one[1]]] for digest, one in lineage.items() if one}
    query = select(*definers.c["catalog", "at", "who"]).where(definers.c.catalog.in_(digests))
    for digest, at, who in reading.connection.execute(query.order_by(definers.c.at, definers.c.who)):
        if who != told[digest][0][1]:
            told[digest].append([moment_text(at), who])
    return told


def _computed_by(
    reading: Reading, digests: Collection[str], created: Mapping[str, list[list[str]]]
) -> dict[str, list[str]]:
    """Return, for catalogs that only runs of some people needed, who these people are."""
    if reading.viewer is not None:
        defined = seen(reading, digests, by_person=True)
        return {digest: [who for _, who in created[digest]] for digest in digests if digest not in defined}
    query = select(definers.c.catalog, definers.c.who).where(definers.c.catalog.in_(digests), ~definers.c.defined)
    found: dict[str, list[str]] = {}
    for digest, who in reading.connection.execute(query.order_by(definers.c.catalog, definers.c.who)):
        found.setdefault(digest, []).append(who)
    return found


def _names(reading: Reading, there: Collection[str], *, deleted: bool) -> list[str]:
    query = select(names.c.name, names.c.catalog).where(is_name_for(reading))
    found = {name for name, digest in reading.connection.execute(query) if digest in there}
    if deleted:
        taken = select(names.c.name)
        history = select(name_history.c.name).where(
            is_name_for(reading, name_history), name_history.c.name.not_in(taken)
        )
        found.update(reading.connection.scalars(history.distinct()))
    return sorted(found)


def _name_lines(reading: Reading, called: list[str], there: Collection[str]) -> _Lines:
    own = ("owner", "visibility", "project")
    for start in range(0, len(called), _AT_ONCE):
        batch = called[start : start + _AT_ONCE]
        now = select(*names.c["name", "catalog", "changed_at", "changed_by", *own]).where(names.c.name.in_(batch))
        held = {name: rest for name, *rest in reading.connection.execute(now)}
        changes: dict[str, list[list[Any]]] = {}
        past = select(*name_history.c["name", "catalog", "at", "by", *own]).where(
            name_history.c.name.in_(batch), is_name_for(reading, name_history)
        )
        for name, *rest in reading.connection.execute(past.order_by(name_history.c.id)):
            if rest[0] is None or rest[0] in there:
                changes.setdefault(name, []).append(rest)
        for name in batch:
            told = changes.get(name, [])
            if name in held and (not told or told[-1][0] != held[name][0]):
                told.append(held[name])
            written = [[digest, moment_text(at), *rest] for digest, at, *rest in told]
            digest, _, _, *whose = held.get(name, [None, None, None, "", "public", None])
            yield {"name": name, "catalog": digest, **dict(zip(own, whose, strict=True)), "history": written}


def _fact_lines(reading: Reading, numbers: list[int]) -> _Lines:
    for batch in in_batches(numbers):
        for row in reading.connection.execute(select(facts).where(facts.c.id.in_(batch)).order_by(facts.c.id)):
            gone = row.retracted_at is not None
            yield {
                "statement": row.statement,
                "reason": row.reason,
                "origin": row.origin,
                "by": row.declared_by,
                "at": moment_text(row.declared_at),
                "visibility": row.visibility,
                "project": row.project,
                "retracted": [moment_text(row.retracted_at), row.retracted_by, row.retracted_reason] if gone else None,
            }
