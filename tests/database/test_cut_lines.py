"""A PostgreSQL server that cannot be heard at the end of a transaction, and one whose client says nothing more."""

import pytest

import provenn
from provenn.formats.opening import open_database
from tests.archive.samples import write_parquet
from tests.lines import line_to
from tests.postgres import new_schema


@pytest.fixture
def place(postgres):
    address = new_schema(postgres)
    open_database(address, create=True).close()
    return address


def test_what_was_done_is_not_reported_as_not_done(place, tmp_path):
    """The line is cut after COMMIT has reached the server, so that its answer never arrives."""
    path = write_parquet(tmp_path / "stars.parquet")
    with line_to(place) as line, provenn.open(database=line.address, store=tmp_path / "store") as archive:
        archive.ingest("stars", path, key="hip", population="star")
        line.cut = "after"
        declared = archive.declare("nonempty(stars)", reason="seen")
        assert line.cuts == 1
    with provenn.open(database=place, store=tmp_path / "store") as direct:
        assert [fact.id for fact in direct.facts()] == [declared.id]


def test_the_server_ends_a_transaction_in_which_its_client_says_nothing(place):
    """No other writer waits longer than that; by default they wait for half a minute."""
    with open_database(place) as database, database.writing() as writing:
        (limit,) = writing.connection.exec_driver_sql(
            "SELECT setting::int FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'"
        ).one()
    assert 0 < limit < 30_000


def test_the_server_and_its_client_notice_that_the_other_is_gone(place):
    with open_database(place) as database, database.reading() as reading:
        (interval,) = reading.connection.exec_driver_sql(
            "SELECT setting::int FROM pg_settings WHERE name = 'client_connection_check_interval'"
        ).one()
        parameters = reading.connection.connection.driver_connection.info.get_parameters()
    assert interval > 0
    assert {"keepalives_idle", "tcp_user_timeout", "connect_timeout"} <= {*parameters}
