"""What several processes may do to one archive, and what a process that is killed leaves, on every database."""

import subprocess
import sys

from sqlalchemy import func, select

from provenn.database.tables import catalogs
from provenn.definitions import catalog_names, catalog_store, naming_history
from provenn.formats.opening import open_database
from provenn.knowledge.stored_facts import find_all_facts
from tests.data.processes import ROUNDS, own, shared
from tests.waiting import LIMIT

WORKERS = 3


def run(*arguments):
    command = [sys.executable, "-m", "tests.data.processes", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    assert done.returncode == 0, done.stderr


class ProcessesContract:
    kills = 8

    def test_several_processes_write_at_once_and_nothing_is_lost(self, place):
        run("compete", place, WORKERS)
        with open_database(place) as database, database.reading() as reading:
            # One row for what all defined: the base, what was kept of it, a selection a round; and those of one alone.
            assert reading.connection.scalar(select(func.count()).select_from(catalogs)) == 2 + ROUNDS * (1 + WORKERS)
            for number in range(ROUNDS):
                assert catalog_store.get_catalog(reading, shared(number).digest) == shared(number)
                for worker in range(WORKERS):
                    assert catalog_names.find_named_digest(reading, f"{worker}/{number}") == own(worker, number).digest
            assert len(naming_history.read_name_history(reading, "latest")) == WORKERS * ROUNDS
            assert {change.by for change in naming_history.read_name_history(reading, "latest")} == {
                f"worker {item}" for item in range(WORKERS)
            }
            assert len(find_all_facts(reading)) == ROUNDS

    def test_a_process_that_is_killed_leaves_nothing_half_done(self, place):
        """Before every single statement of a transaction and its commit, and at random moments."""
        run("crash", place, self.kills)
