"""The first catalogs with the same sources: the beginning of the whole list, for every viewer."""

import pytest

import provenn
from provenn.definitions import catalog_entries
from provenn.definitions.catalog_entries import find_same_extent, list_first_of_extent
from provenn.words.vocabulary import sort_by_name


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "stars.csv").write_text("hip,vmag,plx\n1,2.0,3.0\n")
    with provenn.open(tmp_path / "survey", who="ada", progress=False) as opened:
        stars = opened.ingest("stars", tmp_path / "stars.csv", key="hip", population="star")
        bright = stars.select("vmag < 6", name="bright")
        for number in range(12):
            same = bright.derive(**{f"a{number}": f"{number} * plx"})
            for name in [f"{letter} {number}" for letter in "zab"[: number % 4]]:
                opened.name(same, name, visibility="private" if number % 2 else "public")
        yield opened


@pytest.mark.parametrize("viewer", [None, "ada", "ben"])
@pytest.mark.parametrize("most", [0, 1, 3, 5, 8, 11, 12, 13, 50])
@pytest.mark.parametrize("many", [0, 1000])
def test_the_first_are_those_of_the_whole_list(archive, viewer, most, many, monkeypatch):
    """However the catalogs are found: by their extent, or along the names."""
    monkeypatch.setattr(catalog_entries, "_MANY", many)
    seen = archive if viewer is None else archive.as_seen_by(viewer)
    for reference in (archive["bright"], archive["stars"], archive["a 2"]):
        with seen.context.database.reading() as reading:
            everything = sort_by_name(reading, find_same_extent(reading, reference.digest))
            first, total = list_first_of_extent(reading, reference.digest, most)
        assert [digest for digest, _ in first] == everything[:most]
        assert total == len(everything)
        for digest, name in first:
            names = seen.names_of(digest)
            assert name == (names[0] if names else None)
