"""Stored fragments of catalogs: storing and listing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.archive.cards import make_stored_card, render_card
from provenn.catalogs import Catalog, verbs
from provenn.data import fragments
from provenn.data.fragments import Fragment
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names
from provenn.knowledge.stored_facts import Fact, get_facts
from provenn.words.vocabulary import SHORT, name_facts

if TYPE_CHECKING:
    from provenn.spark.pipeline import Pipeline
    from provenn.targets.plan import Plan

__all__ = ["Stored", "list_stored_fragments", "store_attributes"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A fragment, described with the names of the user.

    Parameters
    ----------
    name
        The name of the catalog for which the fragment was stored, or the beginning of its digest.
    attributes
        The columns of the fragment, the key first.
    unusable
        Why the fragment is not used any more; empty if it is in use.
    fragment
        The stored record of the fragment.
    rests_on
        The declared facts on which the fragment rests.
    """

    name: str
    attributes: tuple[str, ...]
    unusable: str
    fragment: Fragment
    rests_on: tuple[Fact, ...] = ()

    def _repr_html_(self) -> str | None:
        return render_card(
            lambda: make_stored_card(self.name, self.attributes, self.unusable, self.fragment, self.rests_on)
        )


def store_attributes(
    pipeline: Pipeline, catalog: Catalog, replan: Callable[[Catalog], Plan], attributes: Sequence[str] | None = None
) -> Stored:
    """Compute and keep attributes of a catalog's sources, unless kept already.

    All outputs of calculators for the catalog are kept too. The call waits for another process computing the same
    outputs now.

    Parameters
    ----------
    pipeline
        The pipeline that computes, writes and registers the fragments.
    catalog
        The catalog.
    replan
        Plans a catalog with the fragments stored now; called only if a fragment must be computed.
    attributes
        The names of the attributes; by default all. The key is always kept.

    Raises
    ------
    AttributeNotFoundError
        If the catalog has no attribute of a name.
    """
    from provenn.targets.storing import store_fragments  # noqa: PLC0415 - most commands plan nothing

    identities = None if attributes is None else [catalog.schema[name].identity for name in attributes]
    requested = catalog if attributes is None else verbs.keep(catalog, attributes)
    fragment = store_fragments(pipeline, catalog, lambda: replan(requested), identities)
    with pipeline.database.reading() as reading:
        return _describe_fragments(reading, [fragment])[0]


def list_stored_fragments(reading: Reading, extent: str | None = None, *, dropped: bool = False) -> list[Stored]:
    """Return the fragments with the sources of an extent, or all fragments.

    Parameters
    ----------
    reading
        The transaction.
    extent
        The digest of the extent.
    dropped
        Whether to include fragments that are not used any more.
    """
    if extent is not None and not dropped:
        return _describe_fragments(reading, fragments.find_by_extent(reading, extent))
    stored_fragments = fragments.all_fragments(reading, dropped=dropped)
    return _describe_fragments(
        reading, [fragment for fragment in stored_fragments if extent is None or fragment.extent == extent]
    )


def _describe_fragments(reading: Reading, stored_fragments: Sequence[Fragment]) -> list[Stored]:
    """Return fragments with the names of their catalogs and the declared facts behind the fragments."""
    names_by_catalog = catalog_names.find_names_by_digest(reading, {fragment.catalog for fragment in stored_fragments})
    numbers = {number for fragment in stored_fragments for number in fragment.facts}
    leaned_on = name_facts(reading, [fact for fact in get_facts(reading, numbers) if fact.origin == "declared"])
    return [
        Stored(
            next(iter(names_by_catalog.get(fragment.catalog, ())), fragment.catalog[:SHORT]),
            tuple(column for _, column in fragment.columns),
            _explain_unusable(fragment),
            fragment,
            tuple(fact for fact in leaned_on if fact.id in fragment.facts),
        )
        for fragment in stored_fragments
    ]


def _explain_unusable(fragment: Fragment) -> str:
    """Return why a fragment is not used any more; empty for a fragment in use."""
    if fragment.dropped_reason is not None:
        return fragment.dropped_reason
    return f"fact #{fragment.retracted[0]} was retracted" if fragment.retracted else ""
