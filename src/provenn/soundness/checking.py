"""Checking a whole archive for damage, and mending the damage where possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from provenn.batches import split_batches
from provenn.data.garbage_collection import collect_garbage
from provenn.database.transactions import Database, Reading
from provenn.files.data_folder import DataFolder
from provenn.people import audit_log
from provenn.soundness.audit_checks import AuditLog, find_head_problems
from provenn.soundness.data_checks import (
    find_backup_problems,
    find_base_file_problems,
    find_conversion_problems,
    find_fragment_problems,
    find_fragment_row_problems,
    find_leftovers,
    find_moc_problems,
)
from provenn.soundness.database_checks import find_dangling_rows, find_database_damage
from provenn.soundness.definition_checks import Definitions
from provenn.soundness.knowledge_checks import (
    find_contradictions,
    find_fact_problems,
    find_name_problems,
    find_proof_problems,
)
from provenn.soundness.problems import ArchiveProblem, Progress, collect_problems, no_progress
from provenn.soundness.record_checks import (
    find_calculator_problems,
    find_count_problems,
    find_file_bound_problems,
    find_held_problems,
    find_memory_problems,
    find_run_problems,
    find_tally_problems,
    find_token_problems,
)

__all__ = ["find_problems", "find_record_problems", "mend_problems"]

_Check: TypeAlias = tuple[str, Iterable[ArchiveProblem]]
"""The subject of a check, and the problems."""

_AT_ONCE = 100
"""The number of problems that one transaction mends."""


def find_problems(
    database: Database,
    folder: DataFolder | None,
    *,
    deep: bool = False,
    audit_head: str | None = None,
    progress: Progress = no_progress,
) -> Iterator[ArchiveProblem]:
    """Check an archive and yield the problems; the check sees a single state, unaffected by concurrent writers.

    Parameters
    ----------
    database, folder
        The archive and its data.
    deep
        Whether to read every byte of the data, and to check every proof.
    audit_head
        The head of the audit log that was noted elsewhere, if any.
    progress
        Called with the progress.
    """
    with database.reading() as reading:
        definitions = Definitions({})
        sound = definitions.sound
        checks = (
            *_list_record_checks(reading, definitions, AuditLog(), deep=deep, progress=progress),
            ("hashes of files", find_memory_problems(reading)),
            ("pins, leases and imports", find_held_problems(reading)),
            ("audit log", find_head_problems(reading, audit_head) if audit_head else ()),
            ("fragments", find_fragment_problems(reading, folder, sound, deep=deep, progress=progress)),
            ("store", find_leftovers(reading, folder)),
            ("conversions", find_conversion_problems(folder, deep=deep, progress=progress)),
            ("base files", find_base_file_problems(database, reading, sound, folder, deep=deep, progress=progress)),
            ("MOCs", find_moc_problems(reading, folder)),
            ("backup", find_backup_problems(reading, folder, deep=deep)),
        )
        yield from _run_checks(reading, checks, progress)


def find_record_problems(
    reading: Reading, definitions: Definitions, audit: AuditLog, *, progress: Progress = no_progress
) -> Iterator[ArchiveProblem]:
    """Check everything in the database that a backup copies, and yield the problems; files are not read.

    Parameters
    ----------
    reading
        The state of the archive to check.
    definitions, audit
        The check fills `definitions.sound` with the sound catalogs, and counts in `audit.sound` the sound entries.
    progress
        Called with the progress.
    """
    checks = (
        *_list_record_checks(reading, definitions, audit, deep=False, progress=progress),
        ("fragments", find_fragment_row_problems(reading, definitions.sound)),
    )
    yield from _run_checks(reading, checks, progress)


def _list_record_checks(
    reading: Reading, definitions: Definitions, audit: AuditLog, *, deep: bool, progress: Progress
) -> tuple[_Check, ...]:
    """Return the checks of all rows that belong to the archive, rather than to running processes or to files."""
    sound = definitions.sound
    return (
        ("database", find_database_damage(reading)),
        ("definitions", definitions.find_problems(reading, progress, deep=deep)),
        ("definitions", definitions.find_index_problems(reading)),
        ("database", find_dangling_rows(reading)),
        ("names", find_name_problems(reading)),
        ("facts", find_fact_problems(reading, sound)),
        ("proofs", find_proof_problems(reading, deep=deep)),
        ("counts", find_count_problems(reading, sound)),
        ("base files", find_file_bound_problems(reading, sound)),
        ("calculators", find_calculator_problems(reading)),
        ("tallies", find_tally_problems(reading)),
        ("runs", find_run_problems(reading)),
        ("tokens", find_token_problems(reading)),
        ("audit log", audit.find_problems(reading)),
    )


def _run_checks(reading: Reading, checks: Iterable[_Check], progress: Progress) -> Iterator[ArchiveProblem]:
    """Yield the problems of checks and, unless definitions or facts are lost, the contradictions of facts."""
    unrecoverable = False
    for subject, problems in checks:
        progress(subject, 0, 0)
        for problem in collect_problems(subject, problems):
            unrecoverable |= problem.state == "damage" and problem.remedy == "restore"
            yield problem
    if not unrecoverable:
        progress("facts together", 0, 0)
        yield from collect_problems("facts", find_contradictions(reading))


def mend_problems(database: Database, folder: DataFolder | None, problems: Iterable[ArchiveProblem]) -> None:
    """Mend problems without computing data; record each repair in the audit log.

    Raises
    ------
    ReadOnlyArchiveError
        If the archive can only be read.
    StoreError
        If something cannot be deleted.
    """
    all_problems = list(problems)
    mendable = [problem for problem in all_problems if problem.mend is not None]
    for batch in split_batches(mendable, _AT_ONCE):  # in batches, so that other writers do not wait for all
        with database.writing() as writing:
            for problem in batch:
                if problem.mend is not None:
                    problem.mend(writing)
                    audit_log.record_action(writing, "repair", problem.where, problem.what)
    if folder is not None and any(
        problem.state == "leftover" or problem.remedy == "compute" for problem in all_problems
    ):
        collect_garbage(database, folder)
