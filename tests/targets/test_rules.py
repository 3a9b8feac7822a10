"""Each rule by itself: what it rewrites, what it leaves alone, and that what it says is proved. Then all of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    PythonCalculator,
    RestrictSources,
    SampleSources,
    SelectSources,
    verbs,
)
from provenn.catalogs.extent import union as unite
from provenn.logic import Knowledge, disjoint, empty, equal, subset
from provenn.logic.terms import Op, chain, term
from provenn.targets.literal import build_step
from provenn.targets.rewriting import rewrite_plan
from provenn.targets.rules import RULES
from provenn.targets.rules.disjoint_members import disjoint_members
from provenn.targets.rules.empty_branches import empty_branches
from provenn.targets.rules.irrelevant_members import irrelevant_members
from provenn.targets.rules.limit_calculators import limit_calculators
from provenn.targets.rules.redundant_members import redundant_members
from provenn.targets.rules.same_rows import same_rows
from provenn.targets.rules.select_early import select_early
from provenn.targets.rules.unneeded_attributes import unneeded_attributes
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Concat, Fill, FragmentScan, PlanStep, Scan, Select, walk_steps
from tests.catalogs.samples import base, derived, lineages
from tests.spark import functions
from tests.targets.samples import (
    BRIGHT,
    FAINT,
    NEAR,
    PLX,
    STARS,
    TYCHO,
    VMAG,
    WITH_D,
    disjoint_unions,
    numbered,
    one_rule,
    plan,
    scaled,
    shape,
    tried,
)
from tests.targets.scenes import needed, planned, scene_of, stored

# --- empty branches ---


def test_what_is_proved_to_be_empty_is_not_computed():
    assert one_rule(empty_branches, SelectSources.of(BRIGHT, "vmag > 7")) == "nothing"
    assert one_rule(empty_branches, RestrictSources(FAINT, BRIGHT)) == "nothing"
    assert one_rule(empty_branches, CombineAttributes.of(FAINT, BRIGHT)) == "nothing"
    assert one_rule(empty_branches, scaled(ExcludeSources(BRIGHT, STARS))) == "nothing"


def test_what_may_have_a_source_is_not_empty():
    assert one_rule(empty_branches, BRIGHT) is None
    assert one_rule(empty_branches, RestrictSources(NEAR, BRIGHT)) is None
    assert tried(empty_branches, build_step(FAINT), scene_of(STARS)) is None, "an extent that no catalog has"


def test_a_fact_makes_a_branch_empty():
    both = RestrictSources(NEAR, BRIGHT)
    assert one_rule(empty_branches, both, facts=[disjoint(NEAR.digest, BRIGHT.digest)]) == "nothing"
    assert one_rule(empty_branches, NEAR, facts=[empty(NEAR.digest)]) == "nothing"


def test_empty_members_leave_a_union():
    nobody = SelectSources.of(BRIGHT, "vmag > 7")
    union = ConcatSources.of(BRIGHT, nobody, NEAR, overlap="first")
    rewrite = tried(empty_branches, build_step(union), scene_of(union))
    assert shape(rewrite.step) == "concat(select(scan), select(scan))"
    assert not rewrite.step.is_disjoint, "the others may share sources"
    assert all(len(attributes) == 2 for _, attributes in rewrite.step.columns)
    assert plan(ConcatSources.of(nobody, TYCHO, overlap="first")) == "scan", "one member is no union"


# --- unneeded attributes ---


def test_what_is_not_asked_for_is_not_derived():
    assert one_rule(unneeded_attributes, WITH_D, frozenset([VMAG])) == "scan"
    assert one_rule(unneeded_attributes, derived(STARS, twice="vmag * 2"), frozenset([VMAG])) == "scan"
    assert one_rule(unneeded_attributes, numbered(STARS), frozenset()) == "scan"
    filled = Fill(Scan(TYCHO), (WITH_D.schema["d"],))
    assert shape(tried(unneeded_attributes, filled, scene_of(TYCHO), frozenset()).step) == "scan"


def test_what_is_asked_for_is_derived():
    assert one_rule(unneeded_attributes, WITH_D) is None
    assert one_rule(unneeded_attributes, derived(STARS, twice="vmag * 2")) is None
    assert tried(unneeded_attributes, Fill(Scan(TYCHO), (WITH_D.schema["d"],)), scene_of(TYCHO)) is None


def test_one_of_two_outputs_is_enough_to_call_a_calculator():
    marked = PythonCalculator.of(
        functions.marked,
        inputs=["name"],
        outputs={"m": "string", "m size": "int"},
        parameters={"output": "m", "mark": "!"},
    )
    catalog = DeriveAttributes.of(base("named", {"hip": "bigint", "name": "string"}), marked)
    assert one_rule(unneeded_attributes, catalog, frozenset([catalog.schema["m size"].identity])) is None


def test_members_without_attributes_only_say_which_sources_remain():
    both = CombineAttributes.of(STARS, TYCHO)
    assert one_rule(unneeded_attributes, both, frozenset([VMAG])) == "restrict(scan, scan)"
    rewrite = tried(unneeded_attributes, build_step(both), scene_of(both), frozenset([TYCHO.schema["bt"].identity]))
    assert rewrite.step.input.base == TYCHO, "the one that gives something is the one that is restricted"
    assert one_rule(unneeded_attributes, both, frozenset()) == "restrict(scan, scan)"
    assert one_rule(unneeded_attributes, both) is None


# --- redundant members ---


def test_an_intersection_with_a_larger_set_is_dropped():
    assert one_rule(redundant_members, RestrictSources(BRIGHT, STARS)) == "select(scan)"
    narrow = SelectSources.of(STARS, "vmag < 5 AND plx > 3")
    assert one_rule(redundant_members, RestrictSources(narrow, BRIGHT)) == "select(scan)"
    assert one_rule(redundant_members, RestrictSources(BRIGHT, narrow)) is None
    assert one_rule(redundant_members, RestrictSources(STARS, TYCHO)) is None


def test_an_intersection_is_dropped_because_of_a_fact():
    inside = RestrictSources(STARS, TYCHO)
    assert one_rule(redundant_members, inside, facts=[subset(STARS.digest, TYCHO.digest)]) == "scan"
    assert one_rule(redundant_members, inside, facts=[subset(TYCHO.digest, STARS.digest)]) is None
    assert one_rule(redundant_members, inside, facts=[equal(STARS.digest, TYCHO.digest)]) == "scan"


def test_a_difference_with_a_set_apart_is_dropped():
    assert one_rule(redundant_members, ExcludeSources(BRIGHT, FAINT)) == "select(scan)"
    assert one_rule(redundant_members, ExcludeSources(BRIGHT, NEAR)) is None
    apart = ExcludeSources(STARS, TYCHO)
    assert one_rule(redundant_members, apart) is None
    assert one_rule(redundant_members, apart, facts=[disjoint(STARS.digest, TYCHO.digest)]) == "scan"


def test_members_of_a_union_whose_sources_others_give_are_dropped():
    assert one_rule(redundant_members, ConcatSources.of(BRIGHT, STARS, overlap="first")) == "concat(scan)"
    assert one_rule(redundant_members, ConcatSources.of(STARS, BRIGHT, overlap="first")) == "concat(scan)"
    assert one_rule(redundant_members, ConcatSources.of(BRIGHT, NEAR, overlap="first")) is None


def test_a_member_that_gives_other_values_first_is_not_dropped():
    """In a union, the first member gives the value; a later and larger one that means something else does not."""
    other = derived(KeepAttributes.of(STARS, ["hip", "plx"]), vmag="plx * 2")
    narrow = KeepAttributes.of(BRIGHT, ["hip", "vmag"])
    union = ConcatSources.of(narrow, KeepAttributes.of(other, ["hip", "vmag"]), overlap="first")
    assert one_rule(redundant_members, union) is None
    reversed_union = ConcatSources.of(KeepAttributes.of(other, ["hip", "vmag"]), narrow, overlap="first")
    assert one_rule(redundant_members, reversed_union) == "concat(derive(scan))"
    assert one_rule(redundant_members, union, frozenset()) == "concat(derive(scan))", "if nobody asks for the value"


def test_a_union_of_many_unrelated_members_needs_one_question():
    members = [KeepAttributes.of(base(f"tycho {number}"), ["hip"]) for number in range(50)]
    union = ConcatSources.of(*members, overlap="first")
    scene = scene_of(union)
    assert tried(redundant_members, build_step(union), scene) is None
    assert len(scene._proved) == 1, "whether any two share a source"


def test_a_member_that_a_fact_puts_into_others_is_dropped_among_unrelated_ones():
    others = [base(f"tycho {number}") for number in range(4)]
    members = [KeepAttributes.of(member, ["hip"]) for member in (STARS, *others)]
    union = ConcatSources.of(*members, overlap="first")
    inside = subset(STARS.digest, chain(Op.OR, (term(others[0].digest), term(others[2].digest))))
    assert one_rule(redundant_members, union) is None
    assert one_rule(redundant_members, union, facts=[inside]).count("scan") == 4


def shrink_one_by_one(step, scene, wanted):
    """Return the positions that are left when one redundant member after the other is dropped, the last one first."""
    columns = [identities for attribute, identities in step.columns if attribute.identity in wanted]
    is_uniform = all(len(set(identities)) == 1 for identities in columns)
    kept = list(range(len(step.members)))
    for position in reversed(range(len(step.members))):
        others = [other for other in kept if other != position and (is_uniform or other < position)]
        rest = unite(step.members[other].extent for other in others)
        if others and scene.lies_in(step.members[position].extent, rest):
            kept.remove(position)
    return kept


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["plx", "vmag"]), st.booleans()),
        min_size=2,
        max_size=7,
    ),
    st.booleans(),
)
def test_the_members_that_are_left_are_those_left_by_one_question_for_each(ranges, has_fact):
    """Random selections of one base catalog, some with other values of an attribute: as by the quadratic way."""
    members = []
    for low, high, name, is_other in ranges:
        selected = SelectSources.of(STARS, f"{name} >= {low} AND {name} < {high + low // 2}")
        plain = KeepAttributes.of(selected, ["hip", "vmag"])
        other = derived(KeepAttributes.of(selected, ["hip", "plx"]), vmag="plx * 2")
        members.append(KeepAttributes.of(other, ["hip", "vmag"]) if is_other else plain)
    union = ConcatSources.of(*members, overlap="first")
    step = build_step(union)
    facts = [subset(members[0].digest, members[-1].digest)] if has_fact else []
    for wanted in (frozenset[str](), needed(union)):
        expected = shrink_one_by_one(step, scene_of(union, facts=facts), wanted)
        rewrite = tried(redundant_members, step, scene_of(union, facts=facts), wanted)
        if rewrite is None:
            scene = scene_of(union, facts=facts)
            apart = scene.state_apart(member.extent for member in step.members)
            assert len(expected) == len(step.members) or all(map(scene.is_proved, apart))
        else:
            assert rewrite.step.members == tuple(step.members[position] for position in expected)
            assert all(map(scene_of(union, facts=facts).is_proved, rewrite.statements))


def test_a_union_of_one_is_no_union_unless_it_renames():
    scan = Scan(STARS)
    alone = Concat.of([scan], STARS.schema.attributes)
    assert tried(redundant_members, alone, scene_of(STARS)).step is scan
    renaming = Concat(
        (scan,), ((STARS.schema["hip"], ("key:star:0",)), (WITH_D.schema["d"], (PLX,))), True, scan.extent
    )
    assert tried(redundant_members, renaming, scene_of(STARS)) is None


# --- same rows ---


def test_the_example_of_the_paper_calls_the_calculator_on_the_selection_alone():
    """B = A.select(…), C = A.derive(…), D = B.combine(C): D is proved to be B, and neither is joined."""
    combined = CombineAttributes.of(BRIGHT, WITH_D)
    after, applied = planned(combined)
    assert shape(after) == "calculate(select(scan))"
    assert [rewrite.rule for rewrite in applied] == ["same_rows"]
    (calculation,) = (step for step in walk_steps(after) if isinstance(step, Calculate))
    assert calculation.extent == BRIGHT.extent


@pytest.mark.parametrize(
    ("catalog", "expected"),
    [
        (ConcatSources.of(BRIGHT, NEAR, overlap="first"), "select(scan)"),
        (ConcatSources.of(BRIGHT, FAINT, overlap="disjoint"), "select(scan)"),
        (ConcatSources.of(BRIGHT, STARS, overlap="first"), "scan"),
        (ExcludeSources(STARS, BRIGHT), "select(scan)"),
        (ExcludeSources(WITH_D, BRIGHT), "calculate(select(scan))"),
        (RestrictSources(WITH_D, ExcludeSources(NEAR, BRIGHT)), "calculate(select(scan))"),
        (CombineAttributes.of(BRIGHT, NEAR), "select(scan)"),
        (CombineAttributes.of(scaled(BRIGHT), scaled(NEAR)), "calculate(select(scan))"),
        (CombineAttributes.of(scaled(BRIGHT), scaled(NEAR, "e", 3.0)), "calculate(calculate(select(scan)))"),
        (ConcatSources.of(scaled(BRIGHT), scaled(NEAR), overlap="first"), "calculate(select(scan))"),
        (SelectSources.of(CombineAttributes.of(BRIGHT, WITH_D), "d > 1"), "select(calculate(select(scan)))"),
        (SelectSources.of(CombineAttributes.of(BRIGHT, WITH_D), "plx > 1"), "calculate(select(scan))"),
        (SampleSources.of(CombineAttributes.of(BRIGHT, WITH_D), 0.5, 1), "calculate(select(scan))"),
    ],
    ids=str,
)
def test_descendants_of_one_base_are_read_once_and_calculated_last(catalog, expected):
    assert plan(catalog) == expected


def test_two_bases_stay_a_join_with_selections_before_and_calculators_after_it():
    both = CombineAttributes.of(WITH_D, scaled(TYCHO, "e", of="bt"))
    assert plan(both) == "calculate(calculate(combine(scan, scan)))"
    selected = SelectSources.of(both, "vmag < 3 AND bt < 2")
    assert plan(selected) == "calculate(calculate(combine(select(scan), select(scan))))"
    assert plan(SelectSources.of(both, "vmag < bt")) == "calculate(calculate(select(combine(scan, scan))))"


def test_members_of_a_join_that_come_from_one_base_are_one_member():
    three = CombineAttributes.of(BRIGHT, TYCHO, WITH_D)
    assert one_rule(same_rows, three) == "combine(calculate(select(scan)), scan)"
    assert plan(three) == "calculate(combine(select(scan), scan))"


def test_one_base_inside_another_is_not_one_row():
    """That all stars are in Tycho says which sources there are, not where their values are."""
    both = CombineAttributes.of(STARS, TYCHO)
    assert plan(both, facts=[subset(STARS.digest, TYCHO.digest)]) == "combine(scan, scan)"
    restricted = RestrictSources(STARS, TYCHO)
    assert plan(restricted) == "restrict(scan, scan)"
    assert plan(restricted, facts=[subset(STARS.digest, TYCHO.digest)]) == "scan"


def test_a_calculator_of_a_whole_catalog_is_never_limited():
    for catalog in (
        SelectSources.of(numbered(STARS), "vmag < 6"),
        CombineAttributes.of(BRIGHT, numbered(STARS)),
        RestrictSources(numbered(STARS), BRIGHT),
        ExcludeSources(numbered(STARS), FAINT),
        SelectSources.of(scaled(numbered(STARS)), "vmag < 6"),
    ):
        after = planned(catalog)[0]
        (calculation,) = (step for step in walk_steps(after) if isinstance(step, Calculate) and step.is_catalog_wide)
        assert calculation.extent == STARS.extent
        assert shape(calculation) == "calculate(scan)"
        assert isinstance(after, Select) or shape(after) == "calculate(select(calculate(scan)))"


def test_a_calculator_of_a_whole_catalog_means_another_thing_on_fewer_sources():
    few, many = numbered(BRIGHT), numbered(STARS)
    assert few.schema["n"].identity != many.schema["n"].identity
    both = CombineAttributes.of(KeepAttributes.of(few, ["n"]), KeepAttributes.of(numbered(STARS, "m"), ["m"]))
    extents = [step.extent for step in walk_steps(planned(both)[0]) if isinstance(step, Calculate)]
    assert {extent.digest for extent in extents} == {BRIGHT.extent.digest, STARS.extent.digest}


# --- disjoint members ---


def test_members_that_share_no_source_are_not_compared():
    other = SelectSources.of(TYCHO, "bt < 1")
    union = ConcatSources.of(BRIGHT, other, overlap="first")
    assert one_rule(disjoint_members, union) is None, "nobody knows"
    facts = [disjoint(STARS.digest, TYCHO.digest)]
    rewrite = tried(disjoint_members, build_step(union), scene_of(union, facts=facts))
    assert rewrite.step.is_disjoint
    assert len(rewrite.statements) == 1
    assert tried(disjoint_members, rewrite.step, scene_of(union, facts=facts)) is None, "once is enough"


@pytest.mark.parametrize("members", [2, 3, 40])
def test_one_statement_says_that_no_two_of_many_members_share_a_source(members, monkeypatch):
    """And no member of them is asked whether all the others have its sources."""
    parts = [SelectSources.of(STARS, f"vmag >= {number} AND vmag < {number + 1}") for number in range(members)]
    union = ConcatSources.of(*parts)
    scene, step, proofs = scene_of(union), build_step(union), []
    entails = Knowledge.entails
    monkeypatch.setattr(Knowledge, "entails", lambda *arguments: proofs.append(arguments[1]) or entails(*arguments))
    assert redundant_members(step, needed(union), scene) is None
    rewrite = disjoint_members(step, needed(union), scene)
    assert rewrite.step.is_disjoint
    assert len(proofs) == len(rewrite.statements) == 1
    overlapping = ConcatSources.of(*parts, SelectSources.of(STARS, "vmag > 0.5"))
    assert not disjoint_members(build_step(overlapping), needed(overlapping), scene_of(overlapping)).statements


def test_each_member_gives_what_no_earlier_one_gives_where_a_row_tells():
    union = ConcatSources.of(BRIGHT, NEAR, overlap="first")
    scene = scene_of(union)
    rewrite = tried(disjoint_members, build_step(union), scene)
    assert rewrite.step.is_disjoint
    assert scene.is_proved(scene.state_equal(rewrite.step.members[0].extent, BRIGHT.extent))
    assert scene.is_proved(scene.state_equal(rewrite.step.members[1].extent, NEAR.extent - BRIGHT.extent))


def test_a_union_in_a_union_is_put_beside_the_others():
    scan = Scan(STARS)
    third = SelectSources.of(STARS, "vmag IS NULL")
    attributes = STARS.schema.attributes
    inner = Concat.of([build_step(BRIGHT), build_step(FAINT)], attributes)
    outer = Concat.of([inner, build_step(third)], attributes, scan.extent)
    rewrite = tried(disjoint_members, outer, scene_of(BRIGHT, FAINT, third))
    assert shape(rewrite.step) == "concat(select(scan), select(scan), select(scan))"
    assert all(len(sources_of_column) == 3 for _, sources_of_column in rewrite.step.columns)


# --- irrelevant members ---


def test_members_without_selected_sources_are_not_read():
    union = verbs.concat(verbs.keep(STARS, ["hip"]), verbs.keep(TYCHO, ["hip"]))
    selection = SelectSources.of(union, "hip < 100")
    apart, without = disjoint(STARS.digest, TYCHO.digest), disjoint(selection.digest, TYCHO.digest)
    step = build_step(selection)
    assert tried(irrelevant_members, step, scene_of(selection)) is None, "nobody knows"
    assert tried(irrelevant_members, step, scene_of(selection, facts=[without])) is None, "the members may overlap"
    rewrite = tried(irrelevant_members, step, scene_of(selection, facts=[apart, without]))
    assert shape(rewrite.step) == "select(concat(scan))"
    assert rewrite.because == "1 of the 2 members of the union have no such sources"
    assert len(rewrite.statements) == 1
    empty = [without, disjoint(selection.digest, STARS.digest)]
    assert shape(tried(irrelevant_members, step, scene_of(selection, facts=empty)).step) == "nothing"


# --- limit calculators ---


@pytest.mark.parametrize("make", [scaled, lambda parent: derived(parent, d="plx * 2")], ids=["Python", "SQL"])
def test_derivations_come_after_what_drops_sources(make):
    step = "calculate" if make is scaled else "derive"
    some = SelectSources.of(make(STARS), "vmag < 6")
    assert one_rule(limit_calculators, some) == f"{step}(select(scan))"
    assert one_rule(limit_calculators, RestrictSources(make(STARS), TYCHO)) == f"{step}(restrict(scan, scan))"
    assert one_rule(limit_calculators, ExcludeSources(make(STARS), TYCHO)) == f"{step}(exclude(scan, scan))"
    assert one_rule(limit_calculators, CombineAttributes.of(make(STARS), TYCHO)) == f"{step}(combine(scan, scan))"


def test_a_selection_on_what_is_calculated_comes_after_it():
    assert one_rule(limit_calculators, SelectSources.of(WITH_D, "d > 1")) is None
    both = SelectSources.of(WITH_D, "d > 1 AND vmag < 6")
    assert one_rule(limit_calculators, both) == "select(calculate(select(scan)))"
    assert one_rule(limit_calculators, SelectSources.of(WITH_D, "d > 1 OR vmag < 6")) is None


def test_what_another_member_gives_is_not_derived_again():
    scene = scene_of(WITH_D)
    twice = Combine((build_step(WITH_D), stored(WITH_D)))
    assert shape(tried(limit_calculators, twice, scene).step) == "combine(scan, reuse)"


def test_a_union_is_calculated_for_the_sources_that_remain():
    other = base("other")
    union = ConcatSources.of(scaled(STARS), scaled(other), overlap="first")
    for make, word in ((RestrictSources, "restrict"), (ExcludeSources, "exclude")):
        catalog = make(union, TYCHO)
        limited = f"concat({word}(calculate(scan), scan), {word}(calculate(scan), scan))"
        assert one_rule(limit_calculators, catalog) == limited
        scene = scene_of(catalog)
        for step in walk_steps(planned(catalog, scene)[0]):
            assert not isinstance(step, Calculate) or scene.lies_in(step.extent, catalog.extent)
    joined = CombineAttributes.of(union, TYCHO)
    assert (
        one_rule(limit_calculators, joined) == "concat(combine(calculate(scan), scan), combine(calculate(scan), scan))"
    )
    assert one_rule(limit_calculators, RestrictSources(ConcatSources.of(STARS, other, overlap="first"), TYCHO)) is None


def test_the_other_one_of_an_intersection_is_left_alone():
    assert one_rule(limit_calculators, RestrictSources(TYCHO, WITH_D)) is None
    assert one_rule(limit_calculators, SelectSources.of(numbered(STARS), "vmag < 6")) is None
    assert one_rule(limit_calculators, RestrictSources(numbered(STARS), TYCHO)) is None


# --- select early ---


def test_selections_are_merged_and_done_where_rows_are_read():
    twice = SelectSources.of(BRIGHT, "plx > 10")
    assert one_rule(select_early, twice) == "select(scan)"
    assert one_rule(select_early, BRIGHT) is None
    bright = "vmag < 6"
    restricted = SelectSources.of(RestrictSources(STARS, TYCHO), bright)
    assert one_rule(select_early, restricted) == "restrict(select(scan), scan)"
    assert (
        one_rule(select_early, SelectSources.of(ExcludeSources(STARS, TYCHO), bright)) == "exclude(select(scan), scan)"
    )


def test_each_member_of_a_join_is_asked_what_it_knows():
    both = CombineAttributes.of(STARS, TYCHO)
    assert one_rule(select_early, SelectSources.of(both, "vmag < 6")) == "combine(select(scan), scan)"
    split = SelectSources.of(both, "vmag < 6 AND bt < 7 AND vmag < bt")
    assert one_rule(select_early, split) == "select(combine(select(scan), select(scan)))"
    assert one_rule(select_early, SelectSources.of(both, "vmag < bt")) is None
    assert one_rule(select_early, SampleSources.of(both, 0.5, 1)) == "combine(select(scan), select(scan))"


def test_a_selection_goes_into_a_union_where_all_members_mean_the_same():
    parts = [RestrictSources(STARS, TYCHO), ExcludeSources(STARS, TYCHO)]
    union = ConcatSources.of(*parts, overlap="disjoint")
    selected = SelectSources.of(union, "vmag < 6")
    assert one_rule(select_early, selected) == "concat(select(restrict(scan, scan)), select(exclude(scan, scan)))"
    other = base("other")
    differing = SelectSources.of(ConcatSources.of(STARS, other, overlap="first"), "vmag < 6")
    assert one_rule(select_early, differing) is None, "each has a vmag of its own"


def test_a_condition_on_what_a_union_gives_in_pieces_stays_after_it():
    other = base("other")
    both = RestrictSources(ConcatSources.of(STARS, other, overlap="first"), STARS)
    assert one_rule(select_early, SelectSources.of(both, "vmag < 6")) is None, "each has a vmag of its own"


# --- all rules together ---


def calculated_again(scene: Scene, after: PlanStep) -> Iterator[tuple[Calculate, FragmentScan]]:
    """Calculations of sources that a fragment holds."""
    for step in walk_steps(after):
        if isinstance(step, Calculate) and not step.is_catalog_wide:
            for kept in scene.fragments:
                outputs = {output.identity for output in step.outputs}
                if outputs <= kept.attributes.keys() and not scene.is_proved(
                    scene.state_disjoint(step.extent, kept.extent)
                ):
                    yield step, kept


@st.composite
def requests(draw: st.DrawFn) -> tuple[Catalog, list[FragmentScan]]:
    """A lineage with calculators, a request of it, and fragments of some of its catalogs."""
    catalogs = [table.catalog for table in draw(lineages(most=5))]
    for at, catalog in enumerate(catalogs):
        doubles = [attribute.name for attribute in catalog.schema.attributes if attribute.type.name == "double"]
        if doubles and "d" not in catalog.schema and draw(st.booleans()):
            catalogs[at] = scaled(catalog, of=draw(st.sampled_from(doubles)))
    catalog, other = draw(st.sampled_from(catalogs)), draw(st.sampled_from(catalogs))
    catalogs += [SelectSources.of(catalog, "`" + catalog.schema.names[-1] + "` > 1"), RestrictSources(catalog, other)]
    catalogs.append(
        ExcludeSources(scaled(catalog, "more", of=_double(catalog)) if _double(catalog) else catalog, other)
    )
    kept = draw(st.lists(st.sampled_from(catalogs), max_size=3, unique=True))
    fragments = [
        stored(catalog, number=n, rows=draw(st.sampled_from([0, 5, 10**8]))) for n, catalog in enumerate(kept, 1)
    ]
    return draw(st.sampled_from(catalogs[::-1])), fragments


def _double(catalog: Catalog) -> str | None:
    return next((attribute.name for attribute in catalog.schema.attributes if attribute.type.name == "double"), None)


@pytest.mark.parametrize(
    "examples", [pytest.param(40, id="quick"), pytest.param(3000, id="campaign", marks=pytest.mark.campaign)]
)
def test_rewriting_ends_where_no_rule_applies_and_nothing_stored_is_calculated(examples):
    """Whatever is asked: every rewrite is proved, no source is given twice or calculated though it is stored."""

    @settings(max_examples=examples, deadline=None)
    @given(requests())
    def check(case):
        catalog, fragments = case
        scene = scene_of(catalog, fragments=fragments)
        before = build_step(catalog)
        scene.note_definitions(before)
        after, applied = rewrite_plan(before, needed(catalog), scene)
        assert len(applied) < 100
        for rewrite in applied:
            assert all(map(scene.is_proved, rewrite.statements)), rewrite.rule
            assert scene.is_proved(scene.state_equal(rewrite.before.extent, rewrite.after.extent)), rewrite.rule
        assert rewrite_plan(after, needed(catalog), scene) == (after, ()), "nothing is left to do"
        assert disjoint_unions(scene, after)
        assert not list(calculated_again(scene, after))
        wanted_of = {id(after): needed(catalog)}
        for step in reversed(list(walk_steps(after))):
            for input_step, reads in zip(step.inputs, step.reads(wanted_of.get(id(step), frozenset())), strict=True):
                assert reads <= input_step.attributes.keys(), "what a step reads, its input gives"
                wanted_of[id(input_step)] = wanted_of.get(id(input_step), frozenset()) | reads

    check()


def test_every_rule_is_tested_by_itself():
    used = (
        Path(__file__).parent / file for file in ("test_rules.py", "test_reuse_rules.py", "test_reference_rules.py")
    )
    text = "".join(path.read_text() for path in used)
    assert [rule.__name__ for rule in RULES if f"({rule.__name__}, " not in text] == []
