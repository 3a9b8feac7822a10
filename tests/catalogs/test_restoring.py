"""What lineages mean: extents, facts and local relationships against tables of rows and against brute force."""

import json
from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from provenn.catalogs import (
    Catalog,
    ExcludeSources,
    KeepAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    cone,
    facts_of,
    restore,
)
from provenn.catalogs.restoring import definition_digest
from provenn.catalogs.verbs import CLASSES
from provenn.criteria import Atom, order_facts
from provenn.errors import DefinitionError
from provenn.logic import Knowledge, Relationship, Statement, disjoint, empty, equal, subset
from tests.catalogs.samples import (
    SET_OPERATIONS,
    Table,
    base,
    concatenations,
    derived,
    holds,
    lineages,
    values_by_identity,
)


def all_atoms(catalogs: Iterable[Catalog]) -> dict[str, Atom]:
    return {atom.label: atom for catalog in catalogs for atom in catalog.atoms()}


def all_facts(catalogs: Iterable[Catalog]) -> list[Statement]:
    return [fact for catalog in catalogs for fact in catalog.facts()]


@given(
    st.one_of(lineages(), concatenations()),
    st.randoms(use_true_random=False),
)
@settings(max_examples=300, deadline=None)
def test_an_extent_holds_the_sources_that_the_rows_of_the_table_have(tables: list[Table], random):
    """Also where bases overlap, values are NULL, and concatenations put attributes together from different ones."""
    values = values_by_identity(tables)
    universe = frozenset(range(8))
    for known in values.values():  # what no table tells must not matter
        for key in universe - set(known):
            known[key] = random.choice([None, 0.0, 3.0])
    sets = {
        label: frozenset(key for key in universe if holds(atom, key, values))
        for label, atom in all_atoms(table.catalog for table in tables).items()
    }
    sets |= {table.catalog.digest: frozenset(table.rows) for table in tables if table.catalog.kind == "Base"}
    for entry in tables:
        assert entry.catalog.extent.evaluate(sets.__getitem__, universe) == set(entry.rows), entry.catalog


@given(st.one_of(lineages(most=6, operations=SET_OPERATIONS), concatenations()))
@settings(max_examples=120, deadline=None)
def test_the_facts_entail_exactly_what_all_possible_extents_have_in_common(tables: list[Table]):
    """Brute force: a set is the regions of its leaves in which it lies; order facts rule out some regions."""
    catalogs = [table.catalog for table in tables]
    atoms = all_atoms(catalogs)
    order = order_facts(atoms.values())
    leaves = sorted({label for catalog in catalogs for label in catalog.extent.labels} | atoms.keys())
    assume(len(leaves) <= 8)
    regions = range(2 ** len(leaves))
    masks = {label: sum(1 << r for r in regions if r >> place & 1) for place, label in enumerate(leaves)}
    everything = (1 << len(regions)) - 1
    possible = everything
    for fact in order:
        part, whole = (side.evaluate(masks.__getitem__, 0, everything) for side in fact.terms())
        possible &= ~part | whole
    sets = {catalog.digest: catalog.extent.evaluate(masks.__getitem__, everything) & possible for catalog in catalogs}
    knowledge = Knowledge([*all_facts(catalogs), *order], open_universe=False)
    for item, regions_of_one in sets.items():
        assert knowledge.entails(empty(item)) == (regions_of_one == 0)
    for element, other in permutations(sets, 2):
        assert knowledge.entails(subset(element, other)) == (sets[element] & ~sets[other] == 0)
        assert knowledge.entails(disjoint(element, other)) == (sets[element] & sets[other] == 0)


@given(lineages(most=5))
@settings(max_examples=60, deadline=None)
def test_local_relationships_never_say_more_than_the_facts(tables: list[Table]):
    catalogs = [table.catalog for table in tables]
    knowledge = Knowledge(all_facts(catalogs), open_universe=False)
    for catalog in catalogs:
        assert knowledge.entails(catalog.relationship())


def conjunction(catalogs: Iterable[Catalog]) -> Relationship:
    result = Relationship.tautology()
    for catalog in catalogs:
        result &= catalog.relationship()
    return result


def test_local_relationships_of_a_chain_say_what_the_facts_say_and_no_more():
    a = base()
    b = SelectSources.of(a, "vmag < 6")
    c = SelectSources.of(b, "vmag < 8")
    knowledge = Knowledge([*all_facts([a, b, c]), *order_facts([*b.atoms(), *c.atoms()])], open_universe=False)
    local = conjunction([a, b, c])
    assert local.entails(subset(c.digest, a.digest))
    assert knowledge.relationship(a.digest, c.digest).entails(local.on(a.digest, c.digest))
    assert knowledge.entails(equal(b.digest, c.digest))
    assert not local.entails(equal(b.digest, c.digest))


