"""Simulated objects with values: an object that a theory cannot refute, because a row of values is such an object.

A theory knows which combinations of its sets no object has. A simulated object whose part in each set of the theory is
that of a row of values is possible in all sets at once, so that it refutes for certain: the theory need not be asked
about it again. Objects that the reasoner finds are completed to such objects, and a new set gets the rows inside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from provenn.logic.knowledge.graph import PART, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.signatures import Signatures
from provenn.logic.knowledge.theory import Theory

__all__ = ["BEYOND", "RowTheory", "ValuedObjects"]

BEYOND: Final = " beyond what it contains"
"""The end of the label of what a new set holds besides the known sets inside it."""

_FIRST_DRAWN: Final = 2  # the objects in no set and in every set have no values
_RANDOM: Final = 256


class RowTheory(Theory, Protocol):
    """A theory whose sets are conditions on the values of a row."""

    def draw_row(self, row: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """Return a row with random values of the attributes that it lacks."""

    def find_row(self, inside: Collection[str], outside: Collection[str]) -> Mapping[Any, Any] | None:
        """Return a row in some sets and outside others, or None if none was found."""

    def locate_rows(self, rows: Sequence[Mapping[Any, Any]], labels: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return for each of some sets the rows inside it, and the rows for which that is not certain, as bits."""


class ValuedObjects:
    """The rows of simulated objects.

    Parameters
    ----------
    graph, signatures, labels
        The sets, the simulated objects, and the literals of labels.
    rows
        The rows of stored objects, by the number of the object.
    certain
        The stored objects that agree with their rows in all sets of the theory, as bits.
    known
        The sets of the theory for which that is known.
    """

    def __init__(
        self,
        graph: SetGraph,
        signatures: Signatures,
        labels: MutableMapping[str, int],
        *,
        rows: Mapping[int, Mapping[Any, Any]] | None = None,
        certain: int = 0,
        known: Iterable[str] = (),
    ) -> None:
        self._graph, self._signatures, self._labels = graph, signatures, labels
        self.rows = dict(rows or {})
        self.certain = certain
        self.known = dict.fromkeys(known)
        self.theory: RowTheory | None = None

    def consult(self, theory: RowTheory) -> None:
        """Give each object with a row its place in the sets that are new in a theory."""
        self.theory = theory
        new = [label for label in theory.labels if label not in self.known]
        if not new:
            return
        if not self.known:
            self.rows = {place: {} for place in range(_FIRST_DRAWN, _RANDOM)}
            self.certain = sum(1 << place for place in self.rows)
        self.rows = {place: theory.draw_row(row) for place, row in self.rows.items()}
        self.known.update(dict.fromkeys(new))
        places = list(self.rows)
        located = theory.locate_rows([self.rows[place] for place in places], new)
        with_rows = _spread_bits(-1, places)
        self._signatures.refresh()
        inside_by_label: dict[str, int] = {}
        for label, (inside, uncertain) in located.items():
            self.certain &= ~_spread_bits(uncertain, places)
            inside_by_label[label] = _spread_bits(inside, places)
            part = self._find_part(label)
            if part is not None:
                self._signatures.place(part, inside_by_label[label], with_rows)
        self._signatures.compute_again()
        for label, inside in inside_by_label.items():
            self.certain &= ~(self._signatures.value(self._labels[label]) ^ inside)

    def _find_part(self, label: str) -> int | None:
        """Return the part that decides which objects are in a set, if there is one."""
        for name in (label + BEYOND, label):
            literal = self._labels.get(name)
            if literal is not None and not literal & 1 and self._graph.right[literal >> 1] == PART:
                return literal >> 1
        return None

    def complete(self, reasoner: Reasoner, parts: set[int], literals: Sequence[int]) -> Mapping[Any, Any] | None:
        """Move an object that answers a question to the sets of a row; return the row, or None if there is none.

        The object stays as it is without a row, and where it would no longer answer the question.
        """
        theory, check, graph = self.theory, reasoner.check, self._graph
        if theory is None or check is None:
            return None
        values: dict[int, bool] = {}
        relevant = check.find_relevant_labels(literals)
        inside = {label for label in relevant if graph.holds(self._labels[label], parts, values)}
        row = theory.find_row(inside, relevant - inside)
        if row is None:
            return None
        located = theory.locate_rows([row], self.known)
        if any(uncertain for _, uncertain in located.values()):
            return None
        moved = set(parts)
        for label, (is_inside, _) in located.items():
            part = self._find_part(label)
            if part is not None:
                (moved.add if is_inside else moved.discard)(part)
        # A part lies in its whole: what is not there is not in the part either.
        values = {}
        if (
            all(graph.holds(literal, moved, values) for literal in literals)
            and all(graph.holds(graph.left[part], moved, values) for part in moved)
            and all(graph.holds(self._labels[label], moved, values) == inside for label, (inside, _) in located.items())
            and not reasoner.find_violated(moved)
        ):
            parts.clear()
            parts.update(moved)
            return row
        return None

    def note(self, first: int, rows: Sequence[Mapping[Any, Any] | None]) -> None:
        """Note the rows of new objects, from a number on."""
        for place, row in enumerate(rows, first):
            if row is not None:
                self.rows[place] = row
                self.certain |= 1 << place


def _spread_bits(bits: int, places: Sequence[int]) -> int:
    """Return the bits at the given places."""
    if not places:
        return 0
    chosen = np.zeros(max(places) + 1, np.uint8)
    count = len(places)
    if bits == -1:
        chosen[places] = 1
    else:
        packed = np.frombuffer(bits.to_bytes(-(-count // 8), "little"), np.uint8)
        chosen[places] = np.unpackbits(packed, bitorder="little")[:count]
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")
