"""The notes in exported files about their contents, limited to information visible to the viewer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from provenn._version import __version__
from provenn.catalogs import Base, Catalog, cone
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.files.export_notes import FileNotes, LineageNote
from provenn.files.table_metadata import is_frame_keyword, is_time_keyword
from provenn.sky.positions import DEGREES, find_position_attributes
from provenn.targets.plan import Plan
from provenn.targets.steps import Scan, walk_steps
from provenn.words.definition_words import describe_publicly
from provenn.words.vocabulary import Vocabulary

__all__ = ["make_file_notes"]


def make_file_notes(reading: Reading, plan: Plan) -> FileNotes:
    """Return the notes for a file with the result of a plan.

    Names are names visible to the viewer; an unnamed catalog is called by the beginning of its digest. The notes
    contain neither the places of base files nor authors and times of definitions: the file may be published.
    """
    catalog = plan.catalog
    if catalog is None:  # sources may lack values in it, so it is not a catalog
        providers = {provision.provider.digest: provision.provider for provision in plan.provided}
        members = cone(*providers.values()) if providers else []
        bases = {step.base.digest: step.base for step in walk_steps(plan.before) if isinstance(step, Scan)}.values()
    else:
        members = cone(catalog)
        bases = _find_contributing_bases(catalog).values()
    word = Vocabulary.of(reading, [member.digest for member in members], {}).word
    lineage = tuple(_describe_origin(member, word) for member in members)
    metadata, left_out = _merge_metadata(sorted((word(base.digest), base.digest, base) for base in bases))
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


def _describe_origin(catalog: Catalog, word: Callable[[str], str]) -> LineageNote:
    """Return the note about a catalog of the lineage."""
    made_from = tuple(dict.fromkeys(part.digest for part in catalog.dependencies))
    words = describe_publicly(catalog, word)
    return LineageNote(catalog.digest, catalog.kind, word(catalog.digest), words, made_from, catalog.parameters())


def _find_contributing_bases(catalog: Catalog) -> dict[CatalogDigest, Base]:
    """Return the possible base catalogs of a catalog's attributes, by digest."""
    bases: dict[CatalogDigest, Base] = {}
    seen: set[str] = set()
    waiting = [catalog]
    while waiting:
        member = waiting.pop()
        if member.digest in seen:
            continue
        seen.add(member.digest)
        if isinstance(member, Base):
            bases[member.digest] = member
        waiting += member.row_parents or member.dependencies  # new rows have values of all dependencies
    return bases


def _merge_metadata(bases: Sequence[tuple[str, str, Base]]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the common metadata of bases, and the omitted keywords of frames with the reason.

    A single base contributes all metadata. Several bases must agree; only the silence of a base without positions about
    the frame of positions is ignored, because the frame does not concern the values of the base.
    """
    described_bases = [(name, base, base.files.table_metadata) for name, _, base in bases]
    if len(described_bases) == 1:
        return described_bases[0][2], ()
    keywords = dict.fromkeys(key for _, _, metadata in described_bases for key in metadata)
    merged: dict[str, Any] = {}
    left_out: list[str] = []
    for key in keywords:
        values = {name: metadata[key] for name, _, metadata in described_bases if key in metadata}
        silent = [
            name for name, base, metadata in described_bases if key not in metadata and _does_silence_count(base, key)
        ]
        first = next(iter(values.values()))
        if not silent and all(value == first for value in values.values()):
            merged[key] = first
        elif is_frame_keyword(key):
            texts = [f"{name} says {value}" for name, value in values.items()] + [
                f"{name} says nothing" for name in silent
            ]
            left_out.append(f"{key}: {_join_first(texts)}")
    return merged, tuple(left_out)


def _does_silence_count(base: Base, keyword: str) -> bool:
    """Return whether the silence of a base about a keyword counts as disagreement."""
    if not is_frame_keyword(keyword) or is_time_keyword(keyword):
        return True
    if any(attribute.ucd.startswith("pos.") or attribute.unit in DEGREES for attribute in base.schema.attributes):
        return True
    with suppress(DefinitionError):
        find_position_attributes(base.schema)
        return True
    return False


def _join_first(texts: Iterable[str], most: int = 5) -> str:
    """Return the first few texts as a list, with the number of the rest."""
    text_list = list(texts)
    return ", ".join(text_list[:most]) + (f" and {len(text_list) - most} more" if len(text_list) > most else "")
