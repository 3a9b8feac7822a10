"""Bound the number of sources of a set, from counts, definitions and facts, without reading a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from provenn.archive.bounds import Bounds, KnownCount
from provenn.archive.questions import UserNames, check_population, translate_contradictions
from provenn.archive.references import CatalogReference, find_digest
from provenn.database.transactions import Reading
from provenn.definitions.catalog_store import resolve_catalog
from provenn.definitions.descendants import filter_made_from
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.knowledge.consequences import CitedFact, TracedKnowledge, build_knowledge
from provenn.knowledge.known_counts import collect_counts, find_counted_catalogs
from provenn.knowledge.stored_facts import read_closed_cone
from provenn.logic import Statement, empty, subset
from provenn.logic.counting import BoundProof, Count, CountBounds, bound_count, bound_numbers
from provenn.logic.parser import parse_set
from provenn.logic.terms import Term
from provenn.words.proof_chains import Reason
from provenn.words.vocabulary import Vocabulary

__all__ = ["bound_regions", "bound_sources"]


def bound_sources(reading: Reading, which: CatalogReference | Term) -> Bounds:
    """Return the least and the most sources of a catalog, or of an expression of catalogs; see `Archive.bounds`."""
    region, user_names = _resolve_region(reading, which)
    known, counts = _gather_counts(reading, [label for label in region.labels if is_catalog_label(label)], user_names)
    with translate_contradictions(reading, user_names):
        bounds = _bound_with_few_declarations(known, region, counts)
    return _describe_bounds(reading, bounds, known, user_names)


def bound_regions(reading: Reading, regions: Sequence[Term]) -> list[tuple[int, int | None]]:
    """Return the least and the most sources of regions of the same catalogs, given by digest, without proofs.

    The bounds are those of `bound_sources`: bounds from all facts are at least as strict as bounds from some, unless
    the search for them was cut short. What the counts of these catalogs alone determine needs no other count.
    """
    digests = [CatalogDigest(label) for label in dict.fromkeys(label for region in regions for label in region.labels)]
    known, counts = _gather_counts(reading, digests, {})
    catalogs = [CatalogDigest(count.region.labels[0]) for count in counts if len(count.region.labels) == 1]
    own_labels = {*digests, *filter_made_from(reading, catalogs, digests)}
    own_counts = [count for count in counts if own_labels.issuperset(count.region.labels)]
    bounding = _Bounding(known, counts, own_counts)
    with translate_contradictions(reading, {}):
        return [bounding.bound_numbers(region) for region in regions]


@dataclass
class _Bounding:
    """Bounds the numbers of sources of several regions.

    Parameters
    ----------
    known
        The knowledge about the catalogs.
    counts, own_counts
        All counts, and those of the catalogs of the regions alone.
    """

    known: TracedKnowledge
    counts: Sequence[Count]
    own_counts: Sequence[Count]

    @cached_property
    def certain(self) -> TracedKnowledge:
        """The knowledge without declared facts."""
        return self.known.without("declared")

    def bound_numbers(self, region: Term) -> tuple[int, int | None]:
        """Return the least and the most sources of a region."""
        known = self.known
        low, high, is_complete = bound_numbers(known.knowledge, region, self.own_counts)
        if low == high:
            return low, high
        if len(self.own_counts) < len(self.counts):
            low, high, is_complete = bound_numbers(known.knowledge, region, self.counts)
        is_strictest = is_complete and not known.knowledge.list_choices()
        if is_strictest or not any(fact.origin == "declared" for fact in known.facts):
            return low, high
        certain_low, certain_high, _ = bound_numbers(self.certain.knowledge, region, self.counts)
        return max(low, certain_low), min((bound for bound in (high, certain_high) if bound is not None), default=None)


def _gather_counts(
    reading: Reading, digests: Sequence[CatalogDigest], user_names: UserNames
) -> tuple[TracedKnowledge, list[Count]]:
    """Return the knowledge about catalogs of the same population and all that were counted, and the counts."""
    definitions, facts = read_closed_cone(reading, digests)
    populations = {definition.digest: definition.population for definition in definitions}
    check_population({digest: populations[digest] for digest in digests}, user_names)
    population = populations[digests[0]] if digests else ""
    counted = find_counted_catalogs(reading, population) - populations.keys()
    if counted:
        definitions, facts = read_closed_cone(reading, [*digests, *sorted(counted)])
    known = build_knowledge(definitions, facts)
    return known, collect_counts(reading, definitions, known.knowledge.labels)


def _resolve_region(reading: Reading, which: CatalogReference | Term) -> tuple[Term, UserNames]:
    """Return the set with digests as labels, and the user's names by digest."""
    if not isinstance(which, str | Term):
        digest = find_digest(reading, which)
        return Term((digest,)), {}
    region = parse_set(which) if isinstance(which, str) else which
    digests = {label: resolve_catalog(reading, label) for label in region.labels}
    return region.relabelled(digests.__getitem__), {digest: label for label, digest in reversed(digests.items())}


