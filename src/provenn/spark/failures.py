"""Spark's exceptions, told in provenn's words: what failed, why, and what to do; the original is the cause.

Spark reports most of what goes wrong as a Java stack trace in a text. What can be done something about is recognised
by phrases of those texts, each of which a test provokes.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from provenn.errors import CalculationError, EngineError, FormatError, ProvennError, RunError, StoreError

__all__ = ["marked", "recovered", "told"]

_MARK = "provenn calculation error: "


class _Kind(NamedTuple):
    """What is raised where a phrase occurs in the text of a failure; a group of the phrase fills the ``{}``."""

    phrase: str
    error: type[ProvennError]
    problem: str
    hint: str = ""
    unknown: str = ""  # fills it where no group did


_ENDED = "it may have run out of memory; what you do next starts another, unless it is your own"
_FILE = r"((?:\w+:/|/)[^\n]*?)"  # as long as what follows it allows: there may be spaces in it
_READING = rf"Encountered error while reading file {_FILE}\.\s"
_KINDS = [
    _Kind("No space left on device|Disk quota exceeded|There is not enough space", StoreError, "the disk is full"),
    _Kind(
        rf"Mkdirs failed to create {_FILE} \(exists=|{_FILE} \((?:Permission denied|Read-only file system)\)|"
        "Permission denied|AccessControlException|AccessDenied|Read-only file system",
        StoreError,
        "no permission for {}",
        "on a cluster, workers write the data: the folder must be one that they too may write to",
        "the folder",
    ),
    _Kind(
        rf"{_READING} *File does not exist|Path does not exist: {_FILE}\.(?: SQLSTATE|\s|$)|"
        rf"(?:FileNotFound|NoSuchFile)Exception: (?:File )?{_FILE}(?: does not exist| \(|\n|$)",
        StoreError,
        "{} is not there",
        "it was moved or deleted meanwhile; on a cluster, every worker must see the same files",
    ),
    _Kind(
        r"Malformed records are detected in record parsing: \[?([^\n]*?)\]?\.\s",
        FormatError,
        "a line does not fit the columns: {}",
        "give the types that the columns have (schema=) or what stands for NULL (null=), or correct the file",
    ),
    _Kind(rf"{_FILE} is not a Parquet file", FormatError, "{} is not a Parquet file, or is damaged"),
    _Kind(
        "OutOfMemoryError|Java heap space|GC overhead limit|UNABLE_TO_ACQUIRE_MEMORY|spark.driver.maxResultSize|"
        r"\[Errno 12\] Cannot allocate memory",
        RunError,
        "not enough memory",
        "give Spark more (SPARK_DRIVER_MEMORY=8g; on a cluster spark.executor.memory), or ask for less at once",
    ),
    _Kind(
        "SparkContext was shut ?down|stopped SparkContext|dagScheduler.*is null", EngineError, "Spark has ended", _ENDED
    ),
    _Kind("SPARK_JOB_CANCELLED|OPERATION_CANCELED", RunError, "cancelled"),
    _Kind(
        "Python worker exited unexpectedly",
        RunError,
        "a process that runs Python calculators has died",
        "it may have run out of memory, or crashed in a library",
    ),
    _Kind(
        "PYTHON_VERSION_MISMATCH|(No module named '[^']+')",
        RunError,
        "Python on the workers is not the one here: {}",
        "install the same packages there, and set PYSPARK_PYTHON to that Python",
        "another version",
    ),
    _Kind(
        "ExecutorLostFailure|Remote RPC client disassociated|All masters are unresponsive|Master removed our app",
        EngineError,
        "the cluster lost the processes that computed it",
        "they may have run out of memory; see the log of the workers",
    ),
    _Kind(
        "SESSION_NOT_FOUND|SESSION_CLOSED|SESSION_CHANGED|StatusCode.UNAVAILABLE|failed to connect to all addresses|"
        "RETRIES_EXCEEDED",
        EngineError,
        "the connection to Spark is lost",
        "is the server still running?",
    ),
]


@contextmanager
def told(what: str) -> Iterator[None]:
    """Turn what Spark raises in the body into errors of provenn.

    Parameters
    ----------
    what
        What is done there, to say what failed: ``counting bright``.

    Raises
    ------
    CalculationError
        If a calculator failed, as it was raised on the worker.
    StoreError, FormatError, EngineError, RunError
        If something else failed.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415 - Spark is slow to import
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.logger import PySparkLogger  # noqa: PLC0415

    # What is raised here is told by us: not by warnings and not in logs as well. Nothing changes elsewhere.
    warnings.filterwarnings("ignore", "toPandas attempted Arrow optimization", UserWarning)
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_is_elsewhere)
    logging.root.addFilter(_is_no_torn_conversation)
    inside = _inside.set(True)
    try:
        yield
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise _translated(what, error) from error
    finally:
        _inside.reset(inside)


