"""Fail each file call of an operation once, and look at what is left. A program of its own, since it forks.

``python -m tests.faults.sweep WORK,WORK POINTS`` does each piece of work undisturbed to learn its file calls. Then it
does the work again for each call and kind of fault, or for so many of them, evenly spread, on a fresh copy of a small
archive:

- the operation succeeds, or raises a `ProvennError` that says something; at every second point it is then repeated at
  once in the same process, which must succeed;
- the archive can be opened; what was acknowledged is there; of the step that failed all or nothing is;
- ``check --deep`` finds no damage, `gc` deletes what was left behind, and then nothing is;
- the rest of the work can be done, with the same result, and leaves nothing behind either.

It writes JSON: how many faults struck, of how many, and every deviation in words. `swept` runs it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from provenn.archive import Archive
from provenn.errors import JavaNotFoundError, ProvennError
from provenn.processes import make_process_mark
from tests.crashes import MEMORY, Work, as_prepared, opened, renew, see
from tests.faults.supervisor import Call, Fault, Supervisor, lift_fault
from tests.faults.works import WORKS, State, leftovers, observe
from tests.shared_statements import share_statements

__all__ = ["Swept", "swept", "swept_together"]


@dataclass(frozen=True)
class Swept:
    """What a sweep came to.

    Parameters
    ----------
    work
        The operation.
    calls, points
        How many file calls it makes, and in how many ways one of them can fail.
    struck
        How many of these were tried.
    refused
        How many of them the operation told as an error; the others it withstood, or it was killed.
    kinds
        How many there were of each kind.
    wrong
        What went wrong, in words.
    """

    work: str
    calls: int
    points: int
    struck: int
    refused: int
    kinds: dict[str, int]
    wrong: tuple[str, ...] = ()


@dataclass
class Report:
    """What a process said before it ended: how many steps are done, and the errors that it saw."""

    done: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)


def swept(name: str, points: int) -> Swept:
    """Run `sweep` in a process of its own."""
    return swept_together([name], points)[name]


def swept_together(names: Sequence[str], points: int) -> dict[str, Swept]:
    """Run `sweep` for several pieces of work, in a process that forks one for each: importing provenn takes long."""
    command = [sys.executable, "-m", "tests.faults.sweep", ",".join(names), str(points)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    return {entry["work"]: Swept(**entry | {"wrong": tuple(entry["wrong"])}) for entry in reports}


def sweep(name: str, number: int) -> Swept:
    """Fail so many calls of a piece of work, evenly spread over all of them and all kinds; 0 for every one."""
    work = WORKS[name]
    with tempfile.TemporaryDirectory(f"-{make_process_mark()}", "provenn-tests-faults-", MEMORY) as temporary:
        template, folder = Path(temporary, "template"), Path(temporary, "archive")
        (template / "out").mkdir(parents=True)
        work.prepare(template)
        states = _run_in_child(lambda: _states(work, template, folder))
        calls = _calls(work, template, folder)
        points = sorted((kind, at, call.name) for at, call in enumerate(calls, 1) for kind in call.kinds)
        chosen = points
        if 0 < number < len(points):  # those of the first piece of work begin at the first, those of others later
            share = list(WORKS).index(name) / len(WORKS)
            chosen = [points[int((at + share) * len(points) / number)] for at in range(number)]
        kinds, wrong, refused = Counter[str](), list[str](), 0
        for order, (kind, at, call_name) in enumerate(chosen, list(WORKS).index(name)):
            renew(template, folder)
            supervisor = Supervisor(folder, Fault(at, kind))
            try:
                report = _attempt(supervisor, work, folder, again=bool(order % 2))
                refused += bool(report.errors)
                _run_in_child(lambda report=report: _look(work, folder, states, report))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                message = (
                    "".join(traceback.format_exception(error)[-3:]) if isinstance(error, ProvennError) else str(error)
                )
                call = supervisor.calls[at - 1] if len(supervisor.calls) >= at else Call(call_name, "?")
                wrong.append(f"{kind} at call {at} of {len(calls)}, {call.name} {call.path}: {message or repr(error)}")
            kinds[kind] += supervisor.struck
    return Swept(name, len(calls), len(points), kinds.total(), refused, dict(kinds), tuple(wrong))


def _run_in_child(act: Callable[[], Any]) -> Any:
    """Act in a process of its own: what this process keeps in memory would spare all later ones file calls."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def report() -> None:
        try:
            sender.send((act(), None))
        except AssertionError as error:
            sender.send((None, str(error)))
        except Exception as error:  # noqa: BLE001 - the parent tells it
            sender.send((None, "".join(traceback.format_exception(error)[-3:])))

    child = multiprocessing.get_context("fork").Process(target=report)
    child.start()
    sender.close()
    value, deviation = receiver.recv()
    child.join()
    assert deviation is None, deviation
    return value


def _states(work: Work, template: Path, folder: Path) -> list[State]:
    """Do the work undisturbed; return what is seen before it and after each step."""
    renew(template, folder)
    with opened(folder) as archive:
        states = [see(work, observe(archive, folder))]
        for step in work.steps:
            step(archive, folder)
            states.append(see(work, observe(archive, folder)))
    return states


