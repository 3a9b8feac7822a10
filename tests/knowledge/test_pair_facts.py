"""What is proved about the pairs of matches, against matches by brute force on small tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.catalogs import CrossMatch, SelectSources, cone
from provenn.catalogs.restrict_sources import RestrictSources
from provenn.knowledge.consequences import build_knowledge
from provenn.logic import disjoint, equal, subset
from provenn.targets.known import build_definition
from tests.catalogs.samples import base

SKY = {"hip": "bigint", "ra": "double", "dec": "double", "vmag": "double", "err": "double", "more": "double"}
STARS = base("stars", SKY, units={"err": "arcsec", "more": "arcsec"})
GALAXIES = base(
    "ngc", {"ngc": "bigint", "ra": "double", "dec": "double", "gmag": "double"}, key="ngc", population="galaxy"
)


def known(*catalogs):
    return build_knowledge(map(build_definition, cone(*catalogs))).knowledge


def are_equal(catalog, other):
    return known(catalog, other).entails(equal(catalog.digest, other.digest))


def every(left, right, radius):
    return CrossMatch.of(left, right, radius, matches="all")


@pytest.mark.parametrize("matches", ["all", "best", 3, "mutual"])
def test_pairs_up_to_a_separation_are_the_pairs_of_that_radius(matches):
    two, catalog = (CrossMatch.of(STARS, GALAXIES, radius, matches=matches) for radius in ("2 arcsec", 1))
    for text in ("separation <= 1", "separation <= 1000 mas", "separation < 1.0000000000000002D", "NOT separation > 1"):
        assert are_equal(SelectSources.of(two, text), catalog)
    for text in ("separation < 1", "separation <= 1.0000000000000002D", "separation <= 1 arcmin"):
        assert not are_equal(SelectSources.of(two, text), catalog)
    assert are_equal(SelectSources.of(two, "separation <= 2"), two)
    assert are_equal(SelectSources.of(two, "separation <= 3"), two)
    narrow = SelectSources.of(two, "separation <= 0.5D")
    assert known(narrow, catalog).entails(subset(narrow.digest, catalog.digest))
    assert are_equal(narrow, SelectSources.of(catalog, "separation <= 0.5D"))
    nothing = SelectSources.of(two, "separation < 0")
    assert known(nothing).entails(disjoint(nothing.digest, nothing.digest))


def test_a_selection_on_a_side_is_the_pairs_of_the_selected_catalog():
    pairs = every(STARS, GALAXIES, 2)
    bright, faint = SelectSources.of(STARS, "vmag < 5"), SelectSources.of(GALAXIES, "gmag > 20")
    assert are_equal(SelectSources.of(pairs, "vmag < 5"), every(bright, GALAXIES, 2))
    assert are_equal(SelectSources.of(pairs, "gmag > 20"), every(STARS, faint, 2))
    assert are_equal(SelectSources.of(pairs, "gmag > 20 AND vmag < 5 AND separation <= 1"), every(bright, faint, 1))
    assert are_equal(SelectSources.of(pairs, "hip < 5"), every(SelectSources.of(STARS, "hip < 5"), GALAXIES, 2))
    assert are_equal(
        SelectSources.of(pairs, "in_cone(ra, dec, 1, 1, 1)"),
        every(SelectSources.of(STARS, "in_cone(ra, dec, 1, 1, 1)"), GALAXIES, 2),
    )
    brighter = SelectSources.of(pairs, "vmag < 4")
    assert known(brighter, every(bright, GALAXIES, 2)).entails(
        subset(brighter.digest, every(bright, GALAXIES, 2).digest)
    )
    assert not are_equal(SelectSources.of(pairs, "vmag < 5"), every(bright, GALAXIES, 1))
    assert not are_equal(SelectSources.of(pairs, "vmag < gmag"), pairs)


def test_best_pairs_commute_with_the_left_side_alone():
    best = CrossMatch.of(STARS, GALAXIES, 2)
    bright, faint = SelectSources.of(STARS, "vmag < 5"), SelectSources.of(GALAXIES, "gmag > 20")
    assert are_equal(SelectSources.of(best, "vmag < 5"), CrossMatch.of(bright, GALAXIES, 2))
    assert not are_equal(SelectSources.of(best, "gmag > 20"), CrossMatch.of(STARS, faint, 2))
    selected = SelectSources.of(best, "gmag > 20")
    for larger in (every(STARS, faint, 2), CrossMatch.of(STARS, faint, 2), CrossMatch.of(STARS, faint, 3)):
        assert known(selected, larger).entails(subset(selected.digest, larger.digest))
    assert not known(selected, best).entails(subset(CrossMatch.of(STARS, faint, 1).digest, selected.digest))


def test_sides_are_not_confused_where_a_catalog_is_matched_with_itself():
    pairs = every(STARS, STARS, 2)
    bright = SelectSources.of(STARS, "vmag < 5")
    assert are_equal(SelectSources.of(pairs, "vmag < 5"), every(bright, STARS, 2))
    assert are_equal(SelectSources.of(pairs, "vmag_2 < 5"), every(STARS, bright, 2))
    assert not are_equal(SelectSources.of(pairs, "vmag_2 < 5"), every(bright, STARS, 2))


def test_pairs_of_pairs_have_their_own_sets():
    inner = every(STARS, GALAXIES, 2)
    outer = every(inner, inner, 2)
    assert known(outer, SelectSources.of(inner, "separation <= 1")).consistent
    close = every(SelectSources.of(inner, "separation <= 1"), inner, 2)
    assert are_equal(SelectSources.of(outer, "separation <= 1"), close)
    assert not are_equal(SelectSources.of(outer, "separation_2 <= 1"), close)


def test_fewer_neighbours_are_among_more():
    kinds = ["mutual", "best", 2, 3, "all"]
    pairs = [CrossMatch.of(STARS, GALAXIES, 2, matches=matches) for matches in kinds]
    for number, fewer in enumerate(pairs):
        for more in pairs[number + 1 :]:
            knowledge = known(fewer, more)
            assert knowledge.entails(subset(fewer.digest, more.digest))
            assert not knowledge.entails(subset(more.digest, fewer.digest))


@pytest.mark.parametrize("matches", ["best", 3, "mutual"])
def test_pairs_within_a_smaller_radius_are_pairs_within_a_larger_one(matches):
    """The nearest source within a smaller radius is the nearest within a larger one, and so are the next ones."""
    small, large = (CrossMatch.of(STARS, GALAXIES, radius, matches=matches) for radius in (1, 2))
    assert known(small, large).entails(subset(small.digest, large.digest))
    assert not known(small, large).entails(subset(large.digest, small.digest))


def test_mutual_pairs_of_a_selection_may_be_more_than_the_selected_ones():
    """If rivals are left out, more sources are the nearest of each other, on either side."""
    mutual = CrossMatch.of(STARS, GALAXIES, 2, matches="mutual")
    bright, faint = SelectSources.of(STARS, "vmag < 5"), SelectSources.of(GALAXIES, "gmag > 20")
    for text, left, right in (("vmag < 5", bright, GALAXIES), ("gmag > 20", STARS, faint)):
        selected, anew = SelectSources.of(mutual, text), CrossMatch.of(left, right, 2, matches="mutual")
        assert known(selected, anew).entails(subset(selected.digest, anew.digest))
        assert not known(selected, anew).entails(subset(anew.digest, selected.digest))


@pytest.mark.parametrize("matches", ["all", "best", 3, "mutual"])
def test_pairs_from_a_separation_on(matches):
    """All pairs from a separation on are those selected so; of the nearest, other ones may follow."""
    pairs = CrossMatch.of(STARS, GALAXIES, 2, matches=matches)
    apart = CrossMatch.of(STARS, GALAXIES, 2, matches=matches, min_radius=1)
    selected = SelectSources.of(pairs, "separation >= 1")
    assert known(selected, apart).entails(subset(selected.digest, apart.digest))
    assert are_equal(selected, apart) == (matches == "all")
    assert known(apart, every(STARS, GALAXIES, 2)).entails(subset(apart.digest, every(STARS, GALAXIES, 2).digest))
    assert are_equal(SelectSources.of(apart, "separation >= 1"), apart)
    narrow = CrossMatch.of(STARS, GALAXIES, 1.5, matches=matches, min_radius=1)
    assert are_equal(SelectSources.of(apart, "separation <= 1.5D"), narrow)
    further = CrossMatch.of(STARS, GALAXIES, 2, matches=matches, min_radius=1.5)
    selected = SelectSources.of(apart, "separation >= 1.5D")
    assert known(selected, further).entails(subset(selected.digest, further.digest))
    nothing = SelectSources.of(apart, "separation < 1")
    assert known(nothing).entails(disjoint(nothing.digest, nothing.digest))


@pytest.mark.parametrize("matches", ["all", "best", 3, "mutual"])
def test_pairs_within_the_radius_of_each_source(matches):
    """They are among the pairs within the largest radius; for mutual pairs, a rival may be out of reach."""
    plain = CrossMatch.of(STARS, GALAXIES, 2, matches=matches)
    circles = CrossMatch.of(STARS, GALAXIES, "err", matches=matches, max_radius=2)
    assert known(circles, plain).entails(subset(circles.digest, plain.digest)) == (matches != "mutual")
    assert not known(circles, plain).entails(subset(plain.digest, circles.digest))
    smaller = CrossMatch.of(STARS, GALAXIES, "err", matches=matches, max_radius=1)
    assert known(circles, smaller).entails(subset(smaller.digest, circles.digest))
    assert are_equal(SelectSources.of(circles, "separation <= 1"), smaller)
    other = CrossMatch.of(STARS, GALAXIES, "more", matches=matches, max_radius=2)
    assert not known(smaller, other).entails(subset(smaller.digest, other.digest))
    bright = SelectSources.of(STARS, "vmag < 5")
    of_bright = CrossMatch.of(bright, GALAXIES, "err", matches=matches, max_radius=2)
    assert are_equal(SelectSources.of(circles, "vmag < 5"), of_bright) == (matches != "mutual")


# --- brute force: any distance will do, because the proofs know nothing of how it is measured ---

CUTS = st.sampled_from(["vmag < 2", "vmag >= 2", "vmag < 3", "vmag IS NULL", "hip < 3"])
OTHER_CUTS = st.sampled_from(["gmag < 2", "gmag > 2", "ngc < 2"])


@st.composite
def sides(draw, catalog, cuts):
    for text in draw(st.lists(cuts, max_size=2)):
        chosen = SelectSources.of(catalog, text)
        catalog = chosen if draw(st.booleans()) else RestrictSources.of(catalog, chosen)
    return catalog


@st.composite
def pair_catalogs(draw):
    """A match of selections, and a selection from it."""
    radius, matches = draw(st.sampled_from([1, 2, 3])), draw(st.sampled_from(["all", "best", "mutual", 2, 3]))
    limits = {"min_radius": draw(st.sampled_from([None, None, 0.5, 1]))}
    column = draw(st.sampled_from(["", "", "err", "more"]))
    if column:
        limits |= {"max_radius": radius}
    left, right = draw(sides(STARS, CUTS)), draw(sides(GALAXIES, OTHER_CUTS))
    pairs = CrossMatch.of(left, right, column or radius, matches=matches, **limits)
    texts = st.sampled_from(["separation <= 1", "separation < 2", "separation <= 2", "separation > 1", "hip_2 < 2"])
    names = {"hip_2 < 2": "hip < 2", "ngc < 2": "ngc < 2"}
    for text in draw(st.lists(texts | CUTS | OTHER_CUTS, max_size=2)):
        pairs = SelectSources.of(pairs, names.get(text, text))
    return pairs


def evaluate(text, row):
    name, operator, *rest = text.split()
    value = row[name]
    if operator == "IS":
        return value is None
    number = float(rest[0])
    if value is None:
        return False
    compare = {"<": value < number, "<=": value <= number, ">": value > number, ">=": value >= number}
    return compare[operator]


def list_rows(catalog, tables):
    match catalog:
        case SelectSources(parent, _, text):
            return [row for row in list_rows(parent, tables) if evaluate(text, row)]
        case RestrictSources():
            return list_rows(catalog.other, tables)
        case CrossMatch():
            left, right = list_rows(catalog.left, tables), list_rows(catalog.right, tables)
            results = [
                {**a, **b, "separation": abs(a["place"] - b["place"])}
                for a in left
                for b in right
                if is_candidate(catalog, a, abs(a["place"] - b["place"]))
            ]
            return [row for row in results if is_kept(row, results, catalog.matches)]
    return tables[catalog.digest]


def is_candidate(match, row, separation):
    rule = match.rule
    if rule.radius_column is not None:
        own = row[match.left.schema.by_identity[rule.radius_column[0]].name]
        if own is None or separation > own:
            return False
    return rule.min_radius <= separation <= rule.radius


def is_kept(row, candidates, matches):
    """Whether a match keeps one of its candidates: by its rank among those of the same source."""

    def rank(own, other):
        place = row["separation"], row[other]
        return sum(row[own] == each[own] and (each["separation"], each[other]) < place for each in candidates)

    if matches == "mutual":
        return rank("hip", "ngc") == rank("ngc", "hip") == 0
    return matches == "all" or rank("hip", "ngc") < (1 if matches == "best" else matches)


def make_tables(random):
    magnitude = [None, 1.0, 2.0, 2.5, 3.0]
    stars = [{"hip": n, "vmag": magnitude[random.integers(5)], "place": int(random.integers(8))} for n in range(6)]
    for star in stars:
        star |= {name: [None, -1, 0, 1, 2, 3][random.integers(6)] for name in ("err", "more")}
    galaxies = [
        {"ngc": n, "gmag": magnitude[random.integers(1, 5)], "place": int(random.integers(8))} for n in range(5)
    ]
    return {STARS.digest: stars, GALAXIES.digest: galaxies}


@settings(max_examples=60, deadline=None)
@given(pair_catalogs(), pair_catalogs(), st.integers(0, 1000))
def test_what_is_proved_holds_on_matches_by_brute_force(one, other, start):
    knowledge = known(one, other)
    assert knowledge.consistent
    proved = [
        name
        for name, relation in (("inside", subset), ("around", lambda a, b: subset(b, a)), ("apart", disjoint))
        if knowledge.entails(relation(one.digest, other.digest))
    ]
    random = np.random.default_rng(start)
    for _ in range(8):
        tables = make_tables(random)
        first, second = ({(row["hip"], row["ngc"]) for row in list_rows(catalog, tables)} for catalog in (one, other))
        assert "inside" not in proved or first <= second
        assert "around" not in proved or second <= first
        assert "apart" not in proved or not first & second
