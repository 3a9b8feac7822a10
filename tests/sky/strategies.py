"""Regions drawn at random, of all kinds and sizes, with the poles, RA 0/360 and neighbours of each other favoured."""

import numpy as np
from hypothesis import strategies as st

from provenn.errors import RegionError
from provenn.sky import box, cone, moc, polygon

SPECIAL_RA = [0.0, 360.0, 45.0, 90.0, 180.0, 270.0, 359.999, 0.001]
SPECIAL_DEC = [90.0, -90.0, 0.0, 89.99, -89.99, 41.810314895778596, -41.810314895778596]
right_ascensions = st.sampled_from(SPECIAL_RA) | st.floats(0, 360)
declinations = st.sampled_from(SPECIAL_DEC) | st.floats(-90, 90)
sizes = st.sampled_from([1 / 3600, 0.01, 1.0, 10.0, 45.0]) | st.floats(-4, 1.7).map(lambda power: 10.0**power)


@st.composite
def cones(draw):
    radius = draw(sizes | st.sampled_from([90.0, 120.0, 179.9999, 180.0]))
    return cone(draw(right_ascensions), draw(declinations), radius)


@st.composite
def boxes(draw):
    start, low = draw(right_ascensions), draw(declinations)
    if draw(st.booleans()):
        end, high = draw(right_ascensions), draw(declinations)
    else:
        end, high = (start + draw(sizes)) % 360, min(90.0, low + draw(sizes))
    if draw(st.integers(0, 5)) == 0:
        start, end = 0.0, 360.0
    try:
        return box(start, end, min(low, high), max(low, high))
    except RegionError:  # without extent
        return box(start % 359, start % 359 + 1, -10, 10)


@st.composite
def polygons(draw):
    """A star around a point, convex or not: radii at sorted angles never cross."""
    ra, dec, size = draw(right_ascensions), draw(declinations), min(draw(sizes), 45.0)
    count = draw(st.integers(3, 9))
    radii = draw(st.lists(st.floats(0.3, 1), min_size=count, max_size=count))
    turn = draw(st.floats(0, 1))
    angles = 2 * np.pi * (np.arange(count) + turn) / count
    return polygon(around(ra, dec, size * np.array(radii), angles))


def around(ra, dec, distance, angle):
    """Return the positions at some distances from a point, in some directions, all in degrees but the directions."""
    lon, lat, far = np.radians(ra), np.radians(dec), np.radians(distance)[:, None]
    centre = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    north = np.array([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])
    east = np.array([-np.sin(lon), np.cos(lon), 0])
    aside = np.cos(angle)[:, None] * north + np.sin(angle)[:, None] * east
    x, y, z = (np.cos(far) * centre + np.sin(far) * aside).T
    result = np.mod(np.degrees(np.arctan2(y, x)), 360), np.degrees(np.arctan2(z, np.hypot(x, y)))
    return list(zip(*(item.tolist() for item in result), strict=True))


@st.composite
def mocs(draw):
    parts = []
    for order in draw(st.lists(st.integers(0, 12), min_size=1, max_size=4)):
        first = draw(st.integers(0, 12 * 4**order - 1))
        last = min(first + draw(st.integers(0, 20)), 12 * 4**order - 1)
        parts.append(f"{order}/{first}-{last}")
    return moc(" ".join(parts))


regions = cones() | boxes() | polygons() | mocs()
