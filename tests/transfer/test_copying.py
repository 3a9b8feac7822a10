"""Copies of whole archives: complete, from either database to either, and of one moment whoever writes."""

import subprocess
import sys
import tracemalloc
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import select

import provenn
from provenn.catalogs import SelectSources
from provenn.data.fragments import all_fragments
from provenn.database.tables import (
    STAGED,
    file_hashes,
    imports,
    leases,
    metadata,
    name_history,
    operations,
    pins,
    settings,
)
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import ArchiveError, StoreError
from provenn.formats.opening import open_database
from provenn.hints import phrase_for_command
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.stored_facts import find_all_facts
from provenn.logic import nonempty
from provenn.transfer.copying import copy_archive
from tests.catalogs.samples import base
from tests.data.processes import own, shared
from tests.postgres import new_schema
from tests.sound import fill, play_store


@pytest.fixture
def archive(tmp_path):
    """An archive that holds something of everything."""
    with provenn.open(tmp_path / "survey", who="ada", progress=False) as archive:
        fill(archive, tmp_path)
        yield archive


@pytest.fixture
def address(postgres):
    return new_schema(postgres)


def rows(place):
    with open_database(place) as database, database.reading() as reading:
        return {
            table.name: sorted(map(tuple, reading.connection.execute(select(table))), key=str)
            for table in metadata.sorted_tables
            if table not in (pins, leases, imports, *STAGED.values(), settings, file_hashes, operations)
        }


def test_all_rows_and_data_go_to_postgresql_and_back(archive, address, tmp_path):
    there = archive.backup(address, data=True, store=tmp_path / "their data")
    with provenn.open(database=address, progress=False) as server:
        back = server.backup(tmp_path / "back", data=True)
        assert server.fragments() == archive.fragments()
    assert there == back
    assert there.fragments > 0
    before = rows(tmp_path / "survey" / "provenn.sqlite")
    assert rows(address) == before
    assert rows(tmp_path / "back" / "provenn.sqlite") == before
    assert sum(map(len, before.values())) + 1 == there.rows, "the head of the audit log is among the settings"
    empty = {name for name, result in before.items() if not result}
    assert empty <= {"preferences", "proofs", "proof_facts"}, "so that every table is tried"
    with open_database(tmp_path / "back" / "provenn.sqlite") as database, database.reading() as reading:
        for fragment in all_fragments(reading):
            for file in fragment.files:
                copy = tmp_path / "back" / "store" / fragment.location / file.name
                assert copy.read_bytes() == (tmp_path / "survey" / "store" / fragment.location / file.name).read_bytes()


def test_numbers_go_on_in_the_copy(archive, address):
    archive.backup(address)
    for place in (Path(archive.place), address):
        with open_database(place) as database, database.writing() as writing:
            last = max(fact.id for fact in find_all_facts(writing, retracted=True))
            catalog_store.add_catalogs(writing, SelectSources.of(base(), "vmag < 1"))
            assert declare_fact(writing, nonempty(base().digest), "").id == last + 1


def test_without_data_a_copy_has_no_fragments(archive, tmp_path):
    copied = archive.backup(tmp_path / "copy")
    assert (copied.fragments, copied.size) == (0, 0)
    assert len(copied.left_out) == len(archive.fragments())
    with provenn.open(tmp_path / "copy", progress=False) as copy:
        assert copy.fragments() == []
        assert len(copy) == len(archive)
        assert [entry.digest for entry in copy.search()] == [catalog.digest for catalog in archive.search()]


def test_a_fragment_whose_files_are_damaged_is_left_out_and_told(archive, tmp_path):
    play_store(archive.context.database, archive.context.workshop.folder, archive.catalog("near").definition, "near")
    first, second = archive.fragments()
    for item, damage in ((first, Path.unlink), (second, lambda path: path.write_bytes(b"short"))):
        damage(tmp_path / "survey" / "store" / item.fragment.location / item.fragment.files[0].name)
    with pytest.raises(StoreError, match=f"nothing was copied.*fragment #{first.fragment.id}.*is missing") as caught:
        archive.backup(tmp_path / "copy", data=True)
    assert "skip_damaged=True" in caught.value.hint
    assert "--skip-damaged" in phrase_for_command(caught.value.hint)
    assert not (tmp_path / "copy").exists()
    copied = archive.backup(tmp_path / "copy", data=True, skip_damaged=True)
    assert "missing" in copied.left_out[first.fragment.id]
    assert "bytes, not" in copied.left_out[second.fragment.id]
    with provenn.open(tmp_path / "copy", progress=False) as copy:
        assert {stored.fragment.id for stored in copy.fragments()}.isdisjoint(copied.left_out)


