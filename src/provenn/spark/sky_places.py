"""Positions of rows on the sky: read from their columns, moved to a common epoch, and turned into ICRS."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from provenn.catalogs.match_rule import Coordinate
from provenn.catalogs.placements import QUANTITIES, Placement
from provenn.sky.frames import FRAMES
from provenn.sky.motions import MOTION_UNITS, write_motion, write_turn
from provenn.sky.positions import DEGREES
from provenn.sky.sexagesimal import TEXT_UNITS, write_text_angle
from provenn.spark.columns import quote_name

__all__ = ["place_rows"]

_PREFIX = "\x1fplace "
"""The prefix of columns of this module: names of attributes are printable, this prefix is not."""

_NAMES = re.compile(r"\b(?:alpha|delta|moved|east|north|away|years|speed\d|x|y|z)\b")
"""The names of columns in the formulas of `provenn.sky.motions`."""


def place_rows(
    frame: DataFrame,
    columns: Sequence[str],
    coordinates: tuple[Coordinate, Coordinate],
    placement: Placement,
    names: tuple[str, str],
) -> DataFrame:
    """Return columns of a frame, and right ascension and declination in degrees, of all rows with a position.

    Parameters
    ----------
    frame
        The rows.
    columns
        SQL for the columns to keep, with their names.
    coordinates
        The columns of the position, and their units.
    placement
        How positions become positions in ICRS at a common epoch.
    names
        The names of the new columns.
    """
    ra, dec = map(quote_name, names)
    longitude, latitude = map(_write_degrees, coordinates)
    speeds = _list_speeds(placement)
    positions = [f"pmod({longitude}, 360D) AS {ra}", f"{latitude} AS {dec}"]
    extra = [f"{text} AS {_hide(name)}" for name, text in speeds.items()]
    placed = frame.selectExpr(*columns, *positions, *extra).where(_write_has_position(ra, dec))
    stages = _list_stages(placement, ra, dec, speeds)
    if not stages:
        return placed
    kept = [name for name in placed.columns if name not in (*names, *(_PREFIX + speed for speed in speeds))]
    for stage in stages:
        replaced = {_PREFIX + name for name in stage}
        carried = [quote_name(name) for name in placed.columns if name not in replaced]
        placed = placed.selectExpr(*carried, *(f"{_hide_all(text)} AS {_hide(name)}" for name, text in stage.items()))
    x, y, z = map(_hide, "xyz")
    turned = {
        names[0]: f"pmod(degrees(atan2({y}, {x})), 360D)",
        names[1]: f"degrees(atan2({z}, sqrt({x} * {x} + {y} * {y})))",
    }
    if placement.frame == "icrs":  # a source that does not move keeps its position to the last bit
        stays = f"{_hide('east')} = 0D AND {_hide('north')} = 0D"
        turned = {name: f"IF({stays}, {quote_name(name)}, {text})" for name, text in turned.items()}
    final = placed.selectExpr(
        *map(quote_name, kept), *(f"{text} AS {quote_name(name)}" for name, text in turned.items())
    )
    return final.where(_write_has_position(ra, dec))


def _write_has_position(ra: str, dec: str) -> str:
    # NULL and NaN, which Spark orders after all numbers, fail these comparisons.
    return f"{dec} BETWEEN -90D AND 90D AND {ra} <= 360D"


def _write_degrees(coordinate: Coordinate) -> str:
    """Return SQL for a coordinate in degrees."""
    name, unit = coordinate
    if unit in TEXT_UNITS:
        return write_text_angle(quote_name(name), unit)
    number = f"CAST({quote_name(name)} AS DOUBLE)"
    return number if unit == "deg" else f"{number} * {DEGREES[unit]!r}D"


def _list_speeds(placement: Placement) -> dict[str, str]:
    """Return SQL for the speeds of a motion and its time, in radians, astronomical units and years, by name."""
    motion = placement.motion
    if motion is None:
        return {}
    speeds = {
        f"speed{number}": f"CAST({quote_name(name)} AS DOUBLE) * {MOTION_UNITS[quantity][unit]!r}D"
        for number, ((name, unit), quantity) in enumerate(zip(motion.columns, QUANTITIES, strict=False))
    }
    start = motion.start
    epoch = f"{start!r}D" if isinstance(start, float) else f"CAST({quote_name(start[0])} AS DOUBLE)"
    return speeds | {"years": f"{motion.end!r}D - {epoch}"}


def _list_stages(placement: Placement, ra: str, dec: str, speeds: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the stages of SQL from a position to a direction in ICRS; none if the position stays as it is."""
    matrix, motion = FRAMES[placement.frame], placement.motion
    if matrix is None and motion is None:
        return []
    numbers = [name for name in speeds if name != "years"] or ["0D", "0D"]
    stages = list(write_motion(ra, dec, numbers, "years" if motion is not None else "0D"))
    return stages if matrix is None else [*stages, write_turn(matrix)]


def _hide(name: str) -> str:
    return quote_name(_PREFIX + name)


def _hide_all(text: str) -> str:
    """Return SQL whose names of columns are those of this module; quoted names stay as they are."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _NAMES.sub(lambda name: _hide(name[0]), part) for part in parts)
