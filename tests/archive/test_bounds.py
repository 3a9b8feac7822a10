"""Bounds of catalogs: from counts, files, definitions and facts, without reading a row."""

import random

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.archive import bounding
from provenn.archive.bounding import bound_regions
from provenn.errors import ContradictionError, PopulationError, ProvennWarning, StatementError, UnknownCatalogError
from provenn.knowledge.counts import record_count
from provenn.knowledge.verified_keys import record_verification
from provenn.logic.counting import bound_numbers
from provenn.logic.terms import Term
from provenn.targets.dividing import derive_count
from provenn.targets.learning import learn_count


def learn(archive: provenn.Archive, **numbers: int) -> None:
    """Record counts, as runs would."""
    for name, number in numbers.items():
        learn_count(archive.context.database, archive[name].definition, number)


def verify(archive: provenn.Archive, name: str, rows: int) -> None:
    """Record that the keys of a base were read."""
    archive.context.write(record_verification, archive[name].digest, rows)


@pytest.fixture
def survey(archive):
    """A thousand stars; the bright, the faint and the near ones."""
    table = pa.table({"hip": range(1000), "vmag": [n / 100 for n in range(1000)], "plx": [0.5] * 1000})
    stars = archive.ingest("stars", table, key="hip", population="star")
    stars.select("vmag < 6", name="bright")
    stars.select("vmag >= 7", name="faint")
    stars.select("plx > 10", name="near")
    return archive


def test_files_bound_from_above_until_keys_are_verified(survey):
    """Several rows of one key may be one source, so the rows of files are no lower bound."""
    assert (survey.bounds("stars").low, survey.bounds("stars").high) == (0, 1000)
    assert [str(known) for known in survey.bounds("stars").counts] == ["|stars| <= 1,000  (the rows of its files)"]
    verify(survey, "stars", 1000)
    assert (survey.bounds("stars").low, survey.bounds("stars").high) == (1000, 1000)


def test_the_inequality_that_proves_it_is_told(survey):
    verify(survey, "stars", 1000)
    learn(survey, bright=600, near=780)
    bounds = survey.bounds("bright & near - faint")
    assert (bounds.low, bounds.high, bounds.is_exact, bounds.is_complete) == (380, 600, False, True)
    assert bounds.why.splitlines() == [
        "at least 380: |bright & near - faint| >= |bright| + |near| - |stars| = 600 + 780 - 1,000 = 380",
        "at most 600: |bright & near - faint| <= |bright| = 600",
    ]
    assert bounds.words == "bright & near - faint has 380 to 600 sources"
    assert '"vmag < 6" <= "vmag < 7"' in {str(reason.statement) for reason in bounds.reasons}
    assert not bounds.rests_on
    assert "380 to 600 sources" in bounds._repr_html_()


def test_a_catalog_without_any_bound_has_none(archive, tmp_path):
    (tmp_path / "stars.csv").write_text("hip,vmag\n1,5.0\n")
    stars = archive.ingest("stars", tmp_path / "stars.csv", key="hip", population="star")
    assert (archive.bounds(stars).low, archive.bounds(stars).high) == (0, None)
    assert archive.bounds(stars).words == "stars has any number of sources"


def test_what_is_proved_empty_has_no_sources(survey):
    assert (survey.bounds("bright & faint").high, survey.bounds("bright & faint").words) == (
        0,
        "bright & faint has no sources",
    )


def test_a_declared_fact_is_named_and_used_only_where_it_helps(survey):
    verify(survey, "stars", 1000)
    learn(survey, bright=600, near=300)
    survey.declare("near <= bright", reason="seen so far")
    assert survey.bounds("near").rests_on == ()
    bounds = survey.bounds("bright - near")
    assert (bounds.low, bounds.high) == (300, 300)
    assert [fact.reason for fact in bounds.rests_on] == ["seen so far"]


def test_regions_without_proofs_have_the_same_bounds(survey):
    """The page Compare shows numbers alone: they are those of `bounds`, with and without declared facts."""
    verify(survey, "stars", 1000)
    learn(survey, bright=600, near=300)
    bright, near, faint = (Term((survey[name].digest,)) for name in ("bright", "near", "faint"))
    regions = [bright & near, bright - near, near - bright, bright & near - faint, faint - bright]
    for _ in range(2):
        expected = [(found.low, found.high) for found in map(survey.bounds, regions)]
        assert survey.context.read(bound_regions, regions) == expected
        survey.declare("near <= bright")


