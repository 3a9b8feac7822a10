"""What all events of a file say together of each dataset and of each job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from provenn.exchange.reading import Dataset, Event, Mention

__all__ = ["Gathered", "Job", "Known", "gathered"]

_DEFINING = ("columnLineage", "lineage", "provenn_definition")
"""Facets that say where a dataset comes from: if they differ, it is not known."""

_SEVERAL = object()
"""In place of a condition: a run reads a dataset under several, so that none of them limits it."""


@dataclass(slots=True)
class Known:
    """What is said of a dataset.

    Attributes
    ----------
    facets
        Its facets; the latest of each.
    written_by
        The jobs that write it.
    written_in_part
        Whether a job writes only a part of it.
    differing
        Whether events contradict each other about where it comes from.
    """

    facets: dict[str, Any] = field(default_factory=dict)
    written_by: set[tuple[str, str]] = field(default_factory=set)
    written_in_part: bool = False
    differing: bool = False

    def add(self, facets: Mapping[str, Any]) -> None:
        """Take note of facets."""
        for name, content in facets.items():
            if name in _DEFINING and self.facets.setdefault(name, content) != content:
                self.differing = True
            self.facets[name] = content


@dataclass(slots=True)
class Job:
    """What is said of a job.

    Attributes
    ----------
    runs
        For each run, what it reads; of each dataset, the condition that limits it, or None if nothing is said of it.
    failed
        Whether a run failed.
    """

    runs: dict[str, dict[Dataset, Any]] = field(default_factory=dict)
    failed: bool = False

    def read(self, run: str, mentions: Iterable[Mention]) -> None:
        """Take note of what a run reads, in one of its events."""
        conditions: dict[Dataset, list[Any]] = {}
        for one in mentions:
            subset = one.role.get("subset")
            said = subset.get("inputCondition") if isinstance(subset, dict) else None
            conditions.setdefault(one.dataset, []).append(said)
        known = self.runs.setdefault(run, {})
        for dataset, said in conditions.items():
            # Events of a run add to each other; within an event, a dataset that is read twice is read by all it says.
            condition = said[0] if all(one == said[0] for one in said) else _SEVERAL
            known[dataset] = condition if known.get(dataset) in (None, condition) else _SEVERAL

    @property
    def inputs(self) -> dict[Dataset, Any]:
        """What all runs read; of each dataset, the condition that all runs have, or None."""
        reading = [one for one in self.runs.values() if one]
        found = dict.fromkeys(dataset for one in reading for dataset in one)
        said = {dataset: [one.get(dataset) for one in reading] for dataset in found}
        return {
            dataset: first if first is not _SEVERAL and all(one == first for one in rest) else None
            for dataset, (first, *rest) in said.items()
        }


@dataclass(slots=True)
class Gathered:
    """What a file says: datasets in the order in which they occur, jobs, and how many events there are."""

    datasets: dict[Dataset, Known] = field(default_factory=dict)
    jobs: dict[tuple[str, str], Job] = field(default_factory=dict)
    events: int = 0


def gathered(events: Iterable[Event]) -> Gathered:
    """Bring together what events say."""
    found = Gathered()
    for event in events:
        found.events = event.number
        for one in (*event.inputs, *event.outputs, *event.mentioned):
            found.datasets.setdefault(one.dataset, Known()).add(one.facets)
        if event.job is None:
            continue
        job = found.jobs.setdefault(event.job, Job())
        job.failed |= event.failed
        job.read(event.run, event.inputs)
        for one in event.outputs:
            known = found.datasets[one.dataset]
            known.written_by.add(event.job)
            known.written_in_part |= bool(one.role.get("subset"))
    return found
