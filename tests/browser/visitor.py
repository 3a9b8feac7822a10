"""Somebody at a browser: goes from page to page, and takes offence at whatever goes wrong behind the pages."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response, WebError

__all__ = ["Visitor"]

ROOT: Final = Path(__file__).parents[2]
DESKTOP: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 360, "height": 740}

# In other colours, nothing but colours can be wrong that was not before.
_ALL: Final = {"resultTypes": ["violations"]}
_COLOURS: Final = _ALL | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
_RUN_AXE = """(options) => axe.run(options).then((found) => found.violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => `${one.id}: ${one.help}: ` + one.nodes.map((node) => node.html.slice(0, 200)).join(" | ")))"""

_LOAD_PICTURES = """() => Promise.all([...document.images].map((image) => {
  image.loading = "eager";
  return image.decode();
}))"""
"""Pictures further down are loaded late, and some take a while to be drawn; one that is broken fails."""

_REACHABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']"
_NOTE_FOCUS = """() => {
  window.reached = new Set();
  addEventListener("focusin", (event) => {
    const style = getComputedStyle(event.target);
    if (event.target.matches("svg a") || parseFloat(style.outlineWidth) > 0) reached.add(event.target);
  });
}"""
_MISSED = """(selector) => [...document.querySelectorAll(selector)]
  .filter((one) => one.checkVisibility() && !reached.has(one)).map((one) => one.outerHTML.slice(0, 200))"""


class Visitor:
    """Somebody at a browser.

    Parameters
    ----------
    page
        A page of a browser.
    address
        Where the server is, without a slash at the end.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.context: BrowserContext = page.context
        self.address = address
        self.page = page
        self.offences: list[str] = []
        self._refused = 0
        self._listeners: dict[str, Callable[[Any], None]] = {
            "console": self._hear,
            "weberror": self._note_error,
            "request": self._see,
            "requestfailed": self._miss,
            "response": self._judge,
        }
        for event, listener in self._listeners.items():
            self.context.on(event, listener)  # type: ignore[call-overload]
        self._first = page  # a test may turn to another page
        self._first.on("dialog", self._dismiss)

    def open(self, path: str, status: int = 200) -> Page:
        """Open a page by its address."""
        with self.refused() if status >= 400 else _nothing():
            answer = self.page.goto(self.address + path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status}"
        return self.page

    @contextmanager
    def refused(self) -> Iterator[None]:
        """Within this, what is asked for is refused; the page that says so is no offence."""
        self._refused += 1
        yield
        self.page.wait_for_load_state()
        self._refused -= 1

    def look(self, name: str) -> None:
        """Look at the page in light and dark, wide and on a phone, and find that it shuts nobody out.

        Pictures are kept in the folder that the environment names, if it names one: to make them takes longest.
        """
        folder = os.environ.get("PROVENN_SCREENSHOTS")
        self.page.evaluate(AXE_SCRIPT)
        for size, viewport in (("phone", PHONE), ("desktop", DESKTOP)):
            self.page.set_viewport_size(viewport)  # type: ignore[arg-type]
            wide, room = self.page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]")
            assert wide <= room, f"{name} on a {size} is {wide} wide, there is room for {room}"
            for scheme, rules in (("dark", _COLOURS), ("light", _ALL)):
                self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                if folder:
                    self.page.evaluate(_LOAD_PICTURES)
                    self.page.screenshot(path=Path(folder, f"{name}-{size}-{scheme}.png"), full_page=True)
                result = self.page.evaluate(_RUN_AXE, rules)
                assert not result, f"{name} on a {size}, {scheme}:\n" + "\n".join(result)

    def tab_through(self) -> None:
        """Go through the page by Tab: whatever can be used is reached, and it is seen where one is."""
        self.page.evaluate(_NOTE_FOCUS)
        for _ in range(self.page.locator(_REACHABLE).count() + 1):
            self.page.keyboard.press("Tab")
        missed = self.page.evaluate(_MISSED, _REACHABLE)
        assert not missed, "Tab does not reach, or does not show:\n" + "\n".join(missed)

    def tab_to(self, locator: Any) -> None:
        """Press Tab until something has the focus."""
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if locator.evaluate("one => one === document.activeElement"):
                return
        raise AssertionError(f"Tab does not lead to {locator}")

    def leave(self) -> None:
        """Look no longer at the page; complain about all that went wrong."""
        for event, listener in self._listeners.items():
            self.context.remove_listener(event, listener)
        self._first.remove_listener("dialog", self._dismiss)
        assert not self.offences, "\n".join(self.offences)

    # -- what goes wrong -----------------------------------------------------------------------------------------

    def _hear(self, message: ConsoleMessage) -> None:
        missing = message.text.startswith("Failed to load resource: the server responded with a status")
        # A page of JSON names no icon, so that the browser guesses where one is.
        expected = missing and (self._refused or message.location["url"].endswith("/favicon.ico"))
        if message.type in ("error", "warning") and not expected:
            self.offences.append(f"the console says: {message.text}")

    def _note_error(self, error: WebError) -> None:
        self.offences.append(f"a script failed: {error.error}")

    def _see(self, request: Request) -> None:
        if not request.url.startswith((self.address + "/", "data:")):
            self.offences.append(f"a page asks for {urlsplit(request.url)[:3]}, elsewhere")

    def _miss(self, request: Request) -> None:
        # The browser itself aborts what becomes a download, and what a page asked for that was left meanwhile.
        if request.failure != "net::ERR_ABORTED":
            self.offences.append(f"{request.url} failed: {request.failure}")

    def _judge(self, response: Response) -> None:
        if response.status >= 400 and not self._refused:
            self.offences.append(f"{response.url} was answered with {response.status}")

    def _dismiss(self, dialog: Any) -> None:
        self.offences.append(f"a dialog was opened: {dialog.message}")
        dialog.dismiss()


@contextmanager
def _nothing() -> Iterator[None]:
    yield
