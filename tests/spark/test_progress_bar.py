"""How progress is shown: on a terminal, in a notebook, in a log."""

import io
import os
import pty
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

from provenn.spark.progress import Progress
from provenn.spark.progress_bar import NotebookLine, PlainLines, TerminalBar, choose_default_listener, choose_listener


def at(elapsed: float, *, over: bool = False, what: str = "counting bright") -> Progress:
    return Progress(what, 1, 2, 10, 4, 1_000_000, elapsed, 0.0 if over else 6.0)


def test_who_is_told():
    def mine(_: Progress) -> None:
        """Listen."""

    assert choose_listener(mine) is mine
    assert choose_listener(False) is None
    assert choose_listener(None) is None, "the tests have no terminal"
    assert choose_listener(True) is None


def test_a_log_gets_a_line_every_few_seconds_and_one_at_the_end():
    stream = io.StringIO()
    lines = PlainLines(5.0, stream)
    for tenths in range(120):
        lines(at(tenths / 10))
    lines(at(12.0, over=True))
    text = "counting bright: stage 1 of 2, 4 of 10 tasks, 1,000,000 rows read, "
    assert stream.getvalue().splitlines() == [
        f"{text}5 s, about 6 s left",
        f"{text}10 s, about 6 s left",
        f"{text}12 s",
    ]
    lines(at(1.0))
    lines(at(1.2, over=True))
    assert len(stream.getvalue().splitlines()) == 3, "a short run writes nothing"


@pytest.fixture
def notebook(monkeypatch):
    """IPython, as far as a notebook is concerned; what it shows."""
    shown = []

    def display(data, *, raw, display_id):
        assert (raw, display_id) == (True, True)
        shown.append(data["text/plain"])
        number = len(shown) - 1

        def update(data, *, raw):
            assert raw
            shown[number] = data["text/plain"]

        return SimpleNamespace(update=update)

    module = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(kernel=object())
    module.display = SimpleNamespace(display=display)
    monkeypatch.setitem(sys.modules, "IPython", module)
    return shown


def test_a_notebook_gets_one_line_that_is_rewritten_and_goes(notebook):
    line = choose_default_listener()
    assert isinstance(line, NotebookLine)
    line(at(0.1))
    assert notebook == []
    line(at(1.0))
    line(at(2.0))
    assert notebook == ["counting bright: stage 1 of 2, 4 of 10 tasks, 1,000,000 rows read, 2 s, about 6 s left"]
    line(at(2.5, over=True))
    assert notebook == [""]
    line(at(3.0))
    line(at(0.2, what="short"))
    line(at(0.3, what="short", over=True))
    assert len(notebook) == 2


def test_ipython_in_a_terminal_is_a_terminal(notebook, monkeypatch):
    sys.modules["IPython"].get_ipython = SimpleNamespace
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True))
    assert isinstance(choose_default_listener(), TerminalBar)
    assert notebook == []


SHOW = """
import sys, time
from provenn.cli.progress import get_progress_listener
assert get_progress_listener() is get_progress_listener()
from provenn.spark.progress import Progress
from provenn.spark.progress_bar import choose_default_listener
listen = get_progress_listener()
print(type(listen).__name__, type(choose_default_listener()).__name__)
for what in ("counting [bright]", "storing"):
    for n in range(3):
        listen(Progress(what, 1, 2, 10, n, 1000 * n, 6.0 * n + 1, 2.0))
        time.sleep(0.15)
    listen(Progress(what, 2, 2, 10, 10, None, 20.0, 0.0))
listen(Progress("short", 0, 0, 0, 0, None, 0.1, None))
listen(Progress("short", 1, 1, 1, 1, None, 0.2, 0.0))
"""


def test_a_terminal_gets_a_bar_that_goes_at_the_end():
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen([sys.executable, "-c", SHOW], stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    out, _ = process.communicate()
    shown = text.decode()
    assert out.decode().split() == ["TerminalBar", "TerminalBar"]
    assert "counting [bright]: stage 1 of 2, 2 of 10 tasks, 2,000 rows read, 13 s, about 2 s left" in shown
    assert "━" in shown
    assert "storing" in shown
    assert "short" not in shown
    assert shown.rstrip().endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A")), "the bar is gone and the cursor is back"


def test_what_is_no_terminal_gets_lines_from_commands_and_nothing_from_python():
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PlainLines", "NoneType"]
    assert (
        done.stderr.splitlines()[0]
        == "counting [bright]: stage 1 of 2, 1 of 10 tasks, 1,000 rows read, 7 s, about 2 s left"
    )
    assert "\x1b" not in done.stderr
