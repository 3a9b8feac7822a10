"""Going through a whole archive: whether all is what was written, and mending what can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenn.store import audit
from provenn.store.checks import Problem, Progress, found, no_progress
from provenn.store.checks.data import base_files, fragment_problems, leftovers, moc_problems
from provenn.store.checks.database import dangling, integrity
from provenn.store.checks.definitions import Definitions
from provenn.store.checks.knowledge import consistency, fact_problems, name_problems, proof_problems
from provenn.store.checks.records import (
    calculator_problems,
    count_problems,
    held_problems,
    memory_problems,
    run_problems,
    token_problems,
)
from provenn.store.database import Database
from provenn.store.folder import DataFolder
from provenn.store.garbage import collect_garbage

__all__ = ["mend", "problems"]


def problems(
    database: Database, folder: DataFolder | None, *, deep: bool = False, told: Progress = no_progress
) -> Iterator[Problem]:
    """Go through an archive and give what is wrong; it is seen in one state, whatever others write meanwhile.

    Parameters
    ----------
    database, folder
        The archive and its data.
    deep
        Whether to read every byte of the data, and to go through every proof.
    told
        Told of the progress.
    """
    lost: list[Problem] = []
    with database.reading() as reading:
        definitions = Definitions({})
        sound = definitions.sound
        looks = (
            ("database", integrity(reading)),
            ("definitions", definitions.problems(reading, told)),
            ("definitions", definitions.index_problems(reading)),
            ("database", dangling(reading)),
            ("names", name_problems(reading)),
            ("facts", fact_problems(reading, sound)),
            ("proofs", proof_problems(reading, deep=deep)),
            ("counts", count_problems(reading, sound)),
            ("hashes of files", memory_problems(reading)),
            ("calculators", calculator_problems(reading)),
            ("runs", run_problems(reading)),
            ("pins and leases", held_problems(reading)),
            ("tokens", token_problems(reading)),
            ("fragments", fragment_problems(reading, folder, sound, deep=deep, told=told)),
            ("store", leftovers(reading, folder)),
            ("base files", base_files(database, reading, sound, folder, deep=deep, told=told)),
            ("MOCs", moc_problems(reading, folder)),
        )
        for where, look in looks:
            told(where, 0, 0)
            for one in found(where, look):
                lost += [one] if one.state == "damage" and one.remedy == "restore" else []
                yield one
        if not lost:  # otherwise it is known that facts or definitions are not what they were
            told("facts together", 0, 0)
            yield from found("facts", consistency(reading))


def mend(database: Database, folder: DataFolder | None, wrong: Iterable[Problem]) -> None:
    """Mend what can be mended without computing data; what is done is recorded in the audit log.

    Raises
    ------
    ReadOnlyArchiveError
        If the archive can only be read.
    StoreError
        If something cannot be deleted.
    """
    several = list(wrong)
    with database.writing() as writing:
        for one in several:
            if one.mend is not None:
                one.mend(writing)
                audit.record(writing, "repair", one.where, one.what)
    if folder is not None and any(one.state == "leftover" or one.remedy == "compute" for one in several):
        collect_garbage(database, folder)
