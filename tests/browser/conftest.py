"""A real Chromium, and a real server of the archive of `tests.web.survey`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, StorageState, sync_playwright

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


# Not for the session: while Playwright is there, this thread has its event loop, and no other test could run one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=path, args=["--no-sandbox"]) as item,
    ):
        yield item


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server, as `provenn serve` starts it."""
    folder = tmp_path_factory.mktemp("browser") / "survey"
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
def visit(browser: Browser, served: Served) -> Iterator[Callable[..., Visitor]]:
    """Gives visitors, who complain at the end about whatever went wrong behind the pages."""
    visitors = []

    def come(**how: Any) -> Visitor:
        context = browser.new_context(**({"viewport": DESKTOP, "storage_state": served.state} | how))
        context.set_default_timeout(1000 * LIMIT)
        visitors.append(Visitor(context, served.address))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.leave()


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    return visit()
