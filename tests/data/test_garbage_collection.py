"""What can be deleted: never what somebody uses, least useful first, and nothing for ever."""

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.data import fragments, pins
from provenn.data.fragments import Fragment
from provenn.data.garbage_collection import AGE, HALF_LIFE, choose_fragments, collect_garbage, compute_usefulness
from provenn.data.parquet_contents import find_parquet_damage, read_parquet_contents
from provenn.definitions import catalog_store
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from provenn.knowledge.declarations import declare_fact, retract_fact
from provenn.logic import nonempty
from tests.catalogs.samples import base
from tests.waiting import FOR_EVER, wait_until

NOW = datetime(2026, 11, 1, tzinfo=UTC)
STARS = base()
KEY = STARS.schema.key[0].identity


def fragment(number, size=100, seconds=10.0, uses=0, days=0.0):
    used = NOW - timedelta(days=days)
    return Fragment(
        *(number, "c", "star", "e", ((KEY, "hip"),), f"fragments/{number}", 1, size, (), seconds),
        *(used, "Ada", used, uses),
    )


# --- the choice ---


def test_usefulness_is_seconds_saved_per_byte_by_uses_and_recency():
    item = fragment(1, size=100, seconds=10)
    assert compute_usefulness(item, NOW) == 0.1
    assert compute_usefulness(replace(item, uses=3), NOW) == 0.4
    assert compute_usefulness(replace(item, size=1000), NOW) == 0.01
    assert compute_usefulness(replace(item, used_at=NOW - HALF_LIFE), NOW) == 0.05
    assert compute_usefulness(replace(item, used_at=NOW + HALF_LIFE), NOW) == 0.1, "another machine's clock is ahead"
    assert compute_usefulness(replace(item, size=0), NOW) == 10


many = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 20).map(float), st.integers(0, 3), st.integers(0, 60)), max_size=12
).map(lambda drawn: [fragment(number, *values) for number, values in enumerate(drawn)])


@given(many, st.integers(0, 400), st.sets(st.integers(0, 12)))
def test_least_useful_first_never_what_is_held_and_no_more_than_needed(candidates, limit, numbers):
    held = {f"fragments/{number}" for number in numbers}
    going = choose_fragments(candidates, limit, held, NOW)
    staying = [candidate for candidate in candidates if candidate not in going]
    free = [item for item in staying if item.location not in held]
    assert not [item for item in going if item.location in held]
    total = sum(item.size for item in staying)
    assert total <= limit or not free, "it fits, or nothing more can go"
    if going:
        assert total + going[-1].size > limit, "the last one had to go"
        assert all(compute_usefulness(item, NOW) >= compute_usefulness(going[-1], NOW) for item in free)
    assert list(going) == sorted(going, key=lambda item: compute_usefulness(item, NOW))


# --- the folder ---


@pytest.fixture
def folder(tmp_path):
    return DataFolder.of(tmp_path / "data")


@pytest.fixture
def database(tmp_path, sqlite_archive):
    with open_database(shutil.copy(sqlite_archive, tmp_path / "archive.sqlite"), who="Ada") as database:
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, STARS)
        yield database


def write(folder, where, name, rows=3):
    path = Path(folder.at(where, name))
    path.mkdir(parents=True)
    pq.write_table(pa.table({"hip": list(range(rows))}), path / "part.parquet")
    return f"{where}/{name}"


def stored(database, folder, name, *, seconds=1.0, where="fragments", facts=(), rows=3):
    place = write(folder, where, name, rows)
    parquet_contents = read_parquet_contents(folder, place, 1)
    with database.writing() as writing:
        return fragments.register(
            *(writing, STARS, [(KEY, "hip")]),
            location=place,
            rows=parquet_contents.rows,
            files=parquet_contents.files,
            seconds=seconds,
            facts=facts,
        )


def age(folder, place, by=2 * AGE):
    then = (datetime.now(UTC) - by).timestamp()
    for path in [Path(folder.at(place)), *Path(folder.at(place)).rglob("*")]:
        os.utime(path, (then, then))


def there(folder):
    return {
        f"{where}/{entry.name}" for where in ("_temporary", "fragments", "converted") for entry in folder.entries(where)
    }


def test_leftovers_go_when_they_are_old_and_nobody_holds_them(database, folder):
    young, old, held, orphan = (
        write(folder, where, name)
        for where, name in (
            ("_temporary", "young"),
            ("_temporary", "old"),
            ("_temporary", "held"),
            ("fragments", "orphan"),
        )
    )
    unknown, known = write(folder, "converted", "0" * 64), write(folder, "converted", STARS.files.digest)
    in_place, kept = (
        stored(database, folder, "kept", where="_temporary").location,
        stored(database, folder, "kept").location,
    )
    for place in (old, held, orphan, unknown, known, in_place, kept):
        age(folder, place)
    with pins.hold_places(database, held):
        garbage = collect_garbage(database, folder, dry_run=True)
        assert there(folder) == {young, old, held, orphan, unknown, known, in_place, kept}, "nothing was deleted"
        assert collect_garbage(database, folder) == garbage
        assert set(garbage.deleted) == {old, orphan, unknown}
        assert there(folder) == {young, held, known, in_place, kept}
    assert set(collect_garbage(database, folder).deleted) == {held}
    assert collect_garbage(database, folder, age=timedelta(0)).deleted == (young,)
    assert garbage.freed > 0
    assert garbage.dropped == ()


