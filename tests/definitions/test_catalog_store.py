"""Catalogs in and out of the archive."""

from tests.contracts.catalog_store import CatalogStoreContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, CatalogStoreContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, CatalogStoreContract):
    pass
