"""Plans in the user's words: catalogs by name; those that have none, by what they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from provenn.archive.words import SHORT, Vocabulary
from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    cone,
)
from provenn.store import catalog_store, names
from provenn.store.database import Database
from provenn.store.knowledge import Origin
from provenn.targets.plan import Plan
from provenn.targets.running import Keep

__all__ = ["in_names"]

_LONGEST = 60


def in_names(plan: Plan, database: Database, keep: Keep, asked: dict[str, str]) -> Plan:
    """Return a plan that can be told in the user's words.

    Parameters
    ----------
    plan
        The plan.
    database
        Where names are looked up, once somebody looks at the plan.
    keep
        Which results are kept.
    asked
        What the user calls some catalogs, by digest.
    """
    return replace(plan, keep=keep, words=_Names(plan, database, asked))


@dataclass(slots=True)
class _Names:
    """What a user calls things; looked up when it is first needed."""

    plan: Plan
    database: Database
    asked: dict[str, str]
    _found: Vocabulary | None = field(default=None, init=False)

    def word(self, label: str, /) -> str:
        """Return what to call a catalog or a criterion."""
        return self._vocabulary().word(label)

    def where_from(self, origin: Origin, /) -> str:
        """Return where a fact comes from."""
        said = self.plan.scene.known.knowledge.facts[0]  # any: only its origin is told
        with self.database.reading() as reading:
            (reason,) = self._vocabulary().reasons(reading, [(said, origin)])
        return reason.because

    def _vocabulary(self) -> Vocabulary:
        if self._found is None:
            self._found = self._looked_up()
        return self._found

    def _looked_up(self) -> Vocabulary:
        scene = self.plan.scene
        catalogs = {one.digest: one for one in cone(*scene.catalogs)}
        mentioned = {label for fact in scene.known.knowledge.facts for label in fact.labels}
        mentioned |= {label for fact in scene.known.facts for label in fact.statement.labels}
        further = [one for one in mentioned if re.fullmatch("[0-9a-f]{64}", one) and one not in catalogs]
        with self.database.reading() as reading:
            if further:
                catalogs |= {one.digest: one for one in cone(*catalog_store.get_all(reading, further).values())}
            named = names.names_of(reading, list(catalogs))
        words = {digest: several[0] for digest, several in named.items()} | self.asked
        sources: dict[str, str] = {}  # what to call sets: as the first catalog that has just these, if possible by name
        for digest, one in catalogs.items():  # each after those it is made from
            word = words.setdefault(digest, _phrase(one, lambda each: sources[each.extent.digest]))
            if " " in sources.setdefault(one.extent.digest, word) and " " not in word:
                sources[one.extent.digest] = word
        attributes = {one.identity: one.name for each in catalogs.values() for one in each.schema.values()}
        return Vocabulary(words, attributes, catalogs)


def _phrase(catalog: Catalog, sources: Callable[[Catalog], str]) -> str:
    """Return a few words for a catalog that has no name; of one that is not easily told, the beginning of its digest.

    Parameters
    ----------
    catalog
        The catalog.
    sources
        What to call the sources of those it is made from.
    """
    made_from = [sources(one) for one in catalog.dependencies]
    said = catalog.digest[:SHORT]
    match catalog:
        case SelectSources(text=text):
            said = f"{made_from[0]} where {' '.join(text.split())}"
        case SampleSources(fraction=fraction):
            said = f"a sample of {fraction:g} of {made_from[0]}"
        case ExcludeSources():
            said = f"{made_from[0]} without {made_from[1]}"
        case RestrictSources():
            said = f"{made_from[0]} within {made_from[1]}"
        case DeriveAttributes():
            new = [one for one in catalog.schema.names if one not in catalog.dependencies[0].schema.names]
            said = f"{made_from[0]} with {', '.join(new)}"
        case KeepAttributes() | RenameAttributes():
            key = {one.name for one in catalog.schema.key}
            said = f"{', '.join(one for one in catalog.schema.names if one not in key) or 'the key'} of {made_from[0]}"
        case CombineAttributes():
            said = " combined with ".join(made_from)
        case ConcatSources():
            said = " together with ".join(made_from)
        case CrossMatch():
            said = " matched with ".join(made_from)
        case MatchedSources():
            said = f"{made_from[0]} that occur in {made_from[1]}"
    return said if len(said) <= _LONGEST else catalog.digest[:SHORT]
