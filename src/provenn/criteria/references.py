"""References to attributes as people write them: ``z``, ``DR1.z``, ``DR1.z AS z_dr1``, any part in backquotes.

Any text that can be printed may be the name of an attribute or of a catalog, so a text can often be read in several
ways. The functions here list the ways; what the names mean is decided where catalogs are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from provenn.criteria.writing import backquoted

__all__ = ["aliases", "commas", "dotted", "qualified", "unquoted"]

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")
_ALIAS = re.compile(r"\s+AS\s+", re.IGNORECASE)


def dotted(parts: Sequence[str]) -> str:
    """Return a reference of several parts, with those in backquotes that could be read otherwise.

    >>> dotted(["DR1", "z"]), dotted(["my.survey", "z"])
    ('DR1.z', '`my.survey`.z')
    """
    return ".".join(backquoted(part) if re.search("[.`]", part) else part for part in parts)


def qualified(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to read a text as what is before a dot, and an attribute.

    >>> list(qualified("DR1.z")), list(qualified("a.b.c")), list(qualified("`a.b`.c")), list(qualified("z"))
    ([('DR1', 'z')], [('a', 'b.c'), ('a.b', 'c')], [('a.b', 'c')], [])
    """
    parts = _parts(text)
    for place in range(1, len(parts)):
        yield ".".join(parts[:place]), ".".join(parts[place:])


def unquoted(text: str) -> str | None:
    """Return the name that is written in backquotes, if the text is nothing else.

    >>> unquoted("`DR1.z`"), unquoted("`DR1`.z")
    ('DR1.z', None)
    """
    parts = _parts(text)
    return parts[0] if len(parts) == 1 and text.strip().startswith("`") else None


def aliases(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to read a text as a reference and the name that it is to have.

    >>> list(aliases("DR1.z AS z_dr1")), list(aliases("DR1.z as `z 1`")), list(aliases("z"))
    ([('DR1.z', 'z_dr1')], [('DR1.z', 'z 1')], [])
    """
    for found in _ALIAS.finditer(text):
        before, after = text[: found.start()].strip(), text[found.end() :].strip()
        if before and after:
            yield before, unquoted(after) or after


def commas(text: str) -> list[str]:
    """Return the references in a text that has commas between them; a comma in backquotes is part of a name.

    >>> commas("g, DR1.z AS z_dr1, `a, b`,")
    ['g', 'DR1.z AS z_dr1', '`a, b`']
    """
    found = [one.strip() for one in re.findall(r"(?:`(?:[^`]|``)*`|[^,`]|`)+", text)]
    return [one for one in found if one]


def _parts(text: str) -> list[str]:
    """Return the parts of a text between its dots, without their backquotes; none if it cannot be read so."""
    parts, place, text = [], 0, text.strip()
    while True:
        found = _PART.match(text, place)
        if found is None:
            return []
        parts.append(found[1].replace("``", "`") if found[1] else found[2])
        place = found.end()
        if place == len(text):
            return parts
        if text[place] != ".":
            return []
        place += 1
