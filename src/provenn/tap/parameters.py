"""The parameters of a request: names in any case, checked values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from provenn.errors import TapError
from provenn.tap.answer_formats import VOTABLE, AnswerFormat, find_format

__all__ = [
    "LANGUAGES",
    "LONGEST_VALUE",
    "Parameters",
    "TapQuery",
    "UploadReference",
    "list_upload_parts",
    "read_query",
    "read_row_limit",
]

LANGUAGES: Final = ("ADQL", "ADQL-2.0", "ADQL-2.1")
"""The values of LANG."""

LONGEST_VALUE: Final = 500_000
"""The maximum length of the value of a parameter."""

_MOST_UPLOADS: Final = 20
_PART: Final = "param:"
_STANDARD: Final = (
    *("REQUEST", "LANG", "QUERY", "MAXREC", "RESPONSEFORMAT", "FORMAT", "UPLOAD", "RUNID", "PHASE", "VERSION"),
    *("ACTION", "EXECUTIONDURATION", "DESTRUCTION", "WAIT", "LAST", "AFTER"),
)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a request, in their order; names are in upper case."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Parameters:
        """Return parameters; standard names may be written in any case.

        Raises
        ------
        TapError
            If a value is too long.
        """
        checked = []
        for name, value in pairs:
            if len(value) > LONGEST_VALUE:
                raise TapError(f"the parameter {name[:40]} is longer than {LONGEST_VALUE:,} characters")
            checked.append((name.upper() if name.upper() in _STANDARD else name, value))
        return cls(tuple(checked))

    def find(self, name: str) -> str | None:
        """Return the last non-empty value of a parameter, or None."""
        return next((value for key, value in reversed(self.pairs) if key == name and value.strip()), None)

    def find_all(self, name: str) -> list[str]:
        """Return all non-empty values of a parameter."""
        return [value for key, value in self.pairs if key == name and value.strip()]

    def replace(self, changed: Parameters) -> Parameters:
        """Return these parameters with other values for the parameters of `changed`."""
        names = {name for name, _ in changed.pairs}
        return Parameters((*(pair for pair in self.pairs if pair[0] not in names), *changed.pairs))


@dataclass(frozen=True, slots=True)
class UploadReference:
    """A table that a request uploads.

    Parameters
    ----------
    table
        Its name below TAP_UPLOAD.
    part
        The part of the request that holds it; empty if it lies elsewhere.
    address
        The address at which it lies, if it is not in the request.
    """

    table: str
    part: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class TapQuery:
    """A query of a request.

    Parameters
    ----------
    text
        The ADQL.
    answer_format
        The format of the answer.
    most
        The largest number of rows; None if the request names none.
    uploads
        The uploaded tables.
    run_id
        A label that the client gives, which is handed back.
    """

    text: str
    answer_format: AnswerFormat = VOTABLE
    most: int | None = None
    uploads: tuple[UploadReference, ...] = ()
    run_id: str = ""


def read_query(parameters: Parameters) -> TapQuery:
    """Return the query of a request.

    Raises
    ------
    TapError
        If a parameter is missing or invalid.
    """
    request = parameters.find("REQUEST")
    if request is not None and request.strip() != "doQuery":
        raise TapError(f"unknown REQUEST {request[:40]!r}", hint="use REQUEST=doQuery, or leave it out")
    language = parameters.find("LANG")
    if language is None:
        raise TapError("the parameter LANG is missing", hint="add LANG=ADQL")
    if language.strip().upper() not in LANGUAGES:
        raise TapError(f"unknown LANG {language[:40]!r}", hint=f"use one of {', '.join(LANGUAGES)}")
    text = parameters.find("QUERY")
    if text is None:
        raise TapError("the parameter QUERY is missing", hint="add QUERY=SELECT …")
    name = parameters.find("RESPONSEFORMAT") or parameters.find("FORMAT")
    return TapQuery(
        text,
        VOTABLE if name is None else find_format(name),
        read_row_limit(parameters.find("MAXREC")),
        _read_uploads(parameters.find_all("UPLOAD")),
        parameters.find("RUNID") or "",
    )


def read_row_limit(text: str | None) -> int | None:
    """Return the value of MAXREC, or None.

    Raises
    ------
    TapError
        If it is not a number of rows.
    """
    if text is None:
        return None
    plain = text.strip()
    if not (plain.isascii() and plain.isdigit() and len(plain) < 19):
        raise TapError(f"expected a number of rows as MAXREC, got {text[:40]!r}")
    return int(plain)


def list_upload_parts(pairs: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the names of the parts of a request that its UPLOAD parameters name as tables.

    >>> sorted(list_upload_parts([("upload", "mine,param:part;other,http://stars.example/x"), ("LANG", "ADQL")]))
    ['part']
    """
    values = (value for name, value in pairs if name.upper() == "UPLOAD")
    places = (entry.partition(",")[2].strip() for value in values for entry in value.split(";"))
    parts = (place[len(_PART) :] for place in places if place.lower().startswith(_PART))
    return frozenset(part for part in parts if part.upper() not in _STANDARD)


def _read_uploads(values: Sequence[str]) -> tuple[UploadReference, ...]:
    """Return the tables named by UPLOAD: ``name,param:part`` or ``name,http://…``, several separated by semicolons."""
    uploads = []
    for entry in (entry for value in values for entry in value.split(";") if entry.strip()):
        table, comma, place = (word.strip() for word in entry.partition(","))
        if not comma:
            raise TapError(f"expected UPLOAD=name,param:part, got {entry[:100]!r}")
        table = table.rpartition(".")[2] if table.lower().startswith("tap_upload.") else table
        if not (table.isascii() and table.isidentifier()):
            raise TapError(f"an uploaded table cannot be called {table[:40]!r}", hint="use letters, digits and _")
        if place.lower().startswith(_PART):
            uploads.append(UploadReference(table, part=place[len(_PART) :]))
        elif place.lower().startswith(("http://", "https://")):
            uploads.append(UploadReference(table, address=place))
        else:
            hint = "send the table in the request: UPLOAD=name,param:part"
            raise TapError(f"the table {table} cannot come from {place[:100]!r}", hint=hint)
    names = [upload.table.lower() for upload in uploads]
    for name in names:
        if names.count(name) > 1:
            raise TapError(f"two uploaded tables are called {name}")
    if len(uploads) > _MOST_UPLOADS:
        raise TapError(f"{len(uploads)} tables are uploaded, and the limit is {_MOST_UPLOADS}")
    return tuple(uploads)
