"""Recorded runs, described in the user's names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from provenn.data import run_records
from provenn.data.run_records import Run
from provenn.database.transactions import Reading
from provenn.definitions import attributes, catalog_names
from provenn.digests import CatalogDigest
from provenn.errors import ArgumentsError
from provenn.words.vocabulary import SHORT

__all__ = ["Ran", "list_runs"]

_LONGEST = timedelta(days=1)  # a run that has not ended by then never will


@dataclass(frozen=True, slots=True)
class Ran:
    """A run, described in the user's names.

    Attributes
    ----------
    number
        The unique number of the run.
    target
        The request.
    catalog, name
        The digest and the name of the requested catalog; None if the archive does not hold it.
    by, started_at
        The person, and the time of the start.
    outcome
        ``"done"``, ``"failed"``, ``"cancelled"``; ``"not ended"``: the run is active, or its process died;
        ``"never ended"``: the run began more than a day ago, so its process must have died.
    seconds, rows
        The duration, and the number of resulting sources; None if the run has not ended well.
    reused, computed
        The sorted names of attributes with values read from fragments, and of attributes with values derived,
        calculated or matched. An attribute stored for a part of the sources is in both; an attribute of base files is
        in neither.
    fragments
        The numbers of the fragments that were read.
    saved
        An estimate of the seconds saved by reuse: for each row read from a fragment, the seconds of computing a row
        when the fragment was stored, less the seconds of reading. None if the run did not end well.
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


def list_runs(
    reading: Reading, catalog: CatalogDigest | None = None, most: int = 100, number: int | None = None
) -> list[Ran]:
    """Return the latest runs, optionally of a catalog or with a number, the latest first."""
    if not isinstance(most, int) or most < 0:
        raise ArgumentsError(f"expected a number of runs, got {most!r}", hint="pass a whole number, 0 or more")
    recorded_runs = run_records.find_recent_runs(reading, most, catalog=catalog, number=number)
    names_by_catalog = catalog_names.find_names_by_digest(
        reading, {run.catalog for run in recorded_runs if run.catalog is not None}
    )
    unnamed = {
        identity for run in recorded_runs for identity in (*run.reused, *run.computed) if identity not in run.names
    }
    words = attributes.find_names_by_identity(reading, unnamed) if unnamed else {}

    def describe_run(run: Run) -> Ran:
        attribute_names = {**words, **run.names}
        name = run.catalog and next(iter(names_by_catalog.get(run.catalog, ())), run.catalog[:SHORT])
        others = reading.viewer not in (None, run.by)
        return Ran(
            run.id,
            (name or "") if others else run.target,  # requests of others are shown by a name visible to the viewer
            run.catalog,
            name,
            run.by,
            run.started_at,
            run.outcome or ("never ended" if datetime.now(UTC) - run.started_at > _LONGEST else "not ended"),
            run.seconds,
            run.rows,
            tuple(sorted(attribute_names.get(identity, identity) for identity in run.reused)),
            tuple(sorted(attribute_names.get(identity, identity) for identity in run.computed)),
            () if others else run.fragments,
            run.saved,
        )

    return [describe_run(run) for run in recorded_runs]
