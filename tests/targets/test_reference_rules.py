"""The rules for lookups, partners and groups, each by itself: what it rewrites, and what it leaves alone."""

from provenn.catalogs import Catalog, verbs
from provenn.logic import subset
from provenn.targets.rules.continue_groups import continue_groups
from provenn.targets.rules.limit_groups import limit_groups
from provenn.targets.rules.limit_partners import limit_partners
from provenn.targets.rules.look_up_last import look_up_last
from provenn.targets.rules.redundant_partners import redundant_partners
from provenn.targets.rules.reuse_groups import reuse_groups
from provenn.targets.rules.select_early import select_early
from tests.catalogs.samples import base
from tests.targets.samples import BRIGHT, STARS, one_rule, plan, scaled
from tests.targets.scenes import stored

DETECTIONS = base(
    "detections",
    {"id": "bigint", "star": "bigint", "mag": "double", "mjd": "double"},
    key="id",
    population="detection",
)
LOOKED_UP = verbs.lookup(DETECTIONS, STARS, on="star", attributes=["vmag"], missing="drop")
COUNTED = verbs.group(DETECTIONS, "star", {"n": "count(*)", "s": "stddev(mag)"}, population="star")
FAINT_DETECTIONS = verbs.select(DETECTIONS, "mag > 20")


def of_bright(*names: str) -> Catalog:
    """The detections of bright stars."""
    return verbs.lookup(DETECTIONS, BRIGHT, on="star", attributes=names, missing="drop")


def test_partners_that_all_sources_have_are_not_sought():
    seen = verbs.having(STARS, DETECTIONS, on="star")
    assert one_rule(redundant_partners, seen, facts=[subset(STARS.digest, seen.digest)]) == "scan"
    assert one_rule(redundant_partners, seen) is None
    unseen = verbs.without(STARS, DETECTIONS, on="star")
    assert one_rule(redundant_partners, unseen, facts=[subset(STARS.digest, unseen.digest)]) == "scan"


def test_rows_are_asked_for_their_own_partners():
    seen = verbs.having(STARS, DETECTIONS, on="star")
    assert one_rule(redundant_partners, verbs.restrict(BRIGHT, seen)) == "partnered(select(scan), scan)"
    tycho = base("tycho", {"hip": "bigint", "bt": "double"})
    assert one_rule(redundant_partners, verbs.restrict(tycho, seen)) is None, "its rows may be others"


def test_selections_are_made_among_sources_and_partners():
    assert one_rule(select_early, verbs.select(LOOKED_UP, "vmag < 6")) == "lookup(scan, select(scan))"
    assert one_rule(select_early, verbs.select(LOOKED_UP, "mag < 6")) == "lookup(select(scan), scan)"
    both = verbs.select(LOOKED_UP, "vmag < 6 AND mag < 20 AND vmag < mag")
    assert one_rule(select_early, both) == "select(lookup(select(scan), select(scan)))"


def test_a_selection_by_what_may_be_missing_stays_after_the_lookup():
    looked_up = verbs.lookup(DETECTIONS, STARS, on="star", attributes=["vmag"], missing="null")
    assert one_rule(select_early, verbs.select(looked_up, "vmag IS NULL")) is None
    assert one_rule(select_early, verbs.select(looked_up, "mag < 20")) == "lookup(select(scan), scan)"


def test_a_selection_of_groups_comes_before_the_first_of_each():
    latest = verbs.first(DETECTIONS, "star", "mjd DESC")
    assert one_rule(select_early, verbs.select(latest, "star < 100")) == "first(select(scan))"
    assert one_rule(select_early, verbs.select(latest, "mag < 20")) is None, "another one may be the first then"


def test_a_selection_by_the_key_of_groups_selects_members():
    assert one_rule(select_early, verbs.select(COUNTED, "star < 100")) == "group(select(scan))"
    assert one_rule(select_early, verbs.select(COUNTED, "n > 3")) is None


def test_partners_are_looked_up_last():
    assert (
        one_rule(look_up_last, verbs.restrict(LOOKED_UP, FAINT_DETECTIONS))
        == "lookup(restrict(scan, select(scan)), scan)"
    )
    assert (
        one_rule(look_up_last, verbs.exclude(LOOKED_UP, FAINT_DETECTIONS))
        == "lookup(exclude(scan, select(scan)), scan)"
    )
    joined = verbs.combine(FAINT_DETECTIONS, LOOKED_UP)
    assert one_rule(look_up_last, joined) == "lookup(combine(select(scan), scan), scan)"
    assert one_rule(look_up_last, verbs.restrict(FAINT_DETECTIONS, LOOKED_UP)) is None


def test_a_calculator_is_called_for_the_partners_alone():
    with_d = verbs.lookup(DETECTIONS, scaled(STARS), on="star", attributes=["d"], missing="drop")
    assert one_rule(limit_partners, with_d) == "lookup(scan, partnered(calculate(scan), scan))"
    assert one_rule(limit_partners, LOOKED_UP) is None, "nothing is calculated"
    assert one_rule(limit_partners, with_d, fragments=[stored(scaled(STARS))]) is None, "all of it is stored"
    few = verbs.select(with_d, "mag < 20")
    assert plan(few) == "lookup(select(scan), calculate(partnered(scan, select(scan))))"


def test_a_calculator_that_chooses_the_sources_is_not_called_twice():
    calculated = scaled(DETECTIONS, of="mag")
    chosen = verbs.select(calculated, "d > 3")
    looked_up = verbs.lookup(chosen, scaled(STARS, "e"), on="star", attributes=["e"], missing="drop")
    assert one_rule(limit_partners, looked_up) is None


def test_stored_groups_are_restricted_to_the_requested_ones():
    again = verbs.group(of_bright(), "star", {"n": "count(*)"}, population="star")
    assert one_rule(reuse_groups, again, fragments=[stored(COUNTED)]) == "restrict(reuse, select(scan))"
    other_members = verbs.group(FAINT_DETECTIONS, "star", {"n": "count(*)"}, population="star")
    assert one_rule(reuse_groups, other_members, fragments=[stored(COUNTED)]) is None


def test_few_groups_are_grouped_alone():
    restricted, few = verbs.restrict(COUNTED, BRIGHT), {BRIGHT.extent.digest: 10, STARS.extent.digest: 1000}
    limited = "restrict(group(partnered(scan, select(scan))), select(scan))"
    assert one_rule(limit_groups, restricted, rows=few) == limited
    assert one_rule(limit_groups, restricted, rows=few | {BRIGHT.extent.digest: 900}) is None, (
        "most groups are requested"
    )
    assert one_rule(limit_groups, restricted, rows=few, fragments=[stored(COUNTED)]) is None
    assert one_rule(limit_groups, verbs.restrict(BRIGHT, COUNTED)) is None


def test_groups_that_no_earlier_version_has_are_computed():
    of_faint = verbs.group(FAINT_DETECTIONS, "star", {"n": "count(*)"}, population="star")
    assert one_rule(continue_groups, COUNTED, fragments=[stored(of_faint)]) is None
