"""The share of the sky that a region covers: for estimates, not for proofs."""

from __future__ import annotations

from math import cos, radians, sin

from provenn.sky.boxes import Box
from provenn.sky.cells import DEEPEST
from provenn.sky.mocs import Moc
from provenn.sky.region import Region

__all__ = ["measure_sky_share"]


def measure_sky_share(region: Region) -> float:
    """Return the share of the sky inside a region; for a polygon, the share of the smallest known circle around it.

    >>> from provenn.sky.cones import cone
    >>> round(measure_sky_share(cone(0, 0, 90)), 6)
    0.5
    """
    match region:
        case Box():
            heights = sin(radians(region.dec_to)) - sin(radians(region.dec_from))
            return region.breadth / 360 * heights / 2
        case Moc():
            ranges = region.ranges
            return float((ranges[..., 1] - ranges[..., 0]).sum()) / (12 << 2 * DEEPEST)
        case _:
            return (1 - cos(radians(min(region.cap.radius, 180.0)))) / 2
