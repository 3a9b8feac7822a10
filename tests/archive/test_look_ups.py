"""All catalogs that stand in a relation to one."""

import pytest
from sqlalchemy import update

import provenn
from provenn.archive import knowledge_cache
from provenn.database.tables import catalogs
from provenn.definitions import populations
from provenn.errors import CorruptArchiveError, ProvennWarning, UnknownCatalogError
from provenn.knowledge import growing_knowledge, stored_facts
from tests.archive.samples import write_parquet


@pytest.fixture
def survey(archive, stars, tmp_path):
    archive.ingest("galaxies", write_parquet(tmp_path / "g.parquet", {"pgc": [1]}), key="pgc", population="galaxy")
    others = archive.ingest(
        "others", write_parquet(tmp_path / "others.parquet", extra=[0] * 6), key="hip", population="star"
    )
    bright = stars.select("vmag < 6", name="bright")
    stars.select("vmag < 5", name="brighter")
    stars.exclude(bright, name="faint")
    bright.keep("vmag").rename(vmag="v", name="renamed")
    stars.select("vmag > 7 AND vmag < 6", name="none")
    others.select("vmag < 6", name="others_bright")
    return archive


def names(found):
    return [one.name for one in found if one.names]


def test_same_sources_are_those_that_are_equal_by_construction_and_by_proof(survey, stars):
    assert names(survey.same_sources("bright")) == ["renamed"]
    stars.select("vmag < 5").concat("bright", name="by proof")
    stars.select("vmag < 100").select("NOT vmag >= 6", name="by proof, too")
    assert names(survey.same_sources("bright")) == ["by proof", "by proof, too", "renamed"]
    with pytest.warns(ProvennWarning, match="faint cannot have any source"):
        survey.declare("bright == stars")
    assert {"stars", "renamed"} < set(names(survey.same_sources("bright")))


def test_by_construction_is_a_look_up_that_builds_no_knowledge(survey, stars, monkeypatch):
    stars.select("vmag < 5").concat("bright", name="by proof")
    stars.select("dec > 0").select("vmag < 6", name="one order")
    stars.derive(d="2 * vmag").select("vmag < 6").select("dec > 0", name="other order")
    monkeypatch.setattr(growing_knowledge, "build_knowledge", None)
    assert names(survey.same_sources("bright", by_construction=True)) == ["renamed"]
    assert names(survey.same_sources("one order", by_construction=True)) == ["other order"]
    assert survey.same_sources("others", by_construction=True) == []


def test_what_is_found_is_read_when_it_is_looked_at(survey):
    (found,) = [catalog for catalog in survey.same_sources("bright") if catalog.names]
    assert found == survey["renamed"]
    assert found.attributes == ("hip", "v")
    assert repr(found) == "<Catalog renamed: RenameAttributes of star, 2 attributes>"
    assert found.select("v < 5").dependencies == (found,)


def test_a_name_is_not_needed_to_be_found(survey):
    assert len(survey.same_sources("bright")) == 2, "the catalog between bright and renamed"


def test_covering_and_inside(survey):
    assert names(survey.covering("bright")) == ["renamed", "stars"]
    assert names(survey.inside("bright")) == ["brighter", "none", "renamed"]
    assert names(survey.inside("stars")) == ["bright", "brighter", "faint", "none", "renamed"]
    assert names(survey.inside("others")) == ["none", "others_bright"], "nothing is inside everything"


def test_apart_from(survey):
    assert names(survey.apart_from("bright")) == ["faint", "none"]
    survey.declare("disjoint(stars, others)")
    assert names(survey.apart_from("bright")) == ["faint", "none", "others", "others_bright"]


def test_only_one_population_is_looked_at(survey):
    assert names(survey.covering("galaxies")) == []
    assert names(survey.apart_from("galaxies")) == []


def test_a_catalog_of_another_archive_is_told(survey, tmp_path):
    with provenn.open(tmp_path / "another") as another:
        file = write_parquet(tmp_path / "f.parquet", {"hip": [7]})
        foreign = another.ingest("foreign", file, key="hip", population="star")
        with pytest.raises(UnknownCatalogError, match="holds no catalog"):
            survey.inside(foreign)


def test_an_unknown_name_is_told(survey):
    for look_up in (survey.same_sources, survey.covering, survey.inside, survey.apart_from):
        with pytest.raises(UnknownCatalogError, match="did you mean bright"):
            look_up("brigt")


def test_what_is_known_of_all_grows_and_is_built_anew_only_if_something_is_taken_back(survey, stars, monkeypatch):
    built = []
    build = growing_knowledge.build_knowledge
    monkeypatch.setattr(growing_knowledge, "build_knowledge", lambda *known: built.append(1) or build(*known))

    def found():
        return names(survey.covering("bright")), names(survey.apart_from("bright"))

    assert found() == (["renamed", "stars"], ["faint", "none"])
    survey.name("bright", "shining")
    assert found() == (["renamed", "stars"], ["faint", "none"])
    assert len(built) == 1, "names change nothing that is known"
    stars.select("vmag < 7", name="new")
    assert found() == (["new", "renamed", "stars"], ["faint", "none"])
    fact = survey.declare("disjoint(bright, others)")
    assert found() == (["new", "renamed", "stars"], ["faint", "none", "others", "others_bright"])
    assert len(built) == 1, "what is new is added to what is known"
    survey.retract(fact.id)
    assert found() == (["new", "renamed", "stars"], ["faint", "none"])
    assert len(built) == 2
    assert names(survey.covering("galaxies")) == []
    assert len(built) == 3, "of each population"
    with provenn.open(survey.place.removesuffix("/provenn.sqlite")) as other:
        other["stars"].select("vmag < 8", name="newer")
    assert names(survey.covering("bright")) == ["new", "newer", "renamed", "stars"], "others add something, too"


def test_of_many_populations_the_last_are_kept(survey, monkeypatch):
    monkeypatch.setattr(knowledge_cache, "_MOST", 5)
    for _ in range(2):
        survey.inside("bright")
        survey.inside("galaxies")
        assert [one for one, *_ in survey.context.knowledge._kept] == ["galaxy"]


def test_all_of_a_population_is_what_the_cone_of_all_is(survey):
    survey.declare("disjoint(faint, others)")
    with survey.context.database.reading() as reading:
        for population in ("star", "galaxy", "quasar"):
            digests = populations.find_catalogs_in_population(reading, population)
            closed = stored_facts.read_closed_cone(reading, digests) if digests else ((), ())
            whole = stored_facts.read_whole_population(reading, population)
            assert ({one.digest: one for one in whole[0]}, whole[1]) == (
                {one.digest: one for one in closed[0]},
                closed[1],
            )
            seen = set()
            for one in whole[0]:
                assert seen.issuperset(one.dependencies)
                seen.add(one.digest)


def test_a_definition_that_was_changed_proves_nothing(survey):
    with survey.context.database.writing() as writing:
        changed = update(catalogs).where(catalogs.c.digest == survey["faint"].digest).values(kind="RestrictSources")
        writing.connection.execute(changed)
    with pytest.raises(CorruptArchiveError, match=survey.search("faint")[0].digest):
        survey.inside("bright")
