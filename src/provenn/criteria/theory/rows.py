"""Rows of values for the conditions of a theory: a row shows that a combination of conditions is possible.

A row is found by narrowing the values of all terms, as a refutation does, and by drawing values of the attributes from
what remains. Nothing depends on how a row is found: the conditions are then evaluated on its values as Spark does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import Final

from provenn import deadline
from provenn.criteria.domains import Key
from provenn.criteria.nodes import ColumnNode, Constant, Leaf, Node, walk
from provenn.criteria.row_candidates import list_candidates
from provenn.criteria.row_values import Uncertain, evaluate_node
from provenn.criteria.schema import AttributeIdentity
from provenn.criteria.theory.ordering import Ordering
from provenn.criteria.theory.propagation import NoValueError, Propagation
from provenn.criteria.theory.terms import TermGraph
from provenn.criteria.theory.values import Values, restrict_to_ranges
from provenn.criteria.types import Type

__all__ = ["Row", "RowFinder"]

Row = Mapping[AttributeIdentity, Key | None]
"""The keys of the values of a row; None is NULL."""

_MOST_DRAWN: Final = 12
"""How many rows are drawn at once, before the values of one attribute after the other are chosen."""
_MOST_CHOSEN: Final = 3
"""How many times the values of one attribute after the other are chosen."""
_SEED: Final = 20121


class RowFinder:
    """Finds rows for combinations of conditions, and decides conditions on rows.

    Parameters
    ----------
    leaves
        The conditions, by label.
    """

    def __init__(self, leaves: Mapping[str, Leaf]) -> None:
        self._leaves = leaves
        self._columns = {
            part.identity: part for leaf in leaves.values() for part in walk(leaf) if isinstance(part, ColumnNode)
        }
        self._candidates: dict[AttributeIdentity, list[Constant]] = {}
        self._random = Random(_SEED)  # noqa: S311 - no secret

    def draw_row(self, row: Row) -> Row:
        """Return a row with random values of the attributes that it lacks."""
        missing = [identity for identity in self._columns if identity not in row]
        return {**row, **{identity: self._random.choice(self._list_candidates(identity)).key for identity in missing}}

    def find_row(self, inside: Iterable[str], outside: Iterable[str]) -> Row | None:
        """Return a row for which some conditions are TRUE and others are not, or None if none was found."""
        literals = [(self._leaves[label], True) for label in inside]
        literals += [(self._leaves[label], False) for label in outside]
        try:
            propagation = _propagate(literals)
            for _ in range(_MOST_DRAWN):
                row = self._draw_within(propagation)
                if row is not None and _fulfils(row, literals, self._columns):
                    return row
        except NoValueError:
            return None
        for _ in range(_MOST_CHOSEN):
            deadline.check()
            try:
                row = self._choose_values(literals)
            except NoValueError:
                continue
            if row is not None and _fulfils(row, literals, self._columns):
                return row
        return None

    def _draw_within(self, propagation: Propagation) -> Row | None:
        """Return a random row within the narrowed values of the attributes."""
        row: dict[AttributeIdentity, Key | None] = {}
        for identity, column in self._columns.items():
            number = propagation.graph.numbers.get(column)
            constants = self._list_candidates(identity)
            if number is not None:
                constants = self._list_possible(propagation, number, constants)
                if not constants:
                    return None
            row[identity] = self._random.choice(constants).key
        return row

    def _choose_values(self, literals: Sequence[tuple[Leaf, bool]]) -> Row | None:
        """Return a row whose values are chosen one after the other, each time narrowing the others."""
        propagation = _propagate(literals)
        row = dict(self.draw_row({}))
        order = [column for column in self._columns.values() if column in propagation.graph.numbers]
        self._random.shuffle(order)
        for column in order:
            number = propagation.graph.numbers[column]
            constants = self._list_possible(propagation, number, self._list_candidates(column.identity))
            values = propagation.get_values(number)
            if not constants or values is None:
                return None
            key = row[column.identity] = self._random.choice(constants).key
            if key is None:
                propagation.narrow(number, values._replace(high=values.low, nan=False))
            else:
                after = key + "\0" if isinstance(key, str) else key + 1
                propagation.narrow(number, values.restrict(column.type, key, after).drop_null())
            _narrow(propagation)
        return row

    def _list_possible(self, propagation: Propagation, number: int, constants: Sequence[Constant]) -> list[Constant]:
        """Return candidates among the narrowed values of an attribute; its least and greatest value are candidates."""
        values = propagation.get_values(number)
        if values is None:
            return list(constants)
        kind = propagation.graph.get_type(number)
        possible = [constant for constant in constants if _contains(values, kind, constant.key)]
        if values.is_ordered:
            possible.append(Constant(kind, values.low))
            if isinstance(values.high, int):
                possible.append(Constant(kind, values.high - 1))
                possible.append(Constant(kind, self._random.randrange(int(values.low), values.high)))
        return possible

    def _list_candidates(self, identity: AttributeIdentity) -> list[Constant]:
        if identity not in self._candidates:
            column = self._columns[identity]
            roots = [leaf for leaf in self._leaves.values() if any(part == column for part in walk(leaf))]
            self._candidates[identity] = list_candidates(column, roots) or [Constant(column.type, None)]
        return self._candidates[identity]

    def locate_rows(self, rows: Sequence[Row], labels: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return for each label the rows inside it, and the rows for which that is not certain, as bits."""
        keys_by_term: dict[Node, list[Key | None] | None] = {}
        located: dict[str, tuple[int, int]] = {}
        uncertain_by_term: dict[Node, int] = {}
        values = [_read_row(row, self._columns) for row in rows]
        for label in labels:
            leaf = self._leaves.get(label)
            if leaf is None:
                located[label] = 0, (1 << len(rows)) - 1
                continue
            keys = keys_by_term.get(leaf.term)
            if keys is None:
                keys, uncertain = [], 0
                for place, row_values in enumerate(values):
                    try:
                        keys.append(evaluate_node(leaf.term, row_values).key)
                    except Uncertain:
                        keys.append(None)
                        uncertain |= 1 << place
                keys_by_term[leaf.term], uncertain_by_term[leaf.term] = keys, uncertain
            inside = 0
            for place, key in enumerate(keys):
                if leaf.at_null is True if key is None else key in leaf.where:
                    inside |= 1 << place
            located[label] = inside, uncertain_by_term[leaf.term]
        return located


