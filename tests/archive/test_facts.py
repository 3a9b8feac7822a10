"""Declaring and retracting, proofs that are kept, and answers that never say more than is known."""

import sqlite3

import pytest

import provenn
from provenn.archive import questions
from provenn.errors import (
    ContradictionError,
    FactError,
    PopulationError,
    StatementError,
    UnknownCatalogError,
    UnknownFactError,
)
from provenn.logic import Knowledge, World, statement
from tests.archive.samples import dump, write_parquet


@pytest.fixture
def survey(archive, stars, tmp_path):
    """Two base catalogs, `stars` and `others`, and the bright sources of each."""
    others = archive.ingest(
        "others", write_parquet(tmp_path / "others.parquet", extra=[0] * 6), key="hip", population="star"
    )
    stars.select("vmag < 6", name="bright")
    others.select("vmag < 6", name="others_bright")
    return archive


@pytest.fixture
def built(monkeypatch):
    """The knowledge that is built: one entry each time."""
    told = []

    def counted(*arguments):
        told.append(arguments)
        return original(*arguments)

    original = questions.build_knowledge
    monkeypatch.setattr(questions, "build_knowledge", counted)
    return told


def kept(archive) -> list[str]:
    with sqlite3.connect(archive.context.database.place) as connection:
        found = [verdict for (verdict,) in connection.execute("SELECT verdict FROM proofs ORDER BY verdict")]
    connection.close()
    return found


# --- declaring ---


def test_what_is_declared_is_used_and_told(survey):
    assert survey.relate("bright", "others_bright").summary == "unknown"
    fact = survey.declare("disjoint(stars, others)", reason="declination ranges")
    assert (fact.id, str(fact.statement), fact.reason, fact.declared_by) == (
        1,
        "disjoint(stars, others)",
        "declination ranges",
        "ada",
    )
    relation = survey.relate("bright", "others_bright")
    assert relation.summary == "disjoint"
    assert [reason.because for reason in relation.reasons if "fact" in reason.because] == [
        "fact #1, declared by ada: declination ranges"
    ]
    assert survey.declare("disjoint(stars, others)") == fact, "once is enough"
    assert survey.facts() == [fact]
    assert survey.facts("others") == [fact]
    assert survey.facts("bright") == []


def test_a_fact_about_descendants_says_something_of_their_ancestors(survey):
    survey["bright"].restrict("others_bright", name="shared")
    survey.declare("nonempty(shared)")
    assert survey.relate("stars", "others").summary == "overlapping"
    assert [str(reason.statement) for reason in survey.prove("overlapping(stars, others)").reasons] == [
        'bright == stars & "vmag < 6"',
        'others_bright == others & "vmag < 6"',
        "shared == bright & others_bright",
        "nonempty(shared)",
    ]


def test_facts_bind_to_catalogs_not_to_names(survey, stars):
    survey.declare("nonempty(bright)")
    survey.name(stars.select("vmag < 1"), "bright", move=True)
    assert not survey.prove("nonempty(bright)")
    (fact,) = survey.facts()
    assert (str(fact.statement), fact.outdated) == ('nonempty("bright@1")', "bright@1; bright is now version 2")
    assert str(fact.again) == "nonempty(bright)"
    assert survey.facts("bright@1") == survey.facts()
    assert survey.facts("bright") == []


@pytest.mark.parametrize(
    ("said", "conflict"),
    [
        ("overlapping(faint, bright)", ["faint == stars - bright", "overlapping(faint, bright)"]),
        ("stars < bright", ['bright == stars & "vmag < 6"', "stars < bright"]),
        ("empty(bright)", ["nonempty(dazzling)", "empty(bright)"]),
        ("empty(~stars)", ["outside(stars)", "empty(~stars)"]),
    ],
)
def test_what_contradicts_is_refused_with_the_minimal_conflict_in_names(survey, stars, said, conflict):
    stars.exclude("bright", name="faint")
    stars.select("vmag < 2", name="dazzling")
    survey.declare("nonempty(dazzling)")
    before = dump(survey)
    with pytest.raises(ContradictionError) as caught:
        survey.declare(said)
    told = [str(fact) for fact in caught.value.conflict.facts]
    assert set(conflict) <= set(told)
    assert Knowledge(told, open_universe=False).consistent is False
    for left_out in told:
        assert Knowledge([one for one in told if one != left_out], open_universe=False).consistent
    assert dump(survey) == before


# --- retracting, and proofs ---


def test_a_proof_is_found_once_and_then_recalled(survey, built):
    survey["bright"].keep("hip", name="copy")
    first = survey.prove("copy == bright")
    assert (first.verdict, len(built)) == ("holds", 1)
    again = survey.prove("copy == bright")
    assert (again, len(built)) == (first, 1)
    assert kept(survey) == ["holds"]
    assert survey.prove("bright != copy").verdict == "fails"
    assert survey.prove("bright != copy").verdict == "fails"
    assert len(built) == 2
    assert kept(survey) == ["fails", "holds"]


