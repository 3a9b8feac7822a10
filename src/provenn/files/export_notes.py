"""The notes in an exported file: the catalog, the lineage, and the metadata of the table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["NO_NOTES", "FileNotes", "LineageNote"]


@dataclass(frozen=True, slots=True)
class LineageNote:
    """A catalog in the lineage of an exported file.

    Parameters
    ----------
    digest, kind, name
        Its identity, the name of its class, and its name for the viewer.
    words
        A description in words.
    made_from
        The digests of its dependencies.
    parameters
        Its definition, enough to compute the digest again; empty if left out.
    """

    digest: str
    kind: str
    name: str
    words: str
    made_from: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the note as JSON."""
        content = {"digest": self.digest, "name": self.name, "kind": self.kind, "words": self.words}
        content["made_from"] = list(self.made_from)  # type: ignore[assignment]
        return {**content, "parameters": dict(self.parameters)} if self.parameters else content


@dataclass(frozen=True, slots=True)
class FileNotes:
    """The notes in an exported file.

    Parameters
    ----------
    version
        The version of provenn that wrote the file.
    digest, name
        The catalog, and its name for the viewer. Both are empty if the data are no catalog: values may be missing
        that a catalog would have.
    words
        A description of the data, in words.
    lineage
        The catalog and its lineage, each catalog before its dependencies.
    metadata
        The metadata of the table as a whole, by keyword: as far as all original tables agree.
    left_out
        The keywords left out because the original tables disagree, with reasons.
    """

    version: str = ""
    digest: str = ""
    name: str = ""
    words: str = ""
    lineage: tuple[LineageNote, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def bases(self) -> tuple[LineageNote, ...]:
        """The base catalogs at the bottom of the lineage."""
        return tuple(note for note in self.lineage if not note.made_from)

    def text(self, longest: int) -> str:
        """Return the origin of the data as JSON in ASCII, of at most `longest` characters.

        A longer text loses definitions first; then all catalogs except the bases; then the bases. The number of
        catalogs always stays.
        """
        content: dict[str, Any] = {
            "provenn": self.version,
            "digest": self.digest,
            "name": self.name,
            "words": self.words,
        }
        content |= {"catalogs": len(self.lineage), "left_out": list(self.left_out)}
        brief = [replace(note, parameters={}) for note in self.lineage]
        for lineage in (self.lineage, brief, [note for note in brief if not note.made_from], ()):
            text = json.dumps({**content, "lineage": [note.to_json() for note in lineage]}, allow_nan=False)
            if len(text) <= longest:
                return text
        return json.dumps({"provenn": self.version, "digest": self.digest, "catalogs": len(self.lineage)})

    def lines(self) -> Iterator[str]:
        """Yield the origin of the data, in words."""
        if self.words:
            yield f"{self.name}: {self.words}" if self.name else self.words
        for note in self.lineage:
            if note.digest != self.digest:
                yield f"{note.name}: {note.words} ({note.digest[:12]})"
        for reason in self.left_out:
            yield f"left out: {reason}"


NO_NOTES = FileNotes()
"""The notes of a file without notes."""
