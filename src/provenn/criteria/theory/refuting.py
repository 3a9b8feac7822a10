"""Refute conjunctions of conditions on terms, which no source can fulfil."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from provenn import deadline
from provenn.criteria.domains import Key
from provenn.criteria.nodes import Leaf, Node
from provenn.criteria.schema import AttributeIdentity, AttributeLike
from provenn.criteria.theory.linked_labels import compares_terms
from provenn.criteria.theory.ordering import Ordering
from provenn.criteria.theory.propagation import NoValueError, Propagation
from provenn.criteria.theory.terms import TermGraph
from provenn.criteria.theory.values import restrict_to_ranges
from provenn.criteria.writing import CANONICAL, identities_in, write
from provenn.errors import CriterionError
from provenn.logic import Refutation

if TYPE_CHECKING:
    from provenn.criteria.theory.rows import Row, RowFinder

__all__ = ["CriterionTheory", "Literal", "is_refuted"]

_MOST_ROUNDS: Final = 12
"""The most rounds in which equal and ordered terms are sought, before a conjunction is taken to be possible."""

_MOST_LITERALS: Final = 200
"""The most conditions of a conjunction that is examined."""

_FEW: Final = 12
"""The most conditions of which a superfluous one is sought one by one from the beginning."""

_MOST_POSSIBLE: Final = 20_000
"""The most combinations that are remembered as possible."""

_LONGEST_LABEL: Final = 20_000
"""The length in characters beyond which a condition is not read."""

_COLUMN: Final = re.compile(r"`(?:[^`]|``)*`")


class Literal(NamedTuple):
    """A condition that is TRUE, or that is not TRUE."""

    leaf: Leaf
    holds: bool


def is_refuted(literals: Sequence[Literal]) -> bool:
    """Return whether no values of the attributes fulfil all literals; False is no promise that some values do."""
    return _find_conflict(literals) is not None


def _find_conflict(literals: Sequence[Literal]) -> list[int] | None:
    """Return the places of literals that had a part in refuting all literals, or None if they are not refuted."""
    graph = TermGraph(literal.leaf.term for literal in literals)
    propagation = Propagation(graph)
    try:
        for place, (leaf, holds) in enumerate(literals):
            number = graph.numbers[leaf.term]
            values = propagation.get_values(number)
            if values is not None:
                where = leaf.where if holds else ~leaf.where
                null = (leaf.at_null is True) == holds
                fewer = restrict_to_ranges(values, leaf.term.type, where, null=null)
                propagation.narrow(number, fewer, 1 << place)
        propagation.enqueue_all()
        for _ in range(_MOST_ROUNDS):
            deadline.check()
            propagation.run()
            merged = propagation.merge_equal_calls()
            if not (Ordering(propagation).apply() or merged):
                return None
    except NoValueError as conflict:
        return [place for place in range(len(literals)) if conflict.reasons >> place & 1]
    return None


class CriterionTheory:
    """The atoms of criteria whose terms have attributes in common with terms of several attributes.

    Only these can have consequences that `order_facts` does not state.

    Parameters
    ----------
    labels
        The labels of the atoms.
    find_attribute
        Returns an attribute by its identity, or None if its type is unknown.
    """

    def __init__(
        self, labels: Iterable[str], find_attribute: Callable[[AttributeIdentity], AttributeLike | None]
    ) -> None:
        self._leaves: dict[str, Leaf | None] = {}
        self._columns: dict[str, frozenset[AttributeIdentity]] = {
            label: frozenset(identities_in(label)) for label in labels
        }
        self._find_attribute = find_attribute
        self._possible: set[frozenset[tuple[str, bool]]] = set()  # combinations that were not refuted

    @property
    def labels(self) -> Collection[str]:
        """The labels of the atoms."""
        return self._columns.keys()

    def refute(self, inside: Collection[str], outside: Collection[str]) -> Refutation | None:
        """Return a minimal part of a combination of atoms that no values fulfil, or None."""
        literals = dict.fromkeys(inside, True) | dict.fromkeys(outside, False)
        for group in self._divide(sorted(literals)):
            known = {label: Literal(leaf, literals[label]) for label in group if (leaf := self._get_leaf(label))}
            needed = self._find_needed(_keep_tightest(known))
            if needed:
                return Refutation(
                    tuple(label for label in needed if literals[label]),
                    tuple(label for label in needed if not literals[label]),
                )
        return None

    @cached_property
    def _rows(self) -> RowFinder:
        """The rows of all conditions that can be read."""
        from provenn.criteria.theory.rows import RowFinder  # noqa: PLC0415 - only questions about all catalogs need it

        return RowFinder({label: leaf for label in self._columns if (leaf := self._get_leaf(label))})

    def draw_row(self, row: Row) -> Row:
        """Return a row with random values of the attributes of atoms that it lacks."""
        return self._rows.draw_row(row)

    def find_row(self, inside: Collection[str], outside: Collection[str]) -> Row | None:
        """Return a row in some atoms and outside others, or None if none was found."""
        unread = [label for label in (*inside, *outside) if self._get_leaf(label) is None]
        return None if unread else self._rows.find_row(inside, outside)

    def locate_rows(self, rows: Sequence[Row], labels: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return for each of some atoms the rows inside it, and the rows for which that is not certain, as bits."""
        return self._rows.locate_rows(rows, labels)

    def _find_needed(self, literals: Mapping[str, Literal]) -> list[str]:
        """Return labels whose literals are refuted together, without a superfluous one; none if nothing is refuted."""
        combination = frozenset((label, literal.holds) for label, literal in literals.items())
        if len(literals) > _MOST_LITERALS or combination in self._possible:
            return []
        labels = list(literals)
        conflict = _find_conflict([*literals.values()])
        if conflict is None:
            if len(self._possible) >= _MOST_POSSIBLE:
                self._possible.clear()
            self._possible.add(combination)
            return []

        def refutes(some: Sequence[str]) -> bool:
            return is_refuted([literals[label] for label in some])

        involved = [labels[place] for place in conflict]
        return _find_minimal(involved if refutes(involved) else labels, refutes)

    def _divide(self, labels: Sequence[str]) -> list[list[str]]:
        """Return the labels in groups without common attributes, without the groups of a single attribute."""
        group_of: dict[AttributeIdentity, AttributeIdentity] = {}

        def find_group(column: AttributeIdentity) -> AttributeIdentity:
            while group_of.setdefault(column, column) != column:
                column = group_of[column]
            return column

        for label in labels:
            first, *others = map(find_group, sorted(self._columns[label]))
            for other in others:
                group_of[find_group(other)] = find_group(first)
        groups: dict[AttributeIdentity, list[str]] = {}
        for label in labels:
            groups.setdefault(find_group(min(self._columns[label])), []).append(label)
        # A question about two labels is whether one contains the other; larger groups of one attribute are possible.
        return [group for group in groups.values() if len(labels) == 2 or any(map(compares_terms, group))]

    def _get_leaf(self, label: str) -> Leaf | None:
        """Return the condition of a label, or None if it cannot be read."""
        if label not in self._leaves:
            self._leaves[label] = self._read_leaf(label)
        return self._leaves[label]

    def _read_leaf(self, label: str) -> Leaf | None:
        attributes = [self._find_attribute(identity) for identity in sorted(self._columns[label])]
        known = tuple(attribute for attribute in attributes if attribute is not None)
        return None if len(label) > _LONGEST_LABEL or len(known) < len(attributes) else _read_label(label, known)


