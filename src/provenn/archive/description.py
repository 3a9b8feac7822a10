"""Descriptions of catalogs in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from json import dumps
from typing import TYPE_CHECKING, Any

from provenn.archive.cards import make_attribute_table, make_fact_table, render_card
from provenn.archive.concatenations import find_unproved_concatenations
from provenn.catalogs import Attribute, Base, Catalog, cone
from provenn.catalogs.caveats import describe_caveats
from provenn.definitions.catalog_store import find_entries
from provenn.digests import CatalogDigest
from provenn.display.catalog_card import Card
from provenn.display.text import join_words
from provenn.files.evidence import describe_basis
from provenn.knowledge import stored_facts
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Statement
from provenn.words.definition_words import describe_definition
from provenn.words.extent_words import describe_extent
from provenn.words.vocabulary import Vocabulary

if TYPE_CHECKING:
    from provenn.database.transactions import Reading

__all__ = ["Description", "describe_catalog", "make_description_card"]

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Description:
    """A description of a catalog in plain words.

    Attributes
    ----------
    name, names
        The name used here; all names of the catalog.
    digest, kind
        The digest of the catalog, and the name of its class.
    is_what
        The definition in words, as the user wrote it.
    made_from
        The names of the catalog's dependencies.
    population
        The kind of object in a row.
    attributes
        The attributes, in the order of the columns.
    key
        The names of the attributes that identify a source.
    sources
        The set of sources, by base catalogs and criteria.
    says
        The statements that follow from the definition, with names.
    facts
        The declared or observed facts about the catalog.
    unproved
        Concatenations in the lineage whose members are no longer known to be disjoint.
    known_by
        For a base catalog: the evidence that its files are unchanged.
    caveats
        The assumptions of every answer about base files, a sentence each.
    created_at, created_by
        The time and the author of the first definition.
    metadata
        For a base catalog: the table metadata of its files, by keyword.
    news
        Files that came to the folders of the base catalogs since, a sentence each, with what to do.
    not_understood
        Why parts of the lineage are opaque, a reason each.
    """

    name: str
    names: tuple[str, ...]
    digest: str
    kind: str
    is_what: str
    made_from: tuple[str, ...]
    population: str
    attributes: tuple[Attribute, ...]
    key: tuple[str, ...]
    sources: str
    says: tuple[Statement, ...]
    facts: tuple[Fact, ...]
    unproved: tuple[str, ...]
    known_by: str
    caveats: tuple[str, ...]
    created_at: datetime
    created_by: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    news: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, phrase: Callable[[str], str] = str) -> str:
        """Return the description as lines; `phrase` puts hints into the words of an interface."""
        return "\n".join([*self._lines(), *(f"  new files: {phrase(line)}" for line in self.news)])

    def _lines(self) -> Iterator[str]:
        """Yield the lines of the description."""
        yield f"{self.name}: {self.is_what}"
        yield f"  one row is   {self.population}, known by {join_words(self.key)}"
        yield f"  sources      {self.sources}"
        yield f"  class        {self.kind}" + (f", made from {join_words(self.made_from)}" if self.made_from else "")
        if self.known_by:
            yield f"  files        known by {self.known_by}"
        yield f"  names        {', '.join(self.names) or 'none'}"
        yield f"  digest       {self.digest}"
        yield f"  since        {self.created_at:%Y-%m-%d %H:%M} UTC, by {self.created_by}"
        yield "  attributes"
        width = max(len(attribute.name) for attribute in self.attributes)
        for attribute in self.attributes:
            yield f"    {attribute.name:{width}}  {_describe_attribute(attribute, key=attribute.name in self.key)}"
        if self.metadata:
            yield "  metadata"
            yield from (f"    {keyword}: {_shorten_value(value)}" for keyword, value in self.metadata.items())
        if self.says or self.facts:
            yield "  facts"
            yield from (f"    {statement}  (by definition)" for statement in self.says)
            yield from (f"    {_describe_fact(fact)}" for fact in self.facts)
        for name in self.unproved:
            yield f"  warning: the members of {name} are no longer known to be disjoint"
        yield from (f"  taken on trust: {line}" for line in self.caveats)
        yield from (f"  not understood: {line}" for line in self.not_understood)

    def _repr_html_(self) -> str | None:
        return render_card(lambda: make_description_card(self))


def make_description_card(description: Description) -> Card:
    """Return the card of a description."""
    rows = (
        ("sources", description.sources),
        ("one row is", f"{description.population}, known by {join_words(description.key)}"),
        ("made from", join_words(description.made_from)),
        ("files known by", description.known_by),
        ("names", join_words(description.names) or "none"),
        ("since", f"{description.created_at:%Y-%m-%d %H:%M} UTC, by {description.created_by}"),
        ("digest", description.digest),
    )
    tables = (
        make_attribute_table(description.attributes, description.key),
        make_fact_table(description.says, description.facts),
    )
    warnings = tuple(f"the members of {name} are no longer known to be disjoint" for name in description.unproved)
    warnings += tuple(f"taken on trust: {line}" for line in description.caveats)
    warnings += tuple(f"not understood: {line}" for line in description.not_understood)
    warnings += tuple(f"new files: {line}" for line in description.news)
    kind = f"{description.kind} of {description.population}"
    return Card(description.name, kind, description.is_what, rows, tables, warnings)


def describe_catalog(reading: Reading, catalog: Catalog, user_names: dict[CatalogDigest, str]) -> Description:
    """Describe a catalog of the archive.

    Parameters
    ----------
    reading
        The transaction.
    catalog
        The catalog.
    user_names
        The user's name of the catalog, by digest; may be empty.
    """
    entry = find_entries(reading, [catalog.digest])[catalog.digest]
    about = stored_facts.find_facts_about(reading, catalog.digest)
    lineage = cone(catalog)
    bases = [member.digest for member in lineage if not member.dependencies]
    unproved = find_unproved_concatenations(reading, lineage)
    statements = [*catalog.facts(), *(fact.statement for fact in about)]
    vocabulary = Vocabulary.of(
        reading,
        [*bases, *(concatenation.digest for concatenation in unproved)],
        user_names,
        statements,
        [catalog.digest],
    )
    word = vocabulary.word
    return Description(
        name=word(catalog.digest),
        names=entry.names,
        digest=catalog.digest,
        kind=catalog.kind,
        is_what=describe_definition(catalog, word),
        made_from=tuple(word(dependency.digest) for dependency in catalog.dependencies),
        population=catalog.population.name,
        attributes=catalog.schema.attributes,
        key=tuple(attribute.name for attribute in catalog.schema.key),
        sources=describe_extent(catalog.extent, word, frozenset(bases)),
        says=tuple(map(vocabulary.state_definition, catalog.facts())),
        facts=tuple(vocabulary.translate_fact(fact) for fact in about),
        unproved=tuple(word(concatenation.digest) for concatenation in unproved),
        known_by=describe_basis(catalog.files) if isinstance(catalog, Base) else "",
        caveats=describe_caveats([catalog], word),
        created_at=entry.created_at,
        created_by=entry.created_by,
        metadata=catalog.files.table_metadata if isinstance(catalog, Base) else {},
        not_understood=tuple(dict.fromkeys(filter(None, (member.explain_opacity() for member in lineage)))),
    )


def _shorten_value(value: object) -> str:
    """Return a metadata value as a line of limited length."""
    text = value if isinstance(value, str) else dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _describe_attribute(attribute: Attribute, *, key: bool) -> str:
    """Return the type, unit and notes of an attribute in words."""
    parts = [str(attribute.type), *([f"in {attribute.unit}"] if attribute.unit else [])]
    parts += ["key"] if key else [] if attribute.nullable else ["never NULL"]
    parts += [f"UCD {attribute.ucd}"] if attribute.ucd else []
    return ", ".join(parts) + (f": {attribute.description}" if attribute.description else "")


def _describe_fact(fact: Fact) -> str:
    """Return a fact with origin and reason."""
    why = f": {fact.reason}" if fact.reason else ""
    return f"{fact.statement}  (fact #{fact.id}, {fact.origin} by {fact.declared_by}{why})"
