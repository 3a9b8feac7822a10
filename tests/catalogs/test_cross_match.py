"""Pairs, and the sources that occur in them: attributes, populations, what is refused."""

import json
import math
from itertools import pairwise
from random import Random

import numpy as np
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
from provenn.catalogs.match_sets import describe_match, make_nearest_term
from provenn.catalogs.placements import Motion, Placement
from provenn.errors import AttributeNotFoundError, DefinitionError, PopulationError, ProvennError
from provenn.logic import Knowledge, subset
from tests.catalogs.samples import base, derived
from tests.targets.grown_skies import Versions, random_row

SKY = {"hip": "bigint", "ra": "double", "dec": "double", "vmag": "double"}
STARS = base("hipparcos", SKY)
GALAXIES = base(
    "ngc", {"ngc": "string", "RAJ2000": "double", "DEJ2000": "double", "vmag": "float"}, key="ngc", population="galaxy"
)
PAIRS = CrossMatch.of(STARS, GALAXIES, 2)
CIRCLES = base(
    "circles",
    {**SKY, "err": "double", "distance": "double", "name": "string", "pm": "double", "seen": "date"},
    units={"err": "mas", "distance": "pc", "pm": "mas.yr-1"},
)


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
    assert CrossMatch.of(STARS, GALAXIES, 2, matches=1) == PAIRS
    assert {CrossMatch.of(STARS, GALAXIES, 2, matches=kind).matches for kind in (3, "3", np.int64(3))} == {3}


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
        *(({"matches": kind}, "best, all, mutual") for kind in ("nearest", 0, -1, 1001, 2.0, True, None, "0", "²", "")),
        ({"min_radius": -1}, "above 0"),
        ({"min_radius": "far"}, "expected an angle, got 'far'"),
        ({"min_radius": 3}, "up to the radius 2 arcsec"),
        ({"max_radius": 3}, "a largest radius limits a radius from an attribute"),
        ({"radius": "err"}, 'max_radius="10 arcsec"'),
        ({"radius": "err", "max_radius": 0}, "above 0"),
        ({"radius": "vmag", "max_radius": 3}, "vmag has no unit"),
        ({"radius": "distance", "max_radius": 3}, "'pc' is not a known unit of angles"),
        ({"radius": "name", "max_radius": 3}, "name has the type string"),
        ({"radius": "nothing", "max_radius": 3}, "there is no attribute 'nothing'"),
        ({"radius": "nothing"}, "expected an angle, got 'nothing'"),
        ({"on": "ra"}, "on="),
        ({"on": (("ra",), None)}, "two attributes"),
        ({"on": (("ra", "dec"), ("ra", "dec"))}, "'ra'"),
        ({"on": (("hip", "seen"), None)}, "seen has the type date"),
        ({"frame": "ecliptic"}, "expected a frame of coordinates, got 'ecliptic'"),
        ({"frame": ("icrs",)}, "expected the frames of both sides"),
        ({"frame": 5}, "expected the frames of both sides"),
        ({"frame": ("icrs", "galactic")}, "known to be a galactic position"),
        ({"epochs": (2000, 2016)}, "give it: epoch=2016.0"),
        ({"motions": (("pm", "pm"), None)}, "give it: epoch=2016.0"),
        ({"epoch": "soon"}, "expected an epoch in Julian years from 1000 to 3000, got 'soon'"),
        ({"epoch": 57388.5}, "expected an epoch in Julian years"),
        ({"epoch": True}, "expected an epoch in Julian years"),
        ({"epoch": 2016}, "neither side has proper motions"),
        ({"epoch": 2016, "motions": (("pm", "pm"), None)}, "epoch of the positions of the left side is not known"),
        ({"epoch": 2016, "motions": (("pm",), None)}, "expected 2 or 4 attributes of the motion of the left side"),
        ({"epoch": 2016, "motions": ("pm", "pm")}, "expected 2 or 4 attributes of the motion of the left side"),
        ({"epoch": 2016, "motions": (("pm", "err"), None), "epochs": (2000, None)}, "err has the unit 'mas'"),
        ({"epoch": 2016, "motions": (("pm", "name"), None), "epochs": (2000, None)}, "name has the type string"),
        ({"epoch": 2016, "motions": (("pm", "nothing"), None), "epochs": (2000, None)}, "'nothing'"),
        ({"epoch": 2016, "motions": (("pm", "pm"), None), "epochs": ("distance", None)}, "distance has the unit 'pc'"),
        ({"epoch": 2016, "motions": (("pm", "pm"), None), "epochs": ("never", None)}, "got 'never'"),
        ({"epoch": 2016, "motions": (("pm", "pm"), None), "epochs": 2000}, "expected the epochs of both sides"),
        ({"suffix": ""}, "cannot name"),
        ({"suffix": "\n"}, "cannot name"),
    ],
)
def test_what_cannot_be_matched_is_told(arguments, output):
    with pytest.raises(ProvennError) as failed:
        CrossMatch.of(CIRCLES, GALAXIES, **{"radius": 2} | arguments)
    assert output in f"{failed.value} {failed.value.hint}"


