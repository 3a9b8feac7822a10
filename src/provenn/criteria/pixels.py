"""The number of the HEALPix cell that contains a position, ``healpix_index(8, ra, dec)``."""

from __future__ import annotations

from provenn.criteria.conversions import convert_arguments
from provenn.criteria.nodes import Call, Constant, Node, Nulls
from provenn.criteria.refusal import Refusal
from provenn.criteria.regions import read_coordinate
from provenn.criteria.types import BIGINT, INT
from provenn.sky.cells import DEEPEST

__all__ = ["PIXEL_NUMBER", "build_pixel_number"]

PIXEL_NUMBER = "healpix_index"
"""The name of the function."""


def build_pixel_number(order: Node, ra: Node, dec: Node) -> Node:
    """Return the number of the cell of an order that contains a position; NULL without a position."""
    key = order.key if isinstance(order, Constant) and order.type == INT else None
    if not isinstance(key, int) or not 0 <= key <= DEEPEST:
        raise Refusal(f"{PIXEL_NUMBER}() takes an order here: a constant from 0 to {DEEPEST}")
    position = [read_coordinate(PIXEL_NUMBER, node) for node in convert_arguments(PIXEL_NUMBER, [ra, dec])]
    return Call(PIXEL_NUMBER, (order, *position), BIGINT, Nulls.ANY_OR_FAILED)
