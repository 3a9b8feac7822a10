"""A sky full of difficult places: poles, right ascension 0, corners of pixels, and a crowded field."""

from pathlib import Path

import cdshealpix
import numpy as np
import pyarrow as pa
from astropy.coordinates import Latitude, Longitude
from pyarrow import parquet

__all__ = ["measure_distance", "write_sky"]

_CORNER = np.degrees(np.arcsin(2 / 3))


def write_sky(path: Path, rows: int, seed: int, first: int = 0) -> pa.Table:
    """Write random positions, a tenth of them in a crowded field, and difficult ones before all."""
    random = np.random.default_rng(seed)
    ra, dec = random.uniform(0, 360, rows), np.degrees(np.arcsin(random.uniform(-1, 1, rows)))
    crowded = rows // 10
    ra[-crowded:], dec[-crowded:] = 45 + random.normal(0, 0.5, crowded), random.normal(0, 0.5, crowded)
    odd_ra = [0.0, 360.0, 359.9999999999, 0.0, 90.0, 45.0, 180.0, 123.0, 45.0, 44.9999999, -0.0, -10.0]
    odd_dec = [90.0, -90.0, 0.0, _CORNER, -_CORNER, 0.0, 89.999999, -89.999999, 1e-12, -1e-12, -0.0, 20.0]
    ra[: len(odd_ra)], dec[: len(odd_dec)] = odd_ra, odd_dec
    numbers = np.arange(first, first + rows)
    fields = [
        pa.field("id", pa.int64(), metadata={"ucd": "meta.id;meta.main"}),
        pa.field("ra", pa.float64(), metadata={"unit": "deg", "ucd": "pos.eq.ra;meta.main"}),
        pa.field("dec", pa.float64(), metadata={"unit": "deg", "ucd": "pos.eq.dec;meta.main"}),
        pa.field("mag", pa.float64(), metadata={"unit": "mag", "description": "brightness"}),
        pa.field("name", pa.string()),
    ]
    mag = pa.array(random.normal(15, 2, rows), mask=numbers % 7 == 0)
    names = pa.array([f"star {number}" for number in numbers], mask=numbers % 11 == 0)
    table = pa.table([pa.array(numbers), pa.array(ra), pa.array(dec), mag, names], pa.schema(fields))
    parquet.write_table(table, path)
    return table


def measure_distance(order: int, number: int, ra: np.ndarray, dec: np.ndarray) -> np.ndarray:
    """Return the distance of positions from a pixel in arcseconds, by many points of its border; 0 inside."""
    lon, lat = cdshealpix.nested.vertices(np.array([number], np.uint64), order, step=4000)
    border = _make_vectors(lon.deg.ravel(), lat.deg.ravel())
    places = _make_vectors(ra, dec)
    nearest = np.array([np.argmax(border @ place) for place in places])
    chords = np.linalg.norm(places - border[nearest], axis=1)
    inside = cdshealpix.nested.lonlat_to_healpix(Longitude(ra % 360, "deg"), Latitude(dec, "deg"), order) == number
    return np.where(inside, 0, np.degrees(2 * np.arcsin(chords / 2)) * 3600)


def _make_vectors(ra: np.ndarray, dec: np.ndarray) -> np.ndarray:
    lon, lat = np.radians(ra), np.radians(dec)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
