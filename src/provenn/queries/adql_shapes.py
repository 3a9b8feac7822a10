"""The geometries of ADQL, read from calls: POINT, CIRCLE, BOX, POLYGON and MOC."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from provenn.errors import ProvennError
from provenn.queries.adql_arguments import mark_argument
from provenn.queries.adql_refusal import AdqlRefusalError
from provenn.queries.function_names import get_function_name
from provenn.queries.sky_expressions import build_distance, make_number, read_number
from provenn.sky import Region, cone, polygon, read_moc_text, relation

__all__ = [
    "Circle",
    "FixedRegion",
    "Point",
    "Shape",
    "find_area",
    "find_centre",
    "is_geometry",
    "lie_inside",
    "meet_always",
    "read_shape",
]

_FRAMES = ("", "ICRS", "UNKNOWNFRAME", "ICRS BARYCENTER", "ICRS GEOCENTER", "ICRS TOPOCENTER")
_SHAPES = ("point", "circle", "box", "polygon", "moc")


@dataclass(frozen=True, slots=True)
class Point:
    """A position, with coordinates in degrees."""

    ra: exp.Expr
    dec: exp.Expr

    @property
    def numbers(self) -> tuple[float, float]:
        """The coordinates of a constant point, with a right ascension from 0 to 360 degrees."""
        ra, dec = read_number(self.ra), read_number(self.dec)
        if ra is None or dec is None:
            raise AdqlRefusalError("this point is not constant")
        return ra % 360, dec

    @property
    def is_constant(self) -> bool:
        """Whether both coordinates are numbers."""
        return read_number(self.ra) is not None and read_number(self.dec) is not None

    def measure(self, other: Point) -> exp.Expr:
        """Return the expression for the degrees to another point."""
        return build_distance(self.ra, self.dec, other.ra, other.dec)


@dataclass(frozen=True, slots=True)
class Circle:
    """The positions within a radius of a point."""

    centre: Point
    radius: exp.Expr

    @property
    def number(self) -> float | None:
        """The radius of a circle whose radius is constant."""
        return read_number(self.radius)


@dataclass(frozen=True, slots=True)
class FixedRegion:
    """A region of constants."""

    region: Region

    def contain(self, point: Point) -> exp.Expr:
        """Return the condition that a point lies in the region."""
        constants = [
            exp.Literal.string(value) if isinstance(value, str) else make_number(value)
            for value in self.region.constants
        ]
        return exp.Anonymous(this=self.region.function, expressions=[point.ra.copy(), point.dec.copy(), *constants])


Shape = Point | Circle | FixedRegion


def is_geometry(tree: exp.Expr) -> bool:
    """Tell whether an expression is a call that makes a geometry."""
    return get_function_name(tree.unnest()) in _SHAPES


def read_shape(tree: exp.Expr) -> Shape:
    """Return the geometry of a call.

    Raises
    ------
    AdqlRefusalError
        If its arguments do not fit, or a region is impossible.
    """
    call = tree.unnest()
    name = get_function_name(call)
    if name == "moc":
        return _read_moc(call.expressions)
    arguments = _drop_frame(name, call.expressions)
    if name == "point":
        _check_count(name, arguments, "2 coordinates", len(arguments) == 2)
        return Point(*(mark_argument(part, "POINT", "number") for part in arguments))
    coordinates = _spread_points(arguments)
    if name == "circle":
        _check_count(name, coordinates, "a centre and a radius", len(coordinates) == 3)
        ra, dec, radius = (mark_argument(part, "CIRCLE", "number") for part in coordinates)
        return _check_circle(Circle(Point(ra, dec), radius))
    if name == "box":
        _check_count(name, coordinates, "a centre, a width and a height", len(coordinates) == 4)
        return _build_region(_list_box_corners(_read_constants(name, coordinates)))
    _check_count(name, coordinates, "at least 3 vertices", len(coordinates) >= 6 and len(coordinates) % 2 == 0)
    numbers = _read_constants(name, coordinates)
    return _build_region(list(zip(numbers[::2], numbers[1::2], strict=True)))


def _drop_frame(name: str, arguments: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return arguments without the name of a coordinate system, which ADQL 2.0 puts first."""
    if not arguments or not (arguments[0].is_string or isinstance(arguments[0], exp.Null)):
        return list(arguments)
    frame = "" if isinstance(arguments[0], exp.Null) else arguments[0].name
    if frame.strip().upper() not in _FRAMES:
        hint = "positions are taken as they are: leave the frame out, and use coordinates of one frame"
        raise AdqlRefusalError(f"{name.upper()} does not convert positions from {frame}", hint)
    return list(arguments[1:])


