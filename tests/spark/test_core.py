"""What holds wherever Spark runs: embedded, on a cluster, behind Spark Connect."""

import math
import shutil

import pyarrow as pa
import pytest
from pyspark.sql import functions as sql

from provenn.errors import CalculationError, ProvennError, StoreError
from provenn.spark.progress import watch_run
from provenn.spark.settings import SETTINGS
from provenn.spark.spark_errors import encode_error, translate_errors
from tests.spark.spark_events import wait_for_events


def test_its_session_has_the_settings_that_meaning_depends_on(engine):
    assert {name: engine.session.conf.get(name) for name in SETTINGS} == SETTINGS


def test_a_failing_evaluation_is_null_nan_is_the_largest_number_and_time_is_utc(engine):
    query = "SELECT 1 / 0, CAST('x' AS int), CAST('NaN' AS double) > 1e308, hour(TIMESTAMP '2020-07-01 12:00:00+02:00')"
    assert tuple(engine.session.sql(query).collect()[0]) == (None, None, True, 10)


def test_texts_are_what_they_say(engine):
    assert tuple(engine.session.sql("SELECT '${spark.app.name}', 'a\\\\b', 'it\\'s'").collect()[0]) == (
        "${spark.app.name}",
        "a\\b",
        "it's",
    )


def test_case_matters_in_names(engine):
    frame = engine.session.sql("SELECT 1 AS a, 2 AS A")
    assert frame.select(sql.col("A")).collect()[0][0] == 2


def test_joins_and_groups_over_several_partitions(engine):
    stars = engine.session.range(0, 1000, 1, 4).select("id", (sql.col("id") % 7).alias("kind"))
    bright = engine.session.range(0, 1000, 3, 3)
    found = stars.join(bright, "id").groupBy("kind").agg(sql.sum("id")).collect()
    expected = {}
    for number in range(0, 1000, 3):
        expected[number % 7] = expected.get(number % 7, 0) + number
    assert dict(map(tuple, found)) == expected


def test_values_survive_parquet(engine, tmp_path):
    rows = [(1, math.nan, "é"), (2, None, None), (3, -0.0, ""), (4, math.inf, "a\nb")]
    frame = engine.session.createDataFrame(rows, "id bigint, x double, s string").repartition(3)
    frame.write.parquet(str(tmp_path / "stars"))
    found = engine.session.read.parquet(str(tmp_path / "stars")).orderBy("id").toArrow()
    assert repr(found.to_pylist()) == repr([dict(zip(("id", "x", "s"), row, strict=True)) for row in rows])


def test_python_runs_on_the_workers_with_provenn_at_hand(engine):
    def doubled(batches):
        from provenn.spark.java import OLDEST  # noqa: PLC0415 - on the worker

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"id": [value.as_py() * 2 + OLDEST - OLDEST for value in batch["id"]]})

    frame = engine.session.range(0, 10, 1, 3)
    assert sorted(row.id for row in frame.mapInArrow(doubled, frame.schema).collect()) == list(range(0, 20, 2))


@pytest.mark.parametrize("ask", ["collect", "toPandas"])
def test_what_a_calculator_raises_arrives_as_it_was(engine, ask):
    def failing(batches):
        for _ in batches:
            raise RuntimeError(encode_error(CalculationError('photo_z of bright:\n  "no z"', hint="drop NULL")))
        yield

    frame = engine.session.range(10)
    with pytest.raises(CalculationError) as caught, translate_errors("computing"):
        getattr(frame.mapInArrow(failing, frame.schema), ask)()
    assert (caught.value.message, caught.value.hint) == ('photo_z of bright:\n  "no z"', "drop NULL")


def test_a_plain_error_of_a_calculator_arrives_with_its_text(engine):
    def failing(batches):
        for _ in batches:
            raise CalculationError("photo_z of bright: no z", hint="drop NULL") from ValueError("low")
        yield

    frame = engine.session.range(10)
    with pytest.raises(CalculationError, match=r"^photo_z of bright: no z\ndrop NULL$"), translate_errors("computing"):
        frame.mapInArrow(failing, frame.schema).collect()


def test_files_that_vanish_are_told(engine, tmp_path):
    engine.session.range(10).write.parquet(str(tmp_path / "stars"))
    frame = engine.session.read.parquet(str(tmp_path / "stars"))
    shutil.rmtree(tmp_path / "stars")
    with (
        pytest.raises(ProvennError, match=r"counting stars failed: .*stars.* is missing") as caught,
        translate_errors("counting stars"),
    ):
        frame.count()
    assert isinstance(caught.value, StoreError)
    assert "\n\tat " not in str(caught.value), "no stack trace"


def test_progress_is_seen_and_never_goes_back(engine):
    seen = []
    with watch_run(engine, "counting", seen.append):
        frame = engine.session.range(0, 8, 1, 8).mapInArrow(_slowly, "id bigint")
        assert frame.groupBy(sql.col("id") % 2).count().count() == 2
        wait_for_events(engine)
    assert seen[-1].remaining == 0.0
    assert all(one.remaining != 0.0 for one in seen[:-1])
    assert seen[-1].tasks_done == seen[-1].tasks > 0
    for name in ("stage", "stages", "tasks", "tasks_done", "elapsed"):
        values = [getattr(one, name) for one in seen]
        assert values == sorted(values), name


def _slowly(batches):
    import time  # noqa: PLC0415 - on the worker

    for batch in batches:
        time.sleep(0.1)
        yield batch
