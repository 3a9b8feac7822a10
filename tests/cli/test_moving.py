"""Commands that move archives, and archives in PostgreSQL, as a user types them."""

import sqlite3
from contextlib import closing

from tests.cli.archive_session import Session
from tests.postgres import new_schema

PASSWORD = "s3cret"  # noqa: S105 - that is what must not be shown


def with_password(address):
    """The same database: the server asks for no password, and takes any."""
    return address.replace("postgres@", f"postgres:{PASSWORD}@") + f"&sslpassword={PASSWORD}"


def test_from_a_folder_to_postgresql_and_back_by_file(survey: Session, postgres, tmp_path):
    survey("declare 'nonempty(both)' --reason seen")
    file, again = tmp_path / "a.provenn", tmp_path / "b.provenn"
    assert survey(f"archive export {file}") == (
        f"wrote {file}: 4 definitions, 4 names, 1 fact, 0 calculators, 0 preferences\n"
    )
    assert "already exists" in survey.fails(f"archive export {file}")
    there = Session(new_schema(postgres))
    there(f"init --store '{tmp_path / 'data'}'")
    assert there(f"archive import {file}") == f"{file}: 4 definitions, 4 names, 1 fact imported\n"
    assert there(f"archive import {file}") == f"{file}: nothing new\n"
    assert there.json(f"archive import {file}")["there"]["definition"] == 4
    assert there("relate bright both") == "equal: bright has the same sources as both\n"
    assert there.json(f"archive export {again}")["name"] == 4
    assert again.read_bytes() == file.read_bytes()
    assert there.json(f"archive export {tmp_path / 'c.provenn'} --names bright")["definition"] == 2
    there("name bright near --move")
    told = there.fails(f"archive import {file}")
    assert told.startswith("provenn: bright already names another catalog in this archive")
    assert "--prefix" in told
    assert there(f"archive import {file} --prefix old/") == f"{file}: 4 names imported\n"


def test_a_contradiction_is_told_in_names(survey: Session, tmp_path):
    survey(f"backup {tmp_path / 'other'}")
    other, file = Session(tmp_path / "other"), tmp_path / "a.provenn"
    other("declare 'empty(both)'")
    survey("declare 'nonempty(bright)'")
    survey(f"archive export {file}")
    told = other.fails(f"archive import {file}")
    assert told.startswith("provenn: the facts contradict each other:")
    assert "\n  nonempty(bright)\n" in told
    assert "\n  empty(both)\n" in told
    assert len(other.json("facts")) == 1


def test_backup_and_migrate(survey: Session, postgres, tmp_path):
    there, back = new_schema(postgres), tmp_path / "back"
    assert survey(f"backup '{there}'").startswith("copied 4 catalogs, ")
    assert "is not empty" in survey.fails(f"backup '{there}'")
    assert Session(there).json(f"backup {back}")["catalogs"] == 4
    for one in (Session(there), Session(back)):
        assert one("ls") == survey("ls")
        assert one("migrate").endswith(" has format 0013, the newest\n")
        assert one.json("migrate --to 0003 --dry-run")["after"] == "0003"
        assert "--lose" in one.fails("migrate --to 0001")
        assert "from format 0013 to 0001\n" in one("migrate --to 0001 --lose")
        assert one.json("migrate")["before"] == "0001"
        assert "unknown format" in one.fails("migrate --to 7")


def test_a_backup_tells_what_it_verified_and_what_is_damaged(survey: Session, tmp_path):
    survey("declare 'nonempty(both)' --reason seen")
    entries = len(survey.json("audit"))
    assert f"\nverified 4 definitions, {entries} audit entries\n" in survey(f"backup {tmp_path / 'whole'}")
    with closing(sqlite3.connect(tmp_path / "whole" / "provenn.sqlite")) as database, database:
        assert database.execute("UPDATE audit SET who = 'eve' WHERE action = 'declare'").rowcount == 1
    damaged = Session(tmp_path / "whole")
    message = damaged.fails(f"backup {tmp_path / 'copy'}")
    assert "audit entry #" in message
    assert "nothing was copied" in message
    assert "--skip-damaged" in message
    assert not (tmp_path / "copy").exists()
    assert "\ndamaged: audit entry #" in damaged(f"backup {tmp_path / 'copy'} --skip-damaged")
    copied = damaged.json(f"backup {tmp_path / 'again'} --skip-damaged")
    assert copied["verified_definitions"] == 4
    assert copied["verified_audit_entries"] < entries
    assert len(copied["damaged"]) == 1


def test_an_archive_is_in_a_folder_or_in_a_database(empty: Session, postgres):
    address = new_schema(postgres)
    assert empty.json(f"init --database '{address}'")["catalogs"] == 0
    assert "not in both" in empty.fails(f"init here --database '{address}'")
    assert "not in mysql" in empty.fails("init --database mysql://ada:s3cret@host/x")
    assert "has no place for data" in Session(address).fails("gc")


def test_a_password_is_never_shown(postgres, tmp_path):
    address = with_password(new_schema(postgres))
    session = Session(address)
    session(f"init --store {tmp_path / 'data'}")
    shown = [
        session.run(typed).output
        for typed in ("init", "doctor", "doctor --json", "migrate", "ls", "show nothing", "backup 'postgresql:///x/y'")
    ]
    bad = address.replace("/postgres?", "/nowhere?")
    shown += [Session(bad).run(typed).output for typed in ("ls", "init", "doctor", "migrate")]
    shown += [Session(f"mysql://ada:{PASSWORD}@host/x").run(typed).output for typed in ("ls", "doctor", "migrate")]
    shown += [Session(f"postgresql://ada:{PASSWORD}@host:port/x").run(typed).output for typed in ("ls", "doctor")]
    assert all(shown)
    assert [one for one in shown if PASSWORD in one] == []
