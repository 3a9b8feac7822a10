"""Platform traits: whether the sources and values of a catalog are the same on every platform."""

from __future__ import annotations

from functools import lru_cache

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.restoring import cone
from provenn.criteria.platforms import Trait

__all__ = ["find_lineage_traits"]


def find_lineage_traits(*catalogs: Catalog) -> frozenset[Trait]:
    """Return the platform traits that may show in the sources or values of some catalogs.

    The whole lineage counts: the result of a function may decide a selection, be an input of a calculator, or be joined
    to attributes further on. So the result may name a trait without effect in the end, but never misses a trait.
    """
    traits: frozenset[Trait] = frozenset()
    for catalog in cone(*catalogs):
        traits |= _find_own_traits(catalog)
    return traits


@lru_cache(maxsize=10_000)
def _find_own_traits(catalog: Catalog) -> frozenset[Trait]:
    """Return the traits added by a definition to the traits of the dependencies; remember them."""
    return catalog.find_own_traits()
