"""Methods of an archive to find and describe catalogs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from provenn.archive.verbs.part import ArchivePart

if TYPE_CHECKING:
    from provenn.archive.description import Description
    from provenn.archive.handle import Catalog
    from provenn.archive.lineage_tree import Lineage
    from provenn.archive.neighbourhood import Direction, Neighbourhood
    from provenn.archive.provenance import Provenance
    from provenn.definitions.catalog_entries import CatalogEntry
    from provenn.definitions.search import SortOrder

__all__ = ["CatalogSearch"]


class CatalogSearch(ArchivePart):
    """Methods of an archive to find and describe catalogs."""

    def __len__(self) -> int:
        """Return the number of catalogs, named or not."""
        from provenn.definitions import catalog_entries  # noqa: PLC0415 - a command starts without it

        return self.context.read(catalog_entries.count_catalogs)

    def describe(self, which: Catalog | str) -> Description:
        """Return a description of a catalog in plain words; it says if files came that a refresh would add."""
        from provenn.archive.description import describe_catalog  # noqa: PLC0415 - a command starts without it
        from provenn.archive.grown_folders import find_grown_folders  # noqa: PLC0415

        catalog, names = self._resolve(which)
        description = self.context.read(describe_catalog, catalog, names)
        grown = self.context.read(find_grown_folders, [catalog], self.context.workshop.roots)
        return replace(description, news=tuple(folder.message for folder in grown))

    def lineage(self, which: Catalog | str) -> Lineage:
        """Return the lineage of a catalog: the catalog and all its ancestors, as a text tree."""
        from provenn.archive.lineage_tree import trace_lineage  # noqa: PLC0415 - a command starts without it

        return self.context.read(trace_lineage, *self._resolve(which))

    def provenance(self, which: Catalog | str) -> Provenance:
        """Return the provenance of a catalog: files, calculators, and facts about the lineage."""
        from provenn.archive.provenance import trace_provenance  # noqa: PLC0415 - a command starts without it

        return self.context.read(trace_provenance, *self._resolve(which))

    def neighbourhood(
        self, which: Catalog | str, *, depth: int = 2, direction: Direction = "both", most: int = 60
    ) -> Neighbourhood:
        """Return the catalogs around a catalog as a picture; this is quick in an archive of any size.

        Parameters
        ----------
        which
            The catalog.
        depth
            The number of steps to follow.
        direction
            ``"up"`` to ancestors, ``"down"`` to descendants, or ``"both"``.
        most
            The largest number of catalogs to show; the nearest are shown, and the others are counted.

        Raises
        ------
        PictureError
            If the depth, direction or number is invalid.
        """
        from provenn.archive.neighbourhood import find_neighbourhood  # noqa: PLC0415 - a command starts without it
        from provenn.archive.references import find_digest  # noqa: PLC0415

        with self.context.database.reading() as reading:
            digest = find_digest(reading, which)
            user_names = {digest: which} if isinstance(which, str) and not digest.startswith(which) else {}
            return find_neighbourhood(reading, digest, user_names, depth=depth, direction=direction, most=most)

    def search(
        self,
        text: str = "",
        *,
        kind: str | None = None,
        population: str | None = None,
        attribute: str | None = None,
        owner: str | None = None,
        named: bool = False,
        sort: SortOrder = "newest",
        start: int = 0,
        most: int = 1000,
    ) -> Sequence[CatalogEntry]:
        """Return catalogs that match a text, class, population, attribute or owner.

        Parameters
        ----------
        text
            Part of a name, or of the definition as it was written, in upper or lower case; or the beginning of the
            digest, at least four digits.
        kind, population, owner
            Only catalogs of this class; of this population; defined first by this person.
        attribute
            Only catalogs with an attribute whose name equals or begins with this text, in upper or lower case.
        named
            Only catalogs with a name.
        sort
            ``"newest"`` first; ``"oldest"`` first; or by ``"name"``: unnamed catalogs come last.
        start, most
            The number of catalogs to skip, and the largest number to return.
        """
        from provenn.definitions import search  # noqa: PLC0415 - a command starts without it
        from provenn.definitions.search import CatalogFilter  # noqa: PLC0415

        which = CatalogFilter(text, kind, population, attribute, owner, named)
        return self.context.read(search.search_catalogs, which, sort=sort, start=start, most=most)

    def matches(
        self,
        text: str = "",
        *,
        kind: str | None = None,
        population: str | None = None,
        attribute: str | None = None,
        owner: str | None = None,
        named: bool = False,
    ) -> int:
        """Return the number of catalogs that `search` finds on all pages; the parameters are the same."""
        from provenn.definitions import search  # noqa: PLC0415 - a command starts without it
        from provenn.definitions.search import CatalogFilter  # noqa: PLC0415

        which = CatalogFilter(text, kind, population, attribute, owner, named)
        return self.context.read(search.count_matches, which)

    def populations(self) -> tuple[str, ...]:
        """Return the names of all populations, sorted."""
        from provenn.definitions import populations  # noqa: PLC0415 - a command starts without it

        return self.context.read(populations.list_population_names)

    def owners(self) -> tuple[str, ...]:
        """Return the people who defined catalogs, sorted."""
        from provenn.definitions import search  # noqa: PLC0415 - a command starts without it

        return self.context.read(search.list_owners)

    def __getitem__(self, name: str) -> Catalog:
        return self.catalog(name)

    def __contains__(self, name: object) -> bool:
        from provenn.definitions import catalog_names  # noqa: PLC0415 - a command starts without it

        return isinstance(name, str) and self.context.read(catalog_names.find_named_digest, name) is not None

    def __iter__(self) -> Iterator[str]:
        """Yield the names, sorted."""
        from provenn.definitions import catalog_names  # noqa: PLC0415 - a command starts without it

        return iter([entry.name for entry in self.context.read(catalog_names.list_names)])
