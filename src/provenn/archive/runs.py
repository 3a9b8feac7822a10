"""What was run: recording it, and telling it in the user's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Literal

from provenn.archive.words import SHORT
from provenn.errors import ArchiveBusyError
from provenn.store import attributes, names, runs
from provenn.store.database import Database, Reading
from provenn.store.runs import Outcome, Run

if TYPE_CHECKING:
    from provenn.targets.plan import Plan

__all__ = ["Ran", "Recorder", "recorded", "told"]

_LONGEST = timedelta(days=1)  # a run that has not ended after that never will


@dataclass(frozen=True, slots=True)
class Ran:
    """A run, in the user's words.

    Attributes
    ----------
    number
        Its number, which no other run ever has.
    target
        What was asked for.
    catalog, name
        The digest and the name of the catalog that was asked for; None if the archive does not hold it.
    by, started_at
        Who asked, and when.
    outcome
        ``"done"``, ``"failed"``, ``"cancelled"``; ``"not ended"``: it runs, or its process died; ``"never ended"``:
        it began more than a day ago, so that its process must have died.
    seconds, rows
        How long it took, and how many sources it gave; None if it has not ended well.
    reused, computed
        The names of the attributes that were read from fragments, and of those that were computed; sorted.
    fragments
        The numbers of the fragments that were read.
    saved
        About how many seconds it had taken to compute what was read instead: of each fragment, the seconds that all
        of it had taken, times the share of its rows that came out. None if the run did not end well.
    """

    number: int
    target: str
    catalog: str | None
    name: str | None
    by: str
    started_at: datetime
    outcome: Literal["done", "failed", "cancelled", "not ended", "never ended"]
    seconds: float | None
    rows: int | None
    reused: tuple[str, ...]
    computed: tuple[str, ...]
    fragments: tuple[int, ...]
    saved: float | None


@dataclass(slots=True)
class Recorder:
    """What is to be recorded of a run that ends.

    Attributes
    ----------
    plan
        The plan that is carried out.
    rows
        How many sources it gave; None while that is not known.
    """

    plan: Plan
    rows: int | None = None


@contextmanager
def recorded(database: Database, plan: Plan) -> Iterator[Recorder]:
    """Record that a plan runs while the body does, how long it takes, and how it ends, if it can be written."""
    run = Recorder(plan)
    if database.read_only:
        yield run
        return
    with database.writing() as writing:
        number = runs.begin(writing, plan.what, catalog=None if plan.catalog is None else plan.catalog.digest)
    began = monotonic()
    outcome: Outcome = "failed"
    try:
        yield run
        outcome = "done"
    except KeyboardInterrupt:
        outcome = "cancelled"
        raise
    finally:
        plan = run.plan
        asked = {one.identity: one.name for one in plan.columns if one.identity in plan.needed}
        held = {identity for one in plan.fragments for identity in one.identities}
        # What was computed is not lost for the lack of a note of it.
        with suppress(ArchiveBusyError), database.writing() as writing:
            runs.end(
                writing,
                number,
                outcome,
                seconds=monotonic() - began,
                rows=run.rows,
                reused={identity: name for identity, name in asked.items() if identity in held},
                computed={identity: name for identity, name in asked.items() if identity not in held},
                fragments=[one.id for one in plan.fragments],
                saved=_saved(plan, run.rows) if outcome == "done" else None,
            )


def _saved(plan: Plan, rows: int | None) -> float:
    """Return what computing the rows that were read from fragments had cost, in seconds."""
    return sum(
        one.seconds * (1.0 if rows is None or not one.rows else min(1.0, rows / one.rows)) for one in plan.fragments
    )


def told(reading: Reading, catalog: str | None = None, most: int = 100) -> list[Ran]:
    """Return the latest runs, or the latest of one catalog, in the user's words, the latest first."""
    found = runs.recent(reading, most, catalog=catalog)
    called = names.names_of(reading, {one.catalog for one in found if one.catalog is not None})
    unnamed = {identity for one in found for identity in (*one.reused, *one.computed) if identity not in one.names}
    words = attributes.words(reading, unnamed) if unnamed else {}

    def ran(one: Run) -> Ran:
        called_so = {**words, **one.names}
        name = one.catalog and next(iter(called.get(one.catalog, ())), one.catalog[:SHORT])
        others = reading.viewer not in (None, one.by)
        return Ran(
            one.id,
            (name or "") if others else one.target,  # what others asked for is told in names that the viewer sees
            one.catalog,
            name,
            one.by,
            one.started_at,
            one.outcome or ("never ended" if datetime.now(UTC) - one.started_at > _LONGEST else "not ended"),
            one.seconds,
            one.rows,
            tuple(sorted(called_so.get(identity, identity) for identity in one.reused)),
            tuple(sorted(called_so.get(identity, identity) for identity in one.computed)),
            () if others else one.fragments,
            one.saved,
        )

    return [ran(one) for one in found]
