"""Declared facts compared with the data: what is seen is true, contradicts what is not, and is counted rightly."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import provenn
from provenn.errors import ProvennWarning
from provenn.logic import Knowledge, World
from provenn.spark.region_counts import count_regions, label_regions
from provenn.targets.checking import find_contradiction
from tests.strategies import statements
from tests.targets.declared_stars import stars_archive

__all__ = ["stars_archive"]

LABELS = ("A", "B", "C")
SETS = st.fixed_dictionaries({label: st.frozensets(st.integers(0, 7)) for label in LABELS})


def regions_of(sets: dict[str, frozenset[int]]) -> Counter[frozenset[str]]:
    """How many objects are in which sets, one object after the other."""
    return Counter(
        frozenset(label for label, members in sets.items() if one in members)
        for one in frozenset().union(*sets.values())
    )


@settings(max_examples=300, deadline=None)
@given(SETS, statements(LABELS))
def test_what_is_seen_instead_is_true_and_contradicts_what_was_said(sets, said):
    seen = regions_of(sets)
    world = World(frozenset({frozenset(), *seen}))
    assume(not world.satisfies(said))
    instead, reason = find_contradiction(said, seen)
    assert world.satisfies(instead)
    assert not Knowledge([said, instead], open_universe=False).consistent
    assert reason.startswith("checked on the data: ")


@pytest.mark.parametrize(
    "examples", [pytest.param(4, id="quick"), pytest.param(200, id="campaign", marks=pytest.mark.campaign)]
)
def test_sources_are_counted_in_the_regions_where_they_are(engine, examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(SETS)
    def check(sets):
        def frame(members):
            table = pa.table({"k": pa.array(sorted(members), pa.int64())})
            return engine.session.createDataFrame(table.append_column("odd `name`", pa.array(["x"] * len(members))))

        counted = count_regions([(frame(sets[label]), ["k"]) for label in LABELS]).collect()
        assert label_regions(LABELS, {row["inside"]: row["sources"] for row in counted}) == regions_of(sets)

    check()


def test_keys_of_several_columns_and_other_names_are_compared(engine, tmp_path):
    """The key is compared by position, as the population has it, whatever its columns are called."""
    with provenn.open(tmp_path / "survey", spark=engine.session.sparkContext.master, progress=False) as archive:
        one = pa.table({"field": ["a", "a", "b"], "n": [1, 2, 1]})
        other = pa.table({"f": ["a", "b", "b"], "m": [2, 1, 2]})
        archive.ingest("one", one, key=["field", "n"], population="visit")
        archive.ingest("other", other, key=["f", "m"], population="visit")
        archive.declare("disjoint(one, other)", reason="a slip")
        inner = archive["one"].restrict("other", name="inner")
        with pytest.warns(ProvennWarning, match="a slip.*no longer used: .* 2 sources"):
            assert inner.count(check=True) == 2
