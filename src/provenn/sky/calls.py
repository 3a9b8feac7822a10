"""Regions as calls in criteria: ``in_cone(ra, dec, 56.75, 24.12, 1.5)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Protocol

from provenn.errors import DefinitionError
from provenn.sky.boxes import box
from provenn.sky.cones import cone
from provenn.sky.mocs import moc
from provenn.sky.polygons import polygon
from provenn.sky.positions import DEGREES, angle_unit, positions
from provenn.sky.region import Region

__all__ = ["FUNCTIONS", "abridged", "criterion_on", "is_text", "read_call", "region_of"]

FUNCTIONS: dict[str, tuple[int, int | None]] = {
    "in_box": (6, 6),
    "in_cone": (5, 5),
    "in_moc": (3, 3),
    "in_polygon": (8, None),
}
"""The functions, with the least and the greatest number of arguments; the first two are the coordinates."""


class Named(Protocol):
    """An attribute that may hold a coordinate."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def unit(self) -> str:
        """Its unit; empty if it is not known."""

    @property
    def ucd(self) -> str:
        """What it is, in the IVOA's words; empty if it is not known."""


def criterion_on(region: Region, schema: Mapping[str, Named]) -> str:
    """Return a region as a criterion on the position of the sources of a catalog.

    Raises
    ------
    DefinitionError
        If it is no region, it is not known which attributes hold the position, or their unit is no angle.
    AttributeNotFoundError
        If an attribute that `region` is on is not there.
    """
    if not hasattr(region, "on"):
        raise DefinitionError(f"{region!r} is no criterion", hint="give a text in SQL, or a region of provenn.sky")
    coordinates = [_in_degrees(one) for one in positions(schema, region.on)]
    constants = [f"'{one}'" if isinstance(one, str) else repr(one).removesuffix(".0") for one in region.constants]
    return f"{region.function}({', '.join([*coordinates, *constants])})"


def _in_degrees(one: Named) -> str:
    # Most names are these two; others may be words of SQL.
    name = one.name if one.name.lower() in ("ra", "dec") else "`" + one.name.replace("`", "``") + "`"
    match angle_unit(one):
        case "deg":
            return name
        case "rad":
            return f"degrees({name})"
        case unit:
            factor = DEGREES[unit]
            return f"{name} * {factor:g}" if factor > 1 else f"{name} / {round(1 / factor)}"


def is_text(function: str) -> bool:
    """Tell whether the region is given as a text; otherwise in degrees."""
    return function == "in_moc"


def region_of(function: str, constants: Sequence[Any]) -> Region:
    """Return the region that a function is about, given its arguments behind the coordinates.

    Raises
    ------
    RegionError
        If they are not those of a region.
    """
    return _BUILDERS[function](*constants)


def _polygon(*numbers: float) -> Region:
    return polygon([numbers[place : place + 2] for place in range(0, len(numbers), 2)])


_BUILDERS: dict[str, Callable[..., Region]] = {
    "in_box": box,
    "in_cone": cone,
    "in_moc": moc,
    "in_polygon": _polygon,
}
_LONG = re.compile(r"(in_moc\([^']*')([^']{48})([^']{48,})'")
_PART = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|[(),]|[^`'(),]+", re.DOTALL)


def abridged(text: str) -> str:
    """Return a criterion with the cells of long MOCs left out; what stands for them tells one from the other.

    >>> abridged("in_moc(ra, dec, '3/1-4')")
    "in_moc(ra, dec, '3/1-4')"
    """

    def short(found: re.Match[str]) -> str:
        mark = blake2b(found[3].encode(), digest_size=3).hexdigest()
        return f"{found[1]}{found[2].rpartition(' ')[0]} … {mark}'"

    return _LONG.sub(short, text)


@lru_cache(maxsize=10_000)
def read_call(text: str) -> tuple[str, Region] | None:
    """Return the position and the region of which a canonical text speaks, or None if it is about something else.

    Two texts are about one position if the first part is the same.
    """
    function, bracket, rest = text.partition("(")
    if not bracket or function not in FUNCTIONS:
        return None
    arguments, depth = [""], 0
    for part in _PART.findall(rest):
        depth += (part == "(") - (part == ")")
        if depth < 0:
            break
        if part == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += part
    ra, dec, *constants = (one.strip() for one in arguments)
    if is_text(function):
        return f"{ra}, {dec}", region_of(function, [constants[0].strip("'")])
    return f"{ra}, {dec}", region_of(function, [float(one.removesuffix("D")) for one in constants])
