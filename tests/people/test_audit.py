"""The audit log is a chain: whatever is done to an entry, the check names the first that is not as it was written."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select, update

from provenn.database import settings
from provenn.database.tables import audit as audit_rows
from provenn.errors import ArchiveError
from provenn.formats.migrations import migrate_format
from provenn.formats.opening import open_database
from provenn.people import audit_log
from provenn.people.audit_chain import AUDIT_HEAD, AuditEntry, AuditHead, compute_entry_digest, find_breaks
from provenn.soundness.audit_checks import AuditLog, find_head_problems
from provenn.soundness.checking import find_problems
from provenn.transfer.copying import copy_archive
from tests.database.databases import InNewPostgreSQL, InSQLite, Opened
from tests.postgres import new_schema

ENTRIES = 7
CHANGES = {
    "at": datetime(2001, 1, 1, tzinfo=UTC),
    "who": "Mallory",
    "via": "http",
    "action": "revoke token",
    "subject": "fact #99",
    "detail": "nothing",
    "previous": "0" * 64,
    "digest": "0" * 64,
}


def told(database):
    with database.reading() as reading:
        return [str(problem) for problem in AuditLog().find_problems(reading)]


def head(database):
    with database.reading() as reading:
        return str(audit_log.read_audit_head(reading))


class AuditContract:
    @pytest.fixture
    def filled(self, database):
        """An archive in which seven things were done, some of them in one transaction."""
        for number in range(ENTRIES - 2):
            with database.writing() as writing:
                audit_log.record_action(writing, "declare", f"fact #{number}", "public")
        with database.writing() as writing:
            audit_log.record_action(writing, "retract", "fact #1", 'a "reason" – ü')
            audit_log.record_action(writing, "delete name", "x")
        return database

    def test_an_archive_in_which_nothing_was_touched_is_sound(self, filled):
        assert told(filled) == []
        assert list(find_problems(filled, None, audit_head=head(filled))) == []

    def test_every_change_of_every_column_of_every_entry_is_noticed_and_named(self, filled):
        with filled.reading() as reading:
            rows = [dict(row) for row in reading.connection.execute(select(audit_rows)).mappings()]
        tried = 0
        for row in rows:
            this = update(audit_rows).where(audit_rows.c.id == row["id"])
            for column, value in CHANGES.items():
                with filled.writing() as writing:
                    writing.connection.execute(this.values({column: value}))
                (problem,) = told(filled)
                assert problem.startswith(f"audit entry #{row['id']}: "), (column, problem)
                assert "changed" in problem or "inserted" in problem
                tried += 1
                with filled.writing() as writing:
                    writing.connection.execute(this.values({column: row[column]}))
        assert told(filled) == []
        assert tried == ENTRIES * len(CHANGES)

    @pytest.mark.parametrize("which", range(ENTRIES))
    def test_an_entry_that_is_removed_is_noticed(self, filled, which):
        with filled.writing() as writing:
            numbers = writing.connection.scalars(select(audit_rows.c.id).order_by(audit_rows.c.id)).all()
            writing.connection.execute(delete(audit_rows).where(audit_rows.c.id == numbers[which]))
        (problem,) = told(filled)
        assert "removed" in problem
        assert f"#{numbers[which] + 1}" in problem or which == ENTRIES - 1
        with filled.writing() as writing:
            audit_log.record_action(writing, "declare", "fact #10")
        assert told(filled), "what is done after that does not hide it"

    def test_an_entry_that_is_inserted_is_noticed(self, filled):
        with filled.writing() as writing:
            row = {"at": writing.when, "who": "Mallory", "via": "cli", "action": "a", "subject": "b", "detail": ""}
            writing.connection.execute(insert(audit_rows), row)
        (problem,) = told(filled)
        assert problem.endswith(f"#{ENTRIES + 1}: it was changed or inserted afterwards")

    def test_a_forger_who_makes_the_chain_anew_is_noticed_by_a_head_that_was_noted(self, filled):
        noted = head(filled)
        with filled.writing() as writing:
            numbers = writing.connection.scalars(select(audit_rows.c.id).order_by(audit_rows.c.id)).all()
            writing.connection.execute(delete(audit_rows).where(audit_rows.c.id >= numbers[3]))
            settings.forget_setting(writing, AUDIT_HEAD)
            for _ in range(ENTRIES):
                audit_log.record_action(writing, "declare", "something else")
        assert told(filled) == [], "the chain alone cannot tell"
        with filled.reading() as reading:
            (problem,) = find_head_problems(reading, noted)
        assert "it is missing" in problem.what or "has changed" in problem.what

    def test_a_head_that_was_noted_stays_good_when_more_is_done(self, filled):
        noted = head(filled)
        with filled.writing() as writing:
            audit_log.record_action(writing, "declare", "fact #9")
        with filled.reading() as reading:
            assert list(find_head_problems(reading, noted)) == []
        assert head(filled) != noted

    def test_entries_of_an_older_format_are_chained_by_the_upgrade_which_says_so(self, filled, place):
        filled.close()
        migrate_format(place, "0007", lose=True)
        with open_database(place) as again:
            with again.reading() as reading:
                newest, *before = audit_log.find_recent_actions(reading)
            assert (newest.action, newest.via) == ("chain audit log", "migration")
            assert f"{ENTRIES} entries before this one" in newest.detail
            assert len(before) == ENTRIES
            assert told(again) == []
            with again.writing() as writing:
                audit_log.record_action(writing, "declare", "fact #10")
            assert told(again) == []

    def test_a_copy_has_the_chain_and_tells_its_head(self, filled, elsewhere):
        with open_database(elsewhere, create=True) as copy:
            copied = copy_archive(filled, copy)
            assert copied.audit_head == head(filled) == head(copy)
            assert told(copy) == []
            with copy.writing() as writing:
                audit_log.record_action(writing, "declare", "fact #10")
            assert told(copy) == []

    def test_a_noted_head_that_is_damaged_is_noticed(self, filled):
        with filled.writing() as writing:
            settings.change_setting(writing, AUDIT_HEAD, "nonsense")
        assert len(told(filled)) == 1


class TestSQLite(InSQLite, Opened, AuditContract):
    @pytest.fixture
    def elsewhere(self, tmp_path):
        return tmp_path / "copy.sqlite"


class TestPostgreSQL(InNewPostgreSQL, Opened, AuditContract):
    @pytest.fixture
    def elsewhere(self, postgres):
        return new_schema(postgres)


def chain(size: int) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    previous = ""
    for number in range(1, size + 1):
        message = ("ada", "cli", "declare", f"fact #{number}", "")
        digest = compute_entry_digest(previous, number, datetime(2026, 1, 1, tzinfo=UTC), *message)
        entries.append(AuditEntry(number, datetime(2026, 1, 1, tzinfo=UTC), *message, previous, digest))
        previous = digest
    return entries


@given(st.lists(st.integers(0, 11), max_size=14), st.integers(0, 12))
def test_no_other_list_of_entries_than_the_one_that_was_written_passes(kept, noted):
    """Any selection of entries, in any order and with repetitions, is recognised."""
    entries = chain(12)
    head = AuditHead(noted, entries[noted - 1].digest) if noted else None
    chosen = [entries[index] for index in kept]
    intact = chosen == entries[:noted]
    assert (not list(find_breaks(chosen, head))) == intact


@pytest.mark.parametrize("text", ["", "1", "1:abc", "x:" + "0" * 64, "1:" + "g" * 64])
def test_what_is_no_head_is_told(text):
    with pytest.raises(ArchiveError, match="expected the head of an audit log"):
        AuditHead.read(text)
