"""Constants of Spark's expressions as SQL, with exactly their type and value."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import copysign, isfinite
from typing import Any

from sqlglot import exp

from provenn.errors import QueryError
from provenn.spark.plan_reading_json import JsonNode, read_type

__all__ = ["INTEGRAL", "write_literal", "write_value"]

INTEGRAL = ("tinyint", "smallint", "int", "bigint")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DAY = 24 * 60 * 60 * 10**6


def write_literal(node: JsonNode) -> str:
    """Return the SQL of a literal.

    Raises
    ------
    QueryError
        If the value has no exact form in SQL.
    """
    kind, value = read_type(node.fields["dataType"]), node.fields["value"]
    if kind == "date" and isinstance(value, str) and _DATE.fullmatch(value):
        value = (date.fromisoformat(value) - date(1970, 1, 1)).days
    elif value is not None and (kind.startswith(("timestamp", "date", "binary", "interval"))):
        value = node.java().value()  # in JSON, a moment is in the time zone of Java, and bytes are an address
    elif kind == "boolean" and value is not None:
        value = value == "true"
    return write_value(kind, value)


def write_value(kind: str, value: Any) -> str:  # noqa: ANN401 - a value of any type
    r"""Return the SQL of a value, as Spark holds it: days and microseconds for dates and moments.

    >>> write_value("int", -5), write_value("bigint", 5), write_value("decimal(3,2)", "1.50")
    ('-5', 'CAST(5 AS BIGINT)', '1.50')
    >>> print(write_value("date", 18262), write_value("string", "it's"))
    DATE '2020-01-01' 'it\'s'
    """
    if value is None:
        return "NULL" if kind == "void" else f"CAST(NULL AS {kind.upper()})"
    write = _WRITERS.get(kind.partition("(")[0])
    if write is None:
        raise QueryError(f"a constant of the type {kind} is not supported", hint="make it from simple constants")
    return write(kind, value)


def _write_integer(kind: str, value: Any) -> str:  # noqa: ANN401 - see above
    return str(int(value)) if kind == "int" else f"CAST({int(value)} AS {kind.upper()})"


def _write_float(kind: str, value: Any) -> str:  # noqa: ANN401
    number = float(value)
    if not isfinite(number) or (number == 0 and copysign(1, number) < 0):
        name = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(str(number), str(number))
        return f"CAST('{name}' AS {kind.upper()})"
    text = repr(number) if kind == "double" else str(value)
    return f"CAST({text} AS {kind.upper()})"


def _write_decimal(kind: str, value: Any) -> str:  # noqa: ANN401
    text = format(Decimal(str(value)), "f")
    digits = text.lstrip("-").replace(".", "").lstrip("0")
    scale = len(text.partition(".")[2])
    own_type = f"decimal({max(len(digits), scale)},{scale})"  # of this text in Spark
    return text if scale and kind == own_type else f"CAST({text} AS {kind.upper()})"


def _write_text(_: str, value: Any) -> str:  # noqa: ANN401
    return exp.Literal.string(str(value)).sql(dialect="spark")


def _write_boolean(_: str, value: Any) -> str:  # noqa: ANN401
    return "TRUE" if value else "FALSE"


def _write_binary(_: str, value: Any) -> str:  # noqa: ANN401
    return f"X'{bytes(value).hex()}'"


def _write_date(_: str, value: Any) -> str:  # noqa: ANN401
    try:
        return f"DATE '{(date(1970, 1, 1) + timedelta(days=int(value))).isoformat()}'"
    except OverflowError:
        raise QueryError(f"the date {value} days after 1970-01-01 is not supported") from None


def _write_moment(kind: str, value: Any) -> str:  # noqa: ANN401
    try:
        moment = _EPOCH + timedelta(microseconds=int(value))
    except OverflowError:
        raise QueryError(f"the moment {value} microseconds after 1970-01-01 is not supported") from None
    return f"{kind.upper()} '{moment.replace(tzinfo=None).isoformat(sep=' ')}'"


def _write_interval(kind: str, value: Any) -> str:  # noqa: ANN401
    units = {"interval month": ("MONTH", 1), "interval year": ("YEAR", 12), "interval day": ("DAY", _DAY)}
    unit, size = units.get(kind, ("", 1))
    if not unit or int(value) % size:
        raise QueryError(f"a constant of the type {kind} is not supported", hint="use months, years or days")
    return f"INTERVAL '{int(value) // size}' {unit}"


_WRITERS: dict[str, Callable[[str, Any], str]] = {
    **dict.fromkeys(INTEGRAL, _write_integer),
    **dict.fromkeys(("float", "double"), _write_float),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), _write_moment),
    **dict.fromkeys(("interval month", "interval year", "interval day"), _write_interval),
    "decimal": _write_decimal,
    "string": _write_text,
    "boolean": _write_boolean,
    "binary": _write_binary,
    "date": _write_date,
}
