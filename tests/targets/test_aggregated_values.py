"""Values of groups and elements, as Spark computes them, against Python's arithmetic: every aggregate on every type."""

import math
import statistics
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from provenn.catalogs import Base, Catalog, ExplodeArrays, FirstSources, GroupSources, RenameAttributes, SelectSources
from provenn.spark.columns import select_columns
from provenn.spark.engine import Engine
from provenn.targets.execution import execute_plan
from provenn.targets.steps import FragmentScan, Scan
from tests.spark.frames import parquet_leaf
from tests.spark.lineages import write_base
from tests.targets.scenes import needed, planned, scene_of

NAN, INF, LARGEST = math.nan, math.inf, 2**63 - 1
MEMBERS: dict[str, list[Any]] = {
    "id": list(range(14)),
    "g": [1, 1, 1, 1, 2, 2, 2, 3, 3, 4, None, 5, 5, 5],
    "x": [2.5, None, -1.0, 4.0, NAN, 1.0, 7.0, None, None, 0.5, 9.0, INF, -INF, 3.0],
    "y": [1.0, 1.0, 1.0, None, 3.0, NAN, 3.0, 1.0, 2.0, None, 1.0, 2.0, 0.0, -0.0],
    "n": [LARGEST, 1, -1, -2, LARGEST, LARGEST, 5, None, None, -(2**63), 1, -(2**63), -1, 1],
    "i": [2**31 - 1, 2**31 - 1, None, 5, 1, 1, 1, None, 3, 0, 1, -(2**31), -(2**31), 7],
    "c": [Decimal(text) if text else None for text in
          ("999.99", "0.01", "-5.50", "", "1.00", "1.00", "2.01", "", "", "999.99", "1.00", "0.10", "0.20", "0.30")],
    "s": ["b", "a", None, "é", "", " ", "z", None, None, "x", "q", "\\", "'", '"'],
    "d": [date(2020, 1, day) if day else None for day in (3, 1, 2, 0, 5, 5, 4, 0, 0, 1, 1, 9, 8, 7)],
    "t": [datetime(2020, 1, 1, hour, tzinfo=UTC) for hour in range(14)],
    "b": [True, False, None, True, True, True, True, None, None, False, True, False, False, None],
    "f": [0.5, 1.5, None, -2.0, 8.0, NAN, 1.0, None, None, 1.0, 1.0, 0.25, 0.5, 0.75],
    "arr": [[1, None, 3], [], None, [4], [5, 6], None, None, [None], [], [7, 8, 9], None, [1], [2], [3]],
    "other": [["a"], ["b", "c"], None, [], None, ["d", "e", "f"], [], None, None, ["g"], ["h"], None, [], ["i", None]],
    "pairs": [[{"u": 1, "v w.`": 0.5}, None], None, [], [{"u": None, "v w.`": NAN}], None, None, None, None, None, None,
              None, None, None, [{"u": 3, "v w.`": None}]],
}  # fmt: skip
TYPES = {
    "id": pa.int64(),
    "g": pa.int64(),
    "x": pa.float64(),
    "y": pa.float64(),
    "n": pa.int64(),
    "i": pa.int32(),
    "c": pa.decimal128(5, 2),
    "s": pa.string(),
    "d": pa.date32(),
    "t": pa.timestamp("us", "UTC"),
    "b": pa.bool_(),
    "f": pa.float32(),
    "arr": pa.list_(pa.int32()),
    "other": pa.list_(pa.string()),
    "pairs": pa.list_(pa.struct([("u", pa.int32()), ("v w.`", pa.float64())])),
}


@pytest.fixture(scope="module")
def members(tmp_path_factory) -> Base:
    table = pa.table({name: pa.array(values, TYPES[name]) for name, values in MEMBERS.items()})
    return write_base(tmp_path_factory.mktemp("members"), table, key="id", population="member")


