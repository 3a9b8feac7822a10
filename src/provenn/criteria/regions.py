"""Regions of the sky in criteria: ``in_cone(ra, dec, 56.75, 24.12, 1.5)``, and what their places say of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from provenn.criteria.atoms import Atom
from provenn.criteria.conditions import flag
from provenn.criteria.domains import double_key
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls
from provenn.criteria.operations import coerce
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BOOLEAN, DOUBLE, STRING, VOID
from provenn.criteria.units import measured
from provenn.criteria.writing import region_in
from provenn.errors import FileError, RegionError
from provenn.logic import Statement, disjoint, subset
from provenn.sky import Region, far_apart, is_text, read_call, region_of, relation

__all__ = ["region_condition", "region_facts"]


def region_condition(function: str, *arguments: Node) -> Condition:
    """Return the condition that a position lies in a region; all but the position is constant, and normalised."""
    position = [_coordinate(function, one) for one in arguments[:2]]
    given = [_constant(function, one) for one in measured(function, arguments[2:])]
    if len(given) % 2 and function == "in_polygon":
        raise Refusal("in_polygon() takes pairs of numbers", "each vertex is a right ascension and a declination")
    if is_text(function) and not set(str(given[0])) <= set("0123456789/-, "):
        raise Refusal("in_moc() takes the cells as a text between quotes", "as in: in_moc(ra, dec, '3/1-4 5/200')")
    try:
        region = region_of(function, given)
    except (RegionError, FileError) as error:
        raise Refusal(str(error).partition("\n")[0], error.hint or "") from None
    constants = [
        Constant(STRING, one)
        if isinstance(one, str)
        else Constant(DOUBLE, double_key(one), repr(one).removesuffix(".0"))
        for one in region.constants
    ]
    return flag(Call(function, (*position, *constants), BOOLEAN, Nulls.ANY))


def _coordinate(function: str, node: Node) -> Node:
    if not node.type.numeric and node.type != VOID:
        raise Refusal(f"{function}() takes a coordinate in degrees here, not a {node.type}", "convert it with CAST")
    return coerce(node, DOUBLE)


def _constant(function: str, node: Node) -> float | str:
    wanted = STRING if is_text(function) else DOUBLE
    fits = node.type == STRING if is_text(function) else node.type.numeric
    constant = evaluate(coerce(node, wanted)) if fits else None
    if constant is None or constant.key is None:
        what = "a text" if is_text(function) else "a number of degrees"
        raise Refusal(f"{function}() takes {what} here, and no expression", "only the position differs by source")
    return region_in(constant)


def region_facts(atoms: Iterable[Atom]) -> tuple[Statement, ...]:
    """Return what their places on the sky say of the atoms that are regions, of any number of criteria.

    Regions of one position that have nothing in common are disjoint; one that lies in another is a subset. What
    follows from others of these facts is left out. Regions that touch, or nearly so, are taken to overlap.
    """
    by_position: dict[str, dict[str, Region]] = {}
    for atom in atoms:
        found = read_call(atom.term) if atom.cut is not None and atom.label == atom.term else None
        if found is not None:
            by_position.setdefault(found[0], {})[atom.label] = found[1]
    facts: list[Statement] = []
    for regions in by_position.values():
        labels = sorted(regions)
        facts += _placed(labels, [regions[label] for label in labels])
    return tuple(facts)


def _placed(labels: Sequence[str], regions: Sequence[Region]) -> Iterable[Statement]:
    disjoint_ones = far_apart(regions)
    inside = np.zeros_like(disjoint_ones)
    for one, other in np.argwhere(np.tril(~disjoint_ones, -1)):
        found = relation(regions[one], regions[other])
        disjoint_ones[one, other] = disjoint_ones[other, one] = found.apart
        inside[one, other], inside[other, one] = found.within, found.around
    smaller = (inside & ~inside.T).astype(np.float32)
    implied = (smaller @ smaller) > 0
    for one, other in np.argwhere(inside & ~implied):
        yield subset(labels[one], labels[other])
    implied = (smaller @ disjoint_ones) > 0
    for one, other in np.argwhere(np.triu(disjoint_ones & ~implied & ~implied.T)):
        yield disjoint(labels[one], labels[other])
