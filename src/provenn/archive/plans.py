"""Plans with the user's names: catalogs by name, and unnamed catalogs by a short description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from provenn.catalogs import (
    Catalog,
    cone,
)
from provenn.database.transactions import Database
from provenn.definitions import catalog_names, catalog_store
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.words.vocabulary import SHORT, Vocabulary

if TYPE_CHECKING:
    from provenn.knowledge.consequences import CitedFact
    from provenn.logic import Statement
    from provenn.targets.keeping import Keep
    from provenn.targets.plan import Plan
    from provenn.words.described_plan import DescribedPlan

__all__ = ["attach_names"]

_LONGEST = 60


def attach_names(plan: Plan, database: Database, keep: Keep, user_names: dict[CatalogDigest, str]) -> DescribedPlan:
    """Return a plan with a description in the user's names.

    Parameters
    ----------
    plan
        The plan.
    database
        The database of the names, read when the plan is first displayed.
    keep
        The results to keep.
    user_names
        The user's names of catalogs, by digest.
    """
    from provenn.words.described_plan import DescribedPlan  # noqa: PLC0415 - most commands plan nothing

    return DescribedPlan.of(plan, _PlanNames(plan, database, user_names), keep)


@dataclass(slots=True)
class _PlanNames:
    """The user's names for the catalogs of a plan, looked up when first needed."""

    plan: Plan
    database: Database
    user_names: dict[CatalogDigest, str]
    _cached_vocabulary: Vocabulary | None = field(default=None, init=False)

    def word(self, label: str, /) -> str:
        """Return the name of a catalog or the text of a criterion."""
        return self._get_vocabulary().word(label)

    def describe_proof(self, because: Sequence[CitedFact], conclusion: Statement, /) -> tuple[str, ...]:
        """Return the facts of a proof over the user's criteria, with their origins in words."""
        with self.database.reading() as reading:
            return tuple(map(str, self._get_vocabulary().describe_facts(reading, because, conclusion)))

    def _get_vocabulary(self) -> Vocabulary:
        """Return the vocabulary, looked up at the first call."""
        if self._cached_vocabulary is None:
            self._cached_vocabulary = self._look_up_vocabulary()
        return self._cached_vocabulary

    def _look_up_vocabulary(self) -> Vocabulary:
        """Return the names of all catalogs of the plan and its facts, and descriptions of unnamed catalogs."""
        scene = self.plan.scene
        catalogs = {catalog.digest: catalog for catalog in cone(*scene.catalogs)}
        mentioned = {label for fact in scene.known.knowledge.facts for label in fact.labels}
        mentioned |= {label for fact in scene.known.facts for label in fact.statement.labels}
        further = [label for label in mentioned if is_catalog_label(label) and label not in catalogs]
        with self.database.reading() as reading:
            if further:
                catalogs |= {
                    catalog.digest: catalog for catalog in cone(*catalog_store.get_catalogs(reading, further).values())
                }
            names_by_digest = catalog_names.find_names_by_digest(reading, list(catalogs))
        words: dict[str, str] = {digest: catalog_names[0] for digest, catalog_names in names_by_digest.items()}
        words.update(self.user_names.items())
        sources: dict[str, str] = {}  # the words for a set: of its first catalog, preferably a name
        for digest, catalog in catalogs.items():  # dependencies come before dependents
            word = words.setdefault(
                digest, _describe_unnamed(catalog, lambda dependency: sources[dependency.extent.digest])
            )
            if " " in sources.setdefault(catalog.extent.digest, word) and " " not in word:
                sources[catalog.extent.digest] = word
        attributes = {
            attribute.identity: attribute.name for catalog in catalogs.values() for attribute in catalog.schema.values()
        }
        return Vocabulary(words, attributes, catalogs)


def _describe_unnamed(catalog: Catalog, sources: Callable[[Catalog], str]) -> str:
    """Return a short description of an unnamed catalog; the beginning of its digest if no description is short enough.

    Parameters
    ----------
    catalog
        The catalog.
    sources
        Returns the words for the sources of a dependency.
    """
    made_from = [sources(dependency) for dependency in catalog.dependencies]
    phrase = catalog.describe_briefly(made_from)
    return phrase if phrase and len(phrase) <= _LONGEST else catalog.digest[:SHORT]
