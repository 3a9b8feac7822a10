"""Random histories of a real archive: answers are those of DuckDB, and no calculator is called twice for a source."""

from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import provenn
from provenn.errors import ProvennError
from tests.spark.frames import comparable
from tests.spark.oracle import Oracle
from tests.targets.sixty_stars import NUMBER, STARS, archive
from tests.targets.test_stored_once import Fitted

__all__ = ["archive"]

CRITERIA = ("mag < 3", "mag >= 2", "dec < 5", "x > 10", "NOT (x > 20)", "x IS NULL OR dec > 3", "id < 45")


class History:
    """Catalogs with two outputs of two calculators, and what was asked of them.

    Parameters
    ----------
    archive
        The archive.
    folder
        Where calculators write down for which sources they are called.
    rng
        Decides what is made and asked.
    """

    def __init__(self, archive: provenn.Archive, folder: Path, rng: Random) -> None:
        self.rng = rng
        self.names = tuple(f"{name}{next(NUMBER)}" for name in ("z", "ez"))
        self.fits = [Fitted(archive, _new(folder), factor, self.names) for factor in (2.0, 3.0)]
        self.called: list[Counter[int]] = [Counter() for _ in self.fits]
        self.oracle = Oracle({archive["stars"].digest: pa.table(STARS)})
        self.catalogs = [archive["stars"]]
        while len(self.catalogs) < 9:
            with suppress(ProvennError):  # what was drawn has no meaning
                self.catalogs.append(self._next())

    def _next(self) -> provenn.Catalog:
        one, other = self.rng.choice(self.catalogs[-5:]), self.rng.choice(self.catalogs)
        criteria = (*CRITERIA, f"{self.names[0]} > 20", f"{self.names[1]} IS NULL", f"NOT ({self.names[0]} < 40)")
        match self.rng.choice(
            ["derive", "derive", "select", "select", "concat", "concat", "exclude", "combine", "other"]
        ):
            case "derive":
                return one.derive(self.rng.choice(self.fits).calculator)
            case "select":
                return one.select(self.rng.choice(criteria))
            case "concat":
                return one.concat(other, order="first")
            case "exclude":
                return one.exclude(other)
            case "combine":
                return one.combine(other)
        match self.rng.choice(["restrict", "rename", "keep", "sample"]):
            case "restrict":
                return one.restrict(other)
            case "rename":
                return one.rename(**{self.names[0]: "w"})
            case "keep":
                return one.keep(*self.rng.sample(one.definition.schema.names, 2))
            case _:
                return one.sample(0.5, seed=1)

    def ask(self) -> None:
        """Ask for all of a catalog, or for some of its attributes; compare the answer with what DuckDB says."""
        catalog = self.rng.choice(self.catalogs[1:])
        if self.rng.random() < 0.4:
            catalog = catalog.keep(*self.rng.sample(catalog.definition.schema.names, 2))
        if self.rng.random() < 0.3:
            catalog.store()
        found = catalog.to_arrow()
        self.called = [known + new for known, new in zip(self.called, self._new_calls(), strict=True)]
        schema = catalog.definition.schema
        assert comparable(found.select(schema.names)) == comparable(self.oracle.table(catalog.definition))
        self._new_calls()  # those of DuckDB
        for times in self.called:
            assert max(times.values(), default=0) <= 1, "what was calculated is stored"

    def _new_calls(self) -> list[Counter[int]]:
        return [fit.new_calls() for fit in self.fits]


def _new(folder: Path) -> Path:
    made = folder / str(next(NUMBER))
    made.mkdir()
    return made


@pytest.mark.parametrize(
    "examples", [pytest.param(2, id="quick"), pytest.param(200, id="campaign", marks=pytest.mark.campaign)]
)
def test_answers_are_right_and_no_source_is_calculated_twice(archive, tmp_path_factory, examples):
    folder = tmp_path_factory.mktemp("logs")

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.randoms(use_true_random=True))
    def check_one(rng):
        history = History(archive, folder, rng)
        for _ in range(5):
            history.ask()

    check_one()
