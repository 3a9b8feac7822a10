"""What Python calculators get, what they may return, and how it is told when they do something else."""

import importlib
import math
import sys
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from provenn.catalogs import (
    CombineAttributes,
    DeriveAttributes,
    ExcludeSources,
    PythonCalculator,
    SelectSources,
)
from provenn.errors import CalculationError, CalculatorChangedError, CalculatorError
from provenn.spark import batches
from provenn.spark.batches import CalculatorCall
from provenn.spark.spark_errors import translate_errors
from tests.spark import misbehaving
from tests.spark.frames import parquet_leaf
from tests.spark.lineages import ARROW, write_base
from tests.spark.plain_plan import compile_catalog

ARROW = ARROW | {
    "timestamp_ntz": pa.timestamp("us"),
    "binary": pa.binary(),
    "array<double>": pa.list_(pa.float64()),
    "array<int>": pa.list_(pa.int32()),
    "array<string>": pa.list_(pa.string()),
    "struct<a:double>": pa.struct([("a", pa.float64())]),
}


def calculator(name: str, output: str = "double", *, scope: str = "row", outputs=None, **parameters):
    function = getattr(misbehaving, name)
    kind = "arrow" if name.startswith("arrow") or name == "a_batch" else "pandas"
    return PythonCalculator.of(
        function, inputs=["x"], outputs=outputs or {"z": output}, kind=kind, scope=scope, parameters=parameters
    )


def called(one: PythonCalculator, values: list[object], kind: pa.DataType | None = None, *, nullable: bool = True):
    """Return what a calculator gives for a batch, in this process."""
    outputs = pa.schema([(name, ARROW[str(promised)]) for name, promised in one.outputs])
    calculation = CalculatorCall(one, ("id",), (nullable,), outputs, "c0ffee", ())
    batches._PROBED.discard(one.digest)
    found = calculation.calculate_columns([pa.array(range(100, 100 + len(values))), pa.array(values, kind)])
    assert found.type == pa.struct(list(outputs))
    return found.field("z").to_pylist()


DOUBLES = [1.0, 2.0, 3.0, 4.0]


# --- what is wrong with what it returns ---


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (calculator("raises"), "ValueError: no convergence\n\nafter 3 steps"),
        (calculator("shorter"), "it returned 3 rows for 4 sources"),
        (calculator("arrow_longer"), "it returned 5 rows for 4 sources"),
        (calculator("other_name"), "it did not return z"),
        (calculator("one_more"), "it also returned error"),
        (calculator("twice"), "it also returned z"),
        (calculator("arrow_twice"), "it also returned z"),
        (calculator("nothing"), "it returned a NoneType"),
        (calculator("a_list"), "it returned a list"),
        (calculator("an_array"), "it returned a ndarray"),
        (calculator("a_series", outputs={"z": "double", "y": "double"}), "it returned a Series"),
        (calculator("arrow_column"), "it returned a ChunkedArray"),
    ],
    ids=lambda one: one.function.rpartition(":")[2] if isinstance(one, PythonCalculator) else "",
)
def test_what_is_not_a_table_of_the_outputs_is_refused(one, problem):
    with pytest.raises(CalculationError) as caught:
        called(one, DOUBLES)
    place = f"the calculator {one.function} of the catalog c0ffee failed on the batch of 4 sources that begins with "
    assert caught.value.message == f"{place}id=100; id=101; id=102 …: {problem}"
    assert caught.value.hint or "raises" in one.function


def test_one_output_may_be_a_series_and_arrow_may_return_a_batch():
    assert called(calculator("a_series"), DOUBLES) == [2.0, 4.0, 6.0, 8.0]
    assert called(calculator("a_batch"), DOUBLES) == DOUBLES


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("double", "1.5"),
        ("double", True),
        ("bigint", 1.5),
        ("bigint", "1"),
        ("int", 2**40),
        ("tinyint", 128),
        ("double", 2**53 + 1),
        ("string", 1),
        ("boolean", 1),
        ("boolean", 2.0),
        ("boolean", "true"),
        ("timestamp", 1),
        ("date", "2020-01-01"),
        ("array<double>", 1.0),
        ("array<double>", ["a"]),
        ("struct<a:double>", {"a": "x"}),
    ],
)
def test_values_of_another_type_are_refused_by_pandas_and_by_arrow(output, value):
    for one in (
        calculator("constant", output, value=value),
        calculator("arrow_constant", output, value=value, kind=""),
    ):
        with pytest.raises(CalculationError, match="z should be a ") as caught:
            called(one, DOUBLES)
        assert caught.value.hint == "convert it, or register the calculator with another type"