def test_a_dropped_fragment_loses_its_files_and_keeps_its_row(database, folder):
    output = stored(database, folder, "one")
    with fragments.pin_fragments(database, [output.id]):
        with database.writing() as writing:
            fragments.drop(writing, output.id, "damaged")
        assert collect_garbage(database, folder).deleted == (), "somebody reads it"
    garbage = collect_garbage(database, folder)
    assert (garbage.deleted, garbage.freed, garbage.kept) == ((output.location,), output.size, 0)
    assert there(folder) == set()
    with database.reading() as reading:
        (gone,) = fragments.all_fragments(reading, dropped=True)
        assert gone.removed_at is not None
        assert gone.dropped_reason == "damaged"
    assert collect_garbage(database, folder).deleted == ()


def test_a_short_look_pins_nothing_and_a_long_one_does(database, folder, monkeypatch):
    """A page that reads a fragment changes nothing in the archive; whoever reads for long is waited for."""
    output = stored(database, folder, "one")

    def is_pinned():
        with database.reading() as reading:
            return output.location in pins.find_pinned_places(reading, datetime.now(UTC))

    monkeypatch.setattr(fragments, "_MOMENT", FOR_EVER)
    with fragments.pin_fragments_of_look(database, [output.id]):
        assert not is_pinned()
    monkeypatch.setattr(fragments, "_MOMENT", 0.0)
    with fragments.pin_fragments_of_look(database, [output.id]):
        wait_until(is_pinned, "the fragment is pinned")
    assert not is_pinned()


def test_a_fragment_that_leans_on_a_retracted_fact_goes_with_the_reason(database, folder):
    with database.writing() as writing:
        fact = declare_fact(writing, nonempty(STARS.digest), "")
    output = stored(database, folder, "one", facts=[fact.id])
    with database.writing() as writing:
        retract_fact(writing, fact.id, "")
    with pins.hold_places(database, output.location):
        assert collect_garbage(database, folder).dropped == ()
    (dropped,) = collect_garbage(database, folder).dropped
    assert dropped.fragment.id == output.id
    assert dropped.reason == f"fact #{fact.id}, on which it rests, was retracted"


def test_a_limit_drops_the_least_useful_and_says_so(database, folder):
    cheap, dear, held = (
        stored(database, folder, name, seconds=seconds) for name, seconds in (("cheap", 1), ("dear", 100), ("held", 0))
    )
    with fragments.pin_fragments(database, [held.id]):
        garbage = collect_garbage(database, folder, limit=dear.size + held.size, dry_run=True)
        assert collect_garbage(database, folder, limit=dear.size + held.size) == garbage
        assert [item.fragment.id for item in garbage.dropped] == [cheap.id]
        assert (garbage.freed, garbage.kept) == (cheap.size, dear.size + held.size)
        assert there(folder) == {dear.location, held.location}
        garbage = collect_garbage(database, folder, limit=0)
        assert [item.fragment.id for item in garbage.dropped] == [dear.id]
        assert garbage.kept == held.size
    with database.reading() as reading:
        assert [item.id for item in fragments.all_fragments(reading)] == [held.id]
        assert (
            fragments.get(reading, cheap.id).dropped_reason
            == f"least useful beyond the limit of {dear.size + held.size:,} bytes"
        )


@pytest.mark.parametrize("step", ["drop", "remove", "record_removal"])
def test_a_collection_that_dies_in_the_middle_is_finished_by_the_next(database, folder, monkeypatch, step):
    output = stored(database, folder, "one")

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if step == "remove":
            patch.setattr(DataFolder, "remove", die)
        else:
            patch.setattr(fragments, step, die)
        with pytest.raises(KeyboardInterrupt):
            collect_garbage(database, folder, limit=0)
    with database.reading() as reading:
        visible = fragments.all_fragments(reading)
    assert all(not find_parquet_damage(folder, result.location, result.files) for result in visible), (
        "what is visible is complete"
    )
    collect_garbage(database, folder, limit=0)
    assert there(folder) == set()
    with database.reading() as reading:
        assert fragments.get(reading, output.id).removed_at is not None


# --- what files hold ---


def test_rows_and_nulls_are_counted_in_the_footers(folder):
    path = Path(folder.at("fragments", "one"))
    path.mkdir(parents=True)
    pq.write_table(pa.table({"hip": [1, None, 3], "x": [None] * 3}), path / "a.parquet")
    plain = pa.table({"hip": pa.array([None, None, 3], pa.int64()), "x": [1, 2, 3]})
    pq.write_table(plain, path / "b.parquet", write_statistics=False, row_group_size=2)
    parquet_contents = read_parquet_contents(folder, "fragments/one", 2)
    assert (parquet_contents.rows, parquet_contents.nulls) == (6, (3, 3))
    assert [file.name for file in parquet_contents.files] == ["a.parquet", "b.parquet"]
    assert find_parquet_damage(folder, "fragments/one", parquet_contents.files) == ""


def test_damage_is_told(folder):
    place = write(folder, "fragments", "one")
    path = Path(folder.at(place), "part.parquet")
    files = read_parquet_contents(folder, place).files
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert find_parquet_damage(folder, place, files) == f"part.parquet has {len(whole) - 1:,} bytes, not {len(whole):,}"
    pq.write_table(pa.table({"hop": [0, 1, 2]}), path)
    assert path.stat().st_size == len(whole)
    assert find_parquet_damage(folder, place, files) == "part.parquet is another file of the same size"
    path.unlink()
    assert find_parquet_damage(folder, place, files) == "part.parquet is missing"
