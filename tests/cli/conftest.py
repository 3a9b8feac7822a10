"""Sessions in archives: an empty one, one with six stars, one with the paper's example."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session
from tests.spark.conftest import engine

__all__ = ["copied", "empty", "engine", "made", "stars", "survey", "whole"]

EXAMPLE = (
    "select stars 'vmag < 6' --name bright",
    "derive stars dist_pc='1000 / plx' --name near",
    "combine bright near --name both",
)
MORE = (
    "declare 'nonempty(near)'",
    "calculator dist --sql 'dist=1000 / plx'",
    "crossmatch stars near --radius 2 --left plx dec --right plx dec --name pairs",
    "group stars --by hip --population curve mags='collect(vmag ORDER BY plx)' --name curves",
)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The archives, each made once, to be copied."""
    folder = tmp_path_factory.mktemp("archives")
    file = write_parquet(folder / "stars.parquet")
    typed = ["init", f"ingest stars '{file}' --key hip --population star", *EXAMPLE, *MORE]
    folders, done = {}, 0
    session = Session(folder / "growing")
    for name, length in (("empty", 1), ("stars", 2), ("survey", 5), ("whole", 9)):
        for line in typed[done:length]:
            session(line)
        folders[name], done = copytree(session.folder, folder / name), length
    return folders


@pytest.fixture
def copied(made: dict[str, Path], tmp_path: Path) -> Callable[[str], Session]:
    return lambda name: Session(copytree(made[name], tmp_path / "survey"))


@pytest.fixture
def empty(copied: Callable[[str], Session]) -> Session:
    return copied("empty")


@pytest.fixture
def stars(copied: Callable[[str], Session]) -> Session:
    return copied("stars")


@pytest.fixture
def survey(copied: Callable[[str], Session]) -> Session:
    """The paper's example: bright and both have the same sources."""
    return copied("survey")


@pytest.fixture
def whole(copied: Callable[[str], Session]) -> Session:
    """The paper's example with a fact, a calculator, and pairs."""
    return copied("whole")
