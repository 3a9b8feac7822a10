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
from provenn.store.fragments import Fragment
from provenn.store.runs import Outcome, Run
from provenn.targets.steps import is_key
from provenn.targets.ways import computed_attributes, reused_attributes

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
        The names of the attributes of which values were read from fragments, and of those of which values were
        derived, calculated or matched; sorted. What was stored of a part of the sources is in both, and what files
        hold is in neither.
    fragments
        The numbers of the fragments that were read.
    saved
        A guess how many seconds reuse has saved: for each row that was read from a fragment, the seconds that
        computing one had taken when that was stored, less the seconds that reading took. None if the run did not end
        well.
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
    number
        The number of the run; None if nothing is recorded.
    rows
        How many sources it gave; None while that is not known.
    computed
        How many of them were computed, and stored, on the way.
    seconds
        How long it took to read the result, after that.
    facts
        The numbers of the declared and observed facts on which the result leans.
    doubtful
        Whether the result cannot be right, as a declared fact is wrong on which it rests.
    """

    plan: Plan
    number: int | None = None
    rows: int | None = None
    computed: int = 0
    seconds: float = 0.0
    facts: tuple[int, ...] = ()
    doubtful: bool = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Measure the body, which reads the result."""
        began = monotonic()
        yield
        self.seconds = monotonic() - began

    @property
    def saved(self) -> float:
        """About how many seconds were saved by reading what was stored before.

        That is what computing those rows would have cost, by the seconds a row that were measured when they were
        stored, less the same share of the seconds that reading the result took.
        """
        fragments = [fragment for fragment in self.plan.fragments if fragment.rows]
        if not self.rows or not fragments:
            return 0.0
        old = max(0, self.rows - self.computed)
        taken = {fragment.id: min(fragment.rows, old) for fragment in fragments}
        worth = 0.0
        for fragment in fragments:
            # Several fragments of one attribute hold different sources: together they give no more than there are.
            alike = sum(taken[one.id] for one in fragments if _values(one) & _values(fragment))
            worth += fragment.seconds / fragment.rows * taken[fragment.id] * min(1.0, old / max(1, alike))
        return max(0.0, worth - self.seconds * old / self.rows)


def _values(fragment: Fragment) -> frozenset[str]:
    """Return the identities of what a fragment holds besides the key."""
    return frozenset(identity for identity in fragment.identities if not is_key(identity))


@contextmanager
def recorded(database: Database, plan: Plan) -> Iterator[Recorder]:
    """Record that a plan runs while the body does, how long it takes, and how it ends, if it can be written."""
    if database.read_only:
        yield Recorder(plan)
        return
    with database.writing() as writing:
        number = runs.begin(writing, plan.what, catalog=None if plan.catalog is None else plan.catalog.digest)
    run = Recorder(plan, number)
    began = monotonic()
    outcome: Outcome = "failed"
    try:
        yield run
        outcome = "done"
    except KeyboardInterrupt:
        outcome = "cancelled"
        raise
    finally:
        # What was computed is not lost for the lack of a note of it.
        with suppress(ArchiveBusyError), database.writing() as writing:
            runs.end(
                writing,
                number,
                outcome,
                seconds=monotonic() - began,
                rows=run.rows,
                reused=reused_attributes(run.plan),
                computed=computed_attributes(run.plan),
                fragments=[one.id for one in run.plan.fragments],
                saved=run.saved if outcome == "done" else None,
            )


def told(reading: Reading, catalog: str | None = None, most: int = 100, number: int | None = None) -> list[Ran]:
    """Return the latest runs, or the latest of one catalog, or the one that has a number; the latest first."""
    found = runs.recent(reading, most, catalog=catalog, number=number)
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
