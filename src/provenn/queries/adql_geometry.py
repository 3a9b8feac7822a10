"""The geometry of ADQL: regions become the regions of criteria, distances become arithmetic.

While an expression is rewritten, a geometry stays a call, ``point(ra, dec)``; CONTAINS and INTERSECTS become the call
of a test, and DISTANCE a call with four coordinates, so that an enclosing comparison can recognise them.
"""

from __future__ import annotations

from sqlglot import exp

from provenn.criteria.pixels import PIXEL_NUMBER
from provenn.queries.adql_arguments import mark_argument
from provenn.queries.adql_features import GEOMETRY_GROUP, UDF_GROUP, list_function_names
from provenn.queries.adql_refusal import AdqlRefusalError
from provenn.queries.adql_shapes import (
    Circle,
    FixedRegion,
    Point,
    Shape,
    find_area,
    find_centre,
    is_geometry,
    lie_inside,
    meet_always,
    read_shape,
)
from provenn.queries.function_names import get_function_name
from provenn.queries.sky_expressions import build_distance, make_number, read_number
from provenn.sky.pixel_sql import DEEPEST

__all__ = ["GEOMETRIES", "GEOMETRY_FUNCTIONS", "build_comparison", "build_geometry_call", "finish_call"]

_PIXEL = "ivo_healpix_index"
GEOMETRIES = frozenset(["point", "circle", "box", "polygon", "moc"])
"""The functions that make geometries."""
GEOMETRY_FUNCTIONS = list_function_names(GEOMETRY_GROUP, UDF_GROUP)
"""All functions of geometries: those that services declare."""

_WHOLE_SKY = 180.0
"""The radius in degrees of a circle that holds every position."""
_TEST = "geometry_test"
_DISTANCE = "geometry_distance"
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}
_UNKNOWN = "this is computed for points and circles, and for regions of constants only"


def build_geometry_call(name: str, node: exp.Anonymous) -> exp.Expr:
    """Return the meaning of a call of a function of geometries."""
    arguments = node.expressions
    if name in GEOMETRIES:
        return node
    if name == _PIXEL:
        return _build_pixel_number(arguments)
    if name == "distance":
        return _build_distance(arguments)
    if name in ("contains", "intersects"):
        if len(arguments) != 2:
            raise AdqlRefusalError(f"{name.upper()} takes 2 geometries, not {len(arguments)} arguments")
        first, second = (_read_argument(name, argument) for argument in arguments)
        condition = _contain(first, second) if name == "contains" else _intersect(first, second)
        return exp.Anonymous(this=_TEST, expressions=[condition])
    if len(arguments) != 1:
        raise AdqlRefusalError(f"{name.upper()} takes a geometry, not {len(arguments)} arguments")
    shape = _read_argument(name, arguments[0])
    if name == "area":
        return make_number(find_area(shape))
    centre = find_centre(shape)
    if name == "centroid":
        return exp.Anonymous(this="point", expressions=[centre.ra.copy(), centre.dec.copy()])
    if not isinstance(shape, Point):
        raise AdqlRefusalError(f"{name.upper()} takes a point", "write CENTROID around a region")
    return (shape.ra if name == "coord1" else shape.dec).copy()


def _read_argument(name: str, tree: exp.Expr) -> Shape:
    """Return the geometry in an argument."""
    if not is_geometry(tree):
        hint = "write POINT(ra, dec), CIRCLE(ra, dec, radius), POLYGON(…), BOX(…) or MOC('…')"
        raise AdqlRefusalError(f"{name.upper()} takes geometries; no column holds one", hint)
    return read_shape(tree)


def _build_distance(arguments: list[exp.Expr]) -> exp.Expr:
    """Return the call of a distance with four coordinates."""
    if len(arguments) == 4:
        return exp.Anonymous(
            this=_DISTANCE, expressions=[mark_argument(argument, "DISTANCE", "number") for argument in arguments]
        )
    points = [_read_argument("distance", argument) for argument in arguments]
    if len(points) != 2 or not all(isinstance(point, Point) for point in points):
        raise AdqlRefusalError("DISTANCE takes two points, or four numbers", "write DISTANCE(ra1, dec1, ra2, dec2)")
    coordinates = [part.copy() for point in points if isinstance(point, Point) for part in (point.ra, point.dec)]
    return exp.Anonymous(this=_DISTANCE, expressions=coordinates)


