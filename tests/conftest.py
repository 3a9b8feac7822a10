"""Golden files: texts and pictures that are compared with what the program makes now.

``pytest --regenerate`` (``make golden``) rewrites them; they are never edited by hand.
"""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import httpx
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from provenn.processes import make_process_mark
from provenn.spark import engine
from tests.leftovers import MEMORY, PREFIX, find_temporary, remove_leftovers
from tests.made_commands import made_commands  # noqa: F401 - a fixture of all tests
from tests.shared_statements import shared_statements  # noqa: F401 - a fixture of all tests
from tests.template_archives import (  # noqa: F401 - fixtures of many rooms
    postgres,
    postgres_archive,
    repeated_migrations,
    sqlite_archive,
)
from tests.waiting import LIMIT

ROOT = Path(__file__).parent.parent
ROOM = 4 << 30
"""Bytes of memory that must be free for files of tests to be held there."""

LONG = (
    *("browser/test_every_page.py", "browser/test_jobs.py", "browser/test_paths.py", "browser/test_policy.py"),
    *("spark/test_platforms.py", "tpch/test_queries.py", "test_crashes.py", "targets/test_rewritten_files.py"),
    *("test_documentation.py", "isolation/test_hostile_calculators.py", "spark/test_crossmatch.py"),
    *("targets/test_leasing.py", "targets/test_continued_matches.py", "spark/test_cluster.py", "test_tutorial.py"),
    *("criteria/reductions/test_spark_rows.py", "spark/test_fragments.py", "targets/test_running.py"),
    *("spark/test_engine.py", "targets/test_declared_facts.py", "spark/test_first_rows.py", "spark/test_connect.py"),
    *("tap/test_taplint.py", "tap/test_jobs.py", "tap/test_pyvo.py", "tap/test_uploads.py", "tap/test_visibility.py"),
    *("data/test_races.py", "spark/test_writing.py", "targets/test_grown_archives.py", "faults/test_sweep.py"),
)
"""The files with tests that take longest, a third of a minute of CPU or more each: they begin first, the longest before
all, so that at the end nobody waits for one of them alone."""

JAVA = (
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:MetaspaceSize=256m", "-XX:InitialRAMPercentage=6"),
    *("-XX:ReservedCodeCacheSize=200m", "-Dspark.buffer.pageSize=1m"),
)
"""Options of every Java that tests start: it compiles quickly rather than well, which halves what a short Spark takes,
and begins with room for Spark's classes and first queries, which else it makes by looking for garbage many times.

A Java that compiles quickly has little room for compiled code, and would discard it and compile it again. Spark would
take 64 MB at a time to sort or to join a few rows. Without both, tests with Spark take an eighth less time."""

TOGETHER = ("tests/browser/",)
"""Folders whose files one process tests, one after the other: they share a browser and a server."""

MEMORY_OF_SPARK = "2g"
"""The largest heap of every Spark that tests start: each could grow to half of the machine's memory, and each process
of the tests has one."""

SHARE = 5
"""Of how many examples that a Hypothesis test asks for one is drawn by `make test`; `make campaign` draws all."""

FEWEST = 3
"""How many examples of a Hypothesis test are always drawn, if it asks for so many."""


@pytest.fixture(scope="session", autouse=True)
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A place for what provenn notes for its user, so that tests do not write to that of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("configuration")
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def kept_spark() -> Iterator[None]:
    """Keep the first Spark that a test starts in this process, for all tests after it: starting one takes seconds.

    Whoever asks for no particular Spark gets the one of the fixture `engine`; whoever asks for another one on this
    machine is refused, whether or not a test before has started one: the order of tests decides nothing. How Spark
    starts and ends is tested in processes of their own (`tests/spark/fresh.py`).
    """
    open_session, kept = engine.open_session, []

    def open_and_keep(master: str | None, **options: Any) -> Any:
        from pyspark import SparkContext  # noqa: PLC0415 - slow to import, and needed only now

        if SparkContext._active_spark_context is None and (master or "local").startswith("local"):
            with chdir(ROOT):  # Spark's Python workers look for `tests` in the folder in which Java was started
                kept.append(open_session("local[2]", **options | {"brief": True}))
        return open_session(master, **options)

    with pytest.MonkeyPatch.context() as patch:
        if "PROVENN_TEST_SPARK" not in os.environ:
            patch.setattr(engine, "open_session", open_and_keep)
        yield
    if kept:
        engine.release_context()


