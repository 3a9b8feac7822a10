"""What is learned from what a real Spark counts: facts, and what they lean on."""

import pytest

import provenn
from provenn.errors import ProvennWarning
from provenn.targets import storing
from tests.targets.sixty_stars import N, archive, words, z

__all__ = ["archive", "z"]


def facts_about(archive: provenn.Archive, catalog: provenn.Catalog) -> dict[str, str]:
    return {str(fact.statement): fact.origin for fact in archive.facts(catalog)}


def test_counts_become_facts(archive):
    stars = archive["stars"]
    nobody = stars.select("mag > 100", name="nobody")
    somebody = stars.select("mag > 5.85", name="somebody")
    assert nobody.count() == 0
    assert somebody.count() == 1
    assert facts_about(archive, nobody) == {"empty(nobody)": "observed"}
    assert facts_about(archive, somebody)["nonempty(somebody)"] == "observed"
    asked = archive.target("nobody", ["mag", "dec"])
    assert asked.plan().empty, "later plans use it"
    assert archive.target(nobody.select("dec > 1"), ["mag"]).plan().empty
    assert asked.to_arrow().num_rows == 0
    assert archive.prove("somebody <= nobody").verdict == "fails"


def test_what_a_killed_process_stored_teaches_when_it_is_asked_for_again(archive, monkeypatch):
    faint = archive["stars"].select("mag > 5.83", name="faint583")
    with monkeypatch.context() as patch:
        patch.setattr(storing, "learn_count", lambda *_: ())  # as if the process died after the fragment was there
        faint.store()
    assert facts_about(archive, faint) == {}
    faint.store()
    assert facts_about(archive, faint)["nonempty(faint583)"] == "observed"


def test_a_part_with_as_many_sources_is_equal_and_joins_vanish(archive):
    """All magnitudes have fewer than 50 digits: that was counted, not known before."""
    stars = archive["stars"]
    bright = stars.select("length(string(mag)) < 50", name="bright50")
    restricted = archive["tycho"].restrict(stars).restrict(bright)
    assert words(archive.target(restricted, ["bt"])).count("restrict") >= 1
    joined = len(words(archive.target(restricted, ["bt"])))
    assert archive.relate("bright50", "stars").summary != "equal"
    assert bright.count() == N
    assert facts_about(archive, bright)["bright50 == stars"] == "observed"
    assert archive.relate("bright50", "stars").summary == "equal"
    after = archive.target(restricted, ["bt"])
    assert len(words(after)) < joined
    assert words(after).count("restrict") == 1
    assert sorted(after.to_arrow().column("id").to_pylist()) == list(range(40, N))


def test_a_part_of_a_part_with_as_many_sources_is_equal_to_the_whole(archive):
    inner = archive["tycho"].select("bt < 60").select("bt < 50", name="inner50")
    assert inner.count() == 21
    assert facts_about(archive, inner)["inner50 == tycho"] == "observed"
    assert archive.relate(archive["tycho"].select("bt < 60"), "tycho").summary == "equal", "and so is what lies between"


def test_equality_is_learned_whichever_of_two_is_counted_last(archive):
    """The part is counted first; it does not lie in what the larger one is made from."""
    larger = archive["stars"].select("mag < 4.35", name="larger435")
    part = larger.select("dec < 60", name="part435")
    assert part.count() == 44
    assert archive.relate("larger435", "part435").summary != "equal"
    assert larger.count() == 44
    assert archive.relate("larger435", "part435").summary == "equal"
    assert facts_about(archive, part)["larger435 == part435"] == "observed"


def test_equality_is_learned_between_siblings(archive):
    """Of two selections one is proved to lie in the other by its criterion."""
    stars = archive["stars"]
    narrow, wide = stars.select("mag < 3.71", name="narrow371"), stars.select("mag < 3.75", name="wide375")
    assert (wide.count(), narrow.count()) == (38, 38)
    assert archive.relate("narrow371", "wide375").summary == "equal"
    other = stars.select("dec > 200 OR id > 21", name="other21")
    assert other.count() == 38
    assert archive.relate("other21", "wide375").summary != "equal", "as many, but others"


def test_equality_is_learned_from_what_is_stored(archive):
    """What is stored is counted, too."""
    stored = archive["stars"].select("mag < 60", name="stored60")
    stored.store()
    assert facts_about(archive, stored)["nonempty(stored60)"] == "observed"
    assert archive.relate("stored60", "stars").summary == "equal"


def test_an_observation_that_contradicts_a_declaration_suspends_it(archive):
    doubtful = archive["stars"].select("dec > 200", name="doubtful")
    declared = archive.declare("nonempty(doubtful)", reason="hope")
    with pytest.warns(ProvennWarning, match="is no longer used: contradicted by observation: 0 sources counted"):
        assert doubtful.count() == 0
    assert facts_about(archive, doubtful) == {"empty(doubtful)": "observed"}
    (suspended,) = [fact for fact in archive.facts(doubtful, retracted=True) if fact.id == declared.id]
    assert suspended.retracted_at is not None
    assert "suspended" in suspended.retracted_reason


def test_a_fragment_that_leans_on_a_declaration_is_not_used_when_that_is_retracted(archive, z):
    """That some of Tycho are stars was declared, and the plan leans on it; it is not so, and taken back."""
    faint = archive["tycho"].select("bt > 0.15", name="faint15")
    fact = archive.declare("faint15 <= stars")
    with pytest.warns(ProvennWarning, match="faint15 <= stars"):
        archive.target(faint.restrict("stars"), ["bt"], keep="always").to_arrow()
    leaning = [stored for stored in archive.fragments() if fact.id in stored.fragment.facts]
    assert len(leaning) == 1
    archive.retract(fact.id)
    assert all(stored.fragment.id != leaning[0].fragment.id for stored in archive.fragments() if not stored.unusable)
    found = archive.target(faint.restrict("stars"), ["bt"]).to_arrow()
    assert sorted(found.column("id").to_pylist()) == list(range(42, N))
    assert z.calls() == []


def test_nothing_is_learned_from_what_leans_on_a_declaration(archive):
    """A count is for ever; a declaration may be wrong, as this one is, and is taken back."""
    faint = archive["tycho"].select("bt > 0.55", name="faint55")
    fact = archive.declare("faint55 <= stars")
    both = faint.restrict("stars", name="both55")
    with pytest.warns(ProvennWarning, match="both55 rests on"):
        assert both.count() == 15
    assert facts_about(archive, both) == {}
    archive.retract(fact.id)
    assert both.count() == 14
    assert both.store().fragment.rows == 14


def test_what_is_stored_while_a_declaration_holds_leans_on_it_however_it_was_used(archive):
    """By it, no row of a fragment need be looked at; and what is made from such a result leans on it too."""
    stars = archive["stars"]
    early = stars.select("id < 30", name="early30")
    stars.select("dec < 5", name="low5")
    early.store()
    fact = archive.declare("early30 <= low5")
    narrow = early.select("dec < 5", name="narrow30")
    with pytest.warns(ProvennWarning, match="of narrow30 rests on"):
        assert narrow.store().fragment.rows == 30
    narrower = narrow.select("mag < 2", name="narrower30")
    with pytest.warns(ProvennWarning, match="of narrower30 rests on"):
        assert fact.id in narrower.store().fragment.facts
    archive.retract(fact.id)
    assert narrow.count() == narrow.to_arrow().num_rows == 15
    assert narrower.count() == narrower.to_arrow().num_rows == 10