def _build_pixel_number(arguments: list[exp.Expr]) -> exp.Expr:
    """Return the number of the HEALPix cell of a position."""
    if len(arguments) == 2:
        point = _read_argument(_PIXEL, arguments[1])
        position = [point.ra, point.dec] if isinstance(point, Point) else []
    else:
        position = [mark_argument(argument, _PIXEL, "number") for argument in arguments[1:]]
    if len(position) != 2:
        raise AdqlRefusalError(
            "IVO_HEALPIX_INDEX takes an order and a position", "for example ivo_healpix_index(8, ra, dec)"
        )
    order = arguments[0].unnest()
    if not order.is_int or not 0 <= int(order.sql()) <= DEEPEST:
        raise AdqlRefusalError(f"IVO_HEALPIX_INDEX takes a constant order from 0 to {DEEPEST}", "write the number")
    return exp.Anonymous(this=PIXEL_NUMBER, expressions=[order.copy(), *(part.copy() for part in position)])


def _contain(first: Shape, second: Shape) -> exp.Expr:
    """Return the condition that a geometry lies in another."""
    if isinstance(first, Point):
        return _locate(first, second)
    if isinstance(first, Circle) and isinstance(second, Circle):
        return _contain_circle(first, second)
    is_inside = lie_inside(first, second)
    if is_inside is None:
        raise AdqlRefusalError("CONTAINS of these regions is not supported", _UNKNOWN)
    return exp.true() if is_inside else exp.false()


def _contain_circle(first: Circle, second: Circle) -> exp.Expr:
    """Return the condition that a circle lies in another.

    Sound: below 180 degrees, what is outside of the second circle is a circle around the opposite point, with the rest
    of 180 degrees as its radius, and the first circle must not reach it: distance + first radius <= second radius. A
    circle of 180 degrees is the whole sky, and holds every circle.
    """
    if first.number is not None and second.number is not None and first.number < second.number < _WHOLE_SKY:
        return _keep_within(first.centre, second.centre, make_number(second.number - first.number))
    reach = exp.Add(this=first.centre.measure(second.centre), expression=exp.paren(first.radius, copy=True))
    endless = make_number(1e300)
    if second.number is None:
        is_whole = exp.GTE(this=exp.paren(second.radius, copy=True), expression=make_number(_WHOLE_SKY))
        limit: exp.Expr = exp.Case(
            ifs=[exp.If(this=is_whole, true=endless)], default=exp.paren(second.radius, copy=True)
        )
    else:
        limit = exp.paren(second.radius, copy=True) if second.number < _WHOLE_SKY else endless
    return exp.LTE(this=reach, expression=limit)


def _intersect(first: Shape, second: Shape) -> exp.Expr:
    """Return the condition that two geometries have a point in common."""
    if isinstance(first, Point):
        return _locate(first, second)
    if isinstance(second, Point):
        return _locate(second, first)
    if isinstance(first, Circle) and isinstance(second, Circle):
        if first.number is not None and second.number is not None:
            return _keep_within(first.centre, second.centre, make_number(first.number + second.number))
        reach = exp.Add(this=exp.paren(first.radius, copy=True), expression=exp.paren(second.radius, copy=True))
        return exp.LTE(this=first.centre.measure(second.centre), expression=exp.paren(reach, copy=False))
    do_meet = meet_always(first, second)
    if do_meet is None:
        raise AdqlRefusalError("INTERSECTS of these regions is not supported", _UNKNOWN)
    return exp.true() if do_meet else exp.false()


def _locate(point: Point, shape: Shape) -> exp.Expr:
    """Return the condition that a point lies in a geometry."""
    match shape:
        case Point():
            return exp.EQ(this=point.measure(shape), expression=exp.Literal.number(0))
        case Circle():
            return _keep_within(point, shape.centre, shape.radius)
        case FixedRegion():
            return shape.contain(point)
    raise AdqlRefusalError("this is not a geometry")


