"""Rule: do not read members of a union that have none of the selected sources."""

from __future__ import annotations

from provenn.catalogs.extent import union
from provenn.criteria import AttributeIdentity
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Concat, Derive, Fill, Nothing, PlanStep, Select

__all__ = ["irrelevant_members"]

_TRIED = 8
"""How many members, spread over all, are tried first; if each may have selected sources, the others are not tried."""


def irrelevant_members(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Drop the members of a union that share no source with a selection from the union.

    Sound: a selected source is in none of the dropped members, so the same member gives its row. A source of a
    remaining member is in none of the dropped members, so its row is the same as before, selected or not as before.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.logic import disjoint
    >>> from provenn.targets.rules.examples import STARS, TYCHO, show_rewrite
    >>> both = verbs.concat(verbs.keep(STARS, ["hip"]), verbs.keep(TYCHO, ["hip"]))
    >>> selection = verbs.select(both, "hip < 100")
    >>> facts = disjoint(STARS.digest, TYCHO.digest), disjoint(selection.digest, TYCHO.digest)
    >>> show_rewrite(irrelevant_members, selection, *facts)
    select(concat(stars, tycho))
    -> select(disjoint concat(stars))
    """
    path: list[PlanStep] = []
    inner = step.input if isinstance(step, Select) else None
    while isinstance(inner, Derive | Fill) or (isinstance(inner, Calculate) and not inner.is_catalog_wide):
        path.append(inner)
        inner = inner.input
    if not isinstance(step, Select) or not isinstance(inner, Concat):
        return None
    dropped = _find_irrelevant(step, inner, scene)
    if not dropped:
        return None
    kept = [position for position in range(len(inner.members)) if position not in dropped]
    if not kept:
        return Rewrite(Nothing(step.attributes), "no member of the union has such sources")
    rest = union(inner.members[position].extent for position in kept)
    if not scene.is_proved(scene.state_disjoint(union(inner.members[position].extent for position in dropped), rest)):
        return None
    columns = tuple(
        (attribute, tuple(identities[position] for position in kept)) for attribute, identities in inner.columns
    )
    members = tuple(inner.members[position] for position in kept)
    smaller: PlanStep = Concat(members, columns, inner.is_disjoint or len(members) == 1, rest)
    for between in reversed(path):
        smaller = between.replace_inputs([smaller])
    statements = (scene.state_disjoint(inner.members[position].extent, step.extent) for position in dropped)
    because = f"{len(dropped):,} of the {len(inner.members):,} members of the union have no such sources"
    return Rewrite(Select(smaller, step.condition, step.sources), because, tuple(statements))


def _find_irrelevant(step: Select, union_step: Concat, scene: Scene) -> dict[int, None]:
    """Return the positions of the members that are proved to share no source with a selection, in order."""
    members = union_step.members

    def is_irrelevant(position: int) -> bool:
        return scene.is_proved(scene.state_disjoint(members[position].extent, step.extent))

    if not any(map(is_irrelevant, range(0, len(members), -(-len(members) // _TRIED)))):
        return {}
    return dict.fromkeys(filter(is_irrelevant, range(len(members))))
