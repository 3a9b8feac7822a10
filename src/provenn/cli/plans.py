"""Plans, for people and for programs."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from provenn.cli.archives import fact_data
from provenn.cli.output import write_text

if TYPE_CHECKING:
    from provenn.display.plan import PlanNode
    from provenn.display.rows import Rows
    from provenn.targets.plan import Plan

__all__ = ["plan_data", "write_plan"]

_WIDTH = 120
"""How wide a plan is where no terminal says."""


def write_plan(plan: Plan, why: bool) -> None:
    """Write a plan, as wide as the terminal; with the proofs, if they are asked for."""
    write_text(plan.text(shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH))
    if why:
        for one in plan.reasons:
            if one.statements:
                write_text(f"\n{one}, because")
                for line in one.proof:
                    write_text(f"  {line}")


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return a plan for programs."""
    from provenn.targets.telling import picture  # noqa: PLC0415 - only where a plan is shown

    told = picture(plan)
    return {
        "what": told.title,
        "attributes": [one.name for one in plan.columns],
        "empty": plan.empty,
        "rows": rows_data(plan.rows),
        "rests_on": [fact_data(fact) for fact in plan.rests_on],
        "before": _node_data(told.before),
        "after": _node_data(told.after),
        "reasons": [
            {
                "rule": one.rule,
                "because": one.because,
                "statements": [str(said) for said in one.statements],
                "proof": list(one.proof),
            }
            for one in plan.reasons
        ],
        "fragments": [one.id for one in plan.fragments],
        "calculators": [one.calculator.function for one in plan.calculations],
        "created": [one.digest for one in plan.created],
        "caveats": list(plan.caveats),
        "notes": {heading.lower(): list(lines) for heading, lines in told.notes},
    }


def rows_data(rows: Rows) -> dict[str, int | None]:
    """Return a number of rows for programs: its bounds, and a guess between them."""
    return {"low": rows.low, "high": rows.high, "estimate": rows.estimate}


def _node_data(node: PlanNode) -> dict[str, Any]:
    return {
        "label": node.label,
        "what": node.what,
        "rows": rows_data(node.rows),
        "because": node.because or None,
        "inputs": [_node_data(one) for one in node.inputs],
    }
