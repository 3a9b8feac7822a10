"""Regions of the sky in criteria, ``in_cone(ra, dec, 56.75, 24.12, 1.5)``, and the facts that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from provenn.criteria.atoms import Atom
from provenn.criteria.conditions import convert_to_condition
from provenn.criteria.conversions import convert_arguments
from provenn.criteria.domains import encode_double
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls
from provenn.criteria.operations import coerce
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BOOLEAN, DOUBLE, STRING, VOID
from provenn.criteria.writing import read_region_constant
from provenn.errors import FileError, FilesMissingError, RegionError
from provenn.logic import Statement, disjoint, subset
from provenn.logic.terms import Op, Term, chain, nothing, term
from provenn.sky import Moc, Region, covering, find_combinations, is_text, meeting, read_call, region_of, relation
from provenn.sky.moc_library import parse_digest

if TYPE_CHECKING:
    from provenn.criteria.coordinates import CoordinateCuts

__all__ = ["build_region_condition", "read_coordinate", "region_facts", "without_cells"]

_PAIRWISE_LIMIT = 100
"""The maximum number of regions that are compared pairwise."""

_MOST_UNITED = 12
"""The maximum number of MOCs, sharing cells with a MOC, whose unions are compared with it."""

_CELL_PREFIX = "healpix("
"""The prefix of labels for sets of sources by HEALPix cell; no criterion begins with it."""


def build_region_condition(function: str, *arguments: Node) -> Condition:
    """Return the condition that a position lies in a region.

    All arguments except the position are constants, and are normalised.
    """
    position = [read_coordinate(function, node) for node in convert_arguments(function, arguments[:2])]
    values = [_read_constant(function, node) for node in convert_arguments(function, arguments[2:])]
    if len(values) % 2 and function == "in_polygon":
        raise Refusal("in_polygon() takes pairs of numbers", "write each vertex as right ascension and declination")
    if is_text(function) and not (parse_digest(str(values[0])) or set(str(values[0])) <= set("0123456789/-, ")):
        raise Refusal("in_moc() takes the cells as quoted text", "for example in_moc(ra, dec, '3/1-4 5/200')")
    try:
        region = region_of(function, values)
    except (RegionError, FileError, FilesMissingError) as error:
        raise Refusal(str(error).partition("\n")[0], error.hint or "") from None
    constants = [
        Constant(STRING, constant)
        if isinstance(constant, str)
        else Constant(DOUBLE, encode_double(constant), repr(constant).removesuffix(".0"))
        for constant in region.constants
    ]
    return convert_to_condition(Call(function, (*position, *constants), BOOLEAN, Nulls.ANY))


def read_coordinate(function: str, node: Node) -> Node:
    """Return a coordinate as a double, or refuse it."""
    if not node.type.numeric and node.type != VOID:
        raise Refusal(f"{function}() takes a coordinate in degrees here, not a {node.type}", "convert it with CAST")
    return coerce(node, DOUBLE)


def _read_constant(function: str, node: Node) -> float | str:
    """Return the value of a constant argument of a region, or refuse the argument."""
    wanted = STRING if is_text(function) else DOUBLE
    fits = node.type == STRING if is_text(function) else node.type.numeric
    constant = evaluate(coerce(node, wanted)) if fits else None
    if constant is None or constant.key is None:
        what = "a text" if is_text(function) else "a number of degrees"
        raise Refusal(
            f"{function}() takes {what} here, not an expression", "only the position may differ between sources"
        )
    return read_region_constant(constant)


def region_facts(atoms: Iterable[Atom]) -> tuple[Statement, ...]:
    """Return the facts implied by the positions of regions, for the atoms of any number of criteria.

    Regions of the same position attributes without common points are disjoint; a region inside another is a subset. A
    MOC inside the union of several MOCs is a subset of the union. `coordinate_facts` relates regions to ranges of their
    coordinates.

    Facts that follow from other facts of the result are left out. Regions that touch, or nearly touch, are assumed to
    overlap.

    Most pairs of many regions are far apart, and are not listed. Instead, a fact places each region in a few HEALPix
    cells, and a cell is described by the bits of its number, so that the disjointness follows.
    """
    by_position: dict[str, dict[str, Region]] = {}
    known = list(atoms)
    for atom in known:
        position_and_region = _read_region(atom.term) if atom.cut is not None and atom.label == atom.term else None
        if position_and_region is not None:
            by_position.setdefault(position_and_region[0], {})[atom.label] = position_and_region[1]
    if not by_position:
        return ()
    from provenn.criteria.coordinates import read_coordinate_cuts  # noqa: PLC0415 - most criteria name no region

    cuts = read_coordinate_cuts(known, by_position)
    return (*_relate_by_position(by_position), *_relate_to_coordinates(by_position, cuts))


def without_cells(facts: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the facts of a proof for people: relations between regions instead of HEALPix cells.

    The result need not imply the proved statement: three regions may have no common point although each two overlap.
    """
    by_position: dict[str, dict[str, Region]] = {}
    rest = []
    for fact in facts:
        labels = [label for label in fact.labels if not label.startswith(_CELL_PREFIX)]
        position_and_region = _read_region(labels[0]) if len(labels) < len(fact.labels) else None
        if position_and_region is None:
            rest.append(fact)
        else:
            by_position.setdefault(position_and_region[0], {})[labels[0]] = position_and_region[1]
    return (*_relate_by_position(by_position), *rest)


