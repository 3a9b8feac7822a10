"""What users wrote when they defined catalogs, kept apart from the definitions so that it is searched quickly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Select, delete, insert, select

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.store.database import Reading, Writing
from provenn.store.tables import wordings

__all__ = ["change", "index", "with_text", "wording"]

_NOT_WORDS = frozenset({"fingerprints", "contents", "was_late"})


def index(reading: Reading, catalogs: Iterable[Catalog]) -> None:
    """Take note of the wording of catalogs, inside the transaction that adds them."""
    rows = [{"catalog": one.digest, "text": text} for one in catalogs if (text := wording(one))]
    if rows:
        reading.connection.execute(insert(wordings), rows)


def wording(catalog: Catalog) -> str:
    """Return what a user wrote when defining a catalog, as it is searched: in lower case, and in one text."""
    return "\n".join(_texts(catalog.notes())).casefold().replace("\0", " ")  # PostgreSQL takes no NUL in a text


def change(writing: Writing, catalog: Catalog) -> None:
    """Take note of the new wording of a catalog."""
    writing.connection.execute(delete(wordings).where(wordings.c.catalog == catalog.digest))
    index(writing, [catalog])


def _texts(notes: Parameters) -> Iterator[str]:
    """Yield the texts in notes, and what they are of, such as the name of an attribute and its description."""
    for key, value in notes.items():
        if key in _NOT_WORDS:
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from (text for pair in value.items() for text in pair)


def with_text(text: str) -> Select[tuple[str]]:
    """Return the query of the catalogs in whose wording a text occurs, in upper or lower case."""
    return select(wordings.c.catalog).where(wordings.c.text.contains(text.casefold(), autoescape=True))
