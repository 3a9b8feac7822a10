"""The declared facts on which the regions of a comparison rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import and_, or_, sub

from provenn.archive.comparison import RegionKnown, describe_regions
from provenn.digests import CatalogDigest
from provenn.display import RegionState
from provenn.knowledge.consequences import CitedFact, TracedKnowledge
from provenn.logic import Relationship, empty, nonempty
from provenn.logic.terms import Term

__all__ = ["build_regions", "find_region_support"]


def find_region_support(
    known: TracedKnowledge, digests: Sequence[CatalogDigest], possible: Relationship
) -> tuple[CitedFact, ...]:
    """Return the declared facts without which some region of catalogs would be unknown, with their origins."""
    if not any(fact.origin == "declared" for fact in known.facts):
        return ()
    regions = describe_regions(digests, possible)
    certain = describe_regions(digests, known.without("declared").knowledge.relationship(*digests))
    statements = [
        empty(region) if stated.state is RegionState.EMPTY else nonempty(region)
        for region, stated, sure in zip(build_regions(digests, regions), regions, certain, strict=True)
        if stated.state is not sure.state
    ]
    cited = (fact for statement in statements for fact in known.because(statement))
    return tuple(dict.fromkeys(fact for fact in cited if fact[1].kind == "declared"))


def build_regions(digests: Sequence[str], regions: Iterable[RegionKnown]) -> Iterator[Term]:
    """Yield the regions as sets of objects."""
    sets = [Term((digest,)) for digest in digests]
    for region in regions:
        around = [catalog for catalog, is_inside in zip(sets, region.inside, strict=True) if is_inside]
        beside = [catalog for catalog, is_inside in zip(sets, region.inside, strict=True) if not is_inside]
        yield reduce(sub, beside, reduce(and_, around)) if around else ~reduce(or_, beside)
