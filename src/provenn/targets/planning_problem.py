"""The input of planning: the literal steps of a request, and the knowledge that the archive has about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from provenn.catalogs import Attribute, Catalog, cone, list_bases, verbs
from provenn.catalogs.extent import leaf
from provenn.criteria import AttributeIdentity
from provenn.data import fragments
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.definitions.joined_attributes import find_joined_attributes, find_stored_namesakes
from provenn.knowledge import counts, verified_keys
from provenn.knowledge.stored_facts import Fact, get_fact
from provenn.targets.apart_fragments import divide_fragments
from provenn.targets.earlier_groups import choose_earlier_groups, list_group_names
from provenn.targets.earlier_matches import choose_earlier_pairs, list_matches
from provenn.targets.known import collect_limiting_knowledge
from provenn.targets.listed_files import collect_listed_files
from provenn.targets.providers import ProvidedAttribute
from provenn.targets.row_samples import collect_samples
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, FragmentScan, PlanStep, is_key, walk_steps

__all__ = ["PlanningProblem", "build_scene"]

_MOST_EARLIER = 16
"""The most fragments with pairs of earlier matches that are looked at."""


@dataclass(frozen=True, slots=True)
class PlanningProblem:
    """The input of planning: the first half of a `Plan`, and further catalogs to know about."""

    what: str
    catalog: Catalog | None
    before: PlanStep
    columns: tuple[Attribute, ...]
    provided: tuple[ProvidedAttribute, ...]
    created: tuple[Catalog, ...] = ()
    others: tuple[Catalog, ...] = ()

    @property
    def needed(self) -> frozenset[AttributeIdentity]:
        """The identities of the requested attributes, without the key."""
        return frozenset(column.identity for column in self.columns if not is_key(column.identity))


def build_scene(reading: Reading, problem: PlanningProblem, supposed: Sequence[Fact] = ()) -> Scene:
    """Return the knowledge about a planning problem and about possibly useful fragments.

    Parameters
    ----------
    reading
        The transaction.
    problem
        The planning problem.
    supposed
        Facts that the archive does not hold yet: those that a run will observe before it computes anything.
    """
    requested = [*([] if problem.catalog is None else [problem.catalog]), *problem.others]
    lineage = cone(*requested, *_list_partners(problem, requested))
    useful = _find_useful_attributes(reading, problem.before, problem.needed, lineage)
    namesakes = _find_namesakes(reading, problem.before, lineage)
    serving, apart = divide_fragments(_find_fragments(reading, useful, namesakes), lineage)
    stored = _add_earlier_pairs(reading, problem.before, serving)
    stored = _add_earlier_groups(reading, problem.before, stored)
    catalogs = (*lineage, *(scan.catalog for scan in stored))
    known = collect_limiting_knowledge(reading, *catalogs, supposed=supposed)
    known_facts = {known_fact.id for known_fact in known.facts}
    further_facts = {number for scan in stored for number in scan.fragment.facts} - known_facts
    known = replace(known, facts=(*known.facts, *(get_fact(reading, number) for number in sorted(further_facts))))
    declared = {known_fact.id for known_fact in known.facts if known_fact.origin == "declared"}
    undeclared = [scan for scan in stored if declared.isdisjoint(scan.fragment.facts)]
    return Scene(
        known,
        catalogs,
        tuple(stored),
        _collect_row_counts(reading, catalogs, undeclared) | _count_appended_files(reading, problem.before, lineage),
        _explain_unread_fragments(reading, useful),
        collect_samples(reading, catalogs, stored),
        collect_listed_files(reading, requested),
        apart_fragments=apart,
    )


def _list_partners(problem: PlanningProblem, requested: Sequence[Catalog]) -> list[Catalog]:
    """Return the partners of the requested sources in lookups of calculated attributes.

    No request names these sets, but a calculator is called for the partners, and fragments hold earlier calculations
    for further partners.
    """
    if not any(isinstance(step, Calculate) for step in walk_steps(problem.before)):
        return []
    return [
        verbs.having(lookup.other, verbs.restrict(lookup.parent, sources), on=lookup.find_names())
        for catalog in cone(*requested)
        if (lookup := catalog.find_lookup()) is not None
        for sources in requested[:1]
        if sources.population == lookup.parent.population
    ]


def _find_useful_attributes(
    reading: Reading, before: PlanStep, needed: frozenset[AttributeIdentity], lineage: Sequence[Catalog]
) -> frozenset[AttributeIdentity]:
    """Return the identities of attributes that are requested, or needed at any step."""
    attributes = {identity: attribute for step in walk_steps(before) for identity, attribute in step.attributes.items()}
    pieces = frozenset().union(*(attribute.piece_identities for attribute in attributes.values()))
    useful = needed | ((attributes.keys() | pieces) - _find_base_attributes(lineage))
    return useful | find_joined_attributes(reading, [identity for identity in useful if not is_key(identity)])


def _explain_unread_fragments(reading: Reading, wanted: Collection[AttributeIdentity]) -> tuple[str, ...]:
    """Return sentences about fragments left unread because another platform computed them."""
    identities = [identity for identity in wanted if not is_key(identity)]
    unread = fragments.find_by_attributes(reading, identities, elsewhere=True)
    platform = reading.platform().describe() if unread else None
    return tuple(
        f"fragment #{fragment.id} was computed on {fragment.platform}, but this is {platform}" for fragment in unread
    )


def _find_namesakes(reading: Reading, before: PlanStep, lineage: Sequence[Catalog]) -> frozenset[AttributeIdentity]:
    """Return the identities of stored attributes named like the row-wise calculated attributes of a plan.

    An attribute of a concatenation with more or other members may consist of the calculated attributes.
    """
    names = {
        output.name
        for step in walk_steps(before)
        if isinstance(step, Calculate) and not step.is_catalog_wide
        for output in step.outputs
    }
    populations = {catalog.population.name for catalog in lineage} if names else set()
    return frozenset().union(*(find_stored_namesakes(reading, population, names) for population in populations))


def _find_fragments(
    reading: Reading, wanted: Collection[AttributeIdentity], namesakes: Collection[AttributeIdentity]
) -> list[FragmentScan]:
    """Return the fragments that hold a useful attribute, or a namesake with a useful attribute as a piece."""
    candidates = fragments.find_by_attributes(reading, frozenset((*wanted, *namesakes)))
    catalogs = (
        catalog_store.get_catalogs(reading, sorted({fragment.catalog for fragment in candidates})) if candidates else {}
    )
    useful = frozenset(wanted)
    scans = [FragmentScan(fragment, catalogs[fragment.catalog]) for fragment in candidates]
    return [
        scan
        for scan in scans
        if useful & scan.fragment.identities
        or any(useful & attribute.piece_identities for attribute in scan.attributes.values())
    ]


def _add_earlier_pairs(reading: Reading, before: PlanStep, stored: list[FragmentScan]) -> list[FragmentScan]:
    """Return fragments, and those with pairs of earlier versions of the matches in a plan.

    Only the newest are looked at: a match that is refreshed every day has many.
    """
    matches = list_matches(before)
    separations = {(match.catalog.population.name, match.catalog.separation.name) for match in matches}
    identities = frozenset().union(
        *(find_stored_namesakes(reading, population, [name]) for population, name in separations)
    )
    known = {scan.fragment.id for scan in stored}
    candidates = [
        fragment for fragment in fragments.find_by_attributes(reading, identities) if fragment.id not in known
    ][-_MOST_EARLIER:]
    catalogs = catalog_store.get_catalogs(reading, sorted({fragment.catalog for fragment in candidates}))
    scans = [FragmentScan(fragment, catalogs[fragment.catalog]) for fragment in candidates]
    return sorted((*stored, *choose_earlier_pairs(scans, matches)), key=lambda scan: scan.fragment.id)


def _add_earlier_groups(reading: Reading, before: PlanStep, stored: list[FragmentScan]) -> list[FragmentScan]:
    """Return fragments, and those with values of earlier versions of the groups in a plan."""
    names = list_group_names(before)
    identities = frozenset().union(
        *(find_stored_namesakes(reading, population, own) for population, own in names.items())
    )
    known = {scan.fragment.id for scan in stored}
    held = fragments.find_by_attributes(reading, identities) if identities else ()
    candidates = [fragment for fragment in held if fragment.id not in known][-_MOST_EARLIER:]
    if not candidates:
        return stored
    catalogs = catalog_store.get_catalogs(reading, sorted({fragment.catalog for fragment in candidates}))
    scans = [FragmentScan(fragment, catalogs[fragment.catalog]) for fragment in candidates]
    return sorted((*stored, *choose_earlier_groups(scans, before)), key=lambda scan: scan.fragment.id)


def _find_base_attributes(lineage: Sequence[Catalog]) -> frozenset[AttributeIdentity]:
    """Return the identities of the base catalogs' columns: stored copies help only if they are requested."""
    return frozenset(attribute.identity for base in list_bases(lineage) for attribute in base.schema.attributes)


