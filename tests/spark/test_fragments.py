"""Fragments: what is stored comes back, is never half there, and is noticed when it is damaged."""

import math
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provenn.catalogs import Base, Files, KeepAttributes, RenameAttributes, SelectSources
from provenn.data import fragments
from provenn.data.garbage_collection import collect_garbage
from provenn.data.usable_fragments import select_usable
from provenn.database.tables import pins
from provenn.database.transactions import Database
from provenn.definitions import catalog_store
from provenn.errors import (
    AttributeNotFoundError,
    CorruptArchiveError,
    FilesChangedError,
    KeyValuesError,
    RunError,
    StoreError,
)
from provenn.files import data_folder as folder_module
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from provenn.knowledge import counts
from provenn.knowledge.declarations import declare_fact, retract_fact
from provenn.logic import nonempty
from provenn.spark import fragment_files as module
from provenn.spark.columns import column
from provenn.spark.fragment_files import find_fragment, read_fragment, store_fragment
from tests.catalogs.samples import derived
from tests.files.test_data_folder import ODD, small_disk
from tests.spark.plain_plan import compile_catalog
from tests.waiting import LIMIT

ROWS = 40
NO_AGE = timedelta(-1)


@pytest.fixture(scope="session")
def empty_archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "archive.sqlite"
    open_database(path, create=True).close()
    return path


@pytest.fixture
def database(tmp_path, empty_archive):
    with open_database(shutil.copy(empty_archive, tmp_path / "archive.sqlite"), who="Ada") as database:
        yield database


@pytest.fixture
def folder(tmp_path):
    return DataFolder.of(tmp_path / "data")


@pytest.fixture
def stars(tmp_path):
    """A base catalog with NULL, NaN, units, and a name in upper and in lower case."""
    vmag = pa.field("vmag", pa.float64(), metadata={"unit": "mag", "description": "in V"})
    schema = pa.schema(
        [("hip", pa.int64()), vmag, ("Vmag", pa.float64()), ("a name. with `signs`, = (x)", pa.string())]
    )
    values = [None if number % 7 == 0 else math.nan if number % 5 == 0 else number / 4 for number in range(ROWS)]
    table = pa.table(
        [list(range(ROWS)), values, [float(number) for number in range(ROWS)], [f"é{n}" for n in range(ROWS)]],
        schema=schema,
    )
    pq.write_table(table, tmp_path / "stars.parquet")
    return Base.of(Files.at(tmp_path / "stars.parquet"), key="hip", population="star")


@pytest.fixture
def keep(engine, database, folder):
    """Store a catalog."""

    def keep(catalog, **options):
        return store_fragment(engine, database, folder, catalog, computed(engine, catalog), **options)

    return keep


@pytest.fixture
def scene(database, folder, stars, keep):
    """All of it."""
    return SimpleNamespace(database=database, folder=folder, keep=lambda: keep(stars))


def computed(engine, catalog):
    """The data of a catalog whose bases are Parquet files."""

    def leaf(one):
        if not isinstance(one, Base):
            return None
        attributes = one.schema.attributes
        return engine.session.read.parquet(one.files.location).select(
            *(column(attribute.name).alias(attribute.name, metadata={}) for attribute in attributes)
        )

    return compile_catalog(catalog, leaf)


def visible(database):
    with database.reading() as reading:
        return fragments.all_fragments(reading)


def lying(folder):
    return {
        folder.relative_path(folder.at(where, entry.name))
        for where in ("_temporary", "fragments")
        for entry in folder.entries(where)
    }


def rows(frame):
    return sorted(map(repr, (tuple(row) for row in frame.collect())))


# --- what is stored comes back ---


def test_a_fragment_holds_the_rows_values_and_units_of_its_catalog(engine, database, folder, stars, keep):
    catalog = derived(SelectSources.of(stars, "hip >= 3"), twice="2 * vmag")
    made = keep(catalog)
    assert visible(database) == (made,)
    assert (made.rows, made.catalog, made.extent) == (ROWS - 3, catalog.digest, catalog.extent.digest)
    assert made.size == sum(file.size for file in made.files) > 0
    assert made.seconds > 0
    assert lying(folder) == {made.location}
    frame = read_fragment(engine, folder, made)
    assert frame.columns == ["hip", "vmag", "Vmag_2", "a name. with `signs`, = (x)", "twice"]
    assert [identity for identity, _ in made.columns] == [attribute.identity for attribute in catalog.schema.attributes]
    assert rows(frame) == rows(computed(engine, catalog))
    assert frame.schema["vmag"].metadata == {"unit": "mag", "description": "in V"}
    with database.reading() as reading:
        assert counts.find_counts(reading, [catalog.digest]) == {catalog.digest: ROWS - 3}


