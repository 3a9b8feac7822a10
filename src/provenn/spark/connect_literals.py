"""Constants of plans of Spark Connect, as SQL with exactly their type and value."""

from __future__ import annotations

from typing import Any, Final

from provenn.errors import QueryError
from provenn.spark.plan_reading_literals import write_value

__all__ = ["write_connect_literal"]

_KINDS: Final = {
    "boolean": "boolean",
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
}
_DAY: Final = 24 * 60 * 60 * 10**6


def write_connect_literal(literal: Any) -> str:  # noqa: ANN401 - a message of Connect
    """Return the SQL of a literal.

    Raises
    ------
    QueryError
        If the value has no exact form in SQL.
    """
    kind = literal.WhichOneof("literal_type")
    if kind == "null":
        return write_value(_read_null_type(literal.null), None)
    value = getattr(literal, kind)
    if kind in _KINDS:
        return write_value(_KINDS[kind], value)
    if kind == "decimal":
        return write_value(_find_decimal_type(value), value.value)
    if kind == "year_month_interval":
        return write_value("interval month", value)
    if kind == "day_time_interval" and value % _DAY == 0:
        return write_value("interval day", value)
    raise QueryError(f"a constant of the type {kind} is not supported", hint="make it from simple constants")


def _read_null_type(message: Any) -> str:  # noqa: ANN401 - see above
    from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type  # noqa: PLC0415 - needs gRPC

    return proto_schema_to_pyspark_data_type(message).simpleString()


def _find_decimal_type(message: Any) -> str:  # noqa: ANN401 - see above
    """Return the type of a decimal: the server keeps all digits, whatever type the message states."""
    whole, _, fraction = message.value.lstrip("-").partition(".")
    if not (whole + fraction).isdecimal():
        raise QueryError(f"the decimal {message.value} is not supported", hint="write all its digits")
    scale = max(len(fraction), message.scale if message.HasField("scale") else 0)
    own = len((whole + fraction).lstrip("0")) or 1
    precision = max(own, scale, message.precision if message.HasField("precision") else 0)
    return f"decimal({precision},{scale})"
