"""Facts between regions of the sky and ranges of their coordinates: a cone lies in a range of declination.

The cuts of a coordinate, ``dec < 21``, divide the coordinate into intervals. A box is made of cuts, and all other
regions are compared with the rectangles between cuts. Regions take the right ascension modulo 360, and so are compared
with cuts of ``pmod(ra, 360)``; where the right ascension lies between -360 and 360, these cuts follow from the cuts of
the right ascension.

Labels of cuts outside all criteria are criteria in canonical text as well, so a proof with these labels is readable.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from provenn import deadline
from provenn.criteria.atoms import Atom
from provenn.criteria.domains import INFINITY, decode_number, encode_double
from provenn.criteria.types import DOUBLE, FLOAT, INT
from provenn.logic import Statement, disjoint, equal, subset
from provenn.logic.terms import Term, nothing, term
from provenn.sky import Arc, Box, Region, find_extremes, is_divided, relation, split_position

__all__ = ["CoordinateCuts", "coordinate_facts", "read_coordinate_cuts"]

_MOST_RECTANGLES = 500
"""The maximum number of rectangles that are compared with the regions of a position."""
_MOST_PER_REGION = 100
_FEWEST_BOXES, _FEWEST_REGIONS = 2, 3
"""The number of boxes that make a union, and of regions among which a union says more than each pair."""

_CAST = re.compile(r"CAST\((.*) AS DOUBLE\)", re.DOTALL)
_FLOAT_CUT = re.compile(r"-?[\d.]+(?:E-?\d+)?F")
_INTEGER_CUT = re.compile(r"-?\d+[LSY]?")
_LARGEST_EXACT = 2**53
_BEYOND_POLE = math.nextafter(90.0, 91.0)
_ZERO, _CIRCLE = encode_double(0.0), encode_double(360.0)

CoordinateCuts = Mapping[str, Mapping[int, str]]
"""The labels of cuts by term and by key, the key of a double."""


def read_coordinate_cuts(atoms: Iterable[Atom], positions: Iterable[str]) -> CoordinateCuts:
    """Return the cuts of the coordinates of positions among atoms, and those of right ascensions modulo 360.

    A coordinate cast from a float or a whole number has the cuts of the original number: the cast keeps the order
    strictly, for whole numbers up to 2**53.
    """
    pairs = [split_position(position) for position in positions]
    coordinates = [text for ra, dec in pairs for text in (ra, dec, _write_circle(ra))]
    inner = {coordinate: match[1] for coordinate in coordinates if (match := _CAST.fullmatch(coordinate))}
    cuts: dict[str, dict[int, str]] = {coordinate: {} for coordinate in coordinates}
    by_term: dict[str, list[Atom]] = {}
    for atom in atoms:
        if isinstance(atom.cut, int):
            by_term.setdefault(atom.term, []).append(atom)
    for coordinate, by_key in cuts.items():
        by_key.update((atom.cut, atom.label) for atom in by_term.get(coordinate, ()) if isinstance(atom.cut, int))
        for atom in by_term.get(inner.get(coordinate, ""), ()):
            key = _convert_cut(atom)
            if key is not None:
                by_key.setdefault(key, atom.label)
    return cuts


def _write_circle(ra: str) -> str:
    """Return the canonical text of a right ascension modulo 360."""
    return f"pmod({ra}, 360.0D)"


def _convert_cut(atom: Atom) -> int | None:
    """Return the key as a double of a cut of a float or of a whole number; None for all other types.

    The label ends with the constant, in the notation of its type.
    """
    constant = atom.label.rpartition(" ")[2]
    if isinstance(atom.cut, int) and _FLOAT_CUT.fullmatch(constant):
        return encode_double(float(decode_number(FLOAT, atom.cut)))
    if isinstance(atom.cut, int) and _INTEGER_CUT.fullmatch(constant) and abs(atom.cut) <= _LARGEST_EXACT:
        return encode_double(float(decode_number(INT, atom.cut)))
    return None


@dataclass(slots=True)
class _Line:
    """The cuts of a coordinate in their order.

    Parameters
    ----------
    text
        The canonical text of the coordinate.
    written
        The labels of the cuts that criteria have, by key.
    added
        The labels of further cuts, by key.
    """

    text: str
    written: Mapping[int, str]
    added: dict[int, str] = field(default_factory=dict)

    @property
    def keys(self) -> list[int]:
        return sorted({*self.written, *self.added})

    def cut(self, key: int) -> Term:
        """Return the set of a cut; add a cut missing from all criteria."""
        label = self.written.get(key) or self.added.get(key)
        if label is None:
            value = float(decode_number(DOUBLE, key))
            before = float(decode_number(DOUBLE, key - 1))
            # The shorter text is the number that people wrote.
            text = f"< {value!r}D" if len(repr(value)) <= len(repr(before)) else f"<= {before!r}D"
            label = self.added[key] = f"{self.text} {text}"
        return term(label)

    def between(self, low: int | None, high: int | None, whole: Term) -> Term:
        """Return the set from a cut up to another cut; None is the end of `whole`."""
        upper = whole if high is None else self.cut(high)
        return upper if low is None else upper - self.cut(low)

    def order(self, whole: Term | None) -> Iterator[Statement]:
        """Yield the facts that place the added cuts between the others, and the last of all inside `whole`."""
        keys = self.keys
        for key, following in pairwise(keys):
            if key in self.added or following in self.added:
                yield subset(self.cut(key), self.cut(following))
        if whole is not None and keys:
            yield subset(self.cut(keys[-1]), whole)


@dataclass(slots=True)
class _Grid:
    """The cuts of the two coordinates of a position.

    Parameters
    ----------
    ra
        The cuts of the right ascension as it is.
    circle
        The cuts of the right ascension modulo 360, above 0 and below 360.
    dec
        The cuts of the declination.
    finite
        The set where the right ascension is finite; nowhere else is a position in a region.
    """

    ra: _Line
    circle: _Line
    dec: _Line
    finite: Term

    def circle_cut(self, key: int) -> int | None:
        """Return the key of a cut of the circle, or None for its ends."""
        if not _ZERO < key < _CIRCLE:
            return None
        self.circle.cut(key)
        return key


def coordinate_facts(
    position: str, regions: Mapping[str, Region], cuts: CoordinateCuts, *, exactly: bool
) -> Iterator[Statement]:
    """Yield the facts between the regions of a position, by label, and the cuts of its coordinates.

    Parameters
    ----------
    position
        The canonical texts of the two coordinates.
    regions
        The regions by label.
    cuts
        The cuts of coordinates.
    exactly
        Whether boxes are written as cuts, and rectangles are compared with regions; otherwise only the extremes of each
        region are compared with the cuts.
    """
    ra, dec = split_position(position)
    boxes = {label: region for label, region in regions.items() if isinstance(region, Box)}
    circle_text = _write_circle(ra)
    has_cuts = bool(cuts[ra] or cuts[dec] or cuts[circle_text])
    unites = exactly and len(boxes) >= _FEWEST_BOXES and len(regions) >= _FEWEST_REGIONS
    if not has_cuts and not unites:
        return
    finite = term(f"abs({ra}) < CAST('Infinity' AS DOUBLE)")
    on_circle = {key: label for key, label in cuts[circle_text].items() if _ZERO < key < _CIRCLE}
    grid = _Grid(_Line(ra, cuts[ra]), _Line(circle_text, on_circle), _Line(dec, cuts[dec]), finite)
    if cuts[ra]:
        yield from _relate_right_ascensions(grid)
    if exactly:
        for label, box in boxes.items():
            yield equal(label, _build_box(box, grid))
    others = {label: region for label, region in regions.items() if not exactly or label not in boxes}
    circle_keys, dec_keys = grid.circle.keys, grid.dec.keys
    for label, region in others.items():
        deadline.check()
        yield from _bound_region(label, region, grid, circle_keys, dec_keys)
    if exactly and has_cuts and others:
        budget = min(_MOST_PER_REGION, _MOST_RECTANGLES // len(others))
        for label, region in others.items():
            yield from _Rectangles(label, region, grid, circle_keys, dec_keys, budget).relate()
    yield from grid.dec.order(None)
    yield from grid.ra.order(None)
    yield from grid.circle.order(finite)


def _relate_right_ascensions(grid: _Grid) -> Iterator[Statement]:
    """Yield the facts between cuts of the right ascension and cuts of the circle, exact for Spark's ``pmod``.

    From 0 to 360, ``pmod`` is the number itself, and 0 for -360 and 360. From -360 to 0 it is the sum with 360,
    rounded. Rounding keeps the order, but neighbours may become equal; sums that round to 360 become 0. All numbers
    between two finite cuts are finite.
    """
    below, full, negative = grid.ra.cut(_ZERO), grid.ra.cut(_CIRCLE), encode_double(-360.0) + 1
    at_zero = _ZERO + 1
    for key in sorted(grid.ra.written):
        cut = grid.ra.cut(key)
        if _ZERO < key < _CIRCLE:
            twin = grid.circle.cut(key)
            yield subset(cut - below, twin)
            yield disjoint(full - cut, twin)
        elif negative < key < _ZERO:
            turned = encode_double(float(decode_number(DOUBLE, key)) + 360.0)
            if turned == _CIRCLE:
                yield subset(below - cut, grid.circle.cut(at_zero))
                continue
            yield subset(below - cut, ~grid.circle.cut(turned) | grid.circle.cut(at_zero))
            if grid.circle_cut(turned + 1):
                yield subset(cut - grid.ra.cut(negative), grid.circle.cut(turned + 1))
    for key in (_CIRCLE, negative - 1):
        if {key, key + 1} & grid.ra.written.keys():
            yield subset(grid.ra.cut(key + 1) - grid.ra.cut(key), grid.circle.cut(at_zero))
    finite = [key for key in grid.ra.keys if -INFINITY[DOUBLE] < key <= INFINITY[DOUBLE]]
    yield subset(grid.ra.cut(finite[-1]) - grid.ra.cut(finite[0]), grid.finite)


def _build_box(box: Box, grid: _Grid) -> Term:
    """Return a box as a set of cuts: the comparisons of its SQL."""
    heights = grid.dec.between(encode_double(box.dec_from), encode_double(box.dec_to) + 1, ~nothing)
    if box.around:
        return heights & grid.finite
    start, end = grid.circle_cut(encode_double(box.ra_from)), grid.circle_cut(encode_double(box.ra_to) + 1)
    return heights & _build_arc(start, end, grid, crosses=box.ra_from > box.ra_to)


def _build_arc(start: int | None, end: int | None, grid: _Grid, *, crosses: bool) -> Term:
    """Return the set of an arc of the circle from a cut up to another; None is 0 or 360."""
    if not crosses:
        return grid.circle.between(start, end, grid.finite)
    after = nothing if start is None else grid.finite - grid.circle.cut(start)
    return after | (grid.finite if end is None else grid.circle.cut(end))


def _bound_region(
    label: str, region: Region, grid: _Grid, circle_keys: Sequence[int], dec_keys: Sequence[int]
) -> Iterator[Statement]:
    """Yield the facts placing a region between the nearest cuts around the extremes of the region."""
    extremes = find_extremes(region)
    above = bisect_right(dec_keys, encode_double(extremes.high))
    below = bisect_right(dec_keys, encode_double(extremes.low))
    if above < len(dec_keys):
        yield subset(label, grid.dec.cut(dec_keys[above]))
    if below:
        yield disjoint(label, grid.dec.cut(dec_keys[below - 1]))
    if extremes.arcs is None or not circle_keys:
        if circle_keys:
            yield subset(label, grid.finite)
        return
    arcs = nothing
    for start, end in extremes.arcs:
        first = bisect_right(circle_keys, encode_double(start))
        last = bisect_right(circle_keys, encode_double(end))
        low = circle_keys[first - 1] if first else None
        high = circle_keys[last] if last < len(circle_keys) else None
        crosses = start > end
        if crosses and (low is None or high is None or low < high):
            yield subset(label, grid.finite)
            return
        arcs = arcs | _build_arc(low, high, grid, crosses=crosses)
    yield subset(label, arcs)


@dataclass(slots=True)
class _Rectangles:
    """The rectangles between cuts inside a region, and the rectangles near, but apart from, the region."""

    label: str
    region: Region
    grid: _Grid
    circle_keys: Sequence[int]
    dec_keys: Sequence[int]
    budget: int

    def relate(self) -> Iterator[Statement]:
        """Yield the facts of a search by halving undecided rectangles, until the budget ends.

        A rectangle is as a box of the sky: the cuts bound the rectangle at neighbouring numbers, and the box has both
        numbers.
        """
        extremes = find_extremes(self.region)
        keys = self.dec_keys
        first = max(bisect_right(keys, encode_double(extremes.low)) - 1, 0)
        last = min(bisect_left(keys, encode_double(extremes.high)), len(keys) - 1)
        stack = [(first, last, *self._find_columns(extremes.arcs))] if first < last else []
        while stack and self.budget:
            self.budget -= 1
            low, high, start, end = rectangle = stack.pop()
            box = self._build_box(*rectangle)
            claims = None if box is None or is_divided(box, self.region) else relation(box, self.region)
            if claims is not None and claims.within:
                yield subset(self._build_set(*rectangle), self.label)
            elif claims is not None and claims.apart:
                yield disjoint(self._build_set(*rectangle), self.label)
            elif high - low > 1 and high - low >= end - start:
                middle = (low + high) // 2
                stack += [(low, middle, start, end), (middle, high, start, end)]
            elif end - start > 1:
                middle = (start + end) // 2
                stack += [(low, high, start, middle), (low, high, middle, end)]

    def _find_columns(self, arcs: Sequence[Arc] | None) -> tuple[int, int]:
        """Return the first column of rectangles that the region may reach, and one past the last."""
        if arcs is None or len(arcs) > 1 or arcs[0][0] > arcs[0][1]:
            return 0, len(self.circle_keys) + 1
        first, last = (bisect_right(self.circle_keys, encode_double(end)) for end in arcs[0])
        return first, last + 1

    def _build_box(self, low: int, high: int, start: int, end: int) -> Box | None:
        """Return a rectangle as a box, or None if it reaches beyond the poles."""
        bottom, top = (float(decode_number(DOUBLE, key)) for key in (self.dec_keys[low], self.dec_keys[high]))
        left = float(decode_number(DOUBLE, self.circle_keys[start - 1])) if start else 0.0
        right = float(decode_number(DOUBLE, self.circle_keys[end - 1])) if end <= len(self.circle_keys) else 360.0
        if not (bottom >= -90 and top <= _BEYOND_POLE):  # a cut at NaN fails as well
            return None
        if right == 360.0 and start:
            right = 0.0  # across 0, where the box has one more position
        return Box(left, right, bottom, min(top, 90.0))

    def _build_set(self, low: int, high: int, start: int, end: int) -> Term:
        """Return a rectangle as a set of cuts."""
        heights = self.grid.dec.between(self.dec_keys[low], self.dec_keys[high], ~nothing)
        left = self.circle_keys[start - 1] if start else None
        right = self.circle_keys[end - 1] if end <= len(self.circle_keys) else None
        return heights & self.grid.circle.between(left, right, self.grid.finite)
