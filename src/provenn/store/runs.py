"""What was run: for whom, how long it took, what it reused and what it computed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import insert, select, update

from provenn.catalogs.digest import canonical_json
from provenn.store.database import Reading, Writing
from provenn.store.tables import catalogs, runs
from provenn.store.visibility import Deed, everything_seen, told_deeds

__all__ = ["Outcome", "Run", "begin", "end", "recent"]

Outcome = Literal["done", "failed", "cancelled"]

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Run:
    """A run.

    Parameters
    ----------
    id
        Its number, which no other run ever has.
    catalog
        The digest of the catalog that was asked for, if it was one.
    target
        What was asked for, in words.
    by, started_at
        Who asked, and when.
    ended_at, outcome, seconds, rows
        When and how it ended, how long it took, how many rows it gave; None while it runs, or if its process died.
    reused, computed
        The identities of attributes of which values were read from fragments, and of those of which values were
        computed.
    fragments
        The numbers of the fragments that were read.
    saved
        About how many seconds reading them has saved; None if that is not known.
    names
        What attributes were called, by identity, as far as it was recorded.
    """

    id: int
    catalog: str | None
    target: str
    by: str
    started_at: datetime
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    seconds: float | None = None
    rows: int | None = None
    reused: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    fragments: tuple[int, ...] = ()
    saved: float | None = None
    names: Mapping[str, str] = field(default_factory=dict)


def begin(writing: Writing, target: str, *, catalog: str | None = None) -> int:
    """Record that a run begins; return its number. A catalog that the archive does not hold is not recorded."""
    held = select(catalogs.c.digest).where(catalogs.c.digest == catalog).scalar_subquery()
    row = {"catalog": held, "target": target, "by": writing.who, "started_at": writing.when}
    number: int = writing.connection.execute(insert(runs).values(row).returning(runs.c.id)).scalar_one()
    return number


def end(
    writing: Writing,
    number: int,
    outcome: Outcome,
    *,
    seconds: float,
    rows: int | None = None,
    reused: Collection[str] | Mapping[str, str] = (),
    computed: Collection[str] | Mapping[str, str] = (),
    fragments: Collection[int] = (),
    saved: float | None = None,
) -> None:
    """Record how a run ended; attributes are given by identity, and may come with what they were called."""
    values = {
        "ended_at": writing.when,
        "outcome": outcome,
        "seconds": seconds,
        "rows": rows,
        "reused": _written(reused),
        "computed": _written(computed),
        "fragments": canonical_json(sorted(fragments)),
        "saved": saved,
    }
    writing.connection.execute(update(runs).where(runs.c.id == number).values(values))


def recent(
    reading: Reading, most: int = 100, *, catalog: str | None = None, number: int | None = None
) -> Sequence[Run]:
    """Return the latest runs, or the latest of one catalog, the latest first; those that the viewer may know of.

    With the number of a run, only that one.
    """
    query = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc())
    if number is not None:
        query = query.where(runs.c.id == number)
    if catalog is not None:
        query = query.where(runs.c.catalog == catalog)
    if reading.viewer is None:
        return [_run(dict(row)) for row in reading.connection.execute(query.limit(most)).mappings()]
    own = runs.c.by == reading.viewer
    query = query.where(own | everything_seen(reading, runs.c.catalog))
    found: list[Run] = []
    start = 0
    while len(found) < most:
        page = [_run(dict(row)) for row in reading.connection.execute(query.offset(start).limit(_PAGE)).mappings()]
        told = told_deeds(reading, {_deed(one) for one in page if one.catalog is not None})
        found += [one for one in page if one.by == reading.viewer or (one.catalog is not None and _deed(one) in told)]
        if len(page) < _PAGE:
            break
        start += _PAGE
    return found[:most]


def _deed(one: Run) -> Deed:
    return Deed(one.catalog or "", one.by, one.started_at)


def _written(attributes: Collection[str] | Mapping[str, str]) -> str:
    return canonical_json(dict(attributes) if isinstance(attributes, Mapping) else sorted(attributes))


def _run(row: dict[str, Any]) -> Run:
    reused, computed = (json.loads(row.pop(column) or "[]") for column in ("reused", "computed"))
    return Run(
        **row | {"fragments": tuple(json.loads(row["fragments"] or "[]"))},
        reused=tuple(sorted(reused)),
        computed=tuple(sorted(computed)),
        names={identity: name for one in (reused, computed) if isinstance(one, dict) for identity, name in one.items()},
    )
