"""The plan that was shown is the plan that runs, until the archive changes in what planning reads."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from sqlalchemy import event

import provenn
from provenn.data import fragments
from provenn.data.planning_state import read_planning_state
from provenn.database import tables
from provenn.knowledge import counts, verified_keys
from provenn.logic import Knowledge
from provenn.spark.pipeline import Pipeline
from provenn.targets import planning
from provenn.targets.plan_memory import PlanMemory
from tests.targets.sky import pretend_stored

N = 20


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[provenn.Archive]:
    parquet.write_table(pa.table({"id": list(range(N)), "mag": [n / 2 for n in range(N)]}), tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", who="ada", progress=False) as opened:
        opened.ingest("stars", tmp_path / "stars.parquet", key="id", population="star")
        opened["stars"].select("mag < 6", name="bright")
        opened["stars"].select("mag > 7", name="faint")
        opened["stars"].derive(double="mag * 2", name="doubled")
        yield opened


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """Count the plans that are made, and the knowledge that is built."""
    numbers = {"plans": 0, "knowledge": 0}

    def watch(place: object, name: str, what: str) -> None:
        original: Callable[..., object] = getattr(place, name)

        def call(*arguments: object, **options: object) -> object:
            numbers[what] += 1
            return original(*arguments, **options)

        patch.setattr(place, name, call)

    with monkeypatch.context() as patch:
        watch(planning, "build_scene", "plans")
        watch(Knowledge, "__init__", "knowledge")
        yield numbers


def test_a_request_plans_once_and_builds_its_knowledge_once(archive, monkeypatch):
    with archive.context.database.writing() as writing:
        verified_keys.record_verification(writing, archive["stars"].digest, N)
    with counted(monkeypatch) as numbers:
        target = archive.target("bright", ["double"], where="mag > 2")
        shown = target.plan()
        assert str(shown)
        assert shown.rests_on == ()
        assert target.plan() is shown
    assert numbers == {"plans": 1, "knowledge": 1}


def test_a_later_run_plans_once_and_builds_its_knowledge_once(archive, engine, monkeypatch, tmp_path):
    """From the request to the written file, with the plan shown on the way."""
    shop = archive.context.workshop
    shop._pipeline = Pipeline(archive.context.database, shop.folder, engine)
    archive.target("bright", ["double"], where="mag > 2").write(tmp_path / "first.parquet")
    with counted(monkeypatch) as numbers:
        target = archive.target("bright", ["double"], where="mag > 2")
        shown = str(target.plan())
        assert target.write(tmp_path / "second.parquet").rows == 7
    assert shown
    assert numbers == {"plans": 1, "knowledge": 1}
    with counted(monkeypatch) as numbers:
        assert len(target.to_arrow()) == target.count() == 7
    assert numbers["plans"] <= 1, "the second run learned nothing new"
    shop._pipeline = None


def test_a_handle_remembers_its_plan(archive, monkeypatch):
    bright = archive["bright"]
    with counted(monkeypatch) as numbers:
        assert bright.plan() is bright.plan()
    assert numbers == {"plans": 1, "knowledge": 1}


def test_another_thread_plans_for_itself(archive):
    bright = archive["bright"]
    shown = bright.plan()
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(bright.plan).result() is not shown


def drop_fragments(archive: provenn.Archive) -> None:
    with archive.context.database.writing() as writing:
        for stored in archive.fragments():
            fragments.drop(writing, stored.fragment.id, "a test")


CHANGES: dict[str, Callable[[provenn.Archive], object]] = {
    "a catalog": lambda archive: archive["stars"].select("mag > 3"),
    "a name": lambda archive: archive["bright"].named("shining"),
    "a fact": lambda archive: archive.declare("disjoint(bright, faint)"),
    "a retraction": lambda archive: archive.retract(1),
    "a fragment": lambda archive: pretend_stored(archive["bright"], ["mag"], 12),
    "a preference": lambda archive: archive.prefer("double", "doubled"),
    "a dropped fragment": drop_fragments,
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_a_change_of_what_planning_reads_makes_the_plan_anew(archive, change):
    if change == "a dropped fragment":
        pretend_stored(archive["bright"], ["mag"], 12)
    if change == "a retraction":
        archive.declare("disjoint(bright, faint)")
    bright = archive["bright"]
    shown = bright.plan()
    CHANGES[change](archive)
    assert bright.plan() is not shown


def test_a_count_makes_the_plan_anew(archive):
    bright = archive["bright"]
    shown = bright.plan()
    assert shown.rows.estimate != 11
    with archive.context.database.writing() as writing:
        counts.record_count(writing, bright.digest, 11)
    assert bright.plan().rows.estimate == 11


def test_the_state_covers_every_table_that_planning_reads(archive):
    """A table that planning reads, and that can change, is part of the state."""
    pretend_stored(archive["bright"], ["mag"], 12)
    archive.declare("disjoint(bright, faint)")
    state, planned = set[str](), set[str]()

    def note(seen: set[str]) -> Callable[..., None]:
        def listen(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            seen.update(re.findall(r"(?:FROM|JOIN|,) (\w+)", statement))

        return listen

    engine = archive.context.database.engine
    request = planning.Request(archive["bright"].definition, ("double",), "mag > 2", "error", "bright")
    plan_request: Callable[..., object] = partial(planning.plan_request, request=request)
    for seen, ask in ((state, read_planning_state), (planned, plan_request)):
        with archive.context.database.reading() as reading:
            listen = note(seen)
            event.listen(engine, "before_cursor_execute", listen)
            ask(reading)
            event.remove(engine, "before_cursor_execute", listen)
    known = {table.name for table in tables.metadata.tables.values()}
    immutable = {"schemas", "attributes", "dependencies", "populations", "fragment_attributes", "fragment_facts"}
    immutable |= {
        "fact_catalogs",
        "fact_bases",
        "names",
        "wordings",
        "samples",
    }  # their rows change with those of another table
    assert planned & known <= state | immutable


def test_a_plan_of_a_moment_is_remembered_for_that_moment_alone(archive, monkeypatch):
    """A page plans once, and the state of the archive need not be read for it."""
    database, memory, made = archive.context.database, PlanMemory(), []

    def recall():
        memory.recall(database, lambda _: made.append(True))
        return len(made)

    with monkeypatch.context() as patch, database.at_one_moment():
        patch.setattr("provenn.targets.plan_memory.read_planning_state", lambda _: pytest.fail("the state was read"))
        assert (recall(), recall()) == (1, 1)
    assert (recall(), recall()) == (2, 2)
    archive["bright"].select("mag > 1")
    assert recall() == 3
