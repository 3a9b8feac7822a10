"""The sources that a plan matches, with the reasons, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provenn.targets.match_steps import Match
from provenn.targets.rules.continue_match import continue_match, explain_whole_match

if TYPE_CHECKING:
    from provenn.targets.plan import Plan

__all__ = ["explain_matches"]


def explain_matches(plan: Plan) -> list[str]:
    """Return, for each match that a plan computes, which of its sources are matched and why."""
    reasons: dict[str, None] = {}
    pending, seen = [(plan.after, plan.needed)], set[int]()
    while pending:
        step, needed = pending.pop()
        if step.signature in seen:
            continue
        seen.add(step.signature)
        if isinstance(step, Match):
            reasons[explain_whole_match(step, needed, plan.scene) or "its pairs are matched as a whole"] = None
        pending.extend(zip(step.inputs, step.reads(needed), strict=True))
    reasons |= {rule.because: None for rule in plan.applied if rule.rule == continue_match.__name__}
    return list(reasons)
