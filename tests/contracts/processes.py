"""What several processes may do to one archive, and what a process that is killed leaves, on every database."""

import subprocess
import sys

from sqlalchemy import func, select

from provenn.store import catalog_store, names
from provenn.store.database import open_database
from provenn.store.facts import all_facts
from provenn.store.tables import catalogs
from tests.store.processes import ROUNDS, own, shared

WORKERS = 3


def run(*arguments):
    command = [sys.executable, "-m", "tests.store.processes", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


class ProcessesContract:
    kills = 8

    def test_several_processes_write_at_once_and_nothing_is_lost(self, place):
        run("compete", place, WORKERS)
        with open_database(place) as database, database.reading() as reading:
            # One row for what all defined: the base, what was kept of it, a selection a round; and those of one alone.
            assert reading.connection.scalar(select(func.count()).select_from(catalogs)) == 2 + ROUNDS * (1 + WORKERS)
            for number in range(ROUNDS):
                assert catalog_store.get(reading, shared(number).digest) == shared(number)
                for worker in range(WORKERS):
                    assert names.find(reading, f"{worker}/{number}") == own(worker, number).digest
            assert len(names.log(reading, "latest")) == WORKERS * ROUNDS
            assert {one.by for one in names.log(reading, "latest")} == {f"worker {one}" for one in range(WORKERS)}
            assert len(all_facts(reading)) == ROUNDS

    def test_a_process_that_is_killed_leaves_nothing_half_done(self, place):
        """Before every single statement of a transaction and its commit, and at random moments."""
        run("crash", place, self.kills)
