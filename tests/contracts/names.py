"""What names must do, on every database."""

import pytest

from provenn.catalogs import KeepAttributes
from provenn.errors import CatalogNameError, UnknownCatalogError
from provenn.store import catalog_store, names
from provenn.store.database import open_database
from tests.catalogs.samples import base

ONE = base()
TWO = KeepAttributes.of(ONE, ["hip"])


class NamesContract:
    @pytest.fixture
    def filled(self, database):
        with database.writing() as writing:
            catalog_store.add(writing, TWO)
        return database

    def test_a_name_finds_its_catalog_and_is_listed_with_who_and_when(self, filled):
        with filled.writing() as writing:
            names.assign(writing, "stars", ONE.digest)
            names.assign(writing, "keys", TWO.digest)
            names.assign(writing, "Stars", TWO.digest)
        with filled.reading() as reading:
            assert names.find(reading, "stars") == ONE.digest
            assert names.find(reading, "STARS") is None
            assert {one.name: one.catalog for one in names.listing(reading)} == {
                "stars": ONE.digest,
                "keys": TWO.digest,
                "Stars": TWO.digest,
            }
            assert {(one.changed_by, one.changed_at) for one in names.listing(reading)} == {("Ada", writing.when)}
            assert names.names_of(reading, [ONE.digest, TWO.digest, "0" * 64]) == {
                ONE.digest: ("stars",),
                TWO.digest: ("Stars", "keys"),
            }

    def test_a_name_that_is_taken_is_not_taken_away(self, filled):
        with filled.writing() as writing:
            names.assign(writing, "stars", ONE.digest)
            with pytest.raises(CatalogNameError, match=f"stars is the name of the catalog {ONE.digest[:12]}"):
                names.assign(writing, "stars", TWO.digest)
            assert names.find(writing, "stars") == ONE.digest

    def test_the_same_again_leaves_no_trace(self, filled):
        with filled.writing() as writing:
            names.assign(writing, "stars", ONE.digest)
            names.assign(writing, "stars", ONE.digest)
            names.move(writing, "stars", ONE.digest)
            assert len(names.log(writing, "stars")) == 1

    def test_the_history_tells_everything_latest_first(self, place):
        def change(who, what, *arguments):
            with open_database(place, who=who) as database, database.writing() as writing:
                catalog_store.add(writing, TWO)
                what(writing, "stars", *arguments)
                return writing.when

        first = change("Ada", names.assign, ONE.digest)
        second = change("Grace", names.move, TWO.digest)
        third = change("Ada", names.remove)
        fourth = change("Grace", names.assign, TWO.digest)
        with open_database(place) as database, database.reading() as reading:
            assert names.log(reading, "stars") == [
                names.Change("stars", TWO.digest, fourth, "Grace"),
                names.Change("stars", None, third, "Ada"),
                names.Change("stars", TWO.digest, second, "Grace"),
                names.Change("stars", ONE.digest, first, "Ada"),
            ]

    def test_deleting_a_name_deletes_no_catalog_and_no_history(self, filled):
        with filled.writing() as writing:
            names.assign(writing, "stars", ONE.digest)
            names.remove(writing, "stars")
            assert names.find(writing, "stars") is None
            assert names.listing(writing) == []
            assert catalog_store.get(writing, ONE.digest) == ONE
            assert [one.catalog for one in names.log(writing, "stars")] == [None, ONE.digest]

    def test_a_name_that_there_is_not_is_an_error_that_says_which_was_meant(self, filled):
        with filled.writing() as writing:
            names.assign(writing, "bright_stars", ONE.digest)
            for attempt in (
                lambda: names.move(writing, "brigt_stars", ONE.digest),
                lambda: names.remove(writing, "brigt_stars"),
                lambda: names.log(writing, "brigt_stars"),
            ):
                with pytest.raises(UnknownCatalogError, match=r"'brigt_stars'\ndid you mean bright_stars\?"):
                    attempt()
            for name in ("something else", "", "a\0b", "\ud800", "%"):
                with pytest.raises(UnknownCatalogError, match="no catalog is called"):
                    names.remove(writing, name)

    def test_a_catalog_that_there_is_not_cannot_be_named(self, filled):
        with filled.writing() as writing:
            names.assign(writing, "stars", ONE.digest)
            for attempt in (names.assign, names.move):
                with pytest.raises(UnknownCatalogError, match="0000"):
                    attempt(writing, "stars" if attempt is names.move else "new", "0" * 64)
            assert names.find(writing, "stars") == ONE.digest
            assert names.find(writing, "new") is None

    @pytest.mark.parametrize("name", ["", " ", " x", "x ", "a\nb", "a\0b", "x" * 201, "0123456789abcdef" * 4])
    def test_an_unfit_name_is_refused(self, filled, name):
        with filled.writing() as writing, pytest.raises(CatalogNameError, match="cannot name a catalog"):
            names.assign(writing, name, ONE.digest)

    @pytest.mark.parametrize(
        "name", ["x", "hipparcos 1997", "B-V < 0.5", "星", "ünï", "'; DROP TABLE names; --", "a" * 200]
    )
    def test_any_other_name_will_do(self, filled, name):
        with filled.writing() as writing:
            names.assign(writing, name, ONE.digest)
            assert names.find(writing, name) == ONE.digest
            assert len(names.log(writing, name)) == 1
