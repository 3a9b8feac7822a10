"""Fragments of other appended files: only those are left out that are proved to share no source with the request."""

from itertools import combinations

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.catalogs import cone, verbs
from provenn.targets.apart_fragments import divide_fragments
from tests.targets.scenes import scene_of, stored

DAYS = 4


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """The versions of a folder that got a file a day, and another base catalog of the same population."""
    place = tmp_path_factory.mktemp("days")
    files = place / "files"
    files.mkdir()
    with provenn.open(place / "archive", progress=False) as archive:
        grown = []
        for day in range(DAYS):
            parquet.write_table(pa.table({"id": [10 * day, 10 * day + 1], "g": [1.0, 2.0]}), files / f"{day}.parquet")
            grown.append(archive.ingest("stars", files, key="id", population="star").definition)
        parquet.write_table(pa.table({"id": [1, 99], "h": [1.0, 2.0]}), place / "other.parquet")
        other = archive.ingest("other", place / "other.parquet", key="id", population="star").definition
    return grown, other


def test_only_fragments_that_are_proved_to_be_apart_are_left_out(versions):
    grown, other = versions
    days = grown[-1].list_parts()
    assert len(days) == DAYS
    sources = [*days, *grown[1:], verbs.select(grown[-1], "g < 2"), other, verbs.combine(days[0], other)]
    requests = [*sources, verbs.select(days[1], "g < 2"), verbs.restrict(days[1], other)]
    dropped = 0
    for request in requests:
        scans = [stored(catalog, number=number) for number, catalog in enumerate(sources, 1)]
        kept, apart = divide_fragments(scans, cone(request))
        assert {scan.fragment.id for scan in kept}.isdisjoint(apart)
        assert len(kept) + len(apart) == len(scans)
        for number in apart:
            catalog = sources[number - 1]
            scene = scene_of(request, catalog)
            for ancestor in cone(request):
                assert scene.is_proved(scene.state_disjoint(ancestor.extent, catalog.extent))
        dropped += len(apart)
    assert dropped > 0


def test_a_plan_of_one_day_looks_at_the_fragments_of_that_day_alone(versions):
    grown, _ = versions
    days = grown[-1].list_parts()
    for day, others in ((day, combinations(days, 2)) for day in days):
        scans = [stored(catalog, number=number) for number, catalog in enumerate(days, 1)]
        kept, apart = divide_fragments(scans, cone(verbs.select(day, "g < 2")))
        assert [scan.catalog.digest for scan in kept] == [day.digest]
        assert len(apart) == DAYS - 1
        for first, second in others:
            both, _ = divide_fragments(scans, [first, second])
            assert {scan.catalog.digest for scan in both} == {first.digest, second.digest}
    whole, none = divide_fragments([stored(day) for day in days], cone(grown[-1]))
    assert len(whole) == DAYS
    assert not none
