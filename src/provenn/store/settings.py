"""What an archive remembers about itself, such as where its data lie."""

from __future__ import annotations

from sqlalchemy import delete, insert, select

from provenn.store.database import Reading, Writing
from provenn.store.tables import settings

__all__ = ["STORE", "VISIBILITY", "change", "forget", "setting"]

STORE = "store"
"""The key of where the data lie: a URI, or a path, which in a folder archive may be relative to its folder."""

VISIBILITY = "visibility"
"""The key of who sees a name for which nobody says it: "private" or "public"."""


def setting(reading: Reading, key: str) -> str | None:
    """Return what is set, or None."""
    return reading.connection.scalar(select(settings.c.value).where(settings.c.key == key))


def change(writing: Writing, key: str, value: str) -> None:
    """Set something, whatever it was."""
    forget(writing, key)
    writing.connection.execute(insert(settings), {"key": key, "value": value})


def forget(writing: Writing, key: str) -> bool:
    """Unset something; return whether it was set."""
    return bool(writing.connection.execute(delete(settings).where(settings.c.key == key)).rowcount)
