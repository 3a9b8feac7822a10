"""Which attribute a name means, as plans tell: references, preferences, what people may see, what runs leave behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import provenn
from provenn.catalogs import KeepAttributes, RenameAttributes
from provenn.definitions import catalog_store
from provenn.errors import AmbiguousAttributeError, CriterionError, NotCoveredError, TargetError
from provenn.targets.plan import Plan
from tests.archive.samples import write_parquet
from tests.targets.releases import redshift, two_releases
from tests.targets.sky import pretend_stored


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[provenn.Archive]:
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        yield opened


@pytest.fixture(autouse=True)
def releases(archive: provenn.Archive, tmp_path: Path) -> tuple[provenn.Catalog, provenn.Catalog]:
    return two_releases(archive, tmp_path)


@pytest.fixture
def both(releases) -> provenn.Catalog:
    """The galaxies of the second release that the first one has, with the values of the second."""
    return releases[1].restrict(releases[0], name="both")


def identity(plan: Plan, name: str) -> str:
    """The identity that a column of a plan has."""
    return plan.schema[name].identity


def asked(archive: provenn.Archive, sources: object, text: str) -> str:
    """The identity of the one attribute that is asked for."""
    (column,) = (one for one in archive.target(sources, [text]).plan().columns if one.name != "id")
    return column.identity


# --- what is asked of another catalog ---


def test_an_attribute_of_another_catalog_is_asked_for_by_the_name_of_the_catalog(archive, both, releases):
    plan = archive.target("both", ["DR1.g"]).plan()
    assert plan.schema.names == ("id", "g"), "the column is called as the attribute"
    assert identity(plan, "g") == releases[0].schema["g"].identity
    assert plan.provided[0].how == "asked of DR1"
    assert asked(archive, "both", "DR2.g") == releases[1].schema["g"].identity
    assert asked(archive, "both", f"{releases[0].digest[:12]}.g") == releases[0].schema["g"].identity
    assert asked(archive, both, "DR1.G") == releases[0].schema["g"].identity, "upper and lower case are as always"


@pytest.mark.usefixtures("both")
def test_two_columns_of_one_name_are_an_error_until_one_is_called_otherwise(archive, releases):
    with pytest.raises(TargetError, match="two different attributes would be called g") as caught:
        archive.target("both", ["g", "DR1.g"])
    assert caught.value.hint == "give one of them another name: DR1.g AS g_2"
    plan = archive.target("both", ["g", "DR1.g AS g_dr1", "g as again", "id AS number"]).plan()
    assert plan.schema.names == ("g", "g_dr1", "again", "number")
    assert identity(plan, "g_dr1") == releases[0].schema["g"].identity
    assert identity(plan, "again") == identity(plan, "g") == releases[1].schema["g"].identity
    assert plan.catalog.schema.names == plan.schema.names, "and so it is defined as a catalog"
    assert archive.target("both", ["g", "DR2.g", "g"]).plan().schema.names == ("id", "g"), "the same attribute is one"
    with pytest.raises(TargetError, match="id is both the key of both and another attribute") as caught:
        archive.target("both", ["DR1.g AS id"])
    assert "AS id_2" in caught.value.hint


@pytest.mark.usefixtures("both")
def test_a_criterion_may_read_attributes_of_several_releases(archive, releases):
    plan = archive.target("both", ["g"], where="g > DR1.g + 0.5 AND `DR1`.`g` < 17").plan()
    old, new = (release.schema["g"].identity for release in releases)
    assert {old, new} <= plan.before.attributes.keys()
    assert plan.schema.names == ("id", "g")
    with pytest.raises(TargetError, match="DR1 has no attribute 'gg'") as caught:
        archive.target("both", ["g"], where="DR1.gg > 1")
    assert caught.value.hint == "did you mean g?"


def test_coverage_is_asked_for_as_always(archive):
    with pytest.raises(NotCoveredError, match="not all sources of DR2 are proved to have old"):
        archive.target("DR2", ["DR1.g AS old"])
    assert archive.target("DR2", ["DR1.g AS old"], missing="null").plan().schema.names == ("id", "old")
    assert archive.target("DR2", ["DR1.g AS old"], missing="drop").plan().catalog.schema.names == ("id", "old")


def test_an_attribute_that_has_such_a_name_itself_comes_first(archive, releases):
    odd = releases[1].rename({"g": "DR1.g"}, name="odd")
    assert asked(archive, odd, "DR1.g") == releases[1].schema["g"].identity
    assert archive.target(odd, ["DR1.g"]).plan().schema.names == ("id", "DR1.g")
    assert asked(archive, odd, "`DR1.g`") == releases[1].schema["g"].identity
    assert asked(archive, odd.restrict(releases[0]), "`DR1`.g") == releases[0].schema["g"].identity
    named = releases[1].rename({"g": "DR1.g AS x"})
    assert archive.target(named, ["DR1.g AS x"]).plan().schema.names == ("id", "DR1.g AS x")


def test_names_with_dots_are_tried_at_every_dot_and_backquotes_decide(archive, releases, both):
    releases[0].rename({"g": "b.c"}, name="a")
    releases[1].rename({"g": "c"}, name="a.b")
    with pytest.raises(AmbiguousAttributeError, match=r"a\.b\.c is ambiguous: `a\.b`\.c or a\.`b\.c`") as caught:
        archive.target(both, ["a.b.c"])
    assert "backquotes" in caught.value.hint
    assert asked(archive, both, "`a.b`.c") == releases[1].schema["g"].identity
    assert asked(archive, both, "a.`b.c`") == releases[0].schema["g"].identity
    plan = archive.target(both, ["g"], where="`a.b`.c > a.`b.c`").plan()
    assert releases[0].schema["g"].identity in plan.before.attributes


def test_what_is_no_text_is_refused(archive):
    with pytest.raises(TargetError, match="expected the name of an attribute, got 5"):
        archive.target("DR2", ["g", 5])


@pytest.mark.parametrize(
    ("text", "match", "hint"),
    [
        ("DR1.gg", "DR1 has no attribute 'gg'", "did you mean g?"),
        ("DR1.gg AS x", "DR1 has no attribute 'gg'", "did you mean g?"),
        ("pz.g", "pz has no attribute 'g'", ""),
        ("stars.vmag", "stars has the population star, but DR2 has galaxy", ""),
        ("DR9.g", "no catalog has an attribute 'DR9.g'", ""),
        ("vmag", "vmag is an attribute of star, not of galaxy", "request the sources of that population"),
        ("`", "no catalog has an attribute '`'", ""),
        (".g", "no catalog has an attribute '.g'", ""),
        ("g AS ", "no catalog has an attribute 'g AS '", "there are g, id"),
        (" AS g", "no catalog has an attribute ' AS g'", ""),
    ],
)
def test_bad_references_are_told(archive, tmp_path, text, match, hint):
    redshift(archive)
    archive.ingest("stars", write_parquet(tmp_path / "stars.parquet"), key="hip", population="star")
    with pytest.raises(TargetError, match=match) as caught:
        archive.target("DR2", [text])
    assert hint in caught.value.hint


def test_a_catalog_by_itself_still_reads_its_own_attributes_alone(releases):
    with pytest.raises(CriterionError, match=r"there is no attribute 'DR1\.g'") as caught:
        releases[1].select("DR1.g > 1")
    assert caught.value.hint == "write g without a catalog: only attributes of this catalog can be used"
    odd = releases[1].rename({"g": "DR1.g"})
    assert odd.select("DR1.g > 1") == odd.select("`DR1.g` > 1"), "a name with a dot needs no backquotes"


# --- several ---


def test_a_calculator_is_chosen_by_its_name_or_by_a_preference(archive):
    one, two = redshift(archive, "pz", 1.0), redshift(archive, "pz2", 2.0)
    with pytest.raises(AmbiguousAttributeError) as caught:
        archive.target("DR2", ["z"])
    assert caught.value.message == "several attributes are called z: those of the calculator pz, the calculator pz2"
    assert caught.value.hint == 'request pz.z or pz2.z; or record your choice: archive.prefer("z", "pz")'
    plan = archive.target("DR2", ["pz.z", "pz2.z AS z2"]).plan()
    assert {calculation.calculator.digest for calculation in plan.calculations} == {one.digest, two.digest}
    archive.prefer("z", "pz2")
    assert asked(archive, "DR2", "z") == identity(plan, "z2")


def test_a_catalog_and_a_calculator_of_one_name_are_told_apart(archive, releases, both):
    redshift(archive)
    old = releases[0].derive("pz", name="pz")
    with pytest.raises(AmbiguousAttributeError, match=r"pz\.z may mean the catalog pz or the calculator pz"):
        archive.target(both, ["pz.z"])
    assert asked(archive, both, f"{old.digest[:12]}.z") == old.schema["z"].identity
    assert asked(archive, "DR1", "pz.z") == old.schema["z"].identity, "here both are the same"


def test_a_calculator_that_is_asked_for_needs_its_inputs(archive, releases):
    redshift(archive)
    bare = releases[1].rename(g="green", name="bare")
    assert asked(archive, bare, "pz.z"), "g is had under another name"
    archive.calculator("far", sql={"far": "r + z"})
    with pytest.raises(
        TargetError, match="no catalog has an attribute 'r', and no calculator provides it, which is"
    ) as told:
        archive.target("DR2", ["far.far"])
    assert "needed for far" in told.value.message


def test_what_an_input_may_mean_is_told_with_what_it_is_needed_for(archive):
    redshift(archive, "pz", 1.0)
    redshift(archive, "pz2", 2.0)
    archive.calculator("far", sql={"far": "z > 1"})
    with pytest.raises(AmbiguousAttributeError, match="called z, which is needed for far: those") as caught:
        archive.target("DR2", ["far"])
    assert caught.value.hint == 'record your choice: archive.prefer("z", "pz")'


def test_a_calculator_and_a_definition_of_another_identity_are_several(archive, releases):
    redshift(archive)
    releases[1].derive(z="g / 3", name="third")
    with pytest.raises(AmbiguousAttributeError, match="the calculator pz, third"):
        archive.target("DR2", ["z"])
    assert asked(archive, "DR2", "third.z") == archive["third"].schema["z"].identity
    assert asked(archive, "DR1", "z"), "the definition reads what DR1 does not have"


def test_what_was_left_out_on_the_way_is_had(archive, releases):
    dropped = releases[1].derive(w="g * 2").keep("id")
    assert asked(archive, dropped.select("id > 1"), "w") == releases[1].derive(w="g * 2").schema["w"].identity
    assert asked(archive, dropped, "g") == releases[1].schema["g"].identity
    other = releases[1].rename(g="old").derive(g="old + 1").keep("id")
    with pytest.raises(AmbiguousAttributeError, match="several attributes are called g"):
        archive.target(other, ["g"])


def test_calculators_that_read_one_another_are_ambiguous_only_if_there_are_several_ways(archive, releases):
    archive.calculator("flux", sql={"flux": "pow(10, -0.4 * mag)"})
    archive.calculator("mag", sql={"mag": "-2.5 * log10(flux)"})
    with pytest.raises(TargetError, match="flux cannot be calculated: it depends on itself: flux from mag from flux"):
        archive.target("DR2", ["flux"])
    bright = releases[1].derive(mag="g - 1", name="bright")
    assert asked(archive, "DR2", "mag") == bright.schema["mag"].identity, "and not by way of flux"
    assert archive.target("DR2", ["flux"]).plan().provided[0].how == "the calculator flux provides it"
    archive.calculator("flux_of_g", sql={"flux": "g * 3"})
    for name in ("flux", "mag"):
        with pytest.raises(AmbiguousAttributeError, match=name):
            archive.target("DR2", [name])


def test_many_calculators_that_convert_everything_into_everything_are_answered_at_once(archive):
    """Fourteen attributes, each from each other: what would take forever if every way were tried."""
    names = [f"m{n}" for n in range(14)]
    for name in names:
        for other in names:
            if name != other:
                archive.calculator(f"{name}_{other}", sql={name: f"{other} + {names.index(name)}"})
    with pytest.raises(TargetError, match="m0 cannot be calculated: it depends on itself"):
        archive.target("DR2", ["m0"])
    archive.calculator("first", sql={"m0": "g"})
    assert archive.target("DR2", ["first.m0"]).plan().schema.names == ("id", "m0")
    with pytest.raises(AmbiguousAttributeError):
        archive.target("DR2", ["m7"])


# --- registered again ---


def test_one_calculator_may_have_several_names(archive):
    """To register it under another name took the first name from it."""
    one = redshift(archive, "pz", 1.0)
    assert redshift(archive, "again", 1.0) == one
    assert archive.find_calculator("pz") == archive.find_calculator("again") == archive.find_calculator("z") == one
    assert asked(archive, "DR2", "z") == asked(archive, "DR2", "pz.z") == asked(archive, "DR2", "again.z")
    redshift(archive, "pz", 2.0)
    with pytest.raises(AmbiguousAttributeError, match="the calculator again, the calculator pz"):
        archive.target("DR2", ["z"])


@pytest.mark.parametrize("first", ["preference", "registration"])
def test_a_preference_means_what_its_calculator_is_now(archive, first):
    redshift(archive, "pz", 1.0)
    redshift(archive, "pz2", 2.0)
    if first == "preference":
        archive.prefer("z", "pz")
    new = redshift(archive, "pz", 3.0)
    if first == "registration":
        archive.prefer("z", "pz")
    (calculation,) = archive.target("DR2", ["z"]).plan().calculations
    assert calculation.calculator == new
    assert archive.find_calculator("z") == new


def test_sql_of_a_calculator_that_is_registered_again_is_outdated_expression_by_expression(archive):
    archive.calculator("both", sql={"twice": "g * 2", "half": "g / 2"})
    archive.target("DR2", ["twice", "half"]).catalog("kept")
    archive.calculator("both", sql={"twice": "g * 2", "half": "g / 2.0"})
    kept = archive["kept"].schema
    assert asked(archive, "DR2", "twice") == kept["twice"].identity
    assert asked(archive, "DR2", "half") == archive["DR2"].derive("both").schema["half"].identity


# --- what runs leave behind ---


def left_behind(archive: provenn.Archive, **names: str) -> provenn.Catalog:
    """A catalog that a run has added, with attributes of the second release under other names."""
    made = RenameAttributes.of(KeepAttributes.of(archive["DR2"].definition, list(names)), names)
    with archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, made, for_run=True)
    return archive.catalog(made.digest)


def test_names_that_only_a_run_gave_mean_nothing(archive):
    run = left_behind(archive, g="bright")
    with pytest.raises(TargetError, match="no catalog has an attribute 'bright'") as caught:
        archive.target("DR2", ["bright"])
    assert "bright" not in caught.value.hint
    assert archive.attributes("galaxy") == ["g", "id"]
    assert asked(archive, "DR2", f"{run.digest[:12]}.bright"), "unless they are asked for"


@pytest.mark.parametrize("how", ["define", "name", "derive"])
def test_what_a_person_defines_counts_though_a_run_was_first(archive, releases, how):
    run = left_behind(archive, g="bright")
    if how == "define":
        releases[1].keep("g").rename(g="bright")
    elif how == "name":
        archive.name(run, "called")
    else:
        run.derive(w="bright * 2")
    assert asked(archive, "DR2", "bright") == releases[1].schema["g"].identity
    assert "bright" in archive.attributes("galaxy")


def test_what_a_run_left_behind_is_that_of_a_run_in_another_archive_too(archive, tmp_path):
    left_behind(archive, g="bright")
    archive.target("DR2", ["g AS green"]).catalog("green")
    archive.export_definitions(tmp_path / "all.provenn")
    with provenn.open(tmp_path / "other", who="bob") as other:
        other.import_definitions(tmp_path / "all.provenn")
        assert other.attributes("galaxy") == ["g", "green", "id"]
        other["DR2"].keep("g").rename(g="bright")
        other.export_definitions(tmp_path / "more.provenn")
    archive.import_definitions(tmp_path / "more.provenn")
    assert asked(archive, "DR2", "bright"), "somebody has defined it there"


# --- what people see ---


def test_what_the_viewer_does_not_see_is_no_candidate_and_is_not_told(archive, tmp_path):
    place = tmp_path / "survey"
    archive.default_visibility = "private"
    archive["DR2"].derive(w="g * 2", name="secret")
    archive["DR1"].derive(u="g * 2", name="secret_too")
    archive.prefer("u", "secret_too")
    for name in ("DR1", "DR2"):
        archive.name(name, name, visibility="public")
    with provenn.open(place, who="bob", confined=True) as of_bob:
        for text in ("w", "u", "secret.w"):
            with pytest.raises(TargetError, match="no catalog has an attribute") as caught:
                of_bob.target("DR2", [text])
            assert "secret" not in caught.value.hint
        own = of_bob["DR2"].derive(w="g * 3", name="own")
        assert asked(of_bob, "DR2", "w") == own.schema["w"].identity, "which is the only one that bob sees"
        run = of_bob["DR2"].derive(w="g * 2")
        assert run.digest == archive["secret"].digest
        with pytest.raises(AmbiguousAttributeError) as caught:
            of_bob.target("DR2", ["w"])
        assert "secret" not in str(caught.value)


def test_what_another_one_defines_privately_does_not_make_the_viewer_s_run_a_definition(archive, tmp_path):
    for name in ("DR1", "DR2"):
        archive.name(name, name, visibility="public")
    archive.default_visibility = "private"
    with provenn.open(tmp_path / "survey", who="bob", confined=True) as of_bob:
        left_behind(of_bob, g="bright")
        archive["DR2"].keep("g").rename(g="bright")
        assert asked(archive, "DR2", "bright")
        with pytest.raises(TargetError, match="no catalog has an attribute 'bright'"):
            of_bob.target("DR2", ["bright"])


# --- stored or not ---


def test_what_is_stored_only_chooses_how_a_value_is_obtained(archive):
    redshift(archive)
    named = archive["DR1"].derive("pz", name="of_dr1")
    before = asked(archive, "DR2", "z")
    pretend_stored(named, ["z"], 4)
    assert asked(archive, "DR2", "z") == before
    assert asked(archive, "DR1", "z") == named.schema["z"].identity
    assert [fragment.rows for fragment in archive.target("DR1", ["z"]).plan().fragments] == [4]
