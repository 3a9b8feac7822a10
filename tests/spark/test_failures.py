"""Failures of Spark, provoked for real where that is possible, in provenn's words."""

import os
import threading
import time

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from provenn.errors import CalculationError, EngineError, FormatError, ProvennError, RunError, StoreError
from provenn.spark.spark_errors import decode_error, encode_error, translate_errors
from tests.spark.fresh import run


def failure(work) -> ProvennError:
    """Return what is told of some work that fails."""
    with pytest.raises(ProvennError) as caught, translate_errors("counting bright"):
        work()
    text = str(caught.value)
    assert caught.value.message.startswith("counting bright failed: ")
    assert "Exception" not in text.replace("Exception: x", "")
    assert "\tat " not in text, "no stack trace"
    assert isinstance(caught.value.__cause__, Py4JError | PySparkException), "which the cause still has"
    return caught.value


def test_a_disk_that_is_full_by_the_words_of_spark():
    with pytest.raises(StoreError, match=r"^storing failed: the disk is full$"), translate_errors("storing"):
        raise Py4JError(
            "x\n: org.apache.spark.SparkException: [TASK_WRITE_FAILED]\nCaused by: java.io.IOException: "
            "No space left on device\n\tat java.base/sun.nio.ch"
        )


def test_a_folder_that_may_not_be_written(engine):
    error = failure(lambda: engine.session.range(3).write.parquet("/proc/stars"))
    assert isinstance(error, StoreError)
    assert error.message.endswith("no permission for /proc/stars")


def test_a_path_that_is_not_there(engine, tmp_path):
    error = failure(lambda: engine.session.read.parquet(str(tmp_path / "no stars")).count())
    assert isinstance(error, StoreError)
    assert "is missing" in error.message


def test_a_line_of_csv_that_does_not_fit(engine, tmp_path):
    (tmp_path / "stars.csv").write_text("hip,vmag\n1,2.5\nx,3\n")
    reader = engine.session.read.schema("hip int, vmag double").option("mode", "FAILFAST").option("header", True)
    error = failure(lambda: reader.csv(str(tmp_path / "stars.csv")).collect())
    assert isinstance(error, FormatError)
    assert "a line does not fit the columns" in error.message
    assert str(tmp_path / "stars.csv") in error.message


def test_a_file_that_is_not_parquet(engine, tmp_path):
    (tmp_path / "stars.parquet").write_text("certainly not")
    error = failure(lambda: engine.session.read.schema("hip int").parquet(str(tmp_path / "stars.parquet")).collect())
    assert isinstance(error, FormatError)
    assert error.message.endswith(f"{tmp_path}/stars.parquet is not a Parquet file, or is damaged")


def test_python_that_fails_or_dies_on_a_worker(engine):
    def failing(batches):
        for _ in batches:
            raise ValueError("no z\nat all")
        yield

    def dying(batches):
        os._exit(3)
        yield from batches

    frame = engine.session.range(10)
    error = failure(lambda: frame.mapInArrow(failing, frame.schema).collect())
    assert (type(error), error.message) == (RunError, "counting bright failed: ValueError: no z")
    error = failure(lambda: frame.mapInArrow(dying, frame.schema).collect())
    assert error.message.endswith("a process that runs Python calculators has died")


def test_a_job_that_somebody_cancels(engine):
    context = engine.session.sparkContext
    stop = threading.Event()

    def cancel():
        while not stop.wait(0.2):
            context.cancelAllJobs()

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        error = failure(lambda: engine.session.range(10**13).selectExpr("sum(id * id % 7)").collect())
    finally:
        stop.set()
        thread.join()
    assert (type(error), error.message) == (RunError, "counting bright failed: cancelled")


def test_what_nobody_has_foreseen_is_told_in_sparks_words(engine):
    error = failure(lambda: engine.session.sql("SELECT raise_error('the moon')").collect())
    assert (type(error), error.message) == (RunError, "counting bright failed: the moon")
    error = failure(lambda: engine.session.range(3).select("hip"))
    assert "hip" in error.message
    assert "SQLSTATE" not in error.message


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("java.lang.OutOfMemoryError: Java heap space\n\tat x", RunError, "not enough memory"),
        ("[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes", RunError, "not enough memory"),
        ("SparkException: Job aborted: ExecutorLostFailure (executor 1 exited)", EngineError, "the cluster lost"),
        ("SparkException: All masters are unresponsive! Giving up.", EngineError, "the cluster lost"),
        ("<_MultiThreadedRendezvous StatusCode.UNAVAILABLE [failed]", EngineError, "the connection to Spark is lost"),
        ("[INVALID_HANDLE.SESSION_NOT_FOUND] The handle is invalid", EngineError, "the connection to Spark is lost"),
        ("ModuleNotFoundError: No module named 'mymodule'", RunError, "No module named 'mymodule'"),
        ("java.io.FileNotFoundException: /data/x.parquet (Permission denied)", StoreError, "no permission for /data/x"),
        ('Permission denied: user=me, access=WRITE, inode="/data"', StoreError, "no permission for"),
        ("An error occurred while calling o27.sc", EngineError, "Spark has ended"),
    ],
)
def test_failures_that_take_long_to_provoke_by_their_words(text, kind, words):
    with pytest.raises(ProvennError, match=r"^reading failed: ") as caught, translate_errors("reading"):
        raise Py4JError(text)
    assert type(caught.value) is kind
    assert words in caught.value.message


def test_errors_of_our_own_and_of_python_pass_as_they_are():
    for error in (StoreError("full"), CalculationError("no"), ValueError("x"), OSError(2, "gone"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught, translate_errors("reading"):
            raise error
        assert caught.value is error


@pytest.mark.parametrize("message", ["plain", 'with "quotes" and\nlines', "é 😀 \\ \t", ""])
@pytest.mark.parametrize("hint", ["", "drop\nthem"])
def test_errors_are_recovered_from_the_text_around_them(message, hint):
    encoded = encode_error(CalculationError(message, hint=hint))
    around = f"An exception was thrown:\n  File x\nRuntimeError: {encoded}\n\n\tat java"
    found = decode_error(around)
    assert (found.message, found.hint) == (message, hint)
    assert decode_error("something else") is None


def test_a_user_who_logs_hears_of_failures_elsewhere_but_not_of_those_told(engine, caplog, capfd):
    engine.session.range(1).count()
    capfd.readouterr()
    failure(lambda: engine.session.range(3).select("hip"))
    time.sleep(0.1)
    assert capfd.readouterr().err == ""
    assert caplog.records == []


@pytest.mark.campaign
def test_a_value_that_is_too_large_for_javas_memory():
    done = run(
        "from provenn.spark.engine import Engine\n"
        "from provenn.spark.spark_errors import translate_errors\n"
        "from provenn.errors import ProvennError\n"
        "with Engine('local[1]', brief=True) as engine:\n"
        "    try:\n"
        "        with translate_errors('collecting'):\n"
        "            engine.session.range(1).selectExpr(\"repeat('a', 1000000000 + id)\").collect()\n"
        "    except ProvennError as error:\n"
        "        print(type(error).__name__, error.message)\n",
        SPARK_DRIVER_MEMORY="500m",
    )
    assert done.stdout == "EngineError collecting failed: Spark has ended\n", done.stderr
