"""Estimate the share of sources that conditions keep, from a sample of rows. A guess, never a proof.

Conditions on several attributes are evaluated together, so that it does not matter how attributes depend on each other.
Comparisons of columns with constants are evaluated as they are. Other conditions are evaluated as Spark does it on some
of the rows, functions of mathematical libraries approximately.
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
from provenn.criteria.reductions.library import approximate_library_call
from provenn.criteria.row_values import Uncertain, apply_certain, evaluate_condition, evaluate_node
from provenn.digests import is_catalog_label
from provenn.errors import ProvennError
from provenn.files.row_samples import LEAST_ROWS
from provenn.knowledge.attribute_origins import AttributeOrigins, UnknownOrigin
from provenn.targets.row_samples import RowSample
from provenn.targets.scene import Scene, split_intersection

__all__ = ["estimate_sampled_share"]

_MOST_EVALUATED: Final = 256
"""On how many rows a condition is evaluated that is more than a comparison of a column with constants."""
_MOST_CONDITIONS: Final = 24
"""How many such conditions are evaluated for a plan."""
_MOST_UNCERTAIN: Final = 0.05
"""For which share of the rows a condition may be uncertain."""
_LEAST_GIVEN: Final = 32
"""How many rows of the sample must lie in a set for the sample to be limited to it."""


def estimate_sampled_share(
    scene: Scene, parts: Sequence[Extent], whole: Extent, estimate: Callable[[Sequence[Extent]], float]
) -> tuple[float, list[Extent]] | None:
    """Return the share of a set that lies in some other sets, and those of the sets that no sample decides.

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
        decided = [part for part in parts if rows.can_decide(part)]
        if decided and sample.size and rows.own_parts <= whole_parts.keys():
            choices.append((len(decided), len(rows.own_parts), sample.size, -number, rows, decided))
    if not choices:
        return None
    *_, rows, decided = max(choices, key=lambda choice: choice[:4])
    limits = [part for digest, part in whole_parts.items() if digest not in rows.own_parts and rows.can_decide(part)]
    size = rows.find_size([*limits, *decided])
    total = rows.count(limits, size)
    is_complete = rows.sample.size < LEAST_ROWS  # then there are no other rows
    if total < (1 if is_complete else _LEAST_GIVEN):
        limits, size = [], rows.find_size(decided)
        total = size
    hits = rows.count([*limits, *decided], size)
    share = hits / total if hits or is_complete else min(estimate(decided), 1 / (2 * total))
    return share, [part for part in parts if part not in decided]


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
        """Return whether it is known which rows lie in a set."""
        return all(self._find_rows(label) is not None for label in part.labels)

    def find_size(self, parts: Iterable[Extent]) -> int:
        """Return on how many rows all conditions of some sets were evaluated: the first of the sample."""
        rows = [self._find_rows(label) for part in parts for label in part.labels]
        return min([self.sample.size, *(size for _, size in filter(None, rows))])

    def count(self, parts: Iterable[Extent], size: int) -> int:
        """Return how many of the first rows lie in all of some sets, which the sample decides."""
        full = (1 << size) - 1

        def find_bits(label: str) -> int:
            bits, _ = self._find_rows(label) or (0, 0)
            return bits & full

        return reduce(and_, (part.evaluate(find_bits, everything=full) for part in parts), full).bit_count()

    def _find_rows(self, label: str) -> tuple[int, int] | None:
        """Return the rows in the set with a label, and how many rows were looked at; None if that is not known."""
        known, key = self.scene.sampled_rows, (self.number, label)
        if key not in known:
            deadline.check()
            known[key] = self._evaluate_label(label)
        return known[key]

    def _evaluate_label(self, label: str) -> tuple[int, int] | None:
        """Evaluate a condition on the rows; see `_find_rows`."""
        if is_catalog_label(label):
            is_own = any(part.label == label and not part.complemented for part in self._iterate_own())
            return ((1 << self.sample.size) - 1, self.sample.size) if is_own else None
        atom = self.scene.atoms.get(label)
        keys = None if atom is None else self.sample.columns.get(_read_column(atom.term))
        with suppress(TypeError):  # a damaged sample has keys of another type
            if atom is not None and keys is not None:
                return _pack_truths([_holds(atom, key) for key in keys])
            if sum(rows is not None for rows in self.scene.sampled_rows.values()) < _MOST_CONDITIONS:
                return self._evaluate_criterion(label)
        return None

    def _iterate_own(self) -> Iterable[Extent]:
        return split_intersection(self.sample.extent).values()

    def _evaluate_criterion(self, label: str) -> tuple[int, int] | None:
        """Evaluate a criterion on some rows; None if the values of attributes or functions are not known."""
        origins = AttributeOrigins.of(self.scene.lineage, self.sample.columns)
        try:
            condition = parse_criterion(label, origins.by_name, canonical=True).condition
            columns, formulas = origins.trace_columns(condition)
        except (ProvennError, UnknownOrigin):
            return None
        if not columns.keys() <= self.sample.columns.keys():
            return None
        ordered = list(_sort_formulas(formulas, columns.keys()))
        size = min(self.sample.size, _MOST_EVALUATED)
        truths, uncertain = [False] * size, 0
        for place in range(size):
            values = {
                identity: Constant(column.type, self.sample.columns[identity][place])
                for identity, column in columns.items()
            }
            try:
                for identity, formula in ordered:
                    values[identity] = evaluate_node(formula, values, _apply_roughly)
                truths[place] = evaluate_condition(condition, values, _apply_roughly) is True
            except Uncertain:
                uncertain += 1
                if uncertain > _MOST_UNCERTAIN * size:
                    return None
        return _pack_truths(truths)


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


def _pack_truths(truths: Sequence[bool]) -> tuple[int, int]:
    """Return truths as bits, the first as the lowest bit, and their number."""
    return int("".join("01"[truth] for truth in reversed(truths)) or "0", 2), len(truths)


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
        constant = approximate_library_call(call, arguments)
        if constant is None:
            raise
        return constant
