"""Exporting an archive as a portable file: everything visible to the viewer, or some catalogs with their lineage."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, BinaryIO

from sqlalchemy import select

from provenn.batches import split_batches
from provenn.database.tables import catalogs, definers, dependencies, facts, name_history, names
from provenn.database.transactions import Reading
from provenn.definitions import base_locations, moc_files, registered_calculators
from provenn.definitions.ancestors import read_cone
from provenn.definitions.catalog_store import find_entries
from provenn.digests import CatalogDigest, canonical_json
from provenn.errors import ArchiveError
from provenn.files.data_folder import DataFolder
from provenn.hints import SET_STORE
from provenn.knowledge.stored_facts import find_all_facts
from provenn.people.visibility import filter_visible, find_nearest_creation, is_visible, is_visible_name
from provenn.sky.moc_library import PREFIX, find_digests
from provenn.transfer.portable_files import KINDS, format_moment, select_portable_notes, write_lines

__all__ = ["export_archive"]

_Lines = Iterator[Mapping[str, Any]]
_AT_ONCE = 1000


def export_archive(
    reading: Reading, file: BinaryIO, only: Collection[CatalogDigest] | None = None, folder: DataFolder | None = None
) -> dict[str, int]:
    """Write definitions, names, facts, calculators and preferences; the same archive gives the same bytes.

    Parameters
    ----------
    reading
        The transaction; only definitions visible to its viewer are written.
    file
        The output.
    only
        The digests of catalogs: only these catalogs and their lineages are written, with their names, and the facts
        that mention no other catalog. Registered calculators and preferences are written only without `only`.
    folder
        The data folder with the large MOCs that definitions name.

    Returns
    -------
    dict
        The number of written lines by kind; large MOCs are counted if there are any.

    Raises
    ------
    FilesMissingError
        If a named large MOC is not in the data folder.
    """
    digests = _sort_digests(reading, only)
    exported = frozenset(digests)
    exported_names = _find_names(reading, exported, deleted=only is None)
    numbers = [
        fact.id
        for fact in find_all_facts(reading, retracted=True)
        if fact.platform is None and exported.issuperset(fact.catalogs)
    ]
    registered = registered_calculators.list_registered_calculators(reading) if only is None else ()
    preferred = registered_calculators.read_preferences(reading).values() if only is None else ()
    moc_digests = _find_mocs(reading, digests, registered)
    counts = dict(
        zip(KINDS, map(len, (moc_digests, digests, exported_names, numbers, registered, preferred)), strict=True)
    )
    lines_by_kind: tuple[_Lines, ...] = (
        _moc_lines(moc_digests, folder),
        _definition_lines(reading, digests),
        _name_lines(reading, exported_names, exported),
        _fact_lines(reading, numbers),
        (
            {
                "name": calculator.name,
                "digest": calculator.calculator.digest,
                "definition": calculator.calculator.definition(),
                "by": calculator.registered_by,
                "at": format_moment(calculator.registered_at),
            }
            for calculator in registered
        ),
        (
            {
                "attribute": preference.attribute,
                "identity": preference.identity,
                "by": preference.by,
                "at": format_moment(preference.at),
            }
            for preference in preferred
        ),
    )
    write_lines(
        file, counts, ((kind, line) for kind, lines in zip(KINDS, lines_by_kind, strict=True) for line in lines)
    )
    return counts if moc_digests else {kind: count for kind, count in counts.items() if kind != "moc"}


def _moc_lines(digests: Sequence[str], folder: DataFolder | None) -> _Lines:
    """Yield the lines of large MOCs."""
    for digest in digests:
        if folder is None:
            raise ArchiveError(
                "the archive has no place for data, so its large MOCs cannot be exported", hint=SET_STORE
            )
        yield {"digest": digest, "cells": moc_files.read_cells(folder, digest)}


def _find_mocs(
    reading: Reading,
    digests: Collection[CatalogDigest],
    registered: Sequence[registered_calculators.RegisteredCalculator],
) -> list[str]:
    """Return the digests of the large MOCs named by some definitions and calculators, in order."""
    moc_digests = {
        digest
        for calculator in registered
        for digest in find_digests(canonical_json(calculator.calculator.definition()))
    }
    query = select(catalogs.c.parameters).where(catalogs.c.parameters.contains(PREFIX))
    for batch in split_batches(digests):
        for text in reading.connection.scalars(query.where(catalogs.c.digest.in_(batch))):
            moc_digests |= find_digests(text)
    return sorted(moc_digests)


def _sort_digests(reading: Reading, only: Collection[CatalogDigest] | None) -> list[CatalogDigest]:
    """Return the digests of catalogs, dependencies first, in an order independent of anything else."""
    if only is not None:
        dependencies_by_digest = {
            definition.digest: definition.dependencies for definition in (read_cone(reading, only) if only else ())
        }
    else:
        visible = is_visible(reading, catalogs.c.digest)
        links: dict[CatalogDigest, list[CatalogDigest]] = {
            digest: [] for digest in reading.connection.scalars(select(catalogs.c.digest).where(visible))
        }
        for catalog, dependency in reading.connection.execute(
            select(dependencies.c.catalog, dependencies.c.dependency)
        ):
            if catalog in links:
                links[catalog].append(dependency)
        dependencies_by_digest = {digest: tuple(linked) for digest, linked in links.items()}
    order = TopologicalSorter(dependencies_by_digest)
    order.prepare()
    sorted_digests: list[CatalogDigest] = []
    while order.is_active():
        ready = sorted(order.get_ready())
        sorted_digests += ready
        order.done(*ready)
    return sorted_digests


def _definition_lines(reading: Reading, digests: list[CatalogDigest]) -> _Lines:
    """Yield the lines of definitions."""
    for batch in split_batches(digests, _AT_ONCE):
        query = select(*catalogs.c["digest", "kind", "parameters", "notes"]).where(catalogs.c.digest.in_(batch))
        rows = {row.digest: row for row in reading.connection.execute(query)}
        dependencies_by_digest: dict[CatalogDigest, list[CatalogDigest]] = {}
        links = select(dependencies.c.catalog, dependencies.c.dependency).where(dependencies.c.catalog.in_(batch))
        for digest, dependency in reading.connection.execute(links.order_by(dependencies.c.position)):
            dependencies_by_digest.setdefault(digest, []).append(dependency)
        last_seen, creators = base_locations.find_base_locations(reading, batch), _find_creators(reading, batch)
        computed_by = _find_computed_by(reading, batch, creators)
        for digest in batch:
            row = rows[digest]
            sighting = last_seen.get(digest)
            yield {
                "digest": digest,
                "kind": row.kind,
                "parameters": json.loads(row.parameters),
                "notes": select_portable_notes(json.loads(row.notes)),
                "dependencies": dependencies_by_digest.get(digest, []),
                "created": creators[digest],
                "seen": None if sighting is None else [format_moment(sighting.seen_at), sighting.seen_by],
                **({"computed_by": computed_by[digest]} if digest in computed_by else {}),
            }


def _find_creators(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, list[list[str]]]:
    """Return the time and the person of each visible definition of a catalog, the first first; by digest."""
    creators = {
        digest: [[format_moment(entry.created_at), entry.created_by]]
        for digest, entry in find_entries(reading, digests).items()
    }
    if reading.viewer is not None:
        lineage = {digest: find_nearest_creation(reading, digest) for digest in digests if digest not in creators}
        return creators | {
            digest: [[format_moment(creation[0]), creation[1]]] for digest, creation in lineage.items() if creation
        }
    query = select(*definers.c["catalog", "at", "who"]).where(definers.c.catalog.in_(digests))
    for digest, at, person in reading.connection.execute(query.order_by(definers.c.at, definers.c.who)):
        if person != creators[digest][0][1]:
            creators[digest].append([format_moment(at), person])
    return creators


def _find_computed_by(
    reading: Reading, digests: Collection[CatalogDigest], creators: Mapping[CatalogDigest, list[list[str]]]
) -> dict[CatalogDigest, list[str]]:
    """Return, for catalogs needed only by runs of some people, the names of these people."""
    if reading.viewer is not None:
        defined = filter_visible(reading, digests, by_person=True)
        return {digest: [person for _, person in creators[digest]] for digest in digests if digest not in defined}
    query = select(definers.c.catalog, definers.c.who).where(definers.c.catalog.in_(digests), ~definers.c.defined)
    computed_by: dict[CatalogDigest, list[str]] = {}
    for digest, person in reading.connection.execute(query.order_by(definers.c.catalog, definers.c.who)):
        computed_by.setdefault(digest, []).append(person)
    return computed_by


def _find_names(reading: Reading, exported: Collection[CatalogDigest], *, deleted: bool) -> list[str]:
    """Return the visible names of exported catalogs, in order; with `deleted`, also deleted names."""
    query = select(names.c.name, names.c.catalog).where(is_visible_name(reading))
    found_names = {name for name, digest in reading.connection.execute(query) if digest in exported}
    if deleted:
        current_names = select(names.c.name)
        history = select(name_history.c.name).where(
            is_visible_name(reading, name_history), name_history.c.name.not_in(current_names)
        )
        found_names.update(reading.connection.scalars(history.distinct()))
    return sorted(found_names)


def _name_lines(reading: Reading, exported_names: list[str], exported: Collection[CatalogDigest]) -> _Lines:
    """Yield the lines of names, with the history as far as exported catalogs are concerned."""
    ownership = ("owner", "visibility", "project")
    for batch in split_batches(exported_names, _AT_ONCE):
        now = select(*names.c["name", "catalog", "changed_at", "changed_by", *ownership]).where(names.c.name.in_(batch))
        current = {name: rest for name, *rest in reading.connection.execute(now)}
        changes: dict[str, list[list[Any]]] = {}
        past = select(*name_history.c["name", "catalog", "at", "by", *ownership]).where(
            name_history.c.name.in_(batch), is_visible_name(reading, name_history)
        )
        for name, *rest in reading.connection.execute(past.order_by(name_history.c.id)):
            if rest[0] is None or rest[0] in exported:
                changes.setdefault(name, []).append(rest)
        for name in batch:
            name_changes = changes.get(name, [])
            if name in current and (not name_changes or name_changes[-1][0] != current[name][0]):
                name_changes.append(current[name])
            written = [[digest, format_moment(at), *rest] for digest, at, *rest in name_changes]
            digest, _, _, *owner_values = current.get(name, [None, None, None, "", "public", None])
            yield {
                "name": name,
                "catalog": digest,
                **dict(zip(ownership, owner_values, strict=True)),
                "history": written,
            }


def _fact_lines(reading: Reading, numbers: list[int]) -> _Lines:
    """Yield the lines of facts."""
    for batch in split_batches(numbers):
        for row in reading.connection.execute(select(facts).where(facts.c.id.in_(batch)).order_by(facts.c.id)):
            is_retracted = row.retracted_at is not None
            yield {
                "statement": row.statement,
                "reason": row.reason,
                "origin": row.origin,
                "by": row.declared_by,
                "at": format_moment(row.declared_at),
                "visibility": row.visibility,
                "project": row.project,
                "retracted": [format_moment(row.retracted_at), row.retracted_by, row.retracted_reason]
                if is_retracted
                else None,
            }