def test_local_relationships_of_the_papers_diamond_prove_its_example():
    """B is selected from A, C derived from A, D both: B == D, by lineage alone."""
    a = base()
    b, c = SelectSources.of(a, "vmag < 6"), derived(a, dist_pc="1000 / plx")
    d = CLASSES["CombineAttributes"].restored({}, {}, (b, c))
    local = conjunction([a, b, c, d])
    assert local.entails(equal(b.digest, d.digest))
    knowledge = Knowledge(all_facts([a, b, c, d]), open_universe=False)
    assert knowledge.entails(equal(b.digest, d.digest))
    assert knowledge.relationship(b.digest, d.digest).entails(local.on(b.digest, d.digest))
    assert len(knowledge.explain(equal(b.digest, d.digest)).facts) == 3


def stored(content: object) -> object:
    return json.loads(json.dumps(content))


@given(st.one_of(lineages(), concatenations()))
@settings(max_examples=100, deadline=None)
def test_what_is_stored_gives_the_same_catalog_again(tables: list[Table]):
    """Digest, schema, extent, facts and atoms, through JSON, for every class; made again also from its own wording."""
    again: dict[str, Catalog] = {}
    for parsed in cone(*(table.catalog for table in tables)):
        dependencies = [again[dependency.digest] for dependency in parsed.dependencies]
        parameters, notes = stored(parsed.parameters()), stored(parsed.notes())
        catalog = restore(parsed.kind, parameters, notes, dependencies)
        again[parsed.digest] = catalog
        assert catalog == parsed
        assert type(catalog) is type(parsed)
        assert (catalog.schema, catalog.extent, catalog.population) == (parsed.schema, parsed.extent, parsed.population)
        assert (catalog.parameters(), catalog.notes()) == (parameters, notes)
        digests = [dependency.digest for dependency in dependencies]
        assert definition_digest(parsed.kind, parameters, digests) == parsed.digest
        assert facts_of(parsed.kind, parsed.digest, digests, parameters) == (parsed.facts(), parsed.atoms())
        assert parsed.on(dependencies) == parsed


def test_a_cone_names_each_catalog_once_after_its_dependencies():
    a = base()
    b, c = SelectSources.of(a, "vmag < 6"), KeepAttributes.of(a, ["vmag"])
    d = RestrictSources(b, c)
    assert cone(d) == (a, b, c, d)
    assert cone(c, d, a) == (a, c, b, d)


def test_chains_of_five_thousand_catalogs_need_no_recursion():
    """Made, restored, asked for their facts and their extent, compared, hashed, thrown away."""
    start = base()
    bright, twice = SelectSources.of(start, "vmag < 6"), derived(start, twice="2 * vmag")
    catalog: Catalog = start
    for step in range(5000):
        match step % 5:
            case 0:
                catalog = SampleSources.of(catalog, 0.5, seed=step % 50)
            case 1:
                catalog = CLASSES["ConcatSources"].restored({"overlap": None}, {}, (catalog, bright))
            case 2:
                catalog = KeepAttributes.of(catalog, ["vmag", "plx"])
            case 3:
                catalog = CLASSES["CombineAttributes"].restored({}, {}, (catalog, twice))
            case _:
                catalog = ExcludeSources(catalog, SampleSources.of(start, 0.1, seed=step % 50))
    chain = cone(catalog)
    assert len(chain) > 5000
    assert catalog.extent.evaluate(lambda _: 1, 1) in (0, 1)
    restored: dict[str, Catalog] = {}
    for element in chain:
        dependencies = [restored[dependency.digest] for dependency in element.dependencies]
        restored[element.digest] = restore(element.kind, element.parameters(), element.notes(), dependencies)
    assert hash(restored[catalog.digest]) == hash(catalog)
    assert restored[catalog.digest].extent == catalog.extent
    assert Knowledge(all_facts(chain), open_universe=False).entails(subset(catalog.digest, start.digest))


def test_a_class_that_is_not_known_is_named():
    with pytest.raises(DefinitionError, match="unknown catalog class 'ConcatSource'") as caught:
        restore("ConcatSource", {}, {}, ())
    assert "did you mean ConcatSources" in caught.value.hint
    with pytest.raises(DefinitionError, match="unknown catalog class 'Frobnicate'") as caught:
        facts_of("Frobnicate", "d", ["p"], {})
    assert "newer version" in caught.value.hint


@pytest.mark.parametrize("kind", sorted(CLASSES))
def test_parameters_that_are_not_those_of_the_class_are_refused(kind: str):
    item = base()
    with pytest.raises(DefinitionError, match=f"a {kind} cannot have these"):
        restore(kind, {"names": 5, "atoms": [1]}, {}, (item, item, item, "x"))