@lru_cache(maxsize=4_096)
def _read_label(label: str, attributes: tuple[AttributeLike, ...]) -> Leaf | None:
    """Return the condition of a label over the identities of attributes, or None if it cannot be read."""
    from provenn.criteria.reader import read_condition  # noqa: PLC0415 - imports sqlglot, which takes long

    try:
        condition = read_condition(label, {attribute.identity: attribute for attribute in attributes}, canonical=True)
    except CriterionError:
        return None
    return condition if isinstance(condition, Leaf) and write(condition, CANONICAL) == label else None


def _keep_tightest(literals: Mapping[str, Literal]) -> dict[str, Literal]:
    """Return the literals without the cuts ``t < v`` that others on the same term imply."""
    tightest: dict[tuple[Node, bool], tuple[Key, str]] = {}
    kept: dict[str, Literal] = {}
    for label, (leaf, holds) in literals.items():
        if leaf.at_null is None and leaf.where.first and len(leaf.where.cuts) == 1:
            cut, place = leaf.where.cuts[0], (leaf.term, holds)
            if place not in tightest or (cut < tightest[place][0]) == holds:  # type: ignore[operator]
                tightest[place] = cut, label
        else:
            kept[label] = Literal(leaf, holds)
    return kept | {label: literals[label] for _, label in tightest.values()}


def _find_minimal(labels: Sequence[str], refutes: Callable[[Sequence[str]], bool]) -> list[str]:
    """Return labels that are refuted together, none of which can be left out; larger parts are left out first."""
    kept = list(labels)
    size = len(kept) // 2 if len(kept) > _FEW else 1
    while True:
        place = 0
        while place < len(kept):
            fewer = kept[:place] + kept[place + size :]
            if fewer and refutes(fewer):
                kept = fewer
            else:
                place += size
        if size == 1:
            return kept
        size //= 2
