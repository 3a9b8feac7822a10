"""Make a class-data archive: ``python -m provenn.spark.make_class_archive STEM``.

A new Spark runs a few typical queries, and when Java ends, Java writes all loaded classes. An incomplete archive has
another name; only a single process at a time makes an archive. Where Java has no archive of its own classes, one is
made first, because Java writes only what is missing there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from provenn.durable import publish_over
from provenn.spark.class_archive import choose_base_stem, find_complete_archive
from provenn.spark.context import end_java, start_context
from provenn.spark.java import Java, find_java

if TYPE_CHECKING:
    from pyspark import SparkContext

__all__ = ["make_archive", "run_typical_queries"]

_UNUSED = 60 * 24 * 3600.0
"""Seconds after which an unused archive is deleted, because its Java or Spark is probably gone."""

_PATIENCE = 600.0
"""Seconds after which a process that began to make an archive must have died."""


def make_archive(stem: Path) -> bool:
    """Make an archive, unless the archive exists or another process is at work; return whether this process made it."""
    lock = stem.with_suffix(".lock")
    with suppress(FileNotFoundError):
        if time.time() - lock.stat().st_mtime > _PATIENCE:
            lock.unlink()
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        return False
    try:
        if find_complete_archive(stem) is not None:
            return False
        for old in [*stem.parent.glob("spark-*.jsa"), *stem.parent.glob("java-*.jsa")]:
            if time.time() - old.stat().st_mtime > _UNUSED:
                old.unlink()
        with tempfile.TemporaryDirectory(dir=stem.parent) as folder:
            new = Path(folder) / "archive"
            base = _prepare_base_archive(find_java(), stem, Path(folder) / "base")
            options = [f"-XX:SharedArchiveFile={base}"] if base else []
            context = start_context("local[1]", java_options=[*options, f"-XX:ArchiveClassesAtExit={new}"])
            run_typical_queries(context, Path(folder))
            is_made = end_java(wait=_PATIENCE) and new.exists()
            if is_made:
                _publish(new, stem)
        return is_made
    finally:
        lock.unlink(missing_ok=True)


def _prepare_base_archive(java: Java, stem: Path, new: Path) -> Path | None:
    """Return the archive of Java's own classes that provenn has made; None if Java has its own, or cannot make one."""
    executable = java.home / "bin" / "java"
    base = choose_base_stem(stem)
    complete = find_complete_archive(base)
    if complete is not None or _run_java(executable, "-Xshare:on", "-version"):
        return complete
    return _publish(new, base) if _run_java(executable, "-Xshare:dump", f"-XX:SharedArchiveFile={new}") else None


def _run_java(executable: Path, *options: str) -> bool:
    """Return whether a command of Java ends without an error."""
    command = [str(executable), *options]
    return subprocess.run(command, capture_output=True, check=False, timeout=_PATIENCE).returncode == 0  # noqa: S603


def _publish(new: Path, stem: Path) -> Path:
    """Give an archive its name, which contains the size."""
    file = stem.with_name(f"{stem.name}-{new.stat().st_size}.jsa")
    publish_over(new, file)
    return file


def run_typical_queries(context: SparkContext, folder: Path) -> None:
    """Run a few typical queries, so that Java loads their classes; files go to a folder."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - Spark is slow to import

    session = SparkSession(context).newSession()
    session.range(100).selectExpr("id", "id % 7 AS x", "CAST(id AS string) AS s").write.parquet(f"{folder}/stars")
    stars = session.read.parquet(f"{folder}/stars")
    stars.where("x < 3").write.csv(f"{folder}/csv", header=True)
    bright = session.read.csv(f"{folder}/csv", header=True, schema=stars.schema)
    both = stars.join(bright.select("id"), "id").unionByName(bright).dropDuplicates(["id"])
    both.mapInArrow(lambda batches: batches, both.schema).groupBy("x").count().orderBy("x").toPandas()


if __name__ == "__main__":
    os.nice(19)  # all other processes come first
    make_archive(Path(sys.argv[1]))
