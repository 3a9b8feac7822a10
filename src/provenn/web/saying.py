"""Statements split into parts, so that a template can link the catalogs without parsing."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from provenn.logic import Statement
from provenn.logic.terms import quote_label
from provenn.words.proof_chains import Reason

__all__ = ["LinkedStatement", "ProofReason", "StatementPart", "split_reasons", "split_statement"]

_PLACE = re.compile(r"(place\d+)\b")


@dataclass(frozen=True, slots=True)
class StatementPart:
    """A part of a statement; a part for a catalog also has the name and the digest of the catalog."""

    text: str
    name: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class LinkedStatement:
    """A statement as text and in parts."""

    text: str
    parts: tuple[StatementPart, ...]


@dataclass(frozen=True, slots=True)
class ProofReason:
    """A line of a proof: a fact and its origin, or a statement and the numbers of the lines from which it follows."""

    statement: LinkedStatement
    because: str
    is_inferred: bool = False
    premises: tuple[int, ...] = ()


def split_statement(statement: Statement, catalogs: Mapping[str, str]) -> LinkedStatement:
    """Split a statement into parts.

    Parameters
    ----------
    statement
        The statement, with names of catalogs.
    catalogs
        The digests of the catalogs by name.

    >>> from provenn.logic import subset
    >>> [(part.text, part.digest) for part in split_statement(subset("bright", "all stars"), {"bright": "0f3a"}).parts]
    [('bright', '0f3a'), (' <= ', ''), ('"all stars"', '')]
    """
    labels = {f"place{number}": label for number, label in enumerate(statement.labels)}
    places = {label: place for place, label in labels.items()}
    texts = _PLACE.split(str(statement.relabelled(places.__getitem__)))
    return LinkedStatement(str(statement), tuple(_make_part(text, labels, catalogs) for text in texts if text))


def split_reasons(reasons: Iterable[Reason]) -> tuple[ProofReason, ...]:
    """Return the lines of a proof, with their statements split into parts."""
    return tuple(
        ProofReason(
            split_statement(reason.statement, dict(reason.catalogs)),
            reason.because,
            reason.is_inferred,
            reason.premises,
        )
        for reason in reasons
    )


def _make_part(text: str, labels: Mapping[str, str], catalogs: Mapping[str, str]) -> StatementPart:
    if text not in labels:
        return StatementPart(text)
    label = labels[text]
    return (
        StatementPart(quote_label(label), label, catalogs[label])
        if label in catalogs
        else StatementPart(quote_label(label))
    )
