"""Backups: complete copies of an archive, and archives themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from provenn.archive.locations import DATABASE, find_data_folder
from provenn.data.leftovers import Hold, open_writing_folder
from provenn.data.pins import hold_outside
from provenn.database.transactions import Database, Reading
from provenn.definitions.moc_files import MOCS
from provenn.durable import make_folders, publish_new
from provenn.errors import ArchiveError
from provenn.files.data_folder import DataFolder, explain_io_errors
from provenn.files.file_set import GIVEN
from provenn.formats.opening import open_database
from provenn.gate.local_paths import expand_home
from provenn.hints import Hint
from provenn.soundness.audit_checks import AuditLog
from provenn.soundness.checking import find_record_problems
from provenn.soundness.definition_checks import Definitions
from provenn.soundness.problems import Progress, no_progress
from provenn.transfer.copying import CopySummary, VerifiedRecords, copy_archive

__all__ = ["back_up"]


def back_up(
    source: Database,
    folder: DataFolder | None,
    place: str | Path,
    store: str | Path | None,
    progress: Callable[[int, int], None] | None,
    *,
    data: bool,
    skip_damaged: bool = False,
    checking: Progress | None = None,
) -> CopySummary:
    """Copy an archive to a new folder, or into a database on a server.

    Parameters
    ----------
    source, folder
        The archive, and the folder of its data.
    place, store, progress, data, skip_damaged, checking
        As for `Archive.backup`.
    """

    def copy_to(where: str | Path) -> CopySummary:
        with open_database(where, create=True, who=source.who, via=source.via) as target:
            there = find_data_folder(target, where, store)
            folders = (folder, there) if folder is not None and there is not None else None
            report = progress or (lambda _done, _all: None)
            return copy_archive(
                source,
                target,
                folders if data else None,
                report,
                tables=folders,
                skip_damaged=skip_damaged,
                verify=partial(_verify_records, progress=checking or no_progress),
            )

    if "://" not in str(place):
        return _copy_into_new_folder(expand_home(place), copy_to, hold_outside(source))
    if store is None and folder is not None and (data or folder.entries(GIVEN) or folder.entries(MOCS)):
        hint = Hint('pass store="…"', command="add --store PLACE")
        raise ArchiveError("the copy needs a place for its data", hint=hint)
    return copy_to(str(place))


def _verify_records(reading: Reading, *, progress: Progress = no_progress) -> VerifiedRecords:
    """Check everything to be copied from the database."""
    definitions, audit = Definitions({}), AuditLog()
    damage = [
        (str(problem), problem.mend is not None)
        for problem in find_record_problems(reading, definitions, audit, progress=progress)
        if problem.state == "damage"
    ]
    return VerifiedRecords(
        definitions=len(definitions.sound),
        audit_entries=audit.sound,
        damage=tuple(description for description, _ in damage),
        mendable=any(mendable for _, mendable in damage),
    )


def _copy_into_new_folder(place: Path, copy_to: Callable[[Path], CopySummary], hold: Hold) -> CopySummary:
    """Copy into a hidden folder beside the place, and rename the folder at the end: a visible copy is complete."""
    target = place.absolute()
    with explain_io_errors(str(place)):
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise ArchiveError(
                f"{place} already exists", hint="choose another place: existing data are not overwritten"
            )
        make_folders(target.parent)
        with open_writing_folder(DataFolder.of(target.parent), target.name, hold) as name:
            unfinished = target.parent / name / "result"
            result = copy_to(unfinished / DATABASE)
            publish_new(unfinished, target)
    return result
