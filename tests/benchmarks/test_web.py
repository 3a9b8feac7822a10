"""The pages of an archive, measured."""

import pytest

from benchmarks.archives import make_archive
from benchmarks.web import BARE, crowd, main, pages, serving, times
from provenn.archive import DATABASE

SIZE = 60
"""How many catalogs there are."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    make_archive(folder / DATABASE, SIZE, facts=4)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with serving(folder) as item:
        yield item


def test_every_kind_of_page_is_measured_and_every_client_is_answered(server):
    kinds = pages(SIZE)
    took = times(server, kinds, 2)
    many = crowd(server, kinds, 3, 2)
    assert took.keys() == kinds.keys()
    assert all(len(item.seconds) == 2 and min(item.seconds) > 0 for item in took.values())
    assert (many.clients, len(many.took), many.errors) == (3, 6, [])


def test_what_is_no_page_is_an_error(server):
    wrong = {BARE: lambda _: "/bare", "nobody": lambda _: "/catalogs/nobody"}
    with pytest.raises(RuntimeError, match="/catalogs/nobody was answered with 404"):
        times(server, wrong, 1)
    many = crowd(server, wrong, 2, 2)
    assert many.errors == ["/catalogs/nobody: 404"] * 4


def test_a_table_is_printed(folder, capsys):
    main(["--size", str(SIZE), "--archive", str(folder), "--requests", "1", "--clients", "2", "--asked", "1"])
    output = capsys.readouterr().out
    assert "| two compared " in output
    assert "| 2 clients, browsing " in output