@pytest.hookimpl(tryfirst=True)  # before pytest chooses its own
def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C mean what it means: a shell that runs the tests in the background has it ignored, also by children.

    No machine is too slow: neither Hypothesis nor a client of HTTP fails for the time that something takes. Files of
    tests are held in memory, where there is room: SQLite waits for a disk after each transaction.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile all of provenn anew
    sys.dont_write_bytecode = False
    remove_leftovers()
    _use_own_temporary_folder(config)
    if config.option.basetemp is None and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        config.option.basetemp = MEMORY / f"{PREFIX}{make_process_mark()}"
        config.add_cleanup(lambda: shutil.rmtree(config.option.basetemp, ignore_errors=True))
    # Tests of answers ask Spark; those of looks without Spark (tests/look, tests/targets/test_looking.py) compare both.
    os.environ.setdefault("PROVENN_ENGINE", "spark")
    if os.environ.get("PROVENN_TEST_SPARK") != "warm":
        os.environ["PROVENN_WARM"] = "off"  # no test uses the Spark that whoever runs the tests keeps warm
    os.environ.setdefault("JDK_JAVA_OPTIONS", " ".join(JAVA))
    os.environ.setdefault("SPARK_DRIVER_MEMORY", MEMORY_OF_SPARK)
    settings.register_profile("provenn", settings.get_profile(settings.get_current_profile_name()), deadline=None)
    settings.load_profile("provenn")
    for timeout in ("connect", "read", "write", "pool"):
        setattr(httpx.get.__kwdefaults__["timeout"], timeout, LIMIT)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _use_own_temporary_folder(config: pytest.Config) -> None:
    """Keep temporary files of this process apart: `check` finds what killed processes leave among all of them."""
    folder = find_temporary() / f"{PREFIX}{make_process_mark()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    folder.chmod(0o755)  # PostgreSQL, which runs as another user, passes through
    os.environ["TMPDIR"], tempfile.tempdir = str(folder), None
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Look for no garbage while tests are collected, and afterwards not among them: they stay until the end.

    Half of the time of collecting went into that, in every process.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[list[pytest.Collector]]:
    """Look for doctests in the source alone: tests have none, and to look through them takes seconds."""
    collectors = yield
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(tryfirst=True)  # before items are chosen by their markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let long tests begin first, and Hypothesis draw fewer examples, unless all are wanted.

    Tests that Hypothesis draws examples for get a marker.
    """
    places = {ROOT / "tests" / file: place for place, file in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))
    drawing = {}
    for item in items:
        function = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
        if getattr(function, "is_hypothesis_test", False):
            item.add_marker(pytest.mark.random)
            drawing[id(function)] = function
    if not config.getoption("--thorough"):
        for function in drawing.values():
            wanted = function._hypothesis_internal_use_settings
            fewer = max(min(wanted.max_examples, FEWEST), wanted.max_examples // SHARE)
            function._hypothesis_internal_use_settings = settings(wanted, max_examples=fewer)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process files of tests, and all files of a folder of `TOGETHER` to one process."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - for the process that starts the others

    class LoadFolderScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid))

    return LoadFolderScheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help=f"let Hypothesis draw {SHARE} times as many examples")
    parser.addoption("--regenerate", action="store_true", help="rewrite golden files and the pictures in docs/")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the file of this path, under the root of the project."""

    def compare(path: str, text: str) -> None:
        file = ROOT / path
        if request.config.getoption("--regenerate"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"{path} is missing: make golden"
        assert text == file.read_text(encoding="utf-8"), f"{path} differs: look at it, then make golden"

    return compare
