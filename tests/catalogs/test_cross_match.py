"""Pairs, and the sources that occur in them: attributes, populations, what is refused."""

import math
from random import Random

import pytest
from astropy import units

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
    restore,
)
from provenn.catalogs.match_sets import describe_match
from provenn.errors import AttributeNotFoundError, DefinitionError, PopulationError, ProvennError
from tests.catalogs.samples import base, derived
from tests.targets.grown_skies import Versions, random_row

SKY = {"hip": "bigint", "ra": "double", "dec": "double", "vmag": "double"}
STARS = base("hipparcos", SKY)
GALAXIES = base(
    "ngc", {"ngc": "string", "RAJ2000": "double", "DEJ2000": "double", "vmag": "float"}, key="ngc", population="galaxy"
)
PAIRS = CrossMatch.of(STARS, GALAXIES, 2)


def test_one_row_is_a_pair():
    assert str(PAIRS.population) == "star & galaxy (bigint, string)"
    assert [(attribute.name, attribute.identity) for attribute in PAIRS.schema.key] == [
        ("hip", "key:star & galaxy:0"),
        ("ngc", "key:star & galaxy:1"),
    ]
    assert [str(attribute) for attribute in CrossMatch.of(PAIRS, STARS, 2).population.key] == [
        "bigint",
        "string",
        "bigint",
    ]
    assert CrossMatch.of(PAIRS, STARS, 2).population.name == "(star & galaxy) & star"


def test_a_pair_has_the_attributes_of_both_and_the_separation():
    assert PAIRS.schema.names == ("hip", "ra", "dec", "vmag", "ngc", "RAJ2000", "DEJ2000", "vmag_2", "separation")
    assert [str(PAIRS.schema[name].type) for name in ("vmag", "vmag_2", "separation")] == ["double", "float", "double"]
    assert (PAIRS.separation.unit, PAIRS.separation.nullable) == ("arcsec", False)
    assert [(item.name, own.name) for item, own in PAIRS.attributes_of("right")] == [
        *(("ngc", "ngc"), ("RAJ2000", "RAJ2000"), ("DEJ2000", "DEJ2000"), ("vmag_2", "vmag"))
    ]


def test_they_are_attributes_of_the_pair_and_of_nothing_else():
    """A criterion on them says nothing of stars; two matches do not share them."""
    own = {attribute.identity for attribute in PAIRS.schema.attributes}
    others = [STARS, GALAXIES, CrossMatch.of(STARS, GALAXIES, 3)]
    shared = [
        attribute.identity for other in others for attribute in other.schema.attributes if attribute.identity in own
    ]
    assert shared == ["key:star & galaxy:0", "key:star & galaxy:1"]


def test_names_that_are_taken_get_the_suffix_until_they_are_free():
    itself = CrossMatch.of(STARS, STARS, 1)
    assert itself.schema.names[4:] == ("hip_2", "ra_2", "dec_2", "vmag_2", "separation")
    assert CrossMatch.of(STARS, STARS, 1, suffix=" b").schema.names[4:6] == ("hip b", "ra b")
    more = CrossMatch.of(itself, itself, 1)
    assert len(set(more.schema.names)) == 19
    assert more.separation.name == "separation_2_2"


def test_the_main_position_of_a_pair_is_that_of_its_left_source():
    """So that pairs can be matched again."""
    again = CrossMatch.of(PAIRS, STARS, 5)
    assert [coordinate for coordinate, _ in again.coordinates[:2]] == [
        PAIRS.schema["ra"].identity,
        PAIRS.schema["dec"].identity,
    ]


def test_however_it_is_said_it_is_one_catalog():
    alike = ["2 arcsec", 2.0, "2", 2 * units.arcsec]
    assert {CrossMatch.of(STARS, GALAXIES, item) for item in alike} == {PAIRS}
    places = (("RA", "DEC"), None), [["ra", "dec"], ["raj2000", "dej2000"]], (None, None)
    assert {CrossMatch.of(STARS, GALAXIES, 2, on=place) for place in places} == {PAIRS}
    assert CrossMatch.of(STARS, STARS, 2, on=("ra", "dec")) == CrossMatch.of(STARS, STARS, 2)
    assert CrossMatch.of(STARS, GALAXIES, 2, matches="all") != PAIRS


def test_the_unit_of_a_position_counts():
    """What is for people is not identity elsewhere; here it decides which pairs there are."""
    radians = base("hipparcos", SKY, units={"ra": "rad", "dec": "rad"})
    assert radians.digest == STARS.digest
    catalog = CrossMatch.of(radians, GALAXIES, 2)
    assert [unit for _, unit in catalog.coordinates] == ["rad", "rad", "deg", "deg"]
    assert catalog.extent != PAIRS.extent
    with pytest.raises(DefinitionError, match="'mag' is not a known unit of angles"):
        CrossMatch.of(base("hipparcos", SKY, units={"ra": "mag"}), GALAXIES, 2)


@pytest.mark.parametrize("radius", [0, -1, math.nan, math.inf, 648001, "a while", None])
def test_a_radius_is_an_angle(radius):
    with pytest.raises(DefinitionError):
        CrossMatch.of(STARS, GALAXIES, radius)


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ({"matches": "nearest"}, "best or all"),
        ({"on": "ra"}, "on="),
        ({"on": (("ra",), None)}, "two attributes"),
        ({"on": (("ra", "dec"), ("ra", "dec"))}, "'ra'"),
        ({"on": (None, ("ngc", "DEJ2000"))}, "ngc has the type string"),
        ({"suffix": ""}, "cannot name"),
        ({"suffix": "\n"}, "cannot name"),
    ],
)
def test_what_cannot_be_matched_is_told(arguments, output):
    with pytest.raises(ProvennError) as failed:
        CrossMatch.of(STARS, GALAXIES, 2, **arguments)
    assert output in f"{failed.value} {failed.value.hint}"


