"""What a command and the keeper of a warm Spark must have in common, so that the answers are the same.

A Spark that a command starts takes over much from the command: the version of the packages, the settings, the variables
that lead to data, the rights over files. So a command uses the warm Spark only if all of this is equal. The environment
and the current folder of calculators need not be equal, because these follow the command (`worker_side`).
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from provenn._version import __version__
from provenn.database.secrets import remove_secrets
from provenn.spark.java import find_java
from provenn.spark.start_settings import build_start_settings

__all__ = ["describe_surroundings", "explain_difference", "read_status"]

_VARIABLE = "the environment variable "
_MATTERING = (
    *("SPARK_*", "PYSPARK_*", "JAVA_*", "JDK_*", "_JAVA_OPTIONS", "CLASSPATH", "PYTHON*", "LD_LIBRARY_PATH"),
    *("LD_PRELOAD", "HADOOP_*", "HDFS_*", "HIVE_*", "YARN_*", "KRB5*", "AWS_*", "S3_*", "AZURE_*", "GOOGLE_*"),
    *("*_proxy", "*_PROXY", "TZ", "LANG", "LANGUAGE", "LC_*", "HOME", "USER", "LOGNAME"),
)
"""Variables that decide how Java runs, and what Spark reaches."""
_OF_EACH = ("SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
"""Variables that pyspark sets itself, or that each command brings to its own workers."""
_PACKAGE = Path(__file__).parents[2]
_NAMESPACES = ("mnt", "net", "pid", "user")


def describe_surroundings() -> dict[str, str]:
    """Return everything about this process that decides what a Spark started here does, by name, without secrets.

    Raises
    ------
    JavaNotFoundError
        If there is no Java.
    """
    java = find_java()
    surroundings = {
        "provenn": f"{__version__} in {_PACKAGE}, {_hash(repr([*_list_code()]))}",
        "Spark": f"{version('pyspark')} in {_find_spark_home()}",
        "Java": f"{java.version} in {java.home}",
        "Python": f"{sys.version_info[:3]} in {sys.prefix}",
        "the configuration of Spark": _hash(repr([*_list_configuration()])),
        "the user and groups": repr((os.getuid(), os.getgid(), sorted(os.getgroups()))),
        "the umask": read_status(os.getpid()).get("Umask", ""),
        "the cores": repr(sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "the container or root folder": repr([*_list_namespaces()]),
    }
    settings = build_start_settings(is_local=True, java_options=())
    surroundings |= {f"the setting {name}": value for name, value in settings.items()}
    variables = remove_secrets(os.environ)
    surroundings |= {
        f"{_VARIABLE}{name}": _hash(value)
        for name, value in variables.items()
        if value and name not in _OF_EACH and any(fnmatchcase(name, pattern) for pattern in _MATTERING)
    }
    return surroundings


def explain_difference(warm: Mapping[str, object], own: Mapping[str, str]) -> str:
    """Return in words why a command cannot use a warm Spark with other surroundings; an empty text if it can.

    >>> explain_difference({"Java": "17"}, {"Java": "21"})
    'it has another Java'
    >>> explain_difference({}, {"the environment variable AWS_PROFILE": "5f0c"})
    'it was started with another value of the environment variable AWS_PROFILE'
    >>> explain_difference({"Java": "17"}, {"Java": "17"})
    ''
    """
    for name in {**own, **warm}:
        if warm.get(name) != own.get(name):
            return f"it was started with another value of {name}" if "the " in name else f"it has another {name}"
    return ""


def read_status(pid: int) -> dict[str, str]:
    """Return what Linux tells about a process; nothing on other systems, or if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _find_spark_home() -> Path:
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    spec = find_spec("pyspark")
    return Path(spec.origin).parent if spec is not None and spec.origin else Path("pyspark")


def _list_code() -> Iterator[tuple[str, int, int]]:
    """Yield the modules that keeper and command must have in common, and when they were written."""
    for folder in (_PACKAGE / "spark", _PACKAGE / "spark" / "warm"):
        yield from _list_ages(folder)


def _list_configuration() -> Iterator[tuple[str, int, int]]:
    """Yield the files with settings of Spark and Hadoop, and when they were written."""
    folders = [os.environ.get("SPARK_CONF_DIR") or _find_spark_home() / "conf", os.environ.get("HADOOP_CONF_DIR")]
    for folder in folders:
        if folder:
            yield from _list_ages(Path(folder))


def _list_ages(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the files of a folder, when they were written, and their sizes."""
    with suppress(OSError):
        for file in sorted(folder.iterdir()):
            status = file.stat()
            if stat.S_ISREG(status.st_mode):
                yield str(file), status.st_mtime_ns, status.st_size


def _list_namespaces() -> Iterator[tuple[str, int]]:
    for name in _NAMESPACES:
        with suppress(OSError):
            yield name, Path(f"/proc/self/ns/{name}").stat().st_ino
    root = Path("/").stat()
    yield "root", root.st_dev ^ root.st_ino


def _hash(text: str) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:24]
