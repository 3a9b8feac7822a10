"""What provenn does not read of a DataFrame's plan, and why: the classes of Spark, and the settings of its session."""

from __future__ import annotations

from typing import Any, Final

from provenn.errors import QueryError
from provenn.spark.plan_reading_json import JsonNode
from provenn.spark.settings import SETTINGS

__all__ = ["check_fields", "check_session", "check_zone", "is_same_without_ansi", "make_legacy_refusal", "make_refusal"]

_UDF = ("calls a function of the user", "register a calculator for it, and derive its attributes")
_RANDOM = ("is not deterministic", "to select a part of the sources, use sample() of a catalog")
_CLOCK = ("depends on the clock", "write the moment as a constant: DATE '2026-01-31'")
_PLACE = ("depends on how the data are stored or who runs the query", "use columns of the data")
_ARBITRARY = ("takes an arbitrary row or order", "use min(), max() or row_number() with a full ORDER BY")
_FUNCTION = ("calls a function on whole partitions or groups", "adopt the DataFrame that goes into the function")
_MEMORY = (
    "holds rows that a program made in memory",
    "write them to Parquet, or ingest them as a table of pandas",
)

_REFUSED: Final = {
    **dict.fromkeys(("PythonUDF", "PythonUDAF", "ScalaUDF", "ScalaAggregator", "ScalaUDAF", "HiveSimpleUDF"), _UDF),
    **dict.fromkeys(("HiveGenericUDF", "HiveUDAFFunction", "PythonUDTF"), _UDF),
    **dict.fromkeys(("Rand", "Randn", "RandStr", "Uniform", "Uuid", "Shuffle", "Sample"), _RANDOM),
    **dict.fromkeys(("CurrentDate", "CurrentTimestamp", "Now", "LocalTimestamp", "CurrentTime"), _CLOCK),
    **dict.fromkeys(("UnixTimestamp", "CurrentTimeZone"), _CLOCK),
    **dict.fromkeys(("InputFileName", "InputFileBlockStart", "InputFileBlockLength", "SparkPartitionID"), _PLACE),
    **dict.fromkeys(("MonotonicallyIncreasingID", "CurrentUser", "CurrentDatabase", "CurrentCatalog"), _PLACE),
    **dict.fromkeys(("First", "Last", "AnyValue", "CollectList", "CollectSet", "MaxBy", "MinBy", "Mode"), _ARBITRARY),
    **dict.fromkeys(("ListAgg", "Tail", "NthValue"), _ARBITRARY),
    **dict.fromkeys(("MapPartitions", "MapElements", "TypedFilter", "MapInPandas", "PythonMapInArrow"), _FUNCTION),
    **dict.fromkeys(("FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapCoGroupsInPandas"), _FUNCTION),
    **dict.fromkeys(("SerializeFromObject", "MapGroups", "FlatMapGroupsWithState"), _FUNCTION),
    **dict.fromkeys(("LogicalRDD", "ExternalRDD"), _MEMORY),
    "Deduplicate": (
        "keeps an arbitrary row of several that agree in some columns: dropDuplicates(subset)",
        "say which row to keep: row_number() OVER (PARTITION BY … ORDER BY …) = 1",
    ),
    "DataSourceV2ScanRelation": ("may apply conditions that the plan does not state", ""),
    "InMemoryRelation": ("was cached, and the plan does not state what it holds", ""),
    "InSet": ("compares with a list that the plan does not state", ""),
    "LateralJoin": ("is not supported", "write the lateral subquery as a join"),
}
"""Reasons and hints by the name of the class; a class that is not listed is merely unknown."""

HARMLESS: Final = frozenset({"ansiEnabled", "failOnError", "evalMode", "evalContext", "nullOnOverflow"})
"""Fields that decide only how a failing evaluation ends: for provenn it is NULL."""

_FIXED: Final[dict[str, object]] = {
    "useStringTypeWhenEmpty": False,
    "legacySizeOfNull": False,
    "followThreeValuedLogic": True,
    "ignoreNulls": False,
    "seed": 42,
    "nullOnDivideByZero": True,
    "mutableAggBufferOffset": 0,
    "inputAggBufferOffset": 0,
    "reverse": False,
    "legacyCharsets": False,
    "legacyErrorAction": False,
    "legacyNegativeIndex": False,
    "allowNullComparisonResult": False,
}
"""Fields that the SQL of a function does not express, and the value that they have in SQL."""

