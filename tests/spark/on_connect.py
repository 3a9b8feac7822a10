"""Run by `test_connect`, with an engine behind Spark Connect."""

import os
import signal
import threading

import pytest
from pyspark.sql.connect.session import SparkSession

from provenn.catalogs import PythonCalculator
from provenn.errors import EngineError
from provenn.spark.engine import Engine
from provenn.spark.progress import watch_run
from provenn.spark.python_calculators import apply_calculator
from provenn.spark.spark_errors import translate_errors
from provenn.spark.stopwatch import Stopwatch
from tests.spark import functions


def test_it_is_remote_and_starts_no_java(engine):
    assert engine.is_remote
    with pytest.raises(Exception, match=r"JVM|jvm"):
        engine.session._jvm  # noqa: B018 - asking is what fails


def test_a_session_of_the_users_is_neither_changed_nor_stopped(engine):
    theirs = SparkSession(os.environ["PROVENN_TEST_SPARK"])
    theirs.conf.set("spark.sql.session.timeZone", "Europe/Amsterdam")
    theirs.conf.set("spark.sql.ansi.enabled", "true")
    before = dict(theirs.conf.getAll)
    with Engine(theirs) as ours:
        assert ours.is_remote
        assert ours.session.conf.get("spark.sql.session.timeZone") == "UTC"
        assert ours.session.range(3).count() == 3
        assert ours.session.session_id != theirs.session_id
    assert dict(theirs.conf.getAll) == before
    assert theirs.range(4).count() == 4
    assert engine.session.range(5).count() == 5, "nor is that of another engine"
    theirs.client.close()
    with pytest.raises(EngineError, match="has been stopped"):
        _ = Engine(theirs).session


def test_a_calculator_runs_though_nobody_can_measure_it(engine):
    stopwatch = Stopwatch(engine)
    calculator = PythonCalculator.of(
        functions.scaled, inputs=["x"], outputs={"z": "double"}, parameters={"output": "z", "factor": 2.0}
    )
    frame = apply_calculator(
        engine.session.range(5).selectExpr("id AS k", "CAST(id AS DOUBLE) AS x"),
        calculator,
        key={"k": "k"},
        inputs=[("x", False)],
        outputs={"z": "z"},
        catalog="",
        stopwatch=stopwatch,
    )
    assert sorted(row["z"] for row in frame.collect()) == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert stopwatch.seconds is None


def test_settings_that_somebody_changes_are_put_back_before_the_next_run(engine):
    changed = {
        "spark.sql.ansi.enabled": "true",  # pinned
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.legacy.sizeOfNull": "false",  # put back
        "spark.sql.shuffle.partitions": "3",  # kept
    }
    ours = engine.session
    before = {name: ours.conf.get(name) for name in changed}
    for name, value in changed.items():
        ours.conf.set(name, value)
    kept = {"spark.sql.shuffle.partitions": "3"}
    assert {name: engine.session.conf.get(name) for name in changed} == before | kept
    assert engine.session.sql("SELECT 1 / 0 AS a, hour(timestamp_seconds(0)) AS b").collect() == [(None, 0)]
    ours.conf.set("spark.sql.shuffle.partitions", before["spark.sql.shuffle.partitions"])


def test_an_interrupt_cancels_what_runs_and_leaves_the_session_usable(engine):
    def sum_for_ever():
        threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        engine.session.range(10**13).selectExpr("sum(id * id % 7)").collect()

    with pytest.raises(KeyboardInterrupt), translate_errors("summing"), watch_run(engine, "summing", None):
        sum_for_ever()
    assert engine.session.range(6).count() == 6


def test_a_server_that_is_lost_is_told(engine):
    """Last of all: a session that the server does not know any more."""
    with Engine(os.environ["PROVENN_TEST_SPARK"]) as another:
        session = another.session
        session.client.release_session()
        with (
            pytest.raises(EngineError, match="counting failed: the connection to Spark is lost"),
            translate_errors("counting"),
        ):
            session.range(3).count()
    assert engine.session.range(3).count() == 3
