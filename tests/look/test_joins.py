"""Joins by key without Spark: the same rows whether members come in the same order, in another, or in part."""

from random import Random

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.look.joins import filter_by_key, join_by_key


def split(random: Random, table: pa.Table) -> list[pa.Table]:
    """A table in pieces of any size, some without rows."""
    places = sorted(random.choices(range(table.num_rows + 1), k=random.randrange(4)))
    return [table.slice(a, b - a) for a, b in zip([0, *places], [*places, table.num_rows], strict=True)]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_rows_are_joined_by_key_wherever_they_come(seed):
    """Members with the same keys in the same order, with a few rows less, and in another order."""
    random = Random(seed)
    keys = random.sample(range(100), random.randrange(30))
    members, expected = [], set(range(110))
    for number in range(random.randrange(2, 4)):
        own = [key for key in keys if random.random() < random.choice([1, 1, 0.9])]
        own += random.choice([[], random.sample(range(100, 110), 3)])
        if random.random() < 0.3:
            random.shuffle(own)
        expected &= set(own)
        members.append(
            pa.table({"k": pa.array(own, pa.int64()), f"v{number}": pa.array([key * 10 for key in own], pa.int64())})
        )
    joined = [
        row
        for table in join_by_key([iter(split(random, member)) for member in members], "k")
        for row in table.to_pylist()
    ]
    assert sorted(row["k"] for row in joined) == sorted(expected)
    assert all(row == {"k": row["k"], **{f"v{n}": row["k"] * 10 for n in range(len(members))}} for row in joined)
    for is_in in (True, False):
        tables = [iter(split(random, member)) for member in members[:2]]
        kept = [key for table in filter_by_key(*tables, "k", is_in=is_in) for key in table["k"].to_pylist()]
        others = set(members[1]["k"].to_pylist())
        assert kept == [key for key in members[0]["k"].to_pylist() if (key in others) == is_in]
