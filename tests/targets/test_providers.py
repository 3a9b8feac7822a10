"""Who provides an attribute: names, calculators that create it in its most general form, and what is missing."""

import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import provenn
from provenn.catalogs import DeriveAttributes
from provenn.errors import (
    AmbiguousAttributeError,
    CriterionError,
    NotCoveredError,
    TargetError,
    UnknownCatalogError,
)
from provenn.logic import World
from provenn.targets.plan import Plan
from provenn.targets.steps import Calculate, Fill, PlanStep, walk_steps
from tests.archive.samples import dump, write_parquet
from tests.spark import functions

CODE = """
def redshift(batch):
    return batch.assign(z=batch["plx"] * {factor})[["z"]]
"""


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[provenn.Archive]:
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        yield opened


@pytest.fixture
def stars(archive: provenn.Archive, tmp_path: Path) -> provenn.Catalog:
    return archive.ingest("stars", write_parquet(tmp_path / "stars.parquet"), key="hip", population="star")


@pytest.fixture
def tycho(archive: provenn.Archive, tmp_path: Path) -> provenn.Catalog:
    columns = {"hip": [1, 2, 9], "bt": [1.0, 2.0, 3.0], "Spect": ["a", "b", "c"]}
    return archive.ingest("tycho", write_parquet(tmp_path / "t.parquet", columns), key="hip", population="star")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module whose code will change."""
    (tmp_path / "changing_redshifts.py").write_text(CODE.format(factor=1))
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("changing_redshifts")
    del sys.modules["changing_redshifts"]


def scaled(archive: provenn.Archive, output: str, of: str, *, factor: float = 2.0, name: str = ""):
    """Register a calculator in Python."""
    options = {"outputs": {output: "double"}, "parameters": {"output": output, "factor": factor}}
    return archive.calculator(name or output, functions.scaled, inputs=[of], **options)


def steps_as_run(step: PlanStep) -> list[int]:
    """The calculations, each as often as it is run: once for every step that uses it."""
    below = [step_below for input_step in step.inputs for step_below in steps_as_run(input_step)]
    return [*below, step.signature] if isinstance(step, Calculate) else below


def words(step: PlanStep) -> list[str]:
    return [part.word for part in walk_steps(step)]


def provided(plan: Plan, name: str) -> str:
    """The identity that a name was taken for."""
    return next(attribute.attribute.identity for attribute in plan.provided if attribute.name == name)


# --- names ---


def test_what_the_sources_have_themselves_is_meant_first(archive, stars):
    """Others may call something else by this name."""
    other = stars.keep("hip", "plx").derive(vmag="plx * 2", name="other")
    plan = archive.target("stars", ["vmag"]).plan()
    assert provided(plan, "vmag") == stars.schema["vmag"].identity
    assert provided(archive.target(other, ["vmag"]).plan(), "vmag") == other.schema["vmag"].identity
    assert plan.provided[0].how == "the sources have it"
    assert words(plan.after) == ["scan"]


def test_the_key_comes_along_and_is_not_asked_for_twice(archive, stars):
    assert archive.target("stars", ["vmag"]).plan().schema.names == ("hip", "vmag")
    assert archive.target("stars", ["vmag", "hip"]).plan().schema.names == ("vmag", "hip")
    assert archive.target("stars", ["hip"]).plan().schema.names == ("hip",)
    assert archive.target("stars", ["vmag", "plx", "vmag"]).plan().schema.names == ("hip", "vmag", "plx")
    assert archive.target("stars", "vmag").plan().schema.names == ("hip", "vmag"), "one name is not four letters"
    renamed = stars.rename(hip="id")
    assert archive.target(renamed, ["vmag"]).plan().schema.names == ("id", "vmag")


def test_what_another_catalog_defines_is_found_by_name(archive, stars):
    bright = stars.select("vmag < 6", name="bright")
    near = stars.derive(dist_pc="1000 / plx", name="near")
    plan = archive.target("bright", ["vmag", "dist_pc"]).plan()
    assert provided(plan, "dist_pc") == near.schema["dist_pc"].identity
    assert plan.provided[1].how == "defined by near"
    assert words(plan.after) == ["scan", "select", "derive"]
    assert plan.schema.names == ("hip", "vmag", "dist_pc")
    renamed = near.rename(dist_pc="distance")
    assert provided(archive.target("bright", ["distance"]).plan(), "distance") == near.schema["dist_pc"].identity
    assert archive.target(bright, ["dist_pc"]).plan().catalog.extent == bright.definition.extent
    assert renamed != near


def test_one_attribute_is_found_by_several_names_at_once(archive, stars):
    """A calculator may read one attribute twice, and who asks for it by two names gets both."""
    stars.rename(vmag="v", name="short")
    stars.rename(vmag="magnitude", name="long")
    archive.calculator("none", sql={"none": "magnitude - v"})
    options = {"outputs": {"twice": "double"}, "parameters": {"output": "twice", "factor": 2.0}}
    archive.calculator("twice", functions.scaled, inputs=["v", "magnitude"], **options)
    names = ["none", "twice", "v", "magnitude"]
    plan = archive.target("stars", names).plan()
    assert plan.schema.names == ("hip", *names)
    assert provided(plan, "v") == provided(plan, "magnitude") == stars.schema["vmag"].identity
    assert words(plan.after).count("scan") == 1


def test_several_attributes_by_one_name_are_an_error_that_lists_who_has_them(archive, stars):
    stars.derive(d="vmag * 2", name="one")
    stars.derive(d="plx * 2", name="other")
    with pytest.raises(
        AmbiguousAttributeError, match=r"several attributes are called d: those of one, other"
    ) as caught:
        archive.target("stars", ["d"])
    assert "archive.prefer" in caught.value.hint
    assert archive.target("one", ["d"]).plan().provided[0].how == "the sources have it"
    with pytest.raises(AmbiguousAttributeError):
        archive.target("stars", ["vmag"], where="d > 1")


def test_one_attribute_that_many_catalogs_have_is_not_several(archive, stars):
    stars.derive(d="vmag * 2", name="one")
    stars.select("plx > 1").derive(d="vmag * 2", name="other")
    stars.rename(vmag="v").derive(d="v * 2", name="third")
    assert len(archive.target("stars", ["d"]).plan().provided) == 1


def test_what_the_rows_of_the_sources_do_not_have_is_no_candidate(archive, stars, tycho):
    """A restriction takes the sources of Tycho, and none of its values; a combination takes both."""
    of_stars = stars.derive(d="vmag * 2", name="of_stars")
    tycho.derive(d="bt * 2", name="of_tycho")
    for sources in (stars, stars.restrict(tycho), stars.exclude(tycho), stars.sample(0.5, seed=1)):
        assert provided(archive.target(sources, ["d"]).plan(), "d") == of_stars.schema["d"].identity
    with pytest.raises(AmbiguousAttributeError, match="of_stars, of_tycho"):
        archive.target(stars.combine(tycho), ["d"])


@pytest.mark.usefixtures("stars")
def test_a_preference_settles_which_calculator_is_meant(archive):
    first, second = scaled(archive, "d", "vmag", name="first"), scaled(archive, "d", "plx", name="second")
    with pytest.raises(
        AmbiguousAttributeError,
        match="several attributes are called d: those of the calculator first, the calculator second",
    ):
        archive.target("stars", ["d"])
    for name, calculator in (("second", second), ("first", first)):
        archive.prefer("d", name)
        plan = archive.target("stars", ["d"]).plan()
        assert [step.calculator.digest for step in plan.calculations] == [calculator.digest]


def test_a_preference_settles_which_definition_is_meant(archive, stars):
    first, second = scaled(archive, "d", "vmag", name="first"), scaled(archive, "d", "plx", name="second")
    derived, other = stars.derive(first, name="one"), stars.derive(second, name="other")
    with pytest.raises(AmbiguousAttributeError, match="the calculator first, the calculator second"):
        archive.target("stars", ["d"])
    archive.prefer("d", "second")
    assert provided(archive.target("stars", ["d"]).plan(), "d") == other.schema["d"].identity
    archive.prefer("d", first)
    assert provided(archive.target("stars", ["d"]).plan(), "d") == derived.schema["d"].identity


def test_a_calculator_that_is_preferred_is_meant_though_another_attribute_has_the_name(archive, stars):
    stars.derive(d="vmag * 2", name="scratch")
    second = scaled(archive, "d", "plx", name="second")
    archive.prefer("d", "second")
    (calculation,) = archive.target("stars", ["d"]).plan().calculations
    assert calculation.calculator.digest == second.digest


def test_a_preferred_calculator_is_applied_to_the_own_inputs_of_the_sources(archive, stars):
    """Another catalog derives from other inputs, so that without a preference the name may mean two attributes."""
    calculator = scaled(archive, "d", "plx", name="it")
    derived = stars.derive(calculator, name="one")
    stars.rename(plx="p").derive(plx="p + 1").derive(calculator, name="other")
    with pytest.raises(AmbiguousAttributeError, match="other, the calculator it"):
        archive.target("stars", ["d"])
    archive.prefer("d", "it")
    assert provided(archive.target("stars", ["d"]).plan(), "d") == derived.schema["d"].identity


def test_a_preference_for_the_attribute_of_a_catalog_settles_which_is_meant(archive, stars):
    derived = stars.derive(d="vmag * 2", name="one")
    other = stars.derive(d="plx * 2", name="other")
    archive.prefer("d", other)
    assert provided(archive.target("stars", ["d"]).plan(), "d") == other.schema["d"].identity
    archive.prefer("d", "one")
    assert provided(archive.target("stars", ["d"]).plan(), "d") == derived.schema["d"].identity


def test_names_that_differ_in_case_alone(archive, stars, tycho):
    assert provided(archive.target("stars", ["VMAG"]).plan(), "VMAG") == stars.schema["vmag"].identity
    assert archive.target("stars", ["VMAG"]).plan().schema.names == ("hip", "VMAG"), "as it was asked for"
    both = stars.combine(tycho)
    assert provided(archive.target(both, ["spect"]).plan(), "spect") == stars.schema["spect"].identity
    assert provided(archive.target(both, ["Spect"]).plan(), "Spect") == tycho.schema["Spect"].identity
    with pytest.raises(AmbiguousAttributeError, match="is ambiguous: spect or Spect"):
        archive.target(both, ["SPECT"])
    stars.derive(D="vmag * 2")
    assert archive.target("stars", ["d"]).plan().schema.names == ("hip", "d"), "and so for what others define"


# --- creation ---


def test_a_calculator_creates_what_nobody_has_on_the_largest_set_it_applies_to(archive, stars):
    """Asked for a few sources, it is defined for all, so that the next who asks finds it."""
    scaled(archive, "z", "plx")
    bright = stars.select("vmag < 6", name="bright")
    target = archive.target("bright", ["vmag", "z"])
    plan = target.plan()
    (catalog,) = plan.created
    assert catalog.extent == stars.definition.extent
    (calculation,) = plan.calculations
    assert calculation.extent == bright.definition.extent, "and it is called for the few"
    before = len(archive)
    target.plan()
    assert len(archive) == before, "planning writes nothing"
    named = target.catalog("asked")
    assert "z" in named.attributes
    assert archive.target(stars, ["z"]).plan().created == (), "it is there now"


def test_what_is_defined_for_a_few_sources_is_known_for_all_that_have_its_inputs(archive, stars):
    """An attribute is defined on B only, and asked for A."""
    calculator = scaled(archive, "z", "plx")
    few = stars.select("vmag < 6").derive(calculator, name="few")
    plan = archive.target("stars", ["z"]).plan()
    assert provided(plan, "z") == few.schema["z"].identity
    (catalog,) = plan.created
    assert isinstance(catalog, DeriveAttributes)
    assert catalog.parent == stars.definition
    (calculation,) = plan.calculations
    assert calculation.extent == stars.definition.extent


def test_sql_that_is_defined_for_a_few_sources_is_known_for_all(archive, stars):
    few = stars.select("vmag < 6").derive(sum="vmag + plx", twice="vmag * 2", name="few")
    plan = archive.target("stars", ["twice"]).plan()
    assert provided(plan, "twice") == few.schema["twice"].identity
    assert words(plan.after) == ["scan", "derive"]


def test_a_result_for_a_whole_catalog_stays_that_of_the_catalog_it_was_defined_on(archive, stars):
    options = {"inputs": ["plx"], "outputs": {"n": "bigint"}, "parameters": {"output": "n"}, "scope": "catalog"}
    calculator = archive.calculator("n", functions.numbered, **options)
    bright = stars.select("vmag < 6", name="bright")
    bright.derive(calculator, name="numbered")
    with pytest.raises(AmbiguousAttributeError, match="numbered, the calculator n"):
        archive.target("stars", ["n"])
    with pytest.raises(NotCoveredError, match="not all sources of stars are proved to have n"):
        archive.target("stars", ["numbered.n"])
    (calculation,) = archive.target(bright.select("plx > 3"), ["numbered.n"]).plan().calculations
    assert calculation.extent == bright.definition.extent
    (calculation,) = archive.target(bright.select("plx > 3"), ["n.n"]).plan().calculations
    assert calculation.extent == stars.definition.extent, "the calculator itself applies to the largest set"


def test_calculators_are_chained_and_each_is_called_for_the_needed_sources(archive, stars):
    scaled(archive, "one", "plx")
    archive.calculator("two", sql={"two": "one + vmag"})
    scaled(archive, "three", "two")
    plan = archive.target(stars.select("vmag < 6"), ["three"]).plan()
    assert words(plan.after) == ["scan", "select", "calculate", "derive", "calculate"]
    assert {catalog.extent.digest for catalog in plan.created} == {stars.definition.extent.digest}
    assert [step.outputs[0].name for step in plan.calculations] == ["one", "three"]


def test_inputs_of_a_calculator_come_from_several_bases(archive, stars, tycho):
    archive.calculator("colour", sql={"colour": "bt - vmag"})
    both = stars.combine(tycho, name="both")
    plan = archive.target("both", ["colour"]).plan()
    (catalog,) = plan.created
    assert catalog.extent == both.definition.extent, "where both are known"
    assert words(plan.after).count("scan") == 2
    with pytest.raises(TargetError, match=r"restricted has no bt, .*needed for colour\. tycho has") as caught:
        archive.target(stars.restrict(tycho, name="restricted"), ["colour"])
    assert caught.value.hint == 'record your choice: archive.prefer("bt", "tycho")'
    archive.prefer("bt", "tycho")
    assert provided(archive.target("restricted", ["colour"]).plan(), "colour") == provided(plan, "colour")
    with pytest.raises(NotCoveredError, match="colour"):
        archive.target("stars", ["colour"])


def test_a_calculator_may_say_of_which_catalog_it_reads_an_input(archive, stars, tycho):
    archive.calculator("colour", sql={"colour": "tycho.bt - vmag"})
    options = {"outputs": {"twice": "double"}, "parameters": {"output": "twice", "factor": 2.0}}
    archive.calculator("twice", functions.scaled, inputs=["tycho.bt"], **options)
    plan = archive.target(stars.restrict(tycho), ["colour", "twice"]).plan()
    assert words(plan.after).count("scan") == 2
    assert plan.calculations[0].arguments == (tycho.schema["bt"].identity,)


def test_a_calculator_without_inputs_applies_to_the_sources(archive, stars):
    archive.calculator("one", sql={"one": "1"})
    assert words(archive.target(stars.select("vmag < 6"), ["one"]).plan().after) == ["scan", "select", "derive"]


@pytest.mark.usefixtures("stars")
def test_a_calculator_on_the_key_alone_applies_to_the_sources(archive):
    archive.calculator("even", sql={"even": "hip % 2 = 0"})
    assert words(archive.target("stars", ["even"]).plan().after) == ["scan", "derive"]


@pytest.mark.usefixtures("stars")
def test_cycles_of_calculators_tell_the_chain_that_was_tried(archive):
    archive.calculator("a", sql={"a": "b + 1"})
    archive.calculator("b", sql={"b": "c + 1"})
    scaled(archive, "c", "a")
    with pytest.raises(TargetError, match="a cannot be calculated: it depends on itself: a from b from c from a"):
        archive.target("stars", ["a"])
    archive.calculator("self", sql={"self": "self + 1"})
    with pytest.raises(TargetError, match="self from self"):
        archive.target("stars", ["self"])


@pytest.mark.usefixtures("stars")
def test_dead_ends_of_calculators_tell_the_chain_that_was_tried(archive):
    archive.calculator("a", sql={"a": "b + 1"})
    scaled(archive, "b", "vmga")
    with pytest.raises(
        TargetError, match="'vmga', and no calculator provides it, which is needed for b for a"
    ) as caught:
        archive.target("stars", ["a"])
    assert "did you mean vmag" in caught.value.hint


def test_a_criterion_may_use_attributes_that_the_sources_do_not_have(archive, stars):
    scaled(archive, "z", "plx")
    bright = stars.select("vmag < 6", name="bright").keep("hip", "spect")
    plan = archive.target(bright, ["spect"], where="z > 1 AND dec > 0").plan()
    assert words(plan.after) == ["scan", "select", "calculate", "select"]
    assert plan.schema.names == ("hip", "spect"), "what it reads is not what it gives"
    (calculation,) = plan.calculations
    assert not plan.calculations[0].is_catalog_wide
    assert calculation.extent != stars.definition.extent


def test_a_criterion_on_what_not_all_sources_have_leaves_the_others_out(archive, stars, tycho):
    """For a source that has no bt, bt > 1 is not true."""
    plan = archive.target("stars", ["vmag"], where="tycho.bt > 1").plan()
    assert plan.catalog.extent == stars.combine(tycho).select("bt > 1").definition.extent
    assert words(plan.after).count("scan") == 2


@pytest.mark.parametrize("missing", ["error", "null"])
@pytest.mark.parametrize(
    "where", ["vmag < 3 OR bt > 1", "bt IS NULL", "coalesce(bt, 0) < 1", "NOT (bt > 1 AND vmag > 3)"]
)
def test_a_criterion_that_sources_without_what_it_reads_may_fulfil_loses_none_unasked(
    archive, stars, tycho, where, missing
):
    with pytest.raises(NotCoveredError, match=r"proved to have tycho\.bt") as caught:
        archive.target("stars", ["vmag"], where=where.replace("bt", "tycho.bt"), missing=missing)
    assert isinstance(caught.value.world, World)
    dropped = archive.target("stars", ["vmag"], where=where.replace("bt", "tycho.bt"), missing="drop").plan()
    assert dropped.catalog.extent == stars.combine(tycho).select(where).definition.extent


@pytest.mark.parametrize(
    "where",
    [
        "bt > 1 AND vmag < 3",
        "NOT (bt > 1)",
        "bt + vmag < 3",
        "bt > 1 OR bt < 0",
        "(vmag < 3 OR bt > 1) AND bt IS NOT NULL",
        "coalesce(bt, 99) < 3",
    ],
)
def test_a_criterion_that_no_source_without_what_it_reads_fulfils_leaves_these_out(archive, stars, tycho, where):
    plan = archive.target("stars", ["vmag"], where=where.replace("bt", "tycho.bt")).plan()
    assert plan.catalog.extent == stars.combine(tycho).select(where).definition.extent


def test_the_key_is_had_by_any_name_that_it_has_somewhere(archive, stars, tmp_path):
    """It is the same attribute, so that all sources have it; no other catalog need be looked at."""
    others = [
        archive.ingest(f"other{n}", write_parquet(tmp_path / f"{n}.parquet", {"nr": [n]}), key="nr", population="star")
        for n in range(5)
    ]
    for catalog in (stars, stars.select("vmag < 3"), stars.rename(hip="id")):
        plan = archive.target(catalog, ["nr", "vmag"]).plan()
        assert plan.schema.names == ("nr", "vmag")
        assert words(plan.after).count("scan") == 1
        assert plan.catalog.extent == catalog.definition.extent
    assert archive.target(others[0], ["hip"]).plan().schema.names == ("hip",)


# --- changed calculators ---


def changed(archive: provenn.Archive, module: ModuleType, factor: int):
    """Change the code of the calculator, and register it again."""
    path = Path(module.__file__)
    path.write_text(CODE.format(factor=factor) + "\n" * factor)  # another size: the clock alone may not tell
    importlib.reload(module)
    return archive.calculator("redshift", module.redshift, inputs=["plx"], outputs={"z": "double"})


@pytest.mark.usefixtures("stars")
def test_a_name_means_what_the_calculator_gives_now(archive, module):
    """Catalogs that were defined with the old code have the old values; whoever asks anew means the new ones."""
    old = changed(archive, module, 1)
    asked = archive.target("stars", ["z"])
    before = provided(asked.plan(), "z")
    kept = asked.catalog("kept")
    archive.calculator("twice", sql={"twice": "z * 2"})
    twice = provided(archive.target("stars", ["twice"]).plan(), "twice")
    archive.target("stars", ["twice"]).catalog("kept_twice")

    new = changed(archive, module, 2)
    assert new.digest != old.digest
    plan = asked.plan()
    assert provided(plan, "z") != before
    assert [step.calculator.digest for step in plan.calculations] == [new.digest]
    assert provided(archive.target("stars", ["twice"]).plan(), "twice") != twice, "and so does what is made from it"
    assert provided(archive.target(kept, ["z"]).plan(), "z") == before, "a definition never changes"

    back = changed(archive, module, 1)
    assert back.digest == old.digest
    assert provided(asked.plan(), "z") == before, "the code is what it was"


def test_what_was_derived_from_an_old_result_and_has_no_calculator_is_still_found(archive, stars, module):
    old = stars.derive(changed(archive, module, 1), name="old")
    twice = old.derive(twice="z * 2", name="twice")
    changed(archive, module, 2)
    assert provided(archive.target("stars", ["twice"]).plan(), "twice") == twice.schema["twice"].identity


# --- missing ---


def test_sources_that_are_not_proved_to_have_it_are_an_error_with_a_possible_world(archive, stars, tycho):
    with pytest.raises(NotCoveredError, match="not all sources of stars are proved to have bt") as caught:
        archive.target("stars", ["tycho.bt"])
    assert caught.value.attribute == "bt"
    assert isinstance(caught.value.world, World)
    assert any(stars.digest in region and tycho.digest not in region for region in caught.value.world.regions), (
        "there is a star that is not in Tycho"
    )
    assert 'missing="null"' in caught.value.hint
    archive.declare("stars <= tycho")
    assert words(archive.target("stars", ["tycho.bt"]).plan().after) == ["scan", "scan", "restrict"]


@pytest.mark.usefixtures("tycho")
def test_missing_values_are_null_if_that_is_chosen(archive, stars):
    plan = archive.target("stars", ["vmag", "tycho.bt"], missing="null").plan()
    assert plan.catalog is None
    assert plan.after.extent == stars.definition.extent
    assert [step.missing[0].name for step in walk_steps(plan.after) if isinstance(step, Fill)] == ["bt"]
    with pytest.raises(TargetError, match="cannot be defined as a catalog"):
        archive.target("stars", ["tycho.bt"], missing="null").catalog("nulls")


@pytest.mark.usefixtures("tycho")
def test_two_attributes_may_be_missing_apart_from_one_another(archive, stars, tmp_path):
    columns = {"hip": [1, 3], "j": [1.0, 2.0]}
    archive.ingest("infrared", write_parquet(tmp_path / "j.parquet", columns), key="hip", population="star")
    plan = archive.target("stars", ["tycho.bt", "infrared.j", "vmag"], missing="null").plan()
    assert plan.after.extent == stars.definition.extent
    assert plan.needed <= plan.after.attributes.keys()
    for output, of in (("of_bt", "tycho.bt"), ("of_j", "infrared.j"), ("of_plx", "plx")):
        scaled(archive, output, of)
    plan = archive.target("stars", ["of_bt", "of_j", "of_plx"], missing="null").plan()
    for step, other_step in itertools.combinations(plan.calculations, 2):
        apart = plan.scene.is_proved(plan.scene.state_disjoint(step.extent, other_step.extent))
        assert apart or step.outputs != other_step.outputs, "no source is calculated twice"
    assert len(steps_as_run(plan.after)) == len({*steps_as_run(plan.after)})


def test_sources_without_it_are_left_out_if_that_is_chosen(archive, stars, tycho):
    plan = archive.target("stars", ["vmag", "tycho.bt"], missing="drop").plan()
    assert plan.catalog.extent == stars.restrict(tycho).definition.extent
    assert not [step for step in walk_steps(plan.after) if isinstance(step, Fill)]


@pytest.mark.parametrize("missing", ["error", "null", "drop"])
def test_where_all_sources_have_it_nothing_is_missing(archive, stars, missing):
    stars.derive(d="plx * 2", name="derived")
    plan = archive.target(stars.select("vmag < 6"), ["d"], missing=missing).plan()
    assert words(plan.after) == ["scan", "select", "derive"]
    assert plan.catalog is not None


# --- bad input ---


def test_an_unknown_attribute_says_what_may_be_meant(archive, stars):
    stars.derive(dist_pc="1000 / plx", name="near")
    with pytest.raises(
        TargetError, match="no catalog has an attribute 'vmga', and no calculator provides it"
    ) as caught:
        archive.target("stars", ["vmga"])
    assert caught.value.hint == "did you mean vmag?"
    with pytest.raises(TargetError, match="qqq") as caught:
        archive.target("stars", ["qqq"])
    assert "dist_pc" in caught.value.hint
    with pytest.raises(TargetError, match="'dist_pcc'"):
        archive.target("stars", ["vmag"], where="dist_pcc > 1")


@pytest.mark.usefixtures("stars")
def test_attributes_of_another_population_are_not_those_of_these_sources(archive, tmp_path):
    columns = {"id": [1, 2], "z": [0.1, 0.2]}
    path = write_parquet(tmp_path / "g.parquet", columns)
    archive.ingest("galaxies", path, key="id", population="galaxy")
    with pytest.raises(TargetError, match=r"z is an attribute of galaxy, not of star"):
        archive.target("stars", ["z"])
    with pytest.raises(TargetError, match="z is an attribute of galaxy"):
        archive.target("stars", ["vmag"], where="z > 0.1")
    scaled(archive, "z", "plx")
    assert archive.target("stars", ["z"]).plan().calculations, "a name may be used twice"


def test_a_contradictory_criterion_is_answered_by_proof(archive, stars):
    target = archive.target(stars.select("vmag < 6"), ["vmag", "plx"], where="vmag > 7")
    plan = target.plan()
    assert plan.empty
    assert words(plan.after) == ["nothing"]
    assert target.count() == 0
    assert target.to_arrow().schema.names == ["hip", "vmag", "plx"]
    assert target.to_arrow().num_rows == 0
    assert list(target.to_pandas().columns) == ["hip", "vmag", "plx"]
    assert archive.context.workshop._pipeline is None, "Spark was not needed for it"


@pytest.mark.parametrize(
    ("request_", "error", "match"),
    [
        ({"sources": "starz", "attributes": ["vmag"]}, UnknownCatalogError, "stars"),
        ({"sources": "stars", "attributes": []}, TargetError, "no attributes requested"),
        ({"sources": "stars", "attributes": ["vmag"], "where": "vmag <"}, CriterionError, "vmag"),
        ({"sources": "stars", "attributes": ["vmag"], "where": "vmag + 1"}, CriterionError, "vmag"),
        ({"sources": "stars", "attributes": ["vmag"], "where": "rand() < 1"}, CriterionError, "rand"),
        ({"sources": "stars", "attributes": ["vmag"], "missing": "nul"}, TargetError, "missing is error, null, drop"),
        ({"sources": "stars", "attributes": ["vmag"], "keep": "sometimes"}, TargetError, "keep is always"),
    ],
)
@pytest.mark.usefixtures("stars")
def test_bad_requests_are_refused_before_anything_is_done(archive, request_, error, match):
    before = dump(archive)
    with pytest.raises(error, match=match):
        archive.target(**request_)
    assert dump(archive) == before


def test_an_empty_criterion_is_none(archive, stars):
    assert archive.target("stars", ["vmag"], where="  ").plan().catalog.extent == stars.definition.extent


@pytest.mark.usefixtures("stars")
def test_a_target_tells_what_it_is(archive):
    assert repr(archive.target("stars", ["vmag"], where="plx > 1")) == "<Target vmag of stars where plx > 1>"
    assert isinstance(archive.target("stars", ["vmag"]).plan(), Plan)
    assert not [
        step for step in walk_steps(archive.target("stars", ["vmag"]).plan().after) if isinstance(step, Calculate)
    ]


def test_a_lineage_that_is_too_deep_to_plan_is_told_so(stars):
    catalog = stars
    for number in range(200):
        catalog = catalog.derive({f"x{number}": f"vmag + {number}"})
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        with pytest.raises(TargetError, match="too many consecutive steps") as caught:
            catalog.plan()
    finally:
        sys.setrecursionlimit(usual)
    assert "fewer steps" in caught.value.hint
