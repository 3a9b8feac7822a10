"""The catalogs restored last: a definition never changes, so that the same rows need not be interpreted again.

A refresh reads the same catalogs in a dozen transactions, and the set of a selection from hundreds of files takes
longer to build than to read. The memory is one for all archives of the process, as digests say what is meant in any.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

from provenn.catalogs import Base, Catalog
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.restoring import restore
from provenn.definitions.ancestors import StoredDefinition
from provenn.digests import CatalogDigest

__all__ = ["restore_catalog"]

_LEAST_CATALOGS, _MOST_CATALOGS = 256, 2_000
"""How many catalogs are remembered, however large, and at most; the least recently used one is forgotten first.

A question reads the lineages of all facts about its catalogs, some hundreds of catalogs in the same order each time: a
memory of fewer would forget each of them before it is asked for again.
"""

_MOST_PARTS = 100_000
"""The most files and sets of catalogs that are remembered beyond the least number of catalogs."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    notes: Parameters
    catalog: Catalog
    parts: int


class _Memory:
    """The remembered catalogs by digest, the least recently used one first, and the number of their parts."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.catalogs: OrderedDict[CatalogDigest, _Remembered] = OrderedDict()
        self.parts = 0

    def note(self, notes: Parameters, catalog: Catalog) -> None:
        """Remember a catalog, and forget others for it."""
        self._forget(catalog.digest)
        self.catalogs[catalog.digest] = _Remembered(notes, catalog, _count_parts(catalog))
        self.parts += self.catalogs[catalog.digest].parts
        while (number := len(self.catalogs)) > _LEAST_CATALOGS and (
            number > _MOST_CATALOGS or self.parts > _MOST_PARTS
        ):
            self._forget(next(iter(self.catalogs)))

    def _forget(self, digest: CatalogDigest) -> None:
        forgotten = self.catalogs.pop(digest, None)
        self.parts -= 0 if forgotten is None else forgotten.parts


_MEMORY = _Memory()


def _count_parts(catalog: Catalog) -> int:
    """Return the number of files and sets of a catalog, which say how much memory it takes."""
    return len(catalog.extent.labels) + (len(catalog.files.fingerprints) if isinstance(catalog, Base) else 0)


def restore_catalog(definition: StoredDefinition, dependencies: Sequence[Catalog]) -> Catalog:
    """Return the catalog of a stored definition, whose digest was checked, on its dependencies.

    Sound: the digest covers the class, the parameters and the digests of the dependencies. A remembered catalog is
    returned only if its notes are the same too, and its dependencies are these very objects.

    Raises
    ------
    DefinitionError
        If the class does not exist, or the parameters do not fit the class.
    """
    with _MEMORY.lock:
        known = _MEMORY.catalogs.get(definition.digest)
        if known is not None and _is_same(known.notes, known.catalog, definition, dependencies):
            _MEMORY.catalogs.move_to_end(definition.digest)
            return known.catalog
    catalog = restore(definition.kind, definition.parameters, definition.notes, dependencies)
    if catalog.digest == definition.digest:
        with _MEMORY.lock:
            _MEMORY.note(definition.notes, catalog)
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
