"""The settings of Spark on which the meaning of data depends, and how a session is held to them.

A session of the user's own may be set to anything: ANSI mode, a time zone, one of the hundred flags that bring back
what an earlier Spark did. None of them may change an answer. So each setting of ``spark.sql`` is one of three kinds:
`PINNED` to a value, for a reason; `KEPT` as the user has it, because it decides only how fast, or where, work is done;
and all others, also those that a later Spark will invent, which are put back to what that Spark does by default.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from provenn.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["KEPT", "PINNED", "SETTINGS", "Setting", "decides_meaning", "hold_settings"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with the value that every session has, and why."""

    name: str
    value: str
    reason: str


PINNED: Final = (
    Setting("spark.sql.ansi.enabled", "false", "a failing evaluation is NULL, never an exception"),
    Setting("spark.sql.session.timeZone", "UTC", "days and hours of moments are those of UTC"),
    Setting("spark.sql.caseSensitive", "true", "two columns may differ in upper and lower case alone"),
    Setting("spark.sql.timestampType", "TIMESTAMP_LTZ", "TIMESTAMP in SQL is a moment, not a clock's face"),
    Setting("spark.sql.legacy.timeParserPolicy", "CORRECTED", "texts are read as dates in one way"),
    Setting("spark.sql.decimalOperations.allowPrecisionLoss", "true", "decides the types of decimals"),
    Setting("spark.sql.parser.escapedStringLiterals", "false", "a backslash in a text is an escape"),
    Setting("spark.sql.parser.quotedRegexColumnNames", "false", "a name in backquotes is a name, not a pattern"),
    Setting("spark.sql.variable.substitute", "false", "'${spark.app.name}' is a text like any other"),
    Setting("spark.sql.icu.caseMappings.enabled", "true", "upper and lower case do not depend on Java's language"),
    Setting("spark.sql.analyzer.maxIterations", "10000", "a lineage may be long, and is analysed at once"),
    Setting("spark.sql.files.ignoreCorruptFiles", "false", "data that cannot be read are never left out"),
    Setting("spark.sql.files.ignoreMissingFiles", "false", "data that are not there are never left out"),
    Setting("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS", "moments are written as others read them"),
    Setting("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED", "days are those that the files say"),
    Setting("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED", "days are written as they are"),
    Setting("spark.sql.parquet.int96RebaseModeInRead", "CORRECTED", "moments are those that the files say"),
    Setting("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED", "moments are written as they are"),
    Setting("spark.sql.execution.pandas.convertToArrowArraySafely", "true", "no value is cut off on its way"),
)
"""What every session of an engine is set to, wherever it runs."""

SETTINGS: Final = {setting.name: setting.value for setting in PINNED}
"""The values of `PINNED`, by name."""

KEPT: Final = {
    "how work is divided": r"adaptive\..*|shuffle\..*|leafNodeDefaultParallelism|maxSinglePartitionBytes"
    r"|files\.(m\w+Partition\w+|openCostInBytes)|sources\.parallelPartitionDiscovery\..*|coalesce\w+",
    "how tables are joined": r"autoBroadcastJoinThreshold|broadcast\w+|maxBroadcastTableSize|shuffledHashJoinFactor"
    r"|cbo\..*|statistics\..*|bucketing\..*|sources\.(v2\.)?bucketing\..*",
    "how much memory is used": r".*\.(in\.memory|spill|spill\.size)\.threshold|inMemoryColumnarStorage\..*"
    r"|columnVector\..*|execution\.arrow\.max\w+|\w+\.columnar(Reader|Writer)BatchSize|session\.localRelation\w+",
    "how code is compiled": r"codegen\..*|subexpressionElimination\..*",
    "where tables are": r"catalog\..*|catalogImplementation|defaultCatalog|warehouse\.dir|hive\..*|extensions.*"
    r"|metadataCacheTTLSeconds|filesource\w+",
    "what is shown and logged": r"ui\..*|event\.\w+|debug\..*|repl\..*|redaction\..*|planChange\w+\..*|error\..*"
    r"|thrift[sS]erver\..*|streaming\..*|queryExecutionListeners|pyspark\.(jvmStacktrace|udf|worker)\..*",
    "how Python is run": r"execution\.(python|pyspark)\.(udf\..*|python)|artifact\..*",
    "how files are packed": r"(parquet|orc|avro)\.compression\.codec",
}
"""Patterns of settings, without ``spark.sql.``, that stay as they are, by what they decide: none changes an answer."""

_KEPT = re.compile("|".join(KEPT.values()))
_PREFIX = "spark.sql."


def decides_meaning(name: str) -> bool:
    """Tell whether a setting may change what data mean, as far as is known.

    >>> decides_meaning("spark.sql.legacy.sizeOfNull"), decides_meaning("spark.sql.shuffle.partitions")
    (True, False)
    """
    return name.startswith(_PREFIX) and not _KEPT.fullmatch(name.removeprefix(_PREFIX))


def hold_settings(session: SparkSession, more: dict[str, str] | None = None) -> None:
    """Set a session to `SETTINGS` and some more, and put back all else that may change what data mean.

    Raises
    ------
    EngineError
        If a setting cannot be what it must be: names it.
    """
    wanted = SETTINGS | (more or {})
    found = session.conf.getAll
    wrong = [name for name, value in wanted.items() if found.get(name) != value]
    foreign = [name for name in found if name not in wanted and decides_meaning(name)]
    if not wrong and not foreign:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a setting may vanish some day
        for name in wrong:
            _try(session, name, wanted[name])
        for name in foreign:
            if session.conf.isModifiable(name):  # the others are fixed when Spark starts, and change no value
                _try(session, name, None)
    found = session.conf.getAll
    for name, value in wanted.items():
        if found.get(name) != value:
            raise _refused(name, value, f"it stays {found.get(name)}")


def _try(session: SparkSession, name: str, value: str | None) -> None:
    try:
        if value is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, value)
    except Exception as error:
        raise _refused(name, value, str(error).strip().split("\n", 1)[0]) from error


def _refused(name: str, value: str | None, reason: str) -> EngineError:
    aim = "what Spark does by default" if value is None else value
    return EngineError(
        f"this Spark does not let {name} be set to {aim}: {reason}",
        hint="with another value, the same criterion would select other sources; use another Spark",
    )
