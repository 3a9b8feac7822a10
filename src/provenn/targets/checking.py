"""Checks of declared facts on the data: compare the sources of the mentioned catalogs by key.

The check records its result. A confirmed fact becomes an observed fact, and answers rest on it from then on; a refuted
fact is suspended. The comparison itself uses no declared fact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from provenn.catalogs import Base, Catalog, Schema, verbs
from provenn.data.fragments import Fragment
from provenn.database.transactions import Database
from provenn.definitions import catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import ContradictionError
from provenn.knowledge.declarations import forget_proofs
from provenn.knowledge.observations import observe_fact
from provenn.knowledge.stored_facts import Fact, get_fact
from provenn.logic import Statement, World, empty, nonempty
from provenn.logic.statements import Claim, Property, SetComparison
from provenn.targets.planning import plan_catalog
from provenn.targets.preparing import prepare_plan
from provenn.targets.replanning import replan_without_declared

if TYPE_CHECKING:
    from provenn.spark.pipeline import Pipeline

__all__ = ["CheckedFact", "check_facts", "find_contradiction"]

Regions = Mapping[frozenset[str], int]
"""The number of sources in each inhabited region; a region is the set of digests of the catalogs around it."""


@dataclass(frozen=True, slots=True)
class CheckedFact:
    """The result of checking a declared fact on the data.

    Attributes
    ----------
    fact
        The fact.
    verdict
        Whether the fact holds; ``"unknown"`` if it mentions too many catalogs to compare at once.
    suspended
        The declared facts that the check suspended.
    """

    fact: Fact
    verdict: Literal["holds", "fails", "unknown"]
    suspended: tuple[Fact, ...] = ()


def check_facts(pipeline: Pipeline, facts: Iterable[Fact]) -> list[CheckedFact]:
    """Compare declared facts with the data, and record the results if the archive is writable.

    Parameters
    ----------
    pipeline
        The pipeline that computes and records.
    facts
        The facts; the labels of their statements are digests.
    """
    return [_check_fact(pipeline, declared) for declared in facts]


def _check_fact(pipeline: Pipeline, declared: Fact) -> CheckedFact:
    """Compare a declared fact with the data, and record the result."""
    from provenn.spark.region_counts import MOST_SETS  # noqa: PLC0415 - planning runs without Spark

    statement = declared.statement
    if len(statement.labels) > MOST_SETS:
        return CheckedFact(declared, "unknown")
    regions = _count_regions(pipeline, declared.catalogs, f"checking fact #{declared.id}")
    # The universe is open: some object is in no base set, and so in none of these catalogs.
    holds = World(frozenset({frozenset(), *regions})).satisfies(statement)
    observed, reason = (statement, _describe_total(regions)) if holds else find_contradiction(statement, regions)
    return CheckedFact(
        declared, "holds" if holds else "fails", _record_result(pipeline.database, declared, observed, reason)
    )


def _count_regions(pipeline: Pipeline, digests: Sequence[CatalogDigest], what: str) -> Regions:
    """Count the sources in each region of some catalogs, computed without any declared fact."""
    from provenn.spark.pipeline import PreparedData  # noqa: PLC0415 - planning runs without Spark
    from provenn.spark.region_counts import count_regions, label_regions  # noqa: PLC0415

    with pipeline.database.reading() as reading:
        catalogs = catalog_store.get_catalogs(reading, digests)
        plans = [
            replan_without_declared(plan_catalog(reading, verbs.keep(catalogs[digest], ()), what)) for digest in digests
        ]
    data = [prepare_plan(pipeline, plan)[1] for plan in plans]
    keys = [_list_key_names(catalogs[digest]) for digest in digests]
    frame = count_regions([(prepared_data.frame, key) for prepared_data, key in zip(data, keys, strict=True)])
    bases: dict[str, Base] = {base.digest: base for prepared_data in data for base in prepared_data.bases}
    fragments: dict[int, Fragment] = {
        fragment.id: fragment for prepared_data in data for fragment in prepared_data.fragments
    }
    together = PreparedData(frame, Schema(()), what, tuple(bases.values()), tuple(fragments.values()))
    rows = pipeline.collect_data(together, None, lambda counts: counts.collect())
    return label_regions(digests, {row["inside"]: row["sources"] for row in rows})


def _list_key_names(catalog: Catalog) -> list[str]:
    return [attribute.name for attribute in catalog.schema.key]


def _describe_total(regions: Regions) -> str:
    return f"checked on the data: {sum(regions.values()):,} sources compared"


def find_contradiction(statement: Statement, regions: Regions) -> tuple[Statement, str]:
    """Return a statement that the data show instead of a false statement, and the reason in words."""
    for claim in statement.claims() if isinstance(statement, SetComparison | Property) else ():
        number = _count_claim(claim, regions)
        if claim.inhabited and not number:
            return empty(claim.region), "checked on the data: no sources"
        if number and not claim.inhabited:
            return nonempty(claim.region), f"checked on the data: {number:,} source{'s' * (number != 1)}"
    return ~statement, _describe_total(regions)


def _count_claim(claim: Claim, regions: Regions) -> int:
    """Return how many sources are in the region of a claim; the region outside all catalogs counts as one."""
    all_regions = {frozenset[str](): 1, **regions}

    def find_regions_within(label: str) -> frozenset[frozenset[str]]:
        return frozenset(region for region in all_regions if label in region)

    inside = claim.region.evaluate(find_regions_within, nothing=frozenset(), everything=frozenset(all_regions))
    return sum(all_regions[region] for region in inside)


def _record_result(database: Database, declared: Fact, statement: Statement, reason: str) -> tuple[Fact, ...]:
    """Record the result for a fact if the archive is writable; return the suspended declared facts.

    Proofs that cite the fact are forgotten: new proofs cite the observed fact.
    """
    if database.read_only:
        return ()
    try:
        with database.writing() as writing:
            suspended = observe_fact(writing, statement, reason).suspended
            forget_proofs(writing, declared.id)
            current = get_fact(writing, declared.id)  # verifying keys may have suspended the fact
            return suspended if current.holds or current in suspended else (*suspended, current)
    except ContradictionError:  # another user declared the opposite, and may not see this observation
        return ()