@pytest.mark.parametrize(
    ("output", "value", "found"),
    [
        ("double", 1, 1.0),
        ("bigint", 2.0, 2),
        ("tinyint", -128, -128),
        ("string", "é", "é"),
        ("boolean", False, False),
        ("bigint", None, None),
        ("timestamp", None, None),
        ("array<double>", [1.5, 2.0], [1.5, 2.0]),
        ("array<int>", [1], [1]),
        ("struct<a:double>", {"a": 1.5}, {"a": 1.5}),
    ],
)
def test_values_that_fit_are_taken_from_pandas_and_from_arrow(output, value, found):
    for one in (
        calculator("constant", output, value=value),
        calculator("arrow_constant", output, value=value, kind=""),
    ):
        assert called(one, DOUBLES) == [found] * 4


def test_arrow_types_that_mean_the_same_fit():
    for kind, output in (("large_string", "string"), ("string_view", "string"), ("float32", "double")):
        value = 1.5 if output == "double" else "a"
        assert called(calculator("arrow_constant", output, value=value, kind=kind), DOUBLES) == [value] * 4


def test_a_time_of_day_is_not_lost_to_a_date():
    with pytest.raises(CalculationError, match="z should be a date32"):
        called(calculator("midnight", "date"), DOUBLES)
    assert called(calculator("midnight", "timestamp"), [1.0]) == [datetime(2020, 2, 29, 12, tzinfo=UTC)]


# --- what it gets ---


@pytest.mark.parametrize(
    ("kind", "nullable", "plain"),
    [
        (pa.int8(), "Int8", "int8"),
        (pa.int16(), "Int16", "int16"),
        (pa.int32(), "Int32", "int32"),
        (pa.int64(), "Int64", "int64"),
        (pa.bool_(), "boolean", "bool"),
    ],
    ids=str,
)
def test_the_types_that_pandas_gets_do_not_depend_on_whether_nulls_are_in_the_batch(kind, nullable, plain):
    one = calculator("dtype", "string")
    value = True if kind == pa.bool_() else 1
    assert called(one, [value, value], kind) == [nullable] * 2
    assert called(one, [value, None], kind) == [nullable] * 2
    assert called(one, [value, value], kind, nullable=False) == [plain] * 2


TYPED = [
    ("tinyint", pa.int8(), [1, None, -128, 127]),
    ("bigint", pa.int64(), [1, None, -(2**63), 2**63 - 1]),
    ("float", pa.float32(), [1.5, None]),
    ("double", pa.float64(), [1.5, None, math.inf, 5e-324]),
    ("decimal(5,2)", pa.decimal128(5, 2), [Decimal("1.50"), None]),
    ("string", pa.string(), ["", None, "é\0"]),
    ("boolean", pa.bool_(), [True, None, False]),
    ("date", pa.date32(), [date(1, 1, 1), None, date(9999, 12, 31)]),
    (
        "timestamp",
        pa.timestamp("us", "UTC"),
        [datetime(1, 1, 1, tzinfo=UTC), None, datetime(2020, 1, 1, 1, 2, 3, 4, UTC)],
    ),
    ("timestamp_ntz", pa.timestamp("us"), [datetime(1, 1, 1), None, datetime(2020, 1, 1, 1, 2, 3, 4)]),  # noqa: DTZ001
    ("binary", pa.binary(), [b"", None, b"\xff"]),
    ("array<double>", pa.list_(pa.float64()), [[1.5, 2.0], None, []]),
    ("array<string>", pa.list_(pa.string()), [["a", None], None, []]),
]


