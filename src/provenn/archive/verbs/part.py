"""The base of all parts of an archive: its context, and the handles of its catalogs."""

from __future__ import annotations

from collections.abc import Iterable

from provenn.archive.context import Context
from provenn.archive.handle import Catalog
from provenn.archive.references import find_definitions, map_user_names
from provenn.catalogs import Catalog as Definition
from provenn.digests import CatalogDigest

__all__ = ["ArchivePart"]


class ArchivePart:
    """The base of all parts of an archive: its context, and the handles of its catalogs.

    Parameters
    ----------
    context
        The database, the workshop and the cached knowledge of the archive, for the modules of provenn.
    """

    def __init__(self, context: Context) -> None:
        self.context = context

    @property
    def who(self) -> str:
        """The person recorded with all writes."""
        return self.context.database.who

    @property
    def confined(self) -> bool:
        """Whether this person sees only the visible part of the archive."""
        return self.context.database.viewer is not None

    def catalog(self, which: Catalog | str) -> Catalog:
        """Return a catalog by name or by the beginning of its digest; a handle is returned as it is."""
        return which if isinstance(which, Catalog) else self.catalogs([which])[0]

    def catalogs(self, which: Iterable[str]) -> list[Catalog]:
        """Return several catalogs at once, by name or by the beginning of the digest."""
        return [Catalog(self, definition) for definition in self.context.read(find_definitions, which)]

    def _resolve(self, which: Catalog | str) -> tuple[Definition, dict[CatalogDigest, str]]:
        """Return the definition of a catalog, and the user's name for it, by digest."""
        catalog = self.catalog(which)
        return catalog.definition, map_user_names([catalog.digest], [which])
