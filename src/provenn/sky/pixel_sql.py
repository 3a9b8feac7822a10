"""SQL of Spark for the number of the HEALPix cell that contains a position, in the nested scheme."""

from __future__ import annotations

from provenn.sky.cells import DEEPEST
from provenn.sky.region_conditions import cell_key_sql

__all__ = ["DEEPEST", "pixel_number_sql"]


def pixel_number_sql(order: int, ra: str, dec: str) -> str:
    """Return SQL for the number of the cell of an order that contains a position; NULL where there is no position.

    It is the SQL of `Cells.compute_numbers`. Lambdas bind the position and the place of its cell, so that each occurs
    once in the text.

    Parameters
    ----------
    order
        The order, from 0 to `DEEPEST`.
    ra, dec
        SQL for the coordinates, doubles in degrees.
    """
    width = 5 << order
    i, j = f"(k div {width}L)", f"(k % {width}L)"
    above, across = f"shiftright({i}, {order})", f"shiftright({j}, {order})"
    polar = f"WHEN {above} > {across} THEN {across} ELSE {above} + 8L"
    face = f"CASE WHEN {above} = {across} THEN {above} % 4L + 4L {polar} END"
    number = f"shiftleft({face}, {2 * order})"
    if order:
        even = f"shiftleft(shiftright({i}, b) & 1L, 2 * b)"
        odd = f"shiftleft(1L - (shiftright({j}, b) & 1L), 2 * b + 1)"
        number += f" + aggregate(sequence(0, {order - 1}), 0L, (n, b) -> n + {even} + {odd})"
    numbered = f"get(transform(array({cell_key_sql(order, 'p.r', 'p.d')}), k -> {number}), 0)"
    has_position = "abs(p.d) <= 90.0D AND abs(p.r) < CAST('Infinity' AS DOUBLE)"
    positions = f"array(named_struct('r', {ra}, 'd', {dec}))"
    return f"get(transform({positions}, p -> CASE WHEN {has_position} THEN {numbered} END), 0)"
