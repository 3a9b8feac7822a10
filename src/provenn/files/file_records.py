"""The stored form of the files of a base catalog: their identity and their notes, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from provenn.files.column_bounds import BOUNDS, open_bounds, seal_bounds
from provenn.files.columns import FileColumn
from provenn.files.file_set import Files
from provenn.files.snapshots import read_table_note
from provenn.files.type_names import restore_type

__all__ = ["encode_files", "restore_files"]


def encode_files(files: Files) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the identity and the notes of files, as JSON."""
    identity = {
        "format": files.format,
        "options": dict(files.options),
        "columns": [[column.name, str(column.type), column.nullable] for column in files.columns],
        "partitions": list(files.partitions),
        "files": files.digest,
    }
    if files.row_key:
        identity["row_key"] = list(files.row_key)
    notes: dict[str, Any] = {
        "location": files.location,
        "fingerprints": dict(files.fingerprints),
        "row_count": files.row_count,
        "units": {column.name: column.unit for column in files.columns if column.unit},
        "descriptions": {column.name: column.description for column in files.columns if column.description},
        "ucds": {column.name: column.ucd for column in files.columns if column.ucd},
    }
    if files.contents:
        notes |= {"contents": dict(files.contents), "was_late": str(files.was_late).lower()}
    if files.metadata:
        notes["metadata"] = dict(files.metadata)
    if files.statistics:
        notes["statistics"] = [list(pair) for pair in files.statistics]  # no words: texts in mappings are searched
    if files.bounds:
        notes[BOUNDS] = seal_bounds(files.digest, files.bounds)
    if files.is_choice:
        notes["is_choice"] = "true"
    if files.table:
        notes["table"] = files.table
    return identity, notes


def restore_files(identity: Mapping[str, Any], notes: Mapping[str, Any]) -> Files:
    """Return the files with this identity and these notes."""
    descriptions = (notes["units"], notes["descriptions"], notes.get("ucds", {}))  # older notes have no UCDs
    files = Files(
        identity["format"],
        tuple(sorted(identity["options"].items())),
        tuple(
            FileColumn(name, restore_type(kind), nullable, *(texts.get(name, "") for texts in descriptions))
            for name, kind, nullable in identity["columns"]
        ),
        tuple(identity["partitions"]),
        identity["files"],
        notes["location"],
        tuple(sorted(notes["fingerprints"].items())),
        notes["row_count"],
        row_key=tuple(identity.get("row_key", ())),
        metadata=tuple(sorted(notes.get("metadata", {}).items())),
        statistics=tuple((name, text) for name, text in notes.get("statistics", ())),
        bounds=tuple(open_bounds(identity["files"], notes.get(BOUNDS)).items()),
        is_choice=notes.get("is_choice") == "true",
        table=read_table_note(notes),
    )
    contents = tuple(sorted(notes.get("contents", {}).items()))
    if not contents or not files.is_old or not files.agrees():
        return files  # if the digest identifies the content, ignore any `contents` in the notes
    return replace(files, contents=contents, was_late=notes.get("was_late") == "true")
