"""Several processes ask one archive for the same at once: it is computed once, whoever dies or fails."""

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.database.tables import leases
from tests.postgres import new_schema, postgres_server
from tests.targets import calls
from tests.targets.asking import Asker, asking

N = 60
NUMBER = itertools.count(1)
PEOPLE = ("ada", "ben", "cleo", "dan")


@pytest.fixture(scope="module", params=[2, pytest.param(4, marks=pytest.mark.campaign)])
def askers(request, tmp_path_factory) -> Iterator[list[Asker]]:
    with asking(tmp_path_factory.mktemp("askers"), request.param) as several:
        yield several


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server() as address:
        yield address


class Survey:
    """An archive of sixty stars, of which several ask."""

    def __init__(self, folder: Path, database: str) -> None:
        self.place = {"database": database, "store": str(folder / "store")}
        self.folder = folder
        parquet.write_table(
            pa.table({"id": range(N), "x": [n / 2 for n in range(N)], "mag": [n / 10 for n in range(N)]}),
            folder / "stars.parquet",
        )
        with provenn.open(**self.place) as archive:
            archive.ingest("stars", folder / "stars.parquet", key="id", population="star")

    def calculator(self, function: Any, **parameters: Any) -> str:
        """Register a calculator of an attribute that nobody has yet; return the name of both."""
        name = f"z{next(NUMBER)}"
        self.log = self.folder / name / "log"
        self.log.mkdir(parents=True)
        with provenn.open(**self.place) as archive:
            archive.calculator(
                name,
                function,
                inputs=["id", "x"],
                outputs={name: "double"},
                parameters={"output": name, "log": str(self.log), **parameters},
            )
        return name

    def ask(self, askers: list[Asker], attribute: str, wheres: list[str], **what: Any) -> list[dict[str, Any]]:
        """Let several ask at the same time."""
        for who, asker, where in zip(PEOPLE, askers, itertools.cycle(wheres), strict=False):
            asker.ask(**self.place, who=who, attribute=attribute, where=where, **what)
        return [one.answer() for one in askers]

    def held(self) -> int:
        """How many leases there are, live or not."""
        with provenn.open(**self.place) as archive, archive.context.database.reading() as reading:
            return len(reading.connection.execute(leases.select()).all())


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def survey(request, tmp_path_factory) -> Survey:
    folder = tmp_path_factory.mktemp("survey")
    if request.param == "sqlite":
        return Survey(folder, str(folder / "provenn.sqlite"))
    return Survey(folder, new_schema(request.getfixturevalue("server")))


on_sqlite = pytest.mark.parametrize(
    "survey", ["sqlite", pytest.param("postgresql", marks=pytest.mark.campaign)], indirect=True
)
"""For what follows from leases, however a database holds them: `tests/contracts/leases.py` tests them on both kinds."""


def right(first: int, last: int) -> list[list[float]]:
    return [[n, float(n)] for n in range(first, last)]


def wait_for(happened: Callable[[], bool], what: str) -> None:
    """Wait until something has happened; the limit ends only a test that hangs, however slow the machine is."""
    until = time.monotonic() + calls.LIMIT
    while not happened():
        assert time.monotonic() < until, what
        time.sleep(0.05)


def once(first: int, last: int) -> Counter[int]:
    return Counter(range(first, last))


def test_what_several_ask_for_at_once_is_computed_once(survey, askers, tmp_path):
    name = survey.calculator(calls.slow)
    for who, asker in zip(PEOPLE, askers, strict=False):
        asker.ask(**survey.place, who=who, attribute=name, where="mag < 2", waiting=str(tmp_path))
    wait_for(lambda: len(list(tmp_path.iterdir())) == len(askers) - 1, "all but one wait")
    (survey.log / "hurry").touch()
    answers = [one.answer() for one in askers]
    assert [answer.get("values", answer) for answer in answers] == [right(0, 20)] * len(askers)
    assert calls.called(survey.log) == once(0, 20)
    waited = [answer["waited"] for answer in answers]
    assert waited.count([]) == 1, "one of them computed it"
    first = PEOPLE[waited.index([])]
    assert all(one in ([], [f"waiting for {first}, who is computing {name}"]) for one in waited)
    assert survey.held() == 0


