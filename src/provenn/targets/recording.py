"""Recording a run: the duration, the outcome, and the seconds saved by reuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Generic, TypeVar

from provenn.criteria import AttributeIdentity
from provenn.data import run_records
from provenn.data.fragments import Fragment
from provenn.data.run_records import Outcome
from provenn.database.transactions import Database, Writing
from provenn.targets.plan import Plan
from provenn.targets.steps import is_key
from provenn.targets.ways import find_computed_attributes, find_reused_attributes

__all__ = ["Recorder", "record_run"]

P = TypeVar("P", bound=Plan)


@dataclass(slots=True)
class Recorder(Generic[P]):
    """The values to record when a run ends.

    Attributes
    ----------
    plan
        The executed plan.
    number
        The number of the run; None if the run is not recorded.
    rows
        The number of resulting sources; None while unknown.
    computed
        The number of these sources that the run itself computed and stored.
    seconds
        The seconds of reading the result afterwards.
    facts
        The numbers of the declared and observed facts on which the result rests.
    doubtful
        Whether the result cannot be right, because it rests on a wrong declared fact.
    """

    plan: P
    number: int | None = None
    rows: int | None = None
    computed: int = 0
    seconds: float = 0.0
    facts: tuple[int, ...] = ()
    doubtful: bool = False

    @contextmanager
    def measure_reading(self) -> Iterator[None]:
        """Measure the seconds of the body, which reads the result."""
        began = monotonic()
        yield
        self.seconds = monotonic() - began

    @property
    def saved(self) -> float:
        """The approximate seconds saved by reading fragments stored earlier.

        The saved seconds are the cost of computing these rows, by the seconds per row measured when the fragments were
        stored, less the same share of the seconds of reading the result.
        """
        fragments = [fragment for fragment in self.plan.fragments if fragment.rows]
        if not self.rows or not fragments:
            return 0.0
        old = max(0, self.rows - self.computed)
        taken = {fragment.id: min(fragment.rows, old) for fragment in fragments}
        worth = 0.0
        for fragment in fragments:
            # Fragments of the same attribute hold different sources: together they give at most all sources.
            alike = sum(
                taken[other.id] for other in fragments if _get_value_identities(other) & _get_value_identities(fragment)
            )
            worth += fragment.seconds / fragment.rows * taken[fragment.id] * min(1.0, old / max(1, alike))
        return max(0.0, worth - self.seconds * old / self.rows)


def _get_value_identities(fragment: Fragment) -> frozenset[AttributeIdentity]:
    """Return the identities of a fragment's attributes without the key."""
    return frozenset(identity for identity in fragment.identities if not is_key(identity))


@contextmanager
def record_run(database: Database, plan: P) -> Iterator[Recorder[P]]:
    """Record the run of a plan around the body, with its duration and outcome, if the database can be written."""
    if database.read_only:
        yield Recorder(plan)
        return

    def begin(writing: Writing, ago: float = 0.0) -> int:
        digest = None if plan.catalog is None else plan.catalog.digest
        return run_records.begin_run(writing, plan.what, catalog=digest, at=writing.when - timedelta(seconds=ago))

    def end(writing: Writing) -> None:
        seconds = monotonic() - began
        run_records.end_run(
            writing,
            begin(writing, seconds) if run.number is None else run.number,
            outcome,
            seconds=seconds,
            rows=run.rows,
            reused=find_reused_attributes(run.plan),
            computed=find_computed_attributes(run.plan),
            fragments=[fragment.id for fragment in run.plan.fragments],
            saved=run.saved if outcome == "done" else None,
        )

    run = Recorder(plan, database.note(begin))
    began = monotonic()
    outcome: Outcome = "failed"
    try:
        yield run
        outcome = "done"
    except KeyboardInterrupt:
        outcome = "cancelled"
        raise
    finally:
        database.note(end)  # a failed note must not lose the computed result
