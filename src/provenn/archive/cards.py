"""Notebook cards for the objects of an archive, made from their values. Showing a card computes no data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from provenn.display.catalog_card import Card, Table, card_html
from provenn.display.text import join_words
from provenn.errors import ProvennError
from provenn.sizes import format_size

if TYPE_CHECKING:
    from provenn.catalogs import Attribute, Schema
    from provenn.data.fragments import Fragment
    from provenn.definitions.catalog_store import CatalogEntry
    from provenn.knowledge.stored_facts import Fact
    from provenn.logic import Statement
    from provenn.targets.planning import Request

__all__ = [
    "describe_stored",
    "make_archive_card",
    "make_attribute_table",
    "make_fact_table",
    "make_stored_card",
    "make_target_card",
    "render_card",
]

_MOST = 40


def render_card(make_card: Callable[[], Card]) -> str | None:
    """Return a card as HTML; None if the archive is unreadable, so that a notebook shows plain text."""
    try:
        return card_html(make_card())
    except ProvennError:
        return None


def make_archive_card(
    place: str, catalogs: int, populations: Sequence[str], newest_names: Sequence[CatalogEntry]
) -> Card:
    """Return the card of an archive: place, size, and newest names."""
    rows = (
        ("catalogs", f"{catalogs:,}"),
        ("populations", join_words(populations)),
        ("place", place),
    )
    listing = tuple(
        (", ".join(entry.names), entry.kind, entry.population, f"{entry.created_at:%Y-%m-%d %H:%M}", entry.created_by)
        for entry in newest_names
    )
    header = ("name", "class", "population", "since (UTC)", "by")
    return Card("Archive", "", rows=rows, tables=(Table("Newest names", header, listing),))


def make_attribute_table(attributes: Sequence[Attribute], key: Sequence[str]) -> Table:
    """Return the table of the attributes of a catalog; `key` names the attributes of the key."""
    rows = tuple(
        (
            attribute.name,
            str(attribute.type),
            attribute.unit,
            "key" if attribute.name in key else "" if attribute.nullable else "never NULL",
            attribute.ucd,
            attribute.description,
        )
        for attribute in islice(attributes, _MOST)
    )
    count = len(attributes)
    title = f"{count:,} attribute{'s' * (count != 1)}"
    return Table(title, ("name", "type", "unit", "note", "UCD", "description"), rows, count)


def make_fact_table(by_definition: Sequence[Statement], recorded: Sequence[Fact]) -> Table:
    """Return the table of the statements implied by a definition, and of recorded facts."""
    rows = [(str(statement), "by definition") for statement in by_definition]
    rows += [(str(fact.statement), f"fact #{fact.id}, {fact.origin} by {fact.declared_by}") for fact in recorded]
    return Table("Facts", ("statement", "where it comes from"), tuple(rows[:_MOST]), len(rows))


def make_stored_card(
    catalog_name: str, attributes: Sequence[str], unusable: str, fragment: Fragment, rests_on: Sequence[Fact]
) -> Card:
    """Return the card of a fragment: contents and uses.

    Parameters
    ----------
    catalog_name
        The name of the catalog for which the fragment was stored.
    attributes
        The names of the attributes.
    unusable
        Why the fragment is not used any more; empty if it is in use.
    fragment
        The stored record of the fragment.
    rests_on
        The declared facts on which the fragment rests.
    """
    rows = (
        ("attributes", join_words(attributes)),
        ("sources", f"{fragment.rows:,}"),
        ("size", f"{format_size(fragment.size)} in {len(fragment.files)} file{'s' * (len(fragment.files) != 1)}"),
        ("stored", f"{fragment.stored_at:%Y-%m-%d %H:%M} UTC, by {fragment.stored_by}"),
        ("computed in", f"{fragment.seconds:.1f} s"),
        ("used", f"{fragment.uses} time{'s' * (fragment.uses != 1)}"),
    )
    warnings: tuple[str, ...] = (f"no longer used: {unusable}",) if unusable else ()
    warnings += tuple(f"it rests on {fact.words}" for fact in rests_on)
    return Card(f"Fragment #{fragment.id}", f"of {catalog_name}", rows=rows, warnings=warnings)


def make_target_card(request: Request, keep: str, picture: str) -> Card:
    """Return the card of a target: the request, and the picture of the plan."""
    rows = (
        ("attributes", join_words(request.attributes)),
        ("sources", request.sources_name),
        ("where", request.where or ""),
        ("missing values", request.missing),
        ("results kept", keep),
    )
    return Card("Target", "", rows=rows, picture=picture)


def describe_stored(schema: Schema, fragments: Sequence[Fragment]) -> str:
    """Return, in words, the attributes of a schema stored in fragments."""
    stored_identities = frozenset(identity for fragment in fragments for identity in fragment.identities)
    names = [attribute.name for attribute in schema.attributes if attribute.identity in stored_identities]
    if not names:
        return "nothing"
    which = "all attributes" if len(names) == len(schema) else join_words(names)
    numbers = join_words([f"#{fragment.id}" for fragment in fragments], most=4)
    size = format_size(sum(fragment.size for fragment in fragments))
    return f"{which}, in fragment{'s' * (len(fragments) > 1)} {numbers}, {size}"
