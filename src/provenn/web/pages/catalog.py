"""The page of a catalog: definition, attributes, lineage, relations, fragments, facts and history."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter

from provenn.archive import Archive, Catalog, Stored
from provenn.archive.neighbourhood import Direction
from provenn.archive.references import find_digest
from provenn.archive.relation import WORDS
from provenn.catalogs import cone, list_bases
from provenn.catalogs.roots import lies_within
from provenn.catalogs.verbs import CLASSES
from provenn.data.planning_state import read_shown_state
from provenn.data.tallies import find_subjects
from provenn.definitions.catalog_entries import list_first_of_extent
from provenn.display.lineage_picture import LineagePicture
from provenn.files.file_set import EXTERNAL, GIVEN, TABLE
from provenn.files.location_stamps import stamp_location
from provenn.hints import phrase_for_page
from provenn.knowledge.stored_facts import Fact
from provenn.web.catalog_data import CatalogData, see_data
from provenn.web.defining import DefinitionParameter, find_definers, list_parameters
from provenn.web.pages.lineage import CatalogReference, Depth, make_lineage_picture
from provenn.web.remembering import Remembering, StateReader
from provenn.web.rendering import ServedArchive, add_page
from provenn.words.vocabulary import SHORT, choose_names

__all__ = ["CatalogLink", "make_catalog_link", "router"]

router = APIRouter()

_MOST = 20
"""Maximum number of catalogs and changes that a section shows beside their total number."""

_DRAWN = 30

_NEWS = 5.0
"""Seconds after which the page says that files came to the folders of a catalog."""

_OF_SEVERAL_POPULATIONS = frozenset(
    kind for kind, catalog_class in CLASSES.items() if catalog_class.profile.crosses_populations
)
"""The catalog classes that may have another population than their dependencies."""


@dataclass(frozen=True, slots=True)
class CatalogLink:
    """The name and digest of a catalog, for a link to its page."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A dependency or a dependent of the shown catalog, and the relation of the shown catalog to it in words."""

    name: str
    digest: str
    relation: str
    words: str


@dataclass(frozen=True, slots=True)
class FirstCatalogs:
    """The first catalogs of a list, and the length of the list."""

    catalogs: tuple[CatalogLink, ...]
    total: int


@dataclass(frozen=True, slots=True)
class DerivedCatalogs:
    """The first catalogs that depend on the shown catalog, and the number of all of them."""

    catalogs: tuple[Neighbour, ...]
    total: int


@dataclass(frozen=True, slots=True)
class AttributeRow:
    """An attribute; the catalog `defined_by` defines it under the name `defined_as`."""

    name: str
    type: str
    unit: str
    ucd: str
    description: str
    nullable: bool
    key: bool
    defined_by: CatalogLink
    defined_as: str


