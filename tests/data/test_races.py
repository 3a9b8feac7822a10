"""Many processes on one archive: what was acknowledged is not lost, and what is refused is refused as documented.

PROVENN_RACES, a factor, makes the campaigns longer.
"""

import os

import pytest

from provenn.formats.opening import open_database
from provenn.knowledge.stored_facts import find_all_facts
from tests.database.databases import InPostgreSQL, InSQLite
from tests.races import raced

LONGER = int(os.environ.get("PROVENN_RACES", "1"))


def small_and_large(small: int, large: int):
    """Rounds for `make test`, and for campaigns."""
    return pytest.mark.parametrize("rounds", [small, pytest.param(large * LONGER, marks=pytest.mark.campaign)])


def sound(result) -> bool:
    return (result["busy"], result["wrong"], result["lost"]) == (0, [], [])


class RacesContract:
    @small_and_large(6, 300)
    def test_of_declarations_that_contradict_each_other_all_but_one_win(self, place, tmp_path, rounds):
        result = raced("contradictions", place, tmp_path, workers=6, rounds=rounds)
        assert sound(result), result
        assert result["decided"] == rounds
        assert result["declared"] + result["declared: ContradictionError"] == 6 * rounds
        with open_database(place) as database, database.reading() as reading:
            assert len(find_all_facts(reading)) == rounds // 2 * 2 + rounds // 2, (
                "each is held once: two of three, one of two"
            )

    @small_and_large(12, 300)
    def test_nothing_that_was_acknowledged_is_lost(self, place, tmp_path, rounds):
        result = raced("everything", place, tmp_path, workers=6, rounds=rounds, seed=rounds)
        assert sound(result), result
        assert result["left over"] == 0
        assert min(result.get(item, 0) for item in ("defined", "named", "moved", "declared", "retracted", "stored")) > 0

    @small_and_large(3, 200)
    def test_sixteen_who_write_wait_for_each_other_and_not_too_long(self, place, tmp_path, rounds):
        result = raced("writers", place, tmp_path, workers=16, rounds=rounds)
        assert sound(result), result
        assert result["written"] == 16 * rounds
        assert rounds < 100 or result["overtaken"] < 16 * rounds / 2, "nobody waits until most others are done"


class TestSQLite(InSQLite, RacesContract):
    pass


class TestPostgreSQL(InPostgreSQL, RacesContract):
    pass
