"""Base catalogs of several populations, without files: objects, detections that refer to them, exposures, galaxies."""

from tests.catalogs.samples import base

__all__ = ["CURVES", "DETECTIONS", "EXPOSURES", "GALAXIES", "OBJECTS"]

OBJECTS = base(
    "objects", {"hip": "bigint", "vmag": "double", "gal": "bigint", "parent": "bigint"}, key="hip", population="object"
)
DETECTIONS = base(
    "detections",
    {"id": "bigint", "objid": "bigint", "mag": "double", "night": "int", "ccd": "int", "seen": "timestamp"},
    key="id",
    population="detection",
    units={"mag": "mag"},
)
EXPOSURES = base(
    "exposures", {"night": "int", "ccd": "int", "seeing": "double"}, key=("night", "ccd"), population="exposure"
)
GALAXIES = base("galaxies", {"gid": "bigint", "z": "double"}, key="gid", population="galaxy")
CURVES = base(
    "curves",
    {"hip": "bigint", "mags": "array<double>", "times": "array<int>", "points": "array<struct<u:int,v:double>>"},
    key="hip",
    population="object",
)
