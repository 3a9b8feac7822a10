"""Facts about a set of sources with bounded values of an attribute.

Bounds become facts between the set and atoms, so `order_facts` and the theory of criteria relate bounds to every
condition on the attribute, or on terms made of the attribute. An atom is the set where the atom's condition is TRUE: a
source without a value is in no cut. NaN is the largest number and is only in cuts above NaN, so an upper bound without
NaN says: every value below NaN lies below the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from provenn.criteria.atoms import Atom, ConditionSets
from provenn.criteria.domains import INFINITY, Key, get_domain
from provenn.criteria.nodes import ColumnNode, Leaf
from provenn.criteria.ranges import Ranges
from provenn.criteria.schema import DefinedAttribute
from provenn.logic import Statement, disjoint, subset
from provenn.logic.terms import Term, nothing, term

__all__ = ["BoundFacts", "state_bounds"]

_LENGTH = 1_000
_everything = ~nothing


@dataclass(frozen=True, slots=True)
class BoundFacts:
    """Facts from bounds, and the mentioned atoms."""

    facts: tuple[Statement, ...]
    atoms: tuple[Atom, ...]


def state_bounds(
    label: str,
    attribute: DefinedAttribute,
    *,
    low: Key | None,
    end: Key | None,
    has_nulls: bool,
    has_values: bool,
) -> BoundFacts:
    """Return the facts from bounds of an attribute about the sources of a set.

    Parameters
    ----------
    label
        The label of the set.
    attribute
        The attribute.
    low
        A key that no value of a source lies below; None if unknown.
    end
        A key that every value of a source lies below, except NaN; None if unknown.
    has_nulls, has_values
        Whether a source may have no value, and whether one may have a value.
    """
    domain = get_domain(attribute.type)
    if domain is None:
        return BoundFacts((), ())
    node = ColumnNode(attribute.identity, attribute.type, attribute.nullable, str(attribute.identity), None)
    sets = ConditionSets(_LENGTH)
    present = sets.build_present_set(node)
    atoms: dict[str, Atom] = {}

    def build_cut(key: Key) -> Term:
        leaf = Leaf(node, Ranges(True, (key,)), None)
        atoms.update(sets.collect_atoms(leaf))
        return sets.build_true_set(leaf)

    def list_facts() -> Iterator[Statement]:
        own = term(label)
        if present != _everything and not (has_nulls and has_values):
            atoms.update(sets.collect_atoms(Leaf(node, Ranges(True), at_null=False)))
        if not has_values:
            if present != _everything:
                yield disjoint(own, present)
            return
        if not has_nulls and present != _everything:
            yield subset(own, present)
        if low is not None and low > domain.lowest:  # type: ignore[operator] # a single type
            yield disjoint(own, build_cut(low))
        if end is None or end <= domain.lowest:  # type: ignore[operator] # as above
            return
        if attribute.type in INFINITY:
            nan = INFINITY[attribute.type] + 1
            if end < nan:  # type: ignore[operator] # as above
                yield subset(own & build_cut(nan), build_cut(end))
        elif domain.highest is None or end <= domain.highest:  # type: ignore[operator] # as above
            around = own if not has_nulls or present == _everything else own & present
            yield subset(around, build_cut(end))

    facts = tuple(list_facts())
    return BoundFacts(facts, tuple(atoms.values()))
