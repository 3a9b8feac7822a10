"""Rule: of groups of grown members, compute only those with new members."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from provenn.catalogs import Extent
from provenn.catalogs.extent import everything, leaf, union
from provenn.catalogs.images import Image
from provenn.catalogs.preimages import lift_extent
from provenn.catalogs.set_labels import is_criterion
from provenn.criteria import AttributeIdentity
from provenn.criteria.writing import with_identities
from provenn.targets.costs import estimate_rows
from provenn.targets.earlier_groups import EarlierGroups, find_earlier_groups, find_group, find_row_steps
from provenn.targets.gathering import narrow_scan
from provenn.targets.pruning import prune_step
from provenn.targets.reference_steps import Group, Partnered, list_referring
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import (
    Concat,
    PlanStep,
    Scan,
    Select,
    find_condition_attributes,
    find_key,
    is_key,
    walk_steps,
)

__all__ = ["continue_groups"]


def continue_groups(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Read the values of groups without new members from a fragment of an earlier version, and compute the others.

    The step is a grouping, or steps above one that look at one group at a time.

    Sound: let all members of the earlier groups be members of the later ones, and let all further members be among the
    new rows. A group to which no new row belongs has the same members as before. So its aggregates have the same
    values, everything that is derived from them row by row has, and a selection by them keeps the same of these groups.
    The fragment has exactly the groups that the same selections keep of the earlier ones.
    """
    group = find_group(step)
    if group is None or not scene.fragments or _is_continued(group):
        return None
    for scan in reversed(scene.fragments):
        if find_key(scan.attributes) != find_key(step.attributes):
            continue
        for earlier in find_earlier_groups(step, group, scan):
            rewrite = _continue_fragment(step, group, needed, scene, earlier)
            if rewrite is not None:
                return rewrite
    return None


def _is_continued(group: Group) -> bool:
    """Return whether a grouping is already limited to the groups with new members."""
    return isinstance(group.input, Partnered) and group.input.own == group.input.others == group.reference.identities


def _continue_fragment(
    step: PlanStep, group: Group, needed: frozenset[AttributeIdentity], scene: Scene, earlier: EarlierGroups
) -> Rewrite | None:
    """Return the step with the stored values of groups without new members; None if the fragment does not serve."""
    identities = earlier.identities
    if not all(identities.get(identity) in earlier.scan.attributes for identity in needed):
        return None
    selected = _find_selected(step, earlier)
    if selected is None or selected.digest != earlier.scan.extent.digest:
        return None
    members, before = group.input.extent, earlier.members
    new = _find_new_rows(group, before)
    if new is None or 2 * estimate_rows(scene, new) > estimate_rows(scene, group.input):
        return None
    statements = (scene.state_inside(before, members), scene.state_inside(members - before, new.extent))
    if not all(map(scene.is_proved, statements)):
        return None
    because = f"fragment #{earlier.scan.fragment.id} holds the groups without new members"
    return Rewrite(_join_versions(step, group, needed, earlier, new), because, statements)


def _find_selected(step: PlanStep, earlier: EarlierGroups) -> Extent | None:
    """Return the earlier groups that the selections of a step keep; None if a selection reads a new attribute."""
    selected = earlier.catalog.extent
    for row_step in find_row_steps(step):
        if isinstance(row_step, Select):
            condition = row_step.condition
            if not all(map(is_criterion, condition.labels)) or not (
                find_condition_attributes(condition) <= earlier.identities.keys()
            ):
                return None
            selected &= condition.evaluate(lambda label: leaf(with_identities(label, earlier.identities)), everything)
    return selected


def _find_new_rows(group: Group, before: Extent) -> PlanStep | None:
    """Return the rows of the files that came after the earlier members, with the grouping attributes; None if none."""
    return next(_iterate_new_rows(group, before), None)


def _iterate_new_rows(group: Group, before: Extent) -> Iterator[PlanStep]:
    key, known = find_key(group.input.attributes), set(before.labels)
    for scan in walk_steps(group.input):
        if not isinstance(scan, Scan) or find_key(scan.attributes) != key or not scan.base.joins:
            continue
        came = [digest for digest, _ in scan.base.joins if digest not in known]
        if came and len(came) < len(scan.base.joins) and scan.attributes.keys() >= set(group.reference.identities):
            rows = narrow_scan(scan, union(map(leaf, came)))
            yield prune_step(rows, list_referring(group.reference.identities))


def _join_versions(
    step: PlanStep, group: Group, needed: frozenset[AttributeIdentity], earlier: EarlierGroups, new: PlanStep
) -> Concat:
    """Return the union of the stored groups without new members, and of the computed groups with new members."""
    own, key = group.reference.identities, tuple(find_key(group.attributes))
    changed = Image(group.reference, new.extent).extent
    kept = Partnered(earlier.scan, new, key, own, False, step.extent - changed)
    chosen = Partnered(group.input, new, own, own, True, group.input.extent & lift_extent(group.reference, changed))
    computed: PlanStep = replace(group, input=chosen, sources=group.sources & changed)
    for row_step in reversed([*find_row_steps(step)]):
        if isinstance(row_step, Select):
            computed = Select(computed, row_step.condition, row_step.sources & changed)
        else:
            computed = row_step.replace_inputs([computed])
    columns = tuple(
        (attribute, (earlier.identities[identity], identity))
        for identity, attribute in step.attributes.items()
        if is_key(identity) or identity in needed
    )
    return Concat((kept, computed), columns, True, step.extent)
