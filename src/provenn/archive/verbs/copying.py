"""Methods to copy an archive: portable files of definitions, and complete backups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from provenn.archive.verbs.part import ArchivePart

if TYPE_CHECKING:
    from provenn.archive.handle import Catalog
    from provenn.transfer.copying import CopySummary
    from provenn.transfer.importing import ImportSummary

__all__ = ["Copying"]


class Copying(ArchivePart):
    """Methods to copy an archive: portable files of definitions, and complete backups."""

    def export_definitions(
        self, file: str | PathLike[str] | BinaryIO, which: Iterable[Catalog | str] | None = None
    ) -> dict[str, int]:
        """Write a portable file of definitions, names, facts, calculators and preferences, without data.

        Parameters
        ----------
        file
            The file to write; an existing file is not overwritten.
        which
            The catalogs to write, with their lineage, their names and the facts about them; by default all.

        Returns
        -------
        dict
            The number of written items of each kind.
        """
        from provenn.archive import definition_files  # noqa: PLC0415 - only copies need them

        return definition_files.export_definitions(self.context.database, file, which)

    def import_definitions(self, file: str | PathLike[str] | BinaryIO, *, prefix: str = "") -> ImportSummary:
        """Import the contents of a portable file: all of them or, if any of them is wrong, nothing.

        Parameters
        ----------
        file
            The file. Its contents are checked, and never executed.
        prefix
            A prefix for every imported name.

        Raises
        ------
        FileError
            If the file is not a portable file, or was changed.
        CatalogNameError
            If another catalog of this archive has an imported name.
        ContradictionError
            If imported facts contradict known facts; the error carries the minimal conflict.
        """
        from provenn.archive import definition_files  # noqa: PLC0415 - see above

        return definition_files.import_definitions(self.context, file, prefix)

    def backup(
        self,
        place: str | Path,
        *,
        data: bool = False,
        store: str | Path | None = None,
        skip_damaged: bool = False,
        progress: Callable[[int, int], None] | None = None,
        checking: Callable[[str, int, int], None] | None = None,
    ) -> CopySummary:
        """Copy all metadata in the state of one moment, even while others write. The copy is an archive.

        Every byte of data is compared with its digest, in the archive and in the copy. Before, everything in the
        database that is copied is checked as `check` does; every copied row is read again and compared.

        Parameters
        ----------
        place
            A new or empty folder, or the address of a database without an archive.
        data
            Whether to copy the fragments too. Otherwise the copy has no fragments. Tables that were ingested from
            memory are base data, and are always copied.
        store
            The place for the data of the copy; by default in its folder.
        skip_damaged
            Whether to leave out damaged data of the archive, and to copy damaged rows where possible; the result lists
            both. Otherwise damage stops the whole copy.
        progress
            Called with the number of copied rows, and the number of all rows.
        checking
            Called with the progress of the check before: the subject, the number of checked objects, and the number of
            all; both numbers are 0 where they are unknown.

        Raises
        ------
        ArchiveError
            If the place is occupied: nothing is overwritten.
        CorruptArchiveError
            If the database of the archive is damaged, and `skip_damaged` is False.
        StoreError
            If data of the archive are damaged, and `skip_damaged` is False.
        """
        from provenn.archive.backups import back_up  # noqa: PLC0415 - see above

        folder = self.context.workshop.folder if data else self.context.workshop.folder_if_known
        return back_up(
            self.context.database,
            folder,
            place,
            store,
            progress,
            data=data,
            skip_damaged=skip_damaged,
            checking=checking,
        )
