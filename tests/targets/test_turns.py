"""Who waits for whom, and how waiting ends; without Spark."""

import shutil
import threading
from contextlib import contextmanager

import pytest

from provenn.catalogs import SelectSources
from provenn.data import fragments, leases
from provenn.files.data_folder import StoredFile
from provenn.formats.opening import open_database
from provenn.targets.leasing import Turn
from tests.catalogs.samples import base, derived
from tests.waiting import LIMIT

NEAR = derived(base(), z="1000 / plx")
Z = NEAR.schema["z"]
BRIGHT, FAINT, ALSO = (SelectSources.of(NEAR, one) for one in ("vmag < 6", "vmag > 8", "vmag < 7"))


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("turns") / "archive.sqlite"
    open_database(path, create=True).close()
    return path


@pytest.fixture
def place(template, tmp_path):
    return shutil.copy(template, tmp_path / "archive.sqlite")


@pytest.fixture
def database(place):
    with open_database(place, who="ben") as opened:
        yield opened


def turn(database, catalog, listener=None, considered=()):
    return Turn(database, listener, set(considered)).hold_lease(catalog, frozenset({Z.identity}), {Z.identity: Z})


@contextmanager
def ada_computes(place, catalog=BRIGHT):
    """Give a function that ends it."""
    with open_database(place, who="ada") as other:
        with other.writing() as writing:
            holder = leases.take_lease(writing, catalog, {Z.identity})
        begun, over = threading.Event(), threading.Event()

        def hold():
            with leases.renew_lease(other, holder):
                begun.set()
                over.wait(LIMIT)

        thread = threading.Thread(target=hold)
        thread.start()
        begun.wait(LIMIT)
        try:
            yield over.set
        finally:
            over.set()
            thread.join()


def test_who_is_first_has_the_lease(database):
    with turn(database, BRIGHT) as mine:
        assert mine


def test_who_waits_is_told_for_whom_and_plans_again(place, database):
    told = []
    with ada_computes(place) as end:

        def listen(progress):
            told.append((progress.what, progress.remaining))
            end()

        with turn(database, ALSO, listen) as mine:
            assert not mine
    assert told[0] == ("waiting for ada, who is computing z", None)
    assert told[-1] == ("waiting for ada, who is computing z", 0.0), "the bar goes away"
    with turn(database, ALSO) as mine:
        assert mine


def test_waiting_can_be_interrupted(place, database):
    def listen(_progress):
        raise KeyboardInterrupt

    with ada_computes(place), pytest.raises(KeyboardInterrupt), turn(database, BRIGHT, listen):
        pass


def test_a_listener_that_fails_ends_nothing(place, database):
    with ada_computes(place) as end:

        def listen(_progress):
            end()
            raise ZeroDivisionError

        with turn(database, BRIGHT, listen) as mine:
            assert not mine


def test_what_is_proved_apart_is_not_waited_for(place, database):
    with ada_computes(place), turn(database, FAINT) as mine:
        assert mine


def test_who_may_not_see_a_catalog_does_not_wait_for_it(place):
    """What is stored for it could not be read either; and nobody learns that it is computed."""
    confined = open_database(place, who="eve", confined=True)
    with ada_computes(place, ALSO), confined as database, turn(database, BRIGHT) as mine:
        assert mine


def test_what_was_stored_since_it_was_planned_is_considered_first_and_once(database):
    with turn(database, BRIGHT) as mine:
        assert mine
    with database.writing() as writing:
        columns = [(BRIGHT.schema.key[0].identity, "hip"), (Z.identity, "z")]
        files = [StoredFile("one.parquet", 1, "a" * 64)]
        size = {"rows": 1, "files": files, "seconds": 1.0}
        fragments.register(writing, BRIGHT, columns, location="fragments/one", **size)
    waiting = Turn(database)
    for expected in (False, True):
        with waiting.hold_lease(ALSO, frozenset({Z.identity}), {Z.identity: Z}) as mine:
            assert mine is expected
