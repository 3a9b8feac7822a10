"""Rule: look up attributes of partners last, for the remaining sources only."""

from __future__ import annotations

from dataclasses import replace

from provenn.criteria import AttributeIdentity
from provenn.targets.reference_steps import Lookup, Partnered
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Combine, Exclude, PlanStep, Restrict

__all__ = ["look_up_last"]

_BECAUSE = "partners are looked up only for the remaining sources"


def look_up_last(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Move a lookup behind a following join, restriction or difference.

    Sound: a lookup adds values to a source and drops a source without a partner, whatever other sources there are.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import DETECTIONS, STARS, show_rewrite
    >>> looked_up = verbs.lookup(DETECTIONS, STARS, on="star", attributes=["vmag"])
    >>> show_rewrite(look_up_last, verbs.restrict(looked_up, verbs.select(DETECTIONS, "mag < 20")))
    restrict(lookup(detections, stars), select(detections))
    -> lookup(restrict(detections, select(detections)), stars)
    """
    match step:
        case Restrict(input=Lookup() as lookup, other=other):
            return _move_behind(step, lookup, Restrict(lookup.input, other))
        case Exclude(input=Lookup() as lookup, other=other):
            return _move_behind(step, lookup, Exclude(lookup.input, other))
        case Partnered(input=Lookup(keeps_all=True) as lookup, own=own) if lookup.input.attributes.keys() >= set(own):
            return _move_behind(step, lookup, replace(step, input=lookup.input))
        case Combine(members=members):
            for position, member in enumerate(members):
                if isinstance(member, Lookup):
                    rest = (*members[:position], member.input, *members[position + 1 :])
                    return _move_behind(step, member, Combine(rest))
    return None


def _move_behind(step: PlanStep, lookup: Lookup, rest: PlanStep) -> Rewrite:
    """Put a lookup behind the rest; the sources are those of the step."""
    return Rewrite(replace(lookup, input=rest, sources=step.extent), _BECAUSE)
