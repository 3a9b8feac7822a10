"""The benchmark of robustness, at its smallest."""

import pytest

from benchmarks.robustness import killed, main

SIZES = {"points": 0, "with-spark": 0, "damages": 1, "cases": 1, "attacks": 1, "asked": 0}
"""How much is tried of each kind. Processes are killed below, of one kind: that takes long."""

OWN_TESTS = {"faults": 0, "model": 0, "histories": 0, "rounds": 0, "flips": 0}
"""What is not tried here outside of campaigns, but by tests of its own with the same functions."""


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="quick"),
        pytest.param({"rounds": 2, "flips": 1}, id="more", marks=pytest.mark.campaign),
    ],
)
def test_everything_is_tried_and_nothing_goes_wrong(capsys, more):
    sizes = {**SIZES, **OWN_TESTS, **more}
    assert main([word for name, size in sizes.items() for word in (f"--{name}", str(size))]) == 0
    out = capsys.readouterr().out
    for kind in ("damage: a stored file", "input: criteria", "input: any requests", "attack: bombs"):
        assert kind in out
    for name, kind in {"rounds": "race: writers", "flips": "damage: a bit of a fragment"}.items():
        assert (kind in out) == bool(sizes[name])


@pytest.mark.campaign  # `tests/test_crashes.py` kills the same processes at more points
def test_processes_are_killed():
    line = next(killed(1, 0))
    assert (line.kind, line.wrong) == ("killed: define", ())
    assert line.tried > 0