def compute(engine: Engine, catalog: Catalog) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the rows of the rewritten plan of a catalog, by key."""
    scene = scene_of(catalog)
    plan, _ = planned(catalog, scene)
    leaf = parquet_leaf(engine.session)

    def read(step: Scan | FragmentScan, identities: Sequence[str]) -> Any:
        return select_columns(leaf(step.base), [(step.attributes[one].name, one) for one in identities])

    frame = execute_plan(plan, needed(catalog), scene, engine.session, read)
    attributes = catalog.schema.attributes
    places = [attributes.index(attribute) for attribute in catalog.schema.key]
    shown = select_columns(frame, [(one.identity, f"c{place}") for place, one in enumerate(attributes)])
    kinds = [str(one.type).replace("`v w.```", "v w.`") for one in attributes]
    assert [kind for _, kind in shown.dtypes] == kinds
    rows = shown.collect()
    return {
        tuple(row[place] for place in places): dict(zip(catalog.schema.names, map(_as_plain, row), strict=True))
        for row in rows
    }


def _as_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC)
    return value


# --- aggregates ---


def place_of(value: Any) -> tuple[bool, Any]:
    """Return the place of a value in Spark's order: NaN is the largest number."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan, 0 if is_nan else value


def add(values: list[Any]) -> Any:
    """Return a sum; NULL without values, and where whole numbers overflow."""
    if not values:
        return None
    total = sum(values[1:], values[0])
    return None if isinstance(total, int) and not -(2**63) <= total < 2**63 else total


def vary(values: list[Any]) -> float | None:
    """Return the sample variance."""
    numbers = [float(value) for value in values]
    if len(numbers) < 2:
        return None
    return statistics.variance(numbers) if all(map(math.isfinite, numbers)) else NAN


def vary_all(values: list[Any]) -> float | None:
    numbers = [float(value) for value in values]
    if not numbers:
        return None
    return statistics.pvariance(numbers) if all(map(math.isfinite, numbers)) else NAN


def interpolate(values: list[Any], fraction: float) -> float | None:
    """Return a percentile, as Spark interpolates it."""
    if not values:
        return None
    ordered = [float(value) for value in sorted(values, key=place_of)]
    position = (len(ordered) - 1) * fraction
    low, high = math.floor(position), math.ceil(position)
    if low == high or ordered[low] == ordered[high]:
        return ordered[low]
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)


ONE_VALUE: dict[str, tuple[str, Callable[[list[Any]], Any]]] = {
    "count({})": ("xyniscdtbf", len),
    "count(DISTINCT {})": ("xyniscdtbf", lambda values: len({place_of(value) for value in values})),
    "sum({})": ("xnicf", add),
    "avg({})": ("xnif", lambda values: sum(map(float, values)) / len(values) if values else None),
    "min({})": ("xniscdtbf", lambda values: min(values, key=place_of, default=None)),
    "max({})": ("xniscdtbf", lambda values: max(values, key=place_of, default=None)),
    "any_value({})": ("xniscdtbf", lambda values: values[0] if values else None),
    "stddev({})": ("xic", lambda values: root(vary(values))),
    "stddev_pop({})": ("xic", lambda values: root(vary_all(values))),
    "var_samp({})": ("xic", vary),
    "var_pop({})": ("xic", vary_all),
    "median({})": ("xnicf", lambda values: interpolate(values, 0.5)),
    "percentile({}, 0.25)": ("xnicf", lambda values: interpolate(values, 0.25)),
    "percentile({}, 1)": ("xnicf", lambda values: interpolate(values, 1)),
}
"""Aggregates of one attribute: on which attributes, and what they are of values that are not NULL, in order of keys."""


def find_groups() -> dict[tuple[int], list[int]]:
    groups: dict[tuple[int], list[int]] = {}
    for number, group in enumerate(MEMBERS["g"]):
        if group is not None:
            groups.setdefault((group,), []).append(number)
    return groups


def are_same(one: Any, other: Any) -> bool:
    """Return whether values are equal; floating-point numbers up to rounding, NaN with itself."""
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-12)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_same, one, other))
    return one == other and isinstance(one, float) == isinstance(other, float)


