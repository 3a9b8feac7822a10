"""Declared facts in answers: which ones an answer rests on is told; data that are read contradict the wrong ones."""

import warnings
from dataclasses import replace

import pyarrow as pa
import pytest

import provenn
from provenn.errors import ContradictionError, NotCoveredError, ProvennWarning
from tests.cli.archive_session import Session
from tests.targets.declared_stars import NEAR, VERY_NEAR, N, stars_archive

__all__ = ["stars_archive"]


@pytest.fixture
def archive(stars_archive) -> provenn.Archive:
    """Where somebody declared by mistake that what is very near is not near, and was told what that means."""
    with pytest.warns(ProvennWarning, match="very_near cannot have any source"):
        stars_archive.declare("disjoint(near, very_near)", reason="a slip")
    return stars_archive


SLIP = r"fact #\d+, declared by ada on \d{4}-\d\d-\d\d: disjoint\(near, very_near\) \(a slip\)"


def slip(archive: provenn.Archive) -> list[int]:
    """The number of the mistaken fact, while it holds."""
    return [fact.id for fact in archive.facts() if str(fact.statement) == "disjoint(near, very_near)"]


# --- an answer says on what it rests ---


def test_every_answer_that_is_empty_by_a_declaration_names_it(archive, tmp_path):
    very_near = archive["very_near"]
    target = archive.target("very_near", ["plx"], where="id > 1")
    answers = [
        (very_near.count, 0),
        (lambda: very_near.select("id > 0").to_arrow().num_rows, 0),
        (lambda: len(very_near.select("id > 2").to_pandas()), 0),
        (lambda: len(very_near.select("id > 3").to_astropy()), 0),
        (lambda: very_near.select("id > 4").to_spark().count(), 0),
        (lambda: len(very_near.select("id > 5").head()), 0),
        (lambda: very_near.select("id > 6").write(tmp_path / "out.parquet").rows, 0),
        (lambda: len(target.to_pandas()), 0),
        (target.catalog("asked").count, 0),
    ]
    for answer, rows in answers:
        with pytest.warns(ProvennWarning, match=SLIP) as told:
            assert answer() == rows
        assert told[0].filename == __file__, "the warning points to whoever asked"
    assert {notice.kind for notice in archive.notices} == {"rests on", "implies"}


def test_a_plan_carries_the_facts_and_shows_them(archive):
    plan = archive["very_near"].plan()
    (fact,) = plan.rests_on
    assert [fact.id] == slip(archive)
    assert str(fact.statement) == "disjoint(near, very_near)"
    assert fact.words in str(plan).replace("\n    ", " ")
    assert "Rests on" in plan.svg()
    assert "~" not in str(plan).partition("As defined")[2].split("\n")[2], "what is proved empty is not guessed"
    assert plan.rows.high == 0


def test_nothing_is_told_twice(archive):
    with pytest.warns(ProvennWarning, match=SLIP):
        archive["very_near"].count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert archive["very_near"].count() == 0
    assert len([notice for notice in archive.notices if notice.kind == "rests on"]) == 1


def test_an_answer_that_would_be_the_same_without_a_declaration_rests_on_none(archive):
    """Warnings are errors here: that none is told is seen by that."""
    archive.declare("tycho - stars <= tycho - near", reason="it says nothing new")
    assert archive["stars"].plan().rests_on == ()
    assert archive["stars"].count() == N
    assert archive["near"].select("id > 3").to_arrow().num_rows == NEAR - 4


def test_what_is_stored_by_a_declaration_says_so_and_so_does_what_reads_it(stars_archive):
    fact = stars_archive.declare("tycho <= stars")
    both = stars_archive["tycho"].restrict("stars", name="both")
    with pytest.warns(ProvennWarning, match="tycho <= stars"):
        stored = both.store()
    assert [one.id for one in stored.rests_on] == [fact.id]
    with pytest.warns(ProvennWarning, match="tycho <= stars"):
        assert both.to_arrow().num_rows == 51
    assert [one.id for one in both.plan().rests_on] == [fact.id]
    again = stars_archive.watched(False)  # who was told nothing yet
    with pytest.warns(ProvennWarning, match="both rests on"):
        assert again["both"].count() == 51, "what was stored by somebody's word is no count"


def test_sources_that_have_an_attribute_by_declaration_alone_rest_on_it(stars_archive):
    with pytest.raises(NotCoveredError):
        stars_archive.target("tycho", ["stars.plx"])
    fact = stars_archive.declare("tycho <= stars")
    target = stars_archive.target("tycho", ["bt", "stars.plx"])
    assert [one.id for one in target.plan().rests_on] == [fact.id]
    assert stars_archive.target("tycho", ["bt", "stars.plx"], missing="drop").plan().rests_on == ()


def test_somebody_else_may_be_told_instead(stars_archive):
    told = []
    watched = stars_archive.watched(False, notify=told.append)
    watched.declare("disjoint(near, very_near)")
    assert watched["very_near"].count() == 0
    assert [notice.kind for notice in told] == ["implies", "rests on"]
    silent = stars_archive.watched(False, notify=False)
    assert silent["very_near"].count() == 0
    assert [notice.facts[0].id for notice in silent.notices] == slip(stars_archive)