def test_regions_that_were_counted_need_no_other_counts(survey, monkeypatch):
    """After a look at an overlap, a page with its numbers does not solve with every count of the population."""
    verify(survey, "stars", 1000)
    bright, near = survey["bright"], survey["near"]
    learn(survey, bright=600, near=300, faint=250)
    regions = [Term((bright.digest,)) & near.digest, Term((bright.digest,)) - near.digest]
    assert survey.context.read(bound_regions, regions) == [(0, 300), (300, 600)]
    bright.restrict(near, name="both")
    learn(survey, both=120)
    assert survey.context.read(bound_regions, regions) == [(120, 120), (480, 480)]
    used = []
    monkeypatch.setattr(bounding, "bound_numbers", lambda *given: used.append(given[2]) or bound_numbers(*given))
    survey.context.read(bound_regions, regions)
    assert [len(counts) for counts in used] == [3, 3], "bright, near, and the sources in both"


def test_equal_by_count_follows_from_the_same_inequality(survey):
    """B inside A with equally many sources: nothing is left of A without B."""
    inner = survey["bright"].select("plx > 0", name="inner")
    learn(survey, bright=600)
    with survey.context.database.writing() as writing:
        record_count(writing, inner.digest, 600)  # the count alone, without its consequences
    assert survey.bounds("bright - inner").high == 0


def test_counts_contradict_what_is_declared(survey):
    verify(survey, "stars", 1000)
    learn(survey, bright=600, near=780)
    with pytest.raises(ContradictionError) as raised:
        survey.declare("disjoint(bright, near)")
    assert {str(known) for known in raised.value.conflict.counts} == {
        "|bright| = 600",
        "|near| = 780",
        "|stars| = 1,000",
    }
    assert "disjoint(bright, near)" in {str(fact) for fact in raised.value.conflict.facts}
    assert not [fact for fact in survey.facts() if fact.origin == "declared"]


def test_a_count_suspends_what_it_contradicts_together_with_others(survey):
    verify(survey, "stars", 1000)
    learn(survey, bright=600)
    survey.declare("disjoint(bright, near)")
    learn(survey, near=780)
    (fact,) = [fact for fact in survey.facts(retracted=True) if fact.origin == "declared"]
    assert fact.suspended
    assert "= 780" in fact.ended_because
    assert survey.bounds("bright & near").low == 380


def test_bad_expressions(survey):
    with pytest.raises(UnknownCatalogError, match="brigth") as raised:
        survey.bounds("brigth & near")
    assert "bright" in raised.value.hint
    with pytest.raises(StatementError):
        survey.bounds("bright &")
    with pytest.raises(StatementError, match="a set is expected"):
        survey.bounds("bright <= near")
    survey.ingest("visits", pa.table({"visit": [1, 2]}), key="visit", population="visit")
    with pytest.raises(PopulationError):
        survey.bounds("visits & bright")


def test_bounds_contain_the_truth_of_random_catalogs(archive):
    """Selections of random rows, some of them counted: every expression lies between its bounds."""
    draw = random.Random(7)
    columns = {name: [draw.randrange(10) for _ in range(200)] for name in "abc"}
    archive.ingest("s", pa.table({"k": range(200), **columns}), key="k", population="star")
    verify(archive, "s", 200)
    rows = {"s": frozenset(range(200))}
    for number in range(8):
        column, value = draw.choice("abc"), draw.randrange(1, 10)
        parent = draw.choice(list(rows))
        archive[parent].select(f"{column} < {value}", name=f"s{number}")
        rows[f"s{number}"] = frozenset(row for row in rows[parent] if columns[column][row] < value)
        if draw.random() < 0.7:
            learn(archive, **{f"s{number}": len(rows[f"s{number}"])})
    for _ in range(30):
        left, middle, right = draw.choices(list(rows), k=3)
        bounds = archive.bounds(f"({left} & {middle}) - {right}")
        truth = len((rows[left] & rows[middle]) - rows[right])
        assert bounds.low <= truth <= bounds.high


