"""Bringing the tables up to date."""

from importlib.resources import files

import pytest
from alembic.script import ScriptDirectory

from provenn.errors import CorruptArchiveError
from provenn.store.engines import postgresql_engine, sqlite_engine
from provenn.store.migrations import configuration
from provenn.store.tables import VERSION
from tests.contracts.migrations import MigrationContract
from tests.postgres import new_schema
from tests.store.databases import InNewPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, MigrationContract):
    @pytest.fixture
    def nowhere(self, tmp_path):
        path = tmp_path / "old.sqlite"
        engine = sqlite_engine(path, create=True, read_only=False, patience=1)
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
        engine = postgresql_engine(address, patience=1)
        yield engine, address
        engine.dispose()


def test_the_version_of_the_code_is_that_of_the_newest_step():
    assert ScriptDirectory.from_config(configuration()).get_heads() == [VERSION]


def test_versions_sort_as_text_so_that_a_newer_archive_is_recognised():
    steps = [step.revision for step in ScriptDirectory.from_config(configuration()).walk_revisions()]
    assert steps == sorted(steps, reverse=True)
    assert all(len(revision) == 4 and revision.isdigit() for revision in steps)


def test_the_steps_are_shipped_with_the_package():
    folder = files("provenn.store") / "migrations"
    assert (folder / "env.py").is_file()
    assert (folder / "versions" / f"v{VERSION}.py").is_file()