def test_where_no_position_is_known_it_is_asked_for():
    with pytest.raises(DefinitionError, match="position on the sky") as failed:
        CrossMatch.of(STARS, base("x"), 2)
    assert "on=" in failed.value.hint
    with pytest.raises(AttributeNotFoundError):
        CrossMatch.of(STARS, GALAXIES, 2, on=("ra", "decl"))


def test_pairs_and_sources_have_nothing_in_common():
    with pytest.raises(PopulationError):
        RestrictSources(PAIRS, STARS)
    with pytest.raises(PopulationError):
        CombineAttributes.of(STARS, PAIRS)


def test_the_matched_sources_of_parts_of_a_match():
    """Of any catalog whose pairs are among those of one match."""
    near = SelectSources.of(PAIRS, "separation < 1")
    parts: list[Catalog] = [
        PAIRS,
        near,
        SampleSources.of(PAIRS, 0.5),
        KeepAttributes.of(PAIRS, []),
        RenameAttributes.of(near, {"hip": "k"}),
        DeriveAttributes.of(PAIRS, SqlCalculator.of({"twice": "2 * separation"})),
        ExcludeSources(PAIRS, near),
        RestrictSources(near, CrossMatch.of(STARS, GALAXIES, 5, matches="all")),
    ]
    for part in parts:
        left, right = MatchedSources.of(part, "left"), MatchedSources.of(part, "right")
        assert (left.parent, right.parent) == (STARS, GALAXIES)
        assert (left.schema, right.schema) == (STARS.schema, GALAXIES.schema)
        assert [element.name for element in part.schema.key[right.key]] == ["ngc"]
    assert MatchedSources.of(KeepAttributes.of(PAIRS, []), "left").extent == MatchedSources.of(PAIRS, "left").extent
    for item in (STARS, MatchedSources.of(PAIRS, "left"), ConcatSources.of(near, PAIRS)):
        with pytest.raises(DefinitionError, match="expected pairs of a cross-match"):
            MatchedSources.of(item, "left")
    with pytest.raises(DefinitionError, match="middle"):
        MatchedSources.of(PAIRS, "middle")


def test_the_two_sides_of_a_catalog_matched_with_itself_are_two_sets():
    """In the pairs with ``hip < hip_2``, those on the left are others than those on the right."""
    pairs = CrossMatch.of(STARS, STARS, 2, matches="all")
    half = SelectSources.of(pairs, "hip < hip_2")
    left, right = MatchedSources.of(half, "left"), MatchedSources.of(half, "right")
    assert left.extent != right.extent
    assert describe_match(right.atoms()[0].label) == (
        "on the right of such a pair within 2 arcsec of",
        STARS.extent.digest,
    )
    assert MatchedSources.of(pairs, "left").extent == MatchedSources.of(pairs, "right").extent


def test_what_is_stored_is_checked_when_it_is_read():
    """Nobody can give a match a meaning that the class would not."""
    good, notes = dict(PAIRS.parameters()), PAIRS.notes()
    assert restore("CrossMatch", good, notes, [STARS, GALAXIES]) == PAIRS
    changes = [("radius", -1), ("radius", "x"), ("matches", "some"), ("suffix", ""), ("coordinates", [])]
    changes += [("coordinates", [*good["coordinates"][:3], ["nothing", "deg"]])]
    changes += [("coordinates", [*good["coordinates"][:3], [good["coordinates"][3][0], "parsec"]])]
    for name, value in changes:
        with pytest.raises(ProvennError):
            restore("CrossMatch", good | {name: value}, notes, [STARS, GALAXIES])
    matched = MatchedSources.of(PAIRS, "left")
    assert restore("MatchedSources", matched.parameters(), {}, [STARS, PAIRS]) == matched
    bright = SelectSources.of(STARS, "vmag < 6")
    for parent, side in ((bright, "left"), (STARS, "right"), (STARS, "top")):
        with pytest.raises(DefinitionError):
            restore("MatchedSources", {"side": side}, {}, [parent, PAIRS])


def test_sets_of_matches_in_words():
    near, paired = (MatchedSources.of(item, "left") for item in (PAIRS, SelectSources.of(PAIRS, "separation < 1")))
    other = GALAXIES.extent.digest
    assert describe_match(near.atoms()[0].label) == ("within 2 arcsec of", other)
    assert describe_match(paired.atoms()[0].label) == ("on the left of such a pair within 2 arcsec of", other)
    assert describe_match(PAIRS.extent.label or "") == ("best pairs within 2 arcsec", None)
    every = CrossMatch.of(STARS, GALAXIES, 0.001, matches="all")
    assert describe_match(every.extent.label or "") == ("pairs within 0.001 arcsec", None)
    assert describe_match("vmag < 6") is None


def test_what_is_calculated_of_a_version_is_one_attribute_of_its_pairs():
    """The pieces of the attribute are attributes of stars, not of pairs: a selection of pairs must not read them."""
    rng = Random(1)
    versions = Versions({name: {key: random_row(rng, key)} for key, name in enumerate("ab")}, "/nowhere/nights")
    versions.change({**versions.folder, "b": {1: random_row(rng, 1)}})
    calculated = derived(versions.versions[-1].catalog, twice="2 * vmag")
    assert calculated.schema["twice"].all_pieces
    pairs = CrossMatch.of(calculated, calculated, 5, on=("vmag", "plx"))
    assert [attribute.name for attribute in pairs.schema.attributes if attribute.all_pieces] == []
    (condition,) = set(SelectSources.of(pairs, "twice < 3").extent.labels) - set(pairs.extent.labels)
    assert pairs.schema["twice"].identity in condition
