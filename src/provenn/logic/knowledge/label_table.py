"""The literals of labels. The set of a label is built in the graph when its literal is first needed.

A question about two of ten million sets concerns only their cone: the sets that they are made of. So a fact that
defines a set is only noted, and a cone is built from the notes when a question, or another fact, first needs it.
Questions about all sets build all sets first.

This changes no answer. A definition that is not yet built would add nodes that no constraint, no inhabited literal and
no question refers to. Whatever the other sets are, a set of the definition exists, so that these nodes neither allow
nor forbid an object.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import ItemsView, Iterator, Mapping, MutableMapping, ValuesView
from itertools import islice
from typing import Any, Final

from provenn import deadline
from provenn.logic.knowledge.graph import EMPTY, SetGraph
from provenn.logic.knowledge.lineage import Lineage, release_numbers
from provenn.logic.knowledge.row_builder import RowBuilder
from provenn.logic.statements import SetComparison
from provenn.logic.terms import Op

__all__ = ["Entry", "LabelTable", "build_definition"]

Entry = int | SetComparison
"""A literal; or the fact that defines the set, or the number of its row in a lineage, as ``~number``."""

_FEW: Final = 4096

_BETWEEN_CHECKS: Final = 10_000
"""How many sets are built between two checks of the deadline."""


class LabelTable(MutableMapping[str, int]):
    """The literals of labels, in the order in which the labels were added.

    Attributes
    ----------
    entries
        For each label its literal; or, until its set is built, the fact that defines it by one or two earlier labels,
        or ``~number`` for a row of a lineage. The rows of all lineages are numbered consecutively.
    few
        Up to this number of labels, the first need builds all sets: this takes less time than to find single cones.
    """

    __slots__ = ("_built", "_graph", "_lineages", "_starts", "_undo", "entries", "few")

    def __init__(self, graph: SetGraph) -> None:
        self._graph = graph
        self.entries: dict[str, Entry] = {}
        self.few = _FEW
        self._lineages: list[RowBuilder] = []
        self._starts: list[int] = []
        self._undo: list[tuple[str, Entry]] | None = None
        self._built = 0  # the number of labels up to which all sets are built

    def copy(self, graph: SetGraph) -> LabelTable:
        """Return the same literals for a copy of the graph, which `build_all` has completed."""
        self.build_all()
        table = LabelTable(graph)
        table.entries, table.few, table._built = self.entries.copy(), self.few, self._built
        return table

    def add_lineage(self, lineage: Lineage) -> None:
        """Add the labels of a lineage, all of them new."""
        start = self._starts[-1] + len(self._lineages[-1].literals) if self._lineages else 0
        self._starts.append(start)
        self._lineages.append(RowBuilder(lineage, self._graph))
        if self.entries:
            self.entries.update(zip(lineage.labels, range(~start, ~start - len(lineage.labels), -1), strict=True))
        else:
            self.entries = release_numbers(lineage)

    # -- building ------------------------------------------------------------------------------------------------

    def __getitem__(self, label: str) -> int:
        entry = self.entries[label]
        return entry if type(entry) is int and entry >= 0 else self._build(label)

    def get(self, label: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """Return the literal of a label; `default` without the label."""
        entry = self.entries.get(label)
        if entry is None:
            return default
        return entry if type(entry) is int and entry >= 0 else self._build(label)

    def _build(self, label: str) -> int:
        """Return the literal of a label, after building the sets that it is made of."""
        entries, undo = self.entries, self._undo
        if len(entries) <= self.few and undo is None:
            self.build_all()
            return self[label]
        stack = [label]
        literal = EMPTY
        while stack:
            label = stack[-1]
            entry = entries[label]
            if isinstance(entry, SetComparison):
                source = entry.right.postfix
                missing = _find_unbuilt(entries, source[0])
                if missing is None and len(source) > 1:
                    missing = _find_unbuilt(entries, source[1])
                if missing is not None:
                    stack.append(missing)
                    continue
                literal = self._build_definition(entry)
            else:
                literal = self._build_row(~entry)
            if undo is not None:
                undo.append((label, entry))
            entries[label] = literal
            stack.pop()
        return literal

    def _build_definition(self, fact: SetComparison) -> int:
        literal = build_definition(fact, self._graph, self.entries)
        if literal is None:
            raise AssertionError(f"{fact} is made from sets that are not built")
        return literal

    def _build_row(self, number: int) -> int:
        place = bisect_right(self._starts, number) - 1
        return self._lineages[place].build(number - self._starts[place])

    def build_all(self) -> None:
        """Build the sets of all labels."""
        entries = self.entries
        if self._built == len(entries):
            return
        rows = 0
        for lineage in self._lineages:
            lineage.build_all()
            entries.update(zip(lineage.labels, lineage.literals, strict=True))
            rows += len(lineage.literals)
        if rows < len(entries) - self._built:
            self._build_noted()
        self._lineages, self._starts, self._built = [], [], len(entries)

    def _build_noted(self) -> None:
        """Build the sets that facts define, in their order: the labels of a source come before its set."""
        entries = self.entries
        for position, (label, entry) in enumerate(islice(entries.items(), self._built, None)):
            if type(entry) is SetComparison:
                entries[label] = self._build_definition(entry)
            if not position % _BETWEEN_CHECKS:
                deadline.check()

    # -- undoing -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Note from now on which sets are built, for `cut_back`."""
        self._undo = []

    def commit(self) -> None:
        """Keep what was built since `begin`."""
        self._undo = None

    def cut_back(self, nodes: int) -> None:
        """Forget the sets built since `begin`; the graph has only `nodes` nodes again."""
        for label, entry in self._undo or ():
            self.entries[label] = entry
        for lineage in self._lineages:
            lineage.cut_back(nodes)
        self._undo = None

    # -- as a mapping --------------------------------------------------------------------------------------------

    def __setitem__(self, label: str, literal: int) -> None:
        self.entries[label] = literal

    def __delitem__(self, label: str) -> None:
        del self.entries[label]

    def popitem(self) -> tuple[str, int]:
        """Remove the label that was added last; its set may not be built, so that its literal has no meaning."""
        label, entry = self.entries.popitem()
        return label, entry if isinstance(entry, int) else EMPTY

    def __contains__(self, label: object) -> bool:
        return label in self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def items(self) -> ItemsView[str, int]:
        """Return all labels with their literals."""
        self.build_all()
        return self.entries.items()  # type: ignore[return-value] # all entries are literals now

    def values(self) -> ValuesView[int]:
        """Return the literals of all labels."""
        self.build_all()
        return self.entries.values()  # type: ignore[return-value] # all entries are literals now


def _find_unbuilt(entries: Mapping[str, Entry], token: str | Op) -> str | None:
    """Return a label if its set is not built yet, otherwise None."""
    entry = entries[token]  # type: ignore[index] # a definition in the table begins with labels
    return None if type(entry) is int and entry >= 0 else token  # type: ignore[return-value]


def build_definition(fact: SetComparison, graph: SetGraph, literals: Mapping[str, Any]) -> int | None:
    """Return the literal of the set that a fact defines by one or two labels, given their literals.

    Returns
    -------
    int or None
        The literal; None if a label has no literal, or the source is no such term.
    """
    source = fact.right.postfix
    literal: int | None = literals.get(source[0])  # type: ignore[arg-type] # an operator is no key
    if len(source) == 3 and literal is not None:
        operator, other = source[2], literals.get(source[1])  # type: ignore[arg-type]
        if other is None:
            return None
        if operator is Op.AND:
            literal = graph.meet(literal, other)
        elif operator is Op.OR:
            literal = graph.meet(literal ^ 1, other ^ 1) ^ 1
        else:
            literal = graph.run(source, literals)
    elif len(source) != 1:
        return None
    return literal if literal is None or fact.operator == "==" else graph.part(literal)
