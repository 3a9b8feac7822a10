"""Plans for the same request with less knowledge: without lost fragments, or without declared facts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

from provenn.targets.plan import Plan
from provenn.targets.rewriting import rewrite_plan
from provenn.targets.scene import Scene
from provenn.targets.sizes import check_plan_size

__all__ = ["replan_without_declared", "replan_without_fragments"]

P = TypeVar("P", bound=Plan)


def replan_without_fragments(plan: P, lost: Collection[int]) -> P:
    """Return a plan for the same request that reads none of the lost fragments."""
    kept = (stored for stored in plan.scene.fragments if stored.fragment.id not in lost)
    return _rewrite_in_scene(plan, plan.scene.keep_fragments(kept))


def replan_without_declared(plan: P) -> P:
    """Return a plan for the same request without declared facts and fragments based on declared facts."""
    return _rewrite_in_scene(plan, plan.scene.drop_declared_facts())


def _rewrite_in_scene(plan: P, scene: Scene) -> P:
    """Return a plan whose literal steps are rewritten with the knowledge of a scene."""
    after, applied = rewrite_plan(plan.before, plan.needed, scene)
    check_plan_size(after, plan.what)
    return replace(plan, after=after, applied=applied, scene=scene)
