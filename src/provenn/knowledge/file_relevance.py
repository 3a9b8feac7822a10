"""Files that cannot matter to a condition, according to the statements of each file about itself.

The bounds of a file become facts about the set of its rows, and the same reasoning as for base catalogs decides whether
the set can meet the condition: the order of values, and the composition of terms.

Sound: bounds hold for every row of the file (`provenn.files.column_bounds`), and the facts between atoms hold for every
row. If these facts prove that the rows of a file and the condition share no object, the condition is TRUE for none of
the rows. A file without statements about the attributes of the condition is never left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from provenn import deadline
from provenn.batches import split_batches
from provenn.criteria import Atom, AttributeIdentity, build_theory, identities_in
from provenn.criteria.bound_facts import state_bounds
from provenn.criteria.pixel_facts import state_pixels
from provenn.criteria.term_reading import FindAttribute
from provenn.digests import CatalogDigest
from provenn.files.column_bounds import ColumnBounds
from provenn.knowledge.consequences import relate_atoms
from provenn.knowledge.file_facts import FileFact
from provenn.knowledge.file_pixels import find_far_files
from provenn.logic import Knowledge, disjoint
from provenn.logic.terms import Term

__all__ = ["StatedFile", "find_irrelevant_files"]

_AT_ONCE = 25
"""How many groups of files are judged together: with more, each question takes longer."""

_TRIED = 8
"""How many files, spread over all, are tried first; if each may matter, the others are not tried."""

_MOST_QUESTIONS = 400
"""How many groups of files are judged at most, a millisecond each; files that are not judged may matter."""

_WAYS = 4
"""Into how many groups a group is divided that may matter."""

_NO_CATALOG = CatalogDigest("")
"""No catalog is cited: nobody asks for the reasons of these facts."""


@dataclass(frozen=True, slots=True)
class StatedFile:
    """The statements of a file about itself, or the common statements of several files.

    Parameters
    ----------
    bounds
        The bounds of attributes, sorted by identity.
    position, pixels
        For files in HATS: the canonical text of the position, and the pixels in which all positions lie. Otherwise
        empty.
    """

    bounds: tuple[tuple[AttributeIdentity, ColumnBounds], ...]
    position: str = ""
    pixels: str = ""

    @property
    def is_silent(self) -> bool:
        """Whether the file states nothing."""
        return not self.pixels and all(bounds.is_silent for _, bounds in self.bounds)

    def restrict(self, identities: Collection[AttributeIdentity]) -> StatedFile:
        """Return the statements of the file about some attributes."""
        kept = tuple((identity, bounds) for identity, bounds in self.bounds if identity in identities)
        return StatedFile(kept, self.position, self.pixels)


def _join_files(files: Sequence[StatedFile]) -> StatedFile:
    """Return the common statements of files with the same attributes, true for every row of all files."""
    first, *others = files
    bounds = tuple(
        (identity, sum((other.bounds[place][1] for other in others), own))
        for place, (identity, own) in enumerate(first.bounds)
    )
    pixels = [file.pixels for file in files]
    return StatedFile(bounds, first.position, " ".join(pixels) if all(pixels) else "")


def find_irrelevant_files(
    condition: Term, atoms: Sequence[Atom], files: Sequence[StatedFile], find_attribute: FindAttribute
) -> frozenset[int]:
    """Return the places of files in which a condition is proved to be TRUE for no row.

    The pixels of files are judged first, by arithmetic. Other files are judged in order and in groups, by their common
    statements; only a group that may matter is divided.

    Parameters
    ----------
    condition
        The condition, as a set over labels of atoms; other labels are sets of which nothing is known.
    atoms
        The atoms of the condition.
    files
        What the files state, each about the same attributes.
    find_attribute
        Returns what is known of an attribute.
    """
    far, is_all = find_far_files(condition, atoms, [(file.position, file.pixels) for file in files])
    near = [place for place in range(len(files)) if place not in far]
    if is_all or not near:
        return frozenset(far)
    others = _refute_by_facts(condition, atoms, [files[place] for place in near], find_attribute)
    return frozenset({*far, *(near[place] for place in others)})


def _refute_by_facts(
    condition: Term, atoms: Sequence[Atom], files: Sequence[StatedFile], find_attribute: FindAttribute
) -> frozenset[int]:
    """Return the places of files whose statements, as facts, prove that a condition is TRUE for no row."""
    mentioned = relate_atoms(atoms, find_attribute)[1]
    identities = {identity for atom in (*atoms, *mentioned) for identity in identities_in(atom.term)}
    places: dict[StatedFile, list[int]] = {}
    for place, file in enumerate(files):
        places.setdefault(file.restrict(identities), []).append(place)
    ordered = _order_files([stated for stated in places if not stated.is_silent])

    def judge(groups: Sequence[Sequence[StatedFile]]) -> Iterator[bool]:
        for batch in split_batches(groups, _AT_ONCE):
            yield from _refute_files(condition, atoms, list(map(_join_files, batch)), find_attribute)

    if not any(judge([[stated] for stated in ordered[:: -(-len(ordered) // _TRIED) or 1]])):
        return frozenset()
    irrelevant: set[int] = set()
    pending, asked = [ordered], 0
    while pending and asked < _MOST_QUESTIONS:
        asked += len(pending)
        divided: list[list[StatedFile]] = []
        for group, is_refuted in zip(pending, judge(pending), strict=True):
            if is_refuted:
                irrelevant.update(place for stated in group for place in places[stated])
            elif len(group) > 1:
                divided += split_batches(group, -(-len(group) // _WAYS))
        pending = divided
    return frozenset(irrelevant)


def _order_files(files: Sequence[StatedFile]) -> list[StatedFile]:
    """Return files in the order of the attribute that distinguishes most files, so neighbours are alike."""
    if not files:
        return []
    columns = [[file.bounds[place][1] for file in files] for place in range(len(files[0].bounds))]
    best = max(range(len(columns)), key=lambda place: len(set(columns[place])), default=None)
    if best is None or len(set(columns[best])) == 1:
        return sorted(files, key=lambda file: file.pixels)
    known = [file for file in files if file.bounds[best][1].low is not None]
    unknown = [file for file in files if file.bounds[best][1].low is None]
    return sorted(known, key=lambda file: file.bounds[best][1].low) + unknown  # type: ignore[arg-type,return-value] # a single type


def _refute_files(
    condition: Term, atoms: Sequence[Atom], files: Sequence[StatedFile], find_attribute: FindAttribute
) -> list[bool]:
    """Return, for each file, whether a condition is proved to be TRUE for no row of the file."""
    deadline.check()
    facts, further_atoms = relate_atoms(atoms, find_attribute, _ListedFiles(files, find_attribute))
    theory = build_theory([*atoms, *further_atoms], find_attribute)
    known = Knowledge((statement for statement, _ in facts), open_universe=False, theory=theory)
    return [known.entails(disjoint(_make_label(number), condition)) for number in range(len(files))]


@dataclass(frozen=True, slots=True)
class _ListedFiles:
    """The facts stated by some files; see `StatedFacts`."""

    files: Sequence[StatedFile]
    find_attribute: FindAttribute

    def state(self, atoms: Collection[Atom]) -> tuple[list[FileFact], list[Atom]]:
        """Return the facts about the attributes of atoms, and the further atoms in these facts."""
        facts: list[FileFact] = []
        added: dict[str, Atom] = {}
        for number, file in enumerate(self.files):
            label = _make_label(number)
            for identity, bounds in file.bounds:
                attribute = self.find_attribute(identity)
                if attribute is None:
                    continue
                stated = state_bounds(
                    label,
                    attribute,
                    low=bounds.low,
                    end=bounds.end,
                    has_nulls=bounds.has_nulls,
                    has_values=bounds.has_values,
                )
                facts += [FileFact(statement, "footers", _NO_CATALOG) for statement in stated.facts]
                added.update((atom.label, atom) for atom in stated.atoms)
            if file.pixels:
                stated_pixels = state_pixels(label, file.position, file.pixels, atoms)
                facts += [FileFact(statement, "pixels", _NO_CATALOG) for statement in stated_pixels]
        return facts, list(added.values())


def _make_label(number: int) -> str:
    """Return the label of the rows of a file, different from the labels of all atoms and catalogs."""
    return f"file {number}"
