"""The platform of an engine: the Java version and the kind of machine on which data are computed."""

from __future__ import annotations

import platform
import sys
from threading import Lock
from typing import TYPE_CHECKING, Any

from provenn.database.platform import UNKNOWN, Platform
from provenn.errors import EngineError
from provenn.spark.java import find_java

if TYPE_CHECKING:
    from provenn.spark.engine import Engine

__all__ = ["EnginePlatform"]

_PROPERTIES = ("java.specification.version", "os.name", "os.arch")
_MOST_TASKS = 64
"""The most tasks that report their platform, so that every worker of a cluster is likely to run one."""


class EnginePlatform:
    """Finds the platform of an engine at the first call, and remembers the platform.

    For Spark inside this process, `find_java` is enough, and Spark is not started. On a cluster, tasks on the workers
    report the platform.

    Parameters
    ----------
    engine
        The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._reported: Platform | None = None
        self._expected: Platform | None = None

    def __call__(self) -> Platform:
        """Return the platform; an unknown one if Spark does not answer or its workers have different platforms."""
        with self._lock:
            if self._reported is not None:
                return self._reported
            if not self._engine.is_started and self._engine.is_embedded and not _is_spark_running():
                self._expected = self._expected or _predict_platform()
                return self._expected
            try:
                self._reported = self._query_platform()
            except EngineError:
                return UNKNOWN
            return self._reported

    def _query_platform(self) -> Platform:
        session: Any = self._engine.session
        if not self._engine.is_remote and session.sparkContext.master.startswith("local"):
            system = session._jvm.java.lang.System  # noqa: SLF001 - no public call gives it
            return _make_platform(*(system.getProperty(name) for name in _PROPERTIES))
        queries = [f"java_method('java.lang.System', 'getProperty', '{name}')" for name in _PROPERTIES]
        try:
            tasks = _MOST_TASKS if self._engine.is_remote else min(session.sparkContext.defaultParallelism, _MOST_TASKS)
            rows = session.range(0, tasks, 1, tasks).selectExpr(*queries).distinct().collect()
        except Exception:  # noqa: BLE001 - a Spark that hides its Java counts as unknown
            return UNKNOWN
        return _make_platform(*rows[0]) if len(rows) == 1 else UNKNOWN


def _make_platform(java: str, system: str, processor: str) -> Platform:
    return Platform(java, f"{system} {_PROCESSORS.get(processor, processor)}")


_PROCESSORS = {"x86_64": "amd64", "AMD64": "amd64", "arm64": "aarch64"}
"""Other names of processors, because Java, Python and operating systems name them differently."""
_SYSTEMS = {"Darwin": "Mac OS X"}


def _predict_platform() -> Platform:
    """Return the platform of a Spark that will be started in this process."""
    try:
        java = find_java()
    except EngineError:
        return UNKNOWN
    system = platform.system()
    return _make_platform(str(java.major), _SYSTEMS.get(system, system), platform.machine())


def _is_spark_running() -> bool:
    """Return whether this process already runs Spark; the engine then uses it, with any Java."""
    module = sys.modules.get("pyspark")
    return module is not None and module.SparkContext._active_spark_context is not None  # noqa: SLF001
