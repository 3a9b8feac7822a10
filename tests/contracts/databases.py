"""What every database of an archive must do."""

import threading
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import column, insert, inspect, select, table, text, update
from sqlalchemy.exc import IntegrityError

from provenn.database.tables import VERSION_TABLE, metadata, names, populations
from provenn.errors import (
    ArchiveBusyError,
    ArchiveError,
    ArchiveNotFoundError,
    ArchiveVersionError,
    ReadOnlyArchiveError,
)
from provenn.formats.opening import open_database
from provenn.knowledge.stored_facts import get_fact
from tests.waiting import LIMIT

STAR = {"name": "star", "key": "[]"}


def population_names(reading):
    return reading.connection.scalars(select(populations.c.name).order_by(populations.c.name)).all()


def pretend_version(writing, version):
    writing.connection.execute(update(table(VERSION_TABLE, column("version_num"))).values(version_num=version))


class DatabaseContract:
    """Mix in a class that has a fixture `place`, a new archive's, and `nowhere`, where there is none."""

    @pytest.fixture
    def database(self, place):
        with open_database(place, who="Ada", patience=0.2) as database:
            yield database

    def test_an_archive_is_made_only_when_asked_for(self, nowhere):
        with pytest.raises(ArchiveNotFoundError, match="omit create=False"):
            open_database(nowhere)
        with open_database(nowhere, create=True) as result, result.reading() as reading:
            assert set(inspect(reading.connection).get_table_names()) == {*metadata.tables, VERSION_TABLE}

    def test_making_an_archive_that_exists_keeps_it(self, place):
        for create in (False, True):
            with open_database(place, create=create) as database, database.writing() as writing:
                writing.connection.execute(insert(populations), {"name": f"star {create}", "key": "[]"})
        with open_database(place) as database, database.reading() as reading:
            assert population_names(reading) == ["star False", "star True"]

    def test_what_is_no_archive_but_has_such_tables_is_refused_and_kept(self, nowhere):
        with open_database(nowhere, create=True) as database, database.writing() as writing:
            writing.connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
            writing.connection.execute(insert(populations), STAR)
        with pytest.raises(ArchiveError, match="is not an archive, but has tables called"):
            open_database(nowhere, create=True)

    def test_an_archive_of_a_newer_version_is_refused_and_kept(self, place):
        with open_database(place) as database, database.writing() as writing:
            pretend_version(writing, "9999")
        for create in (False, True):
            with pytest.raises(ArchiveVersionError, match=r"newer version.*format 9999(.|\n)*pip install --upgrade"):
                open_database(place, create=create)

    def test_a_transaction_is_all_or_nothing(self, database):
        def fail_half_way():
            with database.writing() as writing:
                writing.connection.execute(insert(populations), STAR)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail_half_way()
        with database.reading() as reading:
            assert population_names(reading) == []

    def test_a_text_that_the_database_does_not_hold_is_told_and_nothing_is_written(self, database):
        def write(odd):
            with database.writing() as writing:
                writing.connection.execute(insert(populations), STAR)
                writing.connection.execute(insert(populations), {**STAR, "name": odd})

        for odd in ("half \ud83d", *(["a\0b"] if database.engine.dialect.name == "postgresql" else [])):
            with pytest.raises(ArchiveError) as refused:
                write(odd)
            assert "sqlalche" not in str(refused.value)
        with database.reading() as reading:
            assert population_names(reading) == []

    def test_a_number_that_no_database_holds_is_told(self, database):
        def look(number):
            with database.reading() as reading:
                return get_fact(reading, number)

        with pytest.raises(ArchiveError):
            look(10**20)

    def test_foreign_keys_are_enforced(self, database):
        row = {"name": "bright", "catalog": "0" * 64, "changed_at": datetime.now(UTC), "changed_by": "Ada"}
        with pytest.raises(IntegrityError), database.writing() as writing:
            writing.connection.execute(insert(names), row)

    def test_a_reading_transaction_cannot_write(self, database):
        with pytest.raises(ArchiveError, match=r"cannot be used: .*read-?only"), database.reading() as reading:
            reading.connection.execute(insert(populations), STAR)
        with database.writing() as writing:  # the connection is used again, and may
            writing.connection.execute(insert(populations), STAR)

    def test_a_reader_sees_one_state_and_is_not_blocked_by_a_writer(self, database):
        with database.reading() as reading:
            assert population_names(reading) == []
            with database.writing() as writing:
                writing.connection.execute(insert(populations), STAR)
                assert population_names(reading) == []
            assert population_names(reading) == []
        with database.reading() as reading:
            assert population_names(reading) == ["star"]

    def test_fifty_readers_wait_for_nobody(self, database):
        with ExitStack() as stack:
            for _ in range(50):
                assert population_names(stack.enter_context(database.reading())) == []

    def test_a_writer_waits_for_another_and_then_gives_up(self, database, place):
        waited = []
        with open_database(place, patience=LIMIT) as patient:

            def write():
                with patient.writing() as writing:
                    waited.append(population_names(writing))

            thread = threading.Thread(target=write)
            with database.writing() as writing:
                with pytest.raises(ArchiveBusyError, match="another process"), database.writing():
                    pass
                thread.start()
                thread.join(0.2)
                assert thread.is_alive()
                writing.connection.execute(insert(populations), STAR)
            thread.join(LIMIT)
        assert waited == [["star"]]

    def test_who_and_when_are_those_of_the_transaction(self, place):
        for who in ("Ada", "Grace"):
            with open_database(place, who=who) as database, database.writing() as writing:
                assert writing.who == who
                assert abs(datetime.now(UTC) - writing.when) < timedelta(minutes=1)

    def test_nothing_is_written_to_an_archive_opened_for_reading(self, place):
        with open_database(place, read_only=True) as database:
            with pytest.raises(ReadOnlyArchiveError), database.writing():
                pass
            with database.reading() as reading:
                assert population_names(reading) == []

    def test_an_older_archive_that_can_only_be_read_says_so(self, place):
        with open_database(place) as database, database.writing() as writing:
            pretend_version(writing, "0000")
        with pytest.raises(ArchiveVersionError, match="is read-only"):
            open_database(place, read_only=True)

    def test_moments_come_back_in_utc(self, database):
        with database.writing() as writing:
            for moment in ("2020-01-01T00:00:00+00:00", "2020-07-01T12:30:15.123456+02:00"):
                message = datetime.fromisoformat(moment)
                row = {"attribute": moment, "identity": "", "at": message, "by": "Ada"}
                writing.connection.execute(insert(metadata.tables["preferences"]), row)
        with database.reading() as reading:
            query = select(metadata.tables["preferences"].c["attribute", "at"])
            for moment, at in reading.connection.execute(query):
                assert at == datetime.fromisoformat(moment)
                assert at.utcoffset() == timedelta(0)
