"""Parse references to attributes as people write them: ``z``, ``DR1.z``, ``DR1.z AS z_dr1``, any part in backquotes.

Any printable text may be the name of an attribute or of a catalog, so a text can often be read in several ways. The
functions here list the readings; the caller, which knows the catalogs, decides between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from provenn.criteria.writing import backquoted

__all__ = ["join_dotted", "split_alias", "split_commas", "split_qualifier", "unquote"]

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
_ALIAS = re.compile(r"\s+AS\s+", re.IGNORECASE)


def join_dotted(parts: Sequence[str]) -> str:
    """Return a reference of several parts, with ambiguous parts in backquotes.

    >>> join_dotted(["DR1", "z"]), join_dotted(["my.survey", "z"])
    ('DR1.z', '`my.survey`.z')
    """
    return ".".join(backquoted(part) if re.search("[.`]", part) else part for part in parts)


def split_qualifier(text: str) -> Iterator[tuple[str, str]]:
    """Yield the readings of a text as a qualifier before a dot, and an attribute.

    >>> [list(split_qualifier(text)) for text in ("DR1.z", "a.b.c", "`a.b`.c", "z")]
    [[('DR1', 'z')], [('a', 'b.c'), ('a.b', 'c')], [('a.b', 'c')], []]
    """
    parts = _split_parts(text)
    for place in range(1, len(parts)):
        yield ".".join(parts[:place]), ".".join(parts[place:])


def unquote(text: str) -> str | None:
    """Return the name in backquotes, if the text is nothing else; otherwise None.

    >>> unquote("`DR1.z`"), unquote("`DR1`.z")
    ('DR1.z', None)
    """
    parts = _split_parts(text)
    return parts[0] if len(parts) == 1 and text.strip().startswith("`") else None


def split_alias(text: str) -> Iterator[tuple[str, str]]:
    """Yield the readings of a text as a reference and its alias.

    >>> list(split_alias("DR1.z AS z_dr1")), list(split_alias("DR1.z as `z 1`")), list(split_alias("z"))
    ([('DR1.z', 'z_dr1')], [('DR1.z', 'z 1')], [])
    """
    for match in _ALIAS.finditer(text):
        before, after = text[: match.start()].strip(), text[match.end() :].strip()
        if before and after:
            yield before, unquote(after) or after


def split_commas(text: str) -> list[str]:
    """Return the references of a comma-separated text; a comma in backquotes is part of a name.

    >>> split_commas("g, DR1.z AS z_dr1, `a, b`,")
    ['g', 'DR1.z AS z_dr1', '`a, b`']
    """
    references = [reference.strip() for reference in re.findall(r"(?:`(?:[^`]|``)*`|[^,`]|`)+", text)]
    return [reference for reference in references if reference]


def _split_parts(text: str) -> list[str]:
    """Return the parts of a text between its dots, without backquotes; empty if the text is not a reference."""
    parts, place, text = [], 0, text.strip()
    while True:
        match = _PART.match(text, place)
        if match is None:
            return []
        parts.append(match[1].replace("``", "`") if match[1] else match[2])
        place = match.end()
        if place == len(text):
            return parts
        if text[place] != ".":
            return []
        place += 1
