"""Screenshots of the explorer, by Chromium, on a generated sky."""

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

__all__ = ["photograph_pages"]

_MADE: Final = (
    "ingest stars stars.parquet --key hip --population star",
    'select stars "vmag < 6" --name bright',
    'select stars "plx > 10" --name near',
    'select stars "plx > 10 AND vmag < 6" --name near_and_bright',
    'select stars "in_cone(ra, dec, 66.75, 15.87, 6)" --name hyades',
    "combine bright near --name both",
    "exclude bright near --name far_and_bright",
    "restrict hyades near --name near_hyades",
    "count near",
    "count near_and_bright",
    "relate near hyades --look",
)
"""The commands that make the archive of the pictures."""

_PAGES: Final = {
    "explorer-catalog.png": ("/catalogs/bright", 1000, 1500),
    "explorer-sky.png": ("/catalogs/stars/sky?also=hyades", 1000, 700),
    "explorer-lineage.png": (
        "/catalogs/both/explore?up=both&up=bright&up=near&down=stars&down=bright&down=near_and_bright",
        1260,
        700,
    ),
    "explorer-compare.png": ("/compare?a=near&b=hyades", 1000, 1225),
    "explorer-define.png": (
        f"/define?sources=stars&criterion={quote('plx > 20 AND vmag < 4')}&name=nearest",
        1000,
        760,
    ),
}
"""The address of each picture, its width and its height."""

_SKY: Final = """
import numpy, pyarrow, pyarrow.parquet
random = numpy.random.default_rng(1)
field, plane, cluster = 12_000, 28_000, 400
right = random.uniform(0, 2 * numpy.pi, field + plane)
height = numpy.concatenate([random.uniform(-1, 1, field), numpy.clip(random.normal(0, 0.12, plane), -1, 1)])
flat = numpy.sqrt(1 - height**2)
galactic = numpy.stack([flat * numpy.cos(right), flat * numpy.sin(right), height])
turn = numpy.array([[-0.0549, 0.4941, -0.8677], [-0.8734, -0.4448, -0.1981], [-0.4838, 0.7470, 0.4560]])
x, y, z = turn @ galactic
ra = numpy.concatenate([numpy.degrees(numpy.arctan2(y, x)) % 360, random.normal(66.75, 2, cluster)])
dec = numpy.concatenate([numpy.degrees(numpy.arcsin(numpy.clip(z, -1, 1))), random.normal(15.87, 2, cluster)])
plx = numpy.concatenate([random.gamma(1.2, 5, field + plane), random.normal(21.5, 1, cluster)]).round(2)
vmag = (13 - random.gamma(2.5, 1.6, len(ra))).round(2)
unknown = random.random(len(ra)) < 0.01
columns = {
    "hip": numpy.arange(1, len(ra) + 1), "ra": ra.round(5), "dec": dec.round(5), "vmag": vmag,
    "plx": pyarrow.array(plx, mask=unknown), "spectrum": random.choice(list("OBAFGKM"), len(ra), p=[
        0.01, 0.09, 0.16, 0.24, 0.2, 0.25, 0.05]),
}
pyarrow.parquet.write_table(pyarrow.table(columns), "stars.parquet")
"""


def photograph_pages(folder: Path) -> None:
    """Write a screenshot of each page to a folder; needs Chromium and the test extra."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only the test extra has it

    with TemporaryDirectory() as archive:
        environment = {**os.environ, "PROVENN_USER": "ada"}
        subprocess.run([sys.executable, "-c", _SKY], cwd=archive, check=True)
        for typed in ("init", *_MADE):
            arguments = [sys.executable, "-m", "provenn", *shlex.split(typed)]
            subprocess.run(arguments, cwd=archive, check=True, env=environment, stdout=subprocess.DEVNULL)
        command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json"]
        process = subprocess.Popen(command, cwd=archive, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            home = json.loads((process.stdout.readline() if process.stdout else "") or "{}")["address"]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page()
                page.goto(home)
                parts = urlsplit(home)
                for name, (path, width, height) in _PAGES.items():
                    page.set_viewport_size({"width": width, "height": height})
                    page.goto(f"{parts.scheme}://{parts.netloc}{path}")
                    page.screenshot(path=folder / name)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
