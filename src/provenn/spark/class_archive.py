"""A class-data archive for Spark's Java: the classes of a start, read and checked once, mapped into memory afterwards.

Java calls it AppCDS (JEP 350). The archive lies in the user's cache folder, one for each Java and Spark, some 160 MB.
It is made in the background, after the first process that ran Spark without one has ended (`make_class_archive`).
A damaged one must not break a start, and Java maps what it is given: so the size is in the name of the file, and Java
checks the sums (some 0.2 s). It starts without an archive that is damaged or was made for something else.
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

__all__ = ["archive_options", "archive_stem", "complete_archive"]


def archive_stem(java: Java, spark_home: Path) -> Path | None:
    """Return what the archive for a Java and a Spark is called, but for its size; None if there is no place for it."""
    folder = None if os.environ.get("PROVENN_CLASS_ARCHIVE") == "off" else cache_folder()
    if folder is None:
        return None
    # Java refuses an archive that was made from other files, or from files of another age.
    jars = [(jar.name, jar.stat().st_mtime_ns) for jar in sorted((spark_home / "jars").glob("*.jar"))]
    key = sha256(repr((str(java.home), java.version, str(spark_home), jars)).encode()).hexdigest()
    return folder / f"spark-{key[:16]}"


def complete_archive(stem: Path) -> Path | None:
    """Return the archive that is called so, if there is one that has its size; any other is removed."""
    for file in stem.parent.glob(f"{stem.name}-*.jsa"):
        with suppress(OSError):
            if file.stem == f"{stem.name}-{file.stat().st_size}":
                return file
            file.unlink()
    return None


def archive_options(java: Java, spark_home: Path) -> list[str]:
    """Return the options with which Java uses the archive; if there is none, have it made after this process."""
    stem = archive_stem(java, spark_home)
    if stem is None:
        return []
    file = complete_archive(stem)
    if file is None:
        atexit.register(_make_in_background, stem)
        return []
    with suppress(OSError):
        os.utime(file)  # it is in use
    return [f"-XX:SharedArchiveFile={file}", "-XX:+VerifySharedSpaces", "-Xshare:auto"]


def _make_in_background(stem: Path) -> None:
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "provenn.spark.make_class_archive", stem],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # it outlives the terminal
        )
