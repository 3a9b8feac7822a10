"""The archive of `tests.web.survey`, and a client of the pages that show it."""

import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import provenn
from provenn.web import create_app
from provenn.web.guarding import guard_app
from tests.web.survey import make_survey

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another httpx
    from starlette.testclient import TestClient


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the archive; to be copied, not to be changed."""
    folder = tmp_path_factory.mktemp("made") / "survey"
    make_survey(folder).close()
    return folder


@pytest.fixture(scope="session")
def reader(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A browser for tests that change nothing but what a look at a page leaves: verified keys and tallies."""
    folder = shutil.copytree(made, tmp_path_factory.mktemp("reader") / "survey")
    with (
        provenn.open(folder, who="ada", progress=False, notify=False) as opened,
        TestClient(guard_app(create_app(opened)), base_url="http://127.0.0.1", follow_redirects=False) as browser,
    ):
        yield browser


@pytest.fixture
def archive(made: Path, tmp_path: Path) -> Iterator[provenn.Archive]:
    """The archive, a copy for each test."""
    folder = shutil.copytree(made, tmp_path / "survey")
    with provenn.open(folder, who="ada", progress=False, notify=False) as opened:
        yield opened


@pytest.fixture
def client(archive: provenn.Archive) -> Iterator[TestClient]:
    """A browser without eyes. An exception that no page tells of fails the test."""
    with TestClient(guard_app(create_app(archive)), base_url="http://127.0.0.1", follow_redirects=False) as opened:
        yield opened
