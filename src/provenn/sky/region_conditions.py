"""SQL of Spark for regions: TRUE for positions inside, FALSE for positions outside, NULL where a coordinate is NULL.

The SQL is made of plain expressions without user-defined functions, so that it runs wherever Spark runs. Conditions on
a single coordinate come first, because Spark pushes them into the files. For a cone, an exact test follows. For
polygons and MOCs, the SQL looks up the cell of HEALPix that contains the position; only for cells on the border of a
polygon, the exact test follows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from provenn.sky.boxes import Box
from provenn.sky.cells import DEEPEST, LEAST_POLAR, Cells, Integers, build_base_cells, build_cells
from provenn.sky.cones import Cone
from provenn.sky.mocs import Moc
from provenn.sky.points import MARGIN, Cap
from provenn.sky.polygons import Polygon
from provenn.sky.region import INSIDE, OUTSIDE, Region

__all__ = ["cell_key_sql", "cells_sql", "conjunction_sql", "double_sql", "modulo_sql", "region_sql"]

_MOST_CELLS = 1000  # the most cells that cover a polygon
_MOST_DIVIDED = 20_000  # the most cells of a MOC that are divided to one order
_MOST_LITERALS = 21_000  # the most cells that are listed as literals


def region_sql(region: Region, ra: str, dec: str) -> str:
    """Return the SQL condition for a position inside a region.

    Parameters
    ----------
    region
        The region.
    ra, dec
        SQL for the coordinates, doubles in degrees; an expression that needs no parentheses as an operand.
    """
    match region:
        case Cone():
            parts = [*_bound_coordinates(region.cap, ra, dec), _cone_sql(region, ra, dec)]
        case Box():
            parts = _box_conditions(region, ra, dec)
        case Polygon():
            parts = [*_bound_coordinates(region.cap, ra, dec), *_polygon_conditions(region, ra, dec)]
        case Moc():
            parts = [*_bound_coordinates(region.cap, ra, dec), cells_sql(region.cells, ra, dec)]
        case _:
            raise TypeError(f"expected a region, got {region!r}")
    return conjunction_sql(parts, ra, dec)


def conjunction_sql(parts: Iterable[str], ra: str, dec: str) -> str:
    """Return the conjunction of conditions, with NULL where a coordinate is NULL."""
    # In SQL, a FALSE part makes the condition FALSE even if the other coordinate is NULL; in a filter Spark drops this.
    return f"({' AND '.join(parts)} OR (NULL AND ({ra} IS NULL OR {dec} IS NULL)))"


# -- bounds of coordinates ---------------------------------------------------------------------------------------


def _bound_coordinates(cap: Cap, ra: str, dec: str) -> list[str]:
    """Return conditions on the coordinates of all positions in a cap: first the declination, which excludes NaN."""
    x, y, z = cap.centre.tolist()
    centre_dec, reach = math.degrees(math.atan2(z, math.hypot(x, y))), cap.radius + 2 * MARGIN
    low, high = max(-90.0, centre_dec - reach), min(90.0, centre_dec + reach)
    parts = [
        f"{dec} >= {_bound_literal(low)}",
        f"{dec} <= {_bound_literal(high)}",
        f"abs({ra}) < CAST('Infinity' AS DOUBLE)",
    ]
    if abs(centre_dec) + reach < 89:
        centre_ra = math.degrees(math.atan2(y, x)) % 360
        half_width = math.degrees(
            math.asin(min(1.0, math.sin(math.radians(reach)) / math.cos(math.radians(centre_dec))))
        )
        half_width += 2 * MARGIN
        if half_width < 90:
            parts.append(_window_sql((centre_ra - half_width) % 360, (centre_ra + half_width) % 360, ra))
    return parts


def _window_sql(start: float, end: float, ra: str) -> str:
    """Return a bound of a right ascension that may lie outside 0 to 360, made of comparisons alone."""
    after, before = f"{ra} >= {_bound_literal(start)}", f"{ra} <= {_bound_literal(end)}"
    if start > end:
        return f"({after} OR {before})"  # this is also true for values outside 0 to 360
    return f"({after} AND {before} OR {ra} < 0.0D OR {ra} >= 360.0D)"


def _bound_literal(value: float) -> str:
    """Return a double literal; zero as -0.0, which files order first."""
    return f"{value!r}D" if value else "-0.0D"


def modulo_sql(ra: str) -> str:
    """Return a right ascension taken modulo 360."""
    return f"pmod({ra}, 360.0D)"


# -- exact tests -------------------------------------------------------------------------------------------------


def _cone_sql(cone: Cone, ra: str, dec: str) -> str:
    """Return the haversine test; for a radius beyond 90 degrees it starts from the opposite point, to stay exact."""
    is_wide = cone.radius > 90
    centre_ra, centre_dec = ((cone.ra + 180) % 360, -cone.dec) if is_wide else (cone.ra, cone.dec)
    radius = 180 - cone.radius if is_wide else cone.radius
    dec_term = f"power(sin(radians(({dec} - {double_sql(centre_dec)}) / 2.0D)), 2.0D)"
    ra_term = f"power(sin(radians(({modulo_sql(ra)} - {double_sql(centre_ra)}) / 2.0D)), 2.0D)"
    scale = math.cos(math.radians(centre_dec))
    limit = math.sin(math.radians(radius / 2)) ** 2
    operator = ">=" if is_wide else "<="
    return f"{dec_term} + cos(radians({dec})) * {double_sql(scale)} * {ra_term} {operator} {double_sql(limit)}"


def double_sql(value: float) -> str:
    """Return a double literal that needs no parentheses as an operand."""
    return f"{value!r}D" if value >= 0 else f"({value!r}D)"


def _box_conditions(box: Box, ra: str, dec: str) -> list[str]:
    """Return the conditions for a position in a box."""
    end = 0.0 if box.dec_to == 0 else box.dec_to
    parts = [
        f"{dec} >= {_bound_literal(box.dec_from)}",
        f"{dec} <= {end!r}D",
        f"abs({ra}) < CAST('Infinity' AS DOUBLE)",
    ]
    if box.around:
        return parts
    after, before = (
        f"{modulo_sql(ra)} {operator} {value!r}D" for operator, value in ((">=", box.ra_from), ("<=", box.ra_to))
    )
    crosses = box.ra_from > box.ra_to
    exact = f"({after} {'OR' if crosses else 'AND'} {before})"
    return [*parts, _window_sql(box.ra_from, box.ra_to, ra), exact]


def _polygon_conditions(polygon: Polygon, ra: str, dec: str) -> list[str]:
    """Return the conditions for a position in a polygon: first the test of the cell, then the exact test."""
    order, reached, inside = _cover_polygon(polygon)
    key = cell_key_sql(order, ra, dec)
    exact = _in_plane_sql(polygon, ra, dec)
    is_inside = f"({_membership_sql(key, inside)} OR {exact})" if len(inside) else exact
    return [_membership_sql(key, reached), is_inside]


def _in_plane_sql(polygon: Polygon, ra: str, dec: str) -> str:
    """Return the test of `Polygon.holds`; a lambda binds the position, so that the sides share one computation."""
    plane = polygon.plane
    lat, lon = f"radians({dec})", f"radians({modulo_sql(ra)} - {double_sql(plane.ra)})"
    sine, cosine = (double_sql(function(math.radians(plane.dec))) for function in (math.sin, math.cos))
    turned = f"cos({lat}) * cos({lon})"
    ahead = f"(sin({lat}) * {sine} + {turned} * {cosine})"
    x = f"cos({lat}) * sin({lon}) / {ahead}"
    y = f"(sin({lat}) * {cosine} - {turned} * {sine}) / {ahead}"
    sides = ", ".join(
        f"named_struct('a', {double_sql(low)}, 'b', {double_sql(high)}, "
        f"'x', {double_sql(at)}, 'm', {double_sql(slope)})"
        for low, high, at, slope in plane.crossings
    )
    crossed = "p.y >= s.a AND p.y < s.b AND p.x < s.x + (p.y - s.a) * s.m"
    odd = f"size(filter(array({sides}), s -> {crossed})) % 2 = 1"
    return f"exists(array(named_struct('x', {x}, 'y', {y})), p -> {odd})"


# -- cells -------------------------------------------------------------------------------------------------------


def cell_key_sql(order: int, ra: str, dec: str, *, closed_above: bool = False) -> str:
    """Return SQL for the key of the cell of an order that contains a position: ``i * 5 * 2**order + j``, see `Cells`.

    The position is finite, and its declination lies within 90 degrees. With `closed_above`, a position on the border of
    cells around the equator belongs to the cell with the lower j, as in cdshealpix and HATS; otherwise the upper one.
    """
    side = 1 << order
    turn = f"{modulo_sql(ra)} / 90.0D"
    level, height = f"(0.5D + {turn}) * {side}.0D", f"sin(radians({dec})) * {0.75 * side!r}D"
    face, within = f"floor({turn})", f"({turn}) % 1.0D"
    shrink = f"{math.sqrt(6) * side!r}D * sin(radians((90.0D - abs({dec})) / 2.0D))"
    last = f"{5 * side - 1}L"  # just below 360 degrees, rounding must not exceed them, nor leave a polar face
    # The distances from the two sides of the face that meet at the pole.
    near = f"least(floor({within} * {shrink}), {side - 1}L)"
    far = f"least(floor((1.0D - {within}) * {shrink}), {side - 1}L)"
    low, high = f"{face} * {side}L + {near}", f"({face} + 2L) * {side}L - 1L - {far}"
    across = f"least(floor({level} - {height}), {last})"
    if closed_above:
        across = f"greatest(ceil({level} - {height}) - 1L, 0L)"
    return (
        f"CASE WHEN abs({dec}) <= {LEAST_POLAR!r}D "
        f"THEN least(floor({level} + {height}), {last}) * {5 * side}L + {across} "
        f"WHEN {dec} > 0.0D THEN ({high}) * {5 * side}L + {low} "
        f"ELSE ({low}) * {5 * side}L + {high} END"
    )


def _compute_keys(cells: Cells) -> Integers:
    """Return the values of `cell_key_sql` for cells; cells around right ascension 0 have two values."""
    side = 1 << cells.order
    keys = cells.i * (5 * side) + cells.j
    around = (cells.i < side) & (cells.j < side)
    return np.concatenate([keys, keys[around] + 4 * side * (5 * side + 1)])


def _membership_sql(key: str, keys: Integers) -> str:
    """Return the condition for a key among keys."""
    if len(keys) > _MOST_LITERALS:
        return _bisection_sql(key, keys)
    return f"{key} IN ({', '.join(f'{number}L' for number in keys.tolist())})"


def _bisection_sql(key: str, keys: Integers) -> str:
    """Return the condition for a key among many keys: by bisection, the key has passed an odd number of ends of runs.

    Spark's time to plan a list grows with the number of literals: minutes for 100 000. So the ends are a single text,
    and Spark turns the text into an array once. The lambda binds the array, so that no row builds the array more than
    once.
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
def _cover_polygon(polygon: Polygon) -> tuple[int, Integers, Integers]:
    """Return an order, the keys of the cells reached by a polygon, and the keys of the cells inside the polygon."""
    cells = build_base_cells()
    while True:
        sides = polygon.sides(cells)
        cells, sides = cells.select_cells(sides != OUTSIDE), sides[sides != OUTSIDE]
        if 4 * len(cells) > _MOST_CELLS or cells.order == DEEPEST:
            return cells.order, _compute_keys(cells), _compute_keys(cells.select_cells(sides == INSIDE))
        cells = cells.subdivide()


