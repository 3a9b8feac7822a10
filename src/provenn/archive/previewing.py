"""A selection or query before it is defined: how its sources relate to catalogs with names, and how many there are."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from provenn.archive.kept_tallies import plan_columns
from provenn.archive.path_criteria import find_paths, select_by_paths
from provenn.archive.relation import WORDS, Summary
from provenn.catalogs import Schema, verbs
from provenn.catalogs.population import make_plural
from provenn.definitions.catalog_store import get_catalogs
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.display.name_lists import join_names
from provenn.display.row_counts import Rows
from provenn.display.text import join_words
from provenn.knowledge.counts import find_counts
from provenn.targets.known import collect_knowledge

if TYPE_CHECKING:
    from provenn.archive.archive import Archive
    from provenn.archive.handle import Catalog
    from provenn.catalogs import Catalog as Definition
    from provenn.database.transactions import Reading
    from provenn.logic import Knowledge
    from provenn.words.described_plan import DescribedPlan

__all__ = ["PreviewedRelation", "SelectionPreview", "preview_query", "preview_selection"]

Relations = dict[Summary | Literal["empty"], Sequence[CatalogDigest]]

_MOST: Final = 60
"""The most catalogs with which a selection is compared."""

_SEARCHED: Final = 500
"""The most catalogs with names, the newest first, among which these are chosen."""

_ATTRIBUTE: Final = re.compile(r"`(?:[^`]|``)+`")
"""An attribute in the label of a criterion."""


@dataclass(frozen=True, slots=True)
class PreviewedRelation:
    """A proved relation of a selection to a catalog: the relation, and the name and digest of the catalog."""

    summary: Summary
    name: str
    digest: CatalogDigest


@dataclass(frozen=True, slots=True)
class SelectionPreview:
    """A selection, or the catalog of a query, that is not defined yet.

    Attributes
    ----------
    what
        The catalog in words.
    sources
        The number of its sources, as far as known, in words.
    relations
        Its proved relations to catalogs with names; the catalog that it selects from is left out unless both have the
        same sources, and so are empty catalogs. Smaller catalogs around it, and larger ones inside, come first.
    schema
        The attributes.
    remarks
        In words: the parts of a query that are not understood, or left out, what rests on declared facts, and whether
        there are more catalogs with names than were compared.
    """

    what: str
    sources: str
    relations: tuple[PreviewedRelation, ...]
    schema: Schema
    remarks: tuple[str, ...] = ()

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
    names = _list_named(archive, catalog.population)
    selection = archive.context.read(_select, catalog, criterion)
    proved = archive.context.read(_relate_sources, selection, names, {catalog.digest})
    target = archive.target(catalog, [catalog.schema.names[0]], where=criterion)
    return SelectionPreview(
        f"the sources of {catalog.name} where {' '.join(criterion.split())}",
        _describe_size(proved, target.plan),
        tuple(_name_relations(proved.relations, names)),
        selection.schema,
        proved.remarks,
    )


def preview_query(archive: Archive, text: str, dialect: str) -> SelectionPreview:
    """Return what is proved of the sources of a query; nothing is defined, and Spark is not started.

    Raises
    ------
    QueryError, UnknownCatalogError
        As for `Archive.sql`.
    SparkNeededError
        If the query has a part that only Spark understands.
    """
    from provenn.archive.querying import translate_text  # noqa: PLC0415 - few pages read a query

    translation = translate_text(archive.context, text, dialect, {}, starts_spark=False)
    catalog = translation.catalog
    names = _list_named(archive, catalog.population.name)
    proved = archive.context.read(_relate_sources, catalog, names, ())
    replan = plan_columns(archive.context, catalog, "the query", catalog.schema.names[:1])
    return SelectionPreview(
        f"{make_plural(catalog.population.name)} with {join_names(catalog.schema.names)}",
        _describe_size(proved, replan),
        tuple(_name_relations(proved.relations, names)),
        catalog.schema,
        (*map(str, translation.remarks), *proved.remarks),
    )


def _list_named(archive: Archive, population: str) -> dict[CatalogDigest, str]:
    """Return the newest catalogs of a population that have names."""
    return {entry.digest: entry.names[0] for entry in archive.search(population=population, named=True, most=_SEARCHED)}


def _describe_size(proved: _Proved, replan: Callable[[], DescribedPlan]) -> str:
    """Return the number of sources in words, as far as it is proved."""
    if "empty" in proved.relations:
        return "no sources"
    rows = replan().rows
    high = min((bound for bound in (rows.high, proved.most) if bound is not None), default=None)
    return Rows.between(max(rows.low, proved.least), high, rows.estimate).describe("source") or "not counted yet"


def _name_relations(relations: Relations, names: Mapping[CatalogDigest, str]) -> Iterator[PreviewedRelation]:
    """Yield the relations to catalogs with names."""
    for summary, digests in relations.items():
        if summary != "empty":
            yield from (PreviewedRelation(summary, names[digest], digest) for digest in digests)


def _select(reading: Reading, catalog: Catalog, criterion: str) -> Definition:
    """Return the selection from a catalog by a criterion."""
    parent = catalog.definition
    paths = find_paths(parent, criterion)
    if paths:
        return select_by_paths(reading, parent, criterion, paths, catalog.name)
    return verbs.select(parent, criterion)


@dataclass(frozen=True, slots=True)
class _Proved:
    """The catalogs with names in each proved relation to a catalog, remarks, and the bounds that their counts give."""

    relations: Relations
    remarks: tuple[str, ...] = ()
    least: int = 0
    most: int | None = None


def _relate_sources(
    reading: Reading, catalog: Definition, names: Mapping[CatalogDigest, str], obvious: Collection[CatalogDigest]
) -> _Proved:
    """Return the catalogs with names in each proved relation to a catalog; "empty" if it has no source.

    Parameters
    ----------
    reading, catalog, names
        The transaction, the catalog, which need not be defined, and the other catalogs.
    obvious
        Catalogs that need not be told to lie around it.
    """
    stored = get_catalogs(reading, [*names])
    named = {digest: stored[digest] for digest in names}
    chosen = _choose_similar(catalog, named, obvious)
    known = collect_knowledge(reading, catalog, *(named[digest] for digest in chosen))
    counted = find_counts(reading, chosen)
    is_declared = any(fact.origin == "declared" for fact in known.facts)
    certain = (known.without("declared") if is_declared else known).knowledge
    relations = _list_relations(known.knowledge, catalog.digest, chosen, obvious)
    remarks: tuple[str, ...] = ()
    if is_declared:
        sure = _list_relations(certain, catalog.digest, chosen, obvious)
        remarks = tuple(_name_declared(relations, sure, names))
    if "empty" in relations:
        return _Proved(relations, remarks)
    if len(chosen) < len(names):
        remarks += (
            f"compared with {len(chosen)} of {len(names)} catalogs with names, those with the most similar criteria",
        )
    sorted_relations = _sort_relations(relations, counted, names)
    return _Proved(sorted_relations, remarks, *_bound_by_counts(certain, catalog.digest, counted))


def _choose_similar(
    catalog: Definition, named: Mapping[CatalogDigest, Definition], obvious: Collection[CatalogDigest]
) -> list[CatalogDigest]:
    """Return the catalogs of which most can be proved: their criteria are about the same attributes, and are few."""

    def list_criteria(other: Definition) -> list[set[str]]:
        return [{*_ATTRIBUTE.findall(label)} for label in other.extent.labels if not is_catalog_label(label)]

    attributes = set().union(*list_criteria(catalog))

    def rank(digest: CatalogDigest) -> tuple[bool, int, int]:
        criteria = list_criteria(named[digest])
        is_first = digest in obvious or named[digest].extent.digest == catalog.extent.digest
        return not is_first, sum(not criterion <= attributes for criterion in criteria), len(criteria)

    return sorted(named, key=rank)[:_MOST]


def _sort_relations(
    relations: Relations, counted: Mapping[CatalogDigest, int], names: Mapping[CatalogDigest, str]
) -> Relations:
    """Return relations without empty catalogs; those that say most come first, as far as the catalogs were counted."""
    empty = {*relations.get("superset", ())} & {*relations.get("disjoint", ())}
    signs = {"subset": 1, "superset": -1}

    def rank(summary: str, digest: CatalogDigest) -> tuple[float, str]:
        sources = counted.get(digest, math.inf * signs.get(summary, 0)) if summary in signs else 0
        return sources * signs.get(summary, 0), names[digest]

    return {
        summary: sorted((digest for digest in digests if digest not in empty), key=partial(rank, summary))
        for summary, digests in relations.items()
    }


def _list_relations(
    knowledge: Knowledge, digest: CatalogDigest, names: Collection[CatalogDigest], obvious: Collection[CatalogDigest]
) -> Relations:
    """Return the catalogs with names in each relation to a catalog; "empty" if it has no source."""
    from provenn.logic import empty  # noqa: PLC0415 - a command starts without it

    if knowledge.entails(empty(digest)):
        return {"empty": ()}

    def list_named(labels: Iterable[str], without: Collection[str] = ()) -> list[CatalogDigest]:
        return [CatalogDigest(label) for label in labels if label in names and label not in without]

    equal = list_named(dict.fromkeys([digest, *knowledge.equal_to(digest)]))
    return {
        "equal": equal,
        "subset": list_named(knowledge.supersets_of(digest), {*equal, *obvious}),
        "superset": list_named(knowledge.subsets_of(digest), equal),
        "disjoint": list_named(knowledge.disjoint_from(digest)),
    }


def _name_declared(relations: Relations, sure: Relations, names: Mapping[CatalogDigest, str]) -> Iterator[str]:
    """Yield a remark if some relations are not among those that hold without declared facts."""
    if "empty" in relations:
        if "empty" not in sure:
            yield "it has no sources by declared facts"
        return
    doubtful = [
        names[other] for kind, others in relations.items() for other in others if other not in sure.get(kind, ())
    ]
    if doubtful:
        yield f"what is said of {join_words(doubtful, 3)} rests on declared facts"


def _bound_by_counts(
    knowledge: Knowledge, digest: CatalogDigest, counted: Mapping[CatalogDigest, int]
) -> tuple[int, int | None]:
    """Return the least and the most sources by the counts of catalogs inside and around."""
    equal = {digest, *knowledge.equal_to(digest)}
    inside, around = ({*related, *equal} for related in (knowledge.subsets_of(digest), knowledge.supersets_of(digest)))
    least = max((rows for catalog, rows in counted.items() if catalog in inside), default=0)
    return least, min((rows for catalog, rows in counted.items() if catalog in around), default=None)
