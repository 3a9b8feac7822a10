"""All ratios at once: every measurement exists, and what goes wrong in one does not stop the others."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import quick
from benchmarks.measure import Minimum

KNOWN = {path.stem for path in Path(quick.__file__).parent.glob("*.py")} | {"planning"}


@pytest.mark.parametrize("name", quick.MEASUREMENTS)
def test_every_measurement_can_be_found(name):
    module, _, function = quick.MEASUREMENTS[name].partition(":")
    assert not inspect.signature(getattr(import_module(module), function)).parameters
    assert name in KNOWN


def test_every_figure_stands_beside_its_aim_and_failures_are_told(monkeypatch, capsys):
    outcomes = {
        "look": [Minimum("a look", 0.5, 1, "CPU s", at_most=True), Minimum("another", 3, 1, at_most=True)],
        "web": "took longer than 90 seconds",
    }
    monkeypatch.setattr(quick, "_run_measurement", outcomes.get)
    assert quick.measure_all(["look", "web"]) == 1
    output = capsys.readouterr()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in output.out.splitlines() if "| look" in line]
    assert rows == [
        ["look", "a look", "0.5 CPU s", "≤ 1 CPU s", "yes"],
        ["look", "another", "3 x", "≤ 1 x", "NO"],
    ]
    assert "web: took longer" in output.err
    monkeypatch.setattr(quick, "_run_measurement", lambda _: [])
    assert quick.measure_all(["look"]) == 0


def test_a_measurement_is_a_process_of_its_own(monkeypatch):
    monkeypatch.setattr(quick, "PATIENCE", 0.001)
    assert "took longer" in quick._run_measurement("look")
    monkeypatch.undo()
    assert "KeyError" in quick._run_measurement("nothing")
