"""The base of all parts of an archive: the context, and the handles of catalogs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from provenn.archive.wrong_calls import explain_wrong_calls

if TYPE_CHECKING:
    from provenn.archive.context import Context
    from provenn.archive.handle import Catalog
    from provenn.catalogs import Catalog as Definition
    from provenn.digests import CatalogDigest

__all__ = ["ArchivePart"]


@explain_wrong_calls
class ArchivePart:
    """The base of all parts of an archive: the context, and the handles of catalogs.

    Parameters
    ----------
    context
        The database, the workshop and the cached knowledge of the archive, for the modules of provenn.
    """

    def __init_subclass__(cls, **options: Any) -> None:  # noqa: ANN401 - as in Python
        super().__init_subclass__(**options)
        explain_wrong_calls(cls)

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
        if isinstance(which, str):
            return self.catalogs([which])[0]
        if not hasattr(which, "definition"):
            raise TypeError(f"expected a catalog or its name, got {which!r}")
        return which

    def catalogs(self, which: Iterable[str]) -> list[Catalog]:
        """Return several catalogs at once, by name or by the beginning of the digest."""
        from provenn.archive.references import find_definitions  # noqa: PLC0415 - a command starts without it

        return [self._make_handle(definition) for definition in self.context.read(find_definitions, which)]

    def _make_handle(self, which: Definition | CatalogDigest) -> Catalog:
        """Return the handle of a catalog; its digest suffices."""
        from provenn.archive.handle import Catalog  # noqa: PLC0415 - a command starts without it

        return Catalog(self, which)

    def _make_handles(self, digests: Iterable[CatalogDigest]) -> list[Catalog]:
        """Return the handles of catalogs."""
        from provenn.archive.collector_pauses import pause_collection  # noqa: PLC0415 - a command starts without it
        from provenn.archive.handle import Catalog  # noqa: PLC0415 - a command starts without it

        with pause_collection():
            return [Catalog(self, digest) for digest in digests]

    def _resolve(self, which: Catalog | str) -> tuple[Definition, dict[CatalogDigest, str]]:
        """Return the definition of a catalog, and the user's name for the catalog, by digest."""
        from provenn.archive.references import find_definitions, map_user_names  # noqa: PLC0415 - a command starts without it

        (definition,) = self.context.read(find_definitions, [which]) if isinstance(which, str) else [which.definition]
        return definition, map_user_names([definition.digest], [which])
