"""Descriptions in plain words."""

import pytest
from astropy.table import Table

from provenn.words.definition_words import describe_definition
from provenn.words.vocabulary import describe_criterion


@pytest.fixture
def survey(archive, stars):
    bright = stars.select("vmag\n  < 6", name="bright")
    near = stars.derive(dist_pc="1000 / plx", name="near")
    stars.exclude(bright, name="faint")
    bright.restrict(near, name="restricted")
    stars.sample(0.25, seed=7, name="few")
    stars.keep("vmag", name="short")
    stars.rename(vmag="v", plx="parallax", name="renamed")
    bright.combine(near, name="both")
    bright.concat("faint", order="first", name="all")
    return archive


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bright", "the sources of stars where vmag < 6"),
        ("near", "stars, with dist_pc = 1000 / plx"),
        ("faint", "the sources of stars that are not in bright"),
        ("restricted", "the sources of bright that are also in near"),
        ("few", "a sample of the sources of stars: a fraction of 0.25, with seed 7"),
        ("short", "stars, only its attributes hip and vmag"),
        ("renamed", "stars, with vmag renamed to v and plx renamed to parallax"),
        ("both", "the attributes of bright and near, for the sources common to all"),
        ("all", "the sources of bright and faint together"),
    ],
)
def test_what_each_class_is_in_words(survey, name, said):
    assert survey.describe(name).is_what == said


def test_a_base_catalog_is_the_rows_of_its_files(stars, tmp_path):
    assert describe_definition(stars.definition, str) == f"6 rows of {tmp_path / 'stars.parquet'}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("stars", "in stars"),
        ("bright", "in stars and vmag < 6"),
        ("renamed", "in stars"),
        ("faint", "in stars and (vmag < 6) IS NOT TRUE"),
        ("few", "in stars and sample(7, `star`) < 0.25"),
        ("both", "in stars and vmag < 6"),
    ],
)
def test_the_sources_in_words(survey, name, said):
    assert survey.describe(name).sources == said


def test_unusual_sets_in_words(survey, stars):
    assert survey.describe(stars.select("vmag IS NULL")).sources == "in stars and vmag IS NULL"
    assert survey.describe(stars.select("1 = 2")).sources == "none"
    either = stars.select("vmag < 6 OR dec < 0")
    assert survey.describe(either).sources == "in stars and (dec < 0 or vmag < 6)"
    many = stars
    for one in range(30):
        many = many.select(f"vmag <> {one} OR dec <> {one}")
    assert survey.describe(many).sources.startswith("a set built from stars and ")


def test_all_of_a_description(survey):
    survey.declare("nonempty(both)", reason="I saw one")
    told = str(survey.describe("both")).splitlines()
    assert told[:5] == [
        "both: the attributes of bright and near, for the sources common to all",
        "  one row is   star, known by hip",
        "  sources      in stars and vmag < 6",
        "  class        CombineAttributes, made from bright and near",
        "  names        both",
    ]
    assert told[6].endswith("UTC, by ada")
    assert told[7:] == [
        "  attributes",
        "    hip      bigint, key",
        "    vmag     double",
        "    plx      double",
        "    dec      double",
        "    spect    string",
        "    dist_pc  double",
        "  facts",
        "    both == bright & near  (by definition)",
        "    nonempty(both)  (fact #1, declared by ada: I saw one)",
    ]
    assert str(survey["both"]) == "\n".join(told)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("`b:vmag` < 6.0D", "vmag < 6"),
        ("`b:vmag` < 6.25D", "vmag < 6.25"),
        ("`b:vmag` < 1.0E-10D", "vmag < 1.0E-10"),
        ("`b:n` < 6L", "n < 6"),
        ("`b:B-V` < 'it is 6L, or `b:n`'", "`B-V` < 'it is 6L, or `b:n`'"),
        ("`unknown` < 5", "`unknown` < 5"),
    ],
)
def test_criteria_in_words(label, words):
    assert describe_criterion(label, {"b:vmag": "vmag", "b:n": "n", "b:B-V": "B-V"}) == words


# --- lineages ---


def test_a_lineage_is_a_tree_down_to_the_files_that_shows_nothing_twice(survey, tmp_path):
    survey["both"].combine(survey["faint"], name="last")
    base = f"stars: 6 rows of {tmp_path / 'stars.parquet'}"
    assert str(survey.lineage("last")).splitlines() == [
        "last: the attributes of both and faint, for the sources common to all",
        "├── both: the attributes of bright and near, for the sources common to all",
        "│   ├── bright: the sources of stars where vmag < 6",
        f"│   │   └── {base}",
        "│   └── near: stars, with dist_pc = 1000 / plx",
        f"│       └── {base}",
        "└── faint: the sources of stars that are not in bright",
        f"    ├── {base}",
        "    └── bright (see above)",
    ]
    assert survey.lineage("both").tree(1).splitlines()[1:] == [
        "├── bright: the sources of stars where vmag < 6 …",
        "└── near: stars, with dist_pc = 1000 / plx …",
    ]
    assert [step.name for step in survey.lineage("faint").steps] == ["faint", "bright", "stars"]


def test_a_lineage_may_be_very_deep(archive, stars):
    one = stars
    for place in range(300):
        one = one.rename({"vmag" if place % 2 == 0 else "v": "v" if place % 2 == 0 else "vmag"})
    assert len(archive.lineage(one).steps) == 301
    assert len(archive.lineage(one).tree(depth=5).splitlines()) == 6


def test_what_files_say_of_a_table_is_shown(archive, tmp_path):
    Table({"hip": [1]}, meta={"EPOCH": 2016.0, "comments": ["x" * 200]}).write(tmp_path / "a.ecsv")
    stars = archive.ingest("epochs", tmp_path / "a.ecsv", key="hip", population="star")
    told = archive.describe(stars)
    assert told.metadata["EPOCH"] == 2016.0
    assert "  metadata\n    EPOCH: 2016.0\n" in str(told)
    assert max(map(len, str(told).splitlines())) < 200
    assert archive.describe(stars.select("hip > 1")).metadata == {}
