"""Catalogs restored from stored definitions, to ask about sets that no parameter alone tells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from provenn.catalogs.catalog import Catalog
from provenn.definitions.ancestors import StoredDefinition
from provenn.definitions.restored_catalogs import restore_catalog
from provenn.digests import CatalogDigest
from provenn.errors import ProvennError

__all__ = ["restore_lineage"]


def restore_lineage(definitions: Sequence[StoredDefinition], kinds: Collection[str]) -> list[Catalog]:
    """Return the catalogs of some classes, and all their ancestors.

    Catalogs that cannot be restored are left out, and so are their descendants. Nothing is claimed about the left out
    catalogs; `provenn check` reports them.

    Parameters
    ----------
    definitions
        Definitions, each after its dependencies.
    kinds
        The names of the classes.
    """
    by_digest = {definition.digest: definition for definition in definitions}
    needed = _find_ancestors(by_digest, [definition.digest for definition in definitions if definition.kind in kinds])
    restored: dict[CatalogDigest, Catalog] = {}
    for digest, definition in by_digest.items():
        if digest not in needed or not restored.keys() >= set(definition.dependencies):
            continue
        parts = [restored[dependency] for dependency in definition.dependencies]
        try:
            catalog = restore_catalog(definition, parts)
        except ProvennError:
            continue
        if catalog.digest == digest:
            restored[digest] = catalog
    return list(restored.values())


def _find_ancestors(
    definitions: dict[CatalogDigest, StoredDefinition], digests: Iterable[CatalogDigest]
) -> set[CatalogDigest]:
    """Return digests of catalogs, and of all their ancestors."""
    needed: set[CatalogDigest] = set()
    stack = list(digests)
    while stack:
        digest = stack.pop()
        if digest not in needed and digest in definitions:
            needed.add(digest)
            stack.extend(definitions[digest].dependencies)
    return needed
