"""A process reads and writes only the archive that it opened, in the format in which it opened it."""

import os
import shutil
from threading import Thread

import pytest
from sqlalchemy import insert, select, text

from provenn.database import settings
from provenn.database.fences import EPOCH
from provenn.database.tables import VERSION, VERSION_TABLE, populations
from provenn.errors import ArchiveChangedError
from provenn.formats.migrations import list_formats, migrate_format
from provenn.formats.opening import open_database
from provenn.transfer.copying import copy_archive
from tests.contracts.databases import pretend_version
from tests.database.databases import InNewPostgreSQL, InSQLite, Opened
from tests.postgres import new_schema

STAR = {"name": "star", "key": "[]"}


def attempts(database):
    """Return what writing and reading give: the words of the errors."""
    words = []
    with pytest.raises(ArchiveChangedError) as caught, database.writing() as writing:
        writing.connection.execute(insert(populations), STAR)
    words.append(str(caught.value))
    with pytest.raises(ArchiveChangedError) as caught, database.reading() as reading:
        reading.connection.execute(select(populations)).all()
    words.append(str(caught.value))
    return words


class FenceContract:
    def test_nothing_is_written_or_read_after_another_process_upgraded_the_archive(self, database, place):
        newer = f"{int(VERSION) + 1:04}"
        with open_database(place) as other, other.writing() as writing:
            pretend_version(writing, newer)
        for words in attempts(database):
            assert f"was brought to format {newer} since it was opened" in words
            assert "open it again" in words
        with database.engine.connect() as connection:
            assert connection.execute(select(populations)).all() == []

    @pytest.mark.parametrize("version", [item for item in list_formats() if item != VERSION])
    def test_nothing_is_written_or_read_after_another_process_downgraded_the_archive(self, database, place, version):
        migrate_format(place, version, lose=True)
        attempts(database)

    @pytest.mark.parametrize("version", [version for version in list_formats() if version != VERSION])
    def test_a_downgrade_and_an_upgrade_in_between_are_noticed(self, database, place, version):
        migrate_format(place, version, lose=True)
        migrate_format(place)
        for words in attempts(database):
            assert "was replaced since it was opened" in words

    def test_a_writer_who_waits_for_the_upgrade_finds_out(self, database, place):
        """The format is looked at when the lock for writing is there, not when it is asked for."""
        caught = []

        def write():
            try:
                with database.writing() as writing:
                    writing.connection.execute(insert(populations), STAR)
            except ArchiveChangedError as error:
                caught.append(error)

        with open_database(place) as other, other.writing() as writing:
            thread = Thread(target=write)
            thread.start()
            pretend_version(writing, "9999")
        thread.join()
        assert len(caught) == 1

    def test_every_archive_has_an_epoch_of_its_own_also_a_copy(self, database, elsewhere):
        with open_database(elsewhere, create=True) as copy:
            copy_archive(database, copy)
            with database.reading() as reading, copy.reading() as other:
                epochs = {settings.read_setting(item, EPOCH) for item in (reading, other)}
        assert len(epochs) == 2
        assert all(epochs)

    def test_an_archive_that_is_opened_again_can_be_used(self, database, place):
        with database.writing() as writing:
            settings.change_setting(writing, EPOCH, "another")
        attempts(database)
        with open_database(place) as again, again.writing() as writing:
            writing.connection.execute(insert(populations), STAR)


class TestSQLite(InSQLite, Opened, FenceContract):
    @pytest.fixture
    def elsewhere(self, tmp_path):
        return tmp_path / "copy.sqlite"

    @pytest.mark.parametrize("method", ["moved", "copied over", "deleted"])
    def test_a_backup_that_takes_the_place_of_the_archive_is_noticed(self, database, place, elsewhere, method):
        """A connection that was kept would write to a file that has no name any more: lost, without a word."""
        with open_database(elsewhere, create=True) as copy:
            copy_archive(database, copy)
        with database.reading():
            pass
        if method == "deleted":
            os.unlink(place)  # noqa: PTH108 - a text
        elif method == "moved":
            os.replace(elsewhere, place)  # noqa: PTH105
        else:
            for rest in ("-wal", "-shm"):
                if os.path.exists(f"{place}{rest}"):  # noqa: PTH110
                    os.unlink(f"{place}{rest}")  # noqa: PTH108
            shutil.copyfile(elsewhere, place)
            database.engine.dispose()
        for words in attempts(database) if method != "deleted" else ():
            assert "since it was opened" in words
        if method == "deleted":
            with pytest.raises(ArchiveChangedError, match="moved, deleted or replaced"), database.writing():
                pass


class TestPostgreSQL(InNewPostgreSQL, Opened, FenceContract):
    @pytest.fixture
    def elsewhere(self, postgres):
        return new_schema(postgres)

    def test_tables_that_were_restored_are_noticed_though_all_rows_are_the_same(self, database):
        with database.writing() as writing:
            writing.connection.execute(text(f"CREATE TABLE restored AS TABLE {VERSION_TABLE}"))
            writing.connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
            writing.connection.execute(text(f"ALTER TABLE restored RENAME TO {VERSION_TABLE}"))
        attempts(database)
