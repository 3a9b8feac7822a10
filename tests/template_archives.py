"""Archives to copy: making one by migration takes long, copying it does not."""

import pytest

from provenn.formats.opening import open_database
from tests.postgres import new_schema, postgres_server


@pytest.fixture(scope="session")
def sqlite_archive(tmp_path_factory):
    """The file of an empty archive."""
    path = tmp_path_factory.mktemp("template") / "archive.sqlite"
    open_database(path, create=True).close()
    return path


@pytest.fixture(scope="session")
def postgres():
    """The address of a PostgreSQL server."""
    with postgres_server() as address:
        yield address


@pytest.fixture(scope="session")
def postgres_archive(postgres):
    """The address of an archive in PostgreSQL, to be emptied and used."""
    address = new_schema(postgres)
    open_database(address, create=True).close()
    return address