_inside = ContextVar("inside", default=False)


def _is_elsewhere(_: logging.LogRecord) -> bool:
    return not _inside.get()


def _is_no_torn_conversation(record: logging.LogRecord) -> bool:
    """Whether it is not py4j that lost Java, or that the user interrupted."""
    return not (_inside.get() and record.getMessage().endswith("while sending command."))


def marked(error: CalculationError) -> str:
    """Return an error as a text that `recovered` finds again in the traceback of a worker."""
    return _MARK + json.dumps([error.message, error.hint])


def recovered(text: str) -> CalculationError | None:
    """Return the error of a calculator that was raised on a worker, if a text tells of one.

    >>> recovered("RuntimeError: " + marked(CalculationError("photo_z: ValueError: no z", hint="none")))
    CalculationError('photo_z: ValueError: no z')
    """
    if _MARK in text:
        (message, hint), _ = json.JSONDecoder().raw_decode(text[text.rindex(_MARK) + len(_MARK) :])
        return CalculationError(message, hint=hint)
    plain = re.search(
        r"^provenn\.errors\.CalculationError: (.+?)(?:\n\s*\n|\n\s+at |\s*SQLSTATE|\s*\Z)",
        text,
        re.MULTILINE | re.DOTALL,
    )
    return CalculationError(plain[1]) if plain else None


def _translated(what: str, error: Exception) -> ProvennError:
    text = _text(error)
    calculation = recovered(text)
    if calculation is not None:
        return calculation
    for kind in _KINDS:
        found = re.search(kind.phrase, text)
        if found:
            thing = _path(next(filter(None, found.groups()), kind.unknown))
            problem = kind.problem.format(thing)
            file = re.search(_READING, text)
            place = f", in {_path(file[1])}" if file and _path(file[1]) not in problem else ""
            return kind.error(f"{what} failed: {problem}{place}", hint=kind.hint)
    if isinstance(error, ConnectionError) or not re.search(r"\n\s+at |\[[A-Z]", text):  # no answer from Java at all
        return EngineError(f"{what} failed: Spark has ended", hint=_ENDED)
    return RunError(f"{what} failed: {_reason(text)}")


def _path(address: str) -> str:
    """Return an address as people write it.

    >>> _path("file:///data/out/_temporary/0/attempt_1"), _path("s3://bucket/out")
    ('/data/out', 's3://bucket/out')
    """
    return re.sub("/_temporary/.*", "", re.sub("^file:/+", "/", address))


def _text(error: Exception) -> str:
    """Return all that Spark tells of a failure, Java's stack trace and its causes included."""
    texts = []
    for name in ("_desc", "_stackTrace", "_message", "_stacktrace"):  # classic and Connect keep them apart
        one = getattr(error, name, None)
        texts.append(one if isinstance(one, str) else "")
    try:
        texts.append(str(error))
    except Exception:  # noqa: BLE001 - a Java that has died cannot even say what its exception was
        texts.append(" ".join(map(str, error.args)))
    return "\n".join(text for text in texts if text)


def _reason(text: str) -> str:
    """Return the sentence that says why: the last line of a worker's traceback, or the innermost cause in Java."""
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
