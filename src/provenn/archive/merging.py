"""Merging fragments: data growing every day leave a small fragment a day, and many small fragments are slow to read.

When enough fragments of about the same size hold the same attributes of files of a version, the fragments are copied
into a single fragment and dropped. A merged fragment is merged again only with fragments many times larger than the
original fragments, so a value is copied as many times as the number of fragments has digits. Merging computes no value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from provenn.archive.context import Context
from provenn.archive.references import describe_subject
from provenn.catalogs import Base, Catalog, verbs
from provenn.criteria import AttributeIdentity
from provenn.data import fragments
from provenn.data.fragments import Fragment
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import QuotaError
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_catalog
from provenn.targets.scene import find_joined_labels
from provenn.targets.steps import Concat

__all__ = ["MERGED", "merge_fragments"]

MERGED = 16
"""How many fragments of about the same size are merged into one."""


@dataclass(frozen=True, slots=True)
class _Merger:
    """Fragments to merge, and the catalog with the sources and attributes of all fragments."""

    catalog: Catalog
    identities: tuple[AttributeIdentity, ...]
    fragments: tuple[Fragment, ...]


def merge_fragments(context: Context, version: Catalog, identities: Sequence[AttributeIdentity]) -> None:
    """Merge fragments with some attributes of the files of a version, where many have about the same size."""
    if not isinstance(version, Base) or len(version.joins) < MERGED:
        return
    for merger in context.read(_find_mergers, version, identities):
        try:
            _merge(context, merger)
        except QuotaError:  # there is no room for a copy: many small fragments are right, too
            return


def _find_mergers(reading: Reading, version: Base, identities: Sequence[AttributeIdentity]) -> list[_Merger]:
    stored = fragments.find_by_attributes(reading, identities)
    catalogs = catalog_store.get_catalogs(reading, sorted({fragment.catalog for fragment in stored})) if stored else {}
    parts = {digest for digest, _ in version.joins}
    groups: dict[object, list[tuple[Fragment, Catalog]]] = {}
    covered: dict[object, set[str]] = {}
    for fragment in stored:
        catalog = catalogs[fragment.catalog]
        labels = find_joined_labels(catalog.extent)
        if labels and labels <= parts and None not in _iterate_steps(catalog):
            alike = (fragment.identities, _measure_size(len(labels)))
            if labels.isdisjoint(covered.setdefault(alike, set())):  # a source comes once
                covered[alike] |= labels
                groups.setdefault(alike, []).append((fragment, catalog))
    mergers = (_define_merger(version, group) for group in groups.values() if len(group) >= MERGED)
    return [merger for merger in mergers if merger is not None]


def _measure_size(files: int) -> int:
    """Return how often fragments were merged to hold so many appended files."""
    return 0 if files < MERGED else 1 + _measure_size(files // MERGED)


def _iterate_steps(catalog: Catalog) -> Iterator[Catalog | None]:
    """Yield the catalogs from a catalog down to its base, without the base; None for several dependencies."""
    while not isinstance(catalog, Base):
        if len(catalog.dependencies) != 1:
            yield None
            return
        yield catalog
        (catalog,) = catalog.dependencies


def _define_merger(version: Base, group: Sequence[tuple[Fragment, Catalog]]) -> _Merger | None:
    """Return the merge of some fragments; None if no catalog has all their sources and attributes."""
    labels = {CatalogDigest(label) for _, catalog in group for label in find_joined_labels(catalog.extent)}
    first = group[0][1]
    steps = [step for step in _iterate_steps(first) if step is not None]
    merged: Catalog = reduce(Base.join, version.find_parts(labels))
    for step in reversed(steps):
        merged = step.on([merged])
    columns, attributes = group[0][0].identities, merged.schema.by_identity
    if not columns <= attributes.keys() or find_joined_labels(merged.extent) != labels:
        return None
    kept = verbs.keep(merged, [attributes[identity].name for identity in sorted(columns)])
    return _Merger(kept, tuple(sorted(columns)), tuple(fragment for fragment, _ in group))


def _merge(context: Context, merger: _Merger) -> None:
    from provenn.targets.storing import store_fragments  # noqa: PLC0415 - most commands compute nothing

    def replan() -> Plan:
        return context.read(_plan_copy, merger)

    if replan().bases:  # a fragment is gone, and files would be read: merging only copies what is stored
        return
    stored = store_fragments(context.workshop.pipeline(), merger.catalog, replan, list(merger.identities))
    old = [fragment.id for fragment in merger.fragments if fragment.id != stored.id]
    context.write(_drop_merged, old, stored.id)


def _plan_copy(reading: Reading, merger: _Merger) -> Plan:
    """Return the plan for reading, in turn, the fragments to merge; the usual plan if a fragment is gone.

    Sound: the joined files share no source, and each fragment has all sources of its files.
    """
    plan = plan_catalog(reading, merger.catalog, describe_subject(reading, merger.catalog))
    numbers = {fragment.id for fragment in merger.fragments}
    scans = tuple(scan for scan in plan.scene.fragments if scan.fragment.id in numbers)
    if len(scans) < len(numbers):
        return plan
    columns = tuple((attribute, (attribute.identity,) * len(scans)) for attribute in plan.columns)
    return replace(plan, after=Concat(scans, columns, True, merger.catalog.extent), applied=())


def _drop_merged(writing: Writing, numbers: Sequence[int], merged: int) -> None:
    for number in numbers:
        fragments.drop(writing, number, f"merged into fragment #{merged}")
