"""The record of runs: the requester, the duration, the reused and the computed attributes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Literal

from sqlalchemy import Select, insert, select, update

from provenn.criteria import AttributeIdentity
from provenn.database.tables import catalogs, runs
from provenn.database.transactions import Reading, Writing
from provenn.digests import CatalogDigest, canonical_json
from provenn.people.visibility import CatalogAction, filter_visible_actions, is_visible

__all__ = ["Outcome", "Run", "begin_run", "end_run", "find_recent_runs", "iterate_runs"]

Outcome = Literal["done", "failed", "cancelled"]

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Run:
    """A run.

    Parameters
    ----------
    id
        The number of the run, never used again.
    catalog
        The digest of the requested catalog, if the request was for a catalog.
    target
        The request, in words.
    by, started_at
        The person who requested the run, and the time.
    ended_at, outcome, seconds, rows
        Time and kind of its end, its duration and its number of rows; None while it runs, or if its process died.
    reused, computed
        The identities of the attributes whose values were read from fragments, and of the computed attributes.
    fragments
        The numbers of the fragments that were read.
    saved
        About how many seconds these fragments have saved; None if that is not known.
    names
        The names of attributes, by identity, if they were recorded.
    """

    id: int
    catalog: CatalogDigest | None
    target: str
    by: str
    started_at: datetime
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    seconds: float | None = None
    rows: int | None = None
    reused: tuple[AttributeIdentity, ...] = ()
    computed: tuple[AttributeIdentity, ...] = ()
    fragments: tuple[int, ...] = ()
    saved: float | None = None
    names: Mapping[AttributeIdentity, str] = field(default_factory=dict)


def begin_run(
    writing: Writing, target: str, *, catalog: CatalogDigest | None = None, at: datetime | None = None
) -> int:
    """Record the start of a run, by default now; return the number. A catalog outside the archive is not recorded."""
    known_catalog = select(catalogs.c.digest).where(catalogs.c.digest == catalog).scalar_subquery()
    row = {"catalog": known_catalog, "target": target, "by": writing.who, "started_at": at or writing.when}
    number: int = writing.connection.execute(insert(runs).values(row).returning(runs.c.id)).scalar_one()
    return number


def end_run(
    writing: Writing,
    number: int,
    outcome: Outcome,
    *,
    seconds: float,
    rows: int | None = None,
    reused: Collection[AttributeIdentity] | Mapping[AttributeIdentity, str] = (),
    computed: Collection[AttributeIdentity] | Mapping[AttributeIdentity, str] = (),
    fragments: Collection[int] = (),
    saved: float | None = None,
) -> None:
    """Record the end of a run; attributes are given as identities, or as a mapping from identity to name."""
    values = {
        "ended_at": writing.when,
        "outcome": outcome,
        "seconds": seconds,
        "rows": rows,
        "reused": _write_attributes(reused),
        "computed": _write_attributes(computed),
        "fragments": canonical_json(sorted(fragments)),
        "saved": saved,
    }
    writing.connection.execute(update(runs).where(runs.c.id == number).values(values))


def find_recent_runs(
    reading: Reading, most: int = 100, *, catalog: CatalogDigest | None = None, number: int | None = None
) -> Sequence[Run]:
    """Return the latest runs visible to the viewer, the latest first; optionally the runs of one catalog.

    With the number of a run, return only this run.
    """
    query = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc())
    if number is not None:
        query = query.where(runs.c.id == number)
    if catalog is not None:
        query = query.where(runs.c.catalog == catalog)
    page_size = _PAGE if reading.viewer is not None else min(most, _PAGE)  # a viewer may see few runs of a page
    return list(islice(_read_visible_runs(reading, query, page_size), most))


def iterate_runs(reading: Reading) -> Iterator[Run]:
    """Yield all runs visible to the viewer, the earliest first, a page at a time."""
    yield from _read_visible_runs(reading, select(runs).order_by(runs.c.started_at, runs.c.id), _PAGE)


def _read_visible_runs(reading: Reading, query: Select[Any], page_size: int) -> Iterator[Run]:
    """Yield the runs of a query that are visible to the viewer, reading pages of this size."""
    if reading.viewer is not None:
        query = query.where((runs.c.by == reading.viewer) | is_visible(reading, runs.c.catalog))
    start = 0
    while rows := reading.connection.execute(query.offset(start).limit(page_size)).mappings().all():
        yield from _filter_visible_runs(reading, [_restore_run(dict(row)) for row in rows])
        if len(rows) < page_size:
            break
        start += page_size


def _filter_visible_runs(reading: Reading, page: Sequence[Run]) -> Sequence[Run]:
    """Return the runs that the viewer sees: own runs, and runs of catalogs visible at the time of the run."""
    if reading.viewer is None:
        return page
    actions = {run.id: _find_action(run) for run in page}
    visible_actions = filter_visible_actions(reading, {action for action in actions.values() if action is not None})
    return [run for run in page if run.by == reading.viewer or actions[run.id] in visible_actions]


def _find_action(run: Run) -> CatalogAction | None:
    """Return the catalog, author and time of a run, for the check of visibility; None for a run without a catalog."""
    return None if run.catalog is None else CatalogAction(run.catalog, run.by, run.started_at)


def _write_attributes(attributes: Collection[AttributeIdentity] | Mapping[AttributeIdentity, str]) -> str:
    """Return the attributes of a run as JSON."""
    return canonical_json(dict(attributes.items()) if isinstance(attributes, Mapping) else sorted(attributes))


def _restore_run(row: dict[str, Any]) -> Run:
    """Return the run of a row."""
    reused, computed = (json.loads(row.pop(column) or "[]") for column in ("reused", "computed"))
    return Run(
        **row | {"fragments": tuple(json.loads(row["fragments"] or "[]"))},
        reused=tuple(sorted(reused)),
        computed=tuple(sorted(computed)),
        names={
            identity: name
            for attributes in (reused, computed)
            if isinstance(attributes, dict)
            for identity, name in attributes.items()
        },
    )
