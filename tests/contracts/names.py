"""What names must do, on every database."""

import pytest
from sqlalchemy import update

from provenn.catalogs import KeepAttributes
from provenn.database.tables import name_history, names
from provenn.definitions import catalog_names, catalog_store, naming_history
from provenn.errors import CatalogNameError, UnknownCatalogError
from provenn.formats.opening import open_database
from tests.catalogs.samples import base

ONE = base()
TWO = KeepAttributes.of(ONE, ["hip"])


class NamesContract:
    @pytest.fixture
    def filled(self, database):
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, TWO)
        return database

    def test_a_name_finds_its_catalog_and_is_listed_with_who_and_when(self, filled):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, "stars", ONE.digest)
            catalog_names.assign_name(writing, "keys", TWO.digest)
            catalog_names.assign_name(writing, "Stars", TWO.digest)
        with filled.reading() as reading:
            assert catalog_names.find_named_digest(reading, "stars") == ONE.digest
            assert catalog_names.find_named_digest(reading, "STARS") is None
            assert {name.name: name.catalog for name in catalog_names.list_names(reading)} == {
                "stars": ONE.digest,
                "keys": TWO.digest,
                "Stars": TWO.digest,
            }
            assert {(name.changed_by, name.changed_at) for name in catalog_names.list_names(reading)} == {
                ("Ada", writing.when)
            }
            assert catalog_names.find_names_by_digest(reading, [ONE.digest, TWO.digest, "0" * 64]) == {
                ONE.digest: ("stars",),
                TWO.digest: ("Stars", "keys"),
            }

    def test_a_name_that_is_taken_is_not_taken_away(self, filled):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, "stars", ONE.digest)
            with pytest.raises(CatalogNameError, match=f"stars already names the catalog {ONE.digest[:12]}"):
                catalog_names.assign_name(writing, "stars", TWO.digest)
            assert catalog_names.find_named_digest(writing, "stars") == ONE.digest

    def test_the_same_again_leaves_no_trace(self, filled):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, "stars", ONE.digest)
            catalog_names.assign_name(writing, "stars", ONE.digest)
            catalog_names.move_name(writing, "stars", ONE.digest)
            assert len(naming_history.read_name_history(writing, "stars")) == 1

    def test_the_history_tells_everything_latest_first(self, place):
        def change(who, what, *arguments):
            with open_database(place, who=who) as database, database.writing() as writing:
                catalog_store.add_catalogs(writing, TWO)
                what(writing, "stars", *arguments)
                return writing.when

        first = change("Ada", catalog_names.assign_name, ONE.digest)
        second = change("Grace", catalog_names.move_name, TWO.digest)
        third = change("Ada", catalog_names.remove_name)
        fourth = change("Grace", catalog_names.assign_name, TWO.digest)
        with open_database(place) as database, database.reading() as reading:
            assert naming_history.read_name_history(reading, "stars") == [
                naming_history.NameChange("stars", TWO.digest, fourth, "Grace"),
                naming_history.NameChange("stars", None, third, "Ada"),
                naming_history.NameChange("stars", TWO.digest, second, "Grace"),
                naming_history.NameChange("stars", ONE.digest, first, "Ada"),
            ]

    def test_deleting_a_name_deletes_no_catalog_and_no_history(self, filled):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, "stars", ONE.digest)
            catalog_names.remove_name(writing, "stars")
            assert catalog_names.find_named_digest(writing, "stars") is None
            assert catalog_names.list_names(writing) == []
            assert catalog_store.get_catalog(writing, ONE.digest) == ONE
            assert [change.catalog for change in naming_history.read_name_history(writing, "stars")] == [
                None,
                ONE.digest,
            ]

    def test_a_name_that_there_is_not_is_an_error_that_says_which_was_meant(self, filled):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, "bright_stars", ONE.digest)
            for attempt in (
                lambda: catalog_names.move_name(writing, "brigt_stars", ONE.digest),
                lambda: catalog_names.remove_name(writing, "brigt_stars"),
                lambda: naming_history.read_name_history(writing, "brigt_stars"),
            ):
                with pytest.raises(UnknownCatalogError, match=r"'brigt_stars'\ndid you mean bright_stars\?"):
                    attempt()
            for name in ("something else", "", "a\0b", "\ud800", "%"):
                with pytest.raises(UnknownCatalogError, match="no catalog is named"):
                    catalog_names.remove_name(writing, name)

    def test_a_catalog_that_there_is_not_cannot_be_named(self, filled):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, "stars", ONE.digest)
            for attempt in (catalog_names.assign_name, catalog_names.move_name):
                with pytest.raises(UnknownCatalogError, match="0000"):
                    attempt(writing, "stars" if attempt is catalog_names.move_name else "new", "0" * 64)
            assert catalog_names.find_named_digest(writing, "stars") == ONE.digest
            assert catalog_names.find_named_digest(writing, "new") is None

    @pytest.mark.parametrize("name", ["", " ", " x", "x ", "a\nb", "a\0b", "x" * 201, "0123456789abcdef" * 4, "-x"])
    def test_an_unfit_name_is_refused(self, filled, name):
        with filled.writing() as writing, pytest.raises(CatalogNameError, match="cannot name a catalog"):
            catalog_names.assign_name(writing, name, ONE.digest)
        with filled.writing() as writing, pytest.raises(CatalogNameError, match="cannot name a catalog"):
            catalog_names.assign_names(writing, {name: ONE.digest})

    def test_a_name_of_an_earlier_version_that_begins_with_a_dash_is_used_on(self, filled):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, "x", ONE.digest)
            for table in (names, name_history):
                writing.connection.execute(update(table).where(table.c.name == "x").values(name="-x"))
            catalog_names.assign_name(writing, "-x", ONE.digest, visibility="public")
            catalog_names.assign_names(writing, {"-x": ONE.digest})
            catalog_names.move_name(writing, "-x", ONE.digest)
            assert catalog_names.find_named_digest(writing, "-x") == ONE.digest
            catalog_names.remove_name(writing, "-x")
            assert catalog_names.find_named_digest(writing, "-x") is None

    @pytest.mark.parametrize(
        "name", ["x", "hipparcos 1997", "B-V < 0.5", "星", "ünï", "'; DROP TABLE names; --", "a" * 200]
    )
    def test_any_other_name_will_do(self, filled, name):
        with filled.writing() as writing:
            catalog_names.assign_name(writing, name, ONE.digest)
            assert catalog_names.find_named_digest(writing, name) == ONE.digest
            assert len(naming_history.read_name_history(writing, name)) == 1
