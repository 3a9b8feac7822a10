"""What follows from what is stored."""

import pytest

from tests.contracts.knowledge import KnowledgeContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened


class TestSQLite(InSQLite, Opened, KnowledgeContract):
    examples = 100


class TestPostgreSQL(InPostgreSQL, Opened, KnowledgeContract):
    examples = 15


@pytest.mark.campaign
class TestManyCases(InSQLite, Opened, KnowledgeContract):
    examples = 2000
