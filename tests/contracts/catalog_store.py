"""What storing catalogs must do, on every database."""

from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import event, func, select

from provenn.catalogs import KeepAttributes, SelectSources, cone
from provenn.database.tables import catalogs, dependencies
from provenn.definitions import base_locations, catalog_entries, catalog_names, catalog_store, search
from provenn.definitions.ancestors import read_cone as stored_cone
from provenn.definitions.descendants import find_descendants
from provenn.errors import PopulationError, UnknownCatalogError
from provenn.formats.opening import open_database
from tests.catalogs.samples import base, lineages

checked = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors, HealthCheck.too_slow],
)


def count(reading, table=catalogs):
    return reading.connection.scalar(select(func.count()).select_from(table))


def chain(length, start=None):
    """Catalogs made from one another, all of the same sources."""
    results = [start or base()]
    for _ in range(length):
        results.append(KeepAttributes.of(results[-1], ["hip"]))
    return results


class Undo(Exception):  # noqa: N818 - not an error
    """Ends a transaction as if it had never been."""


@contextmanager
def undone(database):
    """A transaction that leaves nothing, for the next example to find."""
    with suppress(Undo), database.writing() as writing:
        yield writing
        raise Undo


@contextmanager
def counted_queries(database):
    """The queries that are sent."""
    sent = []

    def note(_connection, _cursor, query, *_rest):
        sent.append(query)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


