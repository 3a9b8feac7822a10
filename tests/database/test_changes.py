"""The state of a database, on each kind of database: equal only if nothing was committed in between."""

from dataclasses import replace
from threading import Thread

from provenn.database.changes import ChangeDetector
from provenn.database.settings import change_setting
from provenn.formats.opening import open_database
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class ChangesContract(Opened):
    def test_the_state_changes_with_every_commit_of_any_connection(self, database, place):
        detector = ChangeDetector(database)
        states = [detector.read_state()]

        def write(value):
            with database.writing() as writing:
                change_setting(writing, "test", value)

        assert detector.read_state() == states[0]
        write("a")
        states.append(detector.read_state())
        thread = Thread(target=write, args=("b",))
        thread.start()
        thread.join()
        states.append(detector.read_state())
        with open_database(place, who="Ben") as other, other.writing() as writing:
            change_setting(writing, "test", "c")
            before = detector.read_state()
        states.append(detector.read_state())
        assert states[2] == before or before not in states[3:]
        assert len(set(states)) == 4
        detector.close()

    def test_reading_changes_nothing(self, database):
        detector = ChangeDetector(database)
        state = detector.read_state()
        for _ in range(3):
            with database.reading() as reading:
                reading.connection.exec_driver_sql("SELECT 1")
            assert detector.read_state() == state
        detector.close()

    def test_states_of_two_detectors_of_sqlite_are_never_taken_for_each_other(self, database):
        first, second = ChangeDetector(database), ChangeDetector(database)
        if database.engine.dialect.name == "sqlite":
            assert first.read_state() != second.read_state()
        first.close()
        assert first.read_state() is not None
        first.close()
        second.close()


class TestInSQLite(InSQLite, ChangesContract):
    pass


class TestInPostgreSQL(InPostgreSQL, ChangesContract):
    pass


class TestOneMoment(InSQLite, Opened):
    def test_all_reading_of_a_thread_sees_one_state(self, database):
        def read(viewer):
            with viewer.reading() as reading:
                return reading.connection.exec_driver_sql("SELECT value FROM settings WHERE key = 'test'").scalar()

        with database.at_one_moment() as moment, database.at_one_moment() as inner:
            assert inner is moment
            assert read(database) is None
            values = []
            thread = Thread(target=lambda: values.append(self.write(database)))
            thread.start()
            thread.join()
            assert read(database) is None, "a moment"
        assert read(database) == "new"

    @staticmethod
    def write(database):
        with database.writing() as writing:
            change_setting(writing, "test", "new")

    def test_a_moment_keeps_viewers_apart_and_knows_if_the_platform_matters(self, database):
        with database.at_one_moment() as moment:
            with replace(database, viewer="ben", who="ben").reading() as reading:
                assert (reading.viewer, reading.who) == ("ben", "ben")
            with database.reading() as reading:
                assert reading.viewer is None
                assert not moment.platforms
                platform = reading.platform()
            assert moment.platforms == {platform}

    def test_a_thread_reads_what_it_has_written(self, database):
        def read():
            with database.reading() as reading:
                return reading.connection.exec_driver_sql("SELECT value FROM settings WHERE key = 'test'").scalar()

        with database.at_one_moment() as moment:
            assert read() is None
            self.write(database)
            assert read() == "new"
            assert moment.is_over
            with database.at_one_moment() as later:
                assert later is not moment
                assert read() == "new"
        assert read() == "new"
