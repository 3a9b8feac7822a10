"""Methods of an archive to request, compute, keep, check and clean up data."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from provenn.archive.verbs.part import ArchivePart
from provenn.gate.local_paths import expand_home

if TYPE_CHECKING:
    from provenn.archive.handle import Catalog
    from provenn.archive.notices import Notice
    from provenn.archive.repairing import Soundness
    from provenn.archive.run_history import Ran
    from provenn.archive.stored_fragments import Stored
    from provenn.archive.target import Target
    from provenn.data.followed_exports import FollowedExport
    from provenn.data.garbage_collection import CollectedGarbage
    from provenn.soundness.problems import Progress as CheckProgress
    from provenn.targets.keeping import Keep
    from provenn.targets.planning import Missing

__all__ = ["Computing"]


class Computing(ArchivePart):
    """Methods of an archive to request, compute, keep, check and clean up data."""

    def target(
        self,
        sources: Catalog | str,
        attributes: Sequence[str],
        *,
        where: str | None = None,
        missing: Missing = "error",
        keep: Keep = "worthwhile",
    ) -> Target:
        """Request attributes of sources: the plan finds providers, creates missing attributes, and computes little.

        Parameters
        ----------
        sources
            The catalog of the sources.
        attributes
            The names of the attributes; the key is always included.
        where
            A criterion in SQL, on any attributes, that the sources must fulfil.
        missing
            The treatment of sources not proved to have an attribute: ``"error"``; ``"null"``, the value is NULL;
            ``"drop"``, the source is left out.
        keep
            The results to keep for later requests: ``"worthwhile"``, if a Python calculator was called; ``"always"``;
            ``"never"``.
        """
        from provenn.archive.target import Target  # noqa: PLC0415 - a command starts without it

        return Target.of(self, sources, attributes, where=where, missing=missing, keep=keep)

    def store(self, which: Catalog | str, *, attributes: Sequence[str] | None = None) -> Stored:
        """Compute attributes of a catalog's sources, by default all, and keep them; kept attributes are reused."""
        from provenn.archive.catalog_computing import store_catalog  # noqa: PLC0415 - most commands plan nothing

        catalog = self.catalog(which)
        return store_catalog(self.context, catalog.definition, catalog.name, attributes)

    def fragments(self, which: Catalog | str | None = None, *, dropped: bool = False) -> Sequence[Stored]:
        """Return the stored fragments of a catalog's sources, or all fragments; `dropped` adds unusable fragments."""
        from provenn.archive.stored_fragments import list_stored_fragments  # noqa: PLC0415 - a command starts without it

        extent = None if which is None else self.catalog(which).definition.extent.digest
        return self.context.read(list_stored_fragments, extent, dropped=dropped)

    def exports(self) -> Sequence[FollowedExport]:
        """Return your followed exports, sorted by path; without the limits of a viewer, those of all people."""
        from provenn.data.followed_exports import list_exports  # noqa: PLC0415 - a command starts without it

        return self.context.read(list_exports)

    def stop_following(self, path: str | PathLike[str]) -> None:
        """Stop following an export: `refresh` no longer writes the files. They stay.

        Raises
        ------
        StoreError
            If you follow no such export.
        """
        from provenn.data.followed_exports import remove_export  # noqa: PLC0415 - a command starts without it

        self.context.write(remove_export, str(expand_home(path).absolute()))

    def runs(self, which: Catalog | str | None = None, *, most: int = 100) -> Sequence[Ran]:
        """Return the runs of a catalog, or all runs, the latest first, with their costs, reuse and savings."""
        from provenn.archive.references import find_digest  # noqa: PLC0415 - a command starts without it
        from provenn.archive.run_history import list_runs  # noqa: PLC0415

        with self.context.database.reading() as reading:
            return list_runs(reading, None if which is None else find_digest(reading, which), most)

    @property
    def last_run(self) -> Ran | None:
        """The last run that began through this object, with its costs, reuse and savings."""
        from provenn.archive.run_history import list_runs  # noqa: PLC0415 - a command starts without it

        number = self.context.workshop.latest_run
        if number is None:
            return None
        return next(iter(self.context.read(list_runs, number=number)), None)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices about answers, in order: an answer rests on declared facts, or data contradict a declared fact.

        Each notice was announced once: as a `ProvennWarning`, or to the `notify` function of `provenn.open`.
        """
        return self.context.workshop.notices.all

    def collect_garbage(self, *, limit: int | None = None, dry_run: bool = False) -> CollectedGarbage:
        """Delete unreferenced data and, above a limit in bytes, fragments: the least useful fragments first."""
        from provenn.data.garbage_collection import collect_garbage  # noqa: PLC0415 - a command starts without it

        self.context.require_full_view("deletes what is not used")
        return collect_garbage(self.context.database, self.context.workshop.folder, limit=limit, dry_run=dry_run)

    def check(
        self,
        *,
        deep: bool = False,
        repair: bool = False,
        audit_head: str | None = None,
        progress: CheckProgress | None = None,
    ) -> Soundness:
        """Check the whole archive: whether every definition, fact and fragment is unchanged since it was written.

        Parameters
        ----------
        deep
            Whether to read every stored byte, and to check every proof.
        repair
            Whether to repair damage: lookup data are rebuilt, changed proofs are forgotten, leftovers are deleted,
            and damaged fragments are computed again, for which Spark is started. Damage that only a backup can repair
            is reported, and left alone.
        audit_head
            An earlier result of `audit_head`: check that the audit log still holds all entries of that time.
        progress
            Called with the subject of the check, the number of checked items, and the number of all items.
        """
        from provenn.archive.repairing import check_soundness  # noqa: PLC0415 - a command starts without it
        from provenn.people.audit_chain import AuditHead  # noqa: PLC0415

        if audit_head is not None:
            AuditHead.read(audit_head)
        self.context.require_full_view("checks it")
        return check_soundness(self.context, deep=deep, repair=repair, audit_head=audit_head, progress=progress)
