"""Archives of tests that are copied are as those that alembic makes."""

import pytest
from sqlalchemy import inspect, text

from provenn.formats import migrations
from provenn.formats.opening import open_database
from tests.postgres import new_schema


@pytest.fixture
def places(request, tmp_path):
    """A function that returns a place for an archive, in either database."""
    if request.param == "PostgreSQL":
        server = request.getfixturevalue("postgres")
        return lambda _: new_schema(server)
    return lambda name: tmp_path / f"{name}.sqlite"


@pytest.mark.parametrize("places", ["SQLite", "PostgreSQL"], indirect=True)
def test_a_copied_archive_is_as_alembic_makes_it(places, monkeypatch):
    open_database(places("first"), create=True).close()
    with open_database(places("copied"), create=True) as copied:
        described = describe(copied)
    monkeypatch.setattr(migrations, "upgrade_tables", migrations.upgrade_tables.__wrapped__)
    with open_database(places("made"), create=True) as result:
        assert describe(result) == described


def describe(database):
    """Return the tables of an archive with their columns, keys, indexes and rows, but for what is random."""
    with database.reading() as reading:
        inspector = inspect(reading.connection)
        return {
            table: {
                "columns": [{**column, "type": str(column["type"])} for column in inspector.get_columns(table)],
                "primary": inspector.get_pk_constraint(table),
                "foreign": inspector.get_foreign_keys(table),
                "unique": inspector.get_unique_constraints(table),
                "checks": inspector.get_check_constraints(table),
                "indexes": inspector.get_indexes(table),
                "rows": len(reading.connection.execute(text(f'SELECT * FROM "{table}"')).all()),  # noqa: S608
            }
            for table in sorted(inspector.get_table_names())
        }
