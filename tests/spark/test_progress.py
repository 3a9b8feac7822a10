"""Watching runs, and cancelling them. What every Spark shows is in `test_core`."""

import os
import signal
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.spark.progress import Progress, _advance_progress, _StageStatus, report_start, watch_run
from provenn.spark.progress_bar import describe_progress
from provenn.spark.spark_errors import translate_errors
from tests.spark.spark_events import wait_for_events
from tests.waiting import FOR_EVER, LIMIT, wait_until

LATER = "Spark tells of the end of a job, a little later"

stages = st.lists(
    st.builds(
        lambda begun, tasks, part, rows: _StageStatus(begun, tasks, int(tasks * part), rows),
        st.booleans(),
        st.integers(0, 1000),
        st.floats(0, 1),
        st.integers(0, 10**9),
    ),
    max_size=5,
)


@given(st.lists(stages, max_size=8))
def test_whatever_is_seen_no_count_goes_back_and_none_is_more_than_there_is(looks):
    last = Progress("x", 0, 0, 0, 0, None, 0.0, None)
    for number, seen in enumerate(looks):
        now = _advance_progress(last, seen, number / 2)
        for name in ("stage", "stages", "tasks", "tasks_done"):
            assert getattr(now, name) >= getattr(last, name)
        assert (now.rows or 0) >= (last.rows or 0)
        assert now.stage <= now.stages
        assert now.tasks_done <= now.tasks
        assert now.remaining is None or now.remaining > 0
        assert last.share <= now.share <= 1, "a bar does not run backwards"
        if now.remaining is not None and last.remaining is not None:
            assert now.added or now.remaining <= last.remaining, "what remains rises only if there is more to do"
        last = now
    assert _advance_progress(last, [], 9.0, over=True).remaining == 0.0


def test_what_remains_is_judged_by_what_was_done():
    start = Progress("x", 0, 0, 0, 0, None, 0.0, None)
    assert _advance_progress(start, [_StageStatus(True, 10, 2, 0)], 4.0).remaining == 16.0
    assert _advance_progress(start, [_StageStatus(True, 10, 2, 0)], 0.5).remaining is None, "too early to say"
    assert _advance_progress(start, [_StageStatus(True, 10, 0, 0)], 9.0).remaining is None


def test_an_estimate_that_rises_says_why():
    before = _advance_progress(Progress("x", 0, 0, 0, 0, None, 0.0, None), [_StageStatus(True, 4, 2, 0)], 4.0)
    after = _advance_progress(before, [_StageStatus(True, 4, 4, 0), _StageStatus(False, 20, 0, 0)], 6.0)
    assert (before.remaining, after.remaining, after.added) == (4.0, 30.0, 20)
    assert describe_progress(after).endswith("about 30 s left (20 tasks were added)")


def test_the_start_of_spark_is_reported():
    seen = []
    with report_start(seen.append):
        wait_until(lambda: seen, "a report")
    assert {progress.what for progress in seen} == {"starting Spark (about 6 s)"}
    assert seen[-1].remaining == 0.0


def test_rows_that_are_read_are_counted(engine, tmp_path):
    engine.session.range(0, 10_000, 1, 4).write.parquet(str(tmp_path / "stars"))
    seen = []
    with watch_run(engine, "counting", seen.append):
        engine.session.read.parquet(str(tmp_path / "stars")).selectExpr("sum(id)").collect()
        wait_for_events(engine)
    assert seen[-1].rows == 10_000
    assert (seen[-1].what, seen[-1].stage) == ("counting", seen[-1].stages)


def test_a_listener_that_raises_is_dropped_and_harms_nothing(engine):
    calls = []

    def listener(progress):
        calls.append(progress)
        raise RuntimeError("no terminal")

    with watch_run(engine, "counting", listener):
        assert engine.session.range(3).count() == 3
        time.sleep(0.8)
    assert len(calls) == 1


