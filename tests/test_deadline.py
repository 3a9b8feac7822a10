"""Work stops when its limit says so, wherever it is, and leaves nothing behind that is half done."""

from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn import deadline
from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.display.lineage_picture import LineageNode, LineagePicture, lineage_svg
from provenn.errors import DeadlineError
from provenn.logic import Knowledge
from provenn.logic.knowledge.sat import Solver
from provenn.targets.conditions import write_condition_sql
from provenn.targets.steps import Select, walk_steps
from tests.logic.knowledge.test_sat import pigeons


def after(calls: int) -> Callable[[], bool]:
    """Return a function that says "stop" once it was called so many times, and from then on."""
    left = iter(range(calls))
    return lambda: next(left, None) is None


def test_without_a_limit_nothing_is_stopped():
    assert not deadline.is_set()
    deadline.check()


def test_a_limit_holds_inside_its_block_alone():
    with deadline.limit(lambda: True):
        assert deadline.is_set()
        with pytest.raises(DeadlineError, match=r"the work was stopped"):
            deadline.check()
    assert not deadline.is_set()
    deadline.check()


@pytest.mark.parametrize("stops", ["outer", "inner"])
def test_inside_another_limit_both_apply(stops):
    outer, inner = (lambda: stops == "outer"), (lambda: stops == "inner")
    with deadline.limit(outer), deadline.limit(inner), pytest.raises(DeadlineError):
        deadline.check()
    with deadline.limit(lambda: False):
        with deadline.limit(lambda: False):
            deadline.check()
        assert deadline.is_set()


def test_a_thread_has_the_limit_of_the_context_it_runs_in():
    seen = []
    with deadline.limit(lambda: True):
        context = copy_context()
        for target in (deadline.is_set, lambda: context.run(deadline.is_set)):
            thread = Thread(target=lambda target=target: seen.append(target()))
            thread.start()
            thread.join()
    assert seen == [False, True]


def test_a_search_that_is_too_hard_stops_and_the_solver_is_fit_for_the_next():
    solver = Solver()
    solver.add(pigeons(10))  # hundreds of thousands of conflicts
    with pytest.raises(DeadlineError), deadline.limit(after(3)):
        solver.solve([])
    solver.add([[2000], [2001]])
    with deadline.limit(lambda: False):
        assert not solver.solve([])
    assert not solver.solve([])
    solver.close()


def test_a_search_in_slices_finds_what_a_search_in_one_piece_finds():
    solver = Solver()
    solver.add(pigeons(7))  # more conflicts than one slice has
    with deadline.limit(lambda: False):
        assert not solver.solve([])
    solver.close()


@pytest.mark.parametrize("calls", range(40))
def test_knowledge_stopped_at_any_point_answers_the_next_question_as_before(calls):
    facts = ["B <= A", "C == A", "D == B & C", "E < D or F < D", "nonempty(E)", "disjoint(E, G)"]
    questions = ["B == D", "E <= A", "disjoint(G, A)", "E | F <= A | F", "G <= B"]
    fresh = Knowledge(facts)
    expected = [fresh.entails(question) for question in questions]
    stopped = Knowledge(facts)
    stop = after(calls)
    for question in questions:
        try:
            with deadline.limit(stop):
                stopped.entails(question)
        except DeadlineError:
            pass
    assert [stopped.entails(question) for question in questions] == expected


def test_reading_a_criterion_stops():
    schema = {"a": Attribute("t.a", parse_type("int")), "b": Attribute("t.b", parse_type("int"))}
    text = " AND ".join(f"(a + {number} < b OR b < {number})" for number in range(200))
    checks = 0

    def count() -> bool:
        nonlocal checks
        checks += 1
        return False

    with deadline.limit(count):
        parse_criterion(text, schema)
    for calls in (0, 1, 10, checks // 2, checks - 1):
        with pytest.raises(DeadlineError), deadline.limit(after(calls)):
            parse_criterion(text, schema)


# --- every kind of work that can take long ---


@pytest.fixture
def archive(tmp_path):
    stars = pa.table(
        {"id": range(8), "x": [number / 2 for number in range(8)], "y": [number % 3 for number in range(8)]}
    )
    parquet.write_table(stars, tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        base = opened.ingest("stars", tmp_path / "stars.parquet", key="id", population="star")
        near, far = base.select("x < 2", name="near"), base.select("y > 1", name="far")
        either = near.exclude(far).concat(far.exclude(near), name="either")
        either.derive(z="x + y").select("z > 1", name="chosen")
        yield opened


def plan(archive):
    return archive.target("chosen", ["z"], where="x > 0.5").plan()


def write_conditions(archive):
    result = plan(archive)
    return lambda: [
        write_condition_sql(result.scene, step) for step in walk_steps(result.after) if isinstance(step, Select)
    ]


def lineage_of_boxes(rows=12, columns=12):
    nodes = [
        LineageNode(f"{row}.{column}", f"{row}.{column}", "Base") for row in range(rows) for column in range(columns)
    ]
    edges = [
        (f"{row}.{column}", f"{row + 1}.{column * 5 % columns}") for row in range(rows - 1) for column in range(columns)
    ]
    return LineagePicture("boxes", tuple(nodes), tuple(edges))


WORKS = {
    "planning": lambda archive: lambda: plan(archive),
    "drawing a plan": lambda archive: plan(archive)._repr_html_,
    "writing conditions": write_conditions,
    "classification": lambda _: Knowledge([f"S{number} < S{number // 2}" for number in range(1, 60)]).classify,
    "a search among choices": lambda _: (
        lambda: Knowledge([f"A{number} <= B or A{number} == C" for number in range(12)]).entails("A0 & A1 <= B | C")
    ),
    "a lineage picture": lambda _: lambda: lineage_svg(lineage_of_boxes()),
    "the neighbours of a catalog": lambda archive: lambda: find_neighbours(archive),
}


def find_neighbours(archive: provenn.Archive) -> object:
    """Find neighbours in an archive that was just opened: an archive remembers what it has proved."""
    with provenn.open(Path(archive.place).parent, who="ada") as opened:
        return opened.covering("chosen")


@pytest.mark.parametrize("work", WORKS)
def test_work_that_nobody_waits_for_ends_wherever_it_is(archive, work):
    checks = 0

    def count() -> bool:
        nonlocal checks
        checks += 1
        return False

    do = WORKS[work](archive)
    checks = 0
    with deadline.limit(count):
        do()
    assert checks > 1, "it is looked more than once whether anybody waits"
    for calls in sorted({0, 1, checks // 3, checks // 2}):
        do = WORKS[work](archive)
        with pytest.raises(DeadlineError), deadline.limit(after(calls)):
            do()
    WORKS[work](archive)()  # and what was stopped leaves nothing behind
