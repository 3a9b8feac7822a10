"""Whatever is asked of the pages of an archive is answered or refused, as their description says; nothing leaks."""

import shutil
from pathlib import Path

import pytest

from tests.fuzz.requests import opened, try_anything, try_operations
from tests.fuzz.trying import random_input


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "survey")


@random_input(quick=25, campaign=5_000)
def test_what_the_description_allows_and_what_it_does_not(folder, cases):
    with opened(folder) as client:
        tried = try_operations(client, folder, cases)
    assert tried.accepted < tried.cases


@random_input(quick=100, campaign=10_000)
def test_any_method_path_query_header_and_body(folder, cases):
    with opened(folder) as client:
        tried = try_anything(client, folder, cases)
    assert tried.accepted < tried.cases
