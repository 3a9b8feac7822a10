"""Projections of the sky to a plane: the whole sky (Aitoff), or the part around a centre (Lambert's equal areas).

East is to the left, as on the sky. The whole sky is centred at a right ascension of 180 degrees, so that right
ascension grows from right to left without a break.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["SkyView"]

Numbers = NDArray[np.float64]

_MIDDLE = 180.0
_BESIDE = 60.0
_STEPS = (30.0, 15.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


@dataclass(frozen=True, slots=True)
class SkyView:
    """What a map shows.

    Parameters
    ----------
    ra, dec, radius
        The centre and the radius of the part of the sky, in degrees; a radius of None for the whole sky.
    """

    ra: float = _MIDDLE
    dec: float = 0.0
    radius: float | None = None

    @property
    def width(self) -> float:
        """The width of the map in pixels."""
        return 720.0 if self.radius is None else 480.0

    @property
    def height(self) -> float:
        """The height of the map in pixels."""
        return 360.0 if self.radius is None else 480.0

    def project(self, ra: Numbers, dec: Numbers, about: Numbers | float | None = None) -> tuple[Numbers, Numbers]:
        """Return the place of points on the map, in pixels; NaN if a point is behind a part of the sky.

        Parameters
        ----------
        ra, dec
            The points, in degrees.
        about
            Right ascensions near the points: on the map of the whole sky, a point is drawn on the same side of the
            edge as these. By default each point is drawn where it is.
        """
        if self.radius is not None:
            return self._project_part(ra, dec)
        near = np.mod(ra, 360) if about is None else about + (np.mod(ra - about + 180, 360) - 180)
        lon = near - _MIDDLE
        half, lat = np.radians(np.clip(lon, -180, 180)) / 2, np.radians(dec)
        alpha = np.arccos(np.clip(np.cos(lat) * np.cos(half), -1, 1))
        stretch = 1 / np.sinc(alpha / np.pi)
        x, y = 2 * np.cos(lat) * np.sin(half) * stretch, np.sin(lat) * stretch
        return self.width / 2 * (1 - x / np.pi), self.height / 2 * (1 - y / (np.pi / 2))

    def _project_part(self, ra: Numbers, dec: Numbers) -> tuple[Numbers, Numbers]:
        lon, lat, middle = np.radians(ra - self.ra), np.radians(dec), np.radians(self.dec)
        ahead = np.sin(middle) * np.sin(lat) + np.cos(middle) * np.cos(lat) * np.cos(lon)
        stretch = np.sqrt(2 / np.where(ahead > -0.9, 1 + ahead, np.nan))
        x = stretch * np.cos(lat) * np.sin(lon)
        y = stretch * (np.cos(middle) * np.sin(lat) - np.sin(middle) * np.cos(lat) * np.cos(lon))
        scale = self.width / 2 / (2 * np.sin(np.radians(min(self.radius or 180.0, 150.0)) / 2))
        return self.width / 2 - x * scale, self.height / 2 - y * scale

    @property
    def step(self) -> float:
        """The distance of lines of the graticule, in degrees."""
        if self.radius is None:
            return 30.0
        return next((step for step in _STEPS if self.radius >= 2 * step), _STEPS[-1])

    @property
    def _reach(self) -> float:
        """The distance from the centre to a corner, in degrees."""
        if self.radius is None:
            return 180.0
        return float(np.degrees(2 * np.arcsin(min(1.0, np.sqrt(2) * np.sin(np.radians(min(self.radius, 150.0)) / 2)))))

    def find_pole(self) -> tuple[float, float] | None:
        """Return the place of a pole of the sky, if it lies on or beside the map of a part of the sky."""
        if self.radius is None:
            return None
        for dec in (90.0, -90.0):
            if abs(dec - self.dec) < 90:
                x, y = (float(value[0]) for value in self.project(np.array([self.ra]), np.array([dec])))
                if -_BESIDE < x < self.width + _BESIDE and -_BESIDE < y < self.height + _BESIDE:
                    return x, y
        return None

    def graticule(self) -> Iterator[tuple[str, Numbers, Numbers]]:
        """Yield lines of equal right ascension and of equal declination, each with its label."""
        step, reach = self.step, self._reach
        low, high = max(-90.0, self.dec - reach), min(90.0, self.dec + reach)
        breadth = 360.0
        if high < 90 and low > -90:
            breadth = 2 * float(np.degrees(np.arcsin(np.sin(np.radians(reach)) / np.cos(np.radians(self.dec)))))
        west = self.ra - breadth / 2
        along = np.linspace(0, 1, 61)
        step_ra = next((wide for wide in reversed(_STEPS) if wide >= step and breadth <= 12 * wide), _STEPS[0])
        is_round = breadth == 360 and self.radius is not None  # the first line and the last would be the same
        end = west + breadth + (-1e-9 if is_round else 1e-9)
        for ra in np.arange(np.ceil(west / step_ra - 1e-9) * step_ra, end, step_ra):
            dec = low + along * (high - low)
            yield f"{round(float(ra), 6) % 360:g}°", np.full(len(along), ra), np.clip(dec, -89.99999, 89.99999)
        for dec in np.arange(np.ceil(low / step) * step, high + 1e-9, step):
            if abs(dec) < 90:
                yield f"{dec:+g}°" if dec else "0°", west + along * breadth * (1 - 1e-9), np.full(len(along), dec)
