"""Events as Spark, dbt and others write them, made from short words."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

__all__ = ["compare", "dataset", "events_file", "job", "lineage", "same", "twice"]

NAMESPACE = "warehouse"


def events_file(*events: dict[str, Any]) -> BytesIO:
    """Return a file with these events, one a line."""
    return BytesIO("\n".join(map(json.dumps, events)).encode())


def dataset(name: str, columns: str = "", version: str = "", **facets: Any) -> dict[str, Any]:
    """Return a dataset; columns are written ``"hip bigint, vmag double"``."""
    message: dict[str, Any] = dict(facets)
    if columns:
        fields = [word.split() for word in columns.split(",")]
        message["schema"] = {"fields": [{"name": field, "type": kind} for field, kind in fields]}
    if version:
        message["version"] = {"datasetVersion": version}
    return {"namespace": NAMESPACE, "name": name, "facets": message}


def job(
    name: str, inputs: Sequence[dict[str, Any]], outputs: Sequence[dict[str, Any]], *, run: str = "", state: str = ""
) -> dict[str, Any]:
    """Return an event of a job, or of a run of it."""
    event: dict[str, Any] = {
        "eventTime": "2026-01-01T00:00:00Z",
        "job": {"namespace": "jobs", "name": name},
        "inputs": list(inputs),
        "outputs": list(outputs),
    }
    return event | ({"run": {"runId": run}, "eventType": state or "COMPLETE"} if run else {})


def same(source: str, column: str, kind: str = "DIRECT", subtype: str = "IDENTITY") -> dict[str, Any]:
    """Return a field that something depends on: it is taken over unchanged, if nothing else is said."""
    changes = [{"type": kind, "subtype": subtype}]
    return {"namespace": NAMESPACE, "name": source, "field": column, "transformations": changes}


def lineage(whole: Sequence[dict[str, Any]] = (), **fields: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return column lineage."""
    return {"fields": {name: {"inputFields": list(read)} for name, read in fields.items()}, "dataset": list(whole)}


def compare(field: str, comparison: str, value: object) -> dict[str, Any]:
    """Return a condition under which a dataset is read."""
    left, right = {"type": "field", "field": field}, {"type": "literal", "value": str(value)}
    return {"type": "compare", "comparison": comparison, "left": left, "right": right}


def twice(batch: Any) -> Any:
    """Double the magnitudes: a calculator."""
    return batch.assign(double=2 * batch["vmag"])[["double"]]
