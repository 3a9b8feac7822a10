"""What bringing an archive up to date must do, on every database."""

import os
from datetime import UTC, datetime

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, inspect, select
from sqlalchemy.exc import IntegrityError

from provenn.catalogs import SelectSources
from provenn.store import attributes, catalog_store, names
from provenn.store.bases import first_seen
from provenn.store.database import Writing, open_database
from provenn.store.engines import WRITING
from provenn.store.migrations import configuration, upgrade
from provenn.store.search import Filter, search
from provenn.store.tables import VERSION, VERSION_TABLE, catalogs, dependencies, metadata, populations, schemas
from tests.catalogs.samples import base

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
RELEASED = sorted(one.revision for one in ScriptDirectory.from_config(configuration()).walk_revisions())


class MigrationContract:
    """Mix in a class that has a fixture `nowhere`, an engine of a database without tables, and its place."""

    @pytest.mark.parametrize("version", RELEASED)
    def test_an_archive_of_every_earlier_version_is_brought_up_to_date_and_keeps_all(self, nowhere, version):
        engine, place = nowhere
        with engine.connect() as connection:
            connection.execution_options(**WRITING)
            config = configuration()
            config.attributes["connection"] = connection
            with connection.begin():
                command.upgrade(config, version)
                writing = Writing(connection, "Ada", datetime.now(UTC))
                connection.execute(insert(populations), {"name": "star", "key": '["bigint"]'})
                held = attributes.add_schemas(writing, [STARS, BRIGHT]) if version >= "0004" else {}
                rows = [catalog_store._row(writing, one) for one in (STARS, BRIGHT)]
                rows = [one | {"schema": held[one["digest"]]} if held else one for one in rows]
                connection.execute(insert(catalogs), rows)
                link = {"catalog": BRIGHT.digest, "position": 0, "dependency": STARS.digest}
                connection.execute(insert(dependencies), link)
                first_seen(writing, STARS)
                names.assign(writing, "bright", BRIGHT.digest)
        with open_database(place) as opened, opened.reading() as reading:
            assert catalog_store.get(reading, names.find(reading, "bright")) == BRIGHT
            assert {one.digest for one in search(reading, Filter(attribute="vmag"))} == {STARS.digest, BRIGHT.digest}
            if version < "0004":
                assert [one.names for one in search(reading, Filter("vmag <"))] == [("bright",)]
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
        config = configuration()
        ours = config.get_main_option("script_location")
        config.set_main_option("version_locations", f"{ours}/versions{os.pathsep}{folder}")
        with database.engine.connect() as connection:
            connection.execution_options(**WRITING)
            upgrade(connection, lambda: None, config)

    @pytest.fixture
    def filled(self, database):
        """An archive in which one catalog depends on another."""
        with database.writing() as writing:
            execute = writing.connection.execute
            execute(insert(populations), {"name": "star", "key": "[]"})
            execute(insert(schemas), {"digest": "c" * 64, "attributes": 0, "names": ""})
            execute(insert(catalogs), [{**row(one), "created_at": writing.when} for one in ("a" * 64, "b" * 64)])
            execute(insert(dependencies), {"catalog": "b" * 64, "position": 0, "dependency": "a" * 64})
        return database

    def test_a_step_that_changes_a_table_keeps_its_rows_and_foreign_keys(self, filled, tmp_path):
        self.step(filled, tmp_path)
        with filled.reading() as reading:
            assert "remark" in {one["name"] for one in inspect(reading.connection).get_columns("catalogs")}
            assert reading.connection.scalars(select(catalogs.c.digest)).all() == ["a" * 64, "b" * 64]
            assert reading.connection.scalars(select(dependencies.c.dependency)).all() == ["a" * 64]
        missing = {"catalog": "b" * 64, "position": 1, "dependency": "c" * 64}
        with pytest.raises(IntegrityError), filled.writing() as writing:
            writing.connection.execute(insert(dependencies), missing)

    def test_a_step_that_fails_changes_nothing(self, filled, place, tmp_path):
        with pytest.raises(ZeroDivisionError):
            self.step(filled, tmp_path, then="1 / 0")
        with open_database(place) as again, again.reading() as reading:
            assert "remark" not in {one["name"] for one in inspect(reading.connection).get_columns("catalogs")}
