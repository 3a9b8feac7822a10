"""Tallies: what was counted of a catalog for pages and pictures, kept so that it is counted once.

Definitions and their base files never change, so that a tally of a catalog stays right. No proof and no answer rests on
a tally. It holds values of data: a viewer sees the tallies of visible catalogs only, by people whose work on them the
viewer may know.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from typing import Any

from sqlalchemy import delete, exists, insert, select

from provenn.database.tables import catalogs, tallies
from provenn.database.transactions import Reading, Writing
from provenn.digests import CatalogDigest, content_digest
from provenn.people.visibility import CatalogAction, filter_visible_actions

__all__ = ["find_subjects", "find_tally", "is_sound_tally", "keep_tally"]

_LARGEST = 1 << 24
"""The most characters of a tally, unpacked."""


def keep_tally(writing: Writing, catalog: CatalogDigest, subject: str, content: Any) -> None:  # noqa: ANN401 - JSON
    """Keep a tally of a catalog in the place of an earlier one; keep none of a catalog that the archive lacks."""
    if not writing.connection.scalar(select(exists().where(catalogs.c.digest == catalog))):
        return
    table = tallies.c
    of_person = (table.catalog == catalog, table.subject == subject, table.tallied_by == writing.who)
    writing.connection.execute(delete(tallies).where(*of_person))
    row = {"catalog": catalog, "subject": subject, "tallied_by": writing.who, "tallied_at": writing.when}
    writing.connection.execute(insert(tallies), {**row, "content": _pack(catalog, subject, content)})


def find_tally(reading: Reading, catalog: CatalogDigest, subject: str) -> Any | None:  # noqa: ANN401 - JSON
    """Return the latest tally of a catalog, as far as the viewer may know; None without one."""
    table = tallies.c
    query = select(table.tallied_by, table.tallied_at, table.content)
    query = query.where(table.catalog == catalog, table.subject == subject).order_by(table.tallied_at.desc())
    rows = {CatalogAction(catalog, who, at): text for who, at, text in reading.connection.execute(query)}
    visible = filter_visible_actions(reading, rows.keys())
    unpacked = (_unpack(catalog, subject, text) for action, text in rows.items() if action in visible)
    return next((content for content in unpacked if content is not None), None)


def find_subjects(reading: Reading, catalog: CatalogDigest) -> tuple[str, ...]:
    """Return the subjects of the tallies of a catalog, as far as the viewer may know them, sorted."""
    table = tallies.c
    query = select(table.subject, table.tallied_by, table.tallied_at).where(table.catalog == catalog)
    subjects = {(subject, CatalogAction(catalog, who, at)) for subject, who, at in reading.connection.execute(query)}
    visible = filter_visible_actions(reading, {action for _, action in subjects})
    return tuple(sorted({subject for subject, action in subjects if action in visible}))


def is_sound_tally(catalog: CatalogDigest, subject: str, text: str) -> bool:
    """Return whether the text of a tally is as it was written."""
    return _unpack(catalog, subject, text) is not None


def _pack(catalog: CatalogDigest, subject: str, content: Any) -> str:  # noqa: ANN401 - JSON
    """Return a tally as text, after a digest that reveals later changes."""
    digest = content_digest("tally", [catalog, subject, content])
    return digest + b64encode(zlib.compress(json.dumps(content).encode())).decode()


def _unpack(catalog: CatalogDigest, subject: str, text: str) -> Any | None:  # noqa: ANN401 - JSON
    """Return the tally in a text; None if the text was changed."""
    size = len(content_digest("tally", []))
    try:
        packed = zlib.decompressobj()
        content = json.loads(packed.decompress(b64decode(text[size:], validate=True), _LARGEST))
    except (TypeError, ValueError, zlib.error):
        return None
    return content if content_digest("tally", [catalog, subject, content]) == text[:size] else None