def test_chosen_attributes_are_stored_with_the_key_once_each(engine, folder, stars, keep):
    catalog = RenameAttributes.of(stars, {"hip": "number", "vmag": "v"})
    made = keep(catalog, identities=[stars.schema["vmag"].identity])
    assert made.columns == ((stars.schema["hip"].identity, "number"), (stars.schema["vmag"].identity, "v"))
    assert read_fragment(engine, folder, made).columns == ["number", "v"]
    with pytest.raises(AttributeNotFoundError, match="nothing"):
        keep(catalog, identities=["nothing"])


def test_a_fragment_without_rows_is_one(engine, folder, stars, keep):
    made = keep(SelectSources.of(stars, "hip < 0"))
    assert made.rows == 0
    frame = read_fragment(engine, folder, made)
    assert frame.columns[:2] == ["hip", "vmag"]
    assert frame.count() == 0


@pytest.mark.parametrize("name", [ODD, "year=2026"])
def test_the_folder_may_have_any_name(engine, database, tmp_path, stars, name):
    folder = DataFolder.of(tmp_path / name)
    frame = computed(engine, stars)
    made = store_fragment(engine, database, folder, stars, frame)
    assert rows(read_fragment(engine, folder, made)) == rows(frame)
    assert select_usable(database, folder, [made]) == [made]


def test_where_nothing_can_be_renamed_it_stays_where_it_was_written(database, folder, stars, keep, monkeypatch):
    monkeypatch.setattr(folder_module, "_RENAMING", frozenset())
    made = keep(stars)
    assert made.location.startswith("_temporary/")
    assert collect_garbage(database, folder, age=NO_AGE).deleted == ()
    assert select_usable(database, folder, [made]) == [made]


def test_a_stray_file_is_not_read(engine, folder, stars, keep):
    made = keep(stars)
    shutil.copy(Path(folder.at(made.location, made.files[0].name)), Path(folder.at(made.location, "stray.parquet")))
    assert read_fragment(engine, folder, made).count() == ROWS


# --- stored twice is stored once ---


def test_what_is_stored_is_not_stored_again(database, folder, stars, keep):
    made = keep(stars)
    assert keep(stars) == made
    assert keep(KeepAttributes.of(stars, ["vmag"])) == made, "another catalog, the same sources, fewer attributes"
    assert find_fragment(database, folder, stars) == made
    fewer = SelectSources.of(stars, "hip > 1")
    assert find_fragment(database, folder, fewer) is None
    assert keep(fewer) != made


def test_more_attributes_are_stored_beside_fewer(stars, keep):
    few = keep(stars, identities=[])
    assert [column for _, column in few.columns] == ["hip"]
    assert keep(stars) != few


def test_two_who_store_the_same_at_once_get_one_fragment(engine, database, folder, stars, monkeypatch):
    both = threading.Barrier(2, timeout=LIMIT)
    publish, got = DataFolder.publish, []

    def together(*arguments):
        both.wait()
        return publish(*arguments)

    def work():
        got.append(store_fragment(engine, database, folder, stars, frame))

    monkeypatch.setattr(DataFolder, "publish", together)
    frame = computed(engine, stars)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] == got[1]
    assert visible(database) == (got[0],)
    assert lying(folder) == {got[0].location}


def test_a_fragment_whose_facts_were_retracted_is_stored_anew(database, folder, stars, keep):
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, stars)
        fact = declare_fact(writing, nonempty(stars.digest), "")
    first = keep(stars, facts=[fact.id])
    assert find_fragment(database, folder, stars) == first
    with database.writing() as writing:
        retract_fact(writing, fact.id, "")
    assert find_fragment(database, folder, stars) is None
    assert keep(stars).id != first.id


# --- damage ---


