"""Bringing the tables up to date."""

from importlib.resources import files

import pytest
from alembic.script import ScriptDirectory

from provenn.database.engines import make_postgresql_engine, make_sqlite_engine
from provenn.database.tables import VERSION
from provenn.errors import CorruptArchiveError
from provenn.formats.migrations import make_configuration
from tests.contracts.migrations import MigrationContract
from tests.database.databases import InNewPostgreSQL, InSQLite, Opened
from tests.postgres import new_schema


class TestSQLite(InSQLite, Opened, MigrationContract):
    @pytest.fixture
    def nowhere(self, tmp_path):
        path = tmp_path / "old.sqlite"
        engine = make_sqlite_engine(path, create=True, read_only=False, patience=1)
        yield engine, path
        engine.dispose()

    def test_a_step_that_breaks_a_foreign_key_is_undone(self, filled, tmp_path):
        with pytest.raises(CorruptArchiveError, match="a row of dependencies refers to one that is not in catalogs"):
            self.step(filled, tmp_path, then="""op.execute("DELETE FROM catalogs WHERE digest LIKE 'a%'")""")
        self.step(filled, tmp_path)


class TestPostgreSQL(InNewPostgreSQL, Opened, MigrationContract):
    @pytest.fixture
    def nowhere(self, postgres):
        address = new_schema(postgres)
        engine = make_postgresql_engine(address, patience=1)
        yield engine, address
        engine.dispose()


def test_the_version_of_the_code_is_that_of_the_newest_step():
    assert ScriptDirectory.from_config(make_configuration()).get_heads() == [VERSION]


def test_versions_sort_as_text_so_that_a_newer_archive_is_recognised():
    steps = [step.revision for step in ScriptDirectory.from_config(make_configuration()).walk_revisions()]
    assert steps == sorted(steps, reverse=True)
    assert all(len(revision) == 4 and revision.isdigit() for revision in steps)


def test_the_steps_are_shipped_with_the_package():
    folder = files("provenn.formats") / "migrations"
    assert (folder / "env.py").is_file()
    assert (folder / "versions" / f"v{VERSION}.py").is_file()
