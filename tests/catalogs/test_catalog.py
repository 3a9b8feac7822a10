"""What every catalog is: identity, equality, local relationships."""

import json

import pytest

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    ExplodeArrays,
    FirstSources,
    GroupSources,
    HavingSources,
    KeepAttributes,
    LookupAttributes,
    MatchedSources,
    OpaqueQuery,
    OpaqueSelection,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    cone,
)
from provenn.catalogs.verbs import CLASSES
from provenn.errors import BudgetError, DefinitionError, PopulationError
from provenn.logic import Relationship
from tests.catalogs.populations import CURVES, DETECTIONS, OBJECTS
from tests.catalogs.samples import base, derived

A = base()
BRIGHT = SelectSources.of(A, "vmag < 6")
NEAR = SelectSources.of(A, "plx > 100")
COLUMNS = [("mag", "double", True), ("n", "bigint", False)]
PAIRS = CrossMatch.of(BRIGHT, A, 2, on=("vmag", "plx"))

ONE_OF_EACH: dict[type[Catalog], tuple[Catalog, str, int]] = {
    Base: (A, "146c5ba116446e7236daa0309ce4e0245ff0d07a80d26f38ed44dff878b6635d", 4),
    SelectSources: (BRIGHT, "65be57ac08edf8b395e8c02a93981b0c1c0553b8b905d312bde782716cf29b6e", 8),
    RestrictSources: (
        RestrictSources(BRIGHT, NEAR),
        "13d6b9ad60bee01397ab888f58fa660b8eeecfe1d7f19ebc013448af59cd3fe3",
        16,
    ),
    ExcludeSources: (ExcludeSources(A, BRIGHT), "a34db3c2f1ea91e4c31203f141231f697401b1277fa5434ed34ce5a1c2af363b", 16),
    SampleSources: (
        SampleSources.of(A, 0.1, seed=1),
        "ccdd48cbfa9bb0eaa75f3804943a14cb9ee6fa344ef1a4930b0a11139aac0c39",
        8,
    ),
    KeepAttributes: (
        KeepAttributes.of(A, ["vmag"]),
        "af9725cc2ad1130aa2d16bd2ad216d930e91a6603441fede2d585dd5ab4ab1c4",
        4,
    ),
    RenameAttributes: (
        RenameAttributes.of(A, {"vmag": "v"}),
        "6bf6de5fca4a630c3aef1d0cf3f3bb984a868bff0c8f163b37051b267d54cbd6",
        4,
    ),
    DeriveAttributes: (
        derived(A, dist_pc="1000 / plx"),
        "1cd5663e9bd1edaeb70d54d395df965fcef36e2464b27dd0732adc03f1a39e9d",
        4,
    ),
    CombineAttributes: (
        CombineAttributes.of(BRIGHT, derived(A, dist_pc="1000 / plx")),
        "a8fae31c9d55c150689f03a559e083eec3444207ef38b303dd2183bb8c6c9e83",
        16,
    ),
    ConcatSources: (
        ConcatSources.of(BRIGHT, NEAR),
        "4fbf8d177e10766d12d809ac95a3f29a4bda49af9ffa998cc178de4f1bdeffe4",
        16,
    ),
    CrossMatch: (PAIRS, "2c02d4e3fdfaef3b5b6386376f995ad24c8ab4135b89363dfe848d67c2b71bac", 256),
    MatchedSources: (
        MatchedSources.of(PAIRS, "left"),
        "18358d6a6531ead76ed5115bfdb0788a9e2b52ec1e48e853bf448cd444e3fe58",
        64,
    ),
    LookupAttributes: (
        LookupAttributes.of(DETECTIONS, OBJECTS, on="objid", attributes=["vmag"], missing="drop"),
        "f645f68c3dfc6fadde029546296af168d979c9e06a7d06d8d5e1b767a947bfd7",
        64,
    ),
    HavingSources: (
        HavingSources.of(OBJECTS, DETECTIONS, on="objid"),
        "9c7207426e7d3dfc2ba6272c5bb821efb241d4aaf4c0468d91acc324b32f2c2d",
        64,
    ),
    GroupSources: (
        GroupSources.of(DETECTIONS, "objid", {"n": "count(*)"}, population="object"),
        "29cda622838e066afbcb44cfd0df924c201eed4f7dd7f56c63ed39edafd01672",
        16,
    ),
    FirstSources: (
        FirstSources.of(DETECTIONS, "objid", "seen DESC"),
        "6a622900a5c4d30881b188057ad04eb21658a4ebd7153d93880ba8619067a97a",
        8,
    ),
    ExplodeArrays: (
        ExplodeArrays.of(CURVES, "mags"),
        "67b8a3398d84ce618cca79fa123373782c12e0cf80cde9269e32ebd9d403d46e",
        16,
    ),
    OpaqueSelection: (
        OpaqueSelection.of(A, "parent.vmag < (SELECT avg(mag) FROM input_1)", [DETECTIONS]),
        "105c74f468c74ff125ab1e1575f1fe7a720af6ddb3299c71d401d9eeaf1d867b",
        64,
    ),
    OpaqueQuery: (
        OpaqueQuery.of([DETECTIONS], "SELECT mag, count(*) AS n FROM input_1 GROUP BY mag", COLUMNS),
        "1c191788433d464492cc0c3494553fbee49f644840d3c9d8bc467b8003b6f69a",
        16,
    ),
}