@pytest.mark.parametrize("name", ["same", "arrow_same"])
@pytest.mark.parametrize(("output", "kind", "values"), TYPED, ids=[output for output, _, _ in TYPED])
def test_values_of_all_types_pass_through(name, output, kind, values):
    assert called(calculator(name, output), values, kind) == values


def test_nan_is_null_for_pandas_and_itself_for_arrow():
    assert called(calculator("same"), [1.0, math.nan, None]) == [1.0, None, None]
    one, two, three = called(calculator("arrow_same"), [1.0, math.nan, None])
    assert (one, math.isnan(two), three) == (1.0, True, None)


def test_an_empty_batch_is_not_computed():
    assert called(calculator("raises"), [], pa.float64()) == []


# --- row by row ---


@pytest.mark.parametrize("name", ["centred", "cumulative", "arrow_numbered"])
def test_a_result_that_depends_on_other_sources_is_noticed(name):
    with pytest.raises(CalculationError, match="depends on the other sources") as caught:
        called(calculator(name), DOUBLES)
    assert 'scope="catalog"' in caught.value.hint
    assert len(called(calculator(name, scope="catalog"), DOUBLES)) == 4


def test_nan_is_the_same_as_nan_wherever_the_source_is():
    assert str(called(calculator("arrow_nan_lists", "array<double>"), DOUBLES)[0]) == "[nan, 1.0]"
    called(calculator("arrow_same"), [math.nan, None, 1.0])


def test_the_probe_is_made_once_in_a_process(tmp_path):
    one = calculator("seen", file=str(tmp_path / "seen"))
    called(one, DOUBLES)
    after = (tmp_path / "seen").read_text().count("\n")
    calculation = CalculatorCall(one, ("id",), (True,), pa.schema([("z", pa.float64())]), "c0ffee", ())
    calculation.calculate_columns([pa.array(range(4)), pa.array(DOUBLES)])
    assert (tmp_path / "seen").read_text().count("\n") == after + 4


# --- on Spark ---


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    data = pa.table({"a.b": [f"{n:02d}" for n in range(40)], "x": [float(n) for n in range(40)]})
    return write_base(tmp_path_factory.mktemp("numbers"), data, key="a.b", files=4)


def frame(engine, catalog):
    return compile_catalog(catalog, parquet_leaf(engine.session))


@pytest.mark.parametrize("scope", ["row", "catalog"])
def test_the_error_of_a_worker_names_calculator_catalog_and_keys(engine, numbers, scope):
    made = DeriveAttributes.of(numbers, calculator("raises_at", scope=scope))
    with pytest.raises(CalculationError) as caught, translate_errors("counting"):
        frame(engine, made).toArrow()
    begin = "begins with a.b=10; a.b=11; a.b=12 …" if scope == "row" else "begins with a.b=00; a.b=01; a.b=02 …"
    assert caught.value.message.startswith(
        f"the calculator tests.spark.misbehaving:raises_at of the catalog {made.digest[:12]} failed on the batch of "
    )
    assert caught.value.message.endswith(f"{begin}: ValueError: thirteen")


def test_what_a_worker_tells_arrives_whole(engine, numbers):
    for name, problem, hint in (
        ("raises", "ValueError: no convergence\n\nafter 3 steps", ""),
        ("shorter", "it returned 9 rows for 10 sources", "return one row for each row, in order"),
    ):
        with pytest.raises(CalculationError, match=problem) as caught, translate_errors("counting"):
            frame(engine, DeriveAttributes.of(numbers, calculator(name))).toArrow()
        assert caught.value.hint == hint


def test_each_source_is_computed_once_however_often_its_value_is_used(engine, numbers, tmp_path):
    """Besides the first few of a batch, once a process, by which calculators are probed."""
    derived = DeriveAttributes.of(numbers, calculator("seen", file=str(tmp_path / "seen")))
    used = SelectSources.of(derived, "z > 10 AND z < 70 AND z <> 20.5")
    found = frame(engine, used).selectExpr("z", "z + 1", "z * z").toArrow()
    assert sorted(found.column("z").to_pylist()) == [float(2 * n) for n in range(6, 35)]
    times = Counter(map(float, (tmp_path / "seen").read_text().split()))
    assert set(times) == set(map(float, range(40)))
    assert all(times[n] == 1 for n in (8.0, 9.0, 18.0, 19.0, 28.0, 29.0, 38.0, 39.0))


