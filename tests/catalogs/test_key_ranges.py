"""Ranges of keys: what files state about their keys proves that they share none, and never wrongly."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.catalogs import Base, Files
from provenn.catalogs.key_ranges import find_key_ranges, have_other_keys
from provenn.criteria import parse_type
from provenn.files.column_bounds import ColumnBounds, encode_bounds
from provenn.files.columns import FileColumn

SMALL = st.integers(-3, 12)


def base_of(keys: list[tuple], kinds: tuple[str, ...] = ("bigint", "int"), *, stated: tuple[bool, ...] = ()) -> Base:
    """A base catalog of files with these keys, which state the ranges of some key columns."""
    names = [f"k{number}" for number in range(len(kinds))]
    columns = tuple(FileColumn(name, parse_type(kind), True, "") for name, kind in zip(names, kinds, strict=True))
    bounds = {
        name: ColumnBounds(min(values), max(values) + 1, has_nulls=False)
        for name, values, is_stated in zip(names, zip(*keys, strict=True), stated, strict=False)
        if is_stated
    }
    files = Files("parquet", (), columns, (), f"{hash(tuple(keys)):x}", "/nowhere", (("a", repr(keys)),), len(keys))
    files = replace(files, bounds=encode_bounds(bounds))
    return Base.of(files, key=names, population="night")


KEYS = st.lists(st.tuples(SMALL, SMALL), max_size=4, unique=True)
STATED = st.tuples(st.booleans(), st.booleans())


@settings(max_examples=400, deadline=None)
@given(KEYS, STATED, KEYS, STATED)
def test_catalogs_with_other_keys_share_none(keys, stated, others, others_stated):
    if have_other_keys(base_of(keys, stated=stated), base_of(others, stated=others_stated)):
        assert not set(keys) & set(others)


@pytest.mark.parametrize("kind", ["double", "float", "decimal(10,0)", "boolean"])
def test_types_whose_ranges_prove_nothing(kind):
    base = base_of([(1,)], (kind,), stated=(True,))
    assert find_key_ranges(base) == [None]


def test_ranges_that_do_not_meet():
    low, high = (base_of([(key, 0)], stated=(True, False)) for key in (1, 5))
    assert have_other_keys(low, high)
    assert not have_other_keys(low, low)
    assert have_other_keys(base_of([], stated=()), high), "there are no rows"


def test_texts_are_compared_too():
    """Files may cut off long texts: the bounds hold for whole texts."""
    columns = (FileColumn("k0", parse_type("string"), True, ""),)
    files = Files("parquet", (), columns, (), "f", "/nowhere", (("a", "x"),), 1)
    first, second = (
        Base.of(replace(files, bounds=encode_bounds({"k0": ColumnBounds(low, end)})), key="k0", population="night")
        for low, end in (("M", "N"), ("NGC 1", "NGC 2"))
    )
    assert have_other_keys(first, second)
    assert not have_other_keys(first, first)
