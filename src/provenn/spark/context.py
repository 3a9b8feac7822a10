"""The Spark context of this process: Spark allows one, so all engines share it, and the last one stops it.

A context that somebody else has started is shared too, and never stopped.
"""

from __future__ import annotations

import logging
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from provenn.errors import EngineError
from provenn.spark.class_archive import archive_options
from provenn.spark.java import find_java
from provenn.spark.java_messages import JavaMessages

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["end_java", "give_back", "new_session", "start_context"]

_QUIET = Path(__file__).with_name("quiet.properties").absolute()

_lock = threading.RLock()
_users = 0  # of the context, if we have started it
_java: JavaGateway | None = None  # if we have started it


def new_session(master: str | None, *, brief: bool = False) -> tuple[SparkSession, bool]:
    """Return a session of its own in the context of this process, and whether to `give_back` that context.

    Parameters
    ----------
    master
        Where the context must be; None takes the one that is there, or one on all cores of this machine.
    brief
        As in `start_context`.

    Raises
    ------
    EngineError
        If the process has a context elsewhere, or none can be started.
    """
    global _users  # noqa: PLW0603 - as global as Spark's context
    from pyspark import SparkContext  # noqa: PLC0415 - Spark is slow to import
    from pyspark.sql import SparkSession  # noqa: PLC0415

    with _lock:
        context = SparkContext._active_spark_context  # noqa: SLF001 - nothing public says it without starting one
        if context is None:
            context = start_context(master, brief=brief)
            _users = 1
        elif master not in (None, context.master):
            raise EngineError(
                f"this process already runs Spark on {context.master}, so it cannot run it on {master}",
                hint="close what uses it (an archive, a session) first, or pass that session as spark=",
            )
        elif _users:
            _users += 1
        return SparkSession(context).newSession(), _users > 0


def give_back() -> None:
    """Stop the context and its Java, unless another engine uses them."""
    global _users  # noqa: PLW0603
    with _lock:
        _users = max(0, _users - 1)
        if not _users:
            end_java()


def start_context(
    master: str | None, *, brief: bool = False, java_options: Sequence[str] | None = None
) -> SparkContext:
    """Start Java and Spark.

    Parameters
    ----------
    master
        Where Spark runs its tasks; None is all cores of this machine, or where ``spark-submit`` was told to run.
    brief
        Whether Java compiles quickly rather than well: a second less to start, but slower on heavy work.
    java_options
        Instead of those that make use of the class archive.

    Raises
    ------
    EngineError
        If they do not start; says why.
    """
    global _java  # noqa: PLW0603
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - Spark is slow to import
    from pyspark.find_spark_home import _find_spark_home  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # spark-submit has started Java and knows the master
    conf = SparkConf(loadDefaults=False)
    if master or not submitted:
        conf.setMaster(master or "local[*]")
    environment = {"PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON") or sys.executable}
    local = (master or "local").startswith("local")
    messages = JavaMessages()
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # what it cannot do is raised as well
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        if not submitted:
            java = find_java()
            if java_options is None:
                java_options = archive_options(java, Path(_find_spark_home()))
            conf.setAll([*_settings(local, [*java_options, *["-XX:TieredStopAtLevel=1"] * brief]).items()])
            environment |= {"JAVA_HOME": str(java.home), **({"SPARK_LOCAL_IP": "127.0.0.1"} if local else {})}
            # What composes the command line of Spark is a short-lived Java too.
            environment["SPARK_LAUNCHER_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        with _environment(environment), messages.collected() as stderr:
            if SparkContext._gateway is None and not submitted:  # noqa: SLF001 - a stopped context leaves its Java
                _java = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
            context = SparkContext(conf=conf, gateway=_java)
    except EngineError:
        raise
    except Exception as error:
        end_java()
        reason = messages.reason() or str(error).split("\n", 1)[0]
        raise EngineError(f"Spark cannot be started on {master or 'this machine'}: {reason}") from error
    finally:
        # Spark's own handler cancels the jobs of everybody; ours are cancelled where they are watched.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupt)
    return context


def end_java(*, wait: float = 30.0) -> bool:
    """Stop the context, and end the Java that we have started.

    Returns
    -------
    bool
        Whether a Java has ended well, within `wait` seconds.
    """
    global _java  # noqa: PLW0603
    from pyspark import SparkContext  # noqa: PLC0415 - Spark is slow to import
    from pyspark.sql import SparkSession  # noqa: PLC0415

    with suppress(Exception):  # Java may have died
        if SparkSession._instantiatedSession is not None:  # noqa: SLF001
            SparkSession._instantiatedSession.stop()  # noqa: SLF001 - forgets that session too
        elif SparkContext._active_spark_context is not None:  # noqa: SLF001
            SparkContext._active_spark_context.stop()  # noqa: SLF001
    if _java is not None:
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None  # noqa: SLF001
        SparkSession._instantiatedSession = SparkSession._activeSession = None  # noqa: SLF001
        process = _java.proc
        with suppress(Exception):
            _java.shutdown()
        with suppress(OSError):
            process.stdin.close()  # for Java, the end
        _java = None
        with suppress(subprocess.TimeoutExpired):
            return bool(process.wait(wait) == 0)
    return False


def _settings(local: bool, java_options: Sequence[str]) -> dict[str, str]:
    quiet = ["-Xlog:disable", f"-Dlog4j2.configurationFile={_QUIET.as_uri()}"]
    settings = {
        "spark.app.name": "provenn",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": shlex.join([*quiet, *java_options]),
    }
    if local:
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Driver and tasks in one: half of the memory, as Python's workers and the files' pages need the rest; at
            # most what Java addresses with short pointers, which the class archive is made for.
            "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY") or f"{min(_memory() // 2, 30 * 2**30) >> 20}m",
            # Adaptive execution joins small partitions and never splits large ones: enough for large data, and not
            # the 200 that a cluster begins with.
            "spark.sql.shuffle.partitions": str(8 * (os.cpu_count() or 1)),
        }
    return settings


def _memory() -> int:
    """Return how many bytes of memory this process may use: the machine's, or what its container was given."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # "max" is no number
        found = min(found, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return found


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment for a while."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
