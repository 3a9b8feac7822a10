"""A recorded session at a terminal, on a generated sky: two minutes to read, some seconds to record."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

__all__ = ["SESSION", "draw_session", "record_session", "write_sky"]

COLUMNS: Final = 80
SESSION: Final = (
    "provenn init",
    "provenn ingest stars stars.parquet --key hip --population star",
    'provenn select stars "vmag < 6" --name bright',
    'provenn select stars "plx > 10 AND vmag < 5" --name near_and_bright',
    "provenn relate near_and_bright bright --why",
    "provenn relate near_and_bright stars",
    "provenn head near_and_bright -n 3",
    "provenn count near_and_bright",
    'provenn bounds "bright - near_and_bright"',
    'provenn target bright plx --where "plx > 20" --plan',
)
"""What is typed."""

_SKY: Final = """
import pyarrow, pyarrow.parquet
numbers = range(2000)
columns = {"hip": [*numbers], "vmag": [i * 37 % 120 / 10 for i in numbers], "plx": [i * 53 % 300 / 10 for i in numbers]}
pyarrow.parquet.write_table(pyarrow.table(columns), "stars.parquet")
"""
_LINE: Final = 18
_CHARACTER: Final = 8.4
_MARGIN: Final = 16
_SHORT: Final = "/tmp" if Path("/tmp").is_dir() else None  # noqa: S108 - a folder of its own is made there
"""Where the session takes place: the name of its folder is cut off what is shown, and must not be broken before."""


def write_sky(folder: Path) -> None:
    """Write the stars of the session to a file in a folder."""
    subprocess.run([sys.executable, "-c", _SKY], cwd=folder, check=True)


def record_session() -> str:
    """Type the session into a terminal of 80 columns, and return what stands there afterwards."""
    with TemporaryDirectory(dir=_SHORT) as folder:
        environment = {**os.environ, "COLUMNS": str(COLUMNS), "PROVENN_USER": "ada", "NO_COLOR": "1"}
        write_sky(Path(folder))
        lines: list[str] = []
        for typed in SESSION:
            arguments = [sys.executable, "-m", "provenn", *shlex.split(typed)[1:]]
            shown = _read_terminal(arguments, folder, environment)
            lines += [f"$ {typed}", *shown.replace(f"{Path(folder).resolve()}/", "").rstrip().split("\n"), ""]
    return "\n".join(lines[:-1])


def draw_session(text: str) -> str:
    """Return the text of a terminal as a picture in SVG."""
    lines = text.split("\n")
    width = int(2 * _MARGIN + _CHARACTER * max(COLUMNS, *map(len, lines)))
    height = 2 * _MARGIN + _LINE * len(lines)
    rows = "\n".join(
        f'<text x="{_MARGIN}" y="{_MARGIN + _LINE * i + 13}"{_mark(line)}>{escape(line)}</text>'
        for i, line in enumerate(lines)
        if line
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">
<title>A session at a terminal</title>
<style>text {{ font: 14px ui-monospace, "DejaVu Sans Mono", monospace; fill: #e6e9ef; white-space: pre; }}
.typed {{ fill: #8fc1ff; font-weight: 700; }} rect {{ fill: #10141b; }}</style>
<rect width="{width}" height="{height}" rx="10"/>
{rows}
</svg>
"""


def _read_terminal(arguments: Sequence[str], folder: str, environment: Mapping[str, str]) -> str:
    """Run a program whose standard output is a terminal, and return what it writes there."""
    ours, theirs = pty.openpty()
    shown = b""
    try:
        with subprocess.Popen(
            arguments, cwd=folder, stdout=theirs, stderr=subprocess.DEVNULL, env=environment
        ) as process:
            os.close(theirs)
            with suppress(OSError):  # Linux's word for the end
                while part := os.read(ours, 65536):
                    shown += part
    finally:
        os.close(ours)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return shown.decode().replace("\r\n", "\n")


def _mark(line: str) -> str:
    """Return the class of a line that was typed."""
    return ' class="typed"' if line.startswith("$ ") else ""