def deleted(path):
    path.unlink()


def truncated(path):
    path.write_bytes(path.read_bytes()[:-10])


def replaced(path):
    size = path.stat().st_size
    pq.write_table(pa.table({"hip": [1]}), path)
    path.write_bytes(path.read_bytes().rjust(size, b"\0"))
    assert path.stat().st_size == size


@pytest.mark.parametrize("damage", [deleted, truncated, replaced])
def test_damage_is_noticed_before_use_and_the_data_are_stored_anew(scene, caplog, damage):
    database, folder, keep = scene.database, scene.folder, scene.keep
    made = keep()
    damage(Path(folder.at(made.location, made.files[0].name)))
    again = keep()
    assert again.id != made.id
    assert visible(database) == (again,)
    assert f"fragment #{made.id} is no longer used" in caplog.text
    with database.reading() as reading:
        assert fragments.get(reading, made.id).dropped_reason.startswith(f"damaged: {made.files[0].name} ")
    assert made.location in collect_garbage(database, folder).deleted
    assert lying(folder) == {again.location}


def test_a_value_that_rotted_is_not_read(engine, folder, stars, keep):
    made = keep(KeepAttributes.of(stars, ["hip", "Vmag"]))
    for file in made.files:
        path = Path(folder.at(made.location, file.name))
        content = bytearray(path.read_bytes())
        content[60] ^= 0xFF
        path.write_bytes(content)
        assert not list(path.parent.glob(".*")), "pages have checksums, and nothing else is needed"
    with pytest.raises(Exception, match=r"(?i)checksum|crc|corrupt"):
        read_fragment(engine, folder, made).collect()


def test_a_folder_that_is_gone_is_an_error_and_no_damage(database, folder, stars, keep):
    """A disk that is not mounted costs no fragment."""
    made = keep(stars)
    Path(folder.location).rename(folder.location + " away")
    with pytest.raises(StoreError, match="is missing") as caught:
        keep(stars)
    assert "mounted" in caught.value.hint
    Path(folder.location + " away").rename(folder.location)
    assert visible(database) == (made,)
    assert keep(stars) == made


def test_who_can_only_read_uses_what_is_sound_and_drops_nothing(database, folder, stars, keep, caplog):
    made = keep(stars)
    with open_database(database.place, read_only=True) as reader:
        assert find_fragment(reader, folder, stars) == made
        deleted(Path(folder.at(made.location, made.files[0].name)))
        assert find_fragment(reader, folder, stars) is None
    assert caplog.text
    assert visible(database) == (made,)


# --- nothing half there ---


def test_keys_that_are_null_are_refused(engine, database, folder, tmp_path):
    pq.write_table(pa.table({"hip": [1, None, None], "x": [1, 2, 3]}), tmp_path / "nulls.parquet")
    catalog = Base.of(Files.at(tmp_path / "nulls.parquet"), key="hip", population="star")
    with pytest.raises(KeyValuesError, match="2 of 3 sources have a NULL key hip"):
        store_fragment(engine, database, folder, catalog, engine.session.read.parquet(catalog.files.location))
    assert visible(database) == ()
    assert lying(folder) == set()


def test_another_number_of_rows_than_was_counted_is_refused(database, folder, stars, keep):
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, stars)
        counts.record_count(writing, stars.digest, ROWS + 1)
    with pytest.raises(CorruptArchiveError, match=f"had {ROWS + 1} rows, and now {ROWS}"):
        keep(stars)
    assert visible(database) == ()
    assert lying(folder) == set()


def test_nothing_is_registered_if_base_files_changed_before(engine, database, folder, stars):
    frame = computed(engine, stars)
    pq.write_table(pa.table({"hip": [1]}), stars.files.location)
    with pytest.raises(FilesChangedError):
        store_fragment(engine, database, folder, stars, frame)
    assert visible(database) == ()
    assert lying(folder) == set()


def test_nothing_is_registered_if_base_files_change_meanwhile(database, folder, stars, keep, monkeypatch):
    def change(*arguments):
        write(*arguments)
        pq.write_table(pa.table({"hip": [1]}), stars.files.location)

    write = module._write
    monkeypatch.setattr(module, "_write", change)
    with pytest.raises(FilesChangedError):
        keep(SelectSources.of(stars, "hip > 1"))
    assert visible(database) == ()
    assert lying(folder) == set()


