"""Taking over what a portable file holds. Nothing in it is believed that can be computed, and nothing is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import BinaryIO

from provenn.store.database import Writing
from provenn.store.importing.calculators import take_calculators, take_preferences
from provenn.store.importing.definitions import take_definitions
from provenn.store.importing.facts import consistent, suspend_hidden, take_facts
from provenn.store.importing.mocs import take_mocs
from provenn.store.importing.names import take_names
from provenn.store.importing.taking import Import
from provenn.store.portable import KINDS, Line, read_lines

__all__ = ["Imported", "import_archive"]

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Imported:
    """What came with a file.

    Parameters
    ----------
    new, there
        How many definitions, names, facts, calculators and preferences came, and how many were there before; by kind.
        Large MOCs are counted if the file holds any.
    kept
        The attributes whose names mean something else here, and still do.
    """

    new: dict[str, int]
    there: dict[str, int]
    kept: tuple[str, ...] = ()


def import_archive(writing: Writing, file: BinaryIO, name: str, *, prefix: str = "") -> Imported:
    """Take over definitions, names, facts, calculators and preferences from a portable file.

    What is there already stays as it is, so that a file which is imported twice is imported once.

    Parameters
    ----------
    writing
        The transaction; it must not be committed if this raises.
    file, name
        The file, and what it is called.
    prefix
        Put before every name in it.

    Raises
    ------
    FileError
        If the file cannot be read, or anything in it is not what it says.
    CatalogNameError
        If another catalog has a name in it.
    ContradictionError
        If facts in it contradict each other, or what is known.
    PopulationError
        If a population of that name has another key here.
    """
    taking = Import(writing, prefix)
    new, there = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for kind, lines in groupby(read_lines(file, name), key=lambda line: line.kind):
        while batch := tuple(islice(lines, 1 if kind == "moc" else _AT_ONCE)):  # a MOC may be large
            came = _TAKING[kind](taking, batch)
            new[kind] += came
            there[kind] += len(batch) - came
    if taking.labels:
        suspend_hidden(taking, consistent(taking))
    if not new["moc"] + there["moc"]:
        del new["moc"], there["moc"]
    return Imported(new, there, tuple(taking.kept))


_TAKING: dict[str, Callable[[Import, Sequence[Line]], int]] = {
    "moc": take_mocs,
    "definition": take_definitions,
    "name": take_names,
    "fact": take_facts,
    "calculator": take_calculators,
    "preference": take_preferences,
}
