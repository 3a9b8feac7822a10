"""The values of an archive as a notebook shows them. Nothing is computed for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from provenn.archive.sentences import listed
from provenn.catalogs import Attribute, Schema
from provenn.display.catalog import Card, Table, card_html
from provenn.display.text import size_text
from provenn.errors import ProvennError

if TYPE_CHECKING:
    from provenn.archive.archive import Archive
    from provenn.archive.description import Description
    from provenn.archive.fragments import Stored
    from provenn.archive.handle import Catalog
    from provenn.archive.target import Target

__all__ = ["archive_card", "catalog_card", "description_card", "html", "stored_card", "target_card"]

T = TypeVar("T")

_NEWEST = 10
_MOST = 40
_SKETCH = 12


def html(card: Callable[[T], Card], value: T) -> str | None:
    """Return a value as HTML; None if its archive cannot be read any more, so that a notebook shows its text."""
    try:
        return card_html(card(value))
    except ProvennError:
        return None


def archive_card(archive: Archive) -> Card:
    """Return an archive: where it is, how much is in it, and what is new."""
    newest = archive.search(named=True, most=_NEWEST)
    rows = (
        ("catalogs", f"{len(archive):,}".replace(",", " ")),
        ("populations", listed(archive.populations())),
        ("place", archive.place),
    )
    listing = tuple(
        (", ".join(one.names), one.kind, one.population, f"{one.created_at:%Y-%m-%d %H:%M}", one.created_by)
        for one in newest
    )
    header = ("name", "class", "population", "since (UTC)", "by")
    return Card("Archive", "", rows=rows, tables=(Table("Newest names", header, listing),))


def catalog_card(catalog: Catalog) -> Card:
    """Return a catalog: what it is, its attributes, what is stored of it, and what is around it in its lineage."""
    archive = catalog.archive
    card = description_card(archive.describe(catalog))
    stored = ("stored", _stored_words(catalog.schema, archive.fragments(catalog)))
    around = archive.neighbourhood(catalog, depth=2, most=_SKETCH)
    return replace(card, rows=(stored, *card.rows), picture=around.svg(inline=True))


def description_card(told: Description) -> Card:
    """Return a description."""
    attributes = tuple(
        (one.name, str(one.type), one.unit, _note(one, told), one.ucd, one.description)
        for one in islice(told.attributes, _MOST)
    )
    facts = [(str(said), "by definition") for said in told.says]
    facts += [(str(one.statement), f"fact #{one.id}, {one.origin} by {one.declared_by}") for one in told.facts]
    count = len(told.attributes)
    tables = (
        Table(
            f"{count:,} attribute{'s' * (count != 1)}".replace(",", " "),
            ("name", "type", "unit", "note", "UCD", "description"),
            attributes,
            count,
        ),
        Table("Facts", ("statement", "where it comes from"), tuple(facts[:_MOST]), len(facts)),
    )
    rows = (
        ("sources", told.sources),
        ("one row is", f"{told.population}, known by {listed(told.key)}"),
        ("made from", listed(told.made_from)),
        ("files known by", told.known_by),
        ("names", listed(told.names) or "none"),
        ("since", f"{told.created_at:%Y-%m-%d %H:%M} UTC, by {told.created_by}"),
        ("digest", told.digest),
    )
    warnings = tuple(f"the members of {one} are not known to be disjoint any more" for one in told.unproved)
    warnings += tuple(f"taken on trust: {line}" for line in told.caveats)
    return Card(told.name, f"{told.kind} of {told.population}", told.is_what, rows, tables, warnings)


def stored_card(stored: Stored) -> Card:
    """Return what is stored, and of what use it was."""
    one = stored.fragment
    rows = (
        ("attributes", listed(stored.attributes)),
        ("sources", f"{one.rows:,}".replace(",", " ")),
        ("size", f"{size_text(one.size)} in {len(one.files)} file{'s' * (len(one.files) != 1)}"),
        ("stored", f"{one.stored_at:%Y-%m-%d %H:%M} UTC, by {one.stored_by}"),
        ("computed in", f"{one.seconds:.1f} s"),
        ("used", f"{one.uses} time{'s' * (one.uses != 1)}"),
    )
    unusable = (f"it is not used any more: {stored.unusable}",) if stored.unusable else ()
    warnings = unusable + tuple(f"it rests on {fact.words}" for fact in stored.rests_on)
    return Card(f"Fragment #{one.id}", f"of {stored.name}", rows=rows, warnings=warnings)


def target_card(target: Target) -> Card:
    """Return what is asked for, and how it is answered."""
    asked = target.request
    rows = (
        ("attributes", listed(asked.attributes)),
        ("sources", asked.called),
        ("where", asked.where or ""),
        ("missing values", asked.missing),
        ("results kept", target.keep),
    )
    return Card("Target", "", rows=rows, picture=target.plan()._repr_html_())


def _note(one: Attribute, told: Description) -> str:
    return "key" if one.name in told.key else "" if one.nullable else "never NULL"


def _stored_words(schema: Schema, found: Sequence[Stored]) -> str:
    """Return what of some attributes is stored, in words."""
    held = frozenset(identity for one in found for identity in one.fragment.identities)
    names = [one.name for one in schema.attributes if one.identity in held]
    if not names:
        return "nothing"
    which = "all attributes" if len(names) == len(schema) else listed(names)
    numbers = listed([f"#{one.fragment.id}" for one in found], most=4)
    return (
        f"{which}, in fragment{'s' * (len(found) > 1)} {numbers}, {size_text(sum(one.fragment.size for one in found))}"
    )
