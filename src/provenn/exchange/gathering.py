"""Gather the claims of all events of a file about each dataset and each job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from provenn.exchange.reading import Dataset, Event, JobQuery, Mention

__all__ = ["MOST_PLANS", "DatasetClaims", "GatheredEvents", "JobClaims", "gather_events"]

_DEFINING = ("columnLineage", "lineage", "provenn_definition")
"""Facets that state the origin of a dataset; if they differ, the origin is unknown."""

MOST_PLANS = 4
"""How many plans a job may state: runs of one program state the same."""

_SEVERAL = object()
"""A placeholder for several conditions of a run on a dataset, so that no single condition limits the dataset."""


@dataclass(slots=True)
class DatasetClaims:
    """The claims of events about a dataset.

    Attributes
    ----------
    facets
        The latest content of each facet.
    writers
        The jobs that write the dataset.
    is_written_in_part
        Whether a job writes only a part of the dataset.
    is_contradictory
        Whether events contradict each other about the origin of the dataset.
    """

    facets: dict[str, Any] = field(default_factory=dict)
    writers: set[tuple[str, str]] = field(default_factory=set)
    is_written_in_part: bool = False
    is_contradictory: bool = False

    def add_facets(self, facets: Mapping[str, Any]) -> None:
        """Add the facets of an event."""
        for name, content in facets.items():
            if name in _DEFINING and self.facets.setdefault(name, content) != content:
                self.is_contradictory = True
            self.facets[name] = content


@dataclass(slots=True)
class JobClaims:
    """The claims of events about a job.

    Attributes
    ----------
    runs
        For each run, the datasets that it reads, with the condition that limits each dataset, or None.
    has_failed
        Whether a run failed.
    queries
        The SQL of the job, in the wordings of all events.
    outputs
        The datasets that the job writes.
    has_plan
        Whether an event has a logical plan of Spark.
    plans
        The different plans of the job, at most `MOST_PLANS` and one.
    """

    runs: dict[str, dict[Dataset, Any]] = field(default_factory=dict)
    has_failed: bool = False
    queries: set[JobQuery] = field(default_factory=set)
    outputs: set[Dataset] = field(default_factory=set)
    has_plan: bool = False
    plans: set[str] = field(default_factory=set)

    def add_inputs(self, run: str, mentions: Iterable[Mention]) -> None:
        """Add the inputs of a run, according to an event."""
        conditions: dict[Dataset, list[Any]] = {}
        for mention in mentions:
            subset = mention.role.get("subset")
            condition = subset.get("inputCondition") if isinstance(subset, dict) else None
            conditions.setdefault(mention.dataset, []).append(condition)
        inputs = self.runs.setdefault(run, {})
        for dataset, alternatives in conditions.items():
            # Events of a run add up. A dataset that an event mentions twice is read under all of its conditions.
            condition = alternatives[0] if all(other == alternatives[0] for other in alternatives) else _SEVERAL
            inputs[dataset] = condition if inputs.get(dataset) in (None, condition) else _SEVERAL

    @property
    def inputs(self) -> dict[Dataset, Any]:
        """The inputs of all runs, with the condition common to all runs, or None."""
        runs = [inputs for inputs in self.runs.values() if inputs]
        datasets = dict.fromkeys(dataset for inputs in runs for dataset in inputs)
        conditions = {dataset: [inputs.get(dataset) for inputs in runs] for dataset in datasets}
        return {
            dataset: first if first is not _SEVERAL and all(other == first for other in rest) else None
            for dataset, (first, *rest) in conditions.items()
        }


@dataclass(slots=True)
class GatheredEvents:
    """The content of a file: datasets in the order of their occurrence, jobs, and the number of events."""

    datasets: dict[Dataset, DatasetClaims] = field(default_factory=dict)
    jobs: dict[tuple[str, str], JobClaims] = field(default_factory=dict)
    events: int = 0


def gather_events(events: Iterable[Event]) -> GatheredEvents:
    """Combine the claims of events."""
    gathered = GatheredEvents()
    for event in events:
        gathered.events = event.number
        for mention in (*event.inputs, *event.outputs, *event.mentioned):
            gathered.datasets.setdefault(mention.dataset, DatasetClaims()).add_facets(mention.facets)
        if event.job is None:
            continue
        job = gathered.jobs.setdefault(event.job, JobClaims())
        job.has_failed |= event.has_failed
        job.has_plan |= event.has_plan
        if event.plan and len(job.plans) <= MOST_PLANS:
            job.plans.add(event.plan)
        job.outputs.update(mention.dataset for mention in event.outputs)
        if event.query is not None:
            job.queries.add(event.query)
        job.add_inputs(event.run, event.inputs)
        for mention in event.outputs:
            claims = gathered.datasets[mention.dataset]
            claims.writers.add(event.job)
            claims.is_written_in_part |= bool(mention.role.get("subset"))
    return gathered
