"""Translation of Spark's exceptions into errors of provenn with the problem, the reason and the remedy.

Spark reports most failures as text with a Java stack trace. Failures with a remedy are recognised by phrases in this
text; a test provokes each phrase. The error of Spark stays the cause of the error of provenn.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from provenn.errors import (
    CalculationError,
    EngineError,
    FormatError,
    KeyValuesError,
    ProvennError,
    RunError,
    StoreError,
)
from provenn.hints import Hint

__all__ = ["NO_MOMENT", "OPAQUE_ROWS", "collect_error_text", "decode_error", "encode_error", "translate_errors"]

NO_MOMENT = "provenn, a text without a moment: "
"""The prefix of the message with which Spark fails on a text in a file that needs the clock to become a timestamp."""

OPAQUE_ROWS = "provenn, rows of an opaque query: "
"""The prefix of the message with which Spark fails on rows of an opaque query that are not as its catalog states."""

_MARK = "provenn calculation error: "


class _FailureKind(NamedTuple):
    """The error to raise if a phrase occurs in the text of a failure; a group of the phrase fills the ``{}``."""

    phrase: str
    error: type[ProvennError]
    problem: str
    hint: str = ""
    unknown: str = ""  # fills the ``{}`` if no group matched


_ENDED = "it may have run out of memory; the next run starts another Spark, unless you passed your own"
_STOPPED = "`provenn warm --stop --now` has ended the warm Spark; run it again, and another Spark starts"
_FILE = r"((?:\w+:/|/)[^\n]*?)"  # as short as the rest of the pattern allows, since paths may contain spaces
_READING = rf"Encountered error while reading file {_FILE}\.\s"
_KINDS = [
    _FailureKind(
        "No space left on device|Disk quota exceeded|There is not enough space", StoreError, "the disk is full"
    ),
    _FailureKind(
        rf"Mkdirs failed to create {_FILE} \(exists=|{_FILE} \((?:Permission denied|Read-only file system)\)|"
        "Permission denied|AccessControlException|AccessDenied|Read-only file system",
        StoreError,
        "no permission for {}",
        "on a cluster, the workers write the data: they need write access to the folder",
        "the folder",
    ),
    _FailureKind(
        rf"{_READING} *File does not exist|Path does not exist: {_FILE}\.(?: SQLSTATE|\s|$)|"
        rf"(?:FileNotFound|NoSuchFile)Exception: (?:File )?{_FILE}(?: does not exist| \(|\n|$)",
        StoreError,
        "{} is missing",
        "it was moved or deleted meanwhile; on a cluster, every worker must see the same files",
    ),
    _FailureKind(
        r"Malformed records are detected in record parsing: \[?([^\n]*?)\]?\.\s",
        FormatError,
        "a line does not fit the columns: {}",
        Hint(
            "state the types of the columns (schema=) or what stands for NULL (null=), or correct the file",
            command="state the types of the columns (--schema) or what stands for NULL (--null), or correct the file",
        ),
    ),
    _FailureKind(
        rf"{NO_MOMENT}([^\n]*'[^\n]*')",
        FormatError,
        "{}, which is not a complete date and time: Spark would guess from the clock or the time zone of the machine",
        Hint(
            "write dates and times in full, with zones such as +01:00; or state their format, "
            "options={'timestampFormat': …}; or read them as text, schema={…: 'string'}",
            command="write dates and times in full, with zones such as +01:00; or state their format, "
            "--option timestampFormat=…; or read them as text, --schema COLUMN=string",
        ),
    ),
    _FailureKind(
        rf"{OPAQUE_ROWS}([^\n]*?)(?: SQLSTATE|\n|$)",
        KeyValuesError,
        "{}",
        Hint(
            "choose other key columns, or define the query without a key; or state that the column may hold NULL",
        ),
    ),
    _FailureKind(
        r"CRC checksum verification failed|ChecksumException",
        StoreError,
        "a page of a file differs from the bytes that were written",
        Hint(
            "the file is damaged: archive.check(deep=True) lists damaged files, and repair=True recomputes them",
            command="the file is damaged: `provenn check --deep` lists damaged files, and --repair recomputes them",
        ),
    ),
    _FailureKind(rf"{_FILE} is not a Parquet file", FormatError, "{} is not a Parquet file, or is damaged"),
    _FailureKind(
        "OutOfMemoryError|Java heap space|GC overhead limit|UNABLE_TO_ACQUIRE_MEMORY|spark.driver.maxResultSize|"
        r"\[Errno 12\] Cannot allocate memory",
        RunError,
        "not enough memory",
        "give Spark more (SPARK_DRIVER_MEMORY=8g; on a cluster spark.executor.memory), or request less at once",
    ),
    _FailureKind(
        "SparkContext was shut ?down|stopped SparkContext|dagScheduler.*is null", EngineError, "Spark has ended", _ENDED
    ),
    _FailureKind("SPARK_JOB_CANCELLED|OPERATION_CANCELED", RunError, "cancelled"),
    _FailureKind(
        "Python worker exited unexpectedly",
        RunError,
        "a process that runs Python calculators has died",
        "it may have run out of memory, or crashed in a library",
    ),
    _FailureKind(
        "PYTHON_VERSION_MISMATCH|(No module named '[^']+')",
        RunError,
        "Python on the workers differs from Python here: {}",
        "install the same packages there, and set PYSPARK_PYTHON to that Python",
        "another version",
    ),
    _FailureKind(
        "ExecutorLostFailure|Remote RPC client disassociated|All masters are unresponsive|Master removed our app",
        EngineError,
        "the cluster lost the processes that computed it",
        "they may have run out of memory; see the log of the workers",
    ),
    _FailureKind(
        "SESSION_NOT_FOUND|SESSION_CLOSED|SESSION_CHANGED|StatusCode.UNAVAILABLE|failed to connect to all addresses|"
        "RETRIES_EXCEEDED",
        EngineError,
        "the connection to Spark is lost",
        "is the server still running?",
    ),
]


@contextmanager
def translate_errors(what: str) -> Iterator[None]:
    """Translate exceptions of Spark in the body into errors of provenn.

    Parameters
    ----------
    what
        The activity of the body, as messages name it: ``counting bright``.

    Raises
    ------
    CalculationError
        If a calculator failed; the error is the one that the worker raised.
    StoreError, FormatError, EngineError, RunError
        If anything else failed.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415 - Spark is slow to import
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.logger import PySparkLogger  # noqa: PLC0415

    # The translated error is the only report: no warning and no log repeats it. Other code is not affected.
    warnings.filterwarnings("ignore", "toPandas attempted Arrow optimization", UserWarning)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_is_outside)
    logging.root.addFilter(_is_no_lost_connection)
    token = _inside.set(True)
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise _translate_error(what, error) from error
    finally:
        _inside.reset(token)


