"""Statements compiled for an archive serve others, with other values; other statements are compiled."""

import pytest
from sqlalchemy import select

from provenn.database.tables import names
from provenn.formats.opening import open_database


def read_names(address, *conditions):
    """Open an archive, and look for names."""
    with open_database(address) as database, database.reading() as reading:
        return reading.connection.execute(select(names.c.name).where(*conditions)).all()


@pytest.mark.parametrize(("kind", "archive"), [("sqlite", "sqlite_archive"), ("postgresql", "postgres_archive")])
def test_statements_are_compiled_once_and_not_once_an_archive(request, shared_statements, kind, archive):
    address = request.getfixturevalue(archive)
    read_names(address, names.c.name == "stars")
    before = set(shared_statements[kind])
    assert read_names(address, names.c.name == "galaxies") == []
    assert set(shared_statements[kind]) == before
    read_names(address, names.c.name == "stars", names.c.owner == "Ada")
    assert len(set(shared_statements[kind]) - before) == 1
