"""Concatenations of catalogs, which may need a proof that their members are disjoint."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from provenn.catalogs import Catalog, ConcatSources, verbs
from provenn.definitions import catalog_store, search
from provenn.definitions.search import CatalogFilter

if TYPE_CHECKING:
    from provenn.database.transactions import Reading
    from provenn.logic import Statement

__all__ = [
    "NEEDING_PROOF",
    "Order",
    "concatenate_catalogs",
    "find_unproved_concatenations",
    "list_unproved_concatenations",
]

NEEDING_PROOF = tuple(kind for kind, catalog_class in verbs.CLASSES.items() if catalog_class.profile.needs_proof)
"""The classes of catalogs whose definition may rest on a proof about the dependencies."""

Order = Literal["first"]
"""The rule that chooses the member whose values count for a source of several members."""


def concatenate_catalogs(reading: Reading, members: Sequence[Catalog], order: Order | None) -> Catalog:
    """Return the concatenation of catalogs of the archive.

    Members with different definitions of attributes must be proved disjoint, unless an order is given.
    """
    return ConcatSources.prove(members, order, partial(_is_proved, reading))


def find_unproved_concatenations(reading: Reading, catalogs: Collection[Catalog]) -> list[Catalog]:
    """Return the concatenations that need disjoint members, but lack a proof."""
    return [
        catalog
        for catalog in catalogs
        if (statement := catalog.required_statement()) is not None and not _is_proved(reading, statement)
    ]


def _is_proved(reading: Reading, statement: Statement) -> bool:
    """Return whether a statement is proved; the reasoner is imported only if there is a statement."""
    from provenn.archive.questions import is_proved  # noqa: PLC0415 - few catalogs need a proof

    return is_proved(reading, statement)


def list_unproved_concatenations(reading: Reading) -> list[Catalog]:
    """Return all concatenations of the archive that need disjoint members, but lack a proof."""
    digests = [
        entry.digest
        for which in [CatalogFilter(kind=kind) for kind in NEEDING_PROOF]
        for entry in search.search_catalogs(reading, which, most=search.count_matches(reading, which))
    ]
    concatenations = catalog_store.get_catalogs(reading, digests) if digests else {}
    return find_unproved_concatenations(reading, concatenations.values())
