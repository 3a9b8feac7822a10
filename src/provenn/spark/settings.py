"""Settings of Spark with influence on the meaning of data, and their enforcement in a session.

A session of the user may have any settings: ANSI mode, a time zone, any of the hundred flags for the behaviour of an
earlier Spark. No setting may change an answer. So there are three kinds of settings of ``spark.sql``: settings `PINNED`
to a value, for a reason; settings `KEPT` as in the user's session, because they decide only the speed or place of work;
and all remaining settings, including settings of future versions of Spark, which are reset to their defaults.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from provenn.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["KEPT", "OWN_FILES", "PINNED", "SETTINGS", "Setting", "decides_meaning", "hold_settings"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with the value that every session has, and the reason."""

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
    Setting(
        "spark.sql.icu.caseMappings.enabled",
        "true",
        "upper and lower case are those of Spark's own library, not of Java",
    ),
    Setting("spark.sql.analyzer.maxIterations", "10000", "a lineage may be long, and is analysed at once"),
    Setting("spark.sql.files.ignoreCorruptFiles", "false", "data that cannot be read are never left out"),
    Setting("spark.sql.files.ignoreMissingFiles", "false", "data that are not there are never left out"),
    Setting("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS", "moments are written as others read them"),
    Setting("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED", "days are those that the files say"),
    Setting("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED", "days are written unchanged"),
    Setting("spark.sql.parquet.int96RebaseModeInRead", "CORRECTED", "moments are those that the files say"),
    Setting("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED", "moments are written unchanged"),
    Setting("spark.sql.execution.pandas.convertToArrowArraySafely", "true", "no value is cut off on its way"),
    Setting("parquet.page.write-checksum.enabled", "true", "every page that is written has a checksum"),
    Setting("parquet.page.verify-checksum.enabled", "true", "a page that rotted is an error, never a value"),
)
"""The settings of every session of an engine, on any Spark."""

SETTINGS: Final = {setting.name: setting.value for setting in PINNED}
"""The values of `PINNED`, by name."""

OWN_FILES: Final = {
    "parquet.page.verify-checksum.enabled": "true",
    "parquet.filter.columnindex.enabled": "false",
    "parquet.filter.bloom.enabled": "false",
    "parquet.filter.dictionary.enabled": "false",
}
"""Options to read Parquet of the archive's own store: only the footer, which is compared before, and the pages, which
have checksums, are trusted. Page indices have no checksums, and damaged ones would leave out rows."""

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
"""Patterns of settings, without ``spark.sql.``, that stay unchanged, by their effect; none changes an answer."""

_KEPT = re.compile("|".join(KEPT.values()))
_PREFIX = "spark.sql."


def decides_meaning(name: str) -> bool:
    """Return whether a setting may change the meaning of data, as far as is known.

    >>> decides_meaning("spark.sql.legacy.sizeOfNull"), decides_meaning("spark.sql.shuffle.partitions")
    (True, False)
    """
    return name.startswith(_PREFIX) and not _KEPT.fullmatch(name.removeprefix(_PREFIX))


def hold_settings(session: SparkSession, more: dict[str, str] | None = None) -> None:
    """Set a session to `SETTINGS` and additional settings, and reset all others that may change the meaning of data.

    Raises
    ------
    EngineError
        If a setting cannot have its required value; the message names the setting.
    """
    wanted = SETTINGS | (more or {})
    current = session.conf.getAll
    wrong = [name for name, value in wanted.items() if current.get(name) != value]
    foreign = [name for name in current if name not in wanted and decides_meaning(name)]
    if not wrong and not foreign:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark warns of settings that it may remove some day
        for name in wrong:
            _change_setting(session, name, wanted[name])
        for name in foreign:
            if session.conf.isModifiable(name):  # the others are fixed when Spark starts, and change no values
                _change_setting(session, name, None)
    current = session.conf.getAll
    for name, value in wanted.items():
        if current.get(name) != value:
            raise _make_refusal(name, value, f"it stays {current.get(name)}")


def _change_setting(session: SparkSession, name: str, value: str | None) -> None:
    try:
        if value is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, value)
    except Exception as error:
        raise _make_refusal(name, value, str(error).strip().split("\n", 1)[0]) from error


def _make_refusal(name: str, value: str | None, reason: str) -> EngineError:
    aim = "what Spark does by default" if value is None else value
    return EngineError(
        f"this Spark does not allow {name} to be set to {aim}: {reason}",
        hint="with another value, a criterion would select different sources; use another Spark",
    )
