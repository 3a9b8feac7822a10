"""Which attributes tell where on the sky a source is, and in which unit they say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from provenn.errors import AttributeNotFoundError, DefinitionError

__all__ = ["DEGREES", "angle_unit", "positions"]

DEGREES = {
    "deg": 1.0,
    "rad": 57.29577951308232,
    "hourangle": 15.0,
    "arcmin": 1 / 60,
    "arcsec": 1 / 3600,
    "mas": 1 / 3_600_000,
}
"""How many degrees the units of angles are."""

_SAME = {
    **dict.fromkeys(("", "degree", "degrees", "°"), "deg"),
    **dict.fromkeys(("radian", "radians"), "rad"),
    **dict.fromkeys(("h", "hr", "hour", "hours", "15deg", "15 deg"), "hourangle"),  # as astropy writes it to VOTables
    **dict.fromkeys(("arcminute", "arcminutes", "'"), "arcmin"),
    **dict.fromkeys(("arcsecond", "arcseconds", "as", '"'), "arcsec"),
    "milliarcsecond": "mas",
}

_NAMES = (
    *(("ra", "dec"), ("raj2000", "dej2000"), ("raj2000", "decj2000"), ("ra_j2000", "dec_j2000")),
    *(("ra_icrs", "de_icrs"), ("ra_icrs", "dec_icrs"), ("raicrs", "deicrs"), ("_raj2000", "_dej2000")),
    *(("radeg", "dedeg"), ("ra_deg", "dec_deg"), ("ra_degrees", "dec_degrees"), ("rarad", "derad")),
    *(("ra_rad", "dec_rad"), ("alpha", "delta"), ("right_ascension", "declination")),
)
"""Usual names of right ascension and declination, in lower case; the first that are there are meant."""


class _Attribute(Protocol):
    @property
    def unit(self) -> str: ...
    @property
    def ucd(self) -> str: ...


A = TypeVar("A", bound=_Attribute)


def positions(schema: Mapping[str, A], on: Iterable[str] | None = None) -> tuple[A, A]:
    """Return the attributes that hold right ascension and declination.

    Parameters
    ----------
    schema
        Attributes by name.
    on
        The names of both. Without them, attributes with the UCDs ``pos.eq.ra;meta.main`` and ``pos.eq.dec;meta.main``
        are meant; then those with usual names, ``ra`` and ``dec`` first; then the only ones with the UCDs
        ``pos.eq.ra`` and ``pos.eq.dec``.

    Raises
    ------
    DefinitionError
        If there are no such attributes, or several, or not two names.
    AttributeNotFoundError
        If there is no attribute of a name.
    """
    if on is not None:
        names = (on,) if isinstance(on, str) else tuple(on)
        if len(names) != 2:
            raise DefinitionError(f"a position is two attributes, not {names!r}", hint='say which: on=("ra", "dec")')
        return _named(schema, names[0]), _named(schema, names[1])
    found = _by_ucd(schema, main=True) or _by_name(schema) or _by_ucd(schema, main=False)
    if found is None:
        known = ", ".join(list(schema)[:20])
        raise DefinitionError(
            f"it is not known which attributes tell the position on the sky, of {known}",
            hint='say which: on=("ra", "dec")',
        )
    return found


def angle_unit(attribute: _Attribute) -> str:
    """Return the unit of an attribute that holds an angle, as `DEGREES` has it; without a unit it is in degrees.

    Raises
    ------
    DefinitionError
        If it is no unit of an angle.
    """
    unit = _SAME.get(attribute.unit.strip().lower(), attribute.unit.strip().lower())
    if unit not in DEGREES:
        raise DefinitionError(
            f"a position in {attribute.unit} is not understood",
            hint="degrees, radians, hours, arcmin, arcsec and mas are",
        )
    return unit


def _named(schema: Mapping[str, A], name: str) -> A:
    matches = [one for one in schema if one == name] or [one for one in schema if one.lower() == str(name).lower()]
    if len(matches) != 1:
        raise AttributeNotFoundError(name, schema, matches)
    return schema[matches[0]]


def _by_ucd(schema: Mapping[str, A], *, main: bool) -> tuple[A, A] | None:
    found: list[A] = []
    for word in ("pos.eq.ra", "pos.eq.dec"):
        said = {name: one.ucd.lower().replace(" ", "").split(";") for name, one in schema.items()}
        there = [name for name, words in said.items() if words[0] == word and (not main or "meta.main" in words)]
        if len(there) != 1:
            return None
        found.append(schema[there[0]])
    return found[0], found[1]


def _by_name(schema: Mapping[str, A]) -> tuple[A, A] | None:
    lower: dict[str, list[str]] = {}
    for name in schema:
        lower.setdefault(name.lower(), []).append(name)
    for names in _NAMES:
        there = [lower.get(name, []) for name in names]
        if all(len(one) == 1 for one in there):
            return schema[there[0][0]], schema[there[1][0]]
    return None
