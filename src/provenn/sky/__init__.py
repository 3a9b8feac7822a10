"""Positions and regions on the sky: as values, as sets, and as SQL. This package knows no catalogs."""

from provenn.sky.boxes import Box, box
from provenn.sky.calls import FUNCTIONS, abridged, criterion_on, is_text, read_call, region_of, split_position
from provenn.sky.combinations import find_combinations
from provenn.sky.cones import Cone, cone
from provenn.sky.coverings import covering, meeting
from provenn.sky.extremes import Arc, Extremes, find_extremes
from provenn.sky.mocs import Moc, moc
from provenn.sky.polygons import Polygon, polygon
from provenn.sky.region import Region
from provenn.sky.relations import RegionRelation, apart, is_divided, is_far, is_inside, relation, within
from provenn.sky.sql import region_sql
from provenn.sky.union_sql import can_be_united, union_sql

__all__ = [
    "FUNCTIONS",
    "Arc",
    "Box",
    "Cone",
    "Extremes",
    "Moc",
    "Polygon",
    "Region",
    "RegionRelation",
    "abridged",
    "apart",
    "box",
    "can_be_united",
    "cone",
    "covering",
    "criterion_on",
    "find_combinations",
    "find_extremes",
    "is_divided",
    "is_far",
    "is_inside",
    "is_text",
    "meeting",
    "moc",
    "polygon",
    "read_call",
    "region_of",
    "region_sql",
    "relation",
    "split_position",
    "union_sql",
    "within",
]