def test_where_no_position_is_known_it_is_asked_for():
    with pytest.raises(DefinitionError, match="position on the sky") as failed:
        CrossMatch.of(STARS, base("x"), 2)
    assert "on=" in failed.value.hint
    with pytest.raises(AttributeNotFoundError):
        CrossMatch.of(STARS, GALAXIES, 2, on=("ra", "decl"))


GAIA = base(
    "gaia",
    {**SKY, "pmra": "double", "pmdec": "double", "parallax": "float", "rv": "double", "ref_epoch": "double"},
    units={"pmra": "mas.yr**-1", "pmdec": "arcsec/year", "rv": "m s-1", "ref_epoch": "yr"},
)


def test_motions_are_found_by_name_and_unit():
    left, right = CrossMatch.of(GAIA, STARS, 2, epoch="J2000").placements
    assert right == Placement()
    names = [("pmra", "mas/yr"), ("pmdec", "arcsec/yr"), ("parallax", "mas"), ("rv", "m/s")]
    columns = tuple((GAIA.schema[name].identity, unit) for name, unit in names)
    assert left.motion == Motion(columns, (GAIA.schema["ref_epoch"].identity, "yr"), 2000.0)
    given = CrossMatch.of(GAIA, STARS, 2, epoch=2000, epochs=(2016, None), motions=(("PMRA", "pmdec"), ()))
    assert given.placements[0].motion == Motion(columns[:2], 2016.0, 2000.0)
    with pytest.raises(DefinitionError, match="neither side has proper motions"):
        CrossMatch.of(GAIA, STARS, 2, epoch=2000, motions=((), None))


def test_frames_and_text_are_found():
    odd = base("odd", {"hip": "bigint", "ra": "string", "dec": "string", "glon": "double", "glat": "double"})
    pairs = CrossMatch.of(odd, odd, 2, frame=(None, "galactic"))
    assert [unit for _, unit in pairs.coordinates] == ["hms", "dms", "deg", "deg"]
    assert [placement.frame for placement in pairs.placements] == ["icrs", "galactic"]
    degrees = base("odd", {"hip": "bigint", "ra": "string", "dec": "string"}, units={"ra": "deg"})
    assert CrossMatch.of(degrees, STARS, 2).coordinates[0][1] == "dms"
    ucds = base("ucds", {"hip": "bigint", "lon": "double", "lat": "double"}, ucds={"lon": "pos.galactic.lon"})
    assert CrossMatch.of(ucds, STARS, 2, on=(("lon", "lat"), None)).placements[0].frame == "galactic"


def test_placements_are_restored_exchanged_and_said():
    catalogs = [GAIA, STARS]
    for options in (
        {"frame": "fk5"},
        {"epoch": 2000.0},
        {"epoch": 2000.5, "epochs": (2016.0, None), "motions": (("pmra", "pmdec"), ())},
        {"frame": ("fk5", "icrs"), "epoch": 1991.25, "radius": "1 arcmin"},
    ):
        pairs = CrossMatch.of(*catalogs, **{"radius": 2} | options)
        assert restore("CrossMatch", pairs.parameters(), pairs.notes(), catalogs) == pairs
        assert pairs.on(catalogs) == pairs
        assert CrossMatch.from_exchange(*pairs.exchange_form(), catalogs) == pairs
        stored = json.loads(json.dumps(dict(pairs.parameters())))
        assert restore("CrossMatch", stored, pairs.notes(), catalogs) == pairs
        plain = CrossMatch.of(*catalogs, pairs.radius)
        assert pairs.extent != plain.extent
        assert MatchedSources.of(pairs, "left").extent != MatchedSources.of(plain, "left").extent
        assert describe_match(pairs.extent.label or "") is not None
    words = CrossMatch.of(GAIA, STARS, 2, frame=("fk5", "icrs"), epoch=2000).describe_placements()
    assert words == [
        "left positions move by pmra, pmdec, parallax, rv from ref_epoch to 2000, the common epoch",
        "left positions turn from fk5 to icrs, because separations need one frame",
    ]
    good = dict(CrossMatch.of(GAIA, STARS, 2, epoch=2000.0).parameters())
    own, other = good["placements"]
    for placements in (
        [own],
        [{**own, "frame": "here"}, other],
        [{**own, "motion": own["motion"][:3]}, other],
        [{**own, "motion": [["nothing", "mas/yr"], own["motion"][1]]}, other],
        [{**own, "motion": [[own["motion"][0][0], "mas"], own["motion"][1]]}, other],
        [{**own, "epochs": [["nothing", "yr"], 2000.0]}, other],
        [{"motion": own["motion"]}, other],
        [other, own],
    ):
        with pytest.raises((ProvennError, ValueError, LookupError)):
            restore("CrossMatch", good | {"placements": placements}, {}, catalogs)


