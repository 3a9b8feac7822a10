"""What an exported file says of itself: which catalog it holds, what that is made from, how values are measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["NO_NOTES", "FileNotes", "Origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """A catalog in the lineage of an exported file.

    Parameters
    ----------
    digest, kind, name
        Its identity, the name of its class, and what the viewer calls it.
    words
        What it is, in words.
    made_from
        The digests of the catalogs it is made from.
    parameters
        Its definition, from which its digest can be made anew; empty if it is left out.
    """

    digest: str
    kind: str
    name: str
    words: str
    made_from: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return it for programs."""
        told = {"digest": self.digest, "name": self.name, "kind": self.kind, "words": self.words}
        told["made_from"] = list(self.made_from)  # type: ignore[assignment]
        return {**told, "parameters": dict(self.parameters)} if self.parameters else told


@dataclass(frozen=True, slots=True)
class FileNotes:
    """What an exported file says of itself.

    Parameters
    ----------
    version
        The version of provenn that wrote it.
    digest, name
        The catalog, and what the viewer calls it. Both are empty if the data are no catalog: values may be missing in
        them that a catalog would have.
    words
        What it holds, in words.
    lineage
        The catalog and all it is made from, each before those it is made from.
    metadata
        What is said of the table as a whole, by keyword: as far as the tables agree that the values come from.
    left_out
        Which keywords are left out because these tables do not agree, and why.
    """

    version: str = ""
    digest: str = ""
    name: str = ""
    words: str = ""
    lineage: tuple[Origin, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def bases(self) -> tuple[Origin, ...]:
        """The base catalogs at the bottom of the lineage."""
        return tuple(one for one in self.lineage if not one.made_from)

    def text(self, longest: int) -> str:
        """Return where the data come from as JSON in ASCII, of at most so many characters.

        If all of it is longer, definitions are left out; then all catalogs but the bases, and these if need be. How
        many there are is always told.
        """
        told: dict[str, Any] = {"provenn": self.version, "digest": self.digest, "name": self.name, "words": self.words}
        told |= {"catalogs": len(self.lineage), "left_out": list(self.left_out)}
        brief = [replace(one, parameters={}) for one in self.lineage]
        for lineage in (self.lineage, brief, [one for one in brief if not one.made_from], ()):
            text = json.dumps({**told, "lineage": [one.to_json() for one in lineage]}, allow_nan=False)
            if len(text) <= longest:
                return text
        return json.dumps({"provenn": self.version, "digest": self.digest, "catalogs": len(self.lineage)})

    def lines(self) -> Iterator[str]:
        """Yield where the data come from, in words, for people."""
        if self.words:
            yield f"{self.name}: {self.words}" if self.name else self.words
        for one in self.lineage:
            if one.digest != self.digest:
                yield f"{one.name}: {one.words} ({one.digest[:12]})"
        for reason in self.left_out:
            yield f"left out: {reason}"


NO_NOTES = FileNotes()
"""What a file says that says nothing of itself."""
