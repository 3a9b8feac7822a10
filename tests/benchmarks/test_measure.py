"""Measuring in fresh processes: a result comes back, too long is no result, a crash is an error."""

import os
import subprocess
import sys
from functools import partial
from time import monotonic, sleep

import pytest

from benchmarks.measure import (
    Minimum,
    best_of,
    in_fresh_process,
    peak_memory,
    processor_time,
    resident_memory,
    runs,
    shown_time,
)
from tests.waiting import FOR_EVER, LIMIT


def test_the_result_of_another_process_comes_back():
    assert in_fresh_process(partial, os.getppid, seconds=LIMIT) == os.getpid()


def test_who_takes_too_long_is_ended():
    assert in_fresh_process(partial, sleep, FOR_EVER, seconds=0.2) is None


def test_a_process_that_dies_is_an_error():
    with pytest.raises(RuntimeError, match="without a result"):
        in_fresh_process(partial, os._exit, 1, seconds=LIMIT)


def test_memory_is_that_of_the_process_alone():
    """The peak of a process does not begin with what the process held that started it."""
    ballast = bytearray(os.urandom(1) * (300 << 20))
    assert in_fresh_process(partial, peak_memory, seconds=LIMIT) < len(ballast)


def test_the_peak_rises_with_what_is_held():
    before = resident_memory()
    ballast = bytearray(os.urandom(1) * (50 << 20))
    assert peak_memory() - before > 0.9 * len(ballast)


def test_processor_time_counts_processes_below_and_not_sleep():
    before = processor_time()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass"], check=True)
    assert processor_time() - before > 0.4
    clock, before = monotonic(), processor_time()
    sleep(0.5)
    assert processor_time() - before < monotonic() - clock, "sleep takes time on the clock alone"


def test_short_work_is_repeated_and_long_work_is_not():
    assert len(runs(lambda: None, most=7)) == 7
    assert len(runs(lambda: sleep(0.02), least=0.01)) == 1
    seconds, result = best_of(lambda: 5)
    assert seconds >= 0
    assert result == 5


@pytest.mark.parametrize(
    ("figure", "at_most", "reached"), [(2.0, False, True), (1.0, False, False), (2.0, True, False), (1.0, True, True)]
)
def test_a_minimum_is_reached_on_its_own_side(figure, at_most, reached):
    assert Minimum("", figure, 1.5, at_most=at_most).reached is reached


def test_a_peer_beyond_the_limit_is_told_from_one_that_was_not_run():
    times = {"A": 0.5, "B": None}
    assert [shown_time(times, name, 20) for name in "ABC"] == ["0.5", "> 20", "not run"]
