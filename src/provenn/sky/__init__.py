"""Positions and regions on the sky: as values, as sets, and as SQL. This package knows no catalogs."""

from typing import TYPE_CHECKING

from provenn.offered_names import offer_names

if TYPE_CHECKING:
    from provenn.sky.boxes import Box, box
    from provenn.sky.call_forms import FUNCTIONS, abridged
    from provenn.sky.calls import criterion_on, is_text, read_call, region_of, split_position
    from provenn.sky.combinations import find_combinations
    from provenn.sky.cones import Cone, cone
    from provenn.sky.coverings import covering, meeting
    from provenn.sky.extremes import Arc, Extremes, find_extremes
    from provenn.sky.mocs import Moc, moc, read_moc_text
    from provenn.sky.polygons import Polygon, polygon
    from provenn.sky.region import Region
    from provenn.sky.region_conditions import region_sql
    from provenn.sky.relations import RegionRelation, apart, is_divided, is_far, is_inside, relation, within
    from provenn.sky.united_regions import can_be_united, union_sql

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
    "read_moc_text",
    "region_of",
    "region_sql",
    "relation",
    "split_position",
    "union_sql",
    "within",
]

__getattr__, __dir__ = offer_names(
    __name__,
    {
        "provenn.sky.boxes": "Box box",
        "provenn.sky.call_forms": "FUNCTIONS abridged",
        "provenn.sky.calls": "criterion_on is_text read_call region_of split_position",
        "provenn.sky.combinations": "find_combinations",
        "provenn.sky.cones": "Cone cone",
        "provenn.sky.coverings": "covering meeting",
        "provenn.sky.extremes": "Arc Extremes find_extremes",
        "provenn.sky.mocs": "Moc moc read_moc_text",
        "provenn.sky.polygons": "Polygon polygon",
        "provenn.sky.region": "Region",
        "provenn.sky.region_conditions": "region_sql",
        "provenn.sky.relations": "RegionRelation apart is_divided is_far is_inside relation within",
        "provenn.sky.united_regions": "can_be_united union_sql",
    },
)
