"""What bringing an archive up to date must do, on every database."""

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, inspect, select, text, update
from sqlalchemy.exc import IntegrityError

from provenn.catalogs import SelectSources, SqlCalculator
from provenn.data import fragments, run_records
from provenn.database import settings
from provenn.database.engines import WRITING
from provenn.database.tables import (
    VERSION,
    VERSION_TABLE,
    bases,
    catalogs,
    dependencies,
    metadata,
    populations,
    schemas,
)
from provenn.database.tables import names as name_rows
from provenn.database.transactions import Writing
from provenn.definitions import attributes, catalog_names, catalog_store, registered_calculators
from provenn.definitions.search import CatalogFilter, search_catalogs
from provenn.errors import ArchiveNotFoundError, ArchiveVersionError
from provenn.files.data_folder import StoredFile
from provenn.formats.migrations import list_formats, make_configuration, migrate_format, upgrade_tables
from provenn.formats.opening import open_database
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.stored_facts import find_all_facts
from provenn.logic import nonempty
from provenn.people import audit_log
from provenn.people.visibility import view_as
from tests.catalogs.samples import base
from tests.contracts.databases import pretend_version
from tests.waiting import LIMIT

NEXT_STEP = """
from alembic import op
from sqlalchemy import Column, Text

revision = "{revision}"
down_revision = "{down_revision}"


def upgrade():
    with op.batch_alter_table("catalogs") as catalogs:
        catalogs.add_column(Column("remark", Text, server_default=""))
        catalogs.alter_column("notes", nullable=True)
    {then}
"""


def row(digest):
    texts = {"kind": "Base", "population": "star", "parameters": "{}", "notes": "{}", "extent": digest}
    return {"digest": digest, "created_by": "Ada", "schema": "c" * 64, **texts}


STARS = base()
BRIGHT = SelectSources.of(STARS, "vmag < 6")
RELEASED = sorted(revision.revision for revision in ScriptDirectory.from_config(make_configuration()).walk_revisions())


def outline(connection):
    """All that the database says of its tables, in an order that does not depend on how they were made."""
    looking = inspect(connection)
    columns, primary, foreign, indexes = (
        {table: listed for (_, table), listed in read().items()}
        for read in (
            looking.get_multi_columns,
            looking.get_multi_pk_constraint,
            looking.get_multi_foreign_keys,
            looking.get_multi_indexes,
        )
    )
    answer = {
        table: (
            {column["name"]: (str(column["type"]), column["nullable"], column["default"]) for column in columns[table]},
            primary[table]["constrained_columns"],
            sorted((key["constrained_columns"], key["referred_table"], key["options"]) for key in foreign[table]),
            sorted((index["name"], index["column_names"], index["unique"]) for index in indexes[table]),
        )
        for table in looking.get_table_names()
    }
    if connection.dialect.name == "sqlite":
        result = connection.execute(text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'"))
        answer["numbered"] = sorted(result.scalars())
    return answer


def rows(connection):
    """All rows of all tables, by table, each as a dict."""
    return {
        name: sorted((dict(row) for row in connection.execute(text(f'SELECT * FROM "{name}"')).mappings()), key=str)  # noqa: S608
        for name in inspect(connection).get_table_names()
        if name != VERSION_TABLE
    }


SOME = ("0001", "0004")
"""Formats that an archive is brought back to in one go also outside of campaigns: the oldest, and that with which
schemas came; a test goes back to each of them by single steps."""

DOWN_TO = [pytest.param(version, marks=[] if version in SOME else pytest.mark.campaign) for version in RELEASED]

UP_FROM = [
    pytest.param(version, marks=[] if version in (*SOME, "0005", RELEASED[-1]) else pytest.mark.campaign)
    for version in RELEASED
]
"""Formats from which an archive is brought up to date also outside of campaigns: from the oldest all steps are taken,
and what is looked at afterwards differs for the others."""

KILLED_EVERY = [37, pytest.param(7, marks=pytest.mark.campaign)]
"""Before each so many statements of a migration a process is killed."""

REMADE = ("attributes", "schemas", "wordings", "catalogs")
"""Tables that older formats do not have, or not as they are now, and that are made again of what they do have."""


def upgrade_to(connection, version):
    """Make the tables of a format, or those of an older one into these."""
    config = make_configuration()
    config.attributes["connection"] = connection
    with connection.begin():
        command.upgrade(config, version)


def check_kept(before, after, expected, version):
    """Check that all rows are in tables of an older format that it has a place for, and no others."""
    assert after.keys() == expected.keys() - {VERSION_TABLE, "numbered"}
    for name in after:
        columns = set(expected[name][0])
        written, kept = (
            [row for row in tables[name] if name != "settings" or is_setting(row, version)]
            for tables in (before, after)
        )
        assert kept == sorted(({key: item[key] for key in item if key in columns} for item in written), key=str)


def is_setting(row, version):
    """Whether a setting is to be found in a format as it was: epochs are renewed with each change of the format."""
    return row["key"] != "epoch" and (version >= "0008" or row["key"] != "audit head")  # 0008 made the log a chain


def fill(database):
    """Write something of everything that older formats have, or do not have, a place for."""
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT)
        catalog_names.assign_name(writing, "bright", BRIGHT.digest)
        fact = declare_fact(writing, nonempty(BRIGHT.digest), "seen")
        registered_calculators.register_calculator(writing, "twice", SqlCalculator.of({"twice": "2 * vmag"}))
        registered_calculators.prefer_identity(writing, "twice", "x")
        settings.change_setting(writing, settings.STORE, "/data")
        columns = [(attribute.identity, attribute.name) for attribute in BRIGHT.schema.attributes]
        file = StoredFile("a.parquet", 3, "0")
        fragments.register(writing, BRIGHT, columns, location="a", rows=1, files=[file], seconds=1.0, facts=[fact.id])
        audit_log.record_action(writing, "declare", "fact #1")


