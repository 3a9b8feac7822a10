"""Read what a user says about a match: its radius, and the attributes that hold positions."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.match_rule import Coordinate, MatchRule, read_matches
from provenn.catalogs.schema import Attribute
from provenn.criteria.types import STRING
from provenn.errors import DefinitionError
from provenn.hints import Hint
from provenn.sky.positions import find_galactic_attributes, find_position_attributes, read_angle_unit
from provenn.sky.separations import parse_arcseconds, read_arcseconds

__all__ = ["find_position", "read_position_names", "read_rule", "require_number"]


def read_rule(left: Catalog, radius: object, matches: object, min_radius: object, max_radius: object) -> MatchRule:
    """Return the rule of a match.

    Parameters
    ----------
    left
        The left catalog.
    radius
        The largest separation: an angle, or the name of an attribute of `left` that holds an angle.
    matches
        The pairs to keep.
    min_radius
        The smallest separation: an angle; 0 or None without a limit.
    max_radius
        The largest separation, if the radius is an attribute.

    Raises
    ------
    DefinitionError
        If a limit is not valid, or an attribute is not an angle.
    """
    column = _find_radius_column(left, radius, is_limited=max_radius is not None)
    if column is not None and max_radius is None:
        # The largest value in the data is no bound: it changes with the data, and one outlier would pair all with all.
        raise DefinitionError(
            f"the radius {radius} is an attribute, so that the largest separation is not known",
            hint=Hint('limit it: max_radius="10 arcsec"', command="limit it: --max-radius '10 arcsec'"),
        )
    if column is None and max_radius is not None:
        raise DefinitionError(
            f"expected no largest radius beside the radius {radius!s}, got {max_radius!r}",
            hint="a largest radius limits a radius from an attribute",
        )
    largest = read_arcseconds(radius if column is None else max_radius)
    smallest = 0.0 if min_radius is None or parse_arcseconds(min_radius) == 0 else read_arcseconds(min_radius)
    if smallest > largest:
        raise DefinitionError(f"expected a smallest radius up to the radius {largest:g} arcsec, got {min_radius!s}")
    return MatchRule(largest, read_matches(matches), smallest, column)


def _find_radius_column(left: Catalog, radius: object, *, is_limited: bool) -> Coordinate | None:
    """Return the attribute that a radius names, with its unit; None if the radius is an angle.

    A text that is no angle names an attribute if a largest radius limits it.
    """
    if not isinstance(radius, str) or parse_arcseconds(radius) is not None:
        return None
    if not is_limited and not left.schema.matching(radius):
        return None
    attribute = left.schema[radius]
    require_number(attribute, "a radius")
    if not attribute.unit.strip():
        raise DefinitionError(
            f"{attribute.name} has no unit and cannot be a radius",
            hint=Hint(
                'derive an attribute with a unit: derive(err=("pos_err", "arcsec"))',
                command="derive an attribute with a unit: provenn derive CATALOG err=pos_err --unit err=arcsec",
            ),
        )
    return attribute.identity, read_angle_unit(attribute)


def require_number(attribute: Attribute, what: str) -> None:
    """Make sure that an attribute is a number.

    Raises
    ------
    DefinitionError
        If it is not.
    """
    if not attribute.type.numeric:
        raise DefinitionError(
            f"{attribute.name} has the type {attribute.type} and cannot be {what}", hint=f"{what} must be a number"
        )


def read_position_names(on: object) -> tuple[tuple[str, ...] | None, ...]:
    """Return the names of the position attributes of both sides."""
    if on is None:
        return None, None
    sides = tuple(on) if isinstance(on, list | tuple) else ()
    if len(sides) == 2 and all(isinstance(names, str) for names in sides):
        sides = (sides, sides)
    if len(sides) != 2 or not all(names is None or isinstance(names, list | tuple) for names in sides):
        raise DefinitionError(
            f"expected the attributes of positions, got {on!r}",
            hint='on=("ra", "dec"), or on=(("ra", "dec"), ("raj2000", "dej2000"))',
        )
    return tuple(None if names is None else tuple(names) for names in sides)


def find_position(
    catalog: Catalog, on: Sequence[str] | None, frame: str | None
) -> tuple[tuple[Coordinate, Coordinate], str]:
    """Return identity and unit of longitude and latitude of a catalog, and their frame.

    Without a frame, attributes with galactic UCDs are galactic, all others are in ICRS.
    """
    if on is None and frame == "galactic":
        longitude, latitude = find_galactic_attributes(catalog.schema)
    else:
        longitude, latitude = find_position_attributes(catalog.schema, on)
    if frame is None:
        is_galactic = longitude.ucd.strip().lower().startswith("pos.galactic.lon")
        frame = "galactic" if is_galactic else "icrs"
    text_unit = "dms" if frame == "galactic" else "hms"
    return (_read_coordinate(longitude, text_unit), _read_coordinate(latitude, "dms")), frame


def _read_coordinate(attribute: Attribute, text_unit: str) -> Coordinate:
    """Return identity and unit of a coordinate; text is sexagesimal, and in hours only if no degrees are stated."""
    if attribute.type == STRING:
        states_degrees = attribute.unit.strip() and read_angle_unit(attribute) == "deg"
        return attribute.identity, "dms" if states_degrees else text_unit
    require_number(attribute, "a coordinate")
    return attribute.identity, read_angle_unit(attribute)
