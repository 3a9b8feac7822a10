"""Golden files: texts and pictures that are compared with what the program makes now.

``pytest --regenerate`` (``make golden``) rewrites them; they are never edited by hand.
"""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session", autouse=True)
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A place for what provenn notes for its user, so that tests do not write to that of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("configuration")
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        yield folder


def pytest_configure() -> None:
    """Let Ctrl-C mean what it means: a shell that runs the tests in the background has it ignored, also by children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
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
