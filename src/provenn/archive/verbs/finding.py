"""Finding catalogs, and saying what they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from provenn.archive.description import Description, described
from provenn.archive.handle import Catalog
from provenn.archive.lineage import Lineage, lineage_of
from provenn.archive.neighbourhood import Direction, Neighbourhood, neighbourhood_of
from provenn.archive.provenance import Provenance, provenance_of
from provenn.archive.verbs.held import Held, digest_of
from provenn.store import catalog_store, names, populations, search
from provenn.store.catalog_store import Entry
from provenn.store.search import Filter, Sort

__all__ = ["Finding"]


class Finding(Held):
    """Finding catalogs, and saying what they are."""

    def __len__(self) -> int:
        """How many catalogs there are, named or not."""
        with self._database.reading() as reading:
            return catalog_store.count(reading)

    def describe(self, which: Catalog | str) -> Description:
        """Return all there is to say of a catalog, in plain words."""
        one = self.catalog(which)
        with self._database.reading() as reading:
            return described(reading, one.definition, {one.digest: which} if isinstance(which, str) else {})

    def lineage(self, which: Catalog | str) -> Lineage:
        """Return a catalog and all it is made from: a tree, as text."""
        one = self.catalog(which)
        with self._database.reading() as reading:
            return lineage_of(reading, one.definition, {one.digest: which} if isinstance(which, str) else {})

    def provenance(self, which: Catalog | str) -> Provenance:
        """Return where a catalog comes from: files, calculators, and the facts about its lineage."""
        one = self.catalog(which)
        with self._database.reading() as reading:
            return provenance_of(reading, one.definition, {one.digest: which} if isinstance(which, str) else {})

    def neighbourhood(
        self, which: Catalog | str, *, depth: int = 2, direction: Direction = "both", most: int = 60
    ) -> Neighbourhood:
        """Return the catalogs around a catalog, as a picture: quick in an archive of any size.

        Parameters
        ----------
        which
            The catalog.
        depth
            How many steps to go.
        direction
            ``"up"`` to what it is made from, ``"down"`` to what is made from it, or ``"both"``.
        most
            How many catalogs to show; the nearest are, and it is told how many are not.

        Raises
        ------
        PictureError
            If there is no such depth, direction or number.
        """
        with self._database.reading() as reading:
            digest = digest_of(reading, which)
            asked = {digest: which} if isinstance(which, str) and not digest.startswith(which) else {}
            return neighbourhood_of(reading, digest, asked, depth=depth, direction=direction, most=most)

    def search(
        self,
        text: str = "",
        *,
        kind: str | None = None,
        population: str | None = None,
        attribute: str | None = None,
        owner: str | None = None,
        named: bool = False,
        sort: Sort = "newest",
        start: int = 0,
        most: int = 1000,
    ) -> Sequence[Entry]:
        """Return catalogs, by what they are called, how they are defined, what they have, and who defined them.

        Parameters
        ----------
        text
            What occurs in a name, or in the definition as it was written, in upper or lower case; or the beginning
            of the digest, at least four digits.
        kind, population, owner
            Only catalogs of this class; of this population; defined first by this person.
        attribute
            Only catalogs that have an attribute of this name, or whose name begins so, in upper or lower case.
        named
            Only catalogs that have a name.
        sort
            ``"newest"`` first; ``"oldest"`` first; or by ``"name"``: those without one come last.
        start, most
            How many to leave out, and how many to return.
        """
        which = Filter(text, kind, population, attribute, owner, named)
        with self._database.reading() as reading:
            return search.search(reading, which, sort=sort, start=start, most=most)

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
        """Return how many catalogs `search` finds, on all pages together; the parameters are the same."""
        with self._database.reading() as reading:
            return search.matches(reading, Filter(text, kind, population, attribute, owner, named))

    def populations(self) -> tuple[str, ...]:
        """Return what a row can be, sorted."""
        with self._database.reading() as reading:
            return populations.population_names(reading)

    def owners(self) -> tuple[str, ...]:
        """Return who defined catalogs, sorted."""
        with self._database.reading() as reading:
            return search.owners(reading)

    def __getitem__(self, name: str) -> Catalog:
        return self.catalog(name)

    def __contains__(self, name: object) -> bool:
        with self._database.reading() as reading:
            return isinstance(name, str) and names.find(reading, name) is not None

    def __iter__(self) -> Iterator[str]:
        """Yield the names, sorted."""
        with self._database.reading() as reading:
            return iter([one.name for one in names.listing(reading)])
