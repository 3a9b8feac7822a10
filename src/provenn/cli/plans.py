"""Plans, as text and as JSON."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from provenn.cli.archives import fact_data
from provenn.cli.output import write_text

if TYPE_CHECKING:
    from provenn.display.plan import PlanNode
    from provenn.display.row_counts import Rows
    from provenn.words.described_plan import DescribedPlan

__all__ = ["plan_data", "write_plan"]

_WIDTH = 120
"""The width of a plan in characters where the output is not a terminal."""


def write_plan(plan: DescribedPlan, why: bool) -> None:
    """Write a plan, as wide as the terminal; with `why`, also the proofs."""
    write_text(plan.text(shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH))
    if why:
        write_text(f"\nengine: {plan.engine}")
        for reason in plan.reasons:
            if reason.statements:
                write_text(f"\n{reason}, because")
                for line in reason.proof:
                    write_text(f"  {line}")


def plan_data(plan: DescribedPlan) -> dict[str, Any]:
    """Return a plan as JSON data."""
    plan_picture = plan.picture
    return {
        "what": plan_picture.title,
        "attributes": [column.name for column in plan.columns],
        "empty": plan.empty,
        "rows": row_count_data(plan.rows),
        "rests_on": [fact_data(fact) for fact in plan.rests_on],
        "before": _node_data(plan_picture.before),
        "after": _node_data(plan_picture.after),
        "reasons": [
            {
                "rule": reason.rule,
                "because": reason.because,
                "statements": [str(statement) for statement in reason.statements],
                "proof": list(reason.proof),
            }
            for reason in plan.reasons
        ],
        "fragments": [fragment.id for fragment in plan.fragments],
        "calculators": [calculation.calculator.function for calculation in plan.calculations],
        "created": [catalog.digest for catalog in plan.created],
        "caveats": list(plan.caveats),
        "engine": plan.engine,
        "notes": {heading.lower(): list(lines) for heading, lines in plan_picture.notes},
    }


def row_count_data(rows: Rows) -> dict[str, int | None]:
    """Return a number of rows as JSON data: bounds and estimate."""
    return {"low": rows.low, "high": rows.high, "estimate": rows.estimate}


def _node_data(node: PlanNode) -> dict[str, Any]:
    """Return a step of a plan and its inputs as JSON data."""
    return {
        "label": node.label,
        "what": node.what,
        "rows": row_count_data(node.rows),
        "because": node.because or None,
        "inputs": [_node_data(input_node) for input_node in node.inputs],
    }
