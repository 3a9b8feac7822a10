"""What is stored is not computed: whole, in part, on the way."""

import pytest

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ExcludeSources,
    KeepAttributes,
    RestrictSources,
    SelectSources,
    verbs,
)
from provenn.logic import disjoint
from provenn.targets.literal import build_step
from provenn.targets.rules.continue_match import continue_match
from provenn.targets.rules.examples import make_base
from provenn.targets.rules.reuse_part import reuse_part
from provenn.targets.rules.reuse_whole import reuse_whole
from provenn.targets.steps import Calculate, FragmentScan, walk_steps
from tests.targets.samples import (
    BRIGHT,
    FAINT,
    PLX,
    STARS,
    TYCHO,
    VMAG,
    WITH_D,
    D,
    disjoint_unions,
    numbered,
    one_rule,
    plan,
    scaled,
    shape,
    tried,
)
from tests.targets.scenes import planned, scene_of, stored


def narrowed(criterion: str) -> Catalog:
    """The stars for which a criterion holds, with what is calculated of them."""
    return scaled(SelectSources.of(STARS, criterion))


def test_a_fragment_that_holds_all_of_it_is_read():
    held = scaled(BRIGHT)
    assert one_rule(reuse_whole, held, fragments=[stored(held)]) == "reuse"
    assert one_rule(reuse_whole, KeepAttributes.of(held, ["d"]), fragments=[stored(held)]) == "reuse"
    assert one_rule(reuse_whole, held, fragments=[stored(FAINT)]) is None, "other sources"
    other = scaled(BRIGHT, factor=3.0)
    kept = stored(other, [other.schema["d"].identity])
    assert one_rule(reuse_whole, held, fragments=[kept]) is None, "another attribute by this name"
    assert one_rule(reuse_whole, STARS, fragments=[stored(held)]) is None, "too few sources"


@pytest.mark.parametrize(
    "criterion", ["vmag < 5", "vmag < 6 AND plx > 3", "plx > 3 AND vmag < 6", "vmag = 4", "vmag < 6"]
)
def test_a_narrower_criterion_than_the_stored_one_calculates_nothing(criterion):
    assert plan(narrowed(criterion), fragments=[stored(scaled(BRIGHT))]) in {"select(reuse)", "reuse"}


@pytest.mark.parametrize("criterion", ["vmag < 5", "vmag < 6 AND plx > 3", "vmag < 6 AND bt > 3"])
def test_a_fragment_without_what_the_criterion_reads_is_joined_with_rows_that_have_it(criterion):
    both = CombineAttributes.of(STARS, TYCHO)
    asked = KeepAttributes.of(scaled(SelectSources.of(both, criterion)), ["d"])
    after = planned(asked, scene_of(asked, fragments=[stored(scaled(BRIGHT), [D])]))[0]
    assert not [step for step in walk_steps(after) if isinstance(step, Calculate)]
    assert [step for step in walk_steps(after) if isinstance(step, FragmentScan)]


def test_reordered_and_differently_written_criteria_are_the_same_sources():
    kept = stored(scaled(SelectSources.of(STARS, "plx > 3 AND vmag < 6")))
    for text in ("vmag < 6 AND plx > 3", "NOT (vmag >= 6) AND 3 < plx", "(plx > 3) AND (vmag < 6) AND vmag < 7"):
        assert plan(narrowed(text), fragments=[kept]) == "reuse"
    twice = scaled(SelectSources.of(SelectSources.of(STARS, "vmag < 6"), "plx > 3"))
    assert plan(twice, fragments=[kept]) == "reuse"


def test_an_overlapping_request_computes_exactly_the_sources_that_are_not_stored():
    asked, kept = narrowed("vmag < 8"), stored(scaled(BRIGHT))
    scene = scene_of(asked, fragments=[kept])
    found = tried(reuse_part, build_step(asked), scene)
    held, rest = found.step.members
    assert shape(held) == "reuse"
    assert shape(rest) == "calculate(select(scan))"
    assert scene.is_proved(scene.state_equal(rest.extent, asked.extent - kept.extent))
    assert scene.is_proved(scene.state_equal(held.extent, asked.extent & kept.extent))
    assert scene.is_proved(scene.state_disjoint(held.extent, rest.extent))
    assert found.step.is_disjoint


def test_a_request_that_crosses_the_stored_sources_takes_what_is_common():
    asked, kept = narrowed("vmag > 3"), stored(scaled(BRIGHT))
    scene = scene_of(asked, fragments=[kept])
    assert shape(tried(reuse_part, build_step(asked), scene).step) == "concat(select(reuse), calculate(select(scan)))"


def test_disjoint_and_other_fragments_are_left_alone():
    asked = narrowed("vmag > 7")
    for kept in (
        stored(scaled(BRIGHT)),
        stored(scaled(STARS, factor=3.0)),
        stored(STARS, [VMAG]),
        stored(scaled(FAINT), [VMAG, PLX]),
    ):
        assert one_rule(reuse_part, asked, fragments=[kept]) is None
        assert "reuse" not in plan(asked, fragments=[kept]) or D not in kept.attributes


def test_a_fragment_with_other_attributes_only_can_still_feed_the_calculator():
    """Values of the base that are stored for fewer sources are cheaper to read; the calculator is called as before."""
    kept = stored(BRIGHT, [PLX], rows=10)
    asked = KeepAttributes.of(scaled(BRIGHT), ["d"])
    assert plan(asked, fragments=[kept]) == "calculate(reuse)"


