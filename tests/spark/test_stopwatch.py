"""How long calculators run is measured in the workers, without what Spark takes to begin."""

import time

import pyarrow as pa
import pytest

from provenn.catalogs import PythonCalculator
from provenn.spark.python_calculators import apply_calculator
from provenn.spark.stopwatch import Stopwatch
from tests.spark import functions


def scaled(scope: str) -> PythonCalculator:
    function = functions.scaled if scope == "row" else functions.numbered
    kind = "double" if scope == "row" else "bigint"
    parameters = {"output": "z"} | ({"factor": 2.0} if scope == "row" else {})
    return PythonCalculator.of(function, inputs=["x"], outputs={"z": kind}, parameters=parameters, scope=scope)


def frame(engine, calculator, stopwatch):
    table = pa.table({"k": range(100), "x": [float(n) for n in range(100)]})
    made = engine.session.createDataFrame(table).repartition(4)
    return apply_calculator(
        made, calculator, key={"k": "k"}, inputs=[("x", False)], outputs={"z": "z"}, catalog="", stopwatch=stopwatch
    )


@pytest.mark.parametrize("scope", ["row", "catalog"])
def test_calls_are_measured_from_the_first_to_the_end_of_the_last(engine, scope):
    stopwatch = Stopwatch(engine)
    assert stopwatch.seconds is None, "nothing was called yet"
    began = time.time()
    assert frame(engine, scaled(scope), stopwatch).count() == 100
    found = frame(engine, scaled(scope), stopwatch).toArrow()
    assert found.num_rows == 100
    assert 0 < stopwatch.seconds <= time.time() - began, "it lies within the jobs"


def test_what_calls_no_calculator_is_not_measured(engine):
    stopwatch = Stopwatch(engine)
    assert engine.session.range(10).count() == 10
    assert stopwatch.seconds is None


def test_over_spark_connect_nothing_is_measured_and_everything_is_calculated(engine):
    class Remote:
        is_remote = True

    stopwatch = Stopwatch(Remote())
    assert frame(engine, scaled("row"), stopwatch).toArrow().num_rows == 100
    assert stopwatch.seconds is None
