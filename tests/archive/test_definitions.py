"""Definitions that depend on what the archive knows: new versions of base files, and concatenations."""

import pytest

from provenn.definitions.search import search_catalogs
from provenn.errors import AttributeConflictError, CatalogNameError, DefinitionError, FilesChangedError
from tests.archive.samples import NAN, STARS, dump, write_parquet

NEWER = STARS | {"vmag": [1.5, 5.9, 6.0, 11.0, 12.0, NAN]}


# --- new versions ---


@pytest.fixture
def survey(archive, stars):
    bright = stars.select("vmag < 6", name="bright")
    near = stars.derive(dist_pc="1000 / plx").keep("dist_pc", name="near")
    bright.combine(near, name="both").named("also both")
    stars.rename(vmag="v")  # no name, and nothing named is made from it
    return archive


def ingest(archive, file, **options):
    return archive.ingest("stars", file, key="hip", population="star", **options)


def test_files_that_have_not_changed_are_the_same_catalog_wherever_they_are(survey, tmp_path):
    before = survey["stars"]
    moved = (tmp_path / "stars.parquet").rename(tmp_path / "moved.parquet")
    assert ingest(survey, moved) == before
    assert survey["stars"].definition.files.location == str(moved)
    survey["stars"].definition.files.check()
    assert len(survey.log("stars")) == 1


def test_changed_files_are_refused_with_an_offer_to_rebuild(survey, tmp_path):
    file = write_parquet(tmp_path / "stars.parquet", NEWER)
    with pytest.raises(FilesChangedError, match="changed since"):
        survey["stars"].definition.files.check()
    before = dump(survey)
    with pytest.raises(CatalogNameError, match="also both, both, bright, near are made from them") as caught:
        ingest(survey, file)
    assert "rebuild=True" in caught.value.hint
    assert dump(survey) == before


def test_rebuild_moves_all_names_to_the_new_version_and_keeps_the_old_catalogs(survey, tmp_path):
    old = {name: survey[name] for name in survey}
    new = ingest(survey, write_parquet(tmp_path / "new.parquet", NEWER), rebuild=True)
    assert survey["stars"] == new
    assert [*survey] == [*old]
    for name in survey:
        assert survey[name] != old[name]
        assert survey[name].attributes == old[name].attributes
        assert survey[old[name].digest] == old[name]
        assert [change.catalog for change in survey.log(name)] == [survey[name].digest, old[name].digest]
    assert survey["both"] == survey["also both"]
    assert survey.relate("both", "bright").summary == "equal"
    assert survey.relate("bright", old["bright"]).summary == "unknown"
    assert survey["bright"] == new.select("vmag < 6")
    assert len(survey.search(kind="RenameAttributes")) == 1, "what has no name is not made anew"


def test_without_rebuild_only_the_name_of_the_base_moves(survey, tmp_path):
    old = survey["stars"]
    new = ingest(survey, write_parquet(tmp_path / "new.parquet", NEWER), rebuild=False)
    assert survey["stars"] == new
    assert survey["bright"].dependencies == (old,)


def test_a_rebuild_that_fails_names_the_catalog_and_changes_nothing(survey, tmp_path):
    file = write_parquet(tmp_path / "new.parquet", {"hip": [1], "plx": [1.0]})
    before = dump(survey)
    with pytest.raises(DefinitionError, match=r"bright cannot be made from the new files: .*vmag") as caught:
        ingest(survey, file, rebuild=True)
    assert "rebuild=False" in caught.value.hint
    assert dump(survey) == before


def test_facts_stay_with_the_old_version(survey, tmp_path):
    survey.declare("nonempty(bright)")
    ingest(survey, write_parquet(tmp_path / "new.parquet", NEWER), rebuild=True)
    assert not survey.prove("nonempty(bright)")