# --- checking ---


def test_a_check_finds_the_truth_and_suspends_the_declaration(archive):
    with pytest.warns(ProvennWarning, match=rf"{SLIP} is no longer used: .* {VERY_NEAR} sources"):
        assert archive["very_near"].count(check=True) == VERY_NEAR
    assert slip(archive) == []
    assert archive["very_near"].count() == VERY_NEAR
    assert archive["very_near"].plan().rests_on == ()
    assert "nonempty(near & very_near)" in {str(fact.statement) for fact in archive.facts()}


@pytest.mark.parametrize("way", ["to_arrow", "head", "write", "to_spark", "target"])
def test_every_answer_can_be_checked(archive, tmp_path, way):
    very_near = archive["very_near"]
    asked = {
        "to_arrow": lambda: very_near.to_arrow(check=True).num_rows,
        "head": lambda: len(very_near.head(5, check=True)),
        "write": lambda: very_near.write(tmp_path / "out.csv", check=True).rows,
        "to_spark": lambda: very_near.to_spark(check=True).count(),
        "target": lambda: archive.target("very_near", ["plx"]).count(check=True),
    }
    with pytest.warns(ProvennWarning, match="is no longer used"):
        assert asked[way]() == (5 if way == "head" else VERY_NEAR)
    assert slip(archive) == []


def test_a_fact_that_holds_is_observed_and_nothing_rests_on_it_any_more(stars_archive):
    fact = stars_archive.declare("tycho & near <= stars")
    both = (stars_archive["tycho"].restrict("near")).restrict("stars", name="both")
    assert [one.id for one in both.plan().rests_on] in ([fact.id], [])
    stars_archive.declare("very_near <= tycho")
    inner = stars_archive["very_near"].restrict("tycho", name="inner")
    assert len(inner.plan().rests_on) == 1
    assert stars_archive.relate("very_near", "tycho").rests_on
    assert inner.count(check=True) == VERY_NEAR
    assert [notice.kind for notice in stars_archive.notices] == ["confirmed"]
    assert inner.plan().rests_on == ()
    assert stars_archive.relate("very_near", "tycho").rests_on == ()
    assert inner.select("id > 3").count() == VERY_NEAR - 4


def test_a_check_finds_what_no_count_would_show(stars_archive):
    """All but one source of Tycho are stars: the answer is not empty, and wrong by one."""
    stars_archive.declare("tycho <= stars")
    both = stars_archive["tycho"].restrict("stars", name="both")
    with pytest.warns(ProvennWarning, match="rests on"):
        assert both.count() == 51
    with pytest.warns(ProvennWarning, match=r"is no longer used: .*: 1 source$"):
        assert both.count(check=True) == 50
    assert both.count() == 50


def test_a_check_in_an_archive_that_can_only_be_read_answers_without_the_fact(archive, tmp_path):
    folder = tmp_path / "survey"
    archive.close()
    (folder / "provenn.sqlite").chmod(0o444)
    read_only = provenn.open(folder, progress=False, who="ada")
    opened = read_only.context.database
    read_only.context = replace(
        read_only.context, database=type(opened)(opened.engine, opened.place, True, "ada", None)
    )
    read_only.context.workshop.database = read_only.context.database
    with read_only, pytest.warns(ProvennWarning, match="does not hold in the data, and was not used"):
        assert read_only["very_near"].count(check=True) == VERY_NEAR
    (folder / "provenn.sqlite").chmod(0o644)


# --- what is read anyway ---


def test_an_observation_that_contradicts_a_declaration_is_told(stars_archive):
    stars_archive["stars"].select("plx > 2000", name="nearest")
    stars_archive.declare("nonempty(nearest)", reason="hope")
    with pytest.warns(ProvennWarning, match=r"nonempty\(nearest\) \(hope\) is no longer used: contradicted"):
        assert stars_archive["nearest"].to_arrow().num_rows == 0
    assert [fact for fact in stars_archive.facts() if fact.origin == "declared"] == []


def test_a_few_rows_contradict_as_well_as_all_if_there_are_no_more(stars_archive):
    stars_archive["stars"].select("plx > 2000", name="nearest")
    stars_archive.declare("nonempty(nearest)", reason="hope")
    with pytest.warns(ProvennWarning, match="is no longer used"):
        assert len(stars_archive["nearest"].head(2)) == 0


def test_sources_that_come_twice_by_a_wrong_declaration_are_noticed_and_the_answer_is_right(stars_archive):
    """The members of a union were declared to share no source, so that nobody looks for such; fifty are in both."""
    stars, tycho = stars_archive["stars"].keep(), stars_archive["tycho"].keep()
    stars_archive.declare("disjoint(stars, tycho)", reason="a slip")
    union = stars.concat(tycho, name="all")
    with pytest.warns(ProvennWarning, match=r"disjoint\(stars, tycho\) \(a slip\) is no longer used: .* 50 sources"):
        assert sorted(union.to_arrow().column("id").to_pylist()) == [*range(N), 1000]
    assert union.count() == N + 1


