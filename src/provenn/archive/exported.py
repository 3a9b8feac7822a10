"""What exported files say of themselves, as far as the viewer may know it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from provenn import __version__
from provenn.archive.sentences import told
from provenn.archive.words import Vocabulary
from provenn.catalogs import Base, Catalog, cone
from provenn.catalogs.file_notes import FileNotes, Origin
from provenn.catalogs.table_metadata import is_of_frame, is_of_time
from provenn.errors import DefinitionError
from provenn.sky.positions import DEGREES, positions
from provenn.store.database import Reading
from provenn.targets.plan import Plan
from provenn.targets.steps import Scan, walk

__all__ = ["file_notes"]

_ONLY_SOURCES = ("RestrictSources", "ExcludeSources", "MatchedSources")
"""The classes whose attributes all come from their first dependency."""


def file_notes(reading: Reading, plan: Plan) -> FileNotes:
    """Return what a file says of itself that holds the answer of a plan.

    Names are those that the viewer sees; a catalog without one is called by the beginning of its digest. Where base
    files lie, and who defined what when, is not told: such a file may be published.
    """
    catalog = plan.catalog
    if catalog is None:  # sources may be in it for which a value is missing, and no catalog is like that
        providers = {one.provider.digest: one.provider for one in plan.provided}
        members = cone(*providers.values()) if providers else []
        bases = {one.base.digest: one.base for one in walk(plan.before) if isinstance(one, Scan)}.values()
    else:
        members = cone(catalog)
        bases = _contributing(catalog).values()
    word = Vocabulary.of(reading, [one.digest for one in members], {}).word
    lineage = tuple(_origin(one, word(one.digest), [word(part.digest) for part in one.dependencies]) for one in members)
    metadata, left_out = _merged(sorted((word(one.digest), one.digest, one) for one in bases))
    first = lineage[-1] if catalog is not None else None
    return FileNotes(
        __version__,
        first.digest if first else "",
        first.name if first else "",
        first.words if first else plan.what,
        tuple(reversed(lineage)),
        metadata,
        left_out,
    )


def _origin(catalog: Catalog, name: str, parts: Sequence[str]) -> Origin:
    parameters, notes = catalog.parameters(), catalog.notes()
    if isinstance(catalog, Base):
        notes = {**notes, "location": str(notes["location"]).rstrip("/").rpartition("/")[2]}
    made_from = tuple(dict.fromkeys(part.digest for part in catalog.dependencies))
    words = told(catalog.kind, parameters, notes, parts)
    return Origin(catalog.digest, catalog.kind, name, words, made_from, parameters)


def _contributing(catalog: Catalog) -> dict[str, Base]:
    """Return the base catalogs from which attributes of a catalog may come, by digest."""
    found: dict[str, Base] = {}
    seen: set[str] = set()
    waiting = [catalog]
    while waiting:
        one = waiting.pop()
        if one.digest in seen:
            continue
        seen.add(one.digest)
        if isinstance(one, Base):
            found[one.digest] = one
        waiting += one.dependencies[:1] if one.kind in _ONLY_SOURCES else one.dependencies
    return found


def _merged(bases: Sequence[tuple[str, str, Base]]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the metadata on which bases agree, and which keywords of frames are left out, and why.

    One base alone says all. Of several, each must say the same; only where a base has no positions, what others say of
    the frame of positions is not about its values, and its silence counts for nothing.
    """
    given = [(name, base, base.files.table_metadata) for name, _, base in bases]
    if len(given) == 1:
        return given[0][2], ()
    keywords = dict.fromkeys(key for _, _, metadata in given for key in metadata)
    found: dict[str, Any] = {}
    left_out: list[str] = []
    for key in keywords:
        said = {name: metadata[key] for name, _, metadata in given if key in metadata}
        silent = [name for name, base, metadata in given if key not in metadata and _counts(base, key)]
        first = next(iter(said.values()))
        if not silent and all(value == first for value in said.values()):
            found[key] = first
        elif is_of_frame(key):
            texts = [f"{name} says {value}" for name, value in said.items()] + [
                f"{name} says nothing" for name in silent
            ]
            left_out.append(f"{key}: {_some(texts)}")
    return found, tuple(left_out)


def _counts(base: Base, keyword: str) -> bool:
    """Tell whether it counts that a base is silent about a keyword."""
    if not is_of_frame(keyword) or is_of_time(keyword):
        return True
    if any(one.ucd.startswith("pos.") or one.unit in DEGREES for one in base.schema.attributes):
        return True
    with suppress(DefinitionError):
        positions(base.schema)
        return True
    return False


def _some(texts: Iterable[str], most: int = 5) -> str:
    several = list(texts)
    return ", ".join(several[:most]) + (f" and {len(several) - most} more" if len(several) > most else "")