def test_a_calculator_of_scope_catalog_sees_all_sources_once_in_the_order_of_the_key(engine, numbers, tmp_path):
    few = SelectSources.of(numbers, "x % 2 = 1")
    made = DeriveAttributes.of(few, calculator("in_order", "int", scope="catalog", file=str(tmp_path / "seen")))
    found = frame(engine, made).toArrow().sort_by("x")
    assert found.column("z").to_pylist() == list(range(20))
    assert (tmp_path / "seen").read_text() == " ".join(f"{n}.0" for n in range(1, 40, 2)) + "\n"


def test_of_no_sources_nothing_is_computed(engine, numbers):
    nobody = ExcludeSources(numbers, numbers)
    for scope in ("row", "catalog"):
        made = frame(engine, DeriveAttributes.of(nobody, calculator("raises", scope=scope)))
        assert (made.columns, made.toArrow().num_rows) == (["a.b", "x", "z"], 0)


def test_only_what_is_new_is_appended(engine, numbers):
    derived = DeriveAttributes.of(numbers, calculator("a_series"))
    again = DeriveAttributes.of(derived, calculator("a_series"))
    both = CombineAttributes.of(derived, again)
    assert frame(engine, again).columns == frame(engine, both).columns == ["a.b", "x", "z"]


# --- its code ---


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of one calculator, in a folder that only this process looks in."""
    file = tmp_path / "some_calculators.py"
    file.write_text("def twice(batch):\n    return (batch['x'] * 2).to_frame('z')\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield file
    sys.modules.pop("some_calculators", None)


def twice_of(file) -> PythonCalculator:
    function = importlib.import_module(file.stem).twice
    return PythonCalculator.of(function, inputs=["x"], outputs={"z": "double"})


def test_workers_look_for_modules_where_this_process_does(engine, numbers, module):
    made = DeriveAttributes.of(numbers, twice_of(module))
    assert frame(engine, made).agg({"z": "sum"}).collect() == [(1560.0,)]


def test_code_that_has_changed_is_not_run(engine, numbers, module):
    made = DeriveAttributes.of(numbers, twice_of(module))
    module.write_text(module.read_text().replace("2", "3"))
    with pytest.raises(CalculatorChangedError, match="some_calculators:twice has changed"):
        frame(engine, made)


def test_code_that_is_gone_is_told_before_anything_runs(engine, numbers, module):
    made = DeriveAttributes.of(numbers, twice_of(module))
    module.unlink()
    importlib.invalidate_caches()
    sys.modules.pop("some_calculators")
    with pytest.raises(CalculatorError, match="the module of the calculator some_calculators:twice cannot be found"):
        frame(engine, made)


def test_code_that_changes_between_preparing_and_running_is_not_run(engine, numbers, module):
    """A worker compares again: it may be another machine."""
    module.write_text(module.read_text().replace("2", "5"))
    prepared = frame(engine, DeriveAttributes.of(numbers, twice_of(module)))
    module.write_text(module.read_text().replace("5", "7"))
    with pytest.raises(CalculationError, match="some_calculators:twice has changed"), translate_errors("counting"):
        prepared.toArrow()


def test_workers_find_a_module_that_has_moved_since_they_ran_it(engine, numbers, module, monkeypatch):
    made = DeriveAttributes.of(numbers, twice_of(module))
    assert frame(engine, made).agg({"z": "sum"}).collect() == [(1560.0,)]
    (module.parent / "elsewhere").mkdir()
    monkeypatch.syspath_prepend(module.rename(module.parent / "elsewhere" / module.name).parent)
    assert frame(engine, made).agg({"z": "sum"}).collect() == [(1560.0,)]
