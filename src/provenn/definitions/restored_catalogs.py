"""The catalogs restored last: a definition never changes, so that the same rows need not be interpreted again.

A refresh reads the same catalogs in a dozen transactions, and the set of a selection from hundreds of files takes
longer to build than to read. The memory is one for all archives of the process, as digests say what is meant in any.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from provenn.catalogs import Catalog
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.restoring import restore
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest

__all__ = ["restore_catalog"]

_MOST_CATALOGS = 2_000
"""How many catalogs are remembered; the least recently used one is forgotten first.

A question reads the lineages of all facts about its catalogs, some hundreds of catalogs in the same order each time: a
memory of fewer would forget each of them before it is asked for again. A catalog takes some kilobytes.
"""

_remembered: OrderedDict[CatalogDigest, tuple[Parameters, Catalog]] = OrderedDict()
_lock = Lock()


def restore_catalog(definition: StoredDefinition, dependencies: Sequence[Catalog]) -> Catalog:
    """Return the catalog of a stored definition, whose digest was checked, on its dependencies.

    Sound: the digest covers the class, the parameters and the digests of the dependencies. A remembered catalog is
    returned only if its notes are the same too, and its dependencies are these very objects.

    Raises
    ------
    DefinitionError
        If the class does not exist, or the parameters do not fit the class.
    """
    with _lock:
        known = _remembered.get(definition.digest)
        if known is not None and _is_same(*known, definition, dependencies):
            _remembered.move_to_end(definition.digest)
            return known[1]
    catalog = restore(definition.kind, definition.parameters, definition.notes, dependencies)
    with _lock:
        _remembered[definition.digest] = (definition.notes, catalog)
        _remembered.move_to_end(definition.digest)
        if len(_remembered) > _MOST_CATALOGS:
            _remembered.popitem(last=False)
    return catalog


def _is_same(
    notes: Parameters, catalog: Catalog, definition: StoredDefinition, dependencies: Sequence[Catalog]
) -> bool:
    """Return whether a remembered catalog, restored with some notes, is what the definition says."""
    return (
        len(catalog.dependencies) == len(dependencies)
        and all(own is other for own, other in zip(catalog.dependencies, dependencies, strict=True))
        and notes == definition.notes
    )