def test_other_epochs_and_frames_say_nothing_of_each_other():
    options = ({}, {"epoch": 2000}, {"epoch": 2001}, {"frame": "fk5"}, {"frame": ("fk5", "icrs")})
    kinds = [CrossMatch.of(GAIA, STARS, 2, matches="all", **option) for option in options]
    assert len({pairs.extent for pairs in kinds}) == len(options)
    assert len({MatchedSources.of(pairs, "right").extent for pairs in kinds}) == len(options)
    assert [first.is_like(second) for first, second in pairwise(kinds)] == [False] * 4
    moved = CrossMatch.of(GAIA, STARS, 2, epoch=2000)
    assert Knowledge([*moved.facts(), *kinds[1].facts()]).entails(subset(moved.digest, kinds[1].digest))


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
    changes = [
        ("radius", -1),
        ("radius", "x"),
        ("matches", "some"),
        ("matches", 1),
        ("matches", 2.0),
        ("suffix", ""),
        ("coordinates", []),
    ]
    changes += [("coordinates", [*good["coordinates"][:3], ["nothing", "deg"]])]
    changes += [("coordinates", [*good["coordinates"][:3], [good["coordinates"][3][0], "parsec"]])]
    for name, value in changes:
        with pytest.raises(ProvennError):
            restore("CrossMatch", good | {name: value}, notes, [STARS, GALAXIES])
    own = CrossMatch.of(CIRCLES, GALAXIES, "ERR", min_radius="1 mas", max_radius=2, matches=3)
    assert restore("CrossMatch", own.parameters(), own.notes(), [CIRCLES, GALAXIES]) == own
    assert own.on([CIRCLES, GALAXIES]) == own
    assert own.from_exchange(*own.exchange_form(), [CIRCLES, GALAXIES]) == own
    changes = [("radius_column", ["nothing", "mas"]), ("radius_column", [own.parameters()["radius_column"][0], "pc"])]
    for name, value in [*changes, ("min_radius", 3), ("min_radius", 0), ("radius_column", [])]:
        with pytest.raises((ProvennError, ValueError)):
            restore("CrossMatch", dict(own.parameters()) | {name: value}, own.notes(), [CIRCLES, GALAXIES])
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
    three, mutual = (CrossMatch.of(STARS, GALAXIES, 2, matches=kind).extent.label or "" for kind in (3, "mutual"))
    assert describe_match(three) == ("3 best pairs within 2 arcsec", None)
    assert describe_match(mutual) == ("mutual pairs within 2 arcsec", None)
    nearest = make_nearest_term(PAIRS.places_of(), GALAXIES.extent, "right", 3)
    assert describe_match(f"{nearest} <= 2.0") == ("among the 3 nearest within 2 arcsec in", other)
    nearest = make_nearest_term(PAIRS.places_of(), STARS.extent, "left")
    assert describe_match(f"{nearest} <= 2.0") == ("left nearest within 2 arcsec in", STARS.extent.digest)
    assert describe_match("vmag < 6") is None
    limited = CrossMatch.of(CIRCLES, GALAXIES, "err", min_radius=1, max_radius=2)
    words = "best pairs from 1 arcsec to the left radius, at most 2 arcsec,"
    assert describe_match(limited.extent.label or "") == (words, None)
    assert describe_match(MatchedSources.of(limited, "left").atoms()[0].label) == (
        "from 1 arcsec to its own radius, at most 2 arcsec, of",
        other,
    )
    moved = CrossMatch.of(GAIA, GALAXIES, 2, frame=("fk5", "icrs"), epoch=2000, matches="all")
    words = "pairs within 2 arcsec in 2000, turned from fk5,"
    assert describe_match(moved.extent.label or "") == (words, None)
    for side in ("left", "right"):
        for atom in MatchedSources.of(limited, side).atoms():
            assert describe_match(atom.label) is not None


def test_the_matched_sources_of_limited_matches_are_near():
    """Within their own radius, and so within the largest; from the smallest radius on, and so near at all."""
    for options in ({"radius": "err", "max_radius": 2}, {"radius": 2, "min_radius": 1}):
        kinds = {kind: CrossMatch.of(CIRCLES, GALAXIES, matches=kind, **options) for kind in ("best", 2, "all")}
        left = {MatchedSources.of(pairs, "left").extent for pairs in kinds.values()}
        assert len(left) == 1
        near = MatchedSources.of(CrossMatch.of(CIRCLES, GALAXIES, 2), "left")
        own = MatchedSources.of(kinds["all"], "left")
        facts = Knowledge([*own.facts(), *near.facts()])
        assert facts.entails(subset(own.digest, near.digest))
        assert not facts.entails(subset(near.digest, own.digest))


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
