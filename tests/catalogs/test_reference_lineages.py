"""What lineages of several populations mean: extents and identities against rows, and rows against DuckDB."""

import json
from random import Random

import pytest

from provenn.catalogs import Catalog, cone, facts_of, restore
from provenn.catalogs.restoring import definition_digest
from provenn.logic import Knowledge
from tests.catalogs.reference_samples import Table, build_arrow_tables, reference_lineages
from tests.catalogs.reference_worlds import ReferenceWorld, plain_value
from tests.spark.oracle import Oracle


def repeat(quick: int, many: int):
    """Run a test with some seeds; with many more in a campaign."""
    return pytest.mark.parametrize(
        "seeds",
        [
            pytest.param(range(quick), id="quick"),
            pytest.param(range(quick, many), id="campaign", marks=pytest.mark.campaign),
        ],
    )


@repeat(250, 20_000)
def test_an_extent_holds_the_sources_that_the_rows_of_the_table_have(seeds):
    """Through lookups, groups, first sources and elements, with NULL and dangling references, in any order."""
    for seed in seeds:
        random = Random(seed)
        tables = reference_lineages(random, 10)
        world = ReferenceWorld(tables, random)
        for table in tables:
            sources = world.find_sources(table.catalog.population.name, table.catalog.extent)
            assert sources == set(table.rows), (seed, table)


@repeat(400, 20_000)
def test_an_attribute_has_one_value_of_a_source_wherever_it_comes_from(seeds):
    """Above all an aggregate: where two catalogs have the same attribute, the members of groups are equal."""
    shared = 0
    for seed in seeds:
        tables = reference_lineages(Random(seed), 12)
        values: dict[tuple[str, str, object], object] = {}
        for table in tables:
            for attribute in table.catalog.schema.attributes:
                for key, row in table.rows.items():
                    value = plain_value(row[attribute.name])
                    place = table.catalog.population.name, attribute.identity, key
                    shared += place in values and not attribute.identity.startswith("key:")
                    assert values.setdefault(place, value) == value, (seed, table, attribute.name)
    assert shared > len(seeds)


@repeat(250, 5_000)
def test_an_attribute_that_is_said_to_have_a_value_has_one(seeds):
    for seed in seeds:
        for table in reference_lineages(Random(seed), 10):
            for attribute in table.catalog.schema.attributes:
                if not attribute.nullable:
                    assert None not in [row[attribute.name] for row in table.rows.values()], (seed, table)


@repeat(25, 3_000)
def test_duckdb_gives_the_same_rows(seeds):
    for seed in seeds:
        tables = reference_lineages(Random(seed), 12)
        oracle = Oracle(build_arrow_tables(tables))
        for table in tables:
            columns = oracle.table(table.catalog).columns
            rows = {tuple(map(plain_value, row)) for row in zip(*(c.to_pylist() for c in columns), strict=True)}
            assert rows == _list_rows(table), (seed, table)
            assert len(columns[0]) == len(table.rows)


def _list_rows(table: Table) -> set[tuple[object, ...]]:
    names = table.catalog.schema.names
    return {tuple(plain_value(row[name]) for name in names) for row in table.rows.values()}


@repeat(80, 2_000)
def test_what_is_stored_gives_the_same_catalog_again(seeds):
    """Digest, schema, extent, facts and atoms, through JSON; made again also from its own wording."""
    for seed in seeds:
        again: dict[str, Catalog] = {}
        for catalog in cone(*(table.catalog for table in reference_lineages(Random(seed), 10))):
            dependencies = [again[dependency.digest] for dependency in catalog.dependencies]
            parameters, notes = (json.loads(json.dumps(part)) for part in (catalog.parameters(), catalog.notes()))
            restored = restore(catalog.kind, parameters, notes, dependencies)
            again[catalog.digest] = restored
            assert (restored, type(restored)) == (catalog, type(catalog))
            assert (restored.schema, restored.extent) == (catalog.schema, catalog.extent)
            assert (restored.population, restored.notes()) == (catalog.population, notes)
            digests = [dependency.digest for dependency in dependencies]
            assert definition_digest(catalog.kind, parameters, digests) == catalog.digest
            assert facts_of(catalog.kind, catalog.digest, digests, parameters) == (catalog.facts(), catalog.atoms())
            assert catalog.on(dependencies) == catalog


@repeat(60, 1_000)
def test_exchanged_definitions_give_the_same_catalog_again(seeds):
    for seed in seeds:
        for table in reference_lineages(Random(seed), 10):
            catalog = table.catalog
            if catalog.dependencies:
                verb, options = catalog.exchange_form()
                exchanged = json.loads(json.dumps(options))
                again = type(catalog).from_exchange(verb, exchanged, list(catalog.dependencies))
                assert again.extent == catalog.extent, (seed, table)
                assert again.schema.by_identity.keys() == catalog.schema.by_identity.keys(), (seed, table)


@repeat(60, 1_000)
def test_local_relationships_never_say_more_than_the_facts(seeds):
    for seed in seeds:
        catalogs = [table.catalog for table in reference_lineages(Random(seed), 8)]
        knowledge = Knowledge([fact for catalog in catalogs for fact in catalog.facts()], open_universe=False)
        for catalog in catalogs:
            assert knowledge.entails(catalog.relationship()), (seed, catalog)


@repeat(60, 1_000)
def test_every_attribute_has_origins_in_the_dependencies(seeds):
    for seed in seeds:
        for table in reference_lineages(Random(seed), 10):
            catalog = table.catalog
            if not catalog.dependencies:
                continue
            parts = {dependency.digest: dependency.schema for dependency in catalog.dependencies}
            traced = catalog.trace_attributes()
            assert list(traced) == list(catalog.schema.names), (seed, table)
            for origin in (*catalog.trace_selection(), *(one for origins in traced.values() for one in origins)):
                assert origin.attribute in parts[origin.catalog].names, (seed, table)
