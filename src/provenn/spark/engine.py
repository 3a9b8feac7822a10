"""Where data are computed: a Spark session, embedded, on a cluster, behind Spark Connect, or the user's own."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from provenn.errors import EngineError
from provenn.spark.context import give_back, new_session
from provenn.spark.settings import hold_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Engine"]

_CLASSIC = {  # Spark Connect knows no other way than by Arrow
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
}
_CONNECT = {"spark.connect.progress.reportInterval": "300ms"}  # not 2 s, in which a short run is over

_MASTERS = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|spark://.+|yarn|k8s://.+")
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"  # by this, pyspark's functions know for whom they make columns
_PATIENCE = 5.0
"""Seconds in which a server must answer the phone."""


class Engine:
    """Where data are computed: a Spark session, started when it is first needed.

    Parameters
    ----------
    spark
        None for Spark in this process, on all cores, or on the context that is there; the URL of a master
        (``local[2]``, ``spark://…``, ``yarn``, ``k8s://…``) or of Spark Connect (``sc://…``); or a session. A session
        is used through another one on the same Spark: it is neither stopped nor changed.
    brief
        Whether to compile quickly rather than well, if Java is to be started: for short work, such as tests.

    Raises
    ------
    EngineError
        If `spark` is something else.
    """

    def __init__(self, spark: object | None = None, *, brief: bool = False) -> None:
        is_session = type(spark).__name__ == "SparkSession" and type(spark).__module__.startswith("pyspark.")
        is_url = isinstance(spark, str) and (_MASTERS.fullmatch(spark) or re.fullmatch("sc://.+", spark))
        if not (spark is None or is_session or is_url):
            raise EngineError(
                f"spark={spark!r} is neither the URL of a Spark nor a session",
                hint="local[*], local[4], spark://host:7077, yarn, k8s://https://host:port, sc://host:15002",
            )
        self._spark: Any = spark
        self._brief = brief
        self._starting = threading.RLock()
        self._session: SparkSession | None = None
        self._stop: Callable[[], None] = _nothing
        self._held: int | None = None  # the settings of the session when they were last seen to be right

    @property
    def session(self) -> SparkSession:
        """A session of its own, held to `SETTINGS`; started if it is not there, or was stopped from outside.

        Raises
        ------
        EngineError
            If it cannot be started or reached, if the session that was given has been stopped, or if settings on
            which answers depend cannot be made.
        """
        with self._starting:  # whoever else asks meanwhile gets the same
            return self._started()

    def _started(self) -> SparkSession:
        if self._session is not None and _stopped(self._session):
            self.close()
        if self._session is None:
            self._session, self._stop = self._start()
        self._hold(self._session)
        return self._session

    def _hold(self, session: SparkSession) -> None:
        """Make sure that the session has the settings on which answers depend: somebody may have changed them."""
        try:
            if self.remote or _settings_hash(session) != self._held:
                hold_settings(session, _CONNECT if self.remote else _CLASSIC)
                self._held = None if self.remote else _settings_hash(session)
        except EngineError:
            self.close()
            raise
        except Exception as error:
            self.close()
            raise EngineError(f"{self._where} does not answer as Spark does: {_first_line(error)}") from error

    @property
    def started(self) -> bool:
        """Whether there is a session."""
        return self._session is not None

    @property
    def remote(self) -> bool:
        """Whether it is reached by Spark Connect: then there is no Java at hand."""
        return (isinstance(self._spark, str) and self._spark.startswith("sc://")) or _is_connect(self._spark)

    def close(self) -> None:
        """Stop what this engine has started, and nothing else; `session` would start it again."""
        self._session = None
        stop, self._stop = self._stop, _nothing
        stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Engine on {self._where}{', started' if self.started else ''}>"

    @property
    def _where(self) -> str:
        return self._spark if isinstance(self._spark, str) else "this machine" if self._spark is None else "a session"

    def _start(self) -> tuple[SparkSession, Callable[[], None]]:
        if isinstance(self._spark, str) and self._spark.startswith(("spark://", "sc://")):
            _call(self._spark)
        if self.remote:
            return self._start_connect()
        if self._spark is None or isinstance(self._spark, str):
            session, ours = new_session(self._spark, brief=self._brief)
            return session, give_back if ours else _nothing
        return self._theirs().newSession(), _nothing

    def _theirs(self) -> Any:  # noqa: ANN401 - a session of either kind
        if _stopped(self._spark):
            raise EngineError(
                "the Spark session that was given has been stopped", hint="start another one, and pass that"
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

        ours = _CONNECT_MODE not in os.environ
        if ours and SparkContext._active_spark_context is not None:  # noqa: SLF001
            raise EngineError(
                f"this process runs Spark itself, so it cannot use {self._where}",
                hint="close what uses it (an archive, a session) first; pyspark can do only one of both at a time",
            )
        if isinstance(self._spark, str):
            session: Any = SparkSession.builder.remote(self._spark).create()
        else:
            session = self._theirs().newSession()
        os.environ[_CONNECT_MODE] = "1"

        def stop() -> None:  # not session.stop(), which may stop a server as well
            with suppress(Exception):
                session.client.release_session()
            session.client.close()
            if ours:
                os.environ.pop(_CONNECT_MODE, None)

        return session, stop


def _nothing() -> None:
    """Stop nothing."""


def _settings_hash(session: SparkSession) -> int:
    """Return a number that changes with the settings of a session: Java works it out faster than it tells them all."""
    java: Any = session._jsparkSession  # noqa: SLF001 - nothing public says it
    return int(java.sessionState().conf().settings().hashCode())


def _is_connect(spark: object) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _stopped(session: Any) -> bool:  # noqa: ANN401 - of either kind
    if _is_connect(session):
        return bool(session.is_stopped)
    try:
        java = session.sparkContext._jsc  # noqa: SLF001 - as pyspark itself asks
        return java is None or bool(java.sc().isStopped())
    except Exception:  # noqa: BLE001 - its Java has died
        return True


def _call(url: str) -> None:
    """Raise `EngineError` if nobody listens at any host of a URL: Spark itself would try for minutes."""
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
    raise EngineError(f"no Spark answers at {url}: {reason}", hint="is it running, and is that its host and port?")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
