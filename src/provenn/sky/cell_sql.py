"""SQL of Spark for the number of the HEALPix cell that contains a position, in the nested scheme.

Plain expressions, so that the numbers are computed wherever Spark runs, without Python. The bits of two coordinates are
interleaved by reading the binary digits of a number as digits of base 4.
"""

from __future__ import annotations

from provenn.sky.cells import DEEPEST

__all__ = ["cell_number_sql", "has_position_sql"]


def has_position_sql(ra: str, dec: str) -> str:
    """Return SQL for whether coordinates in degrees are a position: never NULL, FALSE for NaN and infinities."""
    return f"coalesce(abs({ra}) < CAST('Infinity' AS DOUBLE) AND abs({dec}) <= 90.0D, FALSE)"


def cell_number_sql(key: str) -> str:
    """Return SQL for the number of a cell of the last order, given SQL of its key.

    Parameters
    ----------
    key
        A column with the value of `provenn.sky.region_conditions.cell_key_sql` for the last order.
    """
    side = 1 << DEEPEST
    i, j = f"({key} div {5 * side}L)", f"({key} % {5 * side}L)"
    above, across = f"shiftright({i}, {DEEPEST})", f"shiftright({j}, {DEEPEST})"
    outer = f"CASE WHEN {above} > {across} THEN {across} ELSE {above} + 8L END"
    face = f"CASE WHEN {above} = {across} THEN {above} % 4L + 4L ELSE {outer} END"
    even, odd = _spread_sql(f"{i} & {side - 1}L"), _spread_sql(f"{side - 1}L - ({j} & {side - 1}L)")
    return f"(shiftleft({face}, {2 * DEEPEST}) | {even} | shiftleft({odd}, 1))"


def _spread_sql(number: str) -> str:
    """Return SQL for a number with a zero between every two bits."""
    return f"CAST(conv(bin({number}), 4, 10) AS BIGINT)"
