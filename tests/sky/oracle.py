"""What astropy, mocpy and the angles at a position say of regions: nothing of ours is used to find it."""

import math

import astropy.units as u
import numpy as np
from astropy.coordinates import angular_separation
from mocpy import MOC

from provenn.sky import Box, Cone, Moc, Polygon
from tests.sky.strategies import SPECIAL_DEC, SPECIAL_RA, around

CLOSE = 1e-10


def positions(region, random):
    """Positions all over the sky, in and around a region, beyond RA 0 and 360, at the poles."""
    ra, dec = random.uniform(0, 360, 300), np.degrees(np.arcsin(random.uniform(-1, 1, 300)))
    lon, lat, radius = centre(region)
    distance = radius * np.concatenate([random.uniform(0, 1.5, 300), 1 + np.array([-1e-9, 1e-9, -1e-6, 1e-6])])
    near = around(lon, lat, np.minimum(distance, 180), random.uniform(0, 2 * np.pi, len(distance)))
    special = [(item, other) for item in SPECIAL_RA for other in SPECIAL_DEC]
    result = np.array([*zip(ra, dec, strict=True), *near, *special])
    result[::7, 0] += 360
    result[::11, 0] -= 720
    return result


def centre(region):
    x, y, z = region.cap.centre
    return math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y))), region.cap.radius


def expected(region, ra, dec):
    """What others say: TRUE, FALSE, or None where they are too close to a border to tell."""
    lon = np.mod(ra, 360)
    match region:
        case Cone():
            away = separations(region.ra, region.dec, lon, dec) - region.radius
            return told(away <= 0, np.abs(away) if region.radius < 180 else np.inf)
        case Box():
            after, before = lon >= region.ra_from, lon <= region.ra_to
            beside = after & before if region.ra_from < region.ra_to else after | before
            return told(beside & (dec >= region.dec_from) & (dec <= region.dec_to), np.inf)
        case Polygon():
            return in_polygon(region, lon, dec)
        case Moc():
            return in_moc(region, lon, dec)


def told(inside, far):
    return [bool(item) if sure else None for item, sure in np.broadcast(inside, np.asarray(far) > CLOSE)]


def separations(ra, dec, lon, lat):
    return angular_separation(ra * u.deg, dec * u.deg, lon * u.deg, lat * u.deg).to_value("deg")


def in_polygon(region, lon, lat):
    """How often the vertices go around each position, seen from there."""
    corner_ra, corner_dec = (np.radians(item) for item in zip(*region.vertices, strict=True))
    lon_, lat_ = np.radians(lon)[:, None], np.radians(lat)[:, None]
    bearing = np.arctan2(
        np.sin(corner_ra - lon_) * np.cos(corner_dec),
        np.cos(lat_) * np.sin(corner_dec) - np.sin(lat_) * np.cos(corner_dec) * np.cos(corner_ra - lon_),
    )
    turns = np.roll(bearing, -1, axis=1) - bearing
    turns = np.mod(turns + np.pi, 2 * np.pi) - np.pi
    around_it = np.abs(turns.sum(axis=1)) > np.pi
    ra, dec, _ = centre(region)
    unsure = (np.abs(np.abs(turns) - np.pi) < 1e-5).any(axis=1)  # a side is seen edge on
    return told(around_it & (separations(ra, dec, lon, lat) < 90), np.where(unsure, 0, np.inf))


def in_moc(region, lon, lat):
    result = MOC.from_str(region.text)
    shifted = [
        result.contains_lonlat(lon * u.deg + item * u.deg, np.clip(lat + other, -90, 90) * u.deg)
        for item in (-1e-9, 0, 1e-9)
        for other in (-1e-9, 0, 1e-9)
    ]
    return told(shifted[4], np.where(np.all(shifted, axis=0) | ~np.any(shifted, axis=0), np.inf, 0))
