"""Stored values of earlier groups that groups of grown members may continue.

The value of an aggregate belongs to the members of its group. So groups of a later version have different attributes
than groups of an earlier version, although most groups have the same members. Outside the groups of new members, an
aggregate of the later version has the value of the same aggregate of the earlier version, and so has everything derived
from the aggregate row by row: the attributes correspond to each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from provenn.catalogs import Catalog, Extent, cone
from provenn.catalogs.images import Image
from provenn.criteria import AttributeIdentity
from provenn.criteria.writing import with_identities
from provenn.targets.reference_steps import Group
from provenn.targets.steps import Calculate, Derive, FragmentScan, PlanStep, Select, walk_steps

__all__ = [
    "EarlierGroups",
    "choose_earlier_groups",
    "find_earlier_groups",
    "find_group",
    "find_row_steps",
    "list_group_names",
]

_MOST_GROUPS = 3
"""The most stored fragments that planning considers for one grouping: the newest ones."""


@dataclass(frozen=True, slots=True)
class EarlierGroups:
    """A fragment with values of earlier groups.

    Parameters
    ----------
    scan
        The fragment.
    catalog
        The groups.
    members
        The members of the groups.
    identities
        The identity in the fragment of each corresponding attribute of the later groups.
    """

    scan: FragmentScan
    catalog: Catalog
    members: Extent
    identities: dict[AttributeIdentity, AttributeIdentity]


def find_row_steps(step: PlanStep) -> Iterator[PlanStep]:
    """Yield the steps above a grouping that look at one group at a time, from the top; nothing without a grouping."""
    path = []
    while isinstance(step, Select | Derive) or (isinstance(step, Calculate) and not step.is_catalog_wide):
        path.append(step)
        step = step.input
    if isinstance(step, Group):
        yield from path


def find_group(step: PlanStep) -> Group | None:
    """Return the grouping below steps that look at one group at a time; None without a grouping."""
    for row_step in find_row_steps(step):
        (step,) = row_step.inputs
    return step if isinstance(step, Group) else None


def list_group_names(plan: PlanStep) -> dict[str, set[str]]:
    """Return the names of all attributes of groups in a plan, by the population of the groups."""
    names: dict[str, set[str]] = {}
    for step in walk_steps(plan):
        group = find_group(step)
        if group is not None:
            attributes = (attribute.name for attribute in step.attributes.values())
            names.setdefault(group.reference.population, set()).update(attributes)
    return names


def choose_earlier_groups(scans: Iterable[FragmentScan], plan: PlanStep) -> list[FragmentScan]:
    """Return the fragments that hold values of earlier versions of the groups in a plan, the newest few of each."""
    groups = [step for step in walk_steps(plan) if isinstance(step, Group)]
    chosen: dict[int, FragmentScan] = {}
    for group in groups:
        alike = [
            scan
            for scan in scans
            if any(_find_earlier_image(group, catalog) is not None for catalog in cone(scan.catalog))
        ]
        alike.sort(key=lambda scan: scan.fragment.id)
        chosen.update((scan.fragment.id, scan) for scan in alike[-_MOST_GROUPS:])
    return [chosen[number] for number in sorted(chosen)]


def _find_earlier_image(group: Group, catalog: Catalog) -> Image | None:
    """Return the groups of a catalog with their members, if these are other groups by the same reference; or None."""
    image = catalog.find_image() if catalog.profile.describes_groups else None
    if image is None or image.reference != group.reference or catalog.extent == group.extent:
        return None
    return image


def find_earlier_groups(step: PlanStep, group: Group, scan: FragmentScan) -> Iterator[EarlierGroups]:
    """Yield the earlier groups in the lineage of a fragment, with the attributes that correspond to those of a step."""
    lineage = cone(scan.catalog)
    for catalog in lineage:
        image = _find_earlier_image(group, catalog)
        if image is not None:
            identities = {attribute.identity: attribute.identity for attribute in group.key}
            own = catalog.find_aggregates()
            for attribute, aggregate in group.values:
                if aggregate.canonical in own:
                    identities[attribute.identity] = own[aggregate.canonical]
            for row_step in reversed([*find_row_steps(step)]):
                identities |= _find_derived(row_step, identities, lineage)
            yield EarlierGroups(scan, catalog, image.members, identities)


def _find_derived(
    step: PlanStep, identities: dict[AttributeIdentity, AttributeIdentity], lineage: Iterable[Catalog]
) -> dict[AttributeIdentity, AttributeIdentity]:
    """Return the attributes of earlier catalogs derived like attributes of a step, from corresponding inputs."""
    match step:
        case Derive(attribute=attribute, expression=expression) if identities.keys() >= set(expression.reads):
            text = with_identities(expression.canonical, identities)
            for catalog in lineage:
                for identity, canonical in catalog.find_expressions().items():
                    if canonical == text and catalog.schema.by_identity[identity].type == attribute.type:
                        return {attribute.identity: identity}
        case Calculate(calculator=calculator, arguments=arguments, outputs=outputs):
            inputs = [identities.get(argument) for argument in arguments]
            for catalog in lineage:
                earlier = catalog.find_outputs(calculator.digest, inputs)
                if earlier:
                    return {output.identity: identity for output, identity in zip(outputs, earlier, strict=True)}
    return {}