def cells_sql(cells: dict[int, Integers], ra: str, dec: str) -> str:
    """Return the condition for a position in cells, given as numbers by order.

    The cells are divided to as few orders as possible without exceeding the limit of cells.
    """
    tests = [
        _membership_sql(cell_key_sql(order, ra, dec), _compute_keys(build_cells(order, numbers)))
        for order, numbers in _group_cells(cells)
    ]
    return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]


def _group_cells(cells: dict[int, Integers]) -> Iterable[tuple[int, Integers]]:
    """Yield orders and cell numbers; cells of coarse orders are divided while the limit of cells allows it."""
    pending: list[Integers] = []
    last = 0
    for order in sorted(cells):
        divided = (
            [_divide_cells(numbers, order - last) for numbers in pending]
            if _can_divide(pending, cells[order], order - last)
            else []
        )
        if pending and not divided:
            yield last, np.concatenate(pending)
        pending, last = [*divided, cells[order]], order
    yield last, np.concatenate(pending)


def _can_divide(pending: list[Integers], numbers: Integers, orders: int) -> bool:
    """Tell whether pending cells, divided by a number of orders, fit together with the next cells."""
    return sum(map(len, pending)) << (2 * orders) <= _MOST_DIVIDED - len(numbers)


def _divide_cells(numbers: Integers, orders: int) -> Integers:
    size = 1 << (2 * orders)
    return np.ravel(numbers[:, None] * size + np.arange(size))
