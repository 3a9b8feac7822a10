"""What references, groups and arrays define, in words: proofs, descriptions and plans. Nothing is computed."""

from collections.abc import Callable

import pytest

import provenn
from provenn.catalogs import cone
from provenn.catalogs.references import Reference, lift_identity, lift_label
from provenn.words.reference_words import MemberSets, describe_criterion, list_label_identities, name_attribute
from tests.light_curves import define_light_curves


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        yield opened


@pytest.fixture
def catalogs(archive, tmp_path):
    return define_light_curves(archive, tmp_path)


def prove(archive: provenn.Archive, left: object, right: object) -> list[str]:
    """The reasons why two catalogs are related, a line each."""
    return [str(reason) for reason in archive.relate(left, right).reasons]


def describe_sources(catalog: provenn.Catalog) -> str:
    """The sources of a catalog in words."""
    (line,) = (line for line in str(catalog).splitlines() if line.startswith("  sources"))
    return line.removeprefix("  sources").strip()


def test_the_sources_of_each_class_are_described_without_digests(catalogs):
    assert {name: describe_sources(catalog) for name, catalog in catalogs.items()} == {
        "objects": "in objects",
        "detections": "in detections",
        "bright": "in objects and vmag < 6",
        "looked_up": "in detections and objid in objects",
        "curves": "named by objid of detections",
        "of_bright": "in detections and vmag < 6 and objid in objects",
        "in_bright": "in detections and vmag < 6 and objid in objects",
        "perhaps": "in detections",
        "detected": "in objects and vmag < 6 and named by objid of detections",
        "undetected": "in objects and not named by objid of detections",
        "latest": "in detections and first 2 of each objid in detections by mjd DESC",
        "points": "elements of curve and objid named by objid of detections",
    }


@pytest.mark.usefixtures("catalogs")
def test_a_proof_about_lookups_names_reference_and_catalogs(archive):
    assert {reason.split("  (")[0] for reason in prove(archive, "of_bright", "in_bright")} == {
        'looked_up == detections & "objid in objects"',
        'of_bright == looked_up & "vmag < 6"',
        'in_bright == detections & "objid in bright"',
        '"objid in bright" == "objid in objects" & "vmag < 6"',
    }


def test_partners_of_fewer_sources_are_partners_of_more_and_the_proof_says_why(archive, catalogs):
    objects, detections = catalogs["objects"], catalogs["detections"]
    objects.having(detections.select("mag < 3"), on="objid", name="few")
    objects.having(detections.select("mag < 5"), on="objid", name="more")
    reasons = prove(archive, "few", "more")
    assert (
        '"named by objid of (detections where mag < 3)" <= "named by objid of (detections where mag < 5)"  '
        "(every partner of the one is a partner of the other)"
    ) in reasons
    assert '"mag < 3" <= "mag < 5"  (by the order of the values)' in reasons, "the premise has its own reasons"


def test_a_condition_on_partners_selects_whole_groups(archive, catalogs):
    catalogs["in_bright"].group("objid", population="object", name="bright_curves")
    assert (
        '"named by objid of in_bright" == "named by objid of detections" & "vmag < 6" & objects  '
        "(a condition on the groups selects whole groups)"
    ) in prove(archive, "bright_curves", "detected")


def test_the_partners_of_first_sources_are_all_partners(archive, catalogs):
    catalogs["objects"].having(catalogs["latest"], on="objid", name="with_latest")
    catalogs["objects"].having(catalogs["detections"], on="objid", name="with_any")
    assert ('"named by objid of latest" == "named by objid of detections"  (every group has a first source)') in prove(
        archive, "with_latest", "with_any"
    )


def test_the_first_of_all_are_the_first_among_fewer(archive, catalogs):
    fewer = catalogs["detections"].select("mag < 5", name="fewer")
    fewer.first(by="objid", order="mjd DESC", n=2, name="latest_of_fewer")
    catalogs["latest"].restrict(fewer, name="latest_in_fewer")
    reasons = prove(archive, "latest_in_fewer", "latest_of_fewer")
    assert any(reason.endswith("(the first sources of each group stay the first among fewer)") for reason in reasons)


def test_no_reason_shows_a_digest_or_an_internal_label(archive, catalogs):
    for left, right in (("of_bright", "in_bright"), ("curves", "detected"), ("detected", "undetected")):
        for reason in prove(archive, left, right):
            assert "points [" not in reason
            assert "pointed [" not in reason
            assert catalogs["detections"].digest[:12] not in reason


def test_an_attribute_without_a_name_is_a_path_through_references():
    objects, galaxies = Reference(("d:objid",), "object"), Reference(("o:galaxy",), "galaxy")
    names = {"d:objid": "objid", "o:galaxy": "galaxy", "g:z": "z", "o:odd": "my z"}
    through_both = lift_identity(objects, lift_identity(galaxies, "g:z"))
    assert name_attribute(through_both, names) == "objid.galaxy.z"
    assert describe_criterion(f"`{through_both}` < 6.0D", names) == "objid.galaxy.z < 6"
    assert describe_criterion(f"`{through_both}` < 6.0D", {**names, through_both: "redshift"}) == "redshift < 6"
    assert describe_criterion(f"`{lift_identity(objects, 'o:odd')}` < 6.0D", names) == "`objid.my z` < 6"
    assert {"d:objid", "o:galaxy", "g:z"} <= set(list_label_identities(f"`{through_both}` < 6.0D"))


def test_paths_and_composite_references_are_read_from_left_to_right():
    objects, galaxies = Reference(("d:a", "d:b"), "object"), Reference(("o:galaxy",), "galaxy")
    names = {"d:a": "a", "d:b": "b", "o:galaxy": "galaxy"}
    sets = MemberSets({}, {})
    label = lift_label(objects, lift_label(galaxies, "0" * 64))
    assert sets.describe(label, lambda inner: {"0" * 64: "near"}[inner], names) == "(a, b).galaxy in near"
    assert sets.describe("vmag < 6", str, names) is None
    assert sets.describe(f"members({'0' * 64})", str, names) == "0" * 12


def test_members_that_no_catalog_has_are_described_by_their_parts(catalogs):
    detections = catalogs["detections"].definition
    members = catalogs["objects"].having(
        catalogs["detections"].select("mag < 3 or mag > 7").exclude(catalogs["latest"]), on="objid"
    )
    sources = describe_sources(members)
    assert sources.startswith("in objects and ")
    assert "named by objid of (detections where" in sources
    assert detections in cone(members.definition)


@pytest.mark.parametrize(
    "name", ["looked_up", "of_bright", "perhaps", "detected", "undetected", "curves", "latest", "points"]
)
def test_the_plan_of_each_class_reads_well(catalogs, golden: Callable[[str, str], None], name):
    golden(f"tests/golden/plan-reference-{name}.txt", f"{catalogs[name].plan()}\n")


def test_rows_of_steps_have_bounds_and_estimates(catalogs):
    plans = {name: str(catalog.plan()) for name, catalog in catalogs.items()}
    assert "at most 10 sources, ~10" in plans["looked_up"], "each of ten detections has one object at most"
    assert "10 sources" in plans["perhaps"]
    assert "at most 10 sources" in plans["curves"], "there are no more groups than members"
    assert "at most 4 sources" in plans["detected"], "objects without vmag are not bright"
    assert "at most" not in plans["points"].split("take the elements", 1)[1].splitlines()[1], "arrays have any length"
