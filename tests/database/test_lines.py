"""Lines to PostgreSQL that are cut at the end of a transaction, and clients that stop inside one."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select, text, update

from provenn.data.garbage_collection import collect_garbage
from provenn.database import engines, operations
from provenn.database.tables import operations as operation_rows
from provenn.database.tables import populations
from provenn.errors import ArchiveError, ArchiveUnreachableError, OutcomeUnknownError
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from tests.lines import line_to
from tests.postgres import new_schema
from tests.waiting import LIMIT

CUTS = 30


@pytest.fixture(scope="module")
def place(postgres):
    address = new_schema(postgres)
    open_database(address, create=True).close()
    return address


@pytest.fixture
def line(place):
    with line_to(place) as line:
        yield line


@pytest.fixture
def database(line):
    with open_database(line.address, who="Ada", patience=LIMIT) as database:
        yield database


def names(place):
    with open_database(place) as direct, direct.reading() as reading:
        return set(reading.connection.scalars(select(populations.c.name)))


def write(database, name):
    with database.writing() as writing:
        writing.connection.execute(insert(populations), {"name": name, "key": "[]"})


@pytest.mark.parametrize("number", range(CUTS))
def test_a_line_cut_after_commit_was_sent_is_no_failure(database, line, place, number):
    line.cut = "after"
    write(database, f"after {number}")
    assert line.cuts == 1
    assert f"after {number}" in names(place)


@pytest.mark.parametrize("how", ["before", "silent"])
@pytest.mark.parametrize("number", range(CUTS // 3))
def test_a_line_cut_before_commit_arrives_is_a_failure_and_nothing_was_done(database, line, place, how, number):
    """If the server does not hear that the client is gone, its transaction is ended by whoever asks what came of it."""
    line.cut = how
    with pytest.raises(ArchiveUnreachableError, match="nothing was changed"):
        write(database, f"{how} {number}")
    assert line.cuts == 1
    assert f"{how} {number}" not in names(place)
    write(database, f"{how} {number}")
    assert f"{how} {number}" in names(place)


@pytest.mark.parametrize("how", ["before", "after"])
def test_what_cannot_be_found_out_is_told_to_be_unknown_and_can_be_looked_up_later(database, line, place, how):
    impatient = replace(database, patience=0.3)
    line.cut, line.down_after_cut = how, True
    with pytest.raises(OutcomeUnknownError, match="it is unknown whether the change was made") as caught:
        write(impatient, f"unknown {how}")
    assert f'archive.operation("{caught.value.operation}")' in caught.value.hint
    with open_database(place, patience=LIMIT) as again, again.writing() as writing:
        operation = operations.find_operation(writing.connection, caught.value.operation)
    assert (operation is not None) == (how == "after") == (f"unknown {how}" in names(place))
    if operation is not None:
        assert (operation.who, operation.via) == ("Ada", "python")


def test_a_result_that_took_long_is_written_though_the_line_is_cut_again_and_again(database, line, place):
    calls = []

    def record(writing):
        calls.append(writing)
        line.cut = "silent" if len(calls) < 4 else None
        writing.connection.execute(insert(populations), {"name": "insisted", "key": "[]"})
        return "kept"

    assert database.insist(record) == "kept"
    assert len(calls) == 4
    assert "insisted" in names(place)


def test_ids_that_nobody_needs_any_more_are_forgotten(place, tmp_path):
    with open_database(place) as database:
        with database.writing() as writing:
            old = writing.when - operations.KEPT - timedelta(hours=1)
            writing.connection.execute(update(operation_rows).values(at=old))
        collect_garbage(database, DataFolder.of(tmp_path))
        with database.reading() as reading:
            left = reading.connection.scalar(select(func.count()).select_from(operation_rows))
    assert left <= 2, "those of the garbage collection itself"


def test_what_is_no_id_is_told(place):
    with open_database(place) as database, database.writing() as writing:
        for wrong in ("", "x", "0" * 31, "G" * 32):
            with pytest.raises(ArchiveError, match="expected the id of an operation"):
                operations.find_operation(writing.connection, wrong)


STOPPED = """
import sys, time
from provenn.formats.opening import open_database
with open_database(sys.argv[1]) as database, database.writing() as writing:
    limit = "idle_in_transaction_session_timeout"
    (usual,) = writing.connection.exec_driver_sql(f"SELECT setting::int FROM pg_settings WHERE name = '{limit}'").one()
    assert usual > 0
    writing.connection.exec_driver_sql(f"SET LOCAL {limit} = 1000")  # sooner than usual
    print("inside", flush=True)
    time.sleep(1200)
"""


def test_a_client_that_stops_inside_a_transaction_does_not_block_others_for_ever(place):
    """A stopped process cannot say anything: the server ends its transaction, and the next one goes on."""
    stopped = subprocess.Popen([sys.executable, "-c", STOPPED, place], stdout=subprocess.PIPE, text=True)
    try:
        assert stopped.stdout.readline() == "inside\n"
        os.kill(stopped.pid, signal.SIGSTOP)
        with open_database(place, patience=LIMIT) as database:
            write(database, "went on")
    finally:
        stopped.kill()
        stopped.communicate()
    assert "went on" in names(place)
    assert engines._IDLE < 30, "those who wait are more patient than the server"


def test_a_transaction_that_the_server_gave_up_is_told(place, monkeypatch):
    monkeypatch.setattr(engines, "_IDLE", 1)

    def dawdle(database):
        with database.writing() as writing:
            while True:
                time.sleep(1.5)
                writing.connection.execute(text("SELECT 1"))

    with open_database(place) as database, pytest.raises(ArchiveUnreachableError, match="idle for too long"):
        dawdle(database)


def test_who_only_reads_may_take_as_long_as_it_takes(place, monkeypatch):
    monkeypatch.setattr(engines, "_IDLE", 1)
    with open_database(place) as database, database.reading() as reading:
        time.sleep(2)
        assert reading.connection.scalar(text("SELECT 1")) == 1


def test_both_ends_of_a_connection_notice_that_the_other_is_gone(database):
    with database.reading() as reading:
        settings = dict(
            reading.connection.execute(
                text("SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp%' OR name LIKE 'client_connection%'")
            ).all()
        )
        parameters = reading.connection.connection.driver_connection.info.get_parameters()
    assert settings["client_connection_check_interval"] == "10000"
    assert parameters["keepalives_idle"] == "15"
    assert parameters["tcp_user_timeout"] == "30000"
    assert parameters["connect_timeout"] == "10"


def test_what_an_address_says_of_keepalives_is_respected(line):
    with open_database(f"{line.address}&keepalives_idle=77") as database, database.reading() as reading:
        parameters = reading.connection.connection.driver_connection.info.get_parameters()
    assert parameters["keepalives_idle"] == "77"
    assert parameters["keepalives_count"] == "3"
