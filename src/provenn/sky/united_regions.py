"""SQL of Spark for unions of many regions: one expression for any number of regions.

Spark takes minutes for hundreds of regions joined by OR, because it compares each condition with all others. Here the
regions are rows of constant arrays, and Spark takes each array for one value. The cells of HEALPix that cover the
regions come first, so that only positions near a region are tested against each region. The arithmetic is the same as
in `provenn.sky.region_conditions`: a position on the border of a region is in the union if it is in the region.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from provenn.sky.boxes import Box
from provenn.sky.cells import DEEPEST, merge_ranges, split_into_cells
from provenn.sky.cones import Cone
from provenn.sky.coverings import covering
from provenn.sky.points import MARGIN
from provenn.sky.polygons import Polygon
from provenn.sky.region import Region
from provenn.sky.region_conditions import cells_sql, conjunction_sql, double_sql, modulo_sql

__all__ = ["can_be_united", "union_sql"]


def can_be_united(region: Region) -> bool:
    """Tell whether `union_sql` accepts a region: it accepts neither MOCs nor cones of more than 90 degrees."""
    return isinstance(region, Box | Polygon) or (isinstance(region, Cone) and region.radius <= 90)


def union_sql(regions: Sequence[Region], ra: str, dec: str) -> str:
    """Return the SQL condition for a position inside at least one region.

    Parameters
    ----------
    regions
        The regions; `can_be_united` is true for each.
    ra, dec
        SQL for the coordinates, doubles in degrees; an expression that needs no parentheses as an operand.
    """
    tests = " OR ".join(_write_tests(regions))
    position = (
        f"named_struct('ra', {modulo_sql(ra)}, 'dec', {dec}, "
        f"'sine', sin(radians({dec})), 'cosine', cos(radians({dec})))"
    )
    parts = [
        f"{dec} >= -90.0D",
        f"{dec} <= 90.0D",
        f"abs({ra}) < CAST('Infinity' AS DOUBLE)",
        cells_sql(_cover_regions(regions), ra, dec),
        f"exists(array({position}), p -> {tests})",
    ]
    return conjunction_sql(parts, ra, dec)


def _cover_regions(regions: Iterable[Region]) -> dict[int, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """Return cells that contain all regions, as numbers by order."""
    ranges = [
        (cell << 2 * (DEEPEST - order), (cell + 1) << 2 * (DEEPEST - order))
        for order, cells in map(covering, regions)
        for cell in cells
    ]
    return split_into_cells(merge_ranges(np.array(ranges, np.int64)))


def _write_tests(regions: Sequence[Region]) -> Iterator[str]:
    """Yield the tests of a position ``p``, one for each kind of region."""
    cones = [_cone_struct(region) for region in regions if isinstance(region, Cone)]
    boxes = [_box_struct(region) for region in regions if isinstance(region, Box)]
    polygons = [_polygon_struct(region) for region in regions if isinstance(region, Polygon)]
    if cones:
        yield f"exists(array({', '.join(cones)}), r -> abs(p.dec - r.dec) <= r.reach AND {_IN_CONE})"
    if boxes:
        yield f"exists(array({', '.join(boxes)}), r -> {_IN_BOX})"
    if polygons:
        yield f"exists(array({', '.join(polygons)}), r -> {_IN_POLYGON})"


_IN_CONE = (
    "power(sin(radians((p.dec - r.dec) / 2.0D)), 2.0D) "
    "+ p.cosine * r.scale * power(sin(radians((p.ra - r.ra) / 2.0D)), 2.0D) <= r.limit"
)
_IN_BOX = (
    "p.dec >= r.low AND p.dec <= r.high "
    "AND if(r.start < r.end, p.ra >= r.start AND p.ra <= r.end, p.ra >= r.start OR p.ra <= r.end)"
)
# The plane that touches the middle of the polygon shows only positions on that half of the sky.
_AHEAD = "p.sine * r.sine + p.cosine * cos(radians(p.ra - r.ra)) * r.cosine"
_CROSSES_SIDE = "q.y >= s.a AND q.y < s.b AND q.x < s.x + (q.y - s.a) * s.m"
_PROJECTED = (
    f"named_struct('x', p.cosine * sin(radians(p.ra - r.ra)) / ({_AHEAD}), "
    f"'y', (p.sine * r.cosine - p.cosine * cos(radians(p.ra - r.ra)) * r.sine) / ({_AHEAD}))"
)
_IN_POLYGON = (
    f"abs(p.dec - r.dec) <= r.reach AND {_AHEAD} > 0.0D "
    f"AND exists(array({_PROJECTED}), q -> size(filter(r.sides, s -> {_CROSSES_SIDE})) % 2 = 1)"
)


def _struct_sql(**fields: float) -> str:
    values = ", ".join(f"'{name}', {double_sql(value)}" for name, value in fields.items())
    return f"named_struct({values})"


def _cone_struct(cone: Cone) -> str:
    limit = math.sin(math.radians(cone.radius / 2)) ** 2
    scale = math.cos(math.radians(cone.dec))
    return _struct_sql(ra=cone.ra, dec=cone.dec, reach=cone.radius + 2 * MARGIN, scale=scale, limit=limit)


def _box_struct(box: Box) -> str:
    return _struct_sql(start=box.ra_from, end=box.ra_to, low=box.dec_from, high=box.dec_to)


def _polygon_struct(polygon: Polygon) -> str:
    plane = polygon.plane
    sides = ", ".join(_struct_sql(a=low, b=high, x=at, m=slope) for low, high, at, slope in plane.crossings)
    middle = math.radians(plane.dec)
    sine, cosine, reach = math.sin(middle), math.cos(middle), plane.reach + 2 * MARGIN
    fields = {"ra": plane.ra, "dec": plane.dec, "reach": reach, "sine": sine, "cosine": cosine}
    return f"{_struct_sql(**fields)[:-1]}, 'sides', array({sides}))"
