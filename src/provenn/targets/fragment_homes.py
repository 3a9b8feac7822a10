"""Catalogs for sets of sources in a plan, as homes for fragments.

Each catalog made here has exactly the requested extent: extents are canonical, and are compared by digest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from provenn.catalogs import Catalog, Extent, verbs
from provenn.catalogs.match_sets import describe_match
from provenn.catalogs.set_labels import is_derived_set, parse_sample_label
from provenn.criteria import AttributeIdentity, identities_in, with_names
from provenn.targets.scene import split_intersection

__all__ = ["Referring", "add_attributes", "define_sources"]


@dataclass(frozen=True, slots=True)
class Referring:
    """A catalog of sources with references to partners, and the names of the referring attributes."""

    members: Catalog
    on: tuple[str, ...]


def define_sources(
    extent: Extent, known: Sequence[Catalog], referring: Mapping[str, Referring] = MappingProxyType({})
) -> Catalog | None:
    """Return a catalog with exactly the sources of an extent, or None if none can be made.

    Parameters
    ----------
    extent
        The extent.
    known
        Catalogs of the same population, each after its dependencies.
    referring
        The catalogs that refer to sources of this population, by the label of the set of their partners.
    """
    for catalog in known:
        if catalog.extent == extent:
            return catalog
    if extent.label is None and extent.complemented:
        return _define_union(extent, known, referring)
    narrowed = _find_nearest(extent, known, referring)
    for part in split_intersection(extent).values():
        if narrowed is not None and part.digest not in split_intersection(narrowed.extent):
            narrowed = _narrow_sources(narrowed, part, known, referring)
    return narrowed if narrowed is not None and narrowed.extent == extent else None


def add_attributes(sources: Catalog, identities: Collection[AttributeIdentity], known: Iterable[Catalog]) -> Catalog:
    """Return a catalog with the same sources and with the available attributes among `identities`."""
    own_attributes = sources.schema.by_identity
    members: list[Catalog] = [
        verbs.keep(sources, [own_attributes[identity].name for identity in identities if identity in own_attributes])
    ]
    missing = [identity for identity in identities if identity not in own_attributes]
    for catalog in known:
        attributes = catalog.schema.by_identity
        available = [identity for identity in missing if identity in attributes]
        if available and sources.extent & catalog.extent == sources.extent:
            taken = {attribute.name: attribute.identity for member in members for attribute in member.schema.attributes}
            members.append(
                _rename_conflicts(verbs.keep(catalog, [attributes[identity].name for identity in available]), taken)
            )
            missing = [identity for identity in missing if identity not in available]
    return sources if len(members) == 1 else verbs.combine(*members)


def _rename_conflicts(catalog: Catalog, taken: Mapping[str, AttributeIdentity]) -> Catalog:
    """Return a catalog whose attributes are renamed where another attribute has the name."""
    own = set(catalog.schema.names)
    new_names: dict[str, str] = {}
    for attribute in catalog.schema.attributes:
        free_name, number = attribute.name, 1
        while taken.get(free_name, attribute.identity) != attribute.identity or (
            number > 1 and free_name in own.union(new_names.values())
        ):
            number += 1
            free_name = f"{attribute.name}_{number}"
        if free_name != attribute.name:
            new_names[attribute.name] = free_name
    return verbs.rename(catalog, new_names) if new_names else catalog


def _define_union(extent: Extent, known: Sequence[Catalog], referring: Mapping[str, Referring]) -> Catalog | None:
    """Return the concatenation of catalogs for the members of a union; None if a member has no catalog."""
    members = [define_sources(~part, known, referring) for part in extent.parts]
    defined = [verbs.keep(member, []) for member in members if member is not None]
    if len(defined) < len(members) or len(defined) < 2:
        return None
    concatenation = verbs.concat(*defined)
    return concatenation if concatenation.extent == extent else None


def _find_nearest(extent: Extent, known: Sequence[Catalog], referring: Mapping[str, Referring]) -> Catalog | None:
    """Return the catalog with the most conditions that holds the whole extent; or else a union in the extent."""
    wanted = split_intersection(extent).keys()
    supersets = [catalog for catalog in known if split_intersection(catalog.extent).keys() <= wanted]
    if supersets:
        return max(supersets, key=lambda catalog: len(split_intersection(catalog.extent)))
    unions = (part for part in split_intersection(extent).values() if part.label is None)
    return next((union for part in unions if (union := define_sources(part, known, referring)) is not None), None)


def _narrow_sources(
    sources: Catalog, part: Extent, known: Sequence[Catalog], referring: Mapping[str, Referring]
) -> Catalog | None:
    """Return the sources of a catalog inside a set, or None if no catalog can express the result."""
    wanted = sources.extent & part
    for catalog in known:
        if sources.extent & catalog.extent == wanted:
            return verbs.restrict(sources, catalog)
        if sources.extent - catalog.extent == wanted:
            return verbs.exclude(sources, catalog)
    if part.complemented:
        inside: Catalog | None = sources
        for inner_part in split_intersection(~part).values():
            inside = None if inside is None else _narrow_sources(inside, inner_part, known, referring)
        return None if inside is None else verbs.exclude(sources, inside)
    if part.label is not None and part.label in referring:
        return verbs.having(sources, referring[part.label].members, on=referring[part.label].on)
    return None if part.label is None else _select_label(sources, part.label, known)


def _select_label(sources: Catalog, label: str, known: Sequence[Catalog]) -> Catalog | None:
    """Return the sources of a catalog in the atom of a label; None if no known catalog has the attributes.

    None as well for a set defined by a match or a group: the label names attributes, but no criterion selects the set.
    """
    if describe_match(label) is not None or is_derived_set(label):
        return None
    sample = parse_sample_label(label)
    if sample is not None:
        return verbs.sample(sources, sample[1], sample[0])
    reads = identities_in(label)
    for catalog in known:
        attributes = catalog.schema.by_identity
        if reads and attributes.keys() >= set(reads) and sources.extent & catalog.extent == sources.extent:
            text = with_names(label, {identity: attributes[identity].name for identity in reads})
            return verbs.restrict(sources, verbs.select(catalog, text))
    return None
