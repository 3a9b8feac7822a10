"""Rule: drop members of intersections, differences and unions that change nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from provenn.catalogs.extent import Extent, union
from provenn.criteria import AttributeIdentity
from provenn.logic import Statement
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene, split_intersection
from provenn.targets.steps import Concat, Exclude, PlanStep, Restrict

__all__ = ["redundant_members"]


def redundant_members(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Drop the redundant member of an intersection, a difference or a union.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.logic import subset
    >>> from provenn.targets.rules.examples import BRIGHT, STARS, TYCHO, show_rewrite
    >>> show_rewrite(redundant_members, verbs.restrict(BRIGHT, STARS))
    restrict(select(stars), stars)
    -> select(stars)
    >>> show_rewrite(redundant_members, verbs.restrict(STARS, TYCHO), subset(STARS.digest, TYCHO.digest))
    restrict(stars, tycho)
    -> stars
    """
    match step:
        case Restrict(input=input_step, other=other) if scene.lies_in(input_step.extent, other.extent):
            statement = scene.state_inside(input_step.extent, other.extent)
            return Rewrite(input_step, "the other catalog has all these sources", (statement,))
        case Exclude(input=input_step, other=other):
            statement = scene.state_disjoint(input_step.extent, other.extent)
            if scene.is_proved(statement):
                return Rewrite(input_step, "the other catalog has none of these sources", (statement,))
        case Concat(members=(member,)) if all(
            identities == (attribute.identity,) for attribute, identities in step.columns
        ):
            return Rewrite(member, "it is the only member")
        case Concat():
            return _shrink_union(step, needed, scene)
    return None


def _shrink_union(step: Concat, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Drop the members whose sources the other members give with the same values.

    Earlier members always qualify; later members only if all members give the same values. If no two members share a
    source, one question decides: only a member without sources is redundant, and `empty_branches` drops that. A member
    is compared only with those that can have its sources by what is known, so that there are few questions about many
    unrelated members; and all members are compared at once (`provenn.logic.covered_sets`).
    """
    if all(map(scene.is_proved, scene.state_apart(member.extent for member in step.members))):
        return None
    columns = [identities for attribute, identities in step.columns if attribute.identity in needed]
    is_uniform = all(len(set(identities)) == 1 for identities in columns)
    extents = [member.extent for member in step.members]
    compared = _find_related(extents, scene.find_forced_labels(extents))
    covered = scene.find_covered([extents[position] for position in compared], by_later=is_uniform)
    dropped = {compared[place] for place in covered}
    statements = _state_coverage(scene, extents, compared, dropped, by_later=is_uniform)
    if not dropped or not all(map(scene.is_proved, statements)):
        return None
    kept = [position for position in range(len(extents)) if position not in dropped]
    narrowed = tuple((attribute, tuple(identities[index] for index in kept)) for attribute, identities in step.columns)
    members = tuple(step.members[index] for index in kept)
    smaller = Concat(members, narrowed, step.is_disjoint or len(members) == 1, step.sources)
    whose = "its" if len(dropped) == 1 else "their"
    return Rewrite(smaller, f"the other members provide all {whose} sources", statements)


def _state_coverage(
    scene: Scene, extents: Sequence[Extent], compared: Sequence[int], dropped: Collection[int], *, by_later: bool
) -> tuple[Statement, ...]:
    """Return the statements that the kept members have the sources of the dropped ones.

    If only earlier members count, each dropped member has a statement of its own.
    """
    kept = [position for position in compared if position not in dropped]
    if by_later:
        groups = [(sorted(dropped), kept)] if dropped else []
    else:
        groups = [([place], [position for position in kept if position < place]) for place in sorted(dropped)]
    return tuple(
        scene.state_inside(
            union(extents[position] for position in inside), union(extents[position] for position in around)
        )
        for inside, around in groups
    )


def _find_related(extents: Sequence[Extent], forced: frozenset[str]) -> list[int]:
    """Return the positions of sets that can share all sources of another set by what is known, or whose sources can.

    A source of a set can be left out of every label that nothing forces it into, unless its own set is made with that
    label. So a set inside such a label is not needed to cover it. Fewer sets make a stronger statement: this is only
    about what is worth asking.
    """
    free = [
        frozenset(part.label for part in split_intersection(extent).values() if part.label and not part.complemented)
        - forced
        for extent in extents
    ]
    if not all(free):  # such a set can cover every other
        return list(range(len(extents)))
    by_label: dict[str, list[int]] = {}
    for position, labels in enumerate(free):
        by_label.setdefault(min(labels), []).append(position)
    related: set[int] = set()
    for position, extent in enumerate(extents):
        own = frozenset(extent.labels)
        inside = {place for label in own for place in by_label.get(label, ()) if free[place] <= own} - {position}
        related |= {position, *inside} if inside else set()
    return sorted(related)