def _keep_within(point: Point, centre: Point, radius: exp.Expr) -> exp.Expr:
    """Return the condition that two points are within a radius; the constant point is the centre of the cone."""
    number = read_number(radius)
    if point.is_constant and not centre.is_constant:
        point, centre = centre, point
    if number is None or not 0 < number <= 180 or point.is_constant:
        return exp.LTE(this=point.measure(centre), expression=exp.paren(radius, copy=True))
    centre_values = [make_number(value) for value in centre.numbers] if centre.is_constant else [centre.ra, centre.dec]
    parts = [point.ra, point.dec, *centre_values, make_number(number)]
    return exp.Anonymous(this="in_cone", expressions=[part.copy() for part in parts])


def build_comparison(node: exp.Expr) -> exp.Expr:
    """Return a comparison, where a test is compared with 1 or 0, or a distance with a constant, as a condition."""
    left, right = node.this.unnest(), node.expression.unnest()
    cell = _read_cell(node, left, right) or _read_cell(node, right, left)
    if cell is not None:
        return cell
    for test, other in ((left, right), (right, left)):
        number = read_number(other) if get_function_name(test) == _TEST else None
        if number in (0, 1) and isinstance(node, exp.EQ | exp.NEQ):
            condition = exp.paren(test.expressions[0], copy=True)
            return condition if (number == 1) == isinstance(node, exp.EQ) else exp.Not(this=condition)
    kind = type(node)
    if get_function_name(right) == _DISTANCE and kind in _MIRRORED:
        left, right, kind = right, left, _MIRRORED[kind]
    radius = read_number(right) if get_function_name(left) == _DISTANCE else None
    if radius is None or not 0 < radius <= 180 or kind not in _MIRRORED:
        return node
    ra1, dec1, ra2, dec2 = left.expressions
    cone = _keep_within(Point(ra1, dec1), Point(ra2, dec2), right)
    if get_function_name(cone) != "in_cone":
        return node
    return _compare_with_cone(kind, cone, left, right)


def _read_cell(node: exp.Expr, index: exp.Expr, number: exp.Expr) -> exp.Expr | None:
    """Return the condition that a position lies in a cell of HEALPix as a region; None for anything else.

    Only where all conditions must hold: without a position, the number is NULL, while the region is FALSE.
    """
    if get_function_name(index) != PIXEL_NUMBER or not isinstance(node, exp.EQ) or not number.is_int:
        return None
    above = node.parent
    while isinstance(above, exp.And | exp.Paren):
        above = above.parent
    order, ra, dec = index.expressions
    cell = int(number.sql())
    if above is not None or not 0 <= cell < 12 << 2 * int(order.name):
        return None
    text = exp.Literal.string(f"{order.name}/{cell}")
    return exp.Anonymous(this="in_moc", expressions=[ra.copy(), dec.copy(), text])


def _compare_with_cone(kind: type[exp.Expr], cone: exp.Expr, distance: exp.Expr, radius: exp.Expr) -> exp.Expr:
    """Return a comparison of a distance with a constant as a cone, which has its circle, or as what is outside."""
    if kind is exp.LTE:
        return cone
    if kind is exp.GT:
        return exp.Not(this=cone)
    is_nearer = exp.LT(this=distance.copy(), expression=radius.copy())
    inside = exp.paren(exp.And(this=cone, expression=is_nearer), copy=False)
    return inside if kind is exp.LT else exp.Not(this=inside)


def finish_call(node: exp.Expr) -> exp.Expr:
    """Return the value of a test or a distance that no comparison has recognised; refuse a geometry as a value."""
    name = get_function_name(node)
    if name == _TEST:
        condition = exp.paren(node.expressions[0], copy=True)
        negated = exp.Not(this=condition.copy())
        branches = [
            exp.If(this=condition, true=exp.Literal.number(1)),
            exp.If(this=negated, true=exp.Literal.number(0)),
        ]
        return exp.Case(ifs=branches)
    if name == _DISTANCE:
        return build_distance(*node.expressions)
    if name in GEOMETRIES:
        raise AdqlRefusalError(f"{name.upper()} is a geometry, and no value", "select its coordinates")
    return node