class MigrationContract:
    """Mix in a class that has a fixture `nowhere`, an engine of a database without tables, and its place."""

    @pytest.mark.parametrize("version", UP_FROM)
    def test_an_archive_of_every_earlier_version_is_brought_up_to_date_and_keeps_all(self, nowhere, version):
        engine, place = nowhere
        with engine.connect() as connection:
            connection.execution_options(**WRITING)
            config = make_configuration()
            config.attributes["connection"] = connection
            with connection.begin():
                command.upgrade(config, version)
                writing = Writing(connection, "Ada", datetime.now(UTC))
                connection.execute(insert(populations), {"name": "star", "key": '["bigint"]'})
                held = attributes.add_schemas(writing, [STARS, BRIGHT]) if version >= "0004" else {}
                rows = [catalog_store._make_row(writing, item) for item in (STARS, BRIGHT)]
                rows = [entry | {"schema": held[entry["digest"]]} if held else entry for entry in rows]
                connection.execute(insert(catalogs), rows)
                link = {"catalog": BRIGHT.digest, "position": 0, "dependency": STARS.digest}
                connection.execute(insert(dependencies), link)
                seen = {"location": STARS.files.location, "seen_at": writing.when, "seen_by": "Ada"}
                connection.execute(insert(bases), {"catalog": STARS.digest, **seen})
                named = {"name": "bright", "catalog": BRIGHT.digest, "changed_at": writing.when, "changed_by": "Grace"}
                connection.execute(insert(name_rows), named)
        with open_database(place) as opened, opened.reading() as reading:
            assert catalog_store.get_catalog(reading, catalog_names.find_named_digest(reading, "bright")) == BRIGHT
            assert {catalog.digest for catalog in search_catalogs(reading, CatalogFilter(attribute="vmag"))} == {
                STARS.digest,
                BRIGHT.digest,
            }
            if version < "0005":  # what was there belongs to who wrote it, and everybody sees it
                assert [(name.owner, name.visibility) for name in catalog_names.list_names(reading)] == [
                    ("Grace", "public")
                ]
                seen = search_catalogs(view_as(reading, "Bob"), CatalogFilter())
                assert [(catalog.digest, catalog.created_by) for catalog in seen] == [(BRIGHT.digest, "Grace")]
            if version < "0004":
                assert [catalog.names for catalog in search_catalogs(reading, CatalogFilter("vmag <"))] == [("bright",)]
            context = MigrationContext.configure(reading.connection, opts={"version_table": VERSION_TABLE})
            assert compare_metadata(context, metadata) == []
            assert context.get_current_revision() == VERSION

    def test_the_steps_make_the_tables_as_the_code_knows_them(self, database):
        with database.reading() as reading:
            context = MigrationContext.configure(reading.connection, opts={"version_table": VERSION_TABLE})
            assert compare_metadata(context, metadata) == []

    def step(self, database, folder, then="pass"):
        """Bring the archive to a version of the future."""
        following = f"{int(VERSION) + 1:04}"
        script = NEXT_STEP.format(then=then, revision=following, down_revision=VERSION)
        (folder / f"v{following}.py").write_text(script)
        config = make_configuration()
        ours = config.get_main_option("script_location")
        config.set_main_option("version_locations", f"{ours}/versions{os.pathsep}{folder}")
        with database.engine.connect() as connection:
            connection.execution_options(**WRITING)
            upgrade_tables(connection, lambda: None, config)

    @pytest.fixture
    def filled(self, database):
        """An archive in which one catalog depends on another."""
        with database.writing() as writing:
            execute = writing.connection.execute
            execute(insert(populations), {"name": "star", "key": "[]"})
            execute(insert(schemas), {"digest": "c" * 64, "attributes": 0, "names": ""})
            execute(insert(catalogs), [{**row(item), "created_at": writing.when} for item in ("a" * 64, "b" * 64)])
            execute(insert(dependencies), {"catalog": "b" * 64, "position": 0, "dependency": "a" * 64})
        return database

    def test_a_step_that_changes_a_table_keeps_its_rows_and_foreign_keys(self, filled, tmp_path):
        self.step(filled, tmp_path)
        filled = replace(filled, fence=None)  # which would refuse a format that it does not know
        with filled.reading() as reading:
            assert "remark" in {column["name"] for column in inspect(reading.connection).get_columns("catalogs")}
            assert reading.connection.scalars(select(catalogs.c.digest)).all() == ["a" * 64, "b" * 64]
            assert reading.connection.scalars(select(dependencies.c.dependency)).all() == ["a" * 64]
        missing = {"catalog": "b" * 64, "position": 1, "dependency": "c" * 64}
        with pytest.raises(IntegrityError), filled.writing() as writing:
            writing.connection.execute(insert(dependencies), missing)

    def test_a_step_that_fails_changes_nothing(self, filled, place, tmp_path):
        with pytest.raises(ZeroDivisionError):
            self.step(filled, tmp_path, then="1 / 0")
        with open_database(place) as again, again.reading() as reading:
            assert "remark" not in {column["name"] for column in inspect(reading.connection).get_columns("catalogs")}

    @pytest.mark.parametrize("version", DOWN_TO)
    def test_going_back_makes_the_tables_of_that_format_and_keeps_its_rows(self, nowhere, database, place, version):
        engine, _ = nowhere
        with engine.connect() as connection:
            connection.execution_options(**WRITING)
            upgrade_to(connection, version)
            with connection.begin():
                expected = outline(connection)
        fill(database)
        with database.reading() as reading:
            before = rows(reading.connection)
        output = migrate_format(place, version, lose=True)
        assert (output.before, output.after) == (VERSION, version)
        with database.engine.connect() as connection:
            assert outline(connection) == expected
            check_kept(before, rows(connection), expected, version)
        with open_database(place) as again, again.reading() as reading:
            self.check_current(reading, before)

    def test_going_back_and_forth_by_every_step_makes_the_tables_of_that_format_and_keeps_its_rows(
        self, nowhere, database, place
    ):
        engine, _ = nowhere
        expected = {}
        with engine.connect() as connection:
            connection.execution_options(**WRITING)
            for version in RELEASED:
                upgrade_to(connection, version)
                with connection.begin():
                    expected[version] = outline(connection)
        fill(database)
        with database.reading() as reading:
            before = rows(reading.connection)
        for version, newer in reversed([*itertools.pairwise(RELEASED)]):
            for to, start in ((version, newer), (newer, version)):
                output = migrate_format(place, to, lose=True)
                assert (output.before, output.after) == (start, to)
                with database.engine.connect() as connection:
                    assert outline(connection) == expected[to]
                    there = rows(connection)
                if "audit" in there:  # format 0008 adds an entry when it comes back
                    there["audit"] = [entry for entry in there["audit"] if entry["via"] != "migration"]
                if to == version:
                    check_kept(before, there, expected[to], version)
                else:
                    for name in there.keys() & REMADE:
                        columns = set(expected[to][name][0])
                        assert there[name] == sorted(
                            ({key: item[key] for key in item if key in columns} for item in before[name]), key=str
                        )
            migrate_format(place, version, lose=True)
        with open_database(place) as again, again.reading() as reading:
            self.check_current(reading, before)

    def check_current(self, reading, before):
        """Check that an archive which had an older format has the newest, and what it held before that."""
        assert catalog_store.get_catalog(reading, catalog_names.find_named_digest(reading, "bright")) == BRIGHT
        assert [fact.statement for fact in find_all_facts(reading)] == [nonempty(BRIGHT.digest)]
        now = rows(reading.connection)
        for name in REMADE:
            assert now[name] == before[name]
        context = MigrationContext.configure(reading.connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []

    def test_catalogs_of_older_archives_count_as_definitions(self, database, place):
        """Older formats do not tell definitions from what only runs needed."""
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, BRIGHT, for_run=True)
            assert attributes.find_definitions_by_name(writing, "star", "vmag") == []
        output = migrate_format(place, "0005", lose=True)
        assert "2 × catalog that only a run needed: it would count as a definition" in output.lost
        migrate_format(place)
        with open_database(place) as again, again.reading() as reading:
            assert [entry.catalog for entry in attributes.find_definitions_by_name(reading, "star", "vmag")] == [
                STARS.digest
            ]

    def test_of_several_names_of_a_calculator_an_older_format_keeps_the_last(self, database, place):
        calculator = SqlCalculator.of({"twice": "2 * vmag"})
        for name in ("late", "early", "last"):
            with database.writing() as writing:
                registered_calculators.register_calculator(writing, name, calculator)
                registered_calculators.prefer_calculator(writing, "twice", name)
        output = migrate_format(place, "0005", lose=True)
        assert "2 × further name of a calculator" in output.lost
        with database.engine.connect() as connection:
            assert [row["identity"] for row in rows(connection)["preferences"]] == [calculator.digest]
        with open_database(place) as again, again.reading() as reading:
            assert list(registered_calculators.find_latest_calculators(reading)) == ["last"]
            assert registered_calculators.read_preferences(reading)["twice"].calculator == "last"

    def test_the_first_step_can_be_undone_too(self, database):
        with database.engine.connect() as connection:
            connection.execution_options(**WRITING)
            config = make_configuration()
            config.attributes["connection"] = connection
            with connection.begin():
                command.downgrade(config, "base")
                assert inspect(connection).get_table_names() == [VERSION_TABLE]

    def test_what_would_be_lost_is_told_and_refused(self, database, place):
        fill(database)
        with database.writing() as writing:
            writing.connection.execute(update(name_rows).values(visibility="private"))
            run_records.begin_run(writing, "bright", catalog=BRIGHT.digest)
        for version, lost in (
            ("0004", ["1 × name that not everybody sees", "entry of the audit log"]),
            ("0001", ["1 × fragment", "1 × setting", "1 × run", "1 × name that"]),
        ):
            output = migrate_format(place, version, dry_run=True)
            for item in lost:
                assert item in "; ".join(output.lost)
            with pytest.raises(ArchiveVersionError, match=r"cannot hold .*1 × name that(.|\n)*lose=True"):
                migrate_format(place, version)
        assert migrate_format(place).before == VERSION, "nothing was done"
        assert migrate_format(place, "0003", lose=True).after == "0003"
        assert migrate_format(place, dry_run=True).before == "0003"
        assert migrate_format(place).before == "0003"
        assert migrate_format(place, "0004").lost == ()

    def test_nothing_is_lost_of_an_archive_that_holds_nothing(self, place):
        for version in reversed(list_formats()):
            assert migrate_format(place, version).lost == ()

    def test_formats_that_nobody_knows_are_refused(self, database, place):
        for version in ("0000", "base", "head", "-1", "", "9999"):
            with pytest.raises(ArchiveVersionError, match="unknown format"):
                migrate_format(place, version)
        with database.writing() as writing:
            pretend_version(writing, "9999")
        with pytest.raises(ArchiveVersionError, match="does not know"):
            migrate_format(place, "0001", lose=True)
        with replace(database, fence=None).writing() as writing:
            writing.connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
        with pytest.raises(ArchiveNotFoundError, match="holds no archive"):
            migrate_format(place)

    @pytest.mark.parametrize("every", KILLED_EVERY)
    def test_a_process_killed_anywhere_leaves_the_old_format_or_the_new(self, database, place, every):
        fill(database)
        command = [sys.executable, "-m", "tests.formats.migrations_killed", str(place), str(every)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
        assert done.returncode == 0, done.stderr
