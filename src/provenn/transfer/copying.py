"""Copying a whole archive to another database, of any kind, while other processes write to the archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from provenn.data.fragments import Fragment, all_fragments, iterate_fragments, pin_fragments
from provenn.data.given_tables import find_table_damage
from provenn.data.parquet_contents import find_parquet_damage
from provenn.database import settings as known_settings
from provenn.database.tables import settings
from provenn.database.transactions import Database, Reading, Writing
from provenn.definitions import catalog_store
from provenn.definitions.base_locations import list_files_digests
from provenn.definitions.moc_files import find_moc_damage, find_named_mocs, locate_moc
from provenn.errors import ArchiveError, CorruptArchiveError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN
from provenn.hints import Hint
from provenn.people import audit_log
from provenn.transfer.backup_manifests import write_manifest
from provenn.transfer.row_copies import COPIED_TABLES, CopyProgress, RowCopier
from provenn.transfer.verified_copies import CopiedFile, copy_file, flush_copies

__all__ = ["CopySummary", "VerifiedRecords", "copy_archive", "trust_records"]

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class CopySummary:
    """The result of copying an archive.

    Parameters
    ----------
    catalogs, rows
        The number of catalogs in the copy, and of rows in all its tables.
    fragments, size
        The number of copied fragments, and their bytes.
    left_out
        The reasons why usable fragments were not copied, by number.
    missing
        Other things that the copy lacks: tables from memory and large MOCs that are missing or damaged, and rows that
        cannot be read or that no database takes.
    audit_head
        The newest entry of the audit log in the copy, as ``NUMBER:DIGEST``; None if the log is empty.
    verified_definitions, verified_audit_entries
        The number of definitions, and of entries of the audit log, whose digests were computed again and agree.
    damaged
        The damage in the database of the archive that was copied on request.
    """

    catalogs: int
    rows: int
    fragments: int
    size: int
    left_out: dict[int, str]
    missing: tuple[str, ...] = ()
    audit_head: str | None = None
    verified_definitions: int = 0
    verified_audit_entries: int = 0
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifiedRecords:
    """The result of checking the database of an archive before copying it.

    Parameters
    ----------
    definitions, audit_entries
        The number of sound definitions, and of sound entries of the audit log.
    damage
        Descriptions of the damage.
    mendable
        Whether `provenn check --repair` mends some of the damage.
    """

    definitions: int = 0
    audit_entries: int = 0
    damage: tuple[str, ...] = ()
    mendable: bool = False


def trust_records(_reading: Reading) -> VerifiedRecords:
    """Check nothing."""
    return VerifiedRecords()


def _no_progress(_done: int, _all: int) -> None:
    """Ignore the progress."""


def copy_archive(
    source: Database,
    target: Database,
    data: tuple[DataFolder, DataFolder] | None = None,
    progress: CopyProgress = _no_progress,
    *,
    tables: tuple[DataFolder, DataFolder] | None = None,
    skip_damaged: bool = False,
    verify: Callable[[Reading], VerifiedRecords] = trust_records,
) -> CopySummary:
    """Copy the state of an archive at one moment into an empty archive: completely or, if anything fails, not at all.

    Parameters
    ----------
    source
        The archive.
    target
        An empty archive; only the setting of its data folder may be there.
    data
        The data folders of the archive and of the copy. Without them, fragments are left out: the copy would refer to
        files of another archive. The records of dropped fragments are copied in any case.
    progress
        Called with the progress.
    tables
        The data folders of the archive and of the copy for tables ingested from memory and large MOCs.
    skip_damaged
        Whether to leave out damaged data of the source, to copy damaged rows, and to report both.
    verify
        Checks the database of the source, in the state that is copied, before anything is copied.

    Raises
    ------
    ArchiveError
        If the target is not empty, or the viewer of the source does not see everything.
    CorruptArchiveError
        If the database of the source is damaged, and `skip_damaged` is False; or if rows of the copy differ.
    StoreError
        If data cannot be read or written; or are damaged in the source, and `skip_damaged` is False.
    """
    if source.viewer is not None:
        raise ArchiveError(
            f"{source.viewer} cannot copy the archive {source.place}: parts of it are not visible",
            hint=Hint(
                "ask its administrator; archive.export_definitions(…) copies what you see",
                command="ask its administrator; `provenn archive export` copies what you see",
            ),
        )
    with source.reading() as reading:
        with target.writing() as writing:
            _require_empty(writing, target)
            known_settings.change_setting(writing, known_settings.UNFINISHED, "a backup")
        records = verify(reading)
        if not skip_damaged:
            _refuse_damaged_records(records)
        stored, damaged_fragments = _read_fragments(reading, skip_damaged=skip_damaged)
        usable = [fragment for fragment in stored if fragment.is_usable]
        copier = _DataCopier(skip_damaged=skip_damaged)
        if data:
            copier.copy_fragments(source, usable, *data)
        if tables:
            copier.copy_tables(reading, *tables)
            copier.copy_mocs(reading, *tables)
            flush_copies(tables[1], copier.files)
        copier.refuse_damage(source.place)
        left_out = copier.left_out if data else {fragment.id: "no data" for fragment in usable}
        left_out |= damaged_fragments
        with target.writing() as writing:
            _require_empty(writing, target)
            dropped = {fragment.id for fragment in stored if fragment.dropped_at is not None}
            kept = dropped | {fragment.id for fragment in copier.kept}
            row_copier = RowCopier(reading, writing, kept, skip_damaged=skip_damaged)
            rows = row_copier.copy_rows(progress)
            missing = (*copier.missing, *row_copier.describe_left_out())
            catalogs = catalog_store.count_catalogs(writing)
            known_settings.forget_setting(writing, known_settings.UNFINISHED)
            head = audit_log.read_audit_head(writing)
            if tables:
                lacking = [*missing, *(f"fragment #{number}: {reason}" for number, reason in left_out.items())]
                write_manifest(
                    tables[1], copier.files, made_at=writing.when, catalogs=catalogs, rows=rows, left_out=lacking
                )
    size = sum(fragment.size for fragment in copier.kept)
    audit_head = None if head is None else str(head)
    return CopySummary(
        catalogs,
        rows,
        len(copier.kept),
        size,
        left_out,
        missing,
        audit_head,
        records.definitions,
        records.audit_entries,
        records.damage,
    )


def _read_fragments(reading: Reading, *, skip_damaged: bool) -> tuple[list[Fragment], dict[int, str]]:
    """Return all fragments and, with `skip_damaged`, the problems of fragments with damaged rows, by number."""
    if not skip_damaged:
        return list(all_fragments(reading, dropped=True)), {}
    stored, problems = list[Fragment](), dict[int, str]()
    for fragment in iterate_fragments(reading):
        if isinstance(fragment, Fragment):
            stored.append(fragment)
        else:
            number, problem = fragment
            problems[number] = problem
    return stored, problems


def _require_empty(writing: Writing, target: Database) -> None:
    """Raise an error if an archive holds anything except settings."""
    for table in COPIED_TABLES:
        if table is not settings and writing.connection.execute(select(table).limit(1)).first() is not None:
            raise ArchiveError(
                f"the archive {target.place} is not empty",
                hint="choose another place: existing data are not overwritten",
            )


def _refuse_damaged_records(records: VerifiedRecords) -> None:
    """Raise an error if the database of an archive is damaged."""
    if not records.damage:
        return
    python, command = (
        ("repair it: archive.check(repair=True)", "repair it: provenn check --repair")
        if records.mendable
        else ("restore it from an earlier backup", "restore it from an earlier backup")
    )
    raise CorruptArchiveError(
        f"{_list_some(records.damage)}; nothing was copied",
        hint=Hint(
            f"{python}; or pass skip_damaged=True, which copies the damage and lists it",
            command=f"{command}; or add --skip-damaged, which copies the damage and lists it",
        ),
    )


def _list_some(problems: Sequence[str]) -> str:
    """Return the first problems in one line, and the number of the others."""
    more = f"; and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more


@dataclass(slots=True)
class _DataCopier:
    """Copies data, and records the copied and the damaged data."""

    skip_damaged: bool
    files: list[CopiedFile] = field(default_factory=list)
    kept: list[Fragment] = field(default_factory=list)
    left_out: dict[int, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)

    def copy_fragments(
        self,
        source: Database,
        usable_fragments: Iterable[Fragment],
        source_folder: DataFolder,
        target_folder: DataFolder,
    ) -> None:
        """Copy the files of fragments; leave damaged fragments out."""
        fragments_by_number = {fragment.id: fragment for fragment in usable_fragments}
        with pin_fragments(source, fragments_by_number) as numbers:
            for number, fragment in fragments_by_number.items():
                if number not in numbers:
                    self.left_out[number] = "it was dropped meanwhile"
                    continue
                problem = self._copy_fragment(fragment, source_folder, target_folder)
                if problem:
                    self.left_out[number] = problem
                    self.damaged.append(f"fragment #{number}: {problem}")
                else:
                    self.kept.append(fragment)

    def _copy_fragment(self, fragment: Fragment, source_folder: DataFolder, target_folder: DataFolder) -> str:
        """Copy the files of a fragment; return the problem, or ""."""
        names = [f"{fragment.location}/{file.name}" for file in fragment.files]
        if any(not part.strip(".") for name in names for part in name.split("/")):
            return "its files are missing from the store"
        problem = find_parquet_damage(source_folder, fragment.location, fragment.files)
        if problem:
            return problem
        copies = [copy_file(name, source_folder, target_folder) for name in names]
        for copy, stored in zip(copies, fragment.files, strict=True):
            if stored.digest and copy.digest != stored.digest:
                problem = f"{stored.name} differs from the bytes that were written"
        undigested = any(not stored.digest for stored in fragment.files)
        problem = problem or (
            find_parquet_damage(target_folder, fragment.location, fragment.files, deep=True) if undigested else ""
        )
        if problem:
            target_folder.remove(fragment.location)
        else:
            self.files += copies
        return problem

    def copy_tables(self, reading: Reading, source_folder: DataFolder, target_folder: DataFolder) -> None:
        """Copy the tables ingested from memory: no other copy exists."""
        stored_digests = {entry.name for entry in source_folder.entries(GIVEN)}
        for digest in sorted(stored_digests & list_files_digests(reading)):
            # The copy is checked as well: a second read of the source may give other bytes.
            problem = find_table_damage(source_folder, digest)
            if not problem:
                copies = [
                    copy_file(f"{GIVEN}/{digest}/{stored.name}", source_folder, target_folder)
                    for stored in source_folder.files(GIVEN, digest)
                ]
                problem = find_table_damage(target_folder, digest)
                self.files += [] if problem else copies
            if problem:
                target_folder.remove(GIVEN, digest)
                self._leave_out(f"the table {GIVEN}/{digest[:12]} that was ingested from memory: {problem}")

    def copy_mocs(self, reading: Reading, source_folder: DataFolder, target_folder: DataFolder) -> None:
        """Copy the files of the large MOCs named by definitions."""
        for digest in sorted(find_named_mocs(reading)):
            problem = find_moc_damage(source_folder, digest)
            if not problem:
                self.files.append(copy_file(locate_moc(digest), source_folder, target_folder))
                problem = find_moc_damage(target_folder, digest)
            if problem:
                self._leave_out(f"MOC {digest[:12]}: {problem}")

    def _leave_out(self, problem: str) -> None:
        """Record that data are damaged and missing from the copy."""
        self.missing.append(problem)
        self.damaged.append(problem)

    def refuse_damage(self, place: str) -> None:
        """Raise an error if data are damaged and `skip_damaged` is False."""
        if self.damaged and not self.skip_damaged:
            raise StoreError(
                f"nothing was copied, because data of the archive {place} are damaged: {_list_some(self.damaged)}",
                hint=Hint(
                    "repair it: archive.check(deep=True, repair=True); or pass skip_damaged=True",
                    command="repair it: provenn check --deep --repair; or add --skip-damaged",
                ),
            )
