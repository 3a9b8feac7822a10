"""The formats of answers, and the names by which clients ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from provenn.errors import TapError

__all__ = ["FORMATS", "VOTABLE", "AnswerFormat", "find_format"]


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A format of answers.

    Parameters
    ----------
    name
        Its short name.
    media_type
        The media type of the answer.
    suffix
        The suffix of a file.
    aliases
        Further names, in lower case without blanks.
    binary
        For a VOTable, whether rows are written as BINARY2.
    """

    name: str
    media_type: str
    suffix: str
    aliases: tuple[str, ...] = ()
    binary: bool = False


_VOTABLE_TYPE: Final = "application/x-votable+xml"

VOTABLE: Final = AnswerFormat(
    "votable", _VOTABLE_TYPE, ".vot", ("text/xml", "votable/b2", f"{_VOTABLE_TYPE};serialization=binary2"), binary=True
)
"""The format of an answer if the client asks for none."""

FORMATS: Final[tuple[AnswerFormat, ...]] = (
    VOTABLE,
    AnswerFormat("votable/td", f"{_VOTABLE_TYPE};serialization=TABLEDATA", ".vot", ("votabletd", "tabledata")),
    AnswerFormat("csv", "text/csv;header=present", ".csv", ("text/csv",)),
    AnswerFormat("tsv", "text/tab-separated-values", ".tsv", ()),
    AnswerFormat("fits", "application/fits", ".fits", ("image/fits",)),
    AnswerFormat("parquet", "application/vnd.apache.parquet", ".parquet", ("application/x-parquet",)),
    AnswerFormat("json", "application/json", ".json", ()),
)
"""The formats of answers."""

_BY_NAME: Final[Mapping[str, AnswerFormat]] = {
    name: answer_format
    for answer_format in FORMATS
    for name in (answer_format.name, answer_format.media_type.lower(), *answer_format.aliases)
}


def find_format(name: str) -> AnswerFormat:
    """Return the format that a client asks for by name or media type.

    >>> find_format("text/csv").name, find_format("application/x-votable+xml; serialization=TABLEDATA").name
    ('csv', 'votable/td')

    Raises
    ------
    TapError
        If there is no such format.
    """
    plain = "".join(name.lower().split())
    wanted = _BY_NAME.get(plain) or _BY_NAME.get(plain.partition(";charset")[0])
    if wanted is None:
        names = ", ".join(answer_format.name for answer_format in FORMATS)
        raise TapError(f"unknown RESPONSEFORMAT {name[:100]!r}", hint=f"use one of {names}")
    return wanted
