"""How an import writes: others wait only while rows are written, and see all of the import or nothing."""

import subprocess
import sys
from io import BytesIO

import pytest
from sqlalchemy import event, func, select, text, update

from provenn.catalogs import SelectSources
from provenn.data.garbage_collection import collect_garbage
from provenn.database import staged_rows
from provenn.database.fences import EPOCH
from provenn.database.tables import STAGED, catalogs, definers, imports, settings
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import ArchiveChangedError, ContradictionError
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from provenn.knowledge.declarations import declare_fact
from provenn.logic import nonempty, statement, subset
from provenn.soundness.checking import find_problems
from provenn.transfer.exporting import export_archive
from provenn.transfer.importing import batched_writing, imported_definitions, stage_file, take_over, write_in_batches
from tests.catalogs.samples import base
from tests.database.databases import InNewPostgreSQL, InPostgreSQL, InSQLite, Opened
from tests.postgres import new_schema
from tests.repetitions import repeat_a_few

SIZE = 60
TABLES = (
    *("populations", "schemas", "catalogs", "dependencies", "attributes", "wordings", "bases", "definers"),
    *("names", "name_history", "facts", "fact_catalogs", "fact_bases"),
)


def fill(database, size):
    """Define a chain of selections and some beside it, with names and facts."""
    stars = base()
    with database.writing() as writing:
        results = [stars]
        for number in range(size):
            results.append(SelectSources.of(results[-1] if number % 3 else stars, f"vmag < {100 - number / 7}"))
        catalog_store.add_catalogs(writing, *results)
        for number, catalog in enumerate(results):
            if number % 4 == 0:
                catalog_names.assign_name(writing, f"c{number}", catalog.digest)
        declare_fact(writing, nonempty(results[-1].digest), "seen")
        declare_fact(writing, subset(results[1].digest, stars.digest), "so it is")


def exported(database) -> bytes:
    file = BytesIO()
    with database.reading() as reading:
        export_archive(reading, file)
    return file.getvalue()


def imported(database, content):
    staged = stage_file(database.reading, BytesIO(content), "a file", None)
    with write_in_batches(database, staged) as written, database.writing() as writing:
        return take_over(writing, staged, written=written)


def staged_rows_left(database):
    """How many rows wait for being published, and how many imports are under way."""
    with database.reading() as reading:
        counts = (select(func.count()).select_from(table) for table in (*STAGED.values(), imports))
        return sum(reading.connection.scalar(query) for query in counts)


def count(database):
    with database.reading() as reading:
        return reading.connection.scalar(select(func.count()).select_from(catalogs))


def raw(database, table):
    """The rows of a table as the database keeps them, without what is numbered by the archive."""
    with database.engine.connect() as connection:
        rows = connection.execute(text(f"SELECT * FROM {table}")).mappings()  # noqa: S608 - a constant
        return sorted(str({key: value for key, value in row.items() if key not in ("id", "fact")}) for row in rows)


def damage(database):
    """What is wrong with an archive, but for the files of base catalogs, which are nowhere."""
    return [problem for problem in find_problems(database, None) if problem.state != "remark"]


@pytest.fixture(scope="module")
def content(tmp_path_factory, sqlite_archive):
    path = tmp_path_factory.mktemp("source") / "source.sqlite"
    path.write_bytes(sqlite_archive.read_bytes())
    with open_database(path, who="Grace") as source:
        fill(source, SIZE)
        return exported(source)


class Watched(BytesIO):
    """A file that does something whenever somebody reads on in it."""

    def __init__(self, content, work):
        super().__init__(content)
        self.work = work
        self.times = 0

    def read(self, size=-1):
        self.times += 1
        self.work()
        return super().read(min(size, 200) if size and size > 0 else size)


