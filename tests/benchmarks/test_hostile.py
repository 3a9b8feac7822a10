"""What honest clients notice of a hostile one, measured."""

from random import Random

import pytest

import provenn
from benchmarks.archives import make_archive
from benchmarks.hostile import heavy_requests, measure, serving_people
from provenn.archive import DATABASE
from provenn.archive.tokens import issue_token


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    make_archive(folder / DATABASE, 200, facts=4)
    with provenn.open(folder, create=False, progress=False) as archive:
        results = [issue_token(archive, f"person {number}", "reader")[1] for number in range(6)]
    return folder, results


def test_the_honest_are_all_answered_with_a_hostile_client_and_without(secrets, monkeypatch):
    monkeypatch.setattr("benchmarks.hostile.SOCKETS", 300)
    folder, answer = secrets
    with serving_people(folder) as server:
        for hostile in (False, True):
            result = measure(server, answer, 200, 2, hostile=hostile)
            assert (len(result.took), result.errors) == (10, [])
            assert bool(result.told) == hostile


def test_heavy_requests_are_short():
    requests = heavy_requests(200, Random(1))
    assert len(requests) == 4
    assert all(len(request) < 8000 for request in requests)