def test_nothing_is_overwritten(archive, address, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    (full / "letter").write_text("mine")
    for place in (full, full / "letter", tmp_path / "survey"):
        with pytest.raises(ArchiveError, match="already exists"):
            archive.backup(place)
    archive.backup(address)
    with pytest.raises(ArchiveError, match="is not empty"):
        archive.backup(address)
    with pytest.raises(ArchiveError, match="the copy needs a place for its data"):
        archive.backup(address, data=True)
    assert (full / "letter").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    archive.backup(tmp_path / "empty")
    assert not list(tmp_path.glob(".*")), "nothing unfinished is left"


def test_a_copy_that_fails_leaves_nothing(archive, tmp_path):
    def fail(_done, _all):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        archive.backup(tmp_path / "copy", progress=fail)
    assert not (tmp_path / "copy").exists()
    assert not list(tmp_path.glob(".*"))


def test_who_does_not_see_everything_cannot_copy_it(archive, tmp_path):
    path = Path(archive.place)
    with (
        open_database(path, who="bob", confined=True) as source,
        open_database(tmp_path / "new.sqlite", create=True) as target,
        pytest.raises(ArchiveError, match=r"bob cannot copy the archive .*: parts of it are not visible"),
    ):
        copy_archive(source, target)


@pytest.mark.parametrize("kind", ["SQLite", "PostgreSQL"])
def test_copies_made_while_processes_write_are_of_one_moment(kind, tmp_path, address):
    """Each step of a process writes two catalogs, a name, a move and a fact: a copy has all of a step or nothing."""
    place = address if kind == "PostgreSQL" else tmp_path / "provenn.sqlite"
    open_database(place, create=True).close()
    enough = tmp_path / "enough"
    command = [sys.executable, "-m", "tests.data.processes", "until", str(place), str(enough)]
    with (tmp_path / "told").open("wb") as output, subprocess.Popen(command, stderr=output) as writing:
        copies = (copied_steps(place, tmp_path / "copies" / f"{number}.sqlite") for number in count())
        try:
            steps = [next(copies)]
            while len(set(steps)) < 4 and writing.poll() is None:
                steps.append(next(copies))
        finally:
            enough.touch()
    assert writing.returncode == 0, (tmp_path / "told").read_text()
    assert steps == sorted(steps)
    assert len(set(steps)) == 4, "they were made meanwhile"
    assert next(copies) >= steps[-1]


def copied_steps(place, copy):
    """Copy an archive, and make sure that the copy has all of every step; return how many it has."""
    with open_database(place) as source, open_database(copy, create=True) as target:
        copy_archive(source, target)
        with target.reading() as reading:
            steps = [name.name for name in catalog_names.list_names(reading) if name.name != "latest"]
            for worker, number in (map(int, step.split("/")) for step in steps):
                assert catalog_store.get_catalog(reading, shared(number).digest) == shared(number)
                assert catalog_names.find_named_digest(reading, f"{worker}/{number}") == own(worker, number).digest
            assert len(find_all_facts(reading)) == len({step.partition("/")[2] for step in steps})
            assert len(reading.connection.execute(select(name_history)).all()) == 2 * len(steps)
            assert reading.connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None
    return len(steps)


@pytest.mark.campaign
def test_ten_thousand_catalogs_are_copied_in_little_memory(tmp_path, address):
    with open_database(tmp_path / "large.sqlite", create=True) as source:
        for start in range(0, 10_000, 1000):
            with source.writing() as writing:
                catalog_store.add_catalogs(
                    writing, *(SelectSources.of(base(), f"vmag < {n}") for n in range(start, start + 1000))
                )
        with open_database(address, create=True) as target:
            assert copy_archive(source, target).catalogs == 10_001
        with open_database(tmp_path / "copy.sqlite", create=True) as target:
            tracemalloc.start()  # which makes it several times slower
            assert copy_archive(source, target).catalogs == 10_001
            assert tracemalloc.get_traced_memory()[1] < 40e6
            tracemalloc.stop()
