"""Reading never writes: what is noted of it is written later, and no request waits for somebody who writes."""

import shutil
import sqlite3
import threading
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import provenn
from provenn.archive.tokens import issue_token, list_tokens
from provenn.database import transactions
from provenn.errors import ArchiveBusyError
from provenn.people import audit_log
from provenn.web.notes import Notes
from tests.waiting import LIMIT, wait_until
from tests.web.team import serving_team
from tests.web.test_accounts import routes


@pytest.fixture
def team(archive):
    with serving_team(archive) as opened:
        yield opened


@contextmanager
def somebody_writing(archive):
    """Hold the lock for writing, as a long import does."""
    connection = sqlite3.connect(archive.place, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@pytest.fixture
def writers(monkeypatch):
    """The names of the threads that have begun to write."""
    names = []
    original = transactions.Database.writing

    def writing(self, **options):
        names.append(threading.current_thread().name)
        return original(self, **options)

    monkeypatch.setattr(transactions.Database, "writing", writing)
    return names


def test_no_page_writes_while_somebody_waits_for_it(team, writers):
    asked = [path for method, path in routes(team.archive) if method == "GET"]
    asked += [
        "/compare?a=bright&b=faint&c=stars",
        "/api/compare?a=bright&b=stars&ask=bright <= faint",
        "/compare?ask=nonempty(bright) and bright < stars",
        "/target?sources=bright&attributes=vmag&where=plx < 3",
        "/target?sources=stars&attributes=near",
        "/api/catalogs/bright/sets",
        "/catalogs?text=b&attribute=vmag",
        "/catalogs/bright/lineage.svg",
    ]
    assert len(asked) > 30
    for path in asked:
        team.ask("ada", path)
        team.ask("wrong", path)
    team.log_in("cleo")
    team.client.get("/catalogs")
    assert set(writers) <= {"notes"}
    assert "notes" in writers


def test_while_somebody_writes_everything_can_be_read_and_is_noted_afterwards(team):
    with somebody_writing(team.archive):
        for path in ("/catalogs", "/api/compare?a=bright&b=stars", "/catalogs/bright", "/target?sources=bright"):
            assert team.ask("ben", path).status_code == 200
        assert team.ask("wrong", "/api/catalogs").status_code == 401
        assert team.log_in("cleo").status_code == 303
    noted = team.ask("ada", "/api/audit").json()["done"]
    assert {one["action"] for one in noted[:2]} == {"log in", "fail to log in"}
    wait_until(lambda: all(token.used_at for token in list_tokens(team.archive)), "all tokens are noted as used")


def test_a_proof_does_not_wait_for_somebody_who_writes_in_python_either(made, tmp_path):
    """The lock is held to the end of the body: whatever is answered there went on without it."""
    folder = shutil.copytree(made, tmp_path / "survey")
    with provenn.open(folder, who="ada", progress=False) as archive, somebody_writing(archive):
        assert archive.prove("bright <= stars").verdict == "holds"
        assert archive.relate("bright", "faint").summary == "disjoint"


def test_notes_are_written_in_their_order_with_the_moment_and_the_person(archive):
    notes = Notes(archive)
    with somebody_writing(archive):
        for number in range(30):
            notes.note_deed("look", f"page {number}", who="ben")
        all_noted = datetime.now(UTC)
    assert notes.flush(LIMIT)
    with archive.context.database.reading() as reading:
        done = [action for action in audit_log.find_recent_actions(reading) if action.action == "look"]
    assert [one.subject for one in done] == [f"page {number}" for number in reversed(range(30))]
    assert {one.who for one in done} == {"ben"}
    assert max(one.at for one in done) <= all_noted, "the moment of the request, not of the writing"
    notes.close()


def test_what_cannot_be_written_now_is_tried_again(archive, monkeypatch):
    notes = Notes(archive)
    failures = [ArchiveBusyError("busy")] * 3
    original = transactions.Database.writing

    def writing(self, **options):
        if failures and threading.current_thread().name == "notes":
            raise failures.pop()
        return original(self, **options)

    monkeypatch.setattr(transactions.Database, "writing", writing)
    notes.note_deed("look", "a page", who="ben")
    assert notes.flush(LIMIT)
    assert not failures
    with archive.context.database.reading() as reading:
        assert audit_log.find_recent_actions(reading)[0].action == "look"
    notes.close()


def test_a_note_that_can_never_be_written_takes_no_other_along(archive, caplog):
    notes = Notes(archive)
    with somebody_writing(archive):
        for subject in ("one", "\ud800", "two"):
            notes.note_deed("look", subject, who="ben")
    assert notes.flush(LIMIT)
    with archive.context.database.reading() as reading:
        assert [action.subject for action in audit_log.find_recent_actions(reading, 2)] == ["two", "one"]
    assert "could not be written" in caplog.text
    notes.close()


def test_notes_do_not_grow_without_end(archive, monkeypatch, caplog):
    monkeypatch.setattr("provenn.web.notes._MOST", 5)
    notes = Notes(archive)
    with somebody_writing(archive):
        for number in range(50):
            notes.note_deed("look", f"page {number}", who="ben")
        assert len(notes._errands) <= 5
    assert "a note was lost" in caplog.text
    notes.close()


def test_closing_writes_what_is_left(archive):
    notes = Notes(archive)
    token, _ = issue_token(archive, "ben", "reader")
    notes.note_use(token)
    notes.note_deed("look", "a page", who="ben")
    notes.close(LIMIT)
    assert list_tokens(archive)[0].used_at is not None


def test_an_archive_that_can_only_be_read_is_not_written(archive):
    archive.context = replace(archive.context, database=replace(archive.context.database, read_only=True))
    notes = Notes(archive)
    notes.note_deed("look", "a page", who="ben")
    assert notes.flush(0)
    notes.close()
