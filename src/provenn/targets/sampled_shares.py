"""Estimate the share of sources kept by conditions, from a sample of rows. A guess, never a proof.

Conditions on several attributes are evaluated together, so dependencies between attributes do not matter. Comparisons
of columns with constants are evaluated as they are. All further conditions are evaluated as in Spark on some of the
rows, functions of mathematical libraries approximately.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Final

from provenn import deadline
from provenn.catalogs import Extent
from provenn.catalogs.extent import everything
from provenn.criteria import Atom, AttributeIdentity, parse_criterion
from provenn.criteria.domains import Key
from provenn.criteria.nodes import Call, ColumnNode, Constant, Node, walk
from provenn.criteria.row_values import Uncertain, apply_certain, evaluate_condition, evaluate_node
from provenn.digests import is_catalog_label
from provenn.errors import ProvennError
from provenn.files.row_samples import LEAST_ROWS
from provenn.knowledge.attribute_origins import AttributeOrigins, UnknownOrigin
from provenn.targets.row_samples import RowSample, SampledCondition
from provenn.targets.scene import Scene, split_intersection

__all__ = ["estimate_sampled_share"]

_MOST_EVALUATED: Final = 256
"""On how many rows a condition is evaluated that is more than a comparison of a column with constants."""
_FIRST_EVALUATED: Final = 16
"""On how many rows such a condition is tried: if it is often uncertain, it is not evaluated."""
_MOST_CONDITIONS: Final = 24
"""How many such conditions are evaluated for a plan."""
_MOST_UNCERTAIN: Final = 0.1
"""For which share of these rows a condition may be uncertain."""
_LEAST_GIVEN: Final = 32
"""How many rows of the sample must lie in a set for the sample to be limited to it."""


def estimate_sampled_share(
    scene: Scene, parts: Sequence[Extent], whole: Extent, estimate: Callable[[Sequence[Extent]], float]
) -> tuple[float, list[Extent]] | None:
    """Return the share of a set that lies in all of some sets, and the sets that the sample does not decide.

    Return None if no sample decides any of the sets.

    Parameters
    ----------
    scene
        The knowledge for planning, with samples.
    parts
        The sets.
    whole
        The set whose share is wanted.
    estimate
        Estimates the share in some of these sets without a sample. If no row of the sample lies in all of them, this
        estimate counts, below the least share that the sample can show.
    """
    whole_parts = split_intersection(whole)
    choices = []
    for number, sample in enumerate(scene.samples):
        rows = _SampledRows(scene, number, sample)
        if sample.size and rows.own_parts <= whole_parts.keys():
            decided = [part for part in parts if rows.can_decide(part)]
            choices.append((len(decided), len(rows.own_parts), sample.size, -number, rows, decided))
    if not any(decided for *_, decided in choices):
        return None
    *_, rows, decided = max(choices, key=lambda choice: choice[:4])
    limits = [part for digest, part in whole_parts.items() if digest not in rows.own_parts and rows.can_decide(part)]
    total, _ = rows.measure(limits)
    is_complete = rows.sample.size < LEAST_ROWS  # then there are no other rows
    if total < (1 if is_complete else _LEAST_GIVEN):
        limits, total = [], rows.sample.size
    hits, least = rows.measure([*limits, *decided])
    share = hits / total if hits or is_complete else min(estimate(decided), least / total)
    return min(share, 1.0), [part for part in parts if part not in decided]


@dataclass(frozen=True, slots=True)
class _SampledRows:
    """The rows of a sample, as far as conditions were evaluated on them; a set of rows is a whole number in bits."""

    scene: Scene
    number: int
    sample: RowSample

    @property
    def own_parts(self) -> AbstractSet[str]:
        """The digests of the sets in which all rows lie."""
        return split_intersection(self.sample.extent).keys() - {everything.digest}

    def can_decide(self, part: Extent) -> bool:
        """Return whether the sample can tell which rows lie in a set."""
        return all(self._find_condition(label) is not None for label in part.labels)

    def measure(self, parts: Sequence[Extent]) -> tuple[float, float]:
        """Return about how many rows lie in all of some decided sets; and half the least number.

        Slow conditions are evaluated on some of the rows kept by all quick conditions.
        """
        full = (1 << self.sample.size) - 1
        quick = [part for part in parts if self._is_quick(part)]
        slow = [part for part in parts if not self._is_quick(part)]
        kept = self._intersect(quick, full)
        count = kept.bit_count()
        if not slow or not count:
            return count, 0.5
        chosen = _take_lowest_bits(kept, _MOST_EVALUATED)
        share = self._intersect(slow, chosen).bit_count() / chosen.bit_count()
        return count * share, count / (2 * chosen.bit_count())

    def _intersect(self, parts: Iterable[Extent], rows: int) -> int:
        """Return the rows, out of some rows, that lie in all of some sets."""

        def find_rows(label: str) -> int:
            condition = self._find_condition(label)
            return 0 if condition is None else condition.find_true(rows)

        return reduce(and_, (part.evaluate(find_rows, everything=rows) for part in parts), rows)

    def _is_quick(self, part: Extent) -> bool:
        conditions = (self._find_condition(label) for label in part.labels)
        return all(condition is not None and condition.evaluate is None for condition in conditions)

    def _find_condition(self, label: str) -> SampledCondition | None:
        """Return the condition with a label; None if it cannot be evaluated."""
        known, key = self.scene.sampled_conditions, (self.number, label)
        if key not in known:
            deadline.check()
            with suppress(TypeError):  # a damaged sample has keys of another type
                known[key] = self._read_condition(label)
        return known.setdefault(key, None)

    def _read_condition(self, label: str) -> SampledCondition | None:
        """Return the condition with a label, evaluated on all rows if it compares a column with constants."""
        if is_catalog_label(label):
            is_own = any(part.label == label and not part.complemented for part in self._iterate_own())
            return SampledCondition(None, [True] * self.sample.size) if is_own else None
        atom = self.scene.atoms.get(label)
        keys = None if atom is None else self.sample.columns.get(_read_column(atom.term))
        if atom is not None and keys is not None:
            return SampledCondition(None, [_holds(atom, key) for key in keys])
        evaluate = self._build_evaluation(label)
        if evaluate is None:
            return None
        first = [evaluate(place) for place in range(min(self.sample.size, _FIRST_EVALUATED))]
        return None if first.count(None) > _MOST_UNCERTAIN * len(first) else SampledCondition(evaluate)

    def _iterate_own(self) -> Iterable[Extent]:
        return split_intersection(self.sample.extent).values()

    def _build_evaluation(self, label: str) -> Callable[[int], bool | None] | None:
        """Return a function that evaluates a criterion on a row; None if the values of attributes are not known.

        The function returns None where the value of the criterion is uncertain.
        """
        slow = sum(known is not None and known.evaluate is not None for known in self.scene.sampled_conditions.values())
        if slow >= _MOST_CONDITIONS:
            return None
        origins = AttributeOrigins.of(self.scene.lineage, self.sample.columns)
        try:
            condition = parse_criterion(label, origins.by_name, canonical=True).condition
            columns, formulas = origins.trace_columns(condition)
        except (ProvennError, UnknownOrigin):
            return None
        if not columns.keys() <= self.sample.columns.keys():
            return None
        ordered = list(_sort_formulas(formulas, columns.keys()))

        def evaluate(place: int) -> bool | None:
            values = {
                identity: Constant(column.type, self.sample.columns[identity][place])
                for identity, column in columns.items()
            }
            try:
                for identity, formula in ordered:
                    values[identity] = evaluate_node(formula, values, _apply_roughly)
                return evaluate_condition(condition, values, _apply_roughly) is True
            except (Uncertain, TypeError):  # a damaged sample has keys of another type
                return None

        return evaluate


def _sort_formulas(
    formulas: Mapping[AttributeIdentity, Node], columns: Collection[AttributeIdentity]
) -> Iterator[tuple[AttributeIdentity, Node]]:
    """Yield expressions of attributes after the expressions of the attributes that they read."""
    known, waiting = set(columns), dict(formulas)
    while waiting:
        ready = [
            identity
            for identity, formula in waiting.items()
            if all(part.identity in known for part in walk(formula) if isinstance(part, ColumnNode))
        ]
        if not ready:
            return  # what reads the others is uncertain then
        known.update(ready)
        yield from ((identity, waiting.pop(identity)) for identity in ready)


def _read_column(term: str) -> AttributeIdentity:
    """Return the identity of the attribute that a term is; something else if the term is more than an attribute."""
    return AttributeIdentity(term[1:-1].replace("``", "`"))


def _holds(atom: Atom, key: Key | None) -> bool:
    """Return whether the value of an atom's term with a key lies in the atom."""
    if key is None or atom.cut is None:
        return key is not None
    if isinstance(atom.cut, tuple):
        return bisect_right(atom.cut, key) % 2 == 1
    return key < atom.cut  # type: ignore[operator] # the keys of a term have a single type


def _take_lowest_bits(rows: int, most: int) -> int:
    """Return the lowest bits of a number, at most so many.

    >>> bin(_take_lowest_bits(0b1011010, 3))
    '0b11010'
    """
    rest = rows
    for _ in range(most):
        rest &= rest - 1  # without the lowest bit
        if not rest:
            break
    return rows ^ rest


def _apply_roughly(call: Call, arguments: tuple[Constant, ...]) -> Constant:
    """Return the value of a call of constants, which functions of libraries may give differently.

    Raises
    ------
    Uncertain
        If the value is not known.
    """
    try:
        return apply_certain(call, arguments)
    except Uncertain:
        from provenn.criteria.reductions.library import approximate_library_call  # noqa: PLC0415 - few criteria need it

        constant = approximate_library_call(call, arguments)
        if constant is None:
            raise
        return constant