def _bound_with_few_declarations(known: TracedKnowledge, region: Term, counts: Sequence[Count]) -> CountBounds:
    """Return the bounds; a side uses declared facts only for a stricter bound."""
    if not any(fact.origin == "declared" for fact in known.facts):
        return bound_count(known.knowledge, region, counts)
    certain = bound_count(known.without("declared").knowledge, region, counts)
    declared = bound_count(known.knowledge, region, counts)
    low = declared.low_proof if declared.low > certain.low else certain.low_proof
    is_lower = declared.high is not None and (certain.high is None or declared.high < certain.high)
    high = declared.high_proof if is_lower else certain.high_proof
    return CountBounds(low, high, declared.is_complete)


def _describe_bounds(reading: Reading, bounds: CountBounds, known: TracedKnowledge, user_names: UserNames) -> Bounds:
    """Return bounds in the user's names, with the origins of facts and counts."""
    proofs = (bounds.low_proof, bounds.high_proof)
    counts = dict.fromkeys(count for proof in proofs for count in proof.counts if count.source)
    facts = dict.fromkeys(fact for proof in proofs for fact in proof.facts)
    because = _cite_facts(known, facts)
    labels = dict.fromkeys(
        label
        for region in (bounds.low_proof.region, *(count.region for count in counts))
        for label in region.labels
        if is_catalog_label(label)
    )
    vocabulary = Vocabulary.of(reading, labels, user_names, facts)
    described = (_describe_facts(reading, proof, known, vocabulary) for proof in proofs)
    digests = [label for label in bounds.low_proof.region.labels if is_catalog_label(label)]
    low_proof, high_proof = (proof.relabelled(vocabulary.word) for proof in proofs)
    return Bounds(
        str(low_proof.region),
        bounds.low,
        bounds.high,
        low_proof.sentence,
        high_proof.sentence,
        tuple(KnownCount(_name_count(count, vocabulary), count.source) for count in counts),
        tuple(dict.fromkeys(chain.from_iterable(described))),
        vocabulary.describe_caveats(reading, digests, because),
        bounds.is_complete,
    )


def _cite_facts(known: TracedKnowledge, facts: Iterable[Statement]) -> tuple[CitedFact, ...]:
    """Return facts with their origins, definitions first."""
    return tuple(sorted(map(known.cite, facts), key=lambda cited: cited[1].kind != "definition"))


def _describe_facts(
    reading: Reading, proof: BoundProof, known: TracedKnowledge, vocabulary: Vocabulary
) -> tuple[Reason, ...]:
    """Return the facts of a bound with their origins, over the user's criteria if they relate two sets."""
    because = _cite_facts(known, proof.facts)
    relation = _find_relation(proof)
    if relation is None:
        return vocabulary.describe_reasons(reading, because)
    return vocabulary.describe_facts(reading, because, relation)


def _find_relation(proof: BoundProof) -> Statement | None:
    """Return the relation of sets from which a bound follows; None if more than two counted sets bound the number."""
    if len(proof.cases) != 1 or proof.cases[0].suppositions:
        return None
    region, terms = proof.region, proof.cases[0].terms
    added = [count.region for factor, count in terms if factor == 1]
    subtracted = [count.region for factor, count in terms if factor == -1]
    match proof.side, added, subtracted:
        case "high", [], [] if not terms:
            return empty(region)
        case "low", [whole], [] if len(terms) == 1:
            return subset(whole, region)
        case "high", [whole], [] if len(terms) == 1:
            return subset(region, whole)
        case "low", [whole], [part] if len(terms) == 2:
            return subset(whole - part, region)
        case "high", [whole], [part] if len(terms) == 2:
            return subset(region, whole - part) & subset(part, whole)
    return None


def _name_count(count: Count, vocabulary: Vocabulary) -> Count:
    return Count(count.region.relabelled(vocabulary.word), count.low, count.high, count.source)