def _spread_points(arguments: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return the arguments with the two coordinates in place of each point."""
    spread: list[exp.Expr] = []
    for argument in arguments:
        if get_function_name(argument.unnest()) == "point":
            point = read_shape(argument)
            spread += [point.ra, point.dec] if isinstance(point, Point) else []
        elif is_geometry(argument):
            raise AdqlRefusalError("a region inside of a region is not supported", "write numbers or points")
        else:
            spread.append(argument)
    return spread


def _check_count(name: str, arguments: Sequence[exp.Expr], wanted: str, is_right: bool) -> None:
    if not is_right:
        raise AdqlRefusalError(f"{name.upper()} takes {wanted}, not {len(arguments)} numbers")


def _check_circle(circle: Circle) -> Circle:
    """Refuse a circle of impossible constants."""
    if circle.number is not None and not 0 <= circle.number <= 180:
        raise AdqlRefusalError(f"the radius of a circle is {circle.number:g} degrees", "it lies between 0 and 180")
    if circle.centre.is_constant and circle.number:
        try:
            cone(*circle.centre.numbers, circle.number)
        except ProvennError as error:
            raise AdqlRefusalError(error.message, error.hint or "") from None
    return circle


def _read_constants(name: str, arguments: Sequence[exp.Expr]) -> list[float]:
    """Return the numbers of a region of constants."""
    numbers = [read_number(argument) for argument in arguments]
    if None in numbers:
        hint = "only the coordinates of a POINT, and a CIRCLE, may have columns"
        raise AdqlRefusalError(f"{name.upper()} takes numbers here, not columns", hint)
    return [number for number in numbers if number is not None]


def _build_region(vertices: Sequence[tuple[float, float]]) -> FixedRegion:
    try:
        return FixedRegion(polygon([(ra % 360, dec) for ra, dec in vertices]))
    except ProvennError as error:
        raise AdqlRefusalError(error.message, error.hint or "") from None


def _list_box_corners(numbers: Sequence[float]) -> list[tuple[float, float]]:
    """Return the corners of a box: its sides are great circles at right angles to a cross at its centre.

    In the plane that touches the sphere at the centre, these great circles are lines parallel to the axes.
    """
    ra, dec, width, height = numbers
    if not (0 < width < 180 and 0 < height < 180):
        raise AdqlRefusalError(
            f"a box of {width:g} by {height:g} degrees is not possible", "both lie between 0 and 180"
        )
    across, up = math.tan(math.radians(width / 2)), math.tan(math.radians(height / 2))
    corners = []
    for x, y in ((-across, -up), (across, -up), (across, up), (-across, up)):
        sine, cosine = math.sin(math.radians(dec)), math.cos(math.radians(dec))
        ahead, north = cosine - y * sine, sine + y * cosine
        corner_ra = ra + math.degrees(math.atan2(x, ahead))
        corners.append((corner_ra, math.degrees(math.atan2(north, math.hypot(x, ahead)))))
    return corners


def _read_moc(arguments: Sequence[exp.Expr]) -> FixedRegion:
    """Return the region of MOC('3/1-4')."""
    if len(arguments) != 1 or not arguments[0].is_string:
        raise AdqlRefusalError("MOC takes the text of a MOC", "for example MOC('3/1-4 5/200')")
    try:
        return FixedRegion(read_moc_text(arguments[0].name))
    except ProvennError as error:
        raise AdqlRefusalError(error.message, error.hint or "") from None


def find_centre(shape: Shape) -> Point:
    """Return the middle of a point or a circle."""
    match shape:
        case Point():
            return shape
        case Circle():
            return shape.centre
    raise AdqlRefusalError("CENTROID is known for points and circles only")


def find_area(shape: Shape) -> float:
    """Return the square degrees in a region: 0 for a point."""
    if isinstance(shape, Point):
        return 0.0
    if isinstance(shape, Circle) and shape.number is not None:
        return 2 * math.pi * (1 - math.cos(math.radians(shape.number))) * math.degrees(1) ** 2
    raise AdqlRefusalError("AREA is known for points, and for circles with a constant radius, only")


def _find_region(shape: Shape) -> Region | None:
    """Return the region of a geometry of constants; None for all others."""
    match shape:
        case FixedRegion():
            return shape.region
        case Circle() if shape.centre.is_constant and shape.number:
            return cone(*shape.centre.numbers, shape.number)
    return None


def meet_always(first: Shape, second: Shape) -> bool | None:
    """Tell whether two regions of constants have a point in common; None if that is not known."""
    regions = [_find_region(first), _find_region(second)]
    if regions[0] is None or regions[1] is None:
        return None
    known = relation(regions[0], regions[1])
    if known.apart:
        return False
    return True if known.within or known.around else None


def lie_inside(first: Shape, second: Shape) -> bool | None:
    """Tell whether a region of constants lies in another; None if that is not known."""
    regions = [_find_region(first), _find_region(second)]
    if regions[0] is None or regions[1] is None:
        return None
    known = relation(regions[0], regions[1])
    if known.within:
        return True
    return False if known.apart or known.around else None
