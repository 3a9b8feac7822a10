"""What lists of catalogs must do, on every database."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.catalogs import KeepAttributes, RenameAttributes, SelectSources
from provenn.definitions import catalog_names, catalog_store, populations
from provenn.definitions.populations import list_population_names
from provenn.definitions.search import CatalogFilter, count_matches, list_owners, search_catalogs
from provenn.formats.opening import open_database
from tests.catalogs.samples import base
from tests.contracts.catalog_store import checked

STARS = base()
GALAXIES = base("galaxies", {"pgc": "bigint", "z": "double"}, key="pgc", population="galaxy")
BRIGHT = SelectSources.of(STARS, "VMAG < 6")
RENAMED = RenameAttributes.of(BRIGHT, {"vmag": "Größe_50%"})
EVERYTHING = {STARS.digest, BRIGHT.digest, GALAXIES.digest, RENAMED.digest}

odd_texts = st.one_of(
    st.text(st.characters(exclude_categories=())),  # lone surrogates and NUL included
    st.sampled_from(
        ["%", "_", "\\", "/", "'", '"', "'; DROP TABLE catalogs; --", "\0", "\ud800", "\U0001f30c", "a" * 9999]
    ),
)


def found(reading, *arguments, **options):
    """The digests of what is found, which is what is counted."""
    which = CatalogFilter(*arguments, **options)
    listed = [catalog.digest for catalog in search_catalogs(reading, which)]
    assert count_matches(reading, which) == len(listed) == len(set(listed))
    for sort in ("oldest", "name"):
        assert {catalog.digest for catalog in search_catalogs(reading, which, sort=sort)} == set(listed)
    return set(listed)


class SearchContract:
    @pytest.fixture
    def filled(self, database):
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, RENAMED, GALAXIES)
            catalog_names.assign_name(writing, "Nearby_Galaxies", GALAXIES.digest)
            catalog_names.assign_name(writing, "100%", STARS.digest)
        return database

    def test_names_and_the_users_own_words_are_found(self, filled):
        with filled.reading() as reading:
            assert found(reading) == EVERYTHING
            assert found(reading, "vmag <") == {BRIGHT.digest}
            assert found(reading, "nearby_g") == {GALAXIES.digest}
            assert found(reading, "nearbyXg") == set()
            assert found(reading, "%") == {STARS.digest}
            assert found(reading, "fingerprints") == set(), "that is a word of ours"
            assert found(reading, GALAXIES.files.location.upper()) == {GALAXIES.digest}

    def test_the_beginning_of_a_digest_is_found(self, filled):
        with filled.reading() as reading:
            for item in EVERYTHING:
                assert item in found(reading, item[:4])
                assert found(reading, item) == {item}
                assert found(reading, item[:20].upper()) == {item}

    def test_conditions_are_all_fulfilled(self, filled):
        with filled.reading() as reading:
            assert found(reading, population="galaxy") == {GALAXIES.digest}
            assert found(reading, kind="SelectSources") == {BRIGHT.digest}
            assert found(reading, "vmag", kind="Base") == set()
            assert found(reading, named=True) == {STARS.digest, GALAXIES.digest}
            assert found(reading, named=True, population="star") == {STARS.digest}
            assert found(reading, owner="Ada") == EVERYTHING
            assert found(reading, owner="ada") == set()

    def test_attributes_are_found_by_name_or_its_beginning_wherever_they_come_from(self, filled):
        with filled.reading() as reading:
            assert found(reading, attribute="vmag") == {STARS.digest, BRIGHT.digest}
            assert found(reading, attribute="VM") == {STARS.digest, BRIGHT.digest}
            assert found(reading, attribute="mag") == set(), "it is in the middle"
            assert found(reading, attribute="GRÖSSE_50%") == {RENAMED.digest}
            assert found(reading, attribute="größe_5") == {RENAMED.digest}
            assert found(reading, attribute="größe_5_") == set(), "nothing stands for any letter"
            assert found(reading, attribute="%") == set()
            assert found(reading, attribute="z", population="star") == set()
            assert found(reading, attribute="") == EVERYTHING

    def test_an_entry_tells_what_a_list_shows(self, filled):
        with filled.reading() as reading:
            (entry,) = search_catalogs(reading, CatalogFilter("100%"))
            assert (entry.names, entry.kind, entry.population, entry.created_by) == (("100%",), "Base", "star", "Ada")
            assert entry.attributes == len(STARS.schema.names)
            entries = catalog_store.find_entries(reading, [GALAXIES.digest, BRIGHT.digest, "0" * 64])
            assert {digest: (item.names, item.attributes) for digest, item in entries.items()} == {
                GALAXIES.digest: (("Nearby_Galaxies",), 2),
                BRIGHT.digest: ((), len(BRIGHT.schema.names)),
            }
            assert catalog_store.count_catalogs(reading) == 4
            assert populations.find_catalogs_in_population(reading, "galaxy") == {GALAXIES.digest}
            assert populations.find_population(reading, "galaxy") == GALAXIES.population
            assert populations.find_population(reading, "quasar") is None

    def test_every_catalog_is_on_one_page_in_every_order(self, place):
        added = []
        for number in range(7):
            with open_database(place, who=f"user {number % 2}") as database, database.writing() as writing:
                catalog = SelectSources.of(STARS, f"hip < {number}")
                catalog_store.add_catalogs(writing, catalog, KeepAttributes.of(catalog, ["hip"]))
                added.append(catalog.digest)
                if number % 3 == 0:
                    catalog_names.assign_name(writing, f"name {9 - number}", catalog.digest)
                    catalog_names.assign_name(writing, f"other {number}", catalog.digest)
        with open_database(place) as database, database.reading() as reading:

            def pages(which, sort, size):
                all_pages = (
                    search_catalogs(reading, which, sort=sort, start=start, most=size) for start in range(0, 20, size)
                )
                return [item.digest for page in all_pages for item in page]

            for which in (
                CatalogFilter(),
                CatalogFilter(attribute="vmag"),
                CatalogFilter(owner="user 1"),
                CatalogFilter(named=True),
                CatalogFilter("hip"),
            ):
                newest = pages(which, "newest", 100)
                assert [item for item in newest if item in added] == [
                    element for element in reversed(added) if element in newest
                ]
                assert pages(which, "oldest", 100) == newest[::-1]
                by_name = pages(which, "name", 100)
                named = [added[number] for number in (6, 3, 0) if added[number] in newest]
                assert by_name == named + [item for item in newest if item not in named]
                for size in (1, 2, 3, 5):
                    assert pages(which, "newest", size) == newest
                    assert pages(which, "name", size) == by_name
            assert list_owners(reading) == ("user 0", "user 1")
            assert list_population_names(reading) == ("star",)
            for start, most in ((-5, 3), (0, -1), (10**30, 1), (0, 10**30)):
                assert len(search_catalogs(reading, CatalogFilter(), start=start, most=most)) in (0, 3, 15)

    def test_catalogs_that_have_the_same_attributes_share_their_list(self, filled):
        with filled.writing() as writing:
            again = SelectSources.of(STARS, "hip < 3")
            catalog_store.add_catalogs(writing, again, KeepAttributes.of(again, ["hip"]))
            assert found(writing, attribute="vmag") == {STARS.digest, BRIGHT.digest, again.digest}

    @checked
    @given(text=odd_texts, field=st.sampled_from(["text", "kind", "population", "attribute", "owner"]))
    def test_no_text_is_refused(self, filled, text, field):
        with filled.reading() as reading:
            which = replace(CatalogFilter(), **{field: text})
            assert count_matches(reading, which) == len(search_catalogs(reading, which))
            assert search_catalogs(reading, which, sort="name", start=1, most=3) is not None
