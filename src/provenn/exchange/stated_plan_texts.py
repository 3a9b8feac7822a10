"""The plans of Spark in the facets of runs, as texts that are equal for all runs of a job."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["find_plan", "has_plan"]

_PLANS = ("spark.logicalPlan", "spark_logicalPlan")
_PARTS_OF_PLANS = "spark_unknown"
"""Facets of runs with a logical plan of Spark, and with parts of one."""
_TIMES = ("createTime", "lastAccessTime")


def has_plan(facets: object) -> bool:
    """Return whether the facets of a run have a logical plan of Spark, or parts of one."""
    return isinstance(facets, dict) and any(name in facets for name in (*_PLANS, _PARTS_OF_PLANS))


def find_plan(facets: object) -> str:
    """Return the nodes of the logical plan in JSON; empty if the facets of a run have none in the form of Spark.

    What differs between the runs of a job is left out: numbers of columns are counted anew, and there are no times.

    >>> find_plan({"spark.logicalPlan": {"plan": [{"class": "org.apache.Range", "num-children": 0}]}})
    '[{"class": "org.apache.Range", "num-children": 0}]'
    """
    for name in _PLANS:
        match facets:
            case {**stated} if isinstance(facet := stated.get(name), dict):
                nodes = facet.get("plan")
                if isinstance(nodes, list) and nodes and all(isinstance(node, dict) for node in nodes):
                    try:
                        return json.dumps(_rewrite(nodes, {}))
                    except RecursionError:
                        return ""
    return ""


def _rewrite(value: Any, numbers: dict[tuple[str, str], int]) -> Any:  # noqa: ANN401 - JSON
    """Return a value of JSON without what differs between runs."""
    match value:
        case {"product-class": str(kind), "id": number, "jvmId": machine} if kind.endswith(".ExprId"):
            return {"id": numbers.setdefault((str(number), str(machine)), len(numbers))}
        case dict():
            return {name: _rewrite(part, numbers) for name, part in value.items() if name not in _TIMES}
        case list():
            return [_rewrite(part, numbers) for part in value]
    return value
