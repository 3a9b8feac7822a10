"""What was run: for whom, how long it took, what it reused and what it computed."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import insert, select, update

from provenn.catalogs.digest import canonical_json
from provenn.store.database import Reading, Writing
from provenn.store.tables import runs

__all__ = ["Outcome", "Run", "begin", "end", "recent"]

Outcome = Literal["done", "failed", "cancelled"]


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
        The identities of attributes that were read from fragments, and of those that were computed.
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


def begin(writing: Writing, target: str, *, catalog: str | None = None) -> int:
    """Record that a run begins; return its number."""
    row = {"catalog": catalog, "target": target, "by": writing.who, "started_at": writing.when}
    number: int = writing.connection.execute(insert(runs).returning(runs.c.id), row).scalar_one()
    return number


def end(
    writing: Writing,
    number: int,
    outcome: Outcome,
    *,
    seconds: float,
    rows: int | None = None,
    reused: Collection[str] = (),
    computed: Collection[str] = (),
) -> None:
    """Record how a run ended."""
    values = {
        "ended_at": writing.when,
        "outcome": outcome,
        "seconds": seconds,
        "rows": rows,
        "reused": canonical_json(sorted(reused)),
        "computed": canonical_json(sorted(computed)),
    }
    writing.connection.execute(update(runs).where(runs.c.id == number).values(values))


def recent(reading: Reading, most: int = 100) -> Sequence[Run]:
    """Return the latest runs, the latest first."""
    query = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(most)
    return [
        Run(
            **{key: value for key, value in row.items() if key not in ("reused", "computed")},
            reused=tuple(json.loads(row["reused"] or "[]")),
            computed=tuple(json.loads(row["computed"] or "[]")),
        )
        for row in reading.connection.execute(query).mappings()
    ]