class DeathError(Exception):
    pass


STEPS = (
    (DataFolder, "new_temporary_address"),
    (module, "_write"),
    (module, "read_parquet_contents"),
    (module, "_check_keys"),
    (DataFolder, "publish"),
    (module, "_find_holding"),
    (counts, "record_count"),
    (fragments, "register"),
)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[1])
@pytest.mark.parametrize(
    "when",
    [
        "after",
        pytest.param("before", marks=pytest.mark.campaign),  # nothing is done between a step and the one before
    ],
)
def test_a_failure_at_any_step_leaves_nothing(scene, monkeypatch, step, when):
    owner, name = step
    database, folder, keep = scene.database, scene.folder, scene.keep
    done, calls = getattr(owner, name), []

    def die(*arguments, **options):
        calls.append(name)
        if len(calls) <= (name == "_find_holding"):  # the first time, it looks whether something is there
            return done(*arguments, **options)
        if when == "after":
            done(*arguments, **options)
        raise DeathError

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        with pytest.raises(DeathError):
            keep()
    assert visible(database) == ()
    assert lying(folder) == set()
    with database.reading() as reading:
        assert reading.connection.execute(pins.select()).all() == [], "nothing is pinned"
    assert keep().rows == ROWS
    collect_garbage(database, folder, age=NO_AGE)
    assert lying(folder) == {one.location for one in visible(database)}


def test_an_interruption_after_the_commit_leaves_all_of_it(scene, monkeypatch):
    """Ctrl-C comes when the fragment is registered already: then its files must stay."""

    @contextmanager
    def interrupted(self, **options):
        with writing(self, **options) as one:
            before = fragments.all_fragments(one)
            yield one
            added = fragments.all_fragments(one) != before
        if added:
            raise KeyboardInterrupt

    writing = Database.writing
    with monkeypatch.context() as patch:
        patch.setattr(Database, "writing", interrupted)
        with pytest.raises(KeyboardInterrupt):
            scene.keep()
    (made,) = visible(scene.database)
    assert select_usable(scene.database, scene.folder, [made]) == [made]
    assert scene.keep() == made


def test_a_full_disk_is_told_and_leaves_nothing(engine, database, tmp_path):
    with small_disk(tmp_path, "2m") as disk:
        folder = DataFolder.of(disk / "data")
        path = tmp_path / "many.parquet"
        pq.write_table(pa.table({"hip": list(range(800_000))}), path)
        catalog = derived(Base.of(Files.at(path), key="hip", population="star"), noise="hash(hip)")
        frame = computed(engine, catalog)
        with pytest.raises((StoreError, RunError), match=r"(?i)disk is full|no space"):
            store_fragment(engine, database, folder, catalog, frame)
        assert visible(database) == ()
        assert lying(folder) == set()


# --- kill -9 ---


def run(*arguments):
    command = [sys.executable, "-m", "tests.spark.killed_stores", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_killed_at_any_step_leaves_nothing_or_all(database, folder, stars, tmp_path):
    """Before every statement, and every file that Python opens, renames or deletes; Spark's part is played."""
    tried, stored = map(int, run("steps", tmp_path / "archive.sqlite", folder.location, stars.files.location).split())
    assert tried > 30
    assert 0 < stored < tried, "some were killed before it was registered, some after"
    assert visible(database) == ()


def test_a_process_killed_while_spark_writes_leaves_nothing_that_is_seen(database, folder, stars, keep, tmp_path):
    command = [sys.executable, "-m", "tests.spark.killed_stores", "write"]
    places = (tmp_path / "archive.sqlite", folder.location, stars.files.location)
    process = subprocess.Popen([*command, *map(str, places)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + LIMIT
        while not list(Path(folder.location).glob("_temporary/*/**/*.parquet")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.kill()
        process.communicate(timeout=LIMIT)  # until its Java has ended too, which goes on writing for a moment
    assert visible(database) == ()
    (leftover,) = lying(folder)
    made = keep(stars)
    assert collect_garbage(database, folder).deleted == (leftover,), "it is young, but who pinned it is gone"
    assert lying(folder) == {made.location}
