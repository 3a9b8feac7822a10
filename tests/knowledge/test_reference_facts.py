"""What is known across populations: nothing that rows refute, and all that lookups carry over."""

from collections import Counter
from itertools import combinations, permutations
from random import Random

import pytest

from provenn.catalogs import (
    Catalog,
    ConcatSources,
    CrossMatch,
    ExcludeSources,
    ExplodeArrays,
    FirstSources,
    GroupSources,
    HavingSources,
    LookupAttributes,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from provenn.logic import Knowledge, Statement, disjoint, empty, equal, nonempty, overlapping, subset
from tests.catalogs.reference_samples import Table, reference_lineages
from tests.catalogs.samples import base, derived
from tests.targets.scenes import known


def repeat(quick: int, many: int):
    """Run a test with some seeds; with many more in a campaign."""
    return pytest.mark.parametrize(
        "seeds",
        [
            pytest.param(range(quick), id="quick"),
            pytest.param(range(quick, many), id="campaign", marks=pytest.mark.campaign),
        ],
    )


# --- sound: random lineages, against their rows ---


def pair_tables(tables: list[Table]) -> list[tuple[Table, Table]]:
    """Return all pairs of different catalogs of one population."""
    return [
        (left, right)
        for left, right in permutations(tables, 2)
        if left.catalog.population == right.catalog.population and left.catalog != right.catalog
    ]


def check_rows(knowledge: Knowledge, tables: list[Table], seed: int) -> Counter[str]:
    """Make sure that rows fulfil all that is proved of pairs of catalogs; return how much is."""
    counts: Counter[str] = Counter()
    for table in tables:
        is_empty = knowledge.entails(empty(table.catalog.digest))
        counts["empty"] += is_empty
        assert not (is_empty and table.rows), (seed, table)
    for left, right in pair_tables(tables):
        ends, rows = (left.catalog.digest, right.catalog.digest), (left.rows.keys(), right.rows.keys())
        for state, is_true in (
            (subset, rows[0] <= rows[1]),
            (disjoint, rows[0].isdisjoint(rows[1])),
            (overlapping, not rows[0].isdisjoint(rows[1])),
        ):
            is_proved = knowledge.entails(state(*ends))
            counts[state.__name__] += is_proved
            assert is_true or not is_proved, (seed, state.__name__, left, right)
    return counts


def list_truths(random: Random, tables: list[Table]) -> list[Statement]:
    """Return some of what the rows say."""
    facts = [(nonempty if table.rows else empty)(table.catalog.digest) for table in random.sample(tables, 2)]
    for left, right in random.sample(pair_tables(tables), min(6, len(pair_tables(tables)))):
        ends, rows = (left.catalog.digest, right.catalog.digest), (left.rows.keys(), right.rows.keys())
        if rows[0] <= rows[1]:
            facts.append(subset(*ends))
        if rows[0].isdisjoint(rows[1]):
            facts.append(disjoint(*ends))
    return facts


def list_claims(random: Random, tables: list[Table]) -> list[Statement]:
    """Return statements that may be false."""
    pairs = random.sample(pair_tables(tables), min(4, len(pair_tables(tables))))
    claims = [
        random.choice([equal, subset, disjoint])(left.catalog.digest, right.catalog.digest) for left, right in pairs
    ]
    return [*claims, empty(random.choice(tables).catalog.digest)]


@repeat(150, 20_000)
def test_nothing_is_proved_that_rows_refute(seeds):
    counts: Counter[str] = Counter()
    for seed in seeds:
        tables = reference_lineages(Random(seed), 11)
        counts += check_rows(known([table.catalog for table in tables]).knowledge, tables, seed)
    assert min(counts["subset"], counts["disjoint"]) > len(seeds)


@repeat(100, 10_000)
def test_facts_that_are_true_of_the_rows_prove_nothing_that_is_not(seeds):
    """They are lifted through references and along images: to sources, and to partners."""
    for seed in seeds:
        random = Random(seed)
        tables = reference_lineages(random, 11)
        traced = known([table.catalog for table in tables], list_truths(random, tables))
        assert traced.knowledge.consistent, seed
        check_rows(traced.knowledge, tables, seed)


@repeat(100, 10_000)
def test_what_follows_without_declared_facts_holds_whatever_was_declared(seeds):
    for seed in seeds:
        random = Random(seed)
        tables = reference_lineages(random, 11)
        catalogs = [table.catalog for table in tables]
        without = known(catalogs, list_claims(random, tables)).without("declared")
        assert not any(origin.kind == "declared" for origin in without.origins)
        check_rows(without.knowledge, tables, seed)


@repeat(40, 3_000)
def test_the_facts_of_an_explanation_prove_the_statement(seeds):
    """And declared ones are among them only if nothing else proves it."""
    cited = 0
    for seed in seeds:
        random = Random(seed)
        tables = reference_lineages(random, 9)
        catalogs = [table.catalog for table in tables]
        traced, plain = known(catalogs, list_truths(random, tables)), known(catalogs)
        for left, right in random.sample(pair_tables(tables), min(8, len(pair_tables(tables)))):
            statement = random.choice([subset, disjoint])(left.catalog.digest, right.catalog.digest)
            if traced.knowledge.entails(statement):
                reasons = traced.because(statement)
                facts = [fact for fact, _ in reasons]
                cited += len(facts)
                assert Knowledge(facts, open_universe=False).entails(statement), (seed, statement)
                if plain.knowledge.entails(statement):
                    assert all(origin.kind != "declared" for _, origin in reasons), (seed, statement)
    assert cited > len(seeds)


# --- complete: what holds of partners holds of the sources that refer to them ---

O = base("o", {"hip": "bigint", "vmag": "double", "plx": "double", "gal": "bigint"}, key="hip", population="object")
D = base("d", {"id": "bigint", "objid": "bigint", "mag": "double", "night": "int"}, key="id", population="detection")
G = base("g", {"gid": "bigint", "z": "double"}, key="gid", population="galaxy")
STATES = (subset, disjoint, equal)


def look_up(other: Catalog, parent: Catalog = D, **more: object) -> LookupAttributes:
    return LookupAttributes.of(parent, other, on="objid", missing="drop", **more)


def proves(catalogs: list[Catalog], *statements: Statement, facts: tuple[Statement, ...] = ()) -> list[bool]:
    knowledge = known(catalogs, facts).knowledge
    return [knowledge.entails(statement) for statement in statements]


@repeat(25, 2_000)
def test_lookups_are_related_exactly_as_what_they_look_up(seeds):
    """A world in which partners are not so related has a source for each partner: nothing less, and nothing more."""
    for seed in seeds:
        random = Random(seed)
        tables = reference_lineages(random, 8, without=["group", "explode", "having"])
        partners = [
            table.catalog for table in tables if table.catalog.population.name == tables[0].catalog.population.name
        ]
        chosen = random.sample(partners, min(4, len(partners)))
        facts = [fact for fact in list_claims(random, tables)[:-1] if random.random() < 0.5]
        if not known(partners, facts).knowledge.consistent:
            continue
        source = base("fresh", {"id": "bigint", "ref": "bigint"}, key="id", population="fresh source")
        lookups = [
            LookupAttributes.of(source, partner_catalog, on="ref", attributes=[], missing="drop")
            for partner_catalog in chosen
        ]
        knowledge = known([*partners, *lookups, *(table.catalog for table in tables)], facts).knowledge
        for (partner_catalog, lifted), (other_catalog, lifted_other) in permutations(
            zip(chosen, lookups, strict=True), 2
        ):
            if partner_catalog == other_catalog:
                continue
            for state in (subset, disjoint):
                partners_hold = knowledge.entails(state(partner_catalog.digest, other_catalog.digest))
                sources_hold = knowledge.entails(state(lifted.digest, lifted_other.digest))
                assert partners_hold == sources_hold, (seed, state.__name__, partner_catalog, other_catalog)


@repeat(25, 2_000)
def test_partners_of_a_part_are_partners_of_the_whole(seeds):
    for seed in seeds:
        random = Random(seed)
        tables = reference_lineages(random, 8, without=["group", "explode"])
        members = [table.catalog for table in tables if table.catalog.population.name == "detection"]
        keeping = [
            member
            for member in members
            if any(str(attribute.type) == "bigint" for attribute in member.schema.attributes[1:])
        ]
        fresh = base("fresh", {"k": "bigint"}, key="k", population="fresh partner")
        identities = Counter(
            attribute.identity
            for member in keeping
            for attribute in member.schema.attributes
            if str(attribute.type) == "bigint"
        )
        if not identities:
            continue
        identity = identities.most_common(1)[0][0]
        having = {
            member: HavingSources.of(fresh, member, on=member.schema.by_identity[identity].name)
            for member in keeping
            if identity in member.schema.by_identity
        }
        knowledge = known([*having.values()]).knowledge
        for part, whole in permutations(having, 2):
            if part != whole and knowledge.entails(subset(part.digest, whole.digest)):
                assert knowledge.entails(subset(having[part].digest, having[whole].digest)), (seed, part, whole)
            if knowledge.entails(empty(part.digest)):
                assert knowledge.entails(empty(having[part].digest)), (seed, part)


def test_a_selection_of_looked_up_attributes_is_the_lookup_of_the_selection():
    bright = SelectSources.of(O, "vmag < 6")
    selected, looked_up = SelectSources.of(look_up(O), "vmag < 6"), look_up(bright)
    assert selected.extent == looked_up.extent
    assert look_up(bright).schema["plx"].identity == look_up(O).schema["plx"].identity
    brighter = SelectSources.of(look_up(O), "vmag < 5 AND plx > 1")
    assert proves([brighter, looked_up], subset(brighter.digest, looked_up.digest)) == [True]


def test_derived_attributes_of_partners_are_compared_by_what_they_are_made_of():
    twice = derived(O, twice="vmag * 2", after="hip + 1")
    selected, looked_up = SelectSources.of(look_up(twice), "twice < 8"), look_up(SelectSources.of(O, "vmag < 4"))
    assert proves([selected, looked_up], equal(selected.digest, looked_up.digest)) == [True]
    late, named = SelectSources.of(look_up(twice), "after > 3"), SelectSources.of(D, "objid > 2")
    assert proves([late, named], subset(late.digest, named.digest), subset(named.digest, late.digest)) == [True, False]


def test_a_source_without_a_partner_may_lack_what_every_partner_has():
    """The key has a value, and so has what is derived from it; the reference of a detection may be NULL."""
    after = look_up(derived(O, after="CAST(hip AS double)"))
    assert not after.schema["after"].nullable
    parts = [SelectSources.of(after, "after > 0"), SelectSources.of(after, "after <= 0")]
    present = SelectSources.of(D, "objid IS NOT NULL")
    whole = ConcatSources.of(*parts)
    statements = [
        subset(D.digest, present.digest),
        equal(after.digest, whole.digest),
        subset(after.digest, present.digest),
    ]
    assert proves([*parts, whole, present], *statements) == [False, True, True]


def test_an_attribute_that_concatenated_partners_define_differently_is_compared_piece_by_piece():
    other = base("p", {"hip": "bigint", "vmag": "double"}, key="hip", population="object")
    both = ConcatSources.of(O, other, overlap="first")
    selected, looked_up = SelectSources.of(look_up(both), "vmag < 4"), look_up(SelectSources.of(both, "vmag < 4"))
    wider = look_up(SelectSources.of(both, "vmag < 5"))
    own = SelectSources.of(look_up(O), "vmag < 4")
    statements = [
        equal(selected.digest, looked_up.digest),
        subset(selected.digest, wider.digest),
        subset(own.digest, selected.digest),
        subset(selected.digest, own.digest),
    ]
    assert proves([selected, looked_up, wider, own], *statements) == [True, True, True, False]


def test_declared_facts_about_partners_are_lifted_and_cited():
    north, south = SampleSources.of(O, 0.5, 1), SampleSources.of(O, 0.5, 2)
    first, second = look_up(north), look_up(south)
    fact = disjoint(north.digest, south.digest)
    traced = known([first, second], [fact])
    statement = disjoint(first.digest, second.digest)
    assert traced.knowledge.entails(statement)
    assert "declared" in {origin.kind for _, origin in traced.because(statement)}
    assert not traced.without("declared").knowledge.entails(statement)
    assert not traced.knowledge.entails(overlapping(first.digest, second.digest))


def test_that_partners_exist_says_nothing_about_sources():
    first = look_up(O)
    assert proves([first], nonempty(first.digest), empty(first.digest), facts=(nonempty(O.digest),)) == [False, False]
    assert proves([first], empty(first.digest), facts=(empty(O.digest),)) == [True]


def test_declared_facts_about_sources_reach_their_partners_and_are_cited_by_their_premise():
    few, many = SampleSources.of(D, 0.5, 1), SampleSources.of(D, 0.5, 2)
    first, second = HavingSources.of(O, few, on="objid"), HavingSources.of(O, many, on="objid")
    traced = known([first, second], [subset(few.digest, many.digest)])
    statement = subset(first.digest, second.digest)
    assert traced.knowledge.entails(statement)
    assert {"declared", "reference"} <= {origin.kind for _, origin in traced.because(statement)}
    assert not traced.without("declared").knowledge.entails(statement)
    nobody = known([first], [empty(few.digest)]).knowledge
    assert nobody.entails(empty(first.digest))


def test_images_of_disjoint_sets_may_overlap():
    first, second = (HavingSources.of(O, SelectSources.of(D, text), on="objid") for text in ("mag < 1", "mag >= 1"))
    assert proves([first, second], disjoint(first.digest, second.digest)) == [False]
    whole = HavingSources.of(O, SelectSources.of(D, "mag IS NOT NULL"), on="objid")
    parts = ConcatSources.of(first, second)
    assert proves([whole, parts], equal(whole.digest, parts.digest)) == [True]


def test_having_and_without_divide_a_catalog():
    first, second = HavingSources.of(O, D, on="objid"), HavingSources.without(O, D, on="objid")
    both = ConcatSources.of(first, second)
    assert proves([both], equal(both.digest, O.digest), disjoint(first.digest, second.digest)) == [True, True]


def test_sources_with_a_partner_are_those_that_their_own_groups_are_looked_up_for():
    groups = GroupSources.of(D, "objid", {"n": "count(*)"}, population=O.population)
    own, present = look_up(groups), SelectSources.of(D, "objid IS NOT NULL")
    assert proves([own, present], equal(own.digest, present.digest)) == [True]
    faint = SelectSources.of(D, "mag > 3")
    of_faint = look_up(GroupSources.of(faint, "objid", {}, population=O.population))
    selected = SelectSources.of(faint, "objid > 1")
    statements = [subset(selected.digest, of_faint.digest), subset(of_faint.digest, faint.digest)]
    assert proves([selected, of_faint], *statements) == [True, False]


@pytest.mark.parametrize("place", [0, 3])
def test_a_reference_that_is_null_elsewhere_is_known_to_be_whatever_is_looked_up_through_it(place):
    """The key of the partner is the reference, and has a value; for sources without a partner it has none."""
    more = base("e", {"id": "bigint", "objid": "bigint"}, key="id", population="detection")
    both = ConcatSources.of(D, more, overlap="first")
    named = LookupAttributes.of(both, O, on="objid", attributes=["hip"], missing="drop")
    groups = GroupSources.of(both, "objid", {}, population=O.population)
    own, present = look_up(groups, both), SelectSources.of(both, "objid IS NOT NULL")
    catalogs = [groups, own, present]
    catalogs.insert(place, named)
    assert proves(catalogs, subset(both.digest, own.digest), equal(own.digest, present.digest)) == [False, True]


def test_a_selection_of_groups_by_their_key_is_ordered_with_selections_of_members():
    groups = GroupSources.of(D, "objid", {}, population=O.population)
    low = GroupSources.of(SelectSources.of(D, "objid < 5"), "objid", {}, population=O.population)
    below = SelectSources.of(groups, "objid < 7")
    same = SelectSources.of(groups, "objid < 5")
    statements = [subset(low.digest, below.digest), equal(low.digest, same.digest), subset(below.digest, low.digest)]
    assert proves([low, below, same], *statements) == [True, True, False]
    again, lower = look_up(low), SelectSources.of(D, "objid < 5")
    assert proves([again, lower], equal(again.digest, lower.digest)) == [True]


def test_paths_of_references_are_followed_to_their_end():
    near = SelectSources.of(G, "z < 1")
    hosts = LookupAttributes.of(O, near, on="gal", missing="drop")
    deep = look_up(hosts)
    wide = look_up(LookupAttributes.of(O, SelectSources.of(G, "z < 2"), on="gal", missing="drop"))
    selected = SelectSources.of(look_up(LookupAttributes.of(O, G, on="gal", missing="drop")), "z < 1")
    statements = [
        subset(deep.digest, wide.digest),
        equal(deep.digest, selected.digest),
        subset(wide.digest, deep.digest),
    ]
    assert proves([deep, wide, selected], *statements) == [True, True, False]
    flat = LookupAttributes.of(look_up(O), G, on="gal", missing="drop", prefix="g_")
    assert flat.schema["g_z"].identity == deep.schema["z"].identity


def test_first_sources_of_a_part_hold_the_first_of_the_whole_that_are_in_it():
    part = SelectSources.of(D, "mag < 3")
    first, first_of_part = FirstSources.of(D, "objid", "night DESC"), FirstSources.of(part, "objid", "night DESC", 2)
    kept = RestrictSources(part, first)
    assert proves([kept, first_of_part], subset(kept.digest, first_of_part.digest)) == [True]
    single = FirstSources.of(part, "objid", "night DESC")
    assert proves(
        [single, first_of_part, first], subset(single.digest, first_of_part.digest), subset(single.digest, first.digest)
    ) == [True, False]
    other_way = FirstSources.of(part, "objid", "night ASC", 2)
    assert proves([kept, other_way], subset(kept.digest, other_way.digest)) == [False]
    of_groups = FirstSources.of(SelectSources.of(D, "objid < 3"), "objid", "night DESC")
    assert of_groups.extent == SelectSources.of(first, "objid < 3").extent


def test_two_roles_of_one_population_are_not_confused():
    twice = base("two", {"id": "bigint", "left": "bigint", "right": "bigint"}, key="id", population="pair")
    first, second = (
        LookupAttributes.of(twice, O, on=name, missing="drop", attributes=[]) for name in ("left", "right")
    )
    assert proves([first, second], *(state(first.digest, second.digest) for state in STATES)) == [False] * 3


def test_a_source_that_refers_to_its_own_population_is_not_its_partner():
    family = base("f", {"hip": "bigint", "vmag": "double", "parent": "bigint"}, key="hip", population="object")
    bright = SelectSources.of(family, "vmag < 3")
    children = LookupAttributes.of(family, bright, on="parent", missing="drop", prefix="p_")
    assert children.schema["p_vmag"].identity != family.schema["vmag"].identity
    assert proves([children, bright], *(state(children.digest, bright.digest) for state in STATES)) == [False] * 3
    grandchildren = LookupAttributes.of(family, children, on="parent", missing="drop", prefix="g_")
    assert proves([grandchildren, children], subset(grandchildren.digest, children.digest)) == [False]


def test_elements_are_related_as_their_sources_are():
    curves = base("c", {"hip": "bigint", "vmag": "double", "mags": "array<double>"}, key="hip", population="object")
    bright = SelectSources.of(curves, "vmag < 3")
    elements, all_elements = ExplodeArrays.of(bright, "mags"), ExplodeArrays.of(curves, "mags")
    rest = ExplodeArrays.of(ExcludeSources(curves, bright), "mags")
    statements = [subset(elements.digest, all_elements.digest), disjoint(elements.digest, rest.digest)]
    assert proves([elements, all_elements, rest], *statements) == [True, True]
    assert proves([elements, rest, ConcatSources.of(elements, rest)],
                  equal(ConcatSources.of(elements, rest).digest, elements.digest)) == [False]  # fmt: skip


def test_pairs_of_a_match_are_partners_like_any_others():
    sky = {"hip": "bigint", "ra": "double", "dec": "double", "vmag": "double"}
    left = base("one", sky, key="hip", units={"ra": "deg", "dec": "deg"})
    right = RenameAttributes.of(
        base("two", sky, key="hip", population="galaxy", units={"ra": "deg", "dec": "deg"}),
        {"hip": "gid", "ra": "gra", "dec": "gdec", "vmag": "gmag"},
    )
    pairs = CrossMatch.of(left, right, 2, on=(("ra", "dec"), ("gra", "gdec")), matches="all")
    notes = base("n", {"id": "bigint", "s": "bigint", "g": "bigint"}, key="id", population="note")
    on = [("s", "g")[place] for place in range(len(pairs.population.key))]
    near = SelectSources.of(pairs, "separation < 1")
    pair_notes, near_notes = (LookupAttributes.of(notes, partners, on=on, missing="drop") for partners in (pairs, near))
    statements = [subset(near_notes.digest, pair_notes.digest), subset(pair_notes.digest, near_notes.digest)]
    assert proves([pair_notes, near_notes], *statements) == [True, False]


def test_null_for_missing_partners_keeps_all_sources_and_other_attributes():
    bright = SelectSources.of(O, "vmag < 6")
    filled, dropped = LookupAttributes.of(D, bright, on="objid", missing="null"), look_up(bright)
    assert filled.extent == D.extent
    assert filled.schema["vmag"].identity != dropped.schema["vmag"].identity
    present = SelectSources.of(filled, "vmag IS NOT NULL")
    assert proves([present, dropped], *(state(present.digest, dropped.digest) for state in STATES)) == [False] * 3


def test_all_relations_are_found_by_pairs_of_catalogs_too():
    """Nothing depends on which other catalogs are asked about at the same time, as far as it is proved."""
    bright, near = SelectSources.of(O, "vmag < 6"), SelectSources.of(O, "vmag < 6 AND plx > 4")
    catalogs = [look_up(bright), look_up(near), HavingSources.of(O, look_up(near), on="objid"), bright, near]
    together = known(catalogs).knowledge
    for catalog, other_catalog in combinations(catalogs, 2):
        if catalog.population == other_catalog.population:
            alone = known([catalog, other_catalog]).knowledge
            for state in STATES:
                statement = state(catalog.digest, other_catalog.digest)
                assert together.entails(statement) or not alone.entails(statement)
