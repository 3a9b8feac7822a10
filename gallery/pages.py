"""Screenshots of the explorer, by Chromium, on the sky of the recorded session."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote, urlsplit

from gallery.session import SESSION, write_sky

__all__ = ["photograph_pages"]

_PAGES: Final = {
    "explorer-compare.png": "/compare?a=near_and_bright&b=bright",
    "explorer-define.png": f"/define?sources=stars&criterion={quote('plx > 20 AND vmag < 4')}&name=nearest",
}


def photograph_pages(folder: Path) -> None:
    """Write a screenshot of each page to a folder; needs Chromium and the test extra."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only the test extra has it

    with TemporaryDirectory() as archive:
        environment = {**os.environ, "PROVENN_USER": "ada"}
        write_sky(Path(archive))
        for typed in SESSION[:4]:
            subprocess.run([sys.executable, "-m", *shlex.split(typed)], cwd=archive, check=True, env=environment)
        command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json"]
        process = subprocess.Popen(command, cwd=archive, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            home = json.loads((process.stdout.readline() if process.stdout else "") or "{}")["address"]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1000, "height": 760})
                page.goto(home)
                parts = urlsplit(home)
                for name, path in _PAGES.items():
                    page.goto(f"{parts.scheme}://{parts.netloc}{path}")
                    page.screenshot(path=folder / name)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
