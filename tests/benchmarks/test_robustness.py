"""The benchmark of robustness, at its smallest."""

from benchmarks.robustness import killed, main


def test_everything_is_tried_and_nothing_goes_wrong(capsys):
    """Processes are killed below, of one kind: that takes long."""
    sizes = {"points": 0, "with-spark": 0, "rounds": 2, "damages": 1, "cases": 2, "attacks": 1, "asked": 0}
    sizes |= {"faults": 0, "model": 0, "histories": 0, "flips": 1}  # their own tests try these
    assert main([word for name, size in sizes.items() for word in (f"--{name}", str(size))]) == 0
    out = capsys.readouterr().out
    for kind in ("race: writers", "damage: a stored file", "input: criteria", "input: any requests", "attack: bombs"):
        assert f"{kind}" in out


def test_processes_are_killed():
    line = next(killed(2, 0))
    assert (line.kind, line.wrong) == ("killed: define", ())
    assert line.tried > 0
