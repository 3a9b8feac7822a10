"""While somebody keeps writing: whoever reads does not wait and does not fail, and what was computed is not lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import provenn
from provenn.data.file_memory import FileMemory
from provenn.database.transactions import Database
from provenn.errors import ArchiveBusyError
from provenn.formats.opening import open_database
from tests.archive.samples import write_parquet
from tests.waiting import LIMIT

FOR_EVER = 3600.0
"""Whoever waits for the writer in these tests waits until the test has failed."""


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[provenn.Archive]:
    """An archive that somebody has looked at before: Spark runs, and everything is defined."""
    path = write_parquet(tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", who="ada", progress=False) as opened:
        stars = opened.ingest("stars", path, key="hip", population="star")
        opened.define(stars.select("vmag < 5").definition, "bright")
        opened.define(stars.select("vmag < 3").definition, "brighter")
        opened.define(stars.derive(twice="2 * vmag").definition, "doubled")
        yield opened


def patient(archive: provenn.Archive, patience: float) -> Database:
    """Return the archive's database, whose writers wait so long."""
    where = archive.context.database.place
    return open_database(where, who="ada", patience=patience)


@contextmanager
def somebody_writing(archive: provenn.Archive) -> Iterator[None]:
    with open_database(archive.context.database.place, who="grace") as other, other.writing():
        yield


def in_time(work: Any) -> Any:
    """Return what some work gives, unless it waits for the writer."""
    results: list[Any] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert not thread.is_alive(), "it waits for somebody who writes"
    if failures:
        raise failures[0]
    return results[0]


READINGS = {
    "prove": lambda archive: archive.prove("brighter <= bright").verdict,
    "relate": lambda archive: archive.relate("bright", "brighter").summary,
    "head": lambda archive: len(archive["bright"].head(3)),
    "count": lambda archive: archive["brighter"].count(),
    "to_pandas": lambda archive: len(archive["doubled"].to_pandas()),
    "target": lambda archive: len(archive.target("bright", ["hip", "twice"], keep="never").to_pandas()),
    "plan": lambda archive: str(archive.target("bright", ["hip", "twice"]).plan()) != "",
    "check": lambda archive: archive.check().sound,
    "export": lambda archive: archive.export_definitions(Path(archive.context.database.place).with_name("all.provenn")),
}


def test_nobody_who_reads_waits_for_somebody_who_writes(archive: provenn.Archive, monkeypatch: pytest.MonkeyPatch):
    """The same questions, with the lock free and with the lock taken, give the same answers."""
    archive["doubled"].store()
    for _ in range(2):  # what the first round counts, the second knows
        expected = {name: read(archive) for name, read in READINGS.items() if name != "export"}
    endless = replace(archive.context.database, patience=FOR_EVER)
    monkeypatch.setattr(Database, "writing", _endless(Database.writing))
    with somebody_writing(archive):
        for name, read in READINGS.items():
            answer = in_time(lambda read=read: read(archive))
            assert name not in expected or answer == expected[name], name
        in_time(lambda: FileMemory(endless).remember({}))


def _endless(writing: Any) -> Any:
    """Let everybody who waits for the lock with the usual patience wait for ever."""

    def endless(self: Database, *, patience: float | None = None) -> Any:
        return writing(self, patience=FOR_EVER if patience is None and self.who == "ada" else patience)

    return endless


def test_what_was_computed_is_stored_though_somebody_writes_for_longer_than_anybody_waits(
    archive: provenn.Archive, monkeypatch: pytest.MonkeyPatch
):
    """The lock is taken when the data are written, and given back when the archive has been found busy twice."""
    busy, twice, over = Event(), Event(), Event()
    publish = provenn.files.data_folder.DataFolder.publish

    def hold() -> None:
        with somebody_writing(archive):
            busy.set()
            assert twice.wait(LIMIT)
        over.set()

    def published(self: Any, *places: str) -> str:
        place = publish(self, *places)
        Thread(target=hold, daemon=True).start()
        assert busy.wait(LIMIT)
        return place

    found = []
    writing = Database.writing

    @contextmanager
    def impatient(self: Database, *, patience: float | None = None) -> Any:
        quick = busy.is_set() and not over.is_set() and self.who == "ada"
        try:
            with writing(self, patience=0.05 if quick else patience) as transaction:
                yield transaction
        except ArchiveBusyError:
            found.append(self)
            if len(found) >= 2:
                twice.set()
                assert over.wait(LIMIT)
            raise

    monkeypatch.setattr(provenn.files.data_folder.DataFolder, "publish", published)
    monkeypatch.setattr(Database, "writing", impatient)
    archive.store("doubled", attributes=["twice"])
    assert len(found) >= 2
    assert over.is_set()
    (stored,) = archive.fragments()
    assert stored.fragment.rows == archive["stars"].count()
    assert archive.check(deep=True).sound
