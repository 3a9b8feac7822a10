"""An archive: catalogs, their names, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from types import TracebackType
from typing import Self

from provenn.archive.everything import Everything
from provenn.archive.notices import Notify
from provenn.archive.verbs.calculating import Calculating
from provenn.archive.verbs.computing import Computing
from provenn.archive.verbs.copying import Copying
from provenn.archive.verbs.defining import Defining
from provenn.archive.verbs.finding import Finding
from provenn.archive.verbs.knowing import Knowing
from provenn.archive.verbs.naming import Naming
from provenn.archive.verbs.sharing import Sharing
from provenn.archive.workshop import Progress, Workshop
from provenn.store import moc_files
from provenn.store.database import Database
from provenn.store.folder import DataFolder

__all__ = ["Archive"]


class Archive(Defining, Finding, Naming, Sharing, Calculating, Copying, Knowing, Computing):
    """Catalogs, their names, and what is known of them. Made by `provenn.open`.

    Catalogs are defined, found and compared without reading a row and without starting Spark. Wherever a catalog is
    expected, its name will do, or the beginning of its digest.
    """

    def __init__(
        self,
        database: Database,
        folder: DataFolder | None = None,
        *,
        spark: object | None = None,
        progress: Progress = None,
        notify: Notify = None,
    ) -> None:
        database = replace(database, folder=folder)
        if folder is not None:
            moc_files.serve(folder)
        self._database = database
        self._everything = Everything()
        self._workshop = Workshop(database, folder, spark, progress, notify=notify)

    def watched(self, progress: Progress, *, notify: Notify = None) -> Archive:
        """Return this archive, with somebody else who is told of the progress of long work, and of notices.

        Both share the database, the store and Spark; closing one closes the other.

        Parameters
        ----------
        progress
            As for `provenn.open`. A function that raises `KeyboardInterrupt` cancels what is running.
        notify
            As for `provenn.open`.
        """
        other = copy(self)
        other._workshop = self._workshop.watched(progress, notify)  # noqa: SLF001 - its own
        return other

    def as_seen_by(
        self, who: str, *, confined: bool = True, via: str | None = None, roots: Sequence[str] | None = None
    ) -> Archive:
        """Return this archive as a person sees it, and with that person recorded for what is written.

        Both share the database, the store and Spark; closing one closes the other.

        Parameters
        ----------
        who
            The person.
        confined
            Whether only what this person may see exists; otherwise everything is seen.
        via
            From where the archive is used, for the audit log; by default as before.
        roots
            The folders, or URIs, below which files of base catalogs are read; by default as before, or anywhere.
        """
        database = replace(self._database, who=who, viewer=who if confined else None, via=via or self._database.via)
        other = copy(self)
        other._database = database  # noqa: SLF001 - its own
        other._workshop = self._workshop.seen_by(database, None if roots is None else tuple(roots))  # noqa: SLF001
        return other

    def close(self) -> None:
        """Let go of the database, and of Spark if it was started for this archive."""
        self._workshop.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """Where its database is."""
        return self._database.place

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Archive {self.place}>"

    def _repr_html_(self) -> str | None:
        from provenn.archive import cards  # noqa: PLC0415 - few archives are looked at

        return cards.html(cards.archive_card, self)
