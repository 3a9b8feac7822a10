"""The way of a target is the way that a real run takes; and how far commands go."""

from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from architecture.way import WAY
from benchmarks.call_trace import CallTrace, Function, trace_calls
from benchmarks.hops import COMMANDS, Hops, count_hops, trace_commands
from provenn.logic import Knowledge, proper_subset
from provenn.spark.engine import Engine


@pytest.fixture(scope="module")
def traces(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> dict[str, CallTrace]:  # noqa: ARG001 - it runs
    return dict(trace_commands(tmp_path_factory.mktemp("hops")))


def find_function(path: str) -> object:
    """Return the function of a path below the package: a module, and the rest is a qualified name."""
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if (Path("src/provenn").joinpath(*parts[:length])).with_suffix(".py").exists():
            return attrgetter(".".join(parts[length:]))(import_module(".".join(["provenn", *parts[:length]])))
    raise LookupError(path)


@pytest.mark.parametrize("stop", WAY, ids=lambda stop: stop.function)
def test_a_stop_is_a_function(stop, monkeypatch):
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
    assert callable(find_function(stop.function))


def test_a_run_calls_the_functions_of_the_way_in_this_order(traces):
    """Look for what comes next in `python -m benchmarks hops`, and correct `architecture/way.py`."""
    called = iter([str(function) for _, function in traces["target -o, the first"].calls])
    missed = [stop.function for stop in WAY if not any(function == stop.function for function in called)]
    assert missed == [], "not called after the stop before"


def test_a_trace_tells_callers_and_leaves_out_others():
    with trace_calls(Path(find_module_folder())) as trace:
        Knowledge([proper_subset("B", "A")])
        sorted([2, 1])
    callers = [(caller, function) for caller, function in trace.calls if function.name == "Knowledge.__init__"]
    assert callers == [(None, Function("logic.knowledge.knowledge", "Knowledge.__init__"))]
    assert {function.room for _, function in trace.calls} == {"logic"}
    assert count_hops(trace).knowledge == 1


def find_module_folder() -> str:
    return str(Path(import_module("provenn").__file__).parent)


def test_hops_are_calls_from_one_module_to_another():
    trace = CallTrace(Path("/package"))
    command, plan, scene = (
        Function("cli.target", "answer_target"),
        Function("targets.planning", "plan_request"),
        Function("targets.planning", "replan_without_fragments"),
    )
    reading = Function("database.transactions", "Database.reading")
    trace.calls = [(None, command), (command, plan), (plan, scene), (plan, reading), (plan, reading)]
    assert count_hops(trace) == Hops(
        functions=4, modules=3, rooms=3, calls=5, hops=3, reading=2, writing=0, plans=1, knowledge=0
    )


def test_all_commands_are_counted(traces):
    counted = {name: count_hops(trace) for name, trace in traces.items()}
    assert list(counted) == list(COMMANDS)
    assert counted["ingest"].plans == counted["relate"].plans == 0
    assert counted["relate"].knowledge == 1
    for name, hops in counted.items():
        assert min(hops.reading, hops.writing, hops.hops) > 0, name
