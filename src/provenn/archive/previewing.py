"""A selection before it is defined: how its sources relate to the catalogs with names, and how many there are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from provenn.archive.path_criteria import find_paths, select_by_paths
from provenn.archive.relation import WORDS, Summary
from provenn.catalogs import verbs
from provenn.definitions.catalog_store import get_catalogs
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.targets.known import collect_knowledge

if TYPE_CHECKING:
    from provenn.archive.handle import Catalog
    from provenn.catalogs import Catalog as Definition
    from provenn.database.transactions import Reading

__all__ = ["PreviewedRelation", "SelectionPreview", "preview_selection"]

_MOST: Final = 60
"""The most catalogs with names, the newest first, with which a selection is compared."""


@dataclass(frozen=True, slots=True)
class PreviewedRelation:
    """A proved relation of a selection to a catalog: the relation, and the name and digest of the catalog."""

    summary: Summary
    name: str
    digest: CatalogDigest


@dataclass(frozen=True, slots=True)
class SelectionPreview:
    """A selection that is not defined yet.

    Attributes
    ----------
    what
        The selection in words.
    sources
        The number of its sources, as far as known, in words.
    relations
        Its proved relations to the newest catalogs with names; the catalog that it selects from is left out unless both
        have the same sources.
    """

    what: str
    sources: str
    relations: tuple[PreviewedRelation, ...]

    @property
    def words(self) -> str:
        """The preview in a sentence."""
        names: dict[Summary, list[str]] = {}
        for relation in self.relations:
            names.setdefault(relation.summary, []).append(relation.name)
        return "; ".join([*(f"{WORDS[kind]} {join_words(group, 3)}" for kind, group in names.items()), self.sources])


def preview_selection(catalog: Catalog, criterion: str) -> SelectionPreview:
    """Return what is proved of the sources of a catalog where a criterion is TRUE; nothing is defined.

    Raises
    ------
    CriterionError, TargetError
        If the criterion cannot be read, or a path in it leads to no attribute.
    """
    archive = catalog.archive
    entries = archive.search(population=catalog.population, named=True, most=_MOST)
    names = {entry.digest: entry.names[0] for entry in entries}
    selection, relations = archive.context.read(_relate_selection, catalog, criterion, names)
    target = archive.target(catalog, [catalog.schema.names[0]], where=criterion)
    return SelectionPreview(
        f"the sources of {catalog.name} where {' '.join(criterion.split())}",
        "no sources" if "empty" in relations else f"{target.plan().rows.bound} sources",
        tuple(
            PreviewedRelation(summary, names[digest], digest)
            for summary, digests in relations.items()
            for digest in digests
            if summary != "empty" and digest != selection.digest
        ),
    )


def _relate_selection(
    reading: Reading, catalog: Catalog, criterion: str, names: dict[CatalogDigest, str]
) -> tuple[Definition, dict[Summary | Literal["empty"], Sequence[CatalogDigest]]]:
    """Return the selection, and the catalogs with names in each proved relation to it; "empty" if it has no source."""
    from provenn.logic import empty  # noqa: PLC0415 - a command starts without it

    parent = catalog.definition
    paths = find_paths(parent, criterion)
    selection = (
        select_by_paths(reading, parent, criterion, paths, catalog.name) if paths else verbs.select(parent, criterion)
    )
    others = get_catalogs(reading, [*names])
    knowledge = collect_knowledge(reading, selection, *others.values()).knowledge
    if knowledge.entails(empty(selection.digest)):
        return selection, {"empty": ()}

    def list_named(labels: Iterable[str], without: Collection[str] = ()) -> list[CatalogDigest]:
        return [CatalogDigest(label) for label in labels if label in names and label not in without]

    digest = selection.digest
    equal = list_named(knowledge.equal_to(digest))
    return selection, {
        "equal": equal,
        "subset": list_named(knowledge.supersets_of(digest), {*equal, parent.digest}),
        "superset": list_named(knowledge.subsets_of(digest), equal),
        "disjoint": list_named(knowledge.disjoint_from(digest)),
    }
