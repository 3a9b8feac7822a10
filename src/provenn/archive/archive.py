"""The archive: catalogs, their names, and the knowledge about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from provenn.archive.verbs.calculating import Calculating
from provenn.archive.verbs.computing import Computing
from provenn.archive.verbs.copying import Copying
from provenn.archive.verbs.defining import Defining
from provenn.archive.verbs.finding import CatalogSearch
from provenn.archive.verbs.knowing import Knowing
from provenn.archive.verbs.naming import Naming
from provenn.archive.verbs.querying import Querying
from provenn.archive.verbs.sharing import Sharing

if TYPE_CHECKING:
    from provenn.archive.bulk_definitions import DefinitionStep
    from provenn.archive.context import Later
    from provenn.archive.handle import Catalog
    from provenn.archive.notices import Notify
    from provenn.archive.workshop import Progress
    from provenn.display.catalog_card import Card

__all__ = ["Archive"]

_NEWEST = 10
"""The number of names in the card of an archive."""


class Archive(Defining, Querying, CatalogSearch, Naming, Sharing, Calculating, Copying, Knowing, Computing):
    """Catalogs, their names, and the knowledge about them; `provenn.open` returns an archive.

    Catalogs are defined, found and compared without reading a row and without starting Spark. Every method that takes a
    catalog also takes its name, or the beginning of its digest.
    """

    def watched(self, progress: Progress, *, notify: Notify = None) -> Archive:
        """Return this archive with new listeners for the progress of long work and for notices.

        Both archives share the database, the store and Spark; closing either closes both.

        Parameters
        ----------
        progress
            As for `provenn.open`. A function that raises `KeyboardInterrupt` cancels the current run.
        notify
            As for `provenn.open`.
        """
        return Archive(replace(self.context, workshop=self.context.workshop.with_listeners(progress, notify)))

    def as_seen_by(
        self, who: str, *, confined: bool = True, via: str | None = None, roots: Sequence[str] | None = None
    ) -> Archive:
        """Return this archive in the view of a person, recorded with all writes.

        Both archives share the database, the store and Spark; closing either closes both.

        Parameters
        ----------
        who
            The person.
        confined
            Whether the view is limited to catalogs visible to this person; otherwise everything is visible.
        via
            The interface in use (``"python"``, ``"cli"``, ``"http"``), for the audit log; by default unchanged.
        roots
            The folders, or URIs, below which files of base catalogs are read; by default unchanged, or anywhere.
        """
        database = replace(
            self.context.database, who=who, viewer=who if confined else None, via=via or self.context.database.via
        )
        workshop = self.context.workshop.for_person(database, None if roots is None else tuple(roots))
        return Archive(replace(self.context, database=database, workshop=workshop))

    @contextmanager
    def batch(self) -> Iterator[Archive]:
        """Define many catalogs in one transaction, at the end of a ``with`` block.

        The block gets this archive in a form whose catalogs and `define` let new definitions wait. All of them are
        written together or, after any failure in the block or at its end, none. They are the same catalogs as if they
        were defined one by one. Until then, names and questions do not know them; use the returned catalogs.
        A new wording of an existing catalog issues no notice.

        Yields
        ------
        Archive
            The archive to define in. After the block it defines at once, as this one does.

        Examples
        --------
        >>> with archive.batch() as batch:  # doctest: +SKIP
        ...     stars = batch["stars"]
        ...     for limit in range(1000):
        ...         stars.select(f"vmag < {limit / 100}", name=f"brighter than {limit / 100}")
        """
        from provenn.archive.batching import DefinitionBatch  # noqa: PLC0415 - a command starts without it

        batch = DefinitionBatch()
        try:
            yield Archive(replace(self.context, batch=batch))
        finally:
            batch.is_open = False
        if batch.definitions:
            self.context.write(batch.write)

    def define_many(self, steps: Iterable[DefinitionStep]) -> list[Catalog]:
        """Define many catalogs in one call and one transaction: all of them or, after any failure, none.

        Parameters
        ----------
        steps
            For each catalog: its new name, or None; a verb, the name of a method of a catalog (``"select"``,
            ``"restrict"``, ``"exclude"``, ``"sample"``, ``"keep"``, ``"rename"``, ``"derive"``, ``"combine"``,
            ``"concat"``); the catalog to start from; and the further arguments of the method, keyword arguments last
            in a dictionary. Catalogs are given by name, also by the name of an earlier step, or as handles.

        Returns
        -------
        list of Catalog
            The catalogs, in the order of the steps.

        Examples
        --------
        >>> archive.define_many(  # doctest: +SKIP
        ...     [
        ...         ("bright", "select", "stars", "vmag < 6"),
        ...         ("near", "select", "stars", "plx > 10"),
        ...         ("both", "restrict", "bright", "near"),
        ...         (None, "sample", "both", 0.1, {"seed": 1}),
        ...     ]
        ... )
        """
        from provenn.archive.bulk_definitions import define_steps  # noqa: PLC0415 - a command starts without it

        with self.batch() as batch:
            catalogs = define_steps(batch.catalog, steps)
        return [self._make_handle(catalog.definition) for catalog in catalogs]

    def deferring(self, later: Later) -> Archive:
        """Return this archive with deferred writes of proofs: proofs only speed up later questions.

        Parameters
        ----------
        later
            Takes a database and a function, and calls the function later with a writing transaction of the database.
            If the function is never called, only time is lost.
        """
        return Archive(replace(self.context, later=later))

    def close(self) -> None:
        """Close the database, and stop Spark if this archive started it."""
        self.context.workshop.close()
        self.context.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """The place of the database."""
        return self.context.database.place

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Archive {self.place}>"

    def _repr_html_(self) -> str | None:
        from provenn.archive.cards import render_card  # noqa: PLC0415 - a command starts without it

        return render_card(self._make_card)

    def _make_card(self) -> Card:
        """Return the card of the archive: place, size, and newest names."""
        from provenn.archive.cards import make_archive_card  # noqa: PLC0415 - a command starts without it

        newest_names = self.search(named=True, most=_NEWEST)
        return make_archive_card(self.place, len(self), self.populations(), newest_names)
