"""The settings of an archive, for example the location of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select, update

from provenn.database.tables import settings

if TYPE_CHECKING:
    from provenn.database.transactions import Reading, Writing

__all__ = ["STORE", "UNFINISHED", "VISIBILITY", "change_setting", "forget_setting", "read_setting"]

STORE = "store"
"""The key of the location of the data: a URI, or a path, which in a folder archive may be relative to its folder."""

UNFINISHED = "unfinished"
"""The key of the unfinished work on the archive at its last write, if there was any."""

VISIBILITY = "visibility"
"""The key of the default visibility of names: "private" or "public"."""

_VALUE = select(settings.c.value).where(settings.c.key == bindparam("name"))
_CHANGE = update(settings).where(settings.c.key == bindparam("name")).values(value=bindparam("new_value"))


def read_setting(reading: Reading, key: str) -> str | None:
    """Return the value of a setting, or None."""
    return reading.connection.scalar(_VALUE, {"name": key})


def change_setting(writing: Writing, key: str, value: str) -> None:
    """Set a setting, replacing an earlier value."""
    changed = writing.connection.execute(_CHANGE, {"name": key, "new_value": value})
    if not changed.rowcount:
        writing.connection.execute(insert(settings), {"key": key, "value": value})


def forget_setting(writing: Writing, key: str) -> bool:
    """Remove a setting; return whether a value was set."""
    return bool(writing.connection.execute(delete(settings).where(settings.c.key == key)).rowcount)
