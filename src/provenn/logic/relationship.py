"""Relationships: the hypercubes that are consistent with what is known of some sets."""

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
from provenn.logic.description import described
from provenn.logic.enumeration import enumerated, holding
from provenn.logic.hypercubes import Labelled, made
from provenn.logic.hypercubes.masks import mask, ones
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
    """What is known of some sets: all the hypercubes that are possible.

    Made by `of`, `from_arrays`, `tautology` and `contradiction`. The operators take a relationship, a statement or
    the text of one on their right, and relate the sets of both: ``&`` both hold, ``|`` at least one does, ``^``
    exactly one, ``~`` it does not hold, ``>>`` if the left one holds so does the right one, ``-`` the left one holds
    and the right one does not. Relationships are equal if they mean the same, in whatever order they name the sets,
    and whatever sets they name without restricting them.

    Parameters
    ----------
    form
        The hypercubes and their labels.
    budget
        How many hypercubes an operation may build. One that needs more raises `BudgetError` before it starts. The
        result of an operator has the budget of its left side.

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

    form: Labelled
    budget: int = BUDGET
    _hash: int | None = field(default=None, init=False)

    # --- making ---

    @classmethod
    def of(cls, *statements: Statement | str, labels: Iterable[str] = (), budget: int = BUDGET) -> Self:
        """The relationship in which all the statements hold.

        Parameters
        ----------
        *statements
            Statements, or text to be read as one.
        labels
            Sets to name first, in this order, whether or not a statement mentions them. The others follow in the order
            of their first mention.
        budget
            How many hypercubes may be needed, here and in what is made of the result.

        Raises
        ------
        StatementError
            If a text is not a statement.
        BudgetError
            If too many hypercubes would be needed. It is raised before they are made.

        Examples
        --------
        >>> len(Relationship.of("B < A")), len(Relationship.of("B <= A"))
        (4, 8)
        >>> Relationship.of("B < A", labels=["A", "B", "C"]).labels
        ('A', 'B', 'C')
        """
        read = [_statement(one) for one in statements]
        mentioned = dict.fromkeys([*_distinct(labels), *(label for one in read for label in one.labels)])
        return cls(enumerated(read, tuple(mentioned), budget), budget)

    @classmethod
    def from_arrays(cls, labels: Iterable[str], arrays: Iterable[ArrayLike], *, budget: int = BUDGET) -> Self:
        """The relationship with these hypercubes.

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
        names = _distinct(labels)
        masks = {_inhabited(array, len(names)) for array in arrays}
        algorithms.check_budget(names, len(masks), budget)
        regions = list(ones(reduce(or_, masks, 0)))
        places = {region: place for place, region in enumerate(regions)}
        packed = (mask(places[region] for region in ones(one)) for one in masks)
        return cls(Labelled(names, tuple(regions), made(len(regions), packed)), budget)

    @classmethod
    def tautology(cls, *labels: str, budget: int = BUDGET) -> Self:
        """Nothing is known: every hypercube is possible.

        >>> [len(Relationship.tautology(*labels)) for labels in ("", "A", "AB", "ABC", "ABCD")]
        [2, 4, 16, 256, 65536]
        """
        return cls(algorithms.tautology(_distinct(labels), budget=budget), budget)

    @classmethod
    def contradiction(cls, *labels: str, budget: int = BUDGET) -> Self:
        """No hypercube is possible."""
        return cls(Labelled(_distinct(labels), (), made(0, [])), budget)

    # --- reading ---

    @property
    def labels(self) -> tuple[str, ...]:
        """The sets."""
        return self.form.labels

    @property
    def kind(self) -> Kind:
        """Which of the paper's four classes it belongs to.

        ``"contradiction"``: no hypercube; ``"exact"``: one; ``"tautology"``: all there are; ``"inexact"``: otherwise.
        """
        # All hypercubes inhabit all regions, so those are counted first: 2^(2^n) is a number to stay away from.
        count, regions = len(self), len(self.form.regions)
        if regions == 1 << len(self.labels) and count == 1 << regions:
            return "tautology"
        return "contradiction" if count == 0 else "exact" if count == 1 else "inexact"

    def __len__(self) -> int:
        """The number of hypercubes."""
        return len(self.form)

    def arrays(self) -> Iterator[NDArray[np.bool_]]:
        """The hypercubes as arrays of shape ``(2,) * n``, axes in the order of `labels`; index 1 = inside.

        Raises
        ------
        HypercubeError
            If there are more sets than an array can reasonably have axes.

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
        # An array's first axis counts most, a region's first bit least.
        cells = np.array([sum(1 << count - 1 - axis for axis in ones(region)) for region in regions], np.intp)
        return (_array(hypercube, cells, count) for hypercube in self.form.over(regions))

    def to_statement(self) -> Statement:
        """A statement that means the same.

        >>> Relationship.of("B < A and C == A").to_statement()
        statement('A == C and empty(B - A) and nonempty(A - B)')
        """
        return described(self.form)

    # --- sets ---

    def on(self, *labels: str) -> Self:
        """The relationship of these sets alone, named in this order.

        >>> Relationship.of("B <= A", "C <= B").on("C", "A") == Relationship.of("C <= A")
        True
        """
        return self._with(self.form.on(self._known(labels)))

    def without(self, *labels: str) -> Self:
        """Remove sets. What is known of the others remains.

        >>> Relationship.of("B < A", "C < B").without("B").entails("C < A")
        True
        """
        return self._with(algorithms.removing_a_set(self.form, *self._known(labels)))

    def including(self, *labels: str) -> Self:
        """Add sets of which nothing is known. Sets that are there remain as they are.

        >>> len(Relationship.of("nonempty(A)").including("B"))
        12
        """
        new = (label for label in _distinct(labels) if label not in self.labels)
        return self._with(algorithms.adding_a_set(self.form, *new, budget=self.budget))

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
        return self._with(algorithms.any_binary_operator(self.form, q.form, operator, budget=self.budget))

    def __and__(self, other: Relationship | Statement | str) -> Self:
        result = self
        for fact in _facts(other):
            q = result._relevant(fact)
            result = result._with(algorithms.enhanced_conjunction(result.form, q, budget=self.budget))
        return result

    def __sub__(self, other: Relationship | Statement | str) -> Self:
        return self._with(algorithms.enhanced_nonimplication(self.form, self._relevant(other), budget=self.budget))

    def __or__(self, other: Relationship | Statement | str) -> Self:
        return self.combine(other, Operator.DISJUNCTION)

    def __xor__(self, other: Relationship | Statement | str) -> Self:
        return self.combine(other, Operator.EXCLUSIVE_OR)

    def __rshift__(self, other: Relationship | Statement | str) -> Self:
        return self.combine(other, Operator.IMPLICATION)

    def __invert__(self) -> Self:
        return self._with(algorithms.negation(self.form, budget=self.budget))

    def equivalent(self, other: Relationship | Statement | str) -> Self:
        """Both hold or neither does: the material equivalence. For whether the two are the same, use ``==``."""
        return self.combine(other, Operator.EQUIVALENCE)

    def entails(self, other: Relationship | Statement | str) -> bool:
        """Whether `other` holds wherever this does, whatever the sets may be that only `other` mentions.

        Raises
        ------
        BudgetError
            If `other` is a statement that mentions sets unknown here, and needs too many hypercubes.

        Examples
        --------
        >>> Relationship.of("A < B", "B < C").entails("A != C and nonempty(C)")
        True
        """
        return all(algorithms.entailment([self.form], self._relevant(fact)) for fact in _facts(other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relationship):
            return NotImplemented
        return self.entails(other) and other.entails(self)

    def __hash__(self) -> int:
        value = self._hash
        if value is None:
            form = _restricted(self.form)
            value = hash((form.labels, tuple(sorted(form.regions)), len(form)))
            object.__setattr__(self, "_hash", value)
        return value

    # --- showing ---

    def __repr__(self) -> str:
        sets = ", ".join(self.labels) or "no sets"
        return f"<Relationship of {sets}: {self.kind}, {len(self)} hypercube{'s' * (len(self) != 1)}>"

    def __str__(self) -> str:
        labels, arrays = self._shown()
        return display.relationship_text(labels, arrays, kind=self.kind, total=len(self))

    def _repr_html_(self) -> str:
        labels, arrays = self._shown()
        return display.relationship_html(labels, arrays, kind=self.kind, total=len(self))

    def _repr_svg_(self) -> str:
        labels, arrays = self._shown()
        return display.relationship_svg(labels, arrays, total=len(self))

    def _shown(self) -> tuple[Sequence[str], Iterable[NDArray[np.bool_]]]:
        """What is shown: the first hypercubes; of many sets, those that are equal as one."""
        if len(self.labels) <= _MOST_AXES_SHOWN:
            return self.labels, islice(self.arrays(), _MOST_SHOWN)
        groups = self.form.equal_sets()
        labels = [" = ".join(group) for group in groups]
        few = self.on(*(group[0] for group in groups))
        return labels, islice(few.arrays(), _MOST_SHOWN) if len(groups) <= _MOST_AXES else ()

    # --- inside ---

    def _with(self, form: Labelled) -> Self:
        return type(self)(form, self.budget)

    def _known(self, labels: Iterable[str]) -> tuple[str, ...]:
        distinct = _distinct(labels)
        for label in distinct:
            if label not in self.labels:
                raise UnknownLabelError(label, self.labels)
        return distinct

    def _relevant(self, other: Relationship | Statement | str) -> Labelled:
        """The hypercubes of `other`; if it is a statement about no other sets, only those that are possible here."""
        if isinstance(other, Relationship):
            return other.form
        said = _statement(other)
        if set(said.labels) <= set(self.labels):
            return holding(self.form, said)
        return enumerated([said], said.labels, self.budget)


def _statement(value: Statement | str) -> Statement:
    if isinstance(value, str):
        return statement(value)
    if isinstance(value, Statement):
        return value
    raise TypeError(f"a statement, or text of one, is expected, not {value!r}")


def _facts(other: Relationship | Statement | str) -> Sequence[Relationship | Statement]:
    """What must hold, one by one: each alone needs few hypercubes."""
    if isinstance(other, Relationship):
        return (other,)
    said = _statement(other)
    return said.parts if isinstance(said, And) else (said,)


def _distinct(labels: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, None] = {}
    for label in labels:
        if check_label(label) in seen:
            raise LabelError(f"the set {label!r} is named twice")
        seen[label] = None
    return tuple(seen)


def _inhabited(array: ArrayLike, count: int) -> int:
    """The mask of the regions in which an array is True."""
    shape = (2,) * count
    try:
        cells = np.asarray(array)
    except ValueError as error:
        raise HypercubeError(f"an array of shape {shape} is expected: {error}") from error
    if cells.dtype != np.bool_:
        raise HypercubeError(
            f"a hypercube is an array of Booleans, not of {cells.dtype}", hint="compare it, or use astype(bool)"
        )
    if cells.shape != shape:
        raise HypercubeError(f"a hypercube of {count} sets is an array of shape {shape}, not {cells.shape}")
    return mask(sum(int(inside) << axis for axis, inside in enumerate(index)) for index in np.argwhere(cells))


def _array(hypercube: int, cells: NDArray[np.intp], count: int) -> NDArray[np.bool_]:
    array = np.zeros(1 << count, np.bool_)
    array[cells] = [hypercube >> place & 1 for place in range(cells.size)]
    return array.reshape((2,) * count)


def _restricted(form: Labelled) -> Labelled:
    """The same without the sets it does not restrict, and named in alphabetical order."""
    for label in form.labels:
        fewer = algorithms.removing_a_set(form, label)
        if fewer.hypercubes.lifts([2] * len(fewer.regions)) == len(form):
            form = fewer
    return form.on(tuple(sorted(form.labels)))
