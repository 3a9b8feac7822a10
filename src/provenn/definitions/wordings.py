"""The wordings of catalogs: the users' defining texts, stored separately for fast search."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sqlalchemy import Select, delete, insert, select

from provenn.database.tables import catalogs, wordings
from provenn.people.visibility import filter_visible

if TYPE_CHECKING:
    from provenn.catalogs.catalog import Catalog, Parameters
    from provenn.database.transactions import Reading, Writing

__all__ = ["change_wording", "find_earlier_wording", "format_wording", "index_wordings", "select_with_text"]

_NOT_WORDS = frozenset({"fingerprints", "contents", "was_late"})


def index_wordings(reading: Reading, added: Iterable[Catalog]) -> None:
    """Record the wordings of new catalogs, inside the adding transaction."""
    rows = [{"catalog": catalog.digest, "text": text} for catalog in added if (text := format_wording(catalog))]
    if rows:
        reading.connection.execute(insert(wordings), rows)


def format_wording(catalog: Catalog) -> str:
    """Return the wording of a catalog in searchable form: a single text in lower case."""
    return "\n".join(_iterate_texts(catalog.notes())).casefold().replace("\0", " ")  # PostgreSQL allows no NUL


def find_earlier_wording(reading: Reading, catalog: Catalog) -> str | None:
    """Return the first wording of a visible catalog, if different from the present wording.

    Differences in spaces and line breaks do not count.
    """
    query = select(catalogs.c.notes).where(catalogs.c.digest == catalog.digest)
    notes = reading.connection.scalar(query) if filter_visible(reading, [catalog.digest]) else None
    earlier = [] if notes is None else list(_iterate_texts(json.loads(notes)))
    if not earlier or _remove_spaces(earlier) == _remove_spaces(_iterate_texts(catalog.notes())):
        return None
    return ", ".join(earlier)


def _remove_spaces(texts: Iterable[str]) -> list[str]:
    return sorted("".join(text.split()) for text in texts)


def change_wording(writing: Writing, catalog: Catalog) -> None:
    """Replace the recorded wording of a catalog."""
    writing.connection.execute(delete(wordings).where(wordings.c.catalog == catalog.digest))
    index_wordings(writing, [catalog])


def _iterate_texts(notes: Parameters) -> Iterator[str]:
    """Yield the texts in notes; for nested notes also the keys, such as an attribute's name and its description."""
    for key, value in notes.items():
        if key in _NOT_WORDS:
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from (text for pair in value.items() for text in pair)


def select_with_text(text: str) -> Select[tuple[str]]:
    """Return the query for the catalogs with a text in the wording, ignoring case."""
    return select(wordings.c.catalog).where(wordings.c.text.contains(text.casefold(), autoescape=True))
