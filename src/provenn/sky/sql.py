"""Regions for Spark: SQL that is TRUE for positions inside, FALSE for others, NULL where a coordinate is NULL.

Plain expressions and no functions of our own, so that they run wherever Spark does. What can be said of a coordinate
alone comes first: Spark pushes it into the files. A cone then takes an exact test. Polygons and MOCs look up the cell
of HEALPix that a position lies in; only where a cell of a polygon is on its border, the exact test follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from provenn.sky.boxes import Box
from provenn.sky.cells import DEEPEST, LEAST_POLAR, Cells, Integers, all_sky, cells_at
from provenn.sky.cones import Cone
from provenn.sky.mocs import Moc
from provenn.sky.points import MARGIN, Cap
from provenn.sky.polygons import Polygon
from provenn.sky.region import INSIDE, OUTSIDE, Region

__all__ = ["cell_key", "cells_sql", "double", "modulo_sql", "or_null", "region_sql"]

_MOST_CELLS = 1000  # that a polygon is covered with
_MOST_LISTED = 20_000  # cells of a MOC that are brought to one order
_MOST_LITERALS = 21_000  # cells that are listed one by one


def region_sql(region: Region, ra: str, dec: str) -> str:
    """Return the condition that a position is in a region.

    Parameters
    ----------
    region
        The region.
    ra, dec
        SQL for the coordinates, doubles in degrees; something that stands as an operand without parentheses.
    """
    match region:
        case Cone():
            parts = [*_bounds(region.cap, ra, dec), _cone(region, ra, dec)]
        case Box():
            parts = _box(region, ra, dec)
        case Polygon():
            parts = [*_bounds(region.cap, ra, dec), *_polygon(region, ra, dec)]
        case Moc():
            parts = [*_bounds(region.cap, ra, dec), cells_sql(region.cells, ra, dec)]
        case _:
            raise TypeError(f"{region!r} is no region")
    return or_null(parts, ra, dec)


def or_null(parts: Iterable[str], ra: str, dec: str) -> str:
    """Return the condition that all parts hold, which is NULL where a coordinate is."""
    # FALSE for one reason stays FALSE in SQL, even if the other coordinate is NULL; in a filter Spark drops this.
    return f"({' AND '.join(parts)} OR (NULL AND ({ra} IS NULL OR {dec} IS NULL)))"


# -- bounds of coordinates ---------------------------------------------------------------------------------------


def _bounds(cap: Cap, ra: str, dec: str) -> list[str]:
    """Return what holds of the coordinates of all positions in a cap: first the declination, which NaN never fits."""
    x, y, z = cap.centre.tolist()
    height, reach = math.degrees(math.atan2(z, math.hypot(x, y))), cap.radius + 2 * MARGIN
    low, high = max(-90.0, height - reach), min(90.0, height + reach)
    parts = [f"{dec} >= {_number(low)}", f"{dec} <= {_number(high)}", f"abs({ra}) < CAST('Infinity' AS DOUBLE)"]
    if abs(height) + reach < 89:
        middle = math.degrees(math.atan2(y, x)) % 360
        half = math.degrees(math.asin(min(1.0, math.sin(math.radians(reach)) / math.cos(math.radians(height)))))
        half += 2 * MARGIN
        if half < 90:
            parts.append(_window((middle - half) % 360, (middle + half) % 360, ra))
    return parts


def _window(start: float, end: float, ra: str) -> str:
    """Return a bound of a right ascension that may need to be taken modulo 360, in comparisons alone."""
    after, before = f"{ra} >= {_number(start)}", f"{ra} <= {_number(end)}"
    if start > end:
        return f"({after} OR {before})"  # this also lets through what is not between 0 and 360
    return f"({after} AND {before} OR {ra} < 0.0D OR {ra} >= 360.0D)"


def _number(value: float) -> str:
    """Return a double; zero as the one of its two that files order first."""
    return f"{value!r}D" if value else "-0.0D"


def modulo_sql(ra: str) -> str:
    """Return a right ascension between 0 and 360."""
    return f"pmod({ra}, 360.0D)"


# -- exact tests -------------------------------------------------------------------------------------------------


def _cone(cone: Cone, ra: str, dec: str) -> str:
    """Return the haversine test; beyond 90 degrees from the opposite point, where it is as exact."""
    wide = cone.radius > 90
    centre_ra, centre_dec = ((cone.ra + 180) % 360, -cone.dec) if wide else (cone.ra, cone.dec)
    radius = 180 - cone.radius if wide else cone.radius
    up = f"power(sin(radians(({dec} - {double(centre_dec)}) / 2.0D)), 2.0D)"
    aside = f"power(sin(radians(({modulo_sql(ra)} - {double(centre_ra)}) / 2.0D)), 2.0D)"
    scale = math.cos(math.radians(centre_dec))
    limit = math.sin(math.radians(radius / 2)) ** 2
    return f"{up} + cos(radians({dec})) * {double(scale)} * {aside} {'>=' if wide else '<='} {double(limit)}"


def double(value: float) -> str:
    """Return a double that stands as an operand."""
    return f"{value!r}D" if value >= 0 else f"({value!r}D)"


def _box(box: Box, ra: str, dec: str) -> list[str]:
    end = 0.0 if box.dec_to == 0 else box.dec_to
    parts = [f"{dec} >= {_number(box.dec_from)}", f"{dec} <= {end!r}D", f"abs({ra}) < CAST('Infinity' AS DOUBLE)"]
    if box.around:
        return parts
    after, before = (
        f"{modulo_sql(ra)} {operator} {value!r}D" for operator, value in ((">=", box.ra_from), ("<=", box.ra_to))
    )
    crosses = box.ra_from > box.ra_to
    exact = f"({after} {'OR' if crosses else 'AND'} {before})"
    return [*parts, _window(box.ra_from, box.ra_to, ra), exact]


def _polygon(polygon: Polygon, ra: str, dec: str) -> list[str]:
    order, reached, inside = _covering(polygon)
    key = cell_key(order, ra, dec)
    exact = _in_plane(polygon, ra, dec)
    decided = f"({_among(key, inside)} OR {exact})" if len(inside) else exact
    return [_among(key, reached), decided]


def _in_plane(polygon: Polygon, ra: str, dec: str) -> str:
    """Return the test of `Polygon.holds`. Lambdas bind the position, which otherwise every side would work out."""
    plane = polygon.plane
    lat, lon = f"radians({dec})", f"radians({modulo_sql(ra)} - {double(plane.ra)})"
    sine, cosine = (double(one(math.radians(plane.dec))) for one in (math.sin, math.cos))
    turned = f"cos({lat}) * cos({lon})"
    ahead = f"(sin({lat}) * {sine} + {turned} * {cosine})"
    x = f"cos({lat}) * sin({lon}) / {ahead}"
    y = f"(sin({lat}) * {cosine} - {turned} * {sine}) / {ahead}"
    sides = ", ".join(
        f"named_struct('a', {double(low)}, 'b', {double(high)}, 'x', {double(at)}, 'm', {double(slope)})"
        for low, high, at, slope in plane.crossings
    )
    crossed = "p.y >= s.a AND p.y < s.b AND p.x < s.x + (p.y - s.a) * s.m"
    odd = f"size(filter(array({sides}), s -> {crossed})) % 2 = 1"
    return f"exists(array(named_struct('x', {x}, 'y', {y})), p -> {odd})"


# -- cells -------------------------------------------------------------------------------------------------------


def cell_key(order: int, ra: str, dec: str) -> str:
    """Return SQL for the cell of an order that a position lies in: ``i * 5 * 2**order + j``, see `Cells`.

    The position is finite, and its declination within 90 degrees.
    """
    side = 1 << order
    turn = f"{modulo_sql(ra)} / 90.0D"
    level, height = f"(0.5D + {turn}) * {side}.0D", f"sin(radians({dec})) * {0.75 * side!r}D"
    face, within = f"floor({turn})", f"({turn}) % 1.0D"
    shrink = f"{math.sqrt(6) * side!r}D * sin(radians((90.0D - abs({dec})) / 2.0D))"
    last = f"{5 * side - 1}L"  # just below 360 degrees, rounding must not lead beyond them, nor out of a polar face
    # How far from the two sides of the face that meet at the pole.
    near = f"least(floor({within} * {shrink}), {side - 1}L)"
    far = f"least(floor((1.0D - {within}) * {shrink}), {side - 1}L)"
    low, high = f"{face} * {side}L + {near}", f"({face} + 2L) * {side}L - 1L - {far}"
    return (
        f"CASE WHEN abs({dec}) <= {LEAST_POLAR!r}D "
        f"THEN least(floor({level} + {height}), {last}) * {5 * side}L + least(floor({level} - {height}), {last}) "
        f"WHEN {dec} > 0.0D THEN ({high}) * {5 * side}L + {low} "
        f"ELSE ({low}) * {5 * side}L + {high} END"
    )


def _keys(cells: Cells) -> Integers:
    """Return the values of `cell_key` for cells; two for those that lie around right ascension 0."""
    side = 1 << cells.order
    keys = cells.i * (5 * side) + cells.j
    around = (cells.i < side) & (cells.j < side)
    return np.concatenate([keys, keys[around] + 4 * side * (5 * side + 1)])


def _among(key: str, keys: Integers) -> str:
    if len(keys) > _MOST_LITERALS:
        return _searched(key, keys)
    return f"{key} IN ({', '.join(f'{one}L' for one in keys.tolist())})"


def _searched(key: str, keys: Integers) -> str:
    """Return the condition that a key is among many: it has passed an odd number of ends of runs, by bisection.

    Spark plans a list in time that grows with the number of its literals, minutes for 100 000. The ends are one text,
    which Spark makes an array once. The lambda binds the array, so that no row makes it more often than once.
    """
    keys = np.unique(keys)
    begins = np.concatenate([[True], np.diff(keys) != 1])
    lasts = np.append(begins[1:], [True])
    ends = np.stack([keys[begins], keys[lasts] + 1], axis=1).ravel().tolist()
    steps = ", ".join(str(1 << bit) for bit in reversed(range(len(ends).bit_length())))
    array = f"CAST(split('{','.join(map(str, ends))}', ',') AS ARRAY<BIGINT>)"
    passed = "if(coalesce(get(b.ends, n + s - 1) <= b.key, FALSE), n + s, n)"
    odd = f"aggregate(array({steps}), 0, (n, s) -> {passed}) % 2 = 1"
    return f"exists(array(named_struct('key', {key}, 'ends', {array})), b -> {odd})"


@lru_cache(maxsize=100)
def _covering(polygon: Polygon) -> tuple[int, Integers, Integers]:
    """Return an order, the cells of that order that a polygon reaches, and those of them that lie in it."""
    cells = all_sky()
    while True:
        found = polygon.sides(cells)
        cells, found = cells.kept(found != OUTSIDE), found[found != OUTSIDE]
        if 4 * len(cells) > _MOST_CELLS or cells.order == DEEPEST:
            return cells.order, _keys(cells), _keys(cells.kept(found == INSIDE))
        cells = cells.divided()


def cells_sql(cells: dict[int, Integers], ra: str, dec: str) -> str:
    """Return the condition that a position lies in some cells, given by order.

    They are brought to as few orders as there can be without too many cells.
    """
    tests = [_among(cell_key(order, ra, dec), _keys(cells_at(order, numbers))) for order, numbers in _lists(cells)]
    return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]


def _lists(cells: dict[int, Integers]) -> Iterable[tuple[int, Integers]]:
    """Yield orders and cells, those of coarse orders divided as long as they are not too many."""
    left: list[Integers] = []
    last = 0
    for order in sorted(cells):
        divided = (
            [_divided(numbers, order - last) for numbers in left] if _fits(left, cells[order], order - last) else []
        )
        if left and not divided:
            yield last, np.concatenate(left)
        left, last = [*divided, cells[order]], order
    yield last, np.concatenate(left)


def _fits(left: list[Integers], new: Integers, orders: int) -> bool:
    return sum(map(len, left)) << (2 * orders) <= _MOST_LISTED - len(new)


def _divided(numbers: Integers, orders: int) -> Integers:
    size = 1 << (2 * orders)
    return np.ravel(numbers[:, None] * size + np.arange(size))