_inside = ContextVar("inside", default=False)


def _is_outside(_: logging.LogRecord) -> bool:
    return not _inside.get()


def _is_no_lost_connection(record: logging.LogRecord) -> bool:
    """Return False for the message of py4j about a lost Java or an interrupt by the user."""
    return not (_inside.get() and record.getMessage().endswith("while sending command."))


def encode_error(error: CalculationError) -> str:
    """Return an error as text, for `decode_error` to recover from the traceback of a worker."""
    return _MARK + json.dumps([error.message, error.hint])


def decode_error(text: str) -> CalculationError | None:
    """Return the error that a calculator raised on a worker, if the text of a failure contains one.

    >>> decode_error("RuntimeError: " + encode_error(CalculationError("photo_z: ValueError: no z", hint="none")))
    CalculationError('photo_z: ValueError: no z')
    """
    if _MARK in text:
        (message, hint), _ = json.JSONDecoder().raw_decode(text[text.rindex(_MARK) + len(_MARK) :])
        return CalculationError(message, hint=hint)
    match = re.search(
        r"^provenn\.errors\.CalculationError: (.+?)(?:\n\s*\n|\n\s+at |\s*SQLSTATE|\s*\Z)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    return CalculationError(match[1]) if match else None


def _translate_error(what: str, error: Exception) -> ProvennError:
    text = collect_error_text(error)
    calculation_error = decode_error(text)
    if calculation_error is not None:
        return calculation_error
    for kind in _KINDS:
        match = re.search(kind.phrase, text)
        if match:
            subject = _format_path(next(filter(None, match.groups()), kind.unknown))
            problem = kind.problem.format(subject)
            file = re.search(_READING, text)
            place = f", in {_format_path(file[1])}" if file and _format_path(file[1]) not in problem else ""
            hint = _explain_end() if kind.hint == _ENDED else kind.hint
            return kind.error(f"{what} failed: {problem}{place}", hint=hint)
    if isinstance(error, ConnectionError) or not re.search(r"\n\s+at |\[[A-Z]", text):  # no answer from Java at all
        return EngineError(f"{what} failed: Spark has ended", hint=_explain_end())
    return RunError(f"{what} failed: {_find_reason(text)}")


def _explain_end() -> str:
    """Return why Spark may have ended, and what to do: the log of a warm Spark says whether it was stopped."""
    attaching = sys.modules.get("provenn.spark.warm.attaching")  # imported by commands that use a warm Spark
    if attaching is not None and attaching.is_attached():
        from provenn.spark.warm.folder import find_warm_folder  # noqa: PLC0415 - few errors need it

        folder = find_warm_folder()
        if folder is not None and folder.was_stopped():
            return _STOPPED
    return _ENDED


def _format_path(address: str) -> str:
    """Return an address as users write it, without scheme and temporary folders.

    >>> _format_path("file:///data/out/_temporary/0/attempt_1"), _format_path("s3://bucket/out")
    ('/data/out', 's3://bucket/out')
    """
    return re.sub("/_temporary/.*", "", re.sub("^file:/+", "/", address))


def collect_error_text(error: BaseException) -> str:
    """Return the whole text of a failure of Spark, Java's stack trace and its causes included."""
    texts = []
    for name in ("_desc", "_stackTrace", "_message", "_stacktrace"):  # of classic Spark and of Connect
        part = getattr(error, name, None)
        texts.append(part if isinstance(part, str) else "")
    try:
        texts.append(str(error))
    except Exception:  # noqa: BLE001 - a Java that has died cannot describe its exception
        texts.append(" ".join(map(str, error.args)))
    return "\n".join(text for text in texts if text)


def _find_reason(text: str) -> str:
    """Return the reason of a failure: the last line of a worker's traceback, or the innermost cause in Java."""
    worker = re.search(r"Traceback \(most recent call last\):\n(?:.*\n)*?(?P<last>\w[\w.]*: [^\n]*)", text)
    if worker:
        return worker["last"]
    causes = re.findall(r"^Caused by: ([^\n]+)", text, re.MULTILINE)
    lines = [
        line for line in text.split("\n") if line.strip() and not line.startswith("An error occurred while calling")
    ]
    reason = causes[-1] if causes else lines[0].lstrip(": ")
    reason = re.sub(r"^.*\): (?=[\w.]+(?:Exception|Error): )", "", reason)  # Lost task 0.0 in stage 4.0 (…): …
    reason = re.sub(r"^[\w.$]+(?:Exception|Error): ", "", reason)
    return re.sub(r"^\[[A-Z_.0-9]+\] | SQLSTATE: \w+.*$", "", reason).strip()