def test_there_is_one_of_each_class():
    assert set(ONE_OF_EACH) == set(CLASSES.values())
    assert all(kind == class_.__name__ == class_.kind for kind, class_ in CLASSES.items())


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_digests_are_pinned(kind: type[Catalog]):
    """Whoever defines the same, wherever and whenever, defines this."""
    first, digest, _ = ONE_OF_EACH[kind]
    assert first.digest == digest


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_the_local_relationship_has_as_many_hypercubes_as_in_the_paper(kind: type[Catalog]):
    """Equality 4, subset 8, intersection, union and difference 16; of a base, and of pairs, nothing is known."""
    first, _, hypercubes = ONE_OF_EACH[kind]
    assert len(first.relationship()) == hypercubes
    assert first.relationship().labels == (first.digest, *(dependency.digest for dependency in first.dependencies))


def test_of_a_base_nothing_is_said():
    assert A.relationship() == Relationship.tautology(A.digest)
    assert (A.facts(), A.atoms(), A.dependencies) == ((), (), ())


def test_a_catalog_with_itself_has_a_relationship_too():
    assert RestrictSources(A, A).relationship().labels == (RestrictSources(A, A).digest, A.digest)
    assert ConcatSources.of(A, A).relationship().entails(f'"{ConcatSources.of(A, A).digest}" == "{A.digest}"')


def test_more_members_than_hypercubes_can_relate_are_an_error_not_a_wait():
    with pytest.raises(BudgetError):
        CombineAttributes.of(*(SampleSources.of(A, 0.5, seed) for seed in range(6))).relationship()


def test_catalogs_are_equal_by_digest():
    again = SelectSources.of(base(), "vmag < 6")
    assert again == BRIGHT
    assert again is not BRIGHT
    assert len({again, BRIGHT, NEAR}) == 2
    assert BRIGHT.digest != BRIGHT
    assert repr(BRIGHT) == f"<SelectSources {BRIGHT.digest[:12]}>"


def test_the_same_definition_however_written_is_one_catalog():
    assert SelectSources.of(A, "6.0 > VMAG") == BRIGHT
    assert SelectSources.of(A, "plx > 100 AND vmag < 6") == SelectSources.of(A, "vmag < 6 and 100 < plx")
    assert derived(A, dist_pc="1000/PLX") == derived(A, dist_pc="1000 / plx")
    assert KeepAttributes.of(A, ["VMAG"]) == KeepAttributes.of(A, ["hip", "vmag"])
    assert RenameAttributes.of(A, {"VMAG": "v", "plx": "plx"}) == RenameAttributes.of(A, {"vmag": "v"})


def test_the_order_of_columns_is_identity_and_the_extent_is_not():
    """Two catalogs, of the same sources."""
    first, other = CombineAttributes.of(BRIGHT, NEAR), CombineAttributes.of(NEAR, BRIGHT)
    assert first != other
    assert first.extent == other.extent
    assert KeepAttributes.of(A, ["hip", "vmag", "plx"]) != KeepAttributes.of(A, ["hip", "plx", "vmag"])


def test_selections_in_any_order_with_anything_in_between_have_one_extent():
    """Renaming, dropping and deriving attributes change no sources, and criteria know attributes by identity."""
    straight = SelectSources.of(BRIGHT, "plx > 100")
    turned = SelectSources.of(NEAR, "vmag < 6")
    at_once = SelectSources.of(A, "vmag < 6 AND plx > 100")
    renamed = SelectSources.of(RenameAttributes.of(BRIGHT, {"plx": "parallax"}), "parallax > 100")
    dropped = KeepAttributes.of(SelectSources.of(derived(BRIGHT, d="1 / plx"), "100 < plx"), ["d"])
    restricted = RestrictSources(RestrictSources(A, BRIGHT), RestrictSources(NEAR, A))
    alike = [straight, turned, at_once, renamed, dropped, restricted, CombineAttributes.of(NEAR, A, BRIGHT)]
    assert len({catalog.extent.digest for catalog in alike}) == 1
    assert len({catalog.digest for catalog in alike}) == len(alike)


