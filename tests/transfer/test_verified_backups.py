"""Backups are verified on the way: damage in the database stops a backup, or is listed with it."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from sqlalchemy import delete, select, text, update

import provenn
from provenn.database.tables import audit, catalogs, metadata, pins
from provenn.errors import CorruptArchiveError
from provenn.hints import phrase_for_command
from tests.postgres import new_schema
from tests.sound import make_archive
from tests.soundness.test_checking import COLUMNS, REMARKS, is_row, one_row, other

LEFT_BEHIND = {"pins", "leases", "file_hashes"}
"""The tables of running processes and of this machine's files, which a backup leaves out."""

CHECKED = [pair for pair in COLUMNS if ".".join(pair) not in REMARKS and pair[0] not in LEFT_BEHIND]
"""The tables and columns in which a check finds every change."""

FIRST = {table: pair for pair in reversed(CHECKED) for table in pair[:1]}
"""The first of these columns of each table: a backup runs the same check, which is tried with every column."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    make_archive(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "archive"))


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def archive(request, folder, tmp_path):
    """An archive that holds something of everything, in either database."""
    if request.param == "SQLite":
        with provenn.open(folder, who="ada", progress=False) as archive:
            yield archive
        return
    address = new_schema(request.getfixturevalue("postgres"))
    with provenn.open(folder, progress=False) as archive:
        archive.backup(address, data=True, store=tmp_path / "their data")
    with provenn.open(database=address, who="ada", progress=False) as archive:
        yield archive


def execute(archive, *statements):
    """Change rows as nobody should."""
    with archive.context.database.writing() as writing:
        for statement in statements:
            assert writing.connection.execute(statement).rowcount > 0


def break_definition(archive):
    """Change the parameters of a catalog, and return its digest."""
    digest = archive.catalog("near").digest
    execute(archive, update(catalogs).where(catalogs.c.digest == digest).values(parameters='{"fraction":0.5}'))
    return digest


def break_chain(archive):
    """Change an entry in the middle of the audit log, and return its number."""
    with archive.context.database.reading() as reading:
        numbers = reading.connection.scalars(select(audit.c.id).order_by(audit.c.id)).all()
    execute(archive, update(audit).where(audit.c.id == numbers[1]).values(who="eve"))
    return numbers[1]


def damage_of(archive):
    return [str(problem) for problem in archive.check().problems if problem.state == "damage"]


def test_a_sound_archive_is_backed_up_and_all_of_it_was_verified(archive, tmp_path):
    copied = archive.backup(tmp_path / "copy", data=True)
    with archive.context.database.reading() as reading:
        entries = len(reading.connection.execute(select(audit.c.id)).all())
    assert entries > 1
    assert (copied.verified_definitions, copied.verified_audit_entries) == (len(archive), entries)
    assert (copied.catalogs, copied.damaged, copied.missing, copied.left_out) == (len(archive), (), (), {})
    with provenn.open(tmp_path / "copy", progress=False) as copy:
        assert damage_of(copy) == []


def test_a_damaged_definition_stops_a_backup(archive, tmp_path):
    digest = break_definition(archive)
    with pytest.raises(CorruptArchiveError, match=rf"catalog {digest}: .*nothing was copied") as caught:
        archive.backup(tmp_path / "copy")
    assert "skip_damaged=True" in caught.value.hint
    assert "--skip-damaged" in phrase_for_command(caught.value.hint)
    assert not (tmp_path / "copy").exists()
    assert not list(tmp_path.glob(".*")), "nothing unfinished is left"


def test_a_broken_audit_chain_stops_a_backup(archive, tmp_path):
    number = break_chain(archive)
    with pytest.raises(CorruptArchiveError, match=f"audit entry #{number}: .*nothing was copied"):
        archive.backup(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_damage_is_copied_and_listed_on_request(archive, tmp_path):
    digest, number = break_definition(archive), break_chain(archive)
    copied = archive.backup(tmp_path / "copy", skip_damaged=True)
    assert any(f"catalog {digest}" in problem for problem in copied.damaged)
    assert any(f"audit entry #{number}" in problem for problem in copied.damaged)
    assert copied.verified_definitions < len(archive)
    assert copied.verified_audit_entries == 1, "the chain proves nothing after its break"
    with provenn.open(tmp_path / "copy", progress=False) as copy:
        assert set(copied.damaged) <= set(damage_of(copy))


def test_damage_that_a_repair_mends_is_told_with_the_repair(archive, tmp_path):
    execute(archive, delete(metadata.tables["wordings"]))
    with pytest.raises(CorruptArchiveError, match="wording") as caught:
        archive.backup(tmp_path / "copy")
    assert "archive.check(repair=True)" in caught.value.hint
    assert "provenn check --repair" in phrase_for_command(caught.value.hint)
    archive.check(repair=True)
    assert archive.backup(tmp_path / "copy").damaged == ()


def test_rows_that_no_database_takes_are_left_out_on_request(archive, tmp_path):
    """A dependency whose catalog is missing violates the references between tables."""
    break_references(archive)
    with pytest.raises(CorruptArchiveError, match="nothing was copied"):
        archive.backup(tmp_path / "copy")
    copied = archive.backup(tmp_path / "copy", skip_damaged=True)
    assert any(description.startswith("2 rows of dependencies: ") for description in copied.missing)
    with provenn.open(tmp_path / "copy", progress=False) as copy, copy.context.database.reading() as reading:
        assert reading.connection.exec_driver_sql("PRAGMA foreign_key_check").first() is None


def break_references(archive):
    """Delete a catalog that others are made from, past the references between tables."""
    digest = archive.catalog("near").digest
    engine = archive.context.database.engine
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.execution_options(provenn_writes=True)
            connection.connection.driver_connection.execute("PRAGMA foreign_keys = OFF")
            with connection.begin():
                connection.execute(delete(catalogs).where(catalogs.c.digest == digest))
            connection.connection.driver_connection.execute("PRAGMA foreign_keys = ON")
    else:
        with archive.context.database.writing() as writing:
            writing.connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            writing.connection.execute(delete(catalogs).where(catalogs.c.digest == digest))


def test_a_value_that_cannot_be_read_is_left_out_on_request(folder, tmp_path):
    with closing(sqlalchemy.create_engine(f"sqlite:///{folder / 'provenn.sqlite'}").raw_connection()) as raw:
        raw.execute("UPDATE names SET changed_at = 'yesterday' WHERE name = 'near'")
        raw.commit()
    with provenn.open(folder, progress=False) as archive:
        with pytest.raises(CorruptArchiveError):
            archive.backup(tmp_path / "copy")
        copied = archive.backup(tmp_path / "copy", skip_damaged=True)
    assert any(description.startswith("1 row of names") for description in copied.missing)


def test_problems_of_what_stays_behind_stop_no_backup(folder, tmp_path):
    with provenn.open(folder, progress=False) as archive:
        execute(archive, update(pins).values(expires_at=text("'2999-01-01 00:00:00.000000'")))
        assert damage_of(archive)
        assert archive.backup(tmp_path / "copy").damaged == ()


@pytest.mark.parametrize(
    ("table", "column"),
    [pytest.param(*pair, marks=[] if pair in FIRST.values() else pytest.mark.campaign) for pair in CHECKED],
    ids=[".".join(pair) for pair in CHECKED],
)
def test_a_backup_refuses_whatever_a_check_calls_damage(folder, tmp_path, table, column):
    """A value of any column is changed that a check finds; the rest can be copied on request."""
    rows = metadata.tables[table]
    engine = sqlalchemy.create_engine(f"sqlite:///{folder / 'provenn.sqlite'}")
    with engine.begin() as connection:
        row = one_row(connection, rows, column)
        connection.execute(update(rows).where(*is_row(rows, row)).values({column: other(rows.c[column], row[column])}))
    engine.dispose()
    with provenn.open(folder, progress=False) as archive:
        with pytest.raises(CorruptArchiveError, match="nothing was copied"):
            archive.backup(tmp_path / "copy")
        assert not (tmp_path / "copy").exists()
        assert archive.backup(tmp_path / "copy", skip_damaged=True).damaged


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_definitions_are_read_in_batches_and_nothing_is_missed(archive, tmp_path, monkeypatch, size):
    """Whatever the size of a batch, the check shows its progress, and finds a change in any of the definitions."""
    monkeypatch.setattr("provenn.soundness.definition_checks._EVERY", size)
    calls = []
    summary = archive.backup(
        tmp_path / "sound", checking=lambda subject, checked, total: calls.append((subject, checked, total))
    )
    counted = [(checked, total) for subject, checked, total in calls if subject == "definitions" and total]
    assert counted == [(number, len(archive)) for number in range(0, len(archive), size)]
    assert summary.verified_definitions == len(archive)
    assert {"facts", "audit log", "fragments"} <= {subject for subject, _, _ in calls}
    digest = break_definition(archive)
    with pytest.raises(CorruptArchiveError, match=digest[:12]):
        archive.backup(tmp_path / "damaged")