@on_sqlite
def test_what_overlaps_is_computed_once_and_the_rest_by_who_wants_it(survey, askers):
    name = survey.calculator(calls.patient, seconds=0.5)
    answers = survey.ask(askers, name, ["mag < 2", "mag < 4", "mag > 0.95 AND mag < 3.95", "mag < 3"])
    expected = [right(0, 20), right(0, 40), right(10, 40), right(0, 30)][: len(askers)]
    assert [answer.get("values", answer) for answer in answers] == expected
    assert calls.called(survey.log) == once(0, 40)


@on_sqlite
def test_what_is_stored_by_name_is_computed_once_too(survey, askers):
    name = survey.calculator(calls.patient, seconds=0.5)
    answers = survey.ask(askers, name, ["mag < 2"], keep="store")
    assert [answer.get("values", answer) for answer in answers] == [right(0, 20)] * len(askers)
    assert calls.called(survey.log) == once(0, 20)


@on_sqlite
def test_what_is_proved_apart_is_computed_side_by_side(survey, askers):
    """Each of the calculators waits until all have begun."""
    name = survey.calculator(calls.meeting, others=len(askers))
    bounds = [(n, n + 1) for n in range(len(askers))]
    answers = survey.ask(askers, name, [f"mag >= {low} AND mag < {high}" for low, high in bounds])
    assert [answer.get("values", answer) for answer in answers] == [right(low * 10, high * 10) for low, high in bounds]
    assert [answer["waited"] for answer in answers] == [[]] * len(askers)
    assert calls.called(survey.log) == once(0, 10 * len(askers))


@on_sqlite
def test_who_fails_lets_the_others_go_on(survey, askers):
    name = survey.calculator(calls.failing_once)
    answers = survey.ask(askers, name, ["mag < 2"])
    failed = [answer for answer in answers if "error" in answer]
    assert [one["error"] for one in failed] == ["CalculationError"]
    assert "no convergence" in failed[0]["message"]
    assert [answer["values"] for answer in answers if "values" in answer] == [right(0, 20)] * (len(askers) - 1)
    assert calls.called(survey.log) == once(0, 20)
    assert survey.held() == 0


@on_sqlite
@pytest.mark.parametrize("known", [True, pytest.param(False, marks=pytest.mark.campaign)])
def test_one_takes_over_from_a_process_that_was_killed(survey, askers, tmp_path, known):
    """At once if it is known to have died; otherwise, as for one on another machine, when its lease expires."""
    name = survey.calculator(calls.slow)
    what = {} if known else {"lifetime": 20}
    with asking(tmp_path, 1) as (victim,):
        victim.ask(**survey.place, who="zoe", attribute=name, where="mag < 2", **what)
        wait_for((survey.log / "begun").exists, "the calculator of zoe is called")
        assert survey.held() == 1
        for who, asker in zip(PEOPLE, askers, strict=False):
            asker.ask(**survey.place, who=who, attribute=name, where="mag < 2", waiting=str(tmp_path), **what)
        for who in PEOPLE[: len(askers)]:
            wait_for((tmp_path / who).exists, f"{who} waits")
        victim.kill()
    (survey.log / "hurry").touch()
    answers = [one.answer() for one in askers]
    assert [answer.get("values", answer) for answer in answers] == [right(0, 20)] * len(askers)
    assert all(f"waiting for zoe, who is computing {name}" in answer["waited"] for answer in answers)
    assert survey.held() == 0, "and that of the dead is gone"
    with provenn.open(**survey.place) as archive:
        assert [fragment.attributes for fragment in archive.fragments()].count(("id", name, "mag")) == 1
