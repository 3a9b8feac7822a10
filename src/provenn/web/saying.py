"""Statements whose names are links: in parts, so that a template needs to parse nothing."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from provenn.archive.words import Reason
from provenn.logic import Statement
from provenn.logic.terms import quoted

__all__ = ["Because", "Part", "Said", "because", "said"]

_PLACE = re.compile(r"(place\d+)\b")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a statement; one that names a catalog has its name and its digest."""

    text: str
    name: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A statement: as text, and in parts."""

    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Because:
    """A fact that a proof uses, and where it comes from."""

    statement: Said
    because: str


def said(statement: Statement, catalogs: Mapping[str, str]) -> Said:
    """Return a statement in parts.

    Parameters
    ----------
    statement
        The statement, in names.
    catalogs
        The digests of the catalogs among them.

    >>> from provenn.logic import subset
    >>> [(part.text, part.digest) for part in said(subset("bright", "all stars"), {"bright": "0f3a"}).parts]
    [('bright', '0f3a'), (' <= ', ''), ('"all stars"', '')]
    """
    labels = {f"place{number}": label for number, label in enumerate(statement.labels)}
    places = {label: place for place, label in labels.items()}
    texts = _PLACE.split(str(statement.relabelled(places.__getitem__)))
    return Said(str(statement), tuple(_part(one, labels, catalogs) for one in texts if one))


def because(reasons: Iterable[Reason]) -> tuple[Because, ...]:
    """Return the facts of a proof."""
    return tuple(Because(said(one.statement, dict(one.catalogs)), one.because) for one in reasons)


def _part(text: str, labels: Mapping[str, str], catalogs: Mapping[str, str]) -> Part:
    if text not in labels:
        return Part(text)
    label = labels[text]
    return Part(quoted(label), label, catalogs[label]) if label in catalogs else Part(quoted(label))
