"""Regions as calls in criteria: ``in_cone(ra, dec, 56.75, 24.12, 1.5)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from provenn.batches import split_batches
from provenn.errors import DefinitionError
from provenn.sky.boxes import box
from provenn.sky.call_forms import FUNCTIONS
from provenn.sky.cones import cone
from provenn.sky.mocs import read_moc_text
from provenn.sky.polygons import polygon
from provenn.sky.positions import DEGREES, find_position_attributes, read_angle_unit
from provenn.sky.region import Region

__all__ = ["criterion_on", "is_text", "read_call", "region_of", "split_position"]


class PositionAttribute(Protocol):
    """A candidate for an attribute with a coordinate."""

    @property
    def name(self) -> str:
        """The name of the attribute."""

    @property
    def unit(self) -> str:
        """The unit; empty if it is unknown."""

    @property
    def ucd(self) -> str:
        """The UCD (the IVOA's word for the meaning); empty if it is unknown."""


def criterion_on(region: Region, schema: Mapping[str, PositionAttribute]) -> str:
    """Return a criterion that selects the sources of a catalog in a region.

    Raises
    ------
    DefinitionError
        If `region` is not a region, no attributes are known to hold the position, or their unit is not an angle.
    AttributeNotFoundError
        If the schema lacks an attribute that `region.on` names.
    """
    if not hasattr(type(region), "on"):  # a Column of Spark has any attribute, its class has not
        raise DefinitionError(
            f"expected a criterion, got {region!r}",
            hint='pass an SQL text, such as select("plx > 10"), or a region of provenn.sky',
        )
    coordinates = [_degrees_sql(attribute) for attribute in find_position_attributes(schema, region.on)]
    constants = [
        f"'{constant}'" if isinstance(constant, str) else repr(constant).removesuffix(".0")
        for constant in region.constants
    ]
    return f"{region.function}({', '.join([*coordinates, *constants])})"


def _degrees_sql(attribute: PositionAttribute) -> str:
    """Return SQL for a coordinate in degrees."""
    # Most positions have these two names; other names may be SQL keywords.
    name = attribute.name if attribute.name.lower() in ("ra", "dec") else "`" + attribute.name.replace("`", "``") + "`"
    match read_angle_unit(attribute):
        case "deg":
            return name
        case "rad":
            return f"degrees({name})"
        case unit:
            factor = DEGREES[unit]
            return f"{name} * {factor:g}" if factor > 1 else f"{name} / {round(1 / factor)}"


def is_text(function: str) -> bool:
    """Tell whether a function takes a region as a text; all others take degrees."""
    return function == "in_moc"


def region_of(function: str, constants: Sequence[Any]) -> Region:
    """Return the region for a function and its arguments after the coordinates.

    Raises
    ------
    RegionError
        If the constants do not describe a region.
    """
    return _BUILDERS[function](*constants)


def _build_polygon(*numbers: float) -> Region:
    return polygon(list(split_batches(numbers, 2)))


_BUILDERS: dict[str, Callable[..., Region]] = {
    "in_box": box,
    "in_cone": cone,
    "in_moc": read_moc_text,
    "in_polygon": _build_polygon,
}
_CALL_PART = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|[(),]|[^`'(),]+", re.DOTALL)


@lru_cache(maxsize=10_000)
def read_call(text: str) -> tuple[str, Region] | None:
    """Return the position and the region in a canonical text, or None if the text does not call a function of regions.

    Two texts use the same position if the first items are equal.
    """
    function, bracket, rest = text.partition("(")
    if not bracket or function not in FUNCTIONS:
        return None
    ra, dec, *constants = _split_arguments(rest)
    if is_text(function):
        return f"{ra}, {dec}", region_of(function, [constants[0].strip("'")])
    return f"{ra}, {dec}", region_of(function, [float(constant.removesuffix("D")) for constant in constants])


def split_position(position: str) -> tuple[str, str]:
    """Return the canonical texts of right ascension and declination in a position that `read_call` returned.

    >>> split_position("pmod(`x.ra`, 360.0D), `x.dec`")
    ('pmod(`x.ra`, 360.0D)', '`x.dec`')
    """
    ra, dec = _split_arguments(position)
    return ra, dec


def _split_arguments(text: str) -> list[str]:
    """Return the arguments at the beginning of a text, up to the end of the text or the bracket that closes them."""
    arguments, depth = [""], 0
    for part in _CALL_PART.findall(text):
        depth += (part == "(") - (part == ")")
        if depth < 0:
            break
        if part == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += part
    return [argument.strip() for argument in arguments]
