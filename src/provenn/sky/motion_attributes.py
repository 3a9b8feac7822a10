"""Find the attributes that hold the motion of a source: proper motions, parallax, radial velocity, epoch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

__all__ = ["find_epoch_attribute", "find_motion_attributes"]

_PROPER_MOTIONS = (("pmra", "pmdec"), ("pmra", "pmde"), ("pm_ra", "pm_dec"), ("pm_ra", "pm_de"))
_PARALLAXES = ("parallax", "plx")
_VELOCITIES = ("radial_velocity", "rv", "hrv")
_EPOCHS = ("ref_epoch", "epoch")


class _Attribute(Protocol):
    @property
    def ucd(self) -> str: ...


A = TypeVar("A", bound=_Attribute)


def find_motion_attributes(schema: Mapping[str, A]) -> tuple[A, ...]:
    """Return the attributes with the motion of a source: none, two proper motions, or these, parallax and velocity.

    An attribute is found by its UCD (``pos.pm;pos.eq.ra``, ``pos.pm;pos.eq.dec``, ``pos.parallax.trig``,
    ``spect.dopplerVeloc``), or else by a usual name, such as ``pmra`` and ``pmdec``.
    """
    motions = [_find_by_ucd(schema, "pos.pm", axis) for axis in ("pos.eq.ra", "pos.eq.dec")]
    if None in motions:
        pairs = ([_find_by_name(schema, [name]) for name in names] for names in _PROPER_MOTIONS)
        motions = next((pair for pair in pairs if None not in pair), [])
    if not motions:
        return ()
    parallax = _find_by_ucd(schema, "pos.parallax") or _find_by_name(schema, _PARALLAXES)
    velocity = _find_by_ucd(schema, "spect.dopplerveloc") or _find_by_name(schema, _VELOCITIES)
    radial = [] if parallax is None or velocity is None else [parallax, velocity]
    return tuple(attribute for attribute in (*motions, *radial) if attribute is not None)


def find_epoch_attribute(schema: Mapping[str, A]) -> A | None:
    """Return the attribute with the epoch of positions, by the UCD ``time.epoch`` or a usual name; None without."""
    return (
        _find_by_ucd(schema, "meta.ref", "time.epoch")
        or _find_by_ucd(schema, "time.epoch")
        or _find_by_name(schema, _EPOCHS)
    )


def _find_by_ucd(schema: Mapping[str, A], first: str, second: str = "") -> A | None:
    """Return the only attribute whose UCD begins with a word, or a word below it, and has a second word."""
    matches = []
    for attribute in schema.values():
        words = attribute.ucd.lower().replace(" ", "").split(";")
        if (words[0] == first or words[0].startswith(f"{first}.")) and (not second or second in words[1:]):
            matches.append(attribute)
    return matches[0] if len(matches) == 1 else None


def _find_by_name(schema: Mapping[str, A], names: tuple[str, ...] | list[str]) -> A | None:
    """Return the attribute with the first of some names that occurs once, in upper or lower case."""
    for usual in names:
        matches = [name for name in schema if name.lower() == usual]
        if len(matches) == 1:
            return schema[matches[0]]
    return None
