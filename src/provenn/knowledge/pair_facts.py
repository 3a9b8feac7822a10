"""Facts about the pairs of cross-matches, from stored definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from provenn.catalogs.pair_sets import PairSets, relate_pairs
from provenn.catalogs.verbs import CLASSES
from provenn.criteria import Atom
from provenn.definitions.ancestors import StoredDefinition
from provenn.knowledge.restored_lineage import restore_lineage

__all__ = ["find_pair_facts"]

_PAIRINGS = frozenset(kind for kind, catalog_class in CLASSES.items() if catalog_class.profile.pairs_sources)
"""The catalog classes whose rows are pairs."""


def find_pair_facts(definitions: Sequence[StoredDefinition], atoms: Iterable[Atom]) -> PairSets | None:
    """Return the known facts about pairs, or None if no definition is a cross-match.

    Parameters
    ----------
    definitions
        Definitions, each after its dependencies.
    atoms
        The atoms of their criteria.
    """
    if not any(definition.kind in _PAIRINGS for definition in definitions):
        return None
    pairings = [catalog.find_pairing() for catalog in restore_lineage(definitions, _PAIRINGS)]
    return relate_pairs([pairing for pairing in pairings if pairing is not None], atoms)
