"""A class-data archive for Spark's Java: the classes of a start, read and checked once, mapped into memory afterwards.

Java calls it AppCDS (JEP 350). The archive lies in the user's cache folder, one for each Java and Spark, some 160 MB.
It is made in the background, after the first process that ran Spark without one has ended (`make_class_archive`).
Java checks an archive when it maps it, and starts without one that is damaged or was made for something else.
PROVENN_CLASS_ARCHIVE=off does without.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from provenn.spark.cache import cache_folder
from provenn.spark.java import Java

__all__ = ["archive_file", "archive_options"]


def archive_file(java: Java, spark_home: Path) -> Path | None:
    """Return where the archive for a Java and a Spark is, or would be; None if there is no place for it."""
    folder = None if os.environ.get("PROVENN_CLASS_ARCHIVE") == "off" else cache_folder()
    if folder is None:
        return None
    # Java refuses an archive that was made from other files, or from files of another age.
    jars = [(jar.name, jar.stat().st_mtime_ns) for jar in sorted((spark_home / "jars").glob("*.jar"))]
    key = sha256(repr((str(java.home), java.version, str(spark_home), jars)).encode()).hexdigest()
    return folder / f"spark-{key[:16]}.jsa"


def archive_options(java: Java, spark_home: Path) -> list[str]:
    """Return the options with which Java uses the archive; if there is none, have it made after this process."""
    file = archive_file(java, spark_home)
    if file is None:
        return []
    if not file.exists():
        atexit.register(_make_in_background, file)
        return []
    with suppress(OSError):
        os.utime(file)  # it is in use
    return [f"-XX:SharedArchiveFile={file}", "-Xshare:auto"]


def _make_in_background(file: Path) -> None:
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "provenn.spark.make_class_archive", file],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it outlives the terminal
        )