def test_a_run_that_fails_is_over_too(engine):
    seen = []
    with pytest.raises(ValueError, match="mine"), watch_run(engine, "counting", seen.append):
        raise ValueError("mine")
    assert [one.remaining for one in seen] == [0.0]


def test_jobs_of_others_are_not_counted_and_nothing_is_left_behind(engine):
    context = engine.session.sparkContext
    done = threading.Event()

    def others():
        while not done.is_set():
            engine.session.range(0, 10, 1, 10).count()

    thread = threading.Thread(target=others)
    thread.start()
    seen = []
    try:
        with watch_run(engine, "waiting", seen.append):
            time.sleep(1.0)
    finally:
        done.set()
        thread.join()
    assert seen[-1].tasks == 0
    assert not context.getJobTags()
    assert context.getLocalProperty("spark.job.interruptOnCancel") is None


def slowly(batches):
    for batch in batches:
        time.sleep(FOR_EVER)
        yield batch


@pytest.mark.parametrize("kind", ["java", "python"])
def test_an_interrupt_cancels_the_jobs_of_this_run_alone_and_spark_goes_on(engine, kind, tmp_path, capfd):
    def waiting(batches):
        while not (tmp_path / "go").exists():
            time.sleep(0.1)
        yield from batches

    def interrupt():
        wait_until(lambda: len(tracker.getActiveJobsIds()) == 2, "both jobs run")
        os.kill(os.getpid(), signal.SIGINT)

    session = engine.session
    frame = session.range(10**13).selectExpr("sum(id * id % 7)")
    if kind == "python":
        frame = session.range(0, 2, 1, 1).mapInArrow(slowly, "id bigint")
    tracker = session.sparkContext.statusTracker()
    counted = []
    others = threading.Thread(
        target=lambda: counted.append(session.range(0, 4, 1, 1).mapInArrow(waiting, "id bigint").count())
    )
    others.start()
    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    try:
        with pytest.raises(KeyboardInterrupt), translate_errors("summing"), watch_run(engine, "summing", None):
            frame.collect()
        wait_until(lambda: len(tracker.getActiveJobsIds()) <= 1, LATER)
    finally:
        (tmp_path / "go").touch()
        others.join()
        interrupting.join()
    assert counted == [4], "it was not ours to cancel"
    assert session.range(10).count() == 10
    wait_until(lambda: tracker.getActiveJobsIds() == [], LATER)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["java", "python", "nothing"])
def test_a_listener_that_raises_an_interrupt_cancels_the_run_on_whichever_thread_it_is(engine, kind):
    session = engine.session
    frame = session.range(10**13).selectExpr("sum(id * id % 7)")
    if kind == "python":
        frame = session.range(0, 2, 1, 1).mapInArrow(slowly, "id bigint")
    told_of, ended = [], []

    def stop(progress):
        told_of.append(progress)
        if kind == "nothing" or progress.elapsed > 0.6:
            raise KeyboardInterrupt

    def run():
        try:
            with translate_errors("summing"), watch_run(engine, "summing", stop):
                if kind != "nothing":
                    frame.collect()
        except BaseException as error:  # noqa: BLE001 - which one is what is tested
            ended.append(type(error))

    worker = threading.Thread(target=run)
    worker.start()
    worker.join(LIMIT)
    assert ended == [KeyboardInterrupt], "also if it is raised when the body is done"
    assert told_of[-1].elapsed > 0.6 or kind == "nothing"
    wait_until(lambda: session.sparkContext.statusTracker().getActiveJobsIds() == [], LATER)
    assert session.range(10).count() == 10


def test_an_interrupt_outside_of_spark_is_raised_at_once(engine):
    before = signal.getsignal(signal.SIGINT)

    def think():
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        time.sleep(FOR_EVER)

    with pytest.raises(KeyboardInterrupt), watch_run(engine, "thinking", None):
        think()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_program_that_handles_interrupts_itself_keeps_its_handler(engine):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with watch_run(engine, "counting", None):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