def _read_region(text: str) -> tuple[str, Region] | None:
    """Return the position and the region of a canonical text; None for other texts and for MOCs without a file.

    Nothing is claimed about a MOC with unknown cells. `provenn check` reports the missing file.
    """
    try:
        return read_call(text)
    except FilesMissingError:
        return None


def _relate_by_position(by_position: Mapping[str, Mapping[str, Region]]) -> Iterator[Statement]:
    """Yield the facts about regions, separately for each position."""
    for position, regions in by_position.items():
        labels = sorted(regions)
        yield from _relate_regions(position, labels, [regions[label] for label in labels])


def _relate_to_coordinates(
    by_position: Mapping[str, Mapping[str, Region]], cuts: CoordinateCuts
) -> Iterator[Statement]:
    """Yield the facts about regions and ranges of coordinates, separately for each position."""
    from provenn.criteria.coordinates import coordinate_facts  # noqa: PLC0415 - see above

    for position, regions in by_position.items():
        yield from coordinate_facts(position, regions, cuts, exactly=len(regions) <= _PAIRWISE_LIMIT)


def _relate_regions(position: str, labels: Sequence[str], regions: Sequence[Region]) -> Iterator[Statement]:
    """Yield the facts about the regions of a position."""
    if len(labels) <= _PAIRWISE_LIMIT:
        near: Iterable[tuple[int, int]] = combinations(range(len(labels)), 2)
    else:
        coverings = [covering(region) for region in regions]
        for label, cells in zip(labels, coverings, strict=True):
            yield subset(label, _build_cell_set(position, *cells))
        near = meeting(coverings)
    apart: list[set[int]] = [set() for _ in labels]
    around: list[set[int]] = [set() for _ in labels]  # the larger regions that contain each region
    meets: list[set[int]] = [set() for _ in labels]
    for first, second in near:
        pair_relation = relation(regions[first], regions[second])
        if pair_relation.apart:
            apart[first].add(second)
            apart[second].add(first)
            continue
        meets[first].add(second)
        meets[second].add(first)
        if pair_relation.within and pair_relation.around:
            yield from (subset(labels[first], labels[second]), subset(labels[second], labels[first]))
        elif pair_relation.within:
            around[first].add(second)
        elif pair_relation.around:
            around[second].add(first)
    for first, larger in enumerate(around):
        for second in sorted(larger):
            if not any(second in around[between] for between in larger):
                yield subset(labels[first], labels[second])
        for second in sorted(apart[first]):
            implied = any(second in apart[region] for region in larger) or any(
                first in apart[region] for region in around[second]
            )
            if first < second and not implied:
                yield disjoint(labels[first], labels[second])
    yield from _relate_unions(labels, regions, meets)


def _relate_unions(labels: Sequence[str], regions: Sequence[Region], meets: Sequence[set[int]]) -> Iterator[Statement]:
    """Yield, for each MOC, the combinations of other MOCs that share cells with it, unless pairs of MOCs say as much.

    Every position of the MOC lies in a cell of the MOC, and every cell in exactly the MOCs of a combination.
    """
    mocs = {index: region for index, region in enumerate(regions) if isinstance(region, Moc)}
    for index, moc in mocs.items():
        others = sorted(meets[index] & mocs.keys())
        if not 2 <= len(others) <= _MOST_UNITED:
            continue
        shared = find_combinations(moc, [mocs[other] for other in others])
        if shared is None:
            continue
        sets = [term(labels[other]) for other in others]
        parts = (
            chain(Op.AND, tuple(other if holds else ~other for other, holds in zip(sets, combination, strict=True)))
            for combination in shared
        )
        yield subset(labels[index], chain(Op.OR, tuple(parts)))


def _build_cell_set(position: str, order: int, numbers: Sequence[int]) -> Term:
    """Return the set of the sources in some cells of an order, over the bits of the cell numbers, highest bit first."""
    bits = 4 + 2 * order

    def build_from_bit(rest: Sequence[int], place: int) -> Term | None:
        """Return the sources whose numbers continue with `rest` from a bit on; None for all sources."""
        half = 1 << (bits - place - 1) if place < bits else 0
        if len(rest) == max(2 * half, 1):
            return None
        label = term(f"{_CELL_PREFIX}{position}) bit {place}")
        parts = []
        for holds, chosen in (
            (label, [number - half for number in rest if number >= half]),
            (~label, [number for number in rest if number < half]),
        ):
            if chosen:
                more = build_from_bit(chosen, place + 1)
                parts.append(holds if more is None else holds & more)
        return parts[0] if len(parts) == 1 else parts[0] | parts[1]

    cell_set = build_from_bit(numbers, 0)
    return ~nothing if cell_set is None else cell_set
