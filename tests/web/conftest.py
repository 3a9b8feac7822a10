"""The archive of `tests.web.survey`, and a client of the pages that show it."""

import shutil
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from types import NoneType

import pytest

import provenn
from provenn.web import create_app
from provenn.web.guarding import guard_app
from provenn.web.remembering import ViewAnswer
from tests.web.survey import make_survey

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have another httpx
    from starlette.testclient import TestClient


PLAIN = (str, int, float, bytes, date, Decimal, Enum, NoneType)


def find_undescribed(content: object) -> object:
    """Return a part of the content of a page that its text does not describe whole, or None if there is none."""
    parts = [content]
    while parts:
        part = parts.pop()
        if is_dataclass(part):
            known = fields(part)
            if not (type(part).__dataclass_params__.repr and all(field.repr for field in known)):
                return part
            parts += (getattr(part, field.name) for field in known)
        elif isinstance(part, dict):
            parts += (*part, *part.values())
        elif isinstance(part, tuple | list | set | frozenset):
            parts += part
        elif not isinstance(part, PLAIN):
            return part
    return None


@pytest.fixture(scope="session", autouse=True)
def described() -> Iterator[None]:
    """Make sure that the identity of a page, which is made of the text of its content, tells it from other contents."""
    build = ViewAnswer.of

    def build_described(content: object) -> ViewAnswer:
        undescribed = find_undescribed(content)
        assert undescribed is None, f"the text of {type(undescribed)} may leave something out"
        return build(content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ViewAnswer, "of", build_described)
        yield


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