def test_sampling_commutes_with_selecting_and_nests():
    assert SampleSources.of(BRIGHT, 0.1).extent == SelectSources.of(SampleSources.of(A, 0.1), "vmag < 6").extent


@pytest.mark.parametrize(
    "define",
    [RestrictSources, ExcludeSources, CombineAttributes.of, ConcatSources.of],
)
@pytest.mark.parametrize(
    "other", [base("ngc", population="galaxy"), base("hd", {"hip": "string", "x": "double"})], ids=["name", "key type"]
)
def test_catalogs_of_different_populations_have_nothing_in_common(define, other: Catalog):
    """Neither if one row is something else, nor if it is identified by something else."""
    with pytest.raises(PopulationError, match=r"one holds stars \(bigint\), another"):
        define(A, other)


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_a_definition_can_be_made_again_on_a_newer_version_of_its_dependencies(kind: type[Catalog]):
    first, _, _ = ONE_OF_EACH[kind]

    def rebuilt(catalog: Catalog) -> Catalog:
        if catalog.dependencies:
            return catalog.on([rebuilt(dependency) for dependency in catalog.dependencies])
        columns = {attribute.name: str(attribute.type) for attribute in catalog.schema.attributes}
        key = tuple(attribute.name for attribute in catalog.schema.key)
        population = catalog.population.name
        return base(f"{population}, new reduction", columns, key=key, population=population)

    result = rebuilt(first)
    assert result.kind == first.kind
    assert result != first
    assert result.schema.names == first.schema.names
    assert result.notes().get("text") == first.notes().get("text") or kind is Base
    assert not {one.digest for one in cone(first)}.intersection(result.extent.labels)
    assert rebuilt(result) == result


# --- what a class says of itself ---


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_an_exchanged_definition_means_the_same_catalog(kind: type[Catalog]):
    catalog, _, _ = ONE_OF_EACH[kind]
    verb, options = catalog.exchange_form()
    assert verb in kind.profile.exchange_verbs
    exchanged = json.loads(json.dumps(options))
    if kind is Base:
        with pytest.raises(DefinitionError, match="is not a definition"):
            kind.from_exchange(verb, exchanged, [])
    else:
        assert len(catalog.dependencies) in kind.profile.part_counts
        assert kind.from_exchange(verb, exchanged, catalog.dependencies) == catalog


def test_a_verb_belongs_to_one_class():
    verbs = [verb for catalog_class in CLASSES.values() for verb in catalog_class.profile.exchange_verbs]
    assert len(verbs) == len(set(verbs))


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_what_a_profile_says_is_true(kind: type[Catalog]):
    catalog, _, _ = ONE_OF_EACH[kind]
    profile = kind.profile
    if profile.narrows:
        assert catalog.extent & catalog.dependencies[0].extent == catalog.extent
    if not profile.crosses_populations:
        assert {dependency.population for dependency in catalog.dependencies} <= {catalog.population}
    if not profile.needs_proof:
        assert catalog.required_statement() is None
    populations = {dependency.population for dependency in catalog.dependencies}
    assert profile.makes_base_set == (not catalog.row_parents and catalog.population not in populations)


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_every_attribute_comes_from_a_dependency(kind: type[Catalog]):
    catalog, _, _ = ONE_OF_EACH[kind]
    names = {dependency.digest: dependency.schema.names for dependency in catalog.dependencies}
    origins = catalog.trace_attributes()
    assert tuple(origins) == catalog.schema.names
    for result in (*origins.values(), catalog.trace_selection()):
        assert all(origin.attribute in names[origin.catalog] for origin in result)
    assert all(origins.values()) or kind is Base
    assert set(catalog.row_parents) <= set(catalog.dependencies)


@pytest.mark.parametrize("kind", ONE_OF_EACH)
def test_a_definition_in_words_names_its_dependencies(kind: type[Catalog]):
    catalog, _, _ = ONE_OF_EACH[kind]
    parts = [f"«{number}»" for number, _ in enumerate(catalog.dependencies)]
    assert all(part in kind.describe(catalog.parameters(), catalog.notes(), parts) for part in parts)
    brief = catalog.describe_briefly(parts)
    assert all(part in brief for part in parts)
    assert brief or kind is Base
