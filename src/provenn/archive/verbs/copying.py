"""Copies: portable files of definitions, and backups of all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from provenn.archive import moving
from provenn.archive.handle import Catalog
from provenn.archive.implications import implied
from provenn.archive.notices import notice_of_implications
from provenn.archive.verbs.held import Held
from provenn.archive.words import in_names
from provenn.store import facts
from provenn.store.copying import Copied
from provenn.store.importing import Imported

__all__ = ["Copying"]


class Copying(Held):
    """Copies: portable files of definitions, and backups of all of it."""

    def export_definitions(
        self, file: str | PathLike[str] | BinaryIO, which: Iterable[Catalog | str] | None = None
    ) -> dict[str, int]:
        """Write a portable file of definitions, names, facts, calculators and preferences; of no data.

        Parameters
        ----------
        file
            Where to; a file that is there is not overwritten.
        which
            Catalogs: only they and their lineage are written, with their names and the facts about them alone.

        Returns
        -------
        dict
            How many of each kind were written.
        """
        return moving.export_definitions(self._database, file, which)

    def import_definitions(self, file: str | PathLike[str] | BinaryIO, *, prefix: str = "") -> Imported:
        """Take over what a portable file holds: all of it or, if anything in it is wrong, nothing.

        Parameters
        ----------
        file
            The file. Everything in it is checked, and nothing in it is executed.
        prefix
            Put before every name in it.

        Raises
        ------
        FileError
            If the file is something else, or was changed.
        CatalogNameError
            If another catalog has one of its names here.
        ContradictionError
            If its facts contradict what is known; it carries the minimal conflict.
        """
        with self._database.reading() as reading:
            latest = facts.latest(reading)
        came = moving.import_definitions(self._database, file, prefix)
        with self._database.reading() as reading:
            new = [one for one in facts.since(reading, latest) if one.origin == "declared"]
            told = notice_of_implications("by what was imported", implied(reading, new), in_names(reading, new))
        self._workshop.notices.tell(told)
        return came

    def backup(
        self,
        place: str | Path,
        *,
        data: bool = False,
        store: str | Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Copied:
        """Copy all metadata as they are at one moment, whatever others write meanwhile. The copy is an archive.

        Parameters
        ----------
        place
            A folder that is not there yet, or the address of a database that holds no archive, or an empty one.
        data
            Whether to copy the fragments too. Otherwise the copy has none. Tables that were ingested from memory are
            base data, and are always copied.
        store
            Where the data of the copy go; by default into its folder.
        progress
            Called with how many rows are copied, and how many there are.

        Raises
        ------
        ArchiveError
            If something is there: nothing is overwritten.
        """
        here = self._workshop.folder if data else self._workshop.folder_if_known
        return moving.back_up(self._database, here, place, store, progress, data=data)
