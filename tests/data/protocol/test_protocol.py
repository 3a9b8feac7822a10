"""Leases, pins, commits and gc: no order of steps breaks an invariant, and the real functions do as the model says."""

import random
import shutil

import pytest

from provenn.definitions import catalog_store
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from tests.catalogs.samples import base
from tests.data.protocol.model import Protocol, explore
from tests.data.protocol.replay import replay

SMALL = {
    "a writer, a reader and a collector": Protocol(writers=("ada",), readers=("rea",)),
    "a writer and two collectors": Protocol(writers=("ada",), collectors=("gc", "gd")),
    "two writers and a collector, never stopped": Protocol(stops=False),
}
LARGE = {
    "two writers and a collector": Protocol(),
    "two writers and a reader": Protocol(readers=("rea",), collectors=(), stops=False),
    "a writer, two readers and a collector": Protocol(writers=("ada",), readers=("rea", "rob")),
    "a writer, a reader and two collectors": Protocol(writers=("ada",), readers=("rea",), collectors=("gc", "gd")),
}
RARE = ("die", "stop", "renew")


@pytest.mark.parametrize("protocol", SMALL.values(), ids=SMALL)
def test_no_order_of_steps_breaks_an_invariant(protocol):
    explored = explore(protocol)
    assert explored.broken is None
    assert explored.states > 5000


@pytest.mark.campaign
@pytest.mark.parametrize("protocol", LARGE.values(), ids=LARGE)
def test_no_order_of_steps_of_more_processes_breaks_an_invariant(protocol):
    explored = explore(protocol)
    assert explored.broken is None


def test_without_a_look_at_its_pins_a_writer_registers_what_is_being_deleted():
    broken = explore(Protocol(writers=("ada",), checks_pins=False)).broken
    assert broken is not None
    assert broken.what == "what is registered is deleted"
    assert [step.what for step in broken.steps if step.who == "ada"][-2:] == ["stop", "register"]


def test_without_waiting_for_a_lost_answer_a_writer_deletes_what_is_registered():
    broken = explore(Protocol(writers=("ada",), waits_for_commit=False)).broken
    assert broken is not None
    assert broken.what == "a registered fragment has no data"
    assert [step.what for step in broken.steps][-3:] == ["lose answer", "clean up", "land"]


def walks(protocol: Protocol, number: int, archive, folder) -> int:
    """Replay random orders of steps; death and sleep are rarer than work. Return how many steps were compared."""
    total = 0
    for seed in range(number):
        chance = random.Random(seed)

        def choose(steps, chance=chance):
            weights = [1 if step.what in RARE else 6 for step in steps]
            return chance.choices(range(len(steps)), weights)[0]

        place = folder / "archive.sqlite"
        shutil.copy(archive, place)
        with open_database(place, who="Ada") as database:
            with database.writing() as writing:
                catalog_store.add_catalogs(writing, base())
            total += len(replay(protocol, database, DataFolder.of(folder / "data"), base(), choose))
        for path in folder.glob("archive.sqlite*"):
            path.unlink()
        shutil.rmtree(folder / "data", ignore_errors=True)
    return total


REPLAYED = {
    "two writers and a collector": Protocol(loses_answers=False),
    "a writer, a reader and two collectors": Protocol(
        writers=("ada",), readers=("rea",), collectors=("gc", "gd"), loses_answers=False
    ),
}


@pytest.mark.parametrize("protocol", REPLAYED.values(), ids=REPLAYED)
def test_the_real_functions_do_what_the_model_says(protocol, tmp_path, sqlite_archive):
    assert walks(protocol, 25, sqlite_archive, tmp_path) > 25 * 8


@pytest.mark.campaign
@pytest.mark.parametrize("protocol", REPLAYED.values(), ids=REPLAYED)
def test_the_real_functions_do_what_the_model_says_in_many_orders(protocol, tmp_path, sqlite_archive):
    assert walks(protocol, 1000, sqlite_archive, tmp_path) > 1000 * 8