_READ_SETTINGS = frozenset(
    {
        "spark.sql.icu.caseMappings.enabled",
        "spark.sql.files.ignoreCorruptFiles",
        "spark.sql.files.ignoreMissingFiles",
        "spark.sql.parquet.datetimeRebaseModeInRead",
        "spark.sql.parquet.int96RebaseModeInRead",
    }
)
"""Settings, besides those of earlier versions of Spark, that decide values without a trace in a plan."""
_UTC = ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "+00:00")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


def make_refusal(kind: str, reason: str = "", hint: str = "") -> QueryError:
    """Return the error for a part of a plan that is not supported; the class says why, unless a reason is given."""
    usual_reason, usual_hint = _REFUSED.get(kind, ("is not supported", ""))
    message = f"{kind} in the plan of the DataFrame {reason or usual_reason}"
    return QueryError(message, hint=hint if reason else usual_hint)


def make_legacy_refusal(part: str) -> QueryError:
    """Return the error for a part whose failing evaluation gives a wrong value, because ANSI mode is off."""
    return QueryError(
        f"{part} may give a wrong number where ANSI mode is off, and for provenn a failing evaluation is NULL",
        hint="make the DataFrame in a session with spark.conf.set('spark.sql.ansi.enabled', True)",
    )


def check_session(session: Any) -> None:  # noqa: ANN401 - a session of Spark
    """Raise `QueryError` if a setting of a session, which its plans do not show, changes what they compute."""
    for name, value in session.conf.getAll.items():
        is_changed = SETTINGS[name] != value if name in SETTINGS else name.startswith("spark.sql.legacy.")
        if is_changed and (name.startswith("spark.sql.legacy.") or name in _READ_SETTINGS):
            raise QueryError(
                f"the session has {name}={value}, which changes what DataFrames hold",
                hint=f"make the DataFrame in a session without it: spark.conf.unset('{name}')",
            )


def check_zone(node: JsonNode) -> None:
    """Raise `QueryError` if an expression depends on another time zone than UTC."""
    zone = node.fields.get("timeZoneId")
    if zone not in (None, *_UTC):
        raise make_refusal(
            node.kind,
            f"depends on the time zone {zone}, and provenn computes in UTC",
            "make the DataFrame in a session with spark.conf.set('spark.sql.session.timeZone', 'UTC')",
        )


def check_fields(node: JsonNode) -> None:
    """Raise `QueryError` if a class has arguments besides its children that its SQL does not imply."""
    references = 0
    for name, value in node.fields.items():
        if name == "timeZoneId":
            check_zone(node)
        elif name in _FIXED:
            if value != _FIXED[name]:
                raise make_refusal(node.kind, f"with {name}={value} is not supported")
        elif name not in HARMLESS:
            # A field names children by position; an optional child is written out once more.
            positions = value if isinstance(value, list) and not _is_expression(value) else [value]
            for position in positions:
                if not _is_expression(position) and (type(position) is not int or position >= len(node.children)):
                    raise make_refusal(node.kind, f"with {name}={value} is not supported")
            references += len(positions)
    if references != len(node.children):
        raise make_refusal(node.kind, "has arguments that are not supported")


def _is_expression(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "class" in value[0]


def is_same_without_ansi(source: str, target: str) -> bool:
    """Return whether a cast gives the same values with ANSI mode and without, if a failing one is NULL.

    >>> is_same_without_ansi("int", "bigint"), is_same_without_ansi("bigint", "int")
    (True, False)
    """
    source_name, target_name = source.partition("(")[0], target.partition("(")[0]
    if source in (target, "void"):
        return True
    if target == "string":
        return source_name in (*_NUMBERS, "boolean", "date", "timestamp", "timestamp_ntz", "binary")
    if source == "string":
        return target_name in ("date", "timestamp", "timestamp_ntz", "boolean", "decimal", "double")
    if source_name in _NUMBERS and target_name in _NUMBERS:
        return target_name == "decimal" or (
            source_name != "double" and _NUMBERS.index(source_name) <= _NUMBERS.index(target_name)
        )
    return {source_name, target_name} <= {"date", "timestamp", "timestamp_ntz"} or source_name == "boolean"