def test_a_few_sources_are_taken_from_a_large_fragment_rather_than_computed_again():
    """What is stored is never computed twice, even where calling the calculator might seem cheaper than reading."""
    few = narrowed("vmag < 0")
    kept = stored(scaled(BRIGHT), rows=10**9)
    rows = {STARS.extent.digest: 10**9, few.extent.digest: 1, BRIGHT.extent.digest: 10**9}
    after = planned(few, scene_of(few, fragments=[kept], rows=rows))[0]
    assert not [step for step in walk_steps(after) if isinstance(step, Calculate)]


def test_two_fragments_and_the_remainder():
    asked = narrowed("vmag < 9")
    low, high = scaled(SelectSources.of(STARS, "vmag < 3")), scaled(SelectSources.of(STARS, "vmag > 5"))
    kept = [stored(low, number=1), stored(high, number=2)]
    scene = scene_of(asked, fragments=kept)
    after = planned(asked, scene)[0]
    (calculation,) = (step for step in walk_steps(after) if isinstance(step, Calculate))
    assert scene.is_proved(scene.state_equal(calculation.extent, asked.extent - low.extent - high.extent))
    assert sorted(step.fragment.id for step in walk_steps(after) if isinstance(step, FragmentScan)) == [1, 2]
    assert disjoint_unions(scene, after)


def test_overlapping_fragments_give_each_source_once():
    asked = narrowed("vmag < 9")
    low, high = scaled(SelectSources.of(STARS, "vmag < 5")), scaled(SelectSources.of(STARS, "vmag > 3"))
    kept = [stored(low, number=1), stored(high, number=2)]
    scene = scene_of(asked, fragments=kept)
    after = planned(asked, scene)[0]
    assert not [step for step in walk_steps(after) if isinstance(step, Calculate)]
    assert disjoint_unions(scene, after)


def test_the_remainder_is_told_by_keys_where_rows_do_not_tell():
    """Which stars are in Tycho no row of the stars tells; so the keys of the fragment do."""
    kept = stored(scaled(RestrictSources(STARS, TYCHO)))
    scene = scene_of(WITH_D, fragments=[kept])
    found = tried(reuse_part, build_step(WITH_D), scene)
    assert shape(found.step.members[1]) == "calculate(exclude(scan, reuse))"
    after = planned(WITH_D, scene)[0]
    assert disjoint_unions(scene, after)
    (calculation,) = (step for step in walk_steps(after) if isinstance(step, Calculate))
    assert scene.is_proved(scene.state_disjoint(calculation.extent, kept.extent))


def test_what_is_reused_in_part_is_not_given_up_for_what_is_cheaper_to_read():
    kept = [stored(scaled(ExcludeSources(STARS, TYCHO)), number=1, rows=10**8), stored(STARS, number=2, rows=0)]
    after, applied = planned(WITH_D, scene_of(WITH_D, fragments=kept))
    assert shape(after) == "concat(reuse, calculate(exclude(reuse, reuse)))"
    assert [one.rule for one in applied] == ["reuse_whole", "reuse_part"]


def test_the_remainder_of_a_selection_on_what_is_calculated_is_told_by_keys():
    """To see by the row that its d is not above 1, that d would be calculated again."""
    kept = stored(SelectSources.of(WITH_D, "d > 1"))
    after = planned(WITH_D, scene_of(WITH_D, fragments=[kept]))[0]
    assert shape(after) == "concat(reuse, calculate(exclude(scan, reuse)))"


def test_results_for_a_whole_catalog_are_reused_as_a_whole_or_not_at_all():
    whole = numbered(STARS)
    assert plan(whole, fragments=[stored(whole)]) == "reuse"
    assert plan(SelectSources.of(whole, "vmag < 6"), fragments=[stored(whole)]) == "select(reuse)"
    part = SelectSources.of(whole, "vmag < 6")
    assert plan(part, fragments=[stored(part)]) == "reuse"
    assert plan(whole, fragments=[stored(part)]) == "calculate(scan)"


def test_an_intermediate_result_is_reused_on_the_way():
    """An attribute that is calculated from a stored one reads the stored one."""
    chained = scaled(WITH_D, "e", 3.0, of="d")
    asked = KeepAttributes.of(chained, ["e"])
    after = planned(asked, scene_of(asked, fragments=[stored(WITH_D, [D])]))[0]
    assert shape(after) == "calculate(reuse)"


# --- stored pairs of a version that grew ---


def test_stored_pairs_of_the_files_before_are_continued():
    old, other = make_base("old", ["ra", "dec"]), make_base("other", ["ra", "dec"])
    new = make_base("new", ["ra", "dec"]).continue_base(old.digest)
    grown = verbs.concat(old, new)
    pairs = stored(verbs.crossmatch(old, other, 2))
    apart = [disjoint(old.digest, new.digest)]
    match = verbs.crossmatch(grown, other, 2)
    assert one_rule(continue_match, match, fragments=[pairs], facts=apart) == "continue match(reuse, scan, scan)"
    assert one_rule(continue_match, match, facts=apart) is None, "nothing is stored"
    assert one_rule(continue_match, verbs.crossmatch(grown, other, 3), fragments=[pairs], facts=apart) is None
    assert one_rule(continue_match, grown, fragments=[pairs], facts=apart) is None, "no match"