def test_relate_and_prove_share_their_proofs(survey, built):
    survey["bright"].keep("hip", name="copy")
    relation = survey.relate("copy", "bright")
    assert survey.prove("copy == bright").reasons == relation.reasons
    assert len(built) == 1


def test_what_is_unknown_is_not_kept(survey, built):
    for _ in range(2):
        assert survey.prove("bright == stars").verdict == "unknown"
    assert len(built) == 2
    assert kept(survey) == []


def test_a_retraction_ends_every_proof_that_used_the_fact_and_no_other(survey):
    first = survey.declare("disjoint(stars, others)")
    second = survey.declare("nonempty(bright)")
    assert survey.prove("disjoint(bright, others)")
    assert survey.prove("nonempty(stars)")
    assert survey.prove("bright <= stars")
    assert kept(survey) == ["holds"] * 3
    gone = survey.retract(first.id, reason="they do overlap")
    assert (gone.holds, gone.retracted_by, gone.retracted_reason) == (False, "ada", "they do overlap")
    assert kept(survey) == ["holds"] * 2
    assert survey.prove("disjoint(bright, others)").verdict == "unknown"
    assert survey.relate("bright", "others").summary == "unknown"
    assert [fact.id for fact in survey.facts()] == [second.id]
    assert [fact.id for fact in survey.facts(retracted=True)] == [first.id, second.id]
    survey.declare("overlapping(stars, others)")
    with pytest.raises(FactError, match="retracted"):
        survey.retract(first.id)


def test_without_the_right_to_write_answers_are_the_same_and_nothing_is_kept(survey, tmp_path):
    before = dump(survey)
    survey.close()
    for path in (tmp_path / "survey" / "provenn.sqlite", tmp_path / "survey"):
        path.chmod(0o555)
    try:
        with provenn.open(tmp_path / "survey", create=False) as again:
            object.__setattr__(again.context.database, "read_only", True)  # the superuser may write anywhere
            assert again.relate("bright", "stars").summary == "subset"
            assert dump(again) == before
    finally:
        (tmp_path / "survey").chmod(0o755)


# --- proving ---


def test_the_three_verdicts(survey):
    proof = survey.prove("bright <= stars")
    assert (proof.verdict, bool(proof), proof.world) == ("holds", True, None)
    assert str(proof.why) == 'bright <= stars, because\n  bright == stars & "vmag < 6"'
    refuted = survey.prove("stars < bright")
    assert (refuted.verdict, bool(refuted), refuted.world) == ("fails", False, None)
    assert refuted.why.conclusion == ~statement("stars < bright")
    unknown = survey.prove("bright == stars")
    assert (unknown.verdict, bool(unknown), unknown.reasons, unknown.why) == ("unknown", False, (), None)
    assert not unknown.world.satisfies(statement("bright == stars"))
    assert unknown.world == World(frozenset({frozenset(), frozenset({"stars"})}))
    assert str(proof).startswith("bright <= stars: holds\n  bright ==")


def test_given_facts_hold_for_one_question_only(survey):
    proof = survey.prove("disjoint(bright, others_bright)", given=["disjoint(stars, others)"])
    assert proof
    assert [reason.because for reason in proof.reasons if reason.statement == statement("disjoint(stars, others)")] == [
        "given"
    ]
    assert not survey.prove("disjoint(bright, others_bright)")
    assert (kept(survey), survey.facts()) == ([], [])
    with pytest.raises(ContradictionError) as caught:
        survey.prove("bright == others", given=["stars < bright"])
    assert [str(fact) for fact in caught.value.conflict.facts] == ['bright == stars & "vmag < 6"', "stars < bright"]


def test_a_budget_that_runs_out_leaves_it_unknown(survey):
    proof = survey.prove("bright <= stars", budget=0)
    assert (proof.verdict, proof.world) in [("unknown", None), ("holds", None)]
    assert survey.prove("bright <= stars", budget=60)


# --- bad input ---


@pytest.mark.parametrize(
    ("said", "error", "told"),
    [
        ("disjoint(brigt, stars)", UnknownCatalogError, "did you mean bright"),
        ("bright <= ", StatementError, "column"),
        ("bright <= galaxies", PopulationError, "cannot compare"),
        ("{} == {}", FactError, "mentions no catalog"),
    ],
)
def test_a_statement_that_cannot_be_declared_changes_nothing(survey, tmp_path, said, error, told):
    survey.ingest("galaxies", write_parquet(tmp_path / "g.parquet", {"pgc": [1]}), key="pgc", population="galaxy")
    before = dump(survey)
    with pytest.raises(error, match=told):
        survey.declare(said)
    assert dump(survey) == before
    if error is not FactError:
        with pytest.raises(error, match=told):
            survey.prove(said)
    assert dump(survey) == before


def test_a_fact_that_does_not_exist_cannot_be_retracted(survey):
    with pytest.raises(UnknownFactError, match="fact #7"):
        survey.retract(7)
