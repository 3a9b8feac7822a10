"""The effects of a new definition on dependent catalogs: coming and going sources, and calculations.

Everything is planned exactly as computed later, before anything is written: the new definitions are planned with the
facts to be observed, for instance that new files share no source with the earlier files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from provenn.archive.stored_results import find_stored_results
from provenn.catalogs import Catalog, Extent
from provenn.catalogs.extent import union
from provenn.criteria import AttributeIdentity
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.digests import CatalogDigest
from provenn.display.row_counts import Rows
from provenn.errors import ContradictionError
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Statement
from provenn.targets.bounds import bound_answer_rows
from provenn.targets.known import collect_knowledge
from provenn.targets.literal import build_step
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_catalog
from provenn.targets.steps import Calculate, walk_steps
from provenn.words.changed_sources import ChangedFiles, ChangedSources, compare_sources
from provenn.words.match_words import explain_matches
from provenn.words.vocabulary import SHORT, SUPPOSED

__all__ = ["ChangedCatalog", "compare_catalogs_sources", "plan_changes", "suppose_fact"]


@dataclass(frozen=True, slots=True)
class ChangedCatalog:
    """The effects of a new definition on a catalog.

    Attributes
    ----------
    name
        The name of the catalog, or its names; the beginning of the digest of a catalog without a name.
    sources
        How its sources change, as far as it is proved.
    calculated
        For how many sources calculators are called; None if nothing of it is stored, so that nothing is calculated now.
    why
        Why so many, in words; empty if the catalog has no calculator.
    """

    name: str
    sources: ChangedSources
    calculated: Rows | None
    why: str

    def __str__(self) -> str:
        if self.calculated is None or self.calculated == Rows.exactly(0):
            rows = "nothing to calculate"
        else:
            rows = f"{self.calculated.describe('row') or 'an unknown number of rows'} to calculate"
        return f"{self.name}: {self.sources}; {rows}" + (f": {self.why}" if self.why else "")

    def to_json(self) -> dict[str, Any]:
        """Return the change as JSON."""
        rows = self.calculated
        return {
            "name": self.name,
            "sources": str(self.sources),
            "direction": self.sources.direction,
            "gained": self.sources.gained,
            "lost": self.sources.lost,
            "rows_at_least": 0 if rows is None else rows.low,
            "rows_at_most": 0 if rows is None else rows.high,
            "why": self.why,
        }


def suppose_fact(statement: Statement, reason: str) -> Fact:
    """Return a fact to be observed by a run before computing anything, for plans only shown."""
    return Fact(SUPPOSED, statement, reason, "observed", "", datetime.now(UTC))


def compare_catalogs_sources(
    reading: Reading,
    pairs: Sequence[tuple[Catalog, Catalog]],
    files: ChangedFiles | None = None,
    supposed: Sequence[Fact] = (),
) -> list[ChangedSources]:
    """Return how the sources of each new definition differ from those of the earlier definition; nothing is stored."""
    members = {catalog.digest: catalog for pair in pairs for catalog in pair}
    knowledge = collect_knowledge(reading, *members.values(), supposed=supposed).knowledge

    def is_proved(statement: Statement) -> bool:
        try:
            return knowledge.entails(statement)
        except ContradictionError:  # contradictory facts prove nothing; they are reported where they are declared
            return False

    return [compare_sources(old, new, is_proved, files) for old, new in pairs]


def plan_changes(
    reading: Reading,
    rebuilt: Mapping[CatalogDigest, Catalog],
    names: Mapping[CatalogDigest, Sequence[str]],
    *,
    files: ChangedFiles | None = None,
    supposed: Sequence[Fact] = (),
    limit: Callable[[Catalog], Catalog | None] | None = None,
) -> tuple[ChangedCatalog, ...]:
    """Return the effects of new definitions on catalogs.

    Catalogs with neither a name nor results to calculate are left out.

    Parameters
    ----------
    reading
        The transaction.
    rebuilt
        The new definitions by the digests of the earlier ones, each after those that it is made from.
    names
        The names of the earlier definitions.
    files
        The files that came and went, if the definitions differ in the version of a base catalog.
    supposed
        Facts that will be observed before anything is computed.
    limit
        Returns what will be computed of a new definition, so that all of it is stored; None for all of it.
    """
    if not rebuilt:
        return ()
    old = catalog_store.get_catalogs(reading, sorted(rebuilt))
    changes = compare_catalogs_sources(
        reading, [(old[digest], new) for digest, new in rebuilt.items()], files, supposed
    )
    stored = frozenset(find_stored_results(reading, list(rebuilt)))
    ledger = _Ledger()
    planned = []
    for (digest, new), sources in zip(rebuilt.items(), changes, strict=True):
        rows, why = None, "no result of its calculators is stored" if _has_calculators(new) else ""
        if digest in stored:
            computed = (limit and limit(new)) or new
            rows, why = ledger.add(plan_catalog(reading, computed, new.digest[:SHORT], supposed))
        if names.get(digest) or (rows is not None and rows != Rows.exactly(0)):
            name = ", ".join(names.get(digest, ())) or digest[:SHORT]
            planned.append(ChangedCatalog(name, sources, rows, why))
    return tuple(planned)


@dataclass(slots=True)
class _Ledger:
    """The calculations of the catalogs planned so far: the results for a catalog are stored for the next catalogs."""

    extents: dict[frozenset[AttributeIdentity], list[Extent]] = field(default_factory=dict)

    def add(self, plan: Plan) -> tuple[Rows, str]:
        """Return for how many sources a plan calls calculators, besides earlier plans, and why."""
        rows, reasons = Rows.exactly(0), set[str]()
        calculations = {step.signature: step for step in plan.calculations}.values()
        for step in calculations:
            outputs = frozenset(output.identity for output in step.outputs)
            done = self.extents.setdefault(outputs, [])
            if done and plan.scene.lies_in(step.extent, union(done)):
                reasons.add("calculated with the catalogs before")
                continue
            done.append(step.extent)
            rows += bound_answer_rows(plan.scene, [step])
            reasons.add(_explain(step))
        reasons.update(explain_matches(plan))
        return rows, "; ".join(sorted(reasons)) or "all results are stored"


def _has_calculators(catalog: Catalog) -> bool:
    return any(isinstance(step, Calculate) for step in walk_steps(build_step(catalog)))


def _explain(step: Calculate) -> str:
    names = ", ".join(output.name for output in step.outputs)
    if step.is_catalog_wide:
        return f"{names} of a source depends on all sources"
    return f"{names} is not stored for these sources" if len(step.outputs) == 1 else f"{names} are not stored for them"
