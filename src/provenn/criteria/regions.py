"""Regions of the sky in criteria: ``in_cone(ra, dec, 56.75, 24.12, 1.5)``, and what their places say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from provenn.criteria.atoms import Atom
from provenn.criteria.conditions import flag
from provenn.criteria.conversions import measured
from provenn.criteria.domains import double_key
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls
from provenn.criteria.operations import coerce
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BOOLEAN, DOUBLE, STRING, VOID
from provenn.criteria.writing import region_in
from provenn.errors import FileError, FilesMissingError, RegionError
from provenn.logic import Statement, disjoint, subset
from provenn.logic.terms import Term, nothing, term
from provenn.sky import Region, covering, is_text, meeting, read_call, region_of, relation
from provenn.sky.moc_library import digest_in

__all__ = ["region_condition", "region_facts", "without_cells"]

_FEW = 100
"""How many regions are compared with all others."""

_CELL = "healpix("
"""How the labels begin of sets of sources by the cells that they are in; no criterion is written so."""


def region_condition(function: str, *arguments: Node) -> Condition:
    """Return the condition that a position lies in a region; all but the position is constant, and normalised."""
    position = [_coordinate(function, one) for one in measured(function, arguments[:2])]
    given = [_constant(function, one) for one in measured(function, arguments[2:])]
    if len(given) % 2 and function == "in_polygon":
        raise Refusal("in_polygon() takes pairs of numbers", "each vertex is a right ascension and a declination")
    if is_text(function) and not (digest_in(str(given[0])) or set(str(given[0])) <= set("0123456789/-, ")):
        raise Refusal("in_moc() takes the cells as a text between quotes", "as in: in_moc(ra, dec, '3/1-4 5/200')")
    try:
        region = region_of(function, given)
    except (RegionError, FileError, FilesMissingError) as error:
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

    Where there are many regions, most pairs are far apart, and are not listed: instead each region is said to lie in
    a few cells of HEALPix, and a cell is said by the bits of its number, so that the rest follows.
    """
    by_position: dict[str, dict[str, Region]] = {}
    for atom in atoms:
        found = _read_region(atom.term) if atom.cut is not None and atom.label == atom.term else None
        if found is not None:
            by_position.setdefault(found[0], {})[atom.label] = found[1]
    return tuple(_among_themselves(by_position))


def without_cells(facts: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the facts of a proof for people: not the cells that regions lie in, but how they lie to one another.

    What was proved need not follow from these, as where three regions have nothing in common, but each two of them.
    """
    by_position: dict[str, dict[str, Region]] = {}
    rest = []
    for fact in facts:
        labels = [label for label in fact.labels if not label.startswith(_CELL)]
        found = _read_region(labels[0]) if len(labels) < len(fact.labels) else None
        if found is None:
            rest.append(fact)
        else:
            by_position.setdefault(found[0], {})[labels[0]] = found[1]
    return (*_among_themselves(by_position), *rest)


def _read_region(text: str) -> tuple[str, Region] | None:
    """Return the position and the region of a canonical text; None if it is no region, or a MOC whose file is missing.

    Of a MOC whose cells are not known nothing is claimed. `provenn check` tells that its file is missing.
    """
    try:
        return read_call(text)
    except FilesMissingError:
        return None


def _among_themselves(by_position: Mapping[str, Mapping[str, Region]]) -> Iterator[Statement]:
    for position, regions in by_position.items():
        labels = sorted(regions)
        yield from _placed(position, labels, [regions[label] for label in labels])


def _placed(position: str, labels: Sequence[str], regions: Sequence[Region]) -> Iterator[Statement]:
    if len(labels) <= _FEW:
        near: Iterable[tuple[int, int]] = combinations(range(len(labels)), 2)
    else:
        coverings = [covering(one) for one in regions]
        for label, cells in zip(labels, coverings, strict=True):
            yield subset(label, _in_cells(position, *cells))
        near = meeting(coverings)
    apart: list[set[int]] = [set() for _ in labels]
    around: list[set[int]] = [set() for _ in labels]  # what lies around a region, and is larger
    for one, other in near:
        found = relation(regions[one], regions[other])
        if found.apart:
            apart[one].add(other)
            apart[other].add(one)
        elif found.within and found.around:
            yield from (subset(labels[one], labels[other]), subset(labels[other], labels[one]))
        elif found.within:
            around[one].add(other)
        elif found.around:
            around[other].add(one)
    for one, larger in enumerate(around):
        for other in sorted(larger):
            if not any(other in around[between] for between in larger):
                yield subset(labels[one], labels[other])
        for other in sorted(apart[one]):
            implied = any(other in apart[each] for each in larger) or any(one in apart[each] for each in around[other])
            if one < other and not implied:
                yield disjoint(labels[one], labels[other])


def _in_cells(position: str, order: int, numbers: Sequence[int]) -> Term:
    """Return the set of the sources in some cells of an order, over the bits of their numbers, the first one first."""
    bits = 4 + 2 * order

    def among(rest: Sequence[int], place: int) -> Term | None:
        """Return which sources have numbers that go on so from a place; None for all of them."""
        half = 1 << (bits - place - 1) if place < bits else 0
        if len(rest) == max(2 * half, 1):
            return None
        label = term(f"{_CELL}{position}) bit {place}")
        parts = []
        for holds, chosen in (
            (label, [one - half for one in rest if one >= half]),
            (~label, [one for one in rest if one < half]),
        ):
            if chosen:
                more = among(chosen, place + 1)
                parts.append(holds if more is None else holds & more)
        return parts[0] if len(parts) == 1 else parts[0] | parts[1]

    found = among(numbers, 0)
    return ~nothing if found is None else found
