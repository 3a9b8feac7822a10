"""All there is to say of a catalog, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from json import dumps
from typing import Any

from provenn.archive.definitions import disjointly_concatenated
from provenn.archive.sentences import listed, sentence
from provenn.archive.words import Vocabulary
from provenn.catalogs import Attribute, Base, Catalog, Extent, cone
from provenn.catalogs.caveats import basis_words, caveats_of
from provenn.logic import Statement
from provenn.store import facts
from provenn.store.catalog_store import entries
from provenn.store.database import Reading
from provenn.store.facts import Fact

__all__ = ["Description", "described"]

_MOST_LEAVES = 40
_LONGEST = 80
_PRESENT = " IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Description:
    """A catalog, in plain words.

    Attributes
    ----------
    name, names
        What it is called here; all names it has.
    digest, kind
        Its digest, and the name of its class.
    is_what
        What it is, as the user wrote it.
    made_from
        The catalogs it is made from, by name.
    population
        What one row is.
    attributes
        Its attributes, in the order of the columns.
    key
        The names of those that identify a source.
    sources
        Which sources it has, by base catalogs and criteria.
    says
        What its definition says of sets, in names.
    facts
        What was declared or observed about it.
    unproved
        Concatenations in its lineage whose members are not known to be disjoint any more.
    known_by
        Of a base catalog: what tells whether its files are what they were.
    caveats
        What every answer about it takes on trust of base files, a sentence each.
    created_at, created_by
        When it was defined first, and by whom.
    metadata
        Of a base catalog: what its files say of the table as a whole, by keyword.
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

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name}: {self.is_what}"
        yield f"  one row is   {self.population}, known by {listed(self.key)}"
        yield f"  sources      {self.sources}"
        yield f"  class        {self.kind}" + (f", made from {listed(self.made_from)}" if self.made_from else "")
        if self.known_by:
            yield f"  files        known by {self.known_by}"
        yield f"  names        {', '.join(self.names) or 'none'}"
        yield f"  digest       {self.digest}"
        yield f"  since        {self.created_at:%Y-%m-%d %H:%M} UTC, by {self.created_by}"
        yield "  attributes"
        width = max(len(one.name) for one in self.attributes)
        for one in self.attributes:
            yield f"    {one.name:{width}}  {_attribute_words(one, key=one.name in self.key)}"
        if self.metadata:
            yield "  metadata"
            yield from (f"    {keyword}: {_shortened(value)}" for keyword, value in self.metadata.items())
        if self.says or self.facts:
            yield "  facts"
            yield from (f"    {said}  (by definition)" for said in self.says)
            yield from (f"    {_fact_words(fact)}" for fact in self.facts)
        for name in self.unproved:
            yield f"  warning: the members of {name} are not known to be disjoint any more"
        yield from (f"  taken on trust: {line}" for line in self.caveats)

    def _repr_html_(self) -> str | None:
        from provenn.archive import cards  # noqa: PLC0415 - only a notebook needs it

        return cards.html(cards.description_card, self)


def described(reading: Reading, catalog: Catalog, asked: dict[str, str]) -> Description:
    """Describe a catalog of the archive.

    Parameters
    ----------
    reading
        The transaction.
    catalog
        The catalog.
    asked
        What the user calls it, by digest; empty if nobody said.
    """
    entry = entries(reading, [catalog.digest])[catalog.digest]
    about = facts.facts_about(reading, catalog.digest)
    lineage = cone(catalog)
    bases = [one.digest for one in lineage if not one.dependencies]
    unproved = disjointly_concatenated(reading, lineage)
    told = [*catalog.facts(), *(one.statement for one in about)]
    vocabulary = Vocabulary.of(reading, [*bases, *(one.digest for one in unproved)], asked, told, [catalog.digest])
    word = vocabulary.word
    return Description(
        name=word(catalog.digest),
        names=entry.names,
        digest=catalog.digest,
        kind=catalog.kind,
        is_what=sentence(catalog, word),
        made_from=tuple(word(one.digest) for one in catalog.dependencies),
        population=catalog.population.name,
        attributes=catalog.schema.attributes,
        key=tuple(one.name for one in catalog.schema.key),
        sources=extent_words(catalog.extent, word, frozenset(bases)),
        says=tuple(map(vocabulary.said, catalog.facts())),
        facts=tuple(vocabulary.told(one) for one in about),
        unproved=tuple(word(one.digest) for one in unproved),
        known_by=basis_words(catalog.files) if isinstance(catalog, Base) else "",
        caveats=caveats_of([catalog], word),
        created_at=entry.created_at,
        created_by=entry.created_by,
        metadata=catalog.files.table_metadata if isinstance(catalog, Base) else {},
    )


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _attribute_words(one: Attribute, *, key: bool) -> str:
    said = [str(one.type), *([f"in {one.unit}"] if one.unit else [])]
    said += ["key"] if key else [] if one.nullable else ["never NULL"]
    said += [f"UCD {one.ucd}"] if one.ucd else []
    return ", ".join(said) + (f": {one.description}" if one.description else "")


def _fact_words(fact: Fact) -> str:
    why = f": {fact.reason}" if fact.reason else ""
    return f"{fact.statement}  (fact #{fact.id}, {fact.origin} by {fact.declared_by}{why})"


def extent_words(extent: Extent, word: Callable[[str], str], bases: frozenset[str]) -> str:
    """Return a set of sources in words; of one that is made of very many sets, only how many.

    Parameters
    ----------
    extent
        The set.
    word
        The words for base catalogs and criteria.
    bases
        Which labels are those of base catalogs.
    """
    labels = extent.labels
    if len(labels) > _MOST_LEAVES:
        known = [label for label in labels if label in bases]
        few = listed([word(label) for label in known], 3)
        return f"a set made of {few} and {len(labels) - len(known)} criteria"
    return _set_words(extent, word, bases, inner=False)


def _set_words(extent: Extent, word: Callable[[str], str], bases: frozenset[str], *, inner: bool) -> str:
    if extent.label is not None:
        return _leaf_words(word(extent.label), base=extent.label in bases, outside=extent.complemented)
    if not extent.parts:
        return "none" if extent.complemented else "all there are"
    # What is there comes before what is not, and base catalogs before criteria.
    parts = sorted((~part for part in extent.parts) if extent.complemented else extent.parts, key=_rank(bases))
    joined = (" or " if extent.complemented else " and ").join(
        _set_words(part, word, bases, inner=True) for part in parts
    )
    return f"({joined})" if inner else joined


def _leaf_words(word: str, *, base: bool, outside: bool) -> str:
    if base:
        return f"not in {word}" if outside else f"in {word}"
    if word.endswith(_PRESENT) and outside:
        return word.removesuffix(_PRESENT) + " IS NULL"
    return f"({word}) IS NOT TRUE" if outside else word


def _rank(bases: frozenset[str]) -> Callable[[Extent], tuple[bool, bool, str]]:
    return lambda one: (one.complemented and one.label is not None, one.label not in bases, one.label or "")