def test_every_aggregate_of_every_type_passes_over_null_and_takes_nan_for_the_largest(engine, members):
    expected: dict[str, tuple[str, Callable[[list[Any]], Any]]] = {}
    for form, (names, function) in ONE_VALUE.items():
        expected |= {form.format(name): (name, function) for name in names}
    grouped = GroupSources.of(members, "g", {text: text for text in expected}, population="group")
    rows = compute(engine, grouped)
    assert rows.keys() == find_groups().keys()
    wrong = []
    for key, numbers in find_groups().items():
        for text, (name, function) in expected.items():
            values = [MEMBERS[name][number] for number in numbers if MEMBERS[name][number] is not None]
            if not are_same(rows[key][text], function(values)):
                wrong.append((key, text, rows[key][text], function(values)))
    assert wrong == []


def test_a_mean_of_decimals_is_a_decimal_rounded_half_up(engine, members):
    rows = compute(engine, GroupSources.of(members, "g", {"m": "avg(c)"}, population="group"))
    for key, numbers in find_groups().items():
        values = [MEMBERS["c"][number] for number in numbers if MEMBERS["c"][number] is not None]
        exact = Fraction(sum(values)) / len(values) if values else None
        mean = rows[key]["m"]
        assert (mean is None) == (exact is None)
        assert exact is None or (
            abs(Fraction(mean) - exact) <= Fraction(1, 2_000_000) and mean.as_tuple().exponent == -6
        )


def test_a_sum_does_not_overflow_on_the_way(engine, tmp_path):
    """Whatever the order of the members: the largest number, one more, one less."""
    for place, numbers in enumerate([[LARGEST, 1, -1], [LARGEST, LARGEST, -LARGEST], [-(2**63), -5, 5, None]]):
        table = pa.table({"id": range(len(numbers)), "g": [1] * len(numbers), "n": pa.array(numbers, pa.int64())})
        for files in (1, 3):
            base = write_base(tmp_path, table, key="id", files=files, tag=f"{place} {files}", population="member")
            grouped = GroupSources.of(base, "g", {"s": "sum(n)"}, population="group")
            assert compute(engine, grouped)[(1,)]["s"] == sum(number for number in numbers if number is not None)


def test_count_of_several_attributes_counts_members_that_have_them_all(engine, members):
    rows = compute(engine, GroupSources.of(members, "g", {"k": "count(DISTINCT x, b)"}, population="group"))
    for key, numbers in find_groups().items():
        pairs = {(place_of(MEMBERS["x"][n]), MEMBERS["b"][n]) for n in numbers if MEMBERS["x"][n] is not None}
        assert rows[key]["k"] == len({pair for pair in pairs if pair[1] is not None})


