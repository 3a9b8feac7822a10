"""Coverage maps of real size, made by mocpy: a survey's rectangle, a mask of bright stars."""

from functools import cache

import astropy.units as u
import numpy as np
from astropy.coordinates import Latitude, Longitude, SkyCoord
from mocpy import MOC

__all__ = ["bright_star_mask", "random_coverage", "survey_rectangle"]


@cache
def survey_rectangle(order: int) -> MOC:
    """A rectangle of 420 square degrees, and what its cells reach beyond: along the equator, as deep surveys lie."""
    return MOC.from_zone(SkyCoord([[5, -1], [215, 1]], unit="deg"), max_depth=order)


@cache
def bright_star_mask(stars: int = 12_000, order: int = 12) -> MOC:
    """Small discs around stars all over the sky: more than 100 000 cells."""
    random = np.random.default_rng(12)
    ra, dec = random.uniform(0, 360, stars), np.degrees(np.arcsin(random.uniform(-1, 1, stars)))
    lon, lat = Longitude(ra, u.deg), Latitude(dec, u.deg)
    return MOC.from_cones(
        lon, lat, radius=random.uniform(0.02, 0.05, stars) * u.deg, max_depth=order, union_strategy="small_cones"
    )


def random_coverage(random: np.random.Generator, order: int = 7) -> MOC:
    """Cells of many sizes within a few degrees, most of them small."""
    orders = random.integers(3, order + 1, 60).astype(np.uint8)
    base = random.integers(0, 12 * 4**3)
    numbers = np.array(
        [(base << 2 * (int(item) - 3)) + random.integers(0, 4 ** (int(item) - 3)) for item in orders], np.uint64
    )
    return MOC.from_healpix_cells(numbers, orders, max_depth=order)
