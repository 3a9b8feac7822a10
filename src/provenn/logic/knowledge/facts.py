"""Take in facts: the definitions in facts become nodes of the graph, and the rest become constraints.

A fact *defines* a set without an earlier mention: ``D == B & C`` makes D the literal of ``B & C`` and ``B <= A`` makes
B a part of A. Beyond the definition, such a fact needs no record. Any other fact becomes constraints (literals of every
object), inhabited literals, or, if it is a choice (``A <= B or nonempty(C)``), a formula.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from provenn.logic.knowledge.definitions import find_definitions, order_by_dependencies
from provenn.logic.knowledge.formulas import Formula, Inhabited, build_formula, iterate_conjuncts
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from provenn.logic.knowledge.label_table import Entry, LabelTable, build_definition
from provenn.logic.knowledge.lineage import Lineage, Operation
from provenn.logic.statements import And, SetComparison, Statement
from provenn.logic.terms import Term

__all__ = ["MENTIONED", "FactBase", "FactList"]

MENTIONED = -1

T = TypeVar("T")
Recorded = tuple[T, int]  # a value, and the number of the fact that states it


class FactList(Sequence[Statement]):
    """The facts in the order in which they were added, in batches."""

    __slots__ = ("_batches", "_length", "_starts")

    def __init__(self) -> None:
        self._batches: list[Sequence[Statement]] = []
        self._starts: list[int] = []
        self._length = 0

    def copy(self) -> FactList:
        """Return a list of the same facts; the batches are shared."""
        facts = FactList()
        facts._batches, facts._starts = self._batches.copy(), self._starts.copy()
        facts._length = self._length
        return facts

    def extend(self, batch: Sequence[Statement]) -> None:
        """Add a batch without a copy."""
        if batch:
            self._batches.append(batch)
            self._starts.append(self._length)
            self._length += len(batch)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._length))]
        number = index + self._length if index < 0 else index
        if not 0 <= number < self._length:
            raise IndexError(f"there is no fact {index} among {self._length}")
        batch = bisect_right(self._starts, number) - 1
        return self._batches[batch][number - self._starts[batch]]

    def __iter__(self) -> Iterator[Statement]:
        return (fact for batch in self._batches for fact in batch)


class FactBase:
    """All facts: a graph of labelled sets, and the claims of the facts beyond definitions.

    Parameters
    ----------
    labels, graph
        The sets that are there already; by default none. A `LabelTable`, as by default, builds a set when it is needed.
        With any other mapping, each set is built at once.
    """

    def __init__(self, labels: MutableMapping[str, int] | None = None, graph: SetGraph | None = None) -> None:
        self.graph = SetGraph() if graph is None else graph
        self.facts = FactList()
        self.labels = LabelTable(self.graph) if labels is None else labels
        self.table = self.labels if isinstance(self.labels, LabelTable) else None
        self.definers = array("i")  # for each label, in order, the number of its defining fact, or MENTIONED
        self.equated: list[str] = []  # labels defined as terms of any form; all others are parts, or & | - ^ of labels
        self.constraints: list[Recorded[int]] = []  # literals of every object
        self.inhabited: list[Recorded[int]] = []  # literals of some object
        self.choices: list[Recorded[Formula]] = []  # formulas with a choice
        self._mentioned: set[str] = set()

    def copy(self) -> FactBase:
        """Return the same facts in a graph of their own, to which other facts can be added; all sets are built."""
        self.build_sets()
        graph = self.graph.copy()
        base = FactBase(dict(self.labels) if self.table is None else self.table.copy(graph), graph)
        base.facts, base.definers, base.equated = self.facts.copy(), self.definers[:], self.equated.copy()
        base.constraints, base.inhabited = self.constraints.copy(), self.inhabited.copy()
        base.choices = self.choices.copy()
        return base

    def literal(self, operand: Term) -> int:
        """Return the literal of a term; a new label becomes an unconstrained set."""
        self.mention(token for token in operand.postfix if isinstance(token, str))
        return self.graph.run(operand.postfix, self.labels)

    def mention(self, labels: Iterable[str]) -> None:
        """Add an unconstrained set for each new label."""
        for label in labels:
            if label not in self.labels:
                self._mentioned.add(label)
                self.labels[label] = self.graph.part(EVERYTHING)
                self.definers.append(MENTIONED)

    def build_sets(self) -> None:
        """Build the sets of all labels, for questions about all of them."""
        if self.table is not None:
            self.table.build_all()

    def take(self, batch: Sequence[Statement]) -> None:
        """Take in a batch of facts.

        A batch need not be in order: if a fact defines a set mentioned earlier in the batch, the batch is taken in
        again with definitions before uses. So a wrong order costs a little time, and never an answer.
        """
        start = len(self.facts)
        self.facts.extend(batch)
        if isinstance(batch, Lineage) and self._take_lineage(batch, start):
            return
        self._mentioned.clear()
        # The facts of a lineage are made one by one: to note them instead of building their sets would keep them.
        table = self.table
        is_noted = table is not None and not isinstance(batch, Lineage)
        records: tuple[MutableSequence[Any], ...] = (
            self.definers,
            self.equated,
            self.constraints,
            self.inhabited,
            self.choices,
        )
        size, lengths = self.graph.size(), [len(record) for record in records]
        if table is not None:
            table.begin()
        if not self._take_facts(enumerate(batch, start), ordered=False, is_noted=is_noted):
            self.graph.cut_back(size)
            for record, length in zip(records, lengths, strict=True):
                del record[length:]
            if table is not None:
                table.cut_back(size.nodes)
            while len(self.labels) > lengths[0]:
                self.labels.popitem()
            order = order_by_dependencies(batch, self.labels)
            self._take_facts(((start + number, batch[number]) for number in order), ordered=True, is_noted=is_noted)
        if table is not None:
            table.commit()
        if isinstance(batch, Lineage):
            self.mention(batch.labels)

    def _take_facts(self, numbered: Iterable[tuple[int, Statement]], *, ordered: bool, is_noted: bool) -> bool:
        """Take in facts in their order; return False if an unordered batch must be ordered first."""
        labels, graph, definers = self.labels, self.graph, self.definers
        entries: MutableMapping[str, Any] = labels if self.table is None else self.table.entries
        definition: Entry | None
        for number, fact in numbered:
            # A fast path for the common definitions, of sets in terms of one or two known labels.
            if type(fact) is SetComparison and (fact.operator == "<=" or fact.operator == "=="):  # noqa: PLR1714 - faster
                name = fact.left.postfix
                source = fact.right.postfix
                if len(name) == 1 and name[0] not in entries and type(name[0]) is str:
                    if not is_noted:
                        definition = build_definition(fact, graph, labels)
                    elif source[0] in entries and (len(source) == 1 or (len(source) == 3 and source[1] in entries)):
                        definition = fact
                    else:
                        definition = fact if self._mention_sources(fact) else None
                    if definition is not None:
                        entries[name[0]] = definition
                        definers.append(number)
                        continue
            if not self._take_any(fact, number, ordered=ordered):
                return False
        return True

    def _mention_sources(self, fact: SetComparison) -> bool:
        """Mention the labels of a source; return False, and mention none, if it is not one or two other labels."""
        source = fact.right.postfix
        labels = source if len(source) == 1 else source[:2] if len(source) == 3 else ()
        if not labels or fact.left.postfix[0] in labels or not all(isinstance(label, str) for label in labels):
            return False
        self.mention(labels)  # type: ignore[arg-type] # no operator is among them
        return True

    def _take_any(self, fact: Statement, number: int, *, ordered: bool) -> bool:
        if isinstance(fact, And):
            return all(self._take_any(part, number, ordered=ordered) for part in fact.parts)
        for label, source, whole in find_definitions(fact):
            if label not in self.labels and label not in source.postfix:
                literal = self.literal(source)
                self.labels[label] = literal if whole else self.graph.part(literal)
                self.definers.append(number)
                if whole:
                    self.equated.append(label)
                self._record_formula(build_formula(fact, self.literal), number, inhabited_only=True)
                return True
            if not ordered and label in self._mentioned and label not in source.postfix:
                return False
        self._record_formula(build_formula(fact, self.literal), number)
        return True

    def _record_formula(self, fact_formula: Formula, number: int, *, inhabited_only: bool = False) -> None:
        """Record the claims of a fact, except claims of emptiness that became a definition."""
        parts = list(iterate_conjuncts(fact_formula))
        if not all(isinstance(part, Inhabited) for part in parts):
            self.choices.append((fact_formula, number))
            return
        for part in parts:
            if isinstance(part, Inhabited):
                if part.holds:
                    self.inhabited.append((part.literal, number))
                elif not inhabited_only:
                    self.constraints.append((part.literal ^ 1, number))

    def _take_lineage(self, lineage: Lineage, start: int) -> bool:
        """Take in a lineage as a whole; return False if it names a set that is known already."""
        table = self.table
        if table is None or (table.entries and any(map(table.entries.__contains__, lineage.labels))):
            return False
        table.add_lineage(lineage)
        is_base = lineage.operations == Operation.BASE
        numbers = np.cumsum(~is_base, dtype=np.int32)
        numbers += start - 1
        numbers[is_base] = MENTIONED
        self.definers.frombytes(numbers.data.cast("B"))
        return True
