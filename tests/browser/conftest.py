"""A real Chromium, and a real server of the archive of `tests.web.survey`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import sin
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, sync_playwright

from tests.browser.visitor import DESKTOP, ROOT, Visitor
from tests.chromium import chromium
from tests.waiting import LIMIT
from tests.web import calculations
from tests.web.survey import make_survey


@dataclass(frozen=True, slots=True)
class Served:
    """Where a server is, what a browser that has been there brings along, and the folder of the archive."""

    address: str
    state: StorageState
    folder: Path


class Visit:
    """A Chromium, a server, and a page for whoever needs no other: each is started when a test first needs it.

    No fixture of the session holds them: while Playwright is there, this thread has its event loop, and no test of
    another room could run one. They end with the last test of this room.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()

    @cached_property
    def browser(self) -> Browser:
        playwright = self._stack.enter_context(sync_playwright())
        path = chromium()
        return self._stack.enter_context(playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]))

    @cached_property
    def served(self) -> Served:
        return self._stack.enter_context(serve(self.browser, self._folder))

    @cached_property
    def page(self) -> Page:
        """A page that visitors use one after the other: a new page takes half a second of CPU, and a test as much."""
        return self.open_context().new_page()

    def open_context(self, **how: Any) -> BrowserContext:
        context = self.browser.new_context(**({"viewport": DESKTOP, "storage_state": self.served.state} | how))
        context.set_default_timeout(1000 * LIMIT)
        return context

    def close(self) -> None:
        self._stack.close()


_present: list[Visit] = []


@pytest.fixture
def present(tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """The browser and server of all tests in this room."""
    if not _present:
        _present.append(Visit(tmp_path_factory.mktemp("browser") / "survey"))
    return _present[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """End browser and server if the next test is in another room."""
    try:
        return (yield)
    finally:
        if _present and (nextitem is None or Path(__file__).parent not in nextitem.path.parents):
            _present.pop().close()


@pytest.fixture
def browser(present: Visit) -> Browser:
    return present.browser


@pytest.fixture
def served(present: Visit) -> Served:
    return present.served


@contextmanager
def serve(browser: Browser, folder: Path) -> Iterator[Served]:
    """Run a server, as `provenn serve` starts it."""
    _make(folder)
    command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json", "--archive", str(folder)]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])  # jobs call calculators of tests
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
    log = folder.with_name("server.log")
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True, env=environment)
    with process, process.stdout as out:  # type: ignore[union-attr] # there is one, it was asked for
        try:
            home = json.loads(out.readline() or "null")
            assert home, log.read_text()
            yield _entered(browser, home["address"], folder)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT)
    assert "Traceback" not in log.read_text(), log.read_text()


def _make(folder: Path) -> None:
    with make_survey(folder) as archive:
        stars = [(place, 15.0 * place, 70.0 - 9 * place, 5 + place % 7) for place in range(16)]
        columns = dict(zip(("id", "ra", "dec", "gmag"), map(list, zip(*stars, strict=True)), strict=True))
        pq.write_table(pa.table(columns), folder / "placed.parquet")
        placed = archive.ingest("placed", folder / "placed.parquet", key="id", population="placed star")
        placed.select("dec > 20", name="northern")
        placed.select("gmag > 8", name="faint_placed")
        placed.select("id >= 5", name="never_looked_at")  # but by one test
        times = [[60000.0 + 3 * point + star for point in range(40)] for star in range(6)]
        mags = [[18 + star / 3 + sin(time / (5 + star)) for time in times[star]] for star in range(6)]
        curves = pa.table({"id": list(range(6)), "mjd": times, "gmags": mags, "flux": [row[:9] for row in mags]})
        pq.write_table(curves, folder / "curves.parquet")
        archive.ingest("curves", folder / "curves.parquet", key="id", population="variable star")
        values: dict[str, Any] = {"inputs": ["vmag"]}
        archive.calculator("doubled", calculations.doubled, outputs={"twice": "double"}, **values)
        archive.calculator("failing", calculations.failing, outputs={"never": "double"}, **values)
        archive.calculator("slow", calculations.slow, outputs={"late": "double"}, **values)


def _entered(browser: Browser, home: str, folder: Path) -> Served:
    """Open the address that the server tells, as its user does, and keep what the browser then has."""
    with browser.new_context() as context:
        answer = context.new_page().goto(home)
        assert answer is not None
        assert answer.ok, answer.status_text
        parts = urlsplit(home)
        return Served(f"{parts.scheme}://{parts.netloc}", context.storage_state(), folder)


@pytest.fixture
def visit(present: Visit) -> Iterator[Callable[..., Visitor]]:
    """Gives visitors with a browser of their own, who complain at the end about whatever went wrong."""
    with ExitStack() as stack:

        def come(**how: Any) -> Visitor:
            context = stack.enter_context(present.open_context(**how))
            visitor = Visitor(context.new_page(), present.served.address)
            stack.callback(visitor.leave)
            return visitor

        yield come


@pytest.fixture
def visitor(present: Visit) -> Iterator[Visitor]:
    """A visitor at the page that visitors use one after the other, as if it were new but for its history."""
    shared = present.page
    visitor = Visitor(shared, present.served.address)
    try:
        yield visitor
        for page in shared.context.pages:
            if page is not shared:
                page.close()
        shared.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
        shared.emulate_media(color_scheme="light")
        shared.context.clear_cookies()
        shared.context.add_cookies(present.served.state["cookies"])  # type: ignore[arg-type]
    finally:
        visitor.leave()
