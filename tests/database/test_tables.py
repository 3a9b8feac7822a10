"""The tables, and that they are documented."""

import re
from pathlib import Path

import pytest

from provenn.database.tables import VERSION, VERSION_TABLE, metadata

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "archive-format.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", metadata.tables.values(), ids=str)
def test_every_column_of_every_table_is_documented(table):
    section = re.search(rf"^### [^\n]*`{table.name}`.*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None
    assert [column.name for column in table.columns if f"`{column.name}`" not in section[0]] == []


def test_no_table_is_documented_that_there_is_not():
    headings = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(headings))) == {*metadata.tables, VERSION_TABLE}


def test_the_version_is_documented():
    assert f"`{VERSION}`" in PAGE