class CatalogStoreContract:
    @checked
    @given(tables=lineages(most=10))
    def test_what_was_added_comes_back_as_it_was(self, database, tables):
        """Every class, every attribute, what each says of sets, and of several wordings of one definition the first."""
        written = {}
        for entry in tables:
            written.setdefault(entry.catalog.digest, []).append(entry.catalog)
        with undone(database) as writing:
            catalog_store.add_catalogs(writing, *(table.catalog for table in tables))
            result = catalog_store.get_catalogs(writing, written)
            for catalog in cone(*(table.catalog for table in tables)):
                restored = result[catalog.digest]
                assert restored == catalog
                assert restored.kind == catalog.kind
                assert restored.dependencies == catalog.dependencies
                assert restored.schema == catalog.schema
                assert restored.extent == catalog.extent
                assert restored.population == catalog.population
                assert restored.facts() == catalog.facts()
                assert restored.atoms() == catalog.atoms()
                assert restored.notes() in [item.notes() for item in written[catalog.digest]]

    @checked
    @given(tables=lineages())
    def test_a_cone_holds_the_ancestors_and_nothing_else_dependencies_first(self, database, tables):
        wanted = tables[-1].catalog
        with undone(database) as writing:
            catalog_store.add_catalogs(writing, *(table.catalog for table in tables))
            rows = stored_cone(writing, [wanted.digest])
            descending = {table.catalog.digest: find_descendants(writing, table.catalog.digest) for table in tables}
        assert {row.digest for row in rows} == {catalog.digest for catalog in cone(wanted)}
        seen = set()
        for row in rows:
            assert seen.issuperset(row.dependencies)
            seen.add(row.digest)
        for digest, result in descending.items():
            below = {
                table.catalog.digest for table in tables if digest in {part.digest for part in cone(table.catalog)}
            }
            assert set(result) == below - {digest}

    def test_a_catalog_comes_with_its_ancestors_and_is_added_once(self, database):
        faint = SelectSources.of(SelectSources.of(base(), "vmag > 6"), "plx > 1")
        with database.writing() as writing:
            assert catalog_store.add_catalogs(writing, faint) == 3
            assert catalog_store.add_catalogs(writing, faint, faint.parent) == 0
            again = SelectSources.of(SelectSources.of(base(), "6 < vmag"), "plx > 1.0")
            assert catalog_store.add_catalogs(writing, again) == 0
            assert count(writing) == 3

    def test_who_added_a_catalog_first_is_kept(self, place):
        for who in ("Ada", "Grace"):
            with open_database(place, who=who) as database, database.writing() as writing:
                catalog_store.add_catalogs(writing, base())
        with open_database(place) as database, database.reading() as reading:
            (entry,) = search.search_catalogs(reading, search.CatalogFilter())
            assert entry.created_by == "Ada"

    def test_a_long_chain_is_added_and_read_without_recursion_in_a_few_queries(self, database):
        result = chain(3000)
        with counted_queries(database) as sent, database.writing() as writing:
            assert catalog_store.add_catalogs(writing, result[-1]) == 3001
        assert len(sent) < 40
        with counted_queries(database) as sent, database.reading() as reading:
            assert catalog_store.get_catalog(reading, result[-1].digest) == result[-1]
        assert len(sent) < 5

    def test_one_more_on_a_long_chain_asks_for_no_more_than_it_needs(self, database):
        result = chain(300)
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, result[-1])
        with counted_queries(database) as sent, database.writing() as writing:
            assert catalog_store.add_catalogs(writing, SelectSources.of(result[-1], "hip < 5")) == 1
        assert len(sent) <= 13, sent

    def test_of_two_ways_to_the_missing_ancestors_none_is_forgotten(self, database):
        first, two = chain(5, base("one")), chain(9, base("two"))
        both = SelectSources.of(first[-1], "hip < 3"), SelectSources.of(two[-1], "hip < 3")
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, first[3], two[6])
            assert catalog_store.add_catalogs(writing, *both) == 2 + 3 + 2
            assert count(writing) == 6 + 10 + 2
            assert count(writing, dependencies) == 5 + 9 + 2

    def test_a_population_has_one_key(self, database):
        other = base("texts", {"hip": "string"})
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, base())
        with (
            pytest.raises(PopulationError, match=r'star has the key \["bigint"\] in this archive, not \["string"\]'),
            database.writing() as writing,
        ):
            catalog_store.add_catalogs(writing, other)
        with database.reading() as reading:
            assert count(reading) == 1

    def test_an_unknown_catalog_is_named(self, database):
        with database.reading() as reading:
            with pytest.raises(UnknownCatalogError, match="0000"):
                catalog_store.get_catalog(reading, "0" * 64)
            with pytest.raises(UnknownCatalogError, match="0000"):
                stored_cone(reading, ["0" * 64])

    def test_no_catalogs_have_no_ancestors(self, database):
        with database.reading() as reading:
            assert catalog_store.get_catalogs(reading, []) == {}

    def test_a_name_or_the_beginning_of_a_digest_finds_a_catalog(self, database):
        result = chain(300)
        digests = sorted(catalog.digest for catalog in result)
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, result[-1])
            catalog_names.assign_name(writing, "bright", digests[0])
            catalog_names.assign_name(writing, digests[1][:6], digests[2])
            assert catalog_store.resolve_catalog(writing, "bright") == digests[0]
            assert catalog_store.resolve_catalog(writing, digests[-1]) == digests[-1]
            assert catalog_store.resolve_catalog(writing, digests[5][:20]) == digests[5]
            assert catalog_store.resolve_catalog(writing, digests[1][:6]) == digests[2], "a name comes first"
            for word in (digests[5][:3], "xyz!", "f" * 63):
                with pytest.raises(UnknownCatalogError, match=word):
                    catalog_store.resolve_catalog(writing, word)
            with pytest.raises(UnknownCatalogError, match=r"did you mean bright\?"):
                catalog_store.resolve_catalog(writing, "brigth")

    def test_a_beginning_that_several_digests_share_is_refused(self, database, monkeypatch):
        monkeypatch.setattr(catalog_entries, "SHORTEST_DIGEST", 1)
        result = chain(60)
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, result[-1])
            first = result[0].digest
            shared = next(
                first[:n]
                for n in range(3, 0, -1)
                if sum(catalog.digest.startswith(first[:n]) for catalog in result) > 1
            )
            with pytest.raises(UnknownCatalogError, match=f"several digests begin with {shared}"):
                catalog_store.resolve_catalog(writing, shared)

    def test_catalogs_of_the_same_sources_by_construction_are_looked_up(self, database):
        stars = base()
        catalog = SelectSources.of(SelectSources.of(stars, "vmag < 6"), "plx > 1")
        two = SelectSources.of(SelectSources.of(stars, "plx > 1"), "vmag < 6")
        kept = KeepAttributes.of(two, ["hip"])
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, catalog, two, kept)
            assert catalog_store.find_same_extent(writing, catalog.digest) == tuple(sorted([two.digest, kept.digest]))
            assert catalog_store.find_same_extent(writing, stars.digest) == ()

    def test_where_base_files_were_last_seen_is_kept_beside_the_definition(self, place):
        stars = base()
        with open_database(place, who="Ada") as database, database.writing() as writing:
            catalog_store.add_catalogs(writing, SelectSources.of(stars, "hip < 3"))
            assert base_locations.find_base_location(writing, stars.digest) == base_locations.BaseLocation(
                stars.files.location, None, writing.when, "Ada"
            )
            with pytest.raises(UnknownCatalogError):
                base_locations.find_base_location(writing, "0" * 64)
        moved = replace(stars, files=replace(stars.files, location="/elsewhere/hip.parquet"))
        assert moved == stars
        with open_database(place, who="Grace") as database, database.writing() as writing:
            assert catalog_store.add_catalogs(writing, moved) == 0
            assert base_locations.find_base_location(writing, stars.digest).location == stars.files.location
            base_locations.record_current_location(writing, moved)
            seen = base_locations.find_base_location(writing, stars.digest)
            assert (seen.location, seen.seen_by, seen.seen_at) == ("/elsewhere/hip.parquet", "Grace", writing.when)
            assert catalog_store.get_catalog(writing, stars.digest).files.location == "/elsewhere/hip.parquet"
            assert search.count_matches(writing, search.CatalogFilter("elsewhere/HIP")) == 1
            assert search.count_matches(writing, search.CatalogFilter(stars.files.location)) == 0
            with pytest.raises(UnknownCatalogError):
                base_locations.record_current_location(writing, base("unknown"))
