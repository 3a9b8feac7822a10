"""What bringing an archive up to date must do, on every database."""

import os

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, inspect, select
from sqlalchemy.exc import IntegrityError

from provenn.store.database import open_database
from provenn.store.engines import WRITING
from provenn.store.migrations import configuration, upgrade
from provenn.store.tables import VERSION, VERSION_TABLE, catalogs, dependencies, metadata, populations

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
    return {"digest": digest, "created_by": "Ada", **texts}


class MigrationContract:
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