@dataclass(frozen=True, slots=True)
class FragmentRow:
    """A stored fragment; `unusable` is the reason if plans do not use the fragment any more."""

    number: int
    stored_for: str
    attributes: tuple[str, ...]
    rows: int
    size: int
    seconds: float
    stored_at: datetime
    stored_by: str
    uses: int
    used_at: datetime
    unusable: str


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact with its author and reason, and with the author and reason of its retraction."""

    number: int
    statement: str
    origin: str
    reason: str
    by: str
    at: datetime
    holds: bool
    retracted_by: str | None
    retracted_at: datetime | None
    retracted_reason: str | None


@dataclass(frozen=True, slots=True)
class NameMove:
    """The assignment of a name to a catalog, or the deletion of the name (`catalog` is None)."""

    catalog: str | None
    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class NameHistory:
    """The latest changes of a name, and the number of all changes."""

    name: str
    changes: tuple[NameMove, ...]
    total: int


@dataclass(frozen=True, slots=True)
class CatalogPage:
    """The content of the page of a catalog.

    Attributes
    ----------
    name, names, digest, kind
        The name for the heading, all names, the digest, and the class of the catalog.
    what, parameters
        The definition as a sentence, and the parameters written by the user.
    population, key, sources
        The population of the rows, the key of a row, and the set of sources in words.
    created_at, created_by
        The time and the author of the first definition.
    attributes
        The attributes in the order of the columns.
    made_from, made_from_it
        The dependencies, and the catalogs that depend on this catalog.
    data
        The size, some rows, and tallies of values.
    lineage
        The neighbouring catalogs, as the picture shows them.
    same_sources
        Catalogs with the same sources by construction.
    fragments
        The fragments for these sources, dropped fragments included.
    says, facts
        The statements of the definition about sets; the facts about the catalog, retracted facts included.
    warnings
        Conditions that are not proved any more, and assumptions taken on trust.
    history
        The changes of each name.
    """

    name: str
    names: tuple[str, ...]
    digest: str
    kind: str
    what: str
    parameters: tuple[DefinitionParameter, ...]
    population: str
    key: tuple[str, ...]
    sources: str
    created_at: datetime
    created_by: str
    attributes: tuple[AttributeRow, ...]
    made_from: tuple[Neighbour, ...]
    made_from_it: DerivedCatalogs
    data: CatalogData
    lineage: LineagePicture
    depth: int
    direction: str
    same_sources: FirstCatalogs
    fragments: tuple[FragmentRow, ...]
    says: tuple[str, ...]
    facts: tuple[FactRow, ...]
    warnings: tuple[str, ...]
    history: tuple[NameHistory, ...]


def show_catalog(
    archive: ServedArchive, which: CatalogReference, *, depth: Depth = 2, direction: Direction = "both"
) -> CatalogPage:
    """Show a catalog: definition, attributes, lineage, neighbours, what is stored, facts, history of its names."""
    catalog = archive.catalog(which)
    reference = which if which in catalog.names else catalog  # keeps the requested name, but not a digest
    description = archive.describe(reference)
    lineage = make_lineage_picture(archive, reference, depth, direction, _DRAWN)
    dependencies = [
        CatalogLink(name, dependency.digest)
        for name, dependency in zip(description.made_from, catalog.definition.dependencies, strict=True)
    ]
    below = make_lineage_picture(archive, catalog, 1, "down", _MOST + 1)
    (focus,) = (node for node in below.nodes if node.focus)
    dependents = [CatalogLink(node.name, node.id) for node in below.nodes if not node.focus]
    foreign: set[str] = {
        dependency.digest
        for dependency in catalog.definition.dependencies
        if dependency.population != catalog.definition.population
    }
    foreign |= {
        node.id
        for node in below.nodes
        if node.kind in _OF_SEVERAL_POPULATIONS and archive.catalog(node.id).population != catalog.population
    }
    related = _find_relations(archive, catalog, [*dict.fromkeys(dependencies), *dependents], foreign)
    same, same_total = archive.context.read(list_first_of_extent, catalog.digest, _MOST)
    return CatalogPage(
        name=description.name,
        names=description.names,
        digest=description.digest,
        kind=description.kind,
        what=description.is_what,
        parameters=list_parameters(catalog.definition),
        population=description.population,
        key=description.key,
        sources=description.sources,
        created_at=description.created_at,
        created_by=description.created_by,
        attributes=_list_attributes(archive, catalog),
        made_from=tuple(related[link.digest] for link in dict.fromkeys(dependencies)),
        made_from_it=DerivedCatalogs(tuple(related[link.digest] for link in dependents), len(dependents) + focus.below),
        data=see_data(catalog),
        lineage=lineage,
        depth=depth,
        direction=direction,
        same_sources=FirstCatalogs(
            tuple(CatalogLink(name or digest[:SHORT], digest) for digest, name in same), same_total
        ),
        fragments=tuple(_make_fragment_row(stored) for stored in archive.fragments(catalog, dropped=True)),
        says=tuple(map(str, description.says)),
        facts=tuple(_make_fact_row(fact) for fact in archive.facts(catalog, retracted=True)),
        warnings=tuple(f"the members of {name} are no longer known to be disjoint" for name in description.unproved)
        + tuple(f"taken on trust: {line}" for line in description.caveats)
        + tuple(phrase_for_page(line) for line in description.news),
        history=tuple(_read_history(archive, name) for name in description.names),
    )


def _find_relations(
    archive: Archive, catalog: Catalog, others: Sequence[CatalogLink], foreign: Collection[str]
) -> dict[str, Neighbour]:
    """Return the relations of a catalog to other catalogs by digest; `foreign` are digests of other populations."""
    names = {link.digest: link.name for link in others}
    neighbours = {
        other.digest: Neighbour(names[other.digest], other.digest, summary, WORDS[summary])
        for other, summary in archive.relations(catalog, [digest for digest in names if digest not in foreign])
    }
    words = "has another population than"
    return neighbours | {digest: Neighbour(names[digest], digest, "", words) for digest in names if digest in foreign}


def _list_attributes(archive: Archive, catalog: Catalog) -> tuple[AttributeRow, ...]:
    definers = find_definers(catalog.definition)
    attributes = catalog.schema.attributes
    key = {attribute.name for attribute in catalog.schema.key}
    used = {definers[attribute.identity][0].digest for attribute in attributes}
    names = archive.context.read(choose_names, used)
    return tuple(
        AttributeRow(
            name=attribute.name,
            type=str(attribute.type),
            unit=attribute.unit,
            ucd=attribute.ucd,
            description=attribute.description,
            nullable=attribute.nullable,
            key=attribute.name in key,
            defined_by=CatalogLink(names[definer.digest], definer.digest),
            defined_as=defined_as,
        )
        for attribute in attributes
        for definer, defined_as in (definers[attribute.identity],)
    )


def make_catalog_link(catalog: Catalog) -> CatalogLink:
    """Return the name and digest of a catalog, for a link to its page."""
    return CatalogLink(catalog.name, catalog.digest)


def _make_fragment_row(stored: Stored) -> FragmentRow:
    fragment = stored.fragment
    return FragmentRow(
        number=fragment.id,
        stored_for=stored.name,
        attributes=stored.attributes,
        rows=fragment.rows,
        size=fragment.size,
        seconds=fragment.seconds,
        stored_at=fragment.stored_at,
        stored_by=fragment.stored_by,
        uses=fragment.uses,
        used_at=fragment.used_at,
        unusable=stored.unusable,
    )


def _make_fact_row(fact: Fact) -> FactRow:
    return FactRow(
        number=fact.id,
        statement=str(fact.statement),
        origin=fact.origin,
        reason=fact.reason,
        by=fact.declared_by,
        at=fact.declared_at,
        holds=fact.holds,
        retracted_by=fact.retracted_by,
        retracted_at=fact.retracted_at,
        retracted_reason=fact.retracted_reason,
    )


def _read_history(archive: Archive, name: str) -> NameHistory:
    changes = archive.log(name)
    return NameHistory(
        name, tuple(NameMove(change.catalog, change.at, change.by) for change in changes[:_MOST]), len(changes)
    )


def _watch_files(archive: Archive, options: Mapping[str, Any]) -> Callable[[], Hashable | None]:
    """Return a function that tells whether the base files of a catalog are as they were."""
    roots = archive.context.workshop.roots
    locations = {
        base.files.location
        for base in list_bases(cone(archive.catalog(options["which"]).definition))
        if base.files.format not in (GIVEN, EXTERNAL, TABLE)
    }
    allowed = sorted(place for place in locations if roots is None or lies_within(place, roots))

    def stamp_files() -> Hashable | None:
        stamps = tuple(map(stamp_location, allowed))
        return None if None in stamps else stamps

    return stamp_files


def _read_state(states: StateReader, options: Mapping[str, Any]) -> Hashable:
    """Return what the page depends on: also what was tallied of the catalog, which a look alone may not tally."""
    digest = find_digest(states.reading, options["which"])
    return states.read(read_shown_state), find_subjects(states.reading, digest)


add_page(
    router,
    "/catalogs/{which}",
    show_catalog,
    "catalog.html",
    remembering=Remembering(seconds=_NEWS, watch_outside=_watch_files, read_state=_read_state),
)