@pytest.mark.parametrize("way", ["", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST"])
def test_arrays_are_collected_in_their_order_and_the_key_decides_between_equals(engine, members, way):
    texts = {f"{name} by {by}": f"collect({name} ORDER BY {by} {way})" for name in "xnscd" for by in "xysd"}
    rows = compute(engine, GroupSources.of(members, "g", texts, population="group"))
    for key, numbers in find_groups().items():
        for name in "xnscd":
            for by in "xysd":
                ordered = [MEMBERS[name][number] for number in order_members(numbers, by, way)]
                wanted = [value for value in ordered if value is not None]
                assert are_same(rows[key][f"{name} by {by}"], wanted), (key, name, by, way)


def order_members(numbers: list[int], by: str, way: str) -> list[int]:
    """Return members in an order of Spark; the smallest key first where they are equal."""
    nulls_first = "NULLS FIRST" in way or ("NULLS" not in way and "DESC" not in way)
    missing = [number for number in numbers if MEMBERS[by][number] is None]
    present = [number for number in numbers if MEMBERS[by][number] is not None]
    present.sort(key=lambda number: place_of(MEMBERS[by][number]), reverse="DESC" in way)  # stable in both directions
    return missing + present if nulls_first else present + missing


def test_the_member_with_the_least_or_greatest_value_gives_its_own_also_if_that_is_null(engine, members):
    """Of equal ones, the smallest key is least, and the largest key is greatest."""
    texts = {f"{f} {x} {y}": f"{f}({x}, {y})" for f in ("min_by", "max_by") for x in "xns" for y in "xysd"}
    rows = compute(engine, GroupSources.of(members, "g", texts, population="group"))
    for key, numbers in find_groups().items():
        for x in "xns":
            for y in "xysd":
                present = [number for number in numbers if MEMBERS[y][number] is not None]
                present.sort(key=lambda number: (place_of(MEMBERS[y][number]), number))
                least = MEMBERS[x][present[0]] if present else None
                greatest = MEMBERS[x][present[-1]] if present else None
                assert are_same(rows[key][f"min_by {x} {y}"], least), (key, x, y)
                assert are_same(rows[key][f"max_by {x} {y}"], greatest), (key, x, y)


# --- first sources ---


@pytest.mark.parametrize("way", ["", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST"])
@pytest.mark.parametrize("number", [1, 2])
def test_the_first_sources_of_each_group_are_in_their_order(engine, members, way, number):
    for by in "yxs":
        rows = compute(engine, FirstSources.of(members, "g", f"{by} {way}", number))
        kept = {(member,) for group in find_groups().values() for member in order_members(group, by, way)[:number]}
        assert rows.keys() == kept, by


def test_later_expressions_of_an_order_decide_between_equal_sources(engine, members):
    rows = compute(engine, FirstSources.of(members, "g", "y DESC, -n"))
    assert (0,) in rows
    assert len(rows) == len(find_groups())


# --- elements ---


def test_elements_have_the_key_of_their_source_and_a_position(engine, members):
    rows = compute(engine, ExplodeArrays.of(members, "arr"))
    expected = {
        (number, place): value
        for number, values in enumerate(MEMBERS["arr"])
        for place, value in enumerate(values or ())
    }
    assert {key: row["arr"] for key, row in rows.items()} == expected


def test_arrays_of_different_lengths_are_filled_with_null(engine, members):
    rows = compute(engine, ExplodeArrays.of(members, ["arr", "other"]))
    for number in MEMBERS["id"]:
        arrays = [MEMBERS[name][number] or [] for name in ("arr", "other")]
        for place in range(max(map(len, arrays))):
            values = [array[place] if place < len(array) else None for array in arrays]
            row = rows.pop((number, place))
            assert [row["arr"], row["other"]] == values
    assert rows == {}


def test_the_fields_of_structs_become_attributes_with_their_odd_names(engine, members):
    rows = compute(engine, ExplodeArrays.of(members, "pairs"))
    values = {key: (row["u"], row["v w.`"]) for key, row in rows.items()}
    assert values.keys() == {(0, 0), (0, 1), (3, 0), (13, 0)}
    assert (values[0, 0], values[0, 1], values[13, 0]) == ((1, 0.5), (None, None), (3, None))
    assert values[3, 0][0] is None
    assert math.isnan(values[3, 0][1])


def test_elements_of_collected_arrays_of_arrays_are_exploded_twice(engine, members):
    """What was grouped, exploded twice: every element of every array is there once."""
    grouped = GroupSources.of(members, "g", {"all": "collect(arr ORDER BY id)"}, population="group")
    once = ExplodeArrays.of(grouped, "all")
    twice = ExplodeArrays.of(RenameAttributes.of(once, {"all": "deep"}), "deep")
    rows = compute(engine, twice)
    expected = {}
    for (group,), numbers in find_groups().items():
        arrays = [MEMBERS["arr"][number] for number in numbers if MEMBERS["arr"][number] is not None]
        for place, array in enumerate(arrays):
            expected |= {(group, place, inner): value for inner, value in enumerate(array)}
    assert {key: row["deep"] for key, row in rows.items()} == expected
    assert compute(engine, SelectSources.of(twice, "deep > 4")).keys() == {
        key for key, value in expected.items() if value is not None and value > 4
    }
