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
from provenn.logic.knowledge.graph import EVERYTHING, PART, SetGraph
from provenn.logic.knowledge.lineage import Lineage, Operation
from provenn.logic.statements import And, SetComparison, Statement
from provenn.logic.terms import Op, Term, term

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
    """All facts: a graph of labelled sets, and the claims of the facts beyond definitions."""

    def __init__(self) -> None:
        self.graph = SetGraph()
        self.facts = FactList()
        self.labels: MutableMapping[str, int] = {}
        self.definers = array("q")  # for each label, in order, the number of its defining fact, or MENTIONED
        self.constraints: list[Recorded[int]] = []  # literals of every object
        self.inhabited: list[Recorded[int]] = []  # literals of some object
        self.choices: list[Recorded[Formula]] = []  # formulas with a choice
        self._mentioned: set[str] = set()

    def copy(self) -> FactBase:
        """Return the same facts in a graph of their own, to which other facts can be added."""
        base = FactBase()
        base.graph, base.facts = self.graph.copy(), self.facts.copy()
        base.labels, base.definers = dict(self.labels), self.definers[:]
        base.constraints, base.inhabited = self.constraints.copy(), self.inhabited.copy()
        base.choices = self.choices.copy()
        return base

    def literal(self, operand: Term) -> int:
        """Return the literal of a term; a new label becomes an unconstrained set."""
        labels = self.labels
        for token in operand.postfix:
            if isinstance(token, str) and token not in labels:
                self._mentioned.add(token)
                labels[token] = self.graph.part(EVERYTHING)
                self.definers.append(MENTIONED)
        return self.graph.run(operand.postfix, labels)

    def mention(self, labels: Iterable[str]) -> None:
        """Add an unconstrained set for each new label."""
        for label in labels:
            if label not in self.labels:
                self.literal(term(label))

    def take(self, batch: Sequence[Statement]) -> None:
        """Take in a batch of facts.

        A batch need not be in order: if a fact defines a set mentioned earlier in the batch, the batch is taken in
        again with definitions before uses. So a wrong order costs a little time, and never an answer.
        """
        start = len(self.facts)
        self.facts.extend(batch)
        if isinstance(batch, Lineage) and not any(map(self.labels.__contains__, batch.labels)):
            self._take_lineage(batch, start)
            return
        self._mentioned.clear()
        records: tuple[MutableSequence[Any], ...] = (self.definers, self.constraints, self.inhabited, self.choices)
        size, lengths = self.graph.size(), [len(record) for record in records]
        if not self._take_facts(enumerate(batch, start), ordered=False):
            self.graph.cut_back(size)
            for record, length in zip(records, lengths, strict=True):
                del record[length:]
            while len(self.labels) > lengths[0]:
                self.labels.popitem()
            order = order_by_dependencies(batch, self.labels)
            self._take_facts(((start + number, batch[number]) for number in order), ordered=True)
        if isinstance(batch, Lineage):
            self.mention(batch.labels)

    def _take_facts(self, numbered: Iterable[tuple[int, Statement]], *, ordered: bool) -> bool:
        """Take in facts in their order; return False if an unordered batch must be ordered first."""
        labels, graph, definers = self.labels, self.graph, self.definers
        left, right = graph.left, graph.right
        for number, fact in numbered:
            # A fast path for the common definitions, of sets in terms of one or two known labels.
            if type(fact) is SetComparison and (fact.operator == "<=" or fact.operator == "=="):  # noqa: PLR1714 - faster
                name = fact.left.postfix
                source = fact.right.postfix
                if len(name) == 1 and name[0] not in labels and type(name[0]) is str:
                    literal = labels.get(source[0])  # type: ignore[arg-type] # an operator is no key
                    if len(source) == 3 and literal is not None:
                        other = labels.get(source[1])  # type: ignore[arg-type]
                        operator = source[2]
                        if other is None:
                            literal = None
                        elif operator is Op.AND:
                            literal = graph.meet(literal, other)
                        elif operator is Op.OR:
                            literal = graph.meet(literal ^ 1, other ^ 1) ^ 1
                        else:
                            literal = graph.run(source, labels)
                    elif len(source) != 1:
                        literal = None
                    if literal is not None:
                        if fact.operator == "<=" and literal:
                            left.append(literal)
                            right.append(PART)
                            literal = 2 * len(left) - 2
                        labels[name[0]] = literal
                        definers.append(number)
                        continue
            if not self._take_any(fact, number, ordered=ordered):
                return False
        return True

    def _take_any(self, fact: Statement, number: int, *, ordered: bool) -> bool:
        if isinstance(fact, And):
            return all(self._take_any(part, number, ordered=ordered) for part in fact.parts)
        for label, source, whole in find_definitions(fact):
            if label not in self.labels and label not in source.postfix:
                literal = self.literal(source)
                self.labels[label] = literal if whole else self.graph.part(literal)
                self.definers.append(number)
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

    def _take_lineage(self, lineage: Lineage, start: int) -> None:
        graph = self.graph
        meet, part = graph.meet, graph.part
        _, a_subset, the_same, in_common, together, without = map(
            int, Operation
        )  # looking up members of an enum is slow
        literals: list[int] = []
        append = literals.append
        for operation, left, right in lineage.rows():
            if operation == a_subset:
                append(part(literals[left]))
            elif operation == the_same:
                append(literals[left])
            elif operation == in_common:
                append(meet(literals[left], literals[right]))
            elif operation == together:
                append(meet(literals[left] ^ 1, literals[right] ^ 1) ^ 1)
            elif operation == without:
                append(meet(literals[left], literals[right] ^ 1))
            else:
                append(part(EVERYTHING))
        base = lineage.operations == Operation.BASE
        numbers = np.where(base, MENTIONED, start + np.cumsum(~base) - 1)
        self.definers.frombytes(numbers.astype(np.int64).tobytes())
        self.labels.update(zip(lineage.labels, literals, strict=True))
