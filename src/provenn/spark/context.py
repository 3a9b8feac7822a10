"""The Spark context of this process: Spark allows a single context, so all engines share it; the last engine stops it.

A context that other code has started is shared too, and never stopped.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provenn.database.secrets import remove_secrets
from provenn.errors import EngineError
from provenn.spark.brief_environment import set_environment
from provenn.spark.class_archive import prepare_archive_options
from provenn.spark.confinement import DAEMON, Confinement
from provenn.spark.java import find_java
from provenn.spark.java_messages import JavaMessages
from provenn.spark.start_settings import build_start_settings
from provenn.spark.worker_environment import NAMES

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from provenn.spark.warm.attaching import AttachedContext

__all__ = ["attach_session", "end_java", "is_java_alive", "open_session", "release_context", "start_context"]

_lock = threading.RLock()
_users = 0  # engines that use the context, if provenn has started it
_java: JavaGateway | None = None  # the Java that provenn has started
_confinement: Confinement | None = None  # of the workers, if provenn has started the context on this machine
_folder: Path | None = None  # the folder of the system user under whom the workers run
_attached: AttachedContext | None = None  # the context of the warm Spark, if this process uses it


def open_session(
    master: str | None, *, brief: bool = False, confinement: Confinement | None = None
) -> tuple[SparkSession, bool]:
    """Return a new session in the context of this process, and whether the caller must `release_context`.

    Parameters
    ----------
    master
        The required master of the context; None accepts the present context, or starts one on all cores.
    brief, confinement
        As in `start_context`.

    Raises
    ------
    EngineError
        If the context of this process has another master or other workers, or none can be started.
    """
    global _users  # noqa: PLW0603 - as global as Spark's context
    from pyspark import SparkContext  # noqa: PLC0415 - Spark is slow to import
    from pyspark.sql import SparkSession  # noqa: PLC0415

    with _lock:
        context = SparkContext._active_spark_context  # noqa: SLF001 - no public call asks without starting one
        if context is None:
            context = start_context(master, brief=brief, confinement=confinement)
            _users = 1
        elif master not in (None, context.master):
            raise EngineError(
                f"this process already runs Spark on {context.master}, so it cannot run it on {master}",
                hint="first close the archive or session that uses it, or pass that session as spark=",
            )
        else:
            _check_confinement(confinement or Confinement())
            _users += _users > 0
        return SparkSession(context).newSession(), _users > 0


def attach_session(confinement: Confinement, report_refusal: Callable[[str], None]) -> SparkSession | None:
    """Return a new session on the warm Spark; the caller must `release_context`.

    Returns None if this process already runs a Spark, or there is no warm Spark that it can use; `report_refusal` is
    called with the reason if there is one.
    """
    global _attached, _confinement, _users
    from provenn.spark.warm.asking import may_attach  # noqa: PLC0415 - only commands look for a warm Spark

    if not may_attach():
        return None
    from pyspark import SparkContext  # noqa: PLC0415 - Spark is slow to import
    from pyspark.sql import SparkSession  # noqa: PLC0415

    from provenn.spark.plain_accumulators import read_plain_accumulators  # noqa: PLC0415
    from provenn.spark.warm.attaching import attach_context  # noqa: PLC0415

    with _lock:
        if SparkContext._active_spark_context is not None:  # noqa: SLF001 - as above
            return None
        _silence_py4j()
        read_plain_accumulators()
        python = os.environ.get("PYSPARK_PYTHON") or sys.executable
        with _keep_interrupt(), set_environment({"PYSPARK_PYTHON": python}):
            context, reason = attach_context(confinement)
        if context is None:
            if reason:
                report_refusal(reason)
            return None
        _attached, _confinement, _users = context, confinement, 1
        return SparkSession(context).newSession()


@contextmanager
def _keep_interrupt() -> Iterator[None]:
    """Keep the handler of Ctrl-C: Spark's own cancels the jobs of all, that of `allow_interrupts` those of provenn."""
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupt)


