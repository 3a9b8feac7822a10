"""The engine that computes data: a Spark session, embedded, on a cluster, behind Spark Connect, or of the user."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from provenn.errors import EngineError
from provenn.hints import Hint
from provenn.loaded_classes import is_loaded_instance
from provenn.spark.confinement import Confinement
from provenn.spark.context import attach_session, open_session, release_context
from provenn.spark.settings import hold_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["WARM", "Engine"]

_CLASSIC = {  # Spark Connect always transfers data by Arrow
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
}
_CONNECT = {"spark.connect.progress.reportInterval": "300ms"}  # not 2 s, because short runs end sooner

WARM = "warm"
"""The name of the Spark of ``provenn warm``, in place of a URL."""

_MASTERS = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|spark://.+|yarn|k8s://.+")
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"  # decides whether pyspark's functions make columns for Connect
_PATIENCE = 5.0
"""Seconds in which a server must accept a connection."""


class Engine:
    """The engine that computes data: a Spark session, started when it is first needed.

    Parameters
    ----------
    spark
        None for Spark in this process, on all cores or in the present context; ``warm`` for the Spark of ``provenn
        warm`` if there is one, and else as None; the URL of a master (``local[2]``, ``spark://…``, ``yarn``,
        ``k8s://…``) or of Spark Connect (``sc://…``); or a session. The engine uses a session through a new session on
        the same Spark, so it neither stops nor changes the session.
    brief
        Whether Java, if the engine starts it, compiles quickly rather than well: for short work, such as tests.
    confinement
        The confinement of processes that run calculators; by default as the environment variables say.

    Attributes
    ----------
    report_start
        Called around the start of Spark; by default nothing is reported.
    report_refusal
        Called with the reason if there is a warm Spark that cannot be used; by default nothing is reported.

    Raises
    ------
    EngineError
        If `spark` is something else, or calculators cannot run as another user on this Spark.
    """

    def __init__(
        self, spark: object | None = None, *, brief: bool = False, confinement: Confinement | None = None
    ) -> None:
        is_session = _is_connect(spark) or is_loaded_instance(spark, "pyspark.sql.session", "SparkSession")
        is_url = isinstance(spark, str) and (
            spark == WARM or _MASTERS.fullmatch(spark) or re.fullmatch("sc://.+", spark)
        )
        if not (spark is None or is_session or is_url):
            raise EngineError(
                f"spark={spark!r} is neither the URL of a Spark nor a session",
                hint="warm, local[*], local[4], spark://host:7077, yarn, k8s://https://host:port, sc://host:15002",
            )
        self._is_warm = spark == WARM
        self._spark: Any = None if self._is_warm else spark
        self._brief = brief
        self._confinement = Confinement.of() if confinement is None else confinement
        if self._confinement.user and (is_session or self.is_remote):
            raise EngineError(
                f"calculators run as {self._confinement.user} only on a Spark that provenn starts on this machine",
                hint=Hint(
                    "omit spark=, or name a local master: local[4]",
                    command="omit --spark, or name a local master: local[4]",
                ),
            )
        self._starting = threading.RLock()
        self._session: SparkSession | None = None
        self._stop: Callable[[], None] = _stop_nothing
        self.report_start: Callable[[], AbstractContextManager[None]] = nullcontext
        self.report_refusal: Callable[[str], None] = _report_nothing
        self._java_settings: Any = None  # of the session, as Java has them: one object as long as the session lives
        self._settings_hash: int | None = None  # of these, when they were last right

    @property
    def session(self) -> SparkSession:
        """The session of this engine, held to `SETTINGS`; started if it is missing or was stopped from outside.

        Raises
        ------
        EngineError
            If the session cannot be started or reached, if the user's session has been stopped, or if a setting that
            decides answers cannot be set.
        """
        with self._starting:  # other threads that ask meanwhile get the same session
            return self._ensure_session()

    def _ensure_session(self) -> SparkSession:
        if self._session is not None and _is_stopped(self._session):
            self.close()
        if self._session is None:
            self._session = attach_session(self._confinement, self.report_refusal) if self._is_warm else None
            self._stop = _stop_nothing if self._session is None else release_context
        if self._session is None:
            with self.report_start():
                self._session, self._stop = self._start()
        self._hold(self._session)
        return self._session

    def _hold(self, session: SparkSession) -> None:
        """Set the settings that decide answers, in case other code has changed them."""
        try:
            if self.is_remote or self._hash_settings(session) != self._settings_hash:
                hold_settings(session, _CONNECT if self.is_remote else _CLASSIC)
                self._settings_hash = None if self.is_remote else self._hash_settings(session)
        except EngineError:
            self.close()
            raise
        except Exception as error:
            self.close()
            raise EngineError(f"{self._where} does not answer like Spark: {_first_line(error)}") from error

    def _hash_settings(self, session: SparkSession) -> int:
        """Return a hash of the settings of a session, which Java computes faster than it sends all settings."""
        if self._java_settings is None:
            java: Any = session._jsparkSession  # noqa: SLF001 - no public call gives it
            self._java_settings = java.sessionState().conf().settings()
        return int(self._java_settings.hashCode())

    @property
    def is_started(self) -> bool:
        """Whether the engine has a session."""
        return self._session is not None

    @property
    def is_embedded(self) -> bool:
        """Whether Spark runs inside this process, with the present Java or the Java that `find_java` returns."""
        return self._spark is None or (isinstance(self._spark, str) and self._spark.startswith("local"))

    @property
    def is_remote(self) -> bool:
        """Whether Spark Connect leads to Spark, so that this process has no Java."""
        return (isinstance(self._spark, str) and self._spark.startswith("sc://")) or _is_connect(self._spark)

    def close(self) -> None:
        """Stop everything that this engine has started, and nothing else; `session` starts it again."""
        self._session = self._java_settings = None
        stop, self._stop = self._stop, _stop_nothing
        stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Engine on {self._where}{', started' if self.is_started else ''}>"

    @property
    def _where(self) -> str:
        return self._spark if isinstance(self._spark, str) else "this machine" if self._spark is None else "a session"

    def _start(self) -> tuple[SparkSession, Callable[[], None]]:
        if isinstance(self._spark, str) and self._spark.startswith(("spark://", "sc://")):
            _call(self._spark)
        if self.is_remote:
            return self._start_connect()
        if self._spark is None or isinstance(self._spark, str):
            session, is_counted = open_session(self._spark, brief=self._brief, confinement=self._confinement)
            return session, release_context if is_counted else _stop_nothing
        return self._require_user_session().newSession(), _stop_nothing

    def _require_user_session(self) -> Any:  # noqa: ANN401 - a session of either kind
        if _is_stopped(self._spark):
            raise EngineError(
                "the Spark session that was given has been stopped", hint="start another session, and pass that"
            )
        return self._spark

    def _start_connect(self) -> tuple[SparkSession, Callable[[], None]]:
        from pyspark import SparkContext  # noqa: PLC0415 - Spark is slow to import

        for package in ("grpc", "grpc_status", "google.rpc", "zstandard"):  # pyspark may end the process without them
            try:
                import_module(package)
            except ImportError as error:
                raise EngineError(
                    f"{self._where} needs packages that are missing: {error}", hint="pip install 'provenn[connect]'"
                ) from error
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415

        sets_mode = _CONNECT_MODE not in os.environ
        if sets_mode and SparkContext._active_spark_context is not None:  # noqa: SLF001
            raise EngineError(
                f"this process runs Spark itself, so it cannot use {self._where}",
                hint="first close the archive or session that uses it; pyspark supports only one of both at a time",
            )
        if isinstance(self._spark, str):
            session: Any = SparkSession.builder.remote(self._spark).create()
        else:
            session = self._require_user_session().newSession()
        os.environ[_CONNECT_MODE] = "1"

        def stop() -> None:  # session.stop() might stop the server too
            with suppress(Exception):
                session.client.release_session()
            session.client.close()
            if sets_mode:
                os.environ.pop(_CONNECT_MODE, None)

        return session, stop


def _stop_nothing() -> None:
    """Do nothing."""


def _report_nothing(_: str) -> None:
    """Do nothing."""


def _is_connect(spark: object) -> bool:
    return is_loaded_instance(spark, "pyspark.sql.connect.session", "SparkSession")


def _is_stopped(session: Any) -> bool:  # noqa: ANN401 - of either kind
    if _is_connect(session):
        return bool(session.is_stopped)
    try:
        java = session.sparkContext._jsc  # noqa: SLF001 - as pyspark itself asks
        return java is None or bool(java.sc().isStopped())
    except Exception:  # noqa: BLE001 - its Java has died
        return True


def _call(url: str) -> None:
    """Raise `EngineError` if no host of a URL accepts a connection; Spark itself would try for minutes."""
    port = "15002" if url.startswith("sc://") else "7077"
    hosts = url.partition("://")[2].partition("/")[0].split(",")
    for host in hosts:
        name, _, number = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", port)
        try:
            socket.create_connection((name.strip("[]"), int(number)), timeout=_PATIENCE).close()
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            return
    raise EngineError(f"no Spark answers at {url}: {reason}", hint="check that it is running at this host and port")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
