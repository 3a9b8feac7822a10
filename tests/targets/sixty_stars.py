"""An archive of sixty stars on a real Spark, and an attribute whose calculator tells for whom it is called."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.archive.target import Target
from provenn.targets.steps import walk_steps
from tests.targets import calls

__all__ = ["NUMBER", "STARS", "Calculated", "N", "archive", "words", "z"]

N = 60
NUMBER = itertools.count(1)
STARS = {
    "id": list(range(N)),
    "x": [None if n == 7 else float("nan") if n == 8 else n / 2 for n in range(N)],
    "mag": [n / 10 for n in range(N)],
    "dec": [float(n % 10) for n in range(N)],
}


@pytest.fixture(scope="module")
def archive(engine, tmp_path_factory) -> Iterator[provenn.Archive]:
    """An archive of sixty stars, on the Spark of all tests."""
    folder = tmp_path_factory.mktemp("running")
    parquet.write_table(pa.table(STARS), folder / "stars.parquet")
    others = {"id": [*range(40, N), 1000], "bt": [n / 10 for n in range(21)]}
    parquet.write_table(pa.table(others), folder / "tycho.parquet")
    session = engine.session  # whose Java the archive shares
    with provenn.open(folder / "survey", spark=session.sparkContext.master, progress=False, who="ada") as opened:
        opened.ingest("stars", folder / "stars.parquet", key="id", population="star")
        opened.ingest("tycho", folder / "tycho.parquet", key="id", population="star")
        yield opened


class Calculated:
    """An attribute that nobody has yet, by a calculator that writes down for whom it is called.

    Parameters
    ----------
    archive
        Where it is registered.
    log
        Where it writes.
    """

    def __init__(self, archive: provenn.Archive, log: Path) -> None:
        self.archive = archive
        self.log = log
        self.name = f"z{next(NUMBER)}"
        self.calculator = archive.calculator(
            self.name,
            calls.doubled,
            inputs=["id", "x"],
            outputs={self.name: "double"},
            parameters={"output": self.name, "log": str(log)},
        )
        self._seen = calls.called(log)

    def calls(self) -> list[int]:
        """For which sources it was called since somebody asked for it last; each as often as it was."""
        now = calls.called(self.log)
        new = now - self._seen
        self._seen = now
        return sorted(new.elements())

    def ask(self, where: str | None = None, *more: str, **options: str) -> Target:
        """Ask for it."""
        return self.archive.target("stars", [self.name, *more], where=where, **options)


@pytest.fixture
def z(archive, tmp_path_factory) -> Calculated:
    return Calculated(archive, tmp_path_factory.mktemp("log"))


def words(target) -> list[str]:
    return [step.word for step in walk_steps(target.plan().after)]
