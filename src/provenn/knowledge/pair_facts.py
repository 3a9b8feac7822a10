"""Facts about the pairs of cross-matches, from stored definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.pair_sets import PairSets, relate_pairs
from provenn.catalogs.restoring import restore
from provenn.catalogs.verbs import CLASSES
from provenn.criteria import Atom
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest
from provenn.errors import ProvennError

__all__ = ["find_pair_facts"]

_PAIRINGS = frozenset(kind for kind, catalog_class in CLASSES.items() if catalog_class.profile.pairs_sources)
"""The catalog classes whose rows are pairs."""


def find_pair_facts(definitions: Sequence[StoredDefinition], atoms: Iterable[Atom]) -> PairSets | None:
    """Return what is known about pairs, or None if no definition is a cross-match.

    Parameters
    ----------
    definitions
        Definitions, each after its dependencies.
    atoms
        The atoms of their criteria.
    """
    matches = [definition.digest for definition in definitions if definition.kind in _PAIRINGS]
    if not matches:
        return None
    restored = _restore_lineage({definition.digest: definition for definition in definitions}, matches)
    pairings = [catalog.find_pairing() for catalog in restored]
    return relate_pairs([pairing for pairing in pairings if pairing is not None], atoms)


def _restore_lineage(
    definitions: dict[CatalogDigest, StoredDefinition], digests: Iterable[CatalogDigest]
) -> list[Catalog]:
    """Return catalogs with their lineage; catalogs that cannot be restored, and what is made from them, are left out.

    Nothing is claimed about them; `provenn check` reports them.
    """
    needed: set[CatalogDigest] = set()
    stack = list(digests)
    while stack:
        digest = stack.pop()
        if digest not in needed and digest in definitions:
            needed.add(digest)
            stack.extend(definitions[digest].dependencies)
    restored: dict[CatalogDigest, Catalog] = {}
    for digest, definition in definitions.items():
        if digest not in needed or not restored.keys() >= set(definition.dependencies):
            continue
        parts = [restored[dependency] for dependency in definition.dependencies]
        try:
            catalog = restore(definition.kind, definition.parameters, definition.notes, parts)
        except ProvennError:
            continue
        if catalog.digest == digest:
            restored[digest] = catalog
    return list(restored.values())
