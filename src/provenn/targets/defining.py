"""Catalogs for sets of sources that a plan came upon, so that something can be stored for them.

Whatever is made here has exactly the extent that was asked for: extents are canonical, and are compared by digest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    ExcludeSources,
    Extent,
    KeepAttributes,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from provenn.catalogs.sample_sources import sample_seed_and_fraction
from provenn.criteria import identities_in, with_names
from provenn.targets.scene import parts

__all__ = ["with_attributes", "with_sources"]


def with_sources(extent: Extent, known: Sequence[Catalog]) -> Catalog | None:
    """Return a catalog that has just the sources of an extent, or None if it cannot be made.

    Parameters
    ----------
    extent
        The extent.
    known
        Catalogs of its population, each after those that it is made from.
    """
    for catalog in known:
        if catalog.extent == extent:
            return catalog
    if extent.label is None and extent.complemented:
        return _union(extent, known)
    found = _nearest(extent, known)
    for part in parts(extent).values():
        if found is not None and part.digest not in parts(found.extent):
            found = _narrowed(found, part, known)
    return found if found is not None and found.extent == extent else None


def with_attributes(sources: Catalog, identities: Collection[str], known: Iterable[Catalog]) -> Catalog:
    """Return a catalog that has the sources of another one, and of some attributes those that these sources have."""
    held = sources.schema.by_identity
    members: list[Catalog] = [KeepAttributes.of(sources, [held[each].name for each in identities if each in held])]
    missing = [identity for identity in identities if identity not in held]
    for catalog in known:
        given = catalog.schema.by_identity
        own = [identity for identity in missing if identity in given]
        if own and sources.extent & catalog.extent == sources.extent:
            taken = {one.name: one.identity for member in members for one in member.schema.attributes}
            members.append(_with_free_names(KeepAttributes.of(catalog, [given[each].name for each in own]), taken))
            missing = [identity for identity in missing if identity not in own]
    return sources if len(members) == 1 else CombineAttributes.of(*members)


def _with_free_names(catalog: Catalog, taken: Mapping[str, str]) -> Catalog:
    """Return a catalog with other names for the attributes whose names mean something else."""
    own = set(catalog.schema.names)
    new: dict[str, str] = {}
    for one in catalog.schema.attributes:
        free, number = one.name, 1
        while taken.get(free, one.identity) != one.identity or (number > 1 and free in own.union(new.values())):
            number += 1
            free = f"{one.name}_{number}"
        if free != one.name:
            new[one.name] = free
    return RenameAttributes.of(catalog, new) if new else catalog


def _union(extent: Extent, known: Sequence[Catalog]) -> Catalog | None:
    members = [with_sources(~part, known) for part in extent.parts]
    found = [KeepAttributes.of(one, []) for one in members if one is not None]
    if len(found) < len(members) or len(found) < 2:
        return None
    made = ConcatSources.of(*found)
    return made if made.extent == extent else None


def _nearest(extent: Extent, known: Sequence[Catalog]) -> Catalog | None:
    """Return the catalog with the most conditions among those that leave all sources of an extent; or a union."""
    wanted = parts(extent).keys()
    fitting = [one for one in known if parts(one.extent).keys() <= wanted]
    if fitting:
        return max(fitting, key=lambda one: len(parts(one.extent)))
    unions = (part for part in parts(extent).values() if part.label is None)
    return next((made for part in unions if (made := with_sources(part, known)) is not None), None)


def _narrowed(sources: Catalog, part: Extent, known: Sequence[Catalog]) -> Catalog | None:
    """Return the sources of a catalog that are also in a set, or None if that cannot be told."""
    wanted = sources.extent & part
    for catalog in known:
        if sources.extent & catalog.extent == wanted:
            return RestrictSources(sources, catalog)
        if sources.extent - catalog.extent == wanted:
            return ExcludeSources(sources, catalog)
    if part.complemented:
        inside: Catalog | None = sources
        for each in parts(~part).values():
            inside = None if inside is None else _narrowed(inside, each, known)
        return None if inside is None else ExcludeSources(sources, inside)
    return None if part.label is None else _selected(sources, part.label, known)


def _selected(sources: Catalog, label: str, known: Sequence[Catalog]) -> Catalog | None:
    sample = sample_seed_and_fraction(label)
    if sample is not None:
        return SampleSources.of(sources, sample[1], sample[0])
    reads = identities_in(label)
    for catalog in known:
        given = catalog.schema.by_identity
        if reads and given.keys() >= set(reads) and sources.extent & catalog.extent == sources.extent:
            text = with_names(label, {identity: given[identity].name for identity in reads})
            return RestrictSources(sources, SelectSources.of(catalog, text))
    return None