def _propagate(literals: Sequence[tuple[Leaf, bool]]) -> Propagation:
    """Return the values that conditions leave to their terms; NoValueError if there are none."""
    graph = TermGraph(leaf.term for leaf, _ in literals)
    propagation = Propagation(graph)
    for leaf, holds in literals:
        number = graph.numbers[leaf.term]
        values = propagation.get_values(number)
        if values is not None:
            where = leaf.where if holds else ~leaf.where
            null = (leaf.at_null is True) == holds
            propagation.narrow(number, restrict_to_ranges(values, leaf.term.type, where, null=null))
    propagation.enqueue_all()
    _narrow(propagation)
    return propagation


def _narrow(propagation: Propagation) -> None:
    propagation.run()
    if propagation.merge_equal_calls() or Ordering(propagation).apply():
        propagation.run()


def _contains(values: Values, kind: Type, key: Key | None) -> bool:
    """Return whether a key is among values; NaN has a key of its own."""
    if key is None:
        return values.null
    low, high = values.find_ends(kind)
    return low <= key and (high is None or key < high)  # type: ignore[operator]


def _read_row(row: Row, columns: Mapping[AttributeIdentity, ColumnNode]) -> dict[AttributeIdentity, Constant]:
    return {identity: Constant(columns[identity].type, key) for identity, key in row.items() if identity in columns}


def _fulfils(row: Row, literals: Sequence[tuple[Leaf, bool]], columns: Mapping[AttributeIdentity, ColumnNode]) -> bool:
    values = _read_row(row, columns)
    try:
        for leaf, holds in literals:
            key = evaluate_node(leaf.term, values).key
            if (leaf.at_null is True if key is None else key in leaf.where) != holds:
                return False
    except Uncertain:
        return False
    return True
