"""Checking declared facts on the data: the sources of the catalogs that they mention are compared, by key.

What is seen is recorded. A fact that holds becomes an observed one, on which answers rest from then on; one that does
not is suspended. No declared fact is used to compute what is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from provenn.catalogs import Base, Catalog, KeepAttributes, Schema
from provenn.errors import ContradictionError
from provenn.logic import Statement, World, empty, nonempty
from provenn.logic.statements import Claim, Comparison, Property
from provenn.store import catalog_store
from provenn.store.database import Database
from provenn.store.declarations import forget_proofs
from provenn.store.facts import Fact, fact
from provenn.store.fragments import Fragment
from provenn.store.observations import observe
from provenn.targets.planning import plan_catalog, without_declared
from provenn.targets.running import prepared

if TYPE_CHECKING:
    from provenn.spark.pipeline import Pipeline

__all__ = ["Checked", "check_facts", "contradiction"]

Regions = Mapping[frozenset[str], int]
"""How many sources there are in each region that holds any, by the digests of the catalogs it lies in."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the data say of a declared fact.

    Attributes
    ----------
    fact
        The fact.
    verdict
        Whether it holds; ``"unknown"`` if it mentions more catalogs than can be compared at once.
    suspended
        The declared facts that are suspended for it.
    """

    fact: Fact
    verdict: Literal["holds", "fails", "unknown"]
    suspended: tuple[Fact, ...] = ()


def check_facts(pipeline: Pipeline, facts: Iterable[Fact]) -> list[Checked]:
    """Compare declared facts with the data, and record what is seen, if the archive can be written.

    Parameters
    ----------
    pipeline
        Where it is computed and recorded.
    facts
        The facts; labels of their statements are digests.
    """
    return [_check(pipeline, declared) for declared in facts]


def _check(pipeline: Pipeline, declared: Fact) -> Checked:
    from provenn.spark.regions import MOST_SETS  # noqa: PLC0415 - planning does without Spark

    said = declared.statement
    if len(said.labels) > MOST_SETS:
        return Checked(declared, "unknown")
    regions = _counted(pipeline, said.labels, f"checking fact #{declared.id}")
    # Some object is in no base set, and so in none of these catalogs: the universe is open.
    holds = World(frozenset({frozenset(), *regions})).satisfies(said)
    seen, reason = (said, _total(regions)) if holds else contradiction(said, regions)
    return Checked(declared, "holds" if holds else "fails", _recorded(pipeline.database, declared, seen, reason))


def _counted(pipeline: Pipeline, labels: Sequence[str], what: str) -> Regions:
    """Count the sources in each region of some catalogs, computed without any declared fact."""
    from provenn.spark.pipeline import Prepared  # noqa: PLC0415 - planning does without Spark
    from provenn.spark.regions import inhabited, region_counts  # noqa: PLC0415

    with pipeline.database.reading() as reading:
        catalogs = catalog_store.get_all(reading, labels)
        plans = [
            without_declared(plan_catalog(reading, KeepAttributes.of(catalogs[label], ()), what)) for label in labels
        ]
    data = [prepared(pipeline, plan)[1] for plan in plans]
    keys = [_key(catalogs[label]) for label in labels]
    frame = region_counts([(one.frame, key) for one, key in zip(data, keys, strict=True)])
    bases: dict[str, Base] = {base.digest: base for one in data for base in one.bases}
    fragments: dict[int, Fragment] = {one.id: one for each in data for one in each.fragments}
    together = Prepared(frame, Schema(()), what, tuple(bases.values()), tuple(fragments.values()))
    rows = pipeline.collected(together, None, lambda counts: counts.collect())
    return inhabited(labels, {row["inside"]: row["sources"] for row in rows})


def _key(catalog: Catalog) -> list[str]:
    return [attribute.name for attribute in catalog.schema.key]


def _total(regions: Regions) -> str:
    return f"checked on the data: {sum(regions.values()):,} sources compared"


def contradiction(said: Statement, regions: Regions) -> tuple[Statement, str]:
    """Return what the data show instead of a statement that is not true in them, and how that was seen."""
    for claim in said.claims() if isinstance(said, Comparison | Property) else ():
        number = _number(claim, regions)
        if claim.inhabited and not number:
            return empty(claim.region), "checked on the data: no source is there"
        if number and not claim.inhabited:
            return nonempty(claim.region), f"checked on the data: {number:,} source{'s' * (number != 1)}"
    return ~said, _total(regions)


def _number(claim: Claim, regions: Regions) -> int:
    """Return how many sources are in the region of a claim; the region outside all catalogs counts as one."""
    everywhere = {frozenset[str](): 1, **regions}

    def within(label: str) -> frozenset[frozenset[str]]:
        return frozenset(here for here in everywhere if label in here)

    inside = claim.region.evaluate(within, nothing=frozenset(), everything=frozenset(everywhere))
    return sum(everywhere[here] for here in inside)


def _recorded(database: Database, declared: Fact, said: Statement, reason: str) -> tuple[Fact, ...]:
    """Record what was seen of a fact, if that is possible; return the declared facts that are suspended for it.

    Proofs that cite the fact are forgotten: the next ones cite what was seen.
    """
    if database.read_only:
        return ()
    try:
        with database.writing() as writing:
            suspended = observe(writing, said, reason).suspended
            forget_proofs(writing, declared.id)
            now = fact(writing, declared.id)  # which keys that were verified on the way may have suspended
            return suspended if now.holds or now in suspended else (*suspended, now)
    except ContradictionError:  # somebody declared the opposite who may not know what is seen here
        return ()