def test_a_number_that_bounds_refute_is_noticed_and_the_answer_is_right(stars_archive, tmp_path):
    """Of 21 sources no 51 can be in both; the file that was written is replaced."""
    few = stars_archive["stars"].select("plx > 79.5", name="few")
    assert few.count() == VERY_NEAR + 1
    stars_archive.declare("tycho <= stars & (few | tycho)")
    stars_archive.declare("tycho - few <= few - tycho", reason="a slip")
    both = stars_archive["tycho"].restrict(few, name="both")
    assert len(both.plan().rests_on) >= 1
    with pytest.warns(ProvennWarning, match="a slip.* is no longer used"):
        assert both.write(tmp_path / "both.parquet").rows == VERY_NEAR + 1
    assert both.count() == VERY_NEAR + 1


def test_keys_that_are_verified_contradict_a_declaration(stars_archive):
    stars_archive.declare("empty(tycho)", reason="a slip")
    with pytest.warns(ProvennWarning, match=r"empty\(tycho\).* is no longer used: .*the key id is unique"):
        assert stars_archive["stars"].exclude("tycho").select("id > 40").to_spark(check=True).count() == 50


def test_counts_that_do_not_fit_suspend_a_containment(stars_archive):
    """Neither count leans on what was declared; that 51 sources lie among 20 cannot be."""
    stars_archive["very_near"].count()
    stars_archive.declare("tycho <= very_near", reason="a slip")
    with pytest.warns(ProvennWarning, match="51 sources cannot be in a set of 20"):
        stars_archive["tycho"].count()
    assert [fact for fact in stars_archive.facts() if fact.origin == "declared"] == []


def test_a_containment_that_counts_contradict_is_refused(stars_archive):
    stars_archive["very_near"].count()
    stars_archive["tycho"].count()
    with pytest.raises(ContradictionError, match=r"tycho <= very_near"):
        stars_archive.declare("tycho <= very_near")
    assert [fact for fact in stars_archive.facts() if fact.origin == "declared"] == []


# --- on the command line ---


@pytest.fixture
def session(archive) -> Session:
    return Session(archive.place.removesuffix("/provenn.sqlite"))


def test_the_commands_name_the_fact(archive, session, tmp_path):
    assert session("count very_near").startswith("0 sources, by fact #")
    assert "disjoint(near, very_near) (a slip)" in session("count very_near")
    (fact,) = session.json("count very_near")["rests_on"]
    assert [fact["number"]] == slip(archive)
    told = session("head very_near")
    assert told.startswith("no sources")
    assert "very_near is empty by fact #" in told
    assert session.json("head very_near")["rests_on"] == [fact]
    assert "Rests on" in session("target very_near plx --plan")
    planned = session.json("target very_near plx --plan")["plan"]
    assert planned["rests_on"] == [fact]
    assert planned["rows"] == {"low": 0, "high": 0, "estimate": 0}
    assert "by fact #" in session("target very_near plx")
    assert session.json("target very_near plx")["rests_on"] == [fact]
    assert "by fact #" in session(f"export very_near {tmp_path / 'out.csv'}")
    assert session.json(f"export very_near {tmp_path / 'out.parquet'}")["rests_on"] == [fact]
    assert session.json(f"prove 'disjoint(near, very_near)' --archive {tmp_path / 'survey'}")["rests_on"] == [fact]
    archive.declare("tycho <= stars")
    assert "rests on fact #" in session("relate tycho stars")
    assert "rests on fact #" in session("compare tycho stars")
    assert session.json("relate tycho stars")["rests_on"][0]["statement"] == "tycho <= stars"
    assert session.json("compare tycho stars")["relations"][0]["rests_on"][0]["statement"] == "tycho <= stars"


def test_the_commands_check(archive, session):
    told = session("count very_near --check").splitlines()
    assert told[0] == str(VERY_NEAR)
    assert "is no longer used" in told[1]
    assert session.json("count very_near --check") == {"catalog": "very_near", "sources": VERY_NEAR, "rests_on": []}
    assert slip(archive) == []
    assert session("count very_near").strip() == str(VERY_NEAR)


def test_a_target_is_checked_by_a_command(archive, session):
    told = session.json("target very_near plx --check --head 3")
    assert len(told["rows"]) == 3
    assert [one["statement"] for one in told["suspended"]] == ["disjoint(near, very_near)"]
    assert slip(archive) == []


def test_what_is_stored_is_listed_with_what_it_rests_on(stars_archive, tmp_path):
    fact = stars_archive.declare("tycho <= stars")
    stars_archive["tycho"].restrict("stars", name="both")
    session = Session(tmp_path / "survey")
    assert f"rests on fact #{fact.id}" in session("store both")
    assert [one["number"] for one in session.json("store both")["rests_on"]] == [fact.id]
    assert f"fact #{fact.id}" in session("fragments both")
    assert [one["rests_on"][0]["number"] for one in session.json("fragments both")] == [fact.id]


def test_tables_without_declarations_are_answered_as_ever(stars_archive):
    table = stars_archive["near"].to_arrow()
    assert table.num_rows == NEAR
    assert isinstance(table, pa.Table)
    assert stars_archive.notices == ()