def test_the_name_of_a_catalog_made_from_others_is_not_taken_by_files(survey, tmp_path):
    file = write_parquet(tmp_path / "new.parquet", NEWER)
    before = dump(survey)
    with pytest.raises(CatalogNameError, match="bright names a catalog that is made from other catalogs"):
        survey.ingest("bright", file, key="hip", population="star", rebuild=True)
    assert dump(survey) == before


# --- concatenations ---


@pytest.fixture
def halves(archive, tmp_path):
    """Two catalogs from different files: their attributes are different ones, though they have the same names."""
    for name, extra in (("north", 1), ("south", 2)):
        file = write_parquet(tmp_path / f"{name}.parquet", extra=[extra] * 6)
        archive.ingest(name, file, key="hip", population="star")
    return archive


def test_sources_that_could_have_two_values_are_refused(halves):
    before = dump(halves)
    with pytest.raises(AttributeConflictError, match="several values of vmag, plx") as caught:
        halves["north"].concat("south")
    assert 'order="first"' in caught.value.hint
    assert dump(halves) == before


def test_disjointness_that_is_declared_is_enough(halves):
    halves.declare("disjoint(north, south)")
    both = halves["north"].concat("south", name="both")
    assert both.definition.overlap == "disjoint"
    assert halves.prove("both == north | south")
    assert halves.relate(both.select("vmag < 6"), halves["north"].select("vmag < 6")).summary == "superset"
    assert halves.prove("both - north == south")


def test_disjointness_that_follows_is_enough(halves):
    """Two selections of one catalog, with an attribute derived in two ways."""
    north = halves["north"]
    up = north.select("dec > 0").derive(side="1")
    down = north.select("dec <= 0").derive(side="2")
    both = up.concat(down)
    assert both.definition.overlap == "disjoint"
    assert halves.relate(both, north.select("dec IS NOT NULL")).summary == "equal"
    assert halves.relate(both.select("side = 1"), both.select("side = 2")).summary in {"unknown", "disjoint"}


def test_an_order_is_enough_and_the_first_counts(halves):
    both = halves["north"].concat("south", order="first", name="both")
    assert both.definition.overlap == "first"
    assert "for a source in several, the first one provides the values" in str(both)
    bright = both.select("vmag < 6")
    assert halves.relate(halves["north"].select("vmag < 6"), bright).summary == "subset"
    assert halves.relate(halves["south"].select("vmag < 6"), bright).summary == "unknown"
    assert both != halves["south"].concat("north", order="first")


def test_a_retraction_that_leaves_a_concatenation_without_its_reason_is_told(halves):
    fact = halves.declare("disjoint(north, south)")
    halves["north"].concat("south", name="both").select("vmag < 6", name="bright")
    assert halves.unproved() == []
    assert halves.describe("bright").unproved == ()
    halves.retract(fact.id)
    assert halves.unproved() == [halves["both"]]
    assert halves.describe("bright").unproved == ("both",)
    assert "warning: the members of both are no longer known to be disjoint" in str(halves["bright"])
    halves.declare("disjoint(north, south)")
    assert halves.unproved() == []


def test_however_many_concatenations_there_are_all_that_lack_their_reason_are_told(halves, monkeypatch):
    monkeypatch.setitem(search_catalogs.__kwdefaults__, "most", 1)  # rather than to make a thousand
    fact = halves.declare("disjoint(north, south)")
    made = [halves["north"].concat("south"), halves["south"].concat("north")]
    halves.retract(fact.id)
    assert {one.digest for one in halves.unproved()} == {one.digest for one in made}


def test_a_rebuilt_concatenation_must_be_disjoint_again(halves, tmp_path):
    halves.declare("disjoint(north, south)")
    halves["north"].concat("south", name="both")
    newer = write_parquet(tmp_path / "new.parquet", NEWER | {"extra": [3] * 6})
    before = dump(halves)
    with pytest.raises(DefinitionError, match="both cannot be made from the new files"):
        halves.ingest("north", newer, key="hip", population="star", rebuild=True)
    assert dump(halves) == before