@pytest.fixture
def gaps(archive):
    """A thousand stars, of which two hundred have no g; x is NaN for some, and never NULL."""
    columns = {
        "hip": range(1000),
        "g": [None if n % 5 == 0 else n / 100 for n in range(1000)],
        "x": [float("nan") if n % 2 else 1.0 for n in range(1000)],
        "odd `name": ["a" if n % 4 else None for n in range(1000)],
    }
    stars = archive.ingest("stars", pa.table(columns), key="hip", population="star")
    stars.select("g IS NULL", name="without")
    stars.select("g < 5", name="bright")
    stars.select("x IS NULL", name="nowhere")
    stars.select("`odd ``name` IS NULL", name="unnamed")
    return archive


def test_nulls_of_files_bound_from_above_until_keys_are_verified(gaps):
    bounds = gaps.bounds("without")
    assert (bounds.low, bounds.high) == (0, 200)
    assert [known.because for known in bounds.counts] == ["the NULLs of g in its files"]
    assert gaps.bounds("bright").high == 800
    assert gaps.bounds("stars - without").high == 800
    assert gaps.bounds("unnamed").high == 250


def test_nulls_of_files_count_what_has_no_value(gaps):
    verify(gaps, "stars", 1000)
    bounds = gaps.bounds("without")
    assert bounds.is_exact
    assert bounds.why.splitlines() == [
        'at least 200: |without| >= |stars - "g IS NOT NULL"| = 200',
        'at most 200: |without| <= |stars - "g IS NOT NULL"| = 200',
    ]
    assert (gaps.bounds("stars - without").low, gaps.bounds("unnamed").low) == (800, 250)
    assert gaps.bounds("nowhere").high == 0  # NaN is a value
    assert gaps.bounds("without & unnamed").high == 200
    assert gaps.bounds("without | unnamed").low == 250


def test_nulls_of_fewer_sources_than_rows_are_no_lower_bound(gaps):
    """If a key occurs twice, rows are not sources."""
    learn(gaps, stars=999)
    assert (gaps.bounds("without").low, gaps.bounds("without").high) == (199, 200)


def test_nulls_of_files_that_are_trusted_bound_nothing(archive, tmp_path):
    parquet.write_table(pa.table({"hip": range(10), "g": [None] * 5 + [1.0] * 5}), tmp_path / "t.parquet")
    archive.ingest("stars", tmp_path / "t.parquet", key="hip", population="star", trust="metadata")
    archive["stars"].select("g IS NULL", name="without")
    assert archive.bounds("without").high == 10


def test_a_count_that_bounds_prove_needs_no_data(gaps):
    """No Spark, no row: the number follows, is recorded, and the reason names the inequality."""
    verify(gaps, "stars", 1000)
    assert gaps["without"].count() == 200
    assert gaps["unnamed"].count() == 250
    reasons = [fact.reason for fact in gaps.facts() if fact.reason.startswith("200 sources")]
    assert reasons == [
        "200 sources by bounds: at least 200: |S| >= |S1 - S2| = 200; at most 200: |S| <= |S1 - S2| = 200"
    ]


def test_a_count_does_not_follow_from_declared_facts(survey):
    """A declared fact may be wrong, and a count is recorded for ever."""
    verify(survey, "stars", 1000)
    learn(survey, near=780)
    survey.declare("near <= bright and bright <= near", reason="I believe it")
    assert survey.bounds("bright").is_exact
    assert [fact.reason for fact in survey.bounds("bright").rests_on] == ["I believe it"]
    with survey.context.database.reading() as reading:
        assert derive_count(reading, survey["bright"].definition) is None


def test_the_criteria_of_a_proof_are_those_of_the_user(survey):
    """`plx > 10` is made of two parts, of which the user knows nothing."""
    with pytest.warns(ProvennWarning, match="near cannot have any sources"):
        survey.declare("disjoint(stars, near)")
    bounds = survey.bounds("near")
    assert 'near == stars & "plx > 10"' in {str(reason.statement) for reason in bounds.reasons}
    assert "IS NOT NULL" not in str(bounds)
    assert repr(bounds) == "<Bounds: near has no sources, by the declared fact #1>"
    assert repr(survey.relate("near", "bright")) == ("<Relation: near lies inside bright, by the declared fact #1>")
    assert repr(survey.prove("empty(near)")) == "<Proof: empty(near) holds, by the declared fact #1>"
    assert repr(survey.facts()[0]) == "<Fact #1, declared: disjoint(stars, near)>"
    plan = survey.target(sources="near", attributes=["vmag"]).plan()
    assert "IS NOT NULL" not in " ".join(line for reason in plan.reasons for line in reason.proof)