def _calls(work: Work, template: Path, folder: Path) -> list[Call]:
    """Do the work undisturbed, in another process; return its file calls."""
    renew(template, folder)
    supervisor = Supervisor(folder)
    report = _attempt(supervisor, work, folder, again=False)
    assert (report.done, report.errors) == (len(work.steps), [])
    return supervisor.calls


def _attempt(supervisor: Supervisor, work: Work, folder: Path, *, again: bool) -> Report:
    """Do the work in another process; return what it said."""
    text, _ = supervisor.run(
        lambda say: _do_work(work, folder, lambda message: say(json.dumps(message).encode()), again=again)
    )
    report = Report()
    for line in text.splitlines():
        answer = json.loads(line)
        if isinstance(answer, int):
            report.done = answer
        else:
            report.errors.append(answer)
    for number, error in enumerate(report.errors):
        assert error["expected"], f"an error that is none of ours: {error['trace']}"
        assert error["text"].strip(), f"an error without a word: {error['trace']}"
        assert number == 0, f"repeated in the same process, it fails: {error['trace']}"
    return report


def _do_work(work: Work, folder: Path, say: Callable[[object], object], *, again: bool) -> None:
    """Do all steps; after an error stop or, if so told, repeat once what failed."""

    def attempt(act: Callable[[], Any]) -> Any:
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - the parent judges it
            trace = "".join(traceback.format_exception(error))
            say({"expected": isinstance(error, ProvennError), "text": str(error), "trace": trace})
        lift_fault(folder)
        if not again:
            raise _StoppedError
        return act()

    try:
        archive: Archive = attempt(lambda: opened(folder))
        with archive:
            for number, step in enumerate(work.steps, 1):
                attempt(lambda step=step: step(archive, folder))
                say(number)
    except _StoppedError:
        pass
    except Exception as error:  # noqa: BLE001 - the parent judges it
        trace = "".join(traceback.format_exception(error))
        say({"expected": isinstance(error, ProvennError), "text": str(error), "trace": trace})


class _StoppedError(Exception):
    """Work ended at an error, which was told."""


def _look(work: Work, folder: Path, states: Sequence[State], report: Report) -> None:
    """Look at what is left after so many steps were acknowledged, and do the others."""
    done = report.done
    with opened(folder) as archive:
        seen = see(work, observe(archive, folder))
        possible = [_as_mended(state, seen) if work.mends else state for state in states[done : done + 2]]
        if work.prepares:
            possible = [as_prepared(item, seen, possible[-1]) for item in possible]
        assert seen in possible, f"half of step {done + 1} is seen: {_difference(seen, states[done])}"
        done += seen != possible[0]
        if not work.mends:
            _require_sound(archive)
            _delete_garbage(archive, folder)
            assert see(work, observe(archive, folder)) == seen, "gc changes what is seen"
        for step in work.steps[done:]:
            step(archive, folder)
        last = see(work, observe(archive, folder))
        expected = _as_mended(states[-1], last) if work.mends else states[-1]
        assert last == expected, f"done again, it comes to something else: {_difference(last, expected)}"
        _delete_garbage(archive, folder)
        _require_sound(archive, clean=True)
    _require_nothing_beside(work, folder)


def _require_nothing_beside(work: Work, folder: Path) -> None:
    """Make sure that what was left beside a target is gone at the latest when somebody writes there again."""
    left = leftovers(folder)
    if left and work.steps:
        for item in left:
            os.utime(item, (0, 0))
        with opened(folder) as archive:
            for step in work.steps:
                with suppress(ProvennError):  # a copy is there already
                    step(archive, folder)
        left = leftovers(folder)
    assert not left, f"left beside the target: {left}"


def _require_sound(archive: Archive, *, clean: bool = False) -> None:
    soundness = archive.check(deep=True)
    assert soundness.sound, str(soundness)
    left = [str(problem) for problem in soundness.problems if problem.state != "remark"]
    assert not (clean and left), f"gc leaves: {left}"


def _delete_garbage(archive: Archive, folder: Path) -> None:
    """Delete what nothing refers to, now and as if a day had passed."""
    archive.collect_garbage()
    for path in (folder / "data").rglob("*"):
        os.utime(path, (0, 0))
    archive.collect_garbage()


def _as_mended(expected: State, seen: State) -> State:
    """Return a state without the fragments that a repair found unreadable: they are computed when somebody asks."""
    return expected | {"fragments": [fragment for fragment in expected["fragments"] if fragment in seen["fragments"]]}


def _difference(seen: State, expected: State) -> dict[str, tuple[Any, Any]]:
    return {key: (seen[key], expected[key]) for key in expected if seen[key] != expected[key]}


def main(names: str, points: str) -> None:
    """Write what sweeps came to. No Spark is started: what would be computed anew is left to who asks for it.

    No file counts as unchanged for long: files that were just made are read and remembered at each check, other files
    are not, so that an operation would make fewer calls the longer a sweep lasts.
    """
    missing = JavaNotFoundError("no Spark is started here")
    with (
        mock.patch("provenn.spark.context.find_java", side_effect=missing),
        mock.patch("provenn.files.hashing._GRANULARITY", 10**20),
    ):
        for name in names.split(","):
            swept = _run_in_child(lambda name=name: asdict(sweep(name, int(points))))
            print(json.dumps(swept), flush=True)  # noqa: T201


if __name__ == "__main__":
    with share_statements():
        main(*sys.argv[1:])
