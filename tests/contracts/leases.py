"""What leases must do, on every database."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select, update

from provenn.catalogs import SelectSources
from provenn.data import leases
from provenn.data.garbage_collection import collect_garbage
from provenn.database import clock
from provenn.database.tables import leases as rows
from provenn.definitions import catalog_names, catalog_store
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from tests.catalogs.samples import base
from tests.waiting import LIMIT, wait_until

BRIGHT = SelectSources.of(base(), "vmag < 6")
TAKERS = 8


def take(database, *kept, catalog=BRIGHT, **options):
    with database.writing() as writing:
        return leases.take_lease(writing, catalog, kept, **options)


def live(database, *identities):
    with database.reading() as reading:
        return leases.find_live_leases(reading, identities)


def held(database):
    """Return the holder of each lease, and when it expires."""
    with database.reading() as reading:
        return [(row.holder, row.expires_at) for row in reading.connection.execute(select(rows))]


class LeasesContract:
    def test_one_has_it_until_it_is_let_go(self, database):
        holder = take(database, "z", "w")
        assert live(database, "z") == [leases.Lease(holder, BRIGHT.digest, frozenset("zw"), "Ada")]
        with leases.renew_lease(database, holder):
            assert take(database, "w", "v") is None
            assert live(database, "v") == []
        assert live(database, "z", "w") == []
        assert take(database, "w", "v") is not None

    def test_what_is_computed_but_not_kept_is_waited_for_and_not_leased(self, database):
        assert take(database, "z", computed=["z", "w"]) is not None
        assert take(database, "w") is not None
        assert take(database, "v", computed=["v", "w"]) is None

    def test_those_that_are_no_obstacle_are_none(self, database):
        first = take(database, "z")
        second = take(database, "z", beside=[first])
        assert [item.holder for item in live(database, "z")] == [first, second]
        assert take(database, "z", beside=[first]) is None

    def test_the_archive_holds_the_catalog_so_that_others_can_tell_whether_it_is_apart(self, database):
        take(database, "z")
        with database.reading() as reading:
            assert catalog_store.get_catalog(reading, BRIGHT.digest) == BRIGHT

    def test_who_defines_what_another_one_computes_privately_neither_learns_of_it_nor_waits(self, database):
        ada, bob = (replace(database, who=item, viewer=item) for item in ("Ada", "Bob"))
        with bob.writing() as writing:
            catalog_store.add_catalogs(writing, BRIGHT)
        first = take(ada, "z")
        assert live(bob, "z") == []
        second = take(bob, "z")
        assert second is not None
        assert [item.holder for item in live(ada, "z")] == [first]
        with ada.writing() as writing:
            catalog_names.assign_name(writing, "bright", BRIGHT.digest, "public")
        assert {item.holder for item in live(bob, "z")} == {first, second}
        assert take(bob, "z") is None

    def test_who_fails_lets_it_go(self, database):
        with pytest.raises(ZeroDivisionError), leases.renew_lease(database, take(database, "z")):
            raise ZeroDivisionError
        assert live(database, "z") == []

    def test_one_that_expired_is_taken_over_by_exactly_one_of_many(self, database, place):
        take(database, "z")
        with database.writing() as writing:
            writing.connection.execute(update(rows).values(expires_at=writing.when))
        assert live(database, "z") == []
        together = threading.Barrier(TAKERS)

        def compete(_number):
            with open_database(place) as other:
                together.wait(LIMIT)
                return take(other, "z")

        with ThreadPoolExecutor(TAKERS) as pool:
            taken = [item for item in pool.map(compete, range(TAKERS)) if item is not None]
        assert [item.holder for item in live(database, "z")] == taken
        assert len(taken) == 1
        with database.reading() as reading:
            assert len(reading.connection.execute(select(rows)).all()) == 1, "the expired one is forgotten"

    def test_it_is_renewed_while_its_process_lives(self, database, monkeypatch):
        """It is there at a moment when it would have expired; that whoever has it keeps it is tested above."""
        monkeypatch.setattr(leases, "LIFETIME", timedelta(seconds=1))
        holder = take(database, "z")
        ((_, first),) = held(database)
        with leases.renew_lease(database, holder):
            wait_until(lambda: held(database)[0][1] > first + leases.LIFETIME, "it is renewed")
        assert take(database, "z") is not None

    def test_who_slept_until_it_was_forgotten_has_it_again_and_lets_it_go(self, database, monkeypatch):
        monkeypatch.setattr(leases, "LIFETIME", timedelta(seconds=1))
        holder = take(database, "z")
        before = held(database)
        with leases.renew_lease(database, holder):
            wait_until(lambda: held(database) != before, "it is renewed")
            with database.writing() as writing:
                writing.connection.execute(delete(rows))
            wait_until(lambda: held(database) != [], "it is there again")
            assert [item for item, _ in held(database)] == [holder]
        assert held(database) == []

    def test_what_expired_is_cleaned_away_and_what_lives_is_not(self, database, tmp_path):
        take(database, "old")
        with database.writing() as writing:
            writing.connection.execute(update(rows).values(expires_at=writing.when - timedelta(seconds=1)))
        holder = take(database, "new", beside=["nobody"])
        collect_garbage(database, DataFolder.of(tmp_path))
        with database.reading() as reading:
            assert reading.connection.scalars(select(rows.c.holder)).all() == [holder]

    def test_all_go_by_one_clock(self, database):
        """Not by that at the beginning of a transaction, which may have waited for others."""
        with database.writing() as writing:
            first = clock.now(writing.connection)
            time.sleep(0.01)
            second = clock.now(writing.connection)
        assert writing.when <= first < second
        assert first.utcoffset() == timedelta(0)
        assert abs(first - datetime.now(UTC)) < timedelta(minutes=1)
