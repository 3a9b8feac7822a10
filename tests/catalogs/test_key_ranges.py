"""Ranges of keys: what files state about their keys proves that they share none, and never wrongly."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.catalogs import Base, Files
from provenn.catalogs.key_ranges import find_key_ranges, have_other_keys
from provenn.criteria import parse_type
from provenn.files.column_statistics import ColumnStatistics, encode_statistics
from provenn.files.columns import FileColumn

SMALL = st.integers(-3, 12)


def base_of(keys: list[tuple], kinds: tuple[str, ...] = ("bigint", "int"), *, stated: tuple[bool, ...] = ()) -> Base:
    """A base catalog of files with these keys, which state the ranges of some key columns."""
    names = [f"k{number}" for number in range(len(kinds))]
    columns = tuple(FileColumn(name, parse_type(kind), True, "") for name, kind in zip(names, kinds, strict=True))
    statistics = {
        name: ColumnStatistics(len(keys), 0, min(values, default=None), max(values, default=None))
        for name, values, is_stated in zip(names, list(zip(*keys, strict=True)) or [()] * 2, stated, strict=False)
        if is_stated
    }
    files = Files("parquet", (), columns, (), f"{hash(tuple(keys)):x}", "/nowhere", (("a", repr(keys)),), len(keys))
    files = replace(files, statistics=encode_statistics(statistics))
    return Base.of(files, key=names, population="night")


KEYS = st.lists(st.tuples(SMALL, SMALL), max_size=4, unique=True)
STATED = st.tuples(st.booleans(), st.booleans())


@settings(max_examples=400, deadline=None)
@given(KEYS, STATED, KEYS, STATED)
def test_catalogs_with_other_keys_share_none(keys, stated, others, others_stated):
    if have_other_keys(base_of(keys, stated=stated), base_of(others, stated=others_stated)):
        assert not set(keys) & set(others)


@pytest.mark.parametrize("kind", ["double", "string", "decimal(10,0)", "boolean"])
def test_types_whose_ranges_prove_nothing(kind):
    base = base_of([(1,)], (kind,), stated=(True,))
    assert find_key_ranges(base) == [None]


def test_ranges_that_do_not_meet():
    low, high = (base_of([(key, 0)], stated=(True, False)) for key in (1, 5))
    assert have_other_keys(low, high)
    assert not have_other_keys(low, low)
    assert have_other_keys(base_of([], stated=()), high), "there are no rows"