class ImportContract:
    def test_what_comes_is_what_went_in_row_by_row(self, database, elsewhere):
        fill(database, SIZE)
        with open_database(elsewhere(), create=True, who="Bob") as copy:
            imported(copy, exported(database))
            for table in TABLES:
                assert raw(copy, table) == raw(database, table), table
            assert damage(copy) == []

    def test_others_write_and_see_nothing_while_a_file_is_read(self, database, place, content, tmp_path):
        """Somebody else writes, looks, checks and cleans up between any two pieces of the file."""
        with open_database(place, who="Bob", patience=0.0) as other:

            def work():
                with other.writing(patience=0.0) as writing:
                    catalog_names.find_names_by_digest(writing, [])
                assert count(other) == 0
                if file.times % 10 == 0:
                    assert damage(other) == []
                    collect_garbage(other, DataFolder.of(tmp_path))

            file = Watched(content, work)
            staged = stage_file(database.reading, file, "a file", None)
            assert file.times > 10
            assert count(other) == 0
        with database.writing() as writing:
            take_over(writing, staged)
        assert count(database) == SIZE + 1

    def test_how_many_statements_are_executed_does_not_depend_on_how_many_definitions_come(self, database, elsewhere):
        """No query for each row: the lock is held as long as it takes to write rows, and no longer."""

        def statements_for(size):
            statements = []
            with open_database(elsewhere(size), create=True) as source:
                fill(source, size)
                staged = stage_file(database.reading, BytesIO(exported(source)), "a file", None)
            with open_database(elsewhere(f"to{size}"), create=True) as target, target.writing() as writing:
                event.listen(target.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
                take_over(writing, staged)
            return len(statements)

        assert statements_for(20) == statements_for(80)

    @pytest.mark.parametrize("call", repeat_a_few([0, 3, 6, 1, 2, 4, 5], 3))
    def test_an_import_that_fails_anywhere_leaves_nothing_and_can_be_repeated(
        self, database, content, monkeypatch, call
    ):
        calls = []
        insert_rows = imported_definitions.insert_rows

        def failing(*arguments):
            if len(calls) == call:
                raise KeyboardInterrupt
            calls.append(arguments)
            return insert_rows(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(imported_definitions, "insert_rows", failing)  # of a small file, which is written at once
            with pytest.raises(KeyboardInterrupt):
                imported(database, content)
        assert count(database) == 0
        assert imported(database, content).new["definition"] == SIZE + 1
        assert imported(database, content).there["definition"] == SIZE + 1
        assert damage(database) == []

    def test_two_who_import_the_same_at_once_import_it_once(self, database, place, content):
        staged = [stage_file(database.reading, BytesIO(content), "a file", None) for _ in range(2)]
        with open_database(place, who="Bob") as other:
            for item, who in zip(staged, (database, other), strict=True):
                with who.writing() as writing:
                    came = take_over(writing, item)
        assert came.new["definition"] == 0
        assert came.there["definition"] == SIZE + 1
        assert damage(database) == []


class BatchContract:
    """Imports of many definitions; here a transaction writes about twenty rows."""

    @pytest.fixture(autouse=True)
    def small_batches(self, monkeypatch):
        monkeypatch.setattr(batched_writing, "LARGEST_BATCH", 20)
        monkeypatch.setattr(staged_rows, "PAUSE", 0.0)
        monkeypatch.setattr(staged_rows, "_AT_ONCE", 11)

    @pytest.fixture
    def between(self, monkeypatch):
        """Calls a function after each batch; tells how many there were."""
        calls = []

        def watch(work):
            def call():
                calls.append(work)
                work()

            monkeypatch.setattr(batched_writing, "let_others_write", call)
            return calls

        return watch

    def test_what_comes_is_what_went_in_row_by_row(self, database, elsewhere):
        fill(database, SIZE)
        with open_database(elsewhere(), create=True, who="Bob") as copy:
            assert imported(copy, exported(database)).new["definition"] == SIZE + 1
            for table in TABLES:
                assert raw(copy, table) == raw(database, table), table
            assert damage(copy) == []
            assert staged_rows_left(copy) == 0

    def test_others_write_between_batches_and_see_nothing(self, database, place, content, between, tmp_path):
        """Somebody else writes without waiting, looks, checks and cleans up after each batch."""
        with open_database(place, who="Bob", patience=0.0) as other:
            untouched = {table: raw(other, table) for table in TABLES}

            def work():
                with other.writing(patience=0.0) as writing:
                    catalog_names.find_names_by_digest(writing, [])
                assert {table: raw(other, table) for table in TABLES} == untouched
                if len(calls) % 4 == 0:
                    assert damage(other) == []
                    collect_garbage(other, DataFolder.of(tmp_path))

            calls = between(work)
            came = imported(database, content)
        assert len(calls) >= 8
        assert came.new["definition"] == SIZE + 1
        assert damage(database) == []

    def test_what_somebody_defines_between_batches_stays_as_it_was_defined(self, database, place, content, between):
        """Bob defines all that the file holds while it is imported; that Grace defined it comes with the file."""
        with open_database(place, who="Bob") as other:
            calls = between(lambda: fill(other, SIZE) if len(calls) == 2 else None)
            came = imported(database, content)
        assert came.new["definition"] == 0
        assert came.there["definition"] == SIZE + 1
        with database.reading() as reading:
            assert set(reading.connection.scalars(select(catalogs.c.created_by))) == {"Bob"}
            people = select(definers.c.who, func.count()).group_by(definers.c.who)
            assert dict(map(tuple, reading.connection.execute(people))) == {
                "Bob": SIZE + 1,
                "Grace": SIZE + 1,
            }
        assert damage(database) == []

    def test_some_that_somebody_defines_between_batches_are_no_obstacle_to_the_others(
        self, database, place, content, between
    ):
        with open_database(place, who="Bob") as other:

            def work():
                if len(calls) == 3:
                    with other.writing() as writing:
                        catalog_store.add_catalogs(writing, SelectSources.of(base(), "vmag < 100"))

            calls = between(work)
            came = imported(database, content)
        assert came.there["definition"] == 2
        assert came.new["definition"] == SIZE - 1
        assert damage(database) == []

    def test_a_catalog_that_only_a_run_needed_becomes_a_definition(self, place, content):
        with open_database(place, who="Grace") as grace:
            with grace.writing() as writing:
                catalog_store.add_catalogs(writing, SelectSources.of(base(), "vmag < 100"), for_run=True)
            imported(grace, content)
            with grace.reading() as reading:
                assert set(reading.connection.scalars(select(definers.c.defined))) == {True}

    def test_two_who_import_the_same_at_once_import_it_once(self, database, place, content, between):
        """A whole import happens between two batches of another."""
        came = []
        with open_database(place, who="Bob") as other:

            def work():
                if len(calls) == 3:
                    came.append(imported(other, content))

            calls = between(work)
            came.append(imported(database, content))
        assert [item.new["definition"] for item in came] == [SIZE + 1, 0]
        assert damage(database) == []
        assert staged_rows_left(database) == 0

    def test_an_import_that_is_interrupted_anywhere_leaves_nothing_and_can_be_repeated(
        self, database, content, between
    ):
        def work():
            if len(calls) in (1, 5, 14):
                raise KeyboardInterrupt

        calls = between(work)
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                imported(database, content)
            assert count(database) == 0
            assert staged_rows_left(database) == 0
        assert imported(database, content).new["definition"] == SIZE + 1

    @pytest.mark.parametrize("remover", ["gc", "import"])
    def test_what_a_killed_process_left_is_removed(self, database, place, content, tmp_path, remover):
        _die_between_batches(place, content)
        assert staged_rows_left(database) > 0
        assert count(database) == 0
        assert {problem.state for problem in damage(database)} == {"leftover"}
        if remover == "gc":
            collect_garbage(database, DataFolder.of(tmp_path), dry_run=True)
            assert staged_rows_left(database) > 0
            collect_garbage(database, DataFolder.of(tmp_path))
            assert staged_rows_left(database) == 0
            assert damage(database) == []
        assert imported(database, content).new["definition"] == SIZE + 1
        assert staged_rows_left(database) == 0
        assert damage(database) == []

    @pytest.mark.parametrize("renews", [False, True])
    def test_an_import_whose_rows_were_deleted_writes_them_from_memory(self, database, place, content, renews):
        """As after a machine has slept: the import expired, and `gc` on another machine deleted its rows."""
        staged = stage_file(database.reading, BytesIO(content), "a file", None)
        with write_in_batches(database, staged) as written:
            with open_database(place, who="Bob") as other:
                with other.writing() as writing:
                    writing.connection.execute(update(imports).values(expires_at=writing.when))
                assert staged_rows.clear_abandoned(other) > 0
            if renews:
                with database.writing() as writing:
                    written.rows.row.renew(writing)
            with database.writing() as writing:
                came = take_over(writing, staged, written=written)
        assert came.new["definition"] == SIZE + 1
        assert damage(database) == []
        assert staged_rows_left(database) == 0

    def test_an_archive_that_is_replaced_between_batches_is_not_written_to(self, database, place, content, between):
        """Each transaction compares the epoch; here another archive has taken the place of the one that was opened."""

        def work():
            if len(calls) == 3:
                with open_database(place) as other, other.writing() as writing:
                    writing.connection.execute(update(settings).where(settings.c.key == EPOCH).values(value="another"))

        calls = between(work)
        with pytest.raises(ArchiveChangedError):
            imported(database, content)
        assert len(calls) == 3
        with open_database(place, who="Bob") as other:
            assert count(other) == 0

    def test_facts_that_contradict_what_others_said_between_batches_are_refused(
        self, database, place, content, between
    ):
        stars = base()

        def work():
            if len(calls) == 2:
                with open_database(place, who="Bob") as other, other.writing() as writing:
                    catalog_store.add_catalogs(writing, stars)
                    declare_fact(writing, statement(f"empty('{stars.digest}')"), "there are none")

        calls = between(work)
        with pytest.raises(ContradictionError):
            imported(database, content)
        assert count(database) == 1
        assert staged_rows_left(database) == 0

    def test_how_many_statements_publish_does_not_depend_on_how_many_definitions_come(self, database, elsewhere):
        def statements_for(size):
            statements = []
            with open_database(elsewhere(size), create=True) as source:
                fill(source, size)
                staged = stage_file(database.reading, BytesIO(exported(source)), "a file", None)
            with (
                open_database(elsewhere(f"to{size}"), create=True) as target,
                write_in_batches(target, staged) as written,
                target.writing() as writing,
            ):
                event.listen(target.engine, "before_cursor_execute", lambda *call: statements.append(call[2]))
                take_over(writing, staged, written=written)
                return len(statements)

        assert statements_for(20) == statements_for(80)


def _die_between_batches(place, content):
    """Import in another process, which dies after three batches."""
    program = """
import os, sys
from io import BytesIO
from provenn.formats.opening import open_database
from provenn.transfer.importing import batched_writing, stage_file, write_in_batches

batched_writing.LARGEST_BATCH = 20
times = []

def die():
    times.append(1)
    if len(times) == 3:
        os._exit(9)

batched_writing.let_others_write = die
with open_database(sys.argv[1], who="Carl") as database:
    staged = stage_file(database.reading, BytesIO(sys.stdin.buffer.read()), "a file", None)
    with write_in_batches(database, staged):
        pass
"""
    done = subprocess.run([sys.executable, "-c", program, str(place)], input=content, check=False)
    assert done.returncode == 9


class TestSQLite(InSQLite, Opened, ImportContract):
    @pytest.fixture
    def elsewhere(self, tmp_path):
        return lambda name="": tmp_path / f"copy{name}.sqlite"


class TestPostgreSQL(InPostgreSQL, Opened, ImportContract):
    @pytest.fixture
    def elsewhere(self, postgres):
        return lambda _="": new_schema(postgres)


class TestBatchesInSQLite(InSQLite, Opened, BatchContract):
    @pytest.fixture
    def elsewhere(self, tmp_path):
        return lambda name="": tmp_path / f"copy{name}.sqlite"


class TestBatchesInPostgreSQL(InNewPostgreSQL, Opened, BatchContract):
    @pytest.fixture
    def elsewhere(self, postgres):
        return lambda _="": new_schema(postgres)