def _check_confinement(wanted: Confinement) -> None:
    """Check that the workers of the present context are confined as an engine wants."""
    if wanted.user and (_confinement is None or _confinement.user != wanted.user):
        runs = f"runs calculators as {_confinement.user}" if _confinement and _confinement.user else "runs Spark"
        raise EngineError(
            f"this process already {runs}, so it cannot run calculators as {wanted.user}",
            hint="first close the archive or session that uses Spark",
        )
    missing = [] if _confinement is None else sorted({*wanted.variables} - {*_confinement.variables})
    if missing:
        raise EngineError(
            f"this process already runs Spark, and its calculators do not get {', '.join(missing)}",
            hint="first close the archive or session that uses Spark",
        )


def release_context() -> None:
    """Stop the context and Java, unless another engine uses the context."""
    global _users  # noqa: PLW0603
    with _lock:
        _users = max(0, _users - 1)
        if not _users:
            end_java()


def start_context(
    master: str | None,
    *,
    brief: bool = False,
    java_options: Sequence[str] | None = None,
    confinement: Confinement | None = None,
) -> SparkContext:
    """Start Java and Spark.

    Parameters
    ----------
    master
        Where Spark runs its tasks; None is all cores of this machine, or the master of ``spark-submit``.
    brief
        Whether Java compiles quickly rather than well: it starts a second faster, but does heavy work more slowly.
    java_options
        Options for Java in place of the options for the class archive.
    confinement
        The confinement of processes that run calculators on this machine. Processes of a cluster inherit nothing from
        this process; the cluster is responsible for them.

    Raises
    ------
    EngineError
        If Java or Spark does not start; the message says why.
    """
    global _java, _folder  # noqa: PLW0603
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - Spark is slow to import
    from pyspark.find_spark_home import _find_spark_home  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    from provenn.spark.plain_accumulators import read_plain_accumulators  # noqa: PLC0415

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # spark-submit has started Java and knows the master
    conf = SparkConf(loadDefaults=False)
    if master or not submitted:
        conf.setMaster(master or "local[*]")
    environment = {"PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON") or sys.executable}
    is_local = (master or "local").startswith("local")
    confinement = confinement or Confinement()
    _check_machine(confinement, on_this_machine=is_local and not submitted)
    messages = JavaMessages()
    _silence_py4j()
    try:
        if not submitted:
            java = find_java()
            if java_options is None:
                java_options = prepare_archive_options(java, Path(_find_spark_home()))
            conf.setAll(
                [*build_start_settings(is_local, [*java_options, *["-XX:TieredStopAtLevel=1"] * brief]).items()]
            )
            environment |= {"JAVA_HOME": str(java.home), **({"SPARK_LOCAL_IP": "127.0.0.1"} if is_local else {})}
            # The launcher that composes the command line of Spark is a short-lived Java too.
            environment["SPARK_LAUNCHER_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
            if is_local and os.name == "posix":
                _folder = confinement.make_folder()
                confinement.check_python(_folder)
                conf.setAll([*_build_worker_settings(confinement, master).items()])
        variables = confinement.build_daemon_variables(_folder) if is_local else {}
        with set_environment(environment), _keep_interrupt(), messages.collect() as stderr:
            if SparkContext._gateway is None and not submitted:  # noqa: SLF001 - a stopped context leaves its Java
                with _prepare_java_start(variables):
                    _java = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
            read_plain_accumulators()
            context = SparkContext(conf=conf, gateway=_java)
        if is_local and not submitted:
            _confine_workers(context, confinement)
    except EngineError:
        _remove_folder()
        raise
    except Exception as error:
        end_java()
        reason = messages.find_reason() or str(error).split("\n", 1)[0]
        raise EngineError(f"Spark cannot be started on {master or 'this machine'}: {reason}") from error
    return context


def _silence_py4j() -> None:
    """Have py4j log no errors: it also raises them.

    If Java dies, py4j reports this to the root logger of the process, from whichever thread notices it first, such as
    its own thread that frees objects; without handlers, the root logger then gets one for good.
    """
    from py4j import java_gateway  # noqa: PLC0415 - Spark is slow to import

    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    gateway: Any = java_gateway  # no public setting names its logger
    gateway.logging = gateway.logger


def _confine_workers(context: SparkContext, confinement: Confinement) -> None:
    """Set the confinement of the workers of a context, also if Java ran before the context."""
    global _confinement  # noqa: PLW0603
    # Variables from spark.executorEnv.NAME are meant for workers, as are the variables of the confinement.
    names = " ".join([*confinement.variables, *context.environment])
    context.environment.update({**confinement.build_daemon_variables(_folder), NAMES: names})
    _confinement = confinement


def _check_machine(confinement: Confinement, *, on_this_machine: bool) -> None:
    if confinement.user and not on_this_machine:
        raise EngineError(
            f"calculators run as {confinement.user} only on a Spark that provenn starts on this machine",
            hint="use a local master, for example local[4]; on a cluster, its administrator decides who runs the "
            "workers",
        )


def end_java(*, wait: float = 30.0) -> bool:
    """Stop the context, and end the Java that provenn has started.

    Returns
    -------
    bool
        Whether Java has ended without an error, within `wait` seconds.
    """
    global _java, _confinement, _attached  # noqa: PLW0603
    from pyspark import SparkContext  # noqa: PLC0415 - Spark is slow to import
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if _attached is not None:
        _attached.stop()
        _attached = _confinement = None
        return True

    with suppress(Exception), warnings.catch_warnings():  # Java may have died
        warnings.simplefilter("ignore", RuntimeWarning)
        if SparkSession._instantiatedSession is not None:  # noqa: SLF001
            SparkSession._instantiatedSession.stop()  # noqa: SLF001 - clears that reference too
        elif SparkContext._active_spark_context is not None:  # noqa: SLF001
            SparkContext._active_spark_context.stop()  # noqa: SLF001
    if _java is not None:
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None  # noqa: SLF001
        SparkSession._instantiatedSession = SparkSession._activeSession = None  # noqa: SLF001
        process = _java.proc
        with suppress(Exception):
            _java.shutdown()
        with suppress(OSError):
            process.stdin.close()  # Java ends when its input is closed
        _java = None
        _confinement = None
        with suppress(subprocess.TimeoutExpired):
            ended_well = bool(process.wait(wait) == 0)
            _remove_folder()
            return ended_well
    _remove_folder()
    return False


def is_java_alive() -> bool:
    """Whether the Java that provenn has started still runs."""
    return _java is not None and _java.proc.poll() is None


def _remove_folder() -> None:
    global _folder  # noqa: PLW0603
    if _folder is not None:
        shutil.rmtree(_folder, ignore_errors=True)
        _folder = None


@contextmanager
def _prepare_java_start(variables: Mapping[str, str]) -> Iterator[None]:
    """Have pyspark start Java with some variables, without the secrets and the terminal of this process.

    The environment of this process stays unchanged, because other threads may connect to the database meanwhile.
    """
    from pyspark import java_gateway  # noqa: PLC0415 - Spark is slow to import

    gateway: Any = java_gateway  # no public function takes an environment
    start = gateway.Popen

    def start_java(command: Sequence[str], **options: Any) -> Any:  # noqa: ANN401 - as Popen
        environment = {**remove_secrets(options.pop("env")), **variables}
        return start(command, env=environment, start_new_session=True, **options)

    gateway.Popen = start_java
    try:
        yield
    finally:
        gateway.Popen = start


def _build_worker_settings(confinement: Confinement, master: str | None) -> dict[str, str]:
    """Return the settings of Spark for confined Python workers."""
    settings = {"spark.python.daemon.module": DAEMON, "spark.python.use.daemon": "true"}
    if not (master or "").startswith("local-cluster"):
        settings["spark.authenticate"] = "true"  # workers must authenticate to speak to Java
    if confinement.user:
        # Spark would send a large function in a file that only the user of Java can read.
        settings["spark.broadcast.UDFCompressionThreshold"] = str(2**30)
    return settings
