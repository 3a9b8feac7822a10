"""Importing a portable file: all digests are computed again, never believed, and no code in the file is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO, Literal

from provenn.database.transactions import Writing
from provenn.transfer.importing.batched_writing import WrittenRows, write_in_batches
from provenn.transfer.importing.imported_calculators import take_calculators, take_preferences
from provenn.transfer.importing.imported_definitions import take_definitions
from provenn.transfer.importing.imported_facts import refuse_contradictions, suspend_hidden, take_facts
from provenn.transfer.importing.imported_names import take_names
from provenn.transfer.importing.staging import StagedFile, stage_file
from provenn.transfer.importing.taking import ImportSession
from provenn.transfer.portable_files import KINDS, Line

__all__ = [
    "ImportSummary",
    "StagedFile",
    "WrittenRows",
    "import_archive",
    "stage_file",
    "take_over",
    "write_in_batches",
]

_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """The result of an import.

    Parameters
    ----------
    new, there
        The number of new definitions, names, facts, calculators and preferences, and the number that the archive held
        before; by kind. Large MOCs are counted if the file holds any.
    kept
        The names of attributes that have another preference in this archive, which stays.
    unchanged
        A sentence for each name whose visibility differs in the file: the name stays as it is.
    repeated
        The numbers of facts that the archive already holds, or has retracted, for another reason: the facts stay as
        they are, and the audit log keeps the reason in the file.
    """

    new: dict[str, int]
    there: dict[str, int]
    kept: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    repeated: dict[int, Literal["held", "retracted"]] = field(default_factory=dict)


def import_archive(writing: Writing, file: BinaryIO, name: str, *, prefix: str = "") -> ImportSummary:
    """Import a portable file within one transaction; see `take_over`.

    Other writers wait meanwhile. A large file is better read by `stage_file`, without a transaction, and written by
    `write_in_batches`, in short transactions.
    """
    return take_over(writing, stage_file(lambda: nullcontext(writing), file, name, writing.folder), prefix=prefix)


def take_over(
    writing: Writing, staged: StagedFile, *, prefix: str = "", written: WrittenRows | None = None
) -> ImportSummary:
    """Import definitions, names, facts, calculators and preferences from a staged portable file.

    Existing definitions, names and facts of the archive stay, so that importing a file twice has the same effect as
    once.

    Parameters
    ----------
    writing
        The transaction; it must not be committed if this raises.
    staged
        The contents of the file.
    prefix
        The prefix for every name in the file.
    written
        The rows that `write_in_batches` has written before, and that are published now. Without them, all rows are
        written now.

    Raises
    ------
    FileError
        If something in the file does not match its digest or is not valid.
    CatalogNameError
        If another catalog has a name in the file.
    ContradictionError
        If facts in the file contradict each other, or known facts.
    PopulationError
        If a population of the same name has another key in this archive.
    """
    written_before = written or WrittenRows()
    session = ImportSession(writing, prefix, staged, written_before.rows, written_before.held_before)
    new, held = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    new["definition"] = take_definitions(session)
    held["definition"] = len(staged.definitions) - new["definition"]
    for kind, take in _TAKE_BY_KIND.items():
        rest = iter(staged.lines[kind])
        while batch := tuple(islice(rest, _AT_ONCE)):
            new_count = take(session, batch)
            new[kind] += new_count
            held[kind] += len(batch) - new_count
    if session.catalogs:
        suspend_hidden(session, refuse_contradictions(session))
    new["moc"], held["moc"] = staged.mocs
    if not any(staged.mocs):
        del new["moc"], held["moc"]
    return ImportSummary(new, held, tuple(session.kept), tuple(session.unchanged), session.repeated)


_TAKE_BY_KIND: dict[str, Callable[[ImportSession, Sequence[Line]], int]] = {
    "name": take_names,
    "fact": take_facts,
    "calculator": take_calculators,
    "preference": take_preferences,
}
