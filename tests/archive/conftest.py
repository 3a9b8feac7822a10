"""An archive with a base catalog of six stars, in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import provenn
from tests.archive.samples import write_parquet


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[provenn.Archive]:
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        yield opened


@pytest.fixture
def stars(archive: provenn.Archive, tmp_path: Path) -> provenn.Catalog:
    return archive.ingest("stars", write_parquet(tmp_path / "stars.parquet"), key="hip", population="star")
