"""Replace functions that fail on some values in Spark, or depend on the machine, by other SQL.

Spark's ``lower`` and ``upper`` map non-ASCII characters by the language of its Java: ``lower('İ')`` differs in Turkey.
For texts with a collation, Spark uses the language of the collation, and UNICODE has no language.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenn.criteria.literals import write_literal
from provenn.criteria.moments import (
    reads_moment,
    write_fixed_text,
    write_truncated_quarter,
    write_truncated_time,
    write_year_of_dates,
)
from provenn.criteria.nodes import Call
from provenn.criteria.types import INTEGRAL

__all__ = ["write_spark_form"]


def write_spark_form(call: Call, operands: Sequence[str]) -> str | None:
    """Return replacement SQL for a call that Spark must not evaluate directly, or None.

    Each operand occurs once in the SQL, so that the text does not grow with nesting.

    Parameters
    ----------
    call
        The call.
    operands
        The arguments as SQL, in parentheses where needed.
    """
    from provenn.sky.pixel_sql import pixel_number_sql  # noqa: PLC0415 - a command starts without it

    kind = str(call.type).upper()
    match call.operator, operands:
        case "cast", [text] if reads_moment(call):
            return f"TRY_CAST({write_fixed_text(call, text)} AS {kind})"
        case "make_date", [year, *rest]:
            return f"make_date({', '.join([write_year_of_dates(year), *rest])})"
        case "size", [whole]:
            # Spark's size of NULL is -1, depending on a setting.
            return (
                f"array_size(map_keys({whole}))"
                if call.arguments[0].type.name.startswith("map<")
                else f"array_size({whole})"
            )
        case "trunc", [day, unit] if unit.lower() == "'quarter'":
            return write_truncated_quarter(day, unit)
        case "date_trunc", [unit, time]:
            return write_truncated_time(unit, time)
        case "healpix_index", [order, ra, dec]:
            return pixel_number_sql(int(order), ra, dec)
        case "lower" | "upper" as function, [text]:
            return _write_case_change(function, text)
        case "ilike", [text, pattern, *escape]:
            # As in Spark, but independent of the language: both sides in lower case.
            ending = f" ESCAPE {escape[0]}" if escape else ""
            return f"({_write_case_change('lower', text)} LIKE {_write_case_change('lower', pattern)}{ending})"
        case "-", [number] if call.type in INTEGRAL:
            return f"try_subtract({write_literal(call.type, 0)}, {number})"
        case "abs", [number] if call.type in INTEGRAL:
            # The lowest integer has no absolute value of its type.
            return f"TRY_CAST(abs(CAST({number} AS DECIMAL(20,0))) AS {kind})"
    return None


def _write_case_change(function: str, text: str) -> str:
    """Return SQL for lower or upper that does not depend on the language."""
    return f"({function}({text} COLLATE UNICODE) COLLATE UTF8_BINARY)"
