"""Rule: do not compare members of a union that share no source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenn.catalogs import Extent
from provenn.catalogs.extent import union
from provenn.criteria import AttributeIdentity
from provenn.targets.gathering import find_places, gather_rows, needs_more_calls
from provenn.targets.pruning import prune_step
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Concat, Exclude, PlanStep, walk_steps

__all__ = ["disjoint_members"]


def disjoint_members(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Prove members disjoint, or reduce each member to the sources outside all earlier members.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import BRIGHT, STARS, show_rewrite
    >>> show_rewrite(disjoint_members, verbs.concat(BRIGHT, verbs.select(STARS, "vmag > 9")))
    concat(select(stars), select(stars))
    -> disjoint concat(select(stars), select(stars))
    >>> show_rewrite(disjoint_members, verbs.concat(BRIGHT, verbs.select(STARS, "plx > 9")))
    concat(select(stars), select(stars))
    -> disjoint concat(select(stars), select(stars))
    """
    if not isinstance(step, Concat):
        return None
    if step.is_disjoint:
        return _flatten_unions(step)
    statements = scene.state_apart(member.extent for member in step.members)
    if all(map(scene.is_proved, statements)):
        apart = Concat(step.members, step.columns, True, step.sources)
        return Rewrite(apart, "no two members share a source", statements)
    members = [step.members[0]]
    for position, (member, read) in enumerate(zip(step.members, step.reads(needed), strict=True)):
        if position > 0:
            rest = _subtract_by_rows(scene, member, union(earlier.extent for earlier in step.members[:position]), read)
            if rest is None and not _calculates(step):
                return None
            members.append(_subtract_by_keys(scene, member, step.members[:position]) if rest is None else rest)
    apart = Concat(tuple(members), step.columns, True, step.sources)
    return Rewrite(apart, "each member gives only the sources that no earlier one gives")


def _subtract_by_rows(
    scene: Scene, member: PlanStep, before: Extent, read: frozenset[AttributeIdentity]
) -> PlanStep | None:
    """Return the member without a set, decided on rows and without further calculations; None if impossible."""
    candidates = (gather_rows(scene, place, member.extent - before, read) for place in find_places(member))
    return next(
        (
            candidate
            for candidate in candidates
            if candidate is not None and not needs_more_calls(scene, candidate, member)
        ),
        None,
    )


def _subtract_by_keys(scene: Scene, member: PlanStep, earlier: Sequence[PlanStep]) -> PlanStep:
    """Return the member without the sources of earlier members, by key.

    Calculators of the member are then called for the remaining sources only.
    """
    for other in _find_overlapping(scene, member.extent, earlier):
        if not scene.is_proved(scene.state_disjoint(member.extent, other.extent)):
            member = Exclude(member, prune_step(other, frozenset()))
    return member


def _find_overlapping(scene: Scene, extent: Extent, earlier: Sequence[PlanStep]) -> Iterator[PlanStep]:
    """Yield the steps that may share sources with a set, in order.

    A set that shares no source with a union shares none with its members, so that one question decides about many.
    """
    groups = [earlier]
    while groups:
        group = groups.pop()
        if scene.is_proved(scene.state_disjoint(extent, union(step.extent for step in group))):
            continue
        if len(group) == 1:
            yield group[0]
        else:
            half = len(group) // 2
            groups += [group[half:], group[:half]]


def _calculates(step: Concat) -> bool:
    return any(isinstance(ancestor, Calculate) for ancestor in walk_steps(*step.members[1:]))


def _flatten_unions(step: Concat) -> Rewrite | None:
    """Put the members of an inner union beside the other members."""
    for position, member in enumerate(step.members):
        if isinstance(member, Concat) and member.is_disjoint:
            inner = {attribute.identity: identities for attribute, identities in member.columns}
            columns = tuple(
                (attribute, (*identities[:position], *inner[identities[position]], *identities[position + 1 :]))
                for attribute, identities in step.columns
                if identities[position] in inner
            )
            members = (*step.members[:position], *member.members, *step.members[position + 1 :])
            return Rewrite(Concat(members, columns, True, step.sources), "a union of unions is one union")
    return None
