"""Relationships: the hypercubes that are consistent with the knowledge about some sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from operator import or_
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provenn import display
from provenn.errors import HypercubeError, LabelError, UnknownLabelError
from provenn.logic import algorithms
from provenn.logic.algorithms import BUDGET
from provenn.logic.description import describe_hypercubes
from provenn.logic.enumeration import enumerate_hypercubes, select_holding
from provenn.logic.hypercubes import LabelledHypercubes, build_hypercubes
from provenn.logic.hypercubes.masks import build_mask, iterate_bits
from provenn.logic.operators import Operator
from provenn.logic.parser import statement
from provenn.logic.statements import And, Statement
from provenn.logic.terms import check_label

__all__ = ["Kind", "Relationship"]

Kind = Literal["contradiction", "exact", "inexact", "tautology"]

_MOST_AXES = 24  # an array of 16 million cells
_MOST_AXES_SHOWN = 6
_MOST_SHOWN = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Relationship:
    """The knowledge about some sets: all possible hypercubes.

    Build a relationship with `of`, `from_arrays`, `tautology` or `contradiction`. The operators take a relationship, a
    statement or the text of a statement on the right, and relate the sets of both sides: ``&`` both hold, ``|`` at
    least one holds, ``^`` exactly one holds, ``~`` the operand does not hold, ``>>`` if the left side holds then so
    does the right side, ``-`` the left side holds and the right side does not. Relationships are equal if they have the
    same meaning, regardless of the order of the labels and of labels without a restriction.

    Parameters
    ----------
    form
        The hypercubes and their labels.
    budget
        The most hypercubes that an operation may build. An operation that needs more raises `BudgetError` before it
        starts. The result of an operator has the budget of its left side.

    Examples
    --------
    >>> known = Relationship.of("nonempty(A)", "outside(A)", "B < A", "C == A", "D == B & C")
    >>> known
    <Relationship of A, B, C, D: inexact, 2 hypercubes>
    >>> known.entails("B == D")
    True
    >>> (known - "B == D").kind
    'contradiction'
    """

    form: LabelledHypercubes
    budget: int = BUDGET
    _hash: int | None = field(default=None, init=False)

    # --- making ---

    @classmethod
    def of(cls, *statements: Statement | str, labels: Iterable[str] = (), budget: int = BUDGET) -> Self:
        """Return the relationship in which all the statements hold.

        Parameters
        ----------
        *statements
            Statements, or texts of statements.
        labels
            The first sets of the relationship, in this order, even if no statement mentions them. All further sets
            follow in the order of their first mention.
        budget
            The most hypercubes, for this relationship and for results of its operators.

        Raises
        ------
        StatementError
            If a text is not a statement.
        BudgetError
            If too many hypercubes would be needed. The error is raised before they are built.

        Examples
        --------
        >>> len(Relationship.of("B < A")), len(Relationship.of("B <= A"))
        (4, 8)
        >>> Relationship.of("B < A", labels=["A", "B", "C"]).labels
        ('A', 'B', 'C')
        """
        facts = [_read_statement(fact) for fact in statements]
        mentioned = dict.fromkeys([*_check_distinct(labels), *(label for fact in facts for label in fact.labels)])
        return cls(enumerate_hypercubes(facts, tuple(mentioned), budget), budget)

    @classmethod
    def from_arrays(cls, labels: Iterable[str], arrays: Iterable[ArrayLike], *, budget: int = BUDGET) -> Self:
        """Return the relationship with the given hypercubes.

        Parameters
        ----------
        labels
            The sets, one for each axis.
        arrays
            Boolean arrays of shape ``(2,) * n``; index 1 = inside.

        Raises
        ------
        HypercubeError
            If an array is not Boolean, or not of that shape.

        Examples
        --------
        >>> Relationship.from_arrays("AB", [[[True, False], [False, True]]]) == Relationship.of(
        ...     "A == B and nonempty(A) and outside(A)"
        ... )
        True
        """
        names = _check_distinct(labels)
        masks = {_read_array(array, len(names)) for array in arrays}
        algorithms.check_budget(names, len(masks), budget)
        regions = list(iterate_bits(reduce(or_, masks, 0)))
        places = {region: place for place, region in enumerate(regions)}
        packed = (build_mask(places[region] for region in iterate_bits(hypercube)) for hypercube in masks)
        return cls(LabelledHypercubes(names, tuple(regions), build_hypercubes(len(regions), packed)), budget)

    @classmethod
    def tautology(cls, *labels: str, budget: int = BUDGET) -> Self:
        """Return the relationship without any knowledge: every hypercube is possible.

        >>> [len(Relationship.tautology(*labels)) for labels in ("", "A", "AB", "ABC", "ABCD")]
        [2, 4, 16, 256, 65536]
        """
        return cls(algorithms.tautology(_check_distinct(labels), budget=budget), budget)

    @classmethod
    def contradiction(cls, *labels: str, budget: int = BUDGET) -> Self:
        """Return the relationship without a possible hypercube."""
        return cls(LabelledHypercubes(_check_distinct(labels), (), build_hypercubes(0, [])), budget)

    # --- reading ---

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the sets."""
        return self.form.labels

    @property
    def kind(self) -> Kind:
        """The class of the relationship, of the four classes in the paper.

        ``"contradiction"``: no hypercube; ``"exact"``: one; ``"tautology"``: all; ``"inexact"``: any other number.
        """
        # All hypercubes together inhabit all regions, so the regions are counted first, to avoid computing 2^(2^n).
        count, regions = len(self), len(self.form.regions)
        if regions == 1 << len(self.labels) and count == 1 << regions:
            return "tautology"
        return "contradiction" if count == 0 else "exact" if count == 1 else "inexact"

    def __len__(self) -> int:
        """Return the number of hypercubes."""
        return len(self.form)

    def arrays(self) -> Iterator[NDArray[np.bool_]]:
        """Return the hypercubes as arrays of shape ``(2,) * n``, axes in the order of `labels`; index 1 = inside.

        Raises
        ------
        HypercubeError
            If the relationship has more sets than an array can reasonably have axes.

        Examples
        --------
        >>> for array in Relationship.of("A == B and nonempty(A)").arrays():
        ...     print(array.astype(int).tolist())
        [[0, 0], [0, 1]]
        [[1, 0], [0, 1]]
        """
        count = len(self.labels)
        if count > _MOST_AXES:
            raise HypercubeError(
                f"an array for {count} sets has 2**{count} cells", hint="ask for fewer sets with on(…)"
            )
        regions = sorted(self.form.regions)
        # The first axis of an array is its most significant; the first bit of a region is its least significant.
        cells = np.array([sum(1 << count - 1 - axis for axis in iterate_bits(region)) for region in regions], np.intp)
        return (_write_array(hypercube, cells, count) for hypercube in self.form.over(regions))

    def to_statement(self) -> Statement:
        """Return a statement with the same meaning.

        >>> Relationship.of("B < A and C == A").to_statement()
        statement('A == C and empty(B - A) and nonempty(A - B)')
        """
        return describe_hypercubes(self.form)

    # --- sets ---

    def on(self, *labels: str) -> Self:
        """Return the relationship of the given sets alone, in this order.

        >>> Relationship.of("B <= A", "C <= B").on("C", "A") == Relationship.of("C <= A")
        True
        """
        return self._replace_form(self.form.on(self._check_known(labels)))

    def without(self, *labels: str) -> Self:
        """Return the relationship without the given sets; the knowledge about all others remains.

        >>> Relationship.of("B < A", "C < B").without("B").entails("C < A")
        True
        """
        return self._replace_form(algorithms.removing_a_set(self.form, *self._check_known(labels)))

    def including(self, *labels: str) -> Self:
        """Return the relationship with additional, unrestricted sets; known sets remain unchanged.

        >>> len(Relationship.of("nonempty(A)").including("B"))
        12
        """
        new = (label for label in _check_distinct(labels) if label not in self.labels)
        return self._replace_form(algorithms.adding_a_set(self.form, *new, budget=self.budget))

    # --- operators ---

    def combine(self, other: Relationship | Statement | str, operator: Operator | str) -> Self:
        """Apply any of the sixteen binary operators, given by name or as a truth table (see `Operator`).

        >>> Relationship.of("A <= B").combine("B <= A", Operator.NEITHER) == Relationship.of("A - B != {} != B - A")
        True
        >>> Relationship.of("A <= B").combine("B <= A", "1000") == Relationship.of("A == B")
        True
        """
        operator = Operator(operator)
        if operator is Operator.CONJUNCTION:
            return self & other
        if operator is Operator.NONIMPLICATION:
            return self - other
        q = other if isinstance(other, Relationship) else Relationship.of(other, budget=self.budget)
        return self._replace_form(algorithms.any_binary_operator(self.form, q.form, operator, budget=self.budget))

    def __and__(self, other: Relationship | Statement | str) -> Self:
        result = self
        for fact in _split_facts(other):
            q = result._find_relevant(fact)
            result = result._replace_form(algorithms.enhanced_conjunction(result.form, q, budget=self.budget))
        return result

    def __sub__(self, other: Relationship | Statement | str) -> Self:
        return self._replace_form(
            algorithms.enhanced_nonimplication(self.form, self._find_relevant(other), budget=self.budget)
        )

    def __or__(self, other: Relationship | Statement | str) -> Self:
        return self.combine(other, Operator.DISJUNCTION)

    def __xor__(self, other: Relationship | Statement | str) -> Self:
        return self.combine(other, Operator.EXCLUSIVE_OR)

    def __rshift__(self, other: Relationship | Statement | str) -> Self:
        return self.combine(other, Operator.IMPLICATION)

    def __invert__(self) -> Self:
        return self._replace_form(algorithms.negation(self.form, budget=self.budget))

    def equivalent(self, other: Relationship | Statement | str) -> Self:
        """Return the material equivalence: both hold or neither does. To compare relationships, use ``==``."""
        return self.combine(other, Operator.EQUIVALENCE)

    def entails(self, other: Relationship | Statement | str) -> bool:
        """Return whether `other` holds wherever this relationship does, for any content of sets unknown here.

        Raises
        ------
        BudgetError
            If `other` is a statement with sets unknown here, and needs too many hypercubes.

        Examples
        --------
        >>> Relationship.of("A < B", "B < C").entails("A != C and nonempty(C)")
        True
        """
        return all(algorithms.entailment([self.form], self._find_relevant(fact)) for fact in _split_facts(other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relationship):
            return NotImplemented
        return self.entails(other) and other.entails(self)

    def __hash__(self) -> int:
        value = self._hash
        if value is None:
            form = _drop_unrestricted_sets(self.form)
            value = hash((form.labels, tuple(sorted(form.regions)), len(form)))
            object.__setattr__(self, "_hash", value)
        return value

    # --- showing ---

    def __repr__(self) -> str:
        sets = ", ".join(self.labels) or "no sets"
        return f"<Relationship of {sets}: {self.kind}, {len(self)} hypercube{'s' * (len(self) != 1)}>"

    def __str__(self) -> str:
        labels, arrays = self._select_shown()
        return display.relationship_text(labels, arrays, kind=self.kind, total=len(self))

    def _repr_html_(self) -> str:
        labels, arrays = self._select_shown()
        return display.relationship_html(labels, arrays, kind=self.kind, total=len(self))

    def _repr_svg_(self) -> str:
        labels, arrays = self._select_shown()
        return display.relationship_svg(labels, arrays, total=len(self))

    def _select_shown(self) -> tuple[Sequence[str], Iterable[NDArray[np.bool_]]]:
        """Return the labels and arrays to display: the first hypercubes; of many sets, equal sets as one axis."""
        if len(self.labels) <= _MOST_AXES_SHOWN:
            return self.labels, islice(self.arrays(), _MOST_SHOWN)
        groups = self.form.equal_sets()
        labels = [" = ".join(group) for group in groups]
        reduced = self.on(*(group[0] for group in groups))
        return labels, islice(reduced.arrays(), _MOST_SHOWN) if len(groups) <= _MOST_AXES else ()

    # --- inside ---

    def _replace_form(self, form: LabelledHypercubes) -> Self:
        return type(self)(form, self.budget)

    def _check_known(self, labels: Iterable[str]) -> tuple[str, ...]:
        distinct = _check_distinct(labels)
        for label in distinct:
            if label not in self.labels:
                raise UnknownLabelError(label, self.labels)
        return distinct

    def _find_relevant(self, other: Relationship | Statement | str) -> LabelledHypercubes:
        """Return the hypercubes of `other`; of a statement about sets known here, only hypercubes possible here."""
        if isinstance(other, Relationship):
            return other.form
        fact = _read_statement(other)
        if set(fact.labels) <= set(self.labels):
            return select_holding(self.form, fact)
        return enumerate_hypercubes([fact], fact.labels, self.budget)


def _read_statement(value: Statement | str) -> Statement:
    if isinstance(value, str):
        return statement(value)
    if isinstance(value, Statement):
        return value
    raise TypeError(f"expected a statement or its text, got {value!r}")


def _split_facts(other: Relationship | Statement | str) -> Sequence[Relationship | Statement]:
    """Return the conjuncts of a statement: a conjunct alone needs few hypercubes."""
    if isinstance(other, Relationship):
        return (other,)
    fact = _read_statement(other)
    return fact.parts if isinstance(fact, And) else (fact,)


def _check_distinct(labels: Iterable[str]) -> tuple[str, ...]:
    distinct: dict[str, None] = {}
    for label in labels:
        if check_label(label) in distinct:
            raise LabelError(f"the set {label!r} is named twice")
        distinct[label] = None
    return tuple(distinct)


def _read_array(array: ArrayLike, count: int) -> int:
    """Return the mask of the regions in which an array is True."""
    shape = (2,) * count
    try:
        cells = np.asarray(array)
    except ValueError as error:
        raise HypercubeError(f"expected an array of shape {shape}: {error}") from error
    if cells.dtype != np.bool_:
        raise HypercubeError(
            f"a hypercube is an array of Booleans, not of {cells.dtype}", hint="compare it, or use astype(bool)"
        )
    if cells.shape != shape:
        raise HypercubeError(f"a hypercube of {count} sets is an array of shape {shape}, not {cells.shape}")
    return build_mask(sum(int(inside) << axis for axis, inside in enumerate(index)) for index in np.argwhere(cells))


def _write_array(hypercube: int, cells: NDArray[np.intp], count: int) -> NDArray[np.bool_]:
    array = np.zeros(1 << count, np.bool_)
    array[cells] = [hypercube >> place & 1 for place in range(cells.size)]
    return array.reshape((2,) * count)


def _drop_unrestricted_sets(form: LabelledHypercubes) -> LabelledHypercubes:
    """Return the same hypercubes without unrestricted sets, with the labels in alphabetical order."""
    for label in form.labels:
        fewer = algorithms.removing_a_set(form, label)
        if fewer.hypercubes.count_lifts([2] * len(fewer.regions)) == len(form):
            form = fewer
    return form.on(tuple(sorted(form.labels)))
