"""What is stored of catalogs: keeping it, listing it, and deleting what is not worth its space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.archive.words import SHORT, in_names
from provenn.catalogs import Catalog, KeepAttributes
from provenn.store import fragments, names
from provenn.store.database import Reading
from provenn.store.facts import Fact, facts_numbered
from provenn.store.fragments import Fragment
from provenn.targets.keeping import parts_stored
from provenn.targets.leasing import Turn
from provenn.targets.running import sound, store_part

if TYPE_CHECKING:
    from provenn.spark.pipeline import Pipeline
    from provenn.targets.plan import Plan

__all__ = ["Stored", "listed", "store"]


@dataclass(frozen=True, slots=True)
class Stored:
    """A fragment, in the user's words.

    Parameters
    ----------
    name
        The name of the catalog for which it was stored, or the beginning of its digest.
    attributes
        The columns it holds, the key first.
    unusable
        Why it is not used any more; empty if it is.
    fragment
        All else there is to know.
    rests_on
        The declared facts on which it rests.
    """

    name: str
    attributes: tuple[str, ...]
    unusable: str
    fragment: Fragment
    rests_on: tuple[Fact, ...] = ()

    def _repr_html_(self) -> str | None:
        from provenn.archive import cards  # noqa: PLC0415 - only a notebook needs it

        return cards.html(cards.stored_card, self)


def store(
    pipeline: Pipeline, catalog: Catalog, replan: Callable[[Catalog], Plan], attributes: Sequence[str] | None = None
) -> Stored:
    """Compute attributes of a catalog's sources and keep them, unless they are kept already.

    All that calculators give for it is kept too. What somebody else computes now is waited for.

    Parameters
    ----------
    pipeline
        Where it is registered, written and computed.
    catalog
        The catalog.
    replan
        Plans how to compute a catalog, with what is stored now; only called if something is to be computed.
    attributes
        Their names; by default all. The key is always kept.

    Raises
    ------
    AttributeNotFoundError
        If there is no such attribute.
    """
    from provenn.spark.fragments import existing  # noqa: PLC0415 - only data need Spark

    database = pipeline.database
    identities = None if attributes is None else [catalog.schema[name].identity for name in attributes]
    asked = catalog if attributes is None else KeepAttributes.of(catalog, attributes)
    turn = Turn(database, pipeline.listener)
    stored: set[int] = set()
    while (found := existing(database, pipeline.folder, catalog, identities)) is None:
        plan = sound(pipeline, replan(asked))
        *others, whole = parts_stored(plan, catalog)
        part = next((one for one in others if one.step.signature not in stored), whole)
        found = store_part(pipeline, plan, part, turn)
        if found is not None and part is whole:
            break
        stored |= set() if found is None else {part.step.signature}
    with database.reading() as reading:
        return _told(reading, [found])[0]


def listed(reading: Reading, extent: str | None = None, *, dropped: bool = False) -> list[Stored]:
    """Return the fragments that hold the sources of an extent, or all.

    Parameters
    ----------
    reading
        The transaction.
    extent
        The digest of the extent.
    dropped
        Also those that are not used any more.
    """
    if extent is not None and not dropped:
        return _told(reading, fragments.of_extent(reading, extent))
    found = fragments.all_fragments(reading, dropped=dropped)
    return _told(reading, [one for one in found if extent is None or one.extent == extent])


def _told(reading: Reading, found: Sequence[Fragment]) -> list[Stored]:
    called = names.names_of(reading, {one.catalog for one in found})
    numbers = {number for one in found for number in one.facts}
    leaned_on = in_names(reading, [one for one in facts_numbered(reading, numbers) if one.origin == "declared"])
    return [
        Stored(
            next(iter(called.get(one.catalog, ())), one.catalog[:SHORT]),
            tuple(column for _, column in one.columns),
            _unusable(one),
            one,
            tuple(fact for fact in leaned_on if fact.id in one.facts),
        )
        for one in found
    ]


def _unusable(one: Fragment) -> str:
    if one.dropped_reason is not None:
        return one.dropped_reason
    return f"fact #{one.retracted[0]} was retracted" if one.retracted else ""
