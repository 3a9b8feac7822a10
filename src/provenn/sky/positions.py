"""Find the attributes that hold the position of a source on the sky, and read their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol, TypeVar

from provenn.errors import AttributeNotFoundError, DefinitionError
from provenn.hints import Hint

__all__ = ["DEGREES", "find_galactic_attributes", "find_position_attributes", "read_angle_unit"]

DEGREES = {
    "deg": 1.0,
    "rad": 57.29577951308232,
    "hourangle": 15.0,
    "arcmin": 1 / 60,
    "arcsec": 1 / 3600,
    "mas": 1 / 3_600_000,
}
"""The units of angles in degrees."""

_UNIT_SYNONYMS = {
    **dict.fromkeys(("", "degree", "degrees", "°"), "deg"),
    **dict.fromkeys(("radian", "radians"), "rad"),
    **dict.fromkeys(("h", "hr", "hour", "hours", "15deg", "15 deg"), "hourangle"),  # as astropy writes it to VOTables
    **dict.fromkeys(("arcminute", "arcminutes", "'"), "arcmin"),
    **dict.fromkeys(("arcsecond", "arcseconds", "as", '"'), "arcsec"),
    "milliarcsecond": "mas",
}

_USUAL_NAMES = (
    *(("ra", "dec"), ("raj2000", "dej2000"), ("raj2000", "decj2000"), ("ra_j2000", "dec_j2000")),
    *(("ra_icrs", "de_icrs"), ("ra_icrs", "dec_icrs"), ("raicrs", "deicrs"), ("_raj2000", "_dej2000")),
    *(("radeg", "dedeg"), ("ra_deg", "dec_deg"), ("ra_degrees", "dec_degrees"), ("rarad", "derad")),
    *(("ra_rad", "dec_rad"), ("alpha", "delta"), ("right_ascension", "declination")),
)
"""Usual names of right ascension and declination, in lower case; the first pair that a schema has is used."""


_GALACTIC_NAMES = (("glon", "glat"), ("l", "b"), ("gal_lon", "gal_lat"))
"""Usual names of galactic longitude and latitude, in lower case."""


class _Attribute(Protocol):
    @property
    def unit(self) -> str: ...
    @property
    def ucd(self) -> str: ...


A = TypeVar("A", bound=_Attribute)


def find_position_attributes(schema: Mapping[str, A], on: Iterable[str] | None = None) -> tuple[A, A]:
    """Return the attributes that hold right ascension and declination.

    Parameters
    ----------
    schema
        Attributes by name.
    on
        The names of both attributes. Without names, the function takes the attributes with the UCDs
        ``pos.eq.ra;meta.main`` and ``pos.eq.dec;meta.main``; then attributes with usual names, ``ra`` and ``dec``
        first; then the only attributes with the UCDs ``pos.eq.ra`` and ``pos.eq.dec``.

    Raises
    ------
    DefinitionError
        If no attributes or several fit, or `on` does not have two different names.
    AttributeNotFoundError
        If the schema has no attribute of a name.
    """
    if on is not None:
        names = (on,) if isinstance(on, str) else tuple(on)
        if len(names) != 2:
            raise DefinitionError(f"a position is two attributes, not {names!r}", hint=_NAME_THEM)
        ra, dec = _find_by_name(schema, names[0]), _find_by_name(schema, names[1])
        if names[0] == names[1]:
            raise DefinitionError(f"a position is two attributes, not {names[0]} twice", hint=_NAME_THEM)
        return ra, dec
    pair = _find_by_ucd(schema, main=True) or _find_by_usual_name(schema) or _find_by_ucd(schema, main=False)
    if pair is None:
        known = ", ".join(list(schema)[:20])
        raise DefinitionError(
            f"none of these attributes is known to be a position on the sky: {known}",
            hint=_NAME_THEM,
        )
    return pair


def find_galactic_attributes(schema: Mapping[str, A]) -> tuple[A, A]:
    """Return the attributes that hold galactic longitude and latitude, by UCD or by the names glon, glat, l, b.

    Raises
    ------
    DefinitionError
        If no attributes fit.
    """
    words = ("pos.galactic.lon", "pos.galactic.lat")
    pair = _find_by_ucd(schema, main=False, words=words) or _find_by_usual_name(schema, _GALACTIC_NAMES)
    if pair is None:
        known = ", ".join(list(schema)[:20])
        raise DefinitionError(f"none of these attributes is known to be a galactic position: {known}", hint=_NAME_THEM)
    return pair


_NAME_THEM: Final = Hint(
    'name the attributes: on=("ra", "dec")',
    command="name the attributes: --on ra dec; for a cross-match, --left ra dec and --right ra dec",
)


def read_angle_unit(attribute: _Attribute) -> str:
    """Return the unit of an attribute that holds an angle, as a key of `DEGREES`; without a unit, degrees.

    Raises
    ------
    DefinitionError
        If the unit is not a unit of an angle.
    """
    unit = _UNIT_SYNONYMS.get(attribute.unit.strip().lower(), attribute.unit.strip().lower())
    if unit not in DEGREES:
        raise DefinitionError(
            f"{attribute.unit!r} is not a known unit of angles",
            hint="use degrees, radians, hours, arcmin, arcsec or mas",
        )
    return unit


def _find_by_name(schema: Mapping[str, A], name: str) -> A:
    matches = [candidate for candidate in schema if candidate == name] or [
        candidate for candidate in schema if candidate.lower() == str(name).lower()
    ]
    if len(matches) != 1:
        raise AttributeNotFoundError(name, schema, matches)
    return schema[matches[0]]


def _find_by_ucd(
    schema: Mapping[str, A], *, main: bool, words: tuple[str, str] = ("pos.eq.ra", "pos.eq.dec")
) -> tuple[A, A] | None:
    attributes: list[A] = []
    for word in words:
        words_by_name = {name: attribute.ucd.lower().replace(" ", "").split(";") for name, attribute in schema.items()}
        matches = [
            name for name, parts in words_by_name.items() if parts[0] == word and (not main or "meta.main" in parts)
        ]
        if len(matches) != 1:
            return None
        attributes.append(schema[matches[0]])
    return attributes[0], attributes[1]


def _find_by_usual_name(
    schema: Mapping[str, A], usual_names: Iterable[tuple[str, str]] = _USUAL_NAMES
) -> tuple[A, A] | None:
    names_by_lower: dict[str, list[str]] = {}
    for name in schema:
        names_by_lower.setdefault(name.lower(), []).append(name)
    for names in usual_names:
        candidates = [names_by_lower.get(name, []) for name in names]
        if all(len(matches) == 1 for matches in candidates):
            return schema[candidates[0][0]], schema[candidates[1][0]]
    return None