def _count_appended_files(reading: Reading, before: PlanStep, lineage: Sequence[Catalog]) -> dict[str, int]:
    """Return the number of sources of appended files, by extent digest, if a match or groups may read only these."""
    if not list_matches(before) and not list_group_names(before):
        return {}
    joined = [base for base in list_bases(lineage) if base.joins]
    counted = dict(verified_keys.find_verified_counts(reading, [digest for base in joined for digest, _ in base.joins]))
    for base in joined:
        unknown = [digest for digest, _ in base.joins if digest not in counted]
        if len(unknown) == 1 and base.files.row_count is not None:  # new files of a plan that is only shown
            others = sum(counted[digest] for digest, _ in base.joins if digest in counted)
            counted[unknown[0]] = base.files.row_count - others
    return {leaf(digest).digest: rows for digest, rows in counted.items()}


def _collect_row_counts(reading: Reading, catalogs: Sequence[Catalog], scans: Sequence[FragmentScan]) -> dict[str, int]:
    """Return the number of sources by extent digest, from counts that need no declared fact."""
    digests = [catalog.digest for catalog in catalogs]
    counted = counts.find_counts(reading, digests) | verified_keys.find_verified_counts(reading, digests)
    rows = {catalog.extent.digest: counted[catalog.digest] for catalog in catalogs if catalog.digest in counted}
    return rows | {scan.extent.digest: scan.fragment.rows for scan in scans}
