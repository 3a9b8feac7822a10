"""Proofs over criteria as users wrote them: still proofs, and true of rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise, product
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import provenn
from provenn.logic import Statement
from provenn.logic.statements import Property, SetComparison
from tests.archive.samples import write_parquet
from tests.brute_force import holds, subsets

ATOMS = [
    "plx > 10",
    "plx > 20",
    "plx >= 5",
    "vmag < 6",
    "NOT vmag < 4",
    "vmag BETWEEN 3 AND 5",
    "plx = 10",
    "plx <> 20",
]
FORMS = ["{0}", "{0} AND {1}", "{0} OR {1}", "NOT ({0} AND {1})", "({0}) IS NOT TRUE AND {1}"]
CRITERIA = st.builds(
    lambda form, first, second: form.format(first, second),
    st.sampled_from(FORMS),
    st.sampled_from(ATOMS),
    st.sampled_from(ATOMS),
)
ROWS = list(product([None, 0.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0], [None, 1.0, 3.0, 4.0, 5.0, 5.5, 6.0, 9.0]))


@contextmanager
def ingest_stars(folder: Path) -> Iterator[provenn.Catalog]:
    with provenn.open(folder / "survey", who="ada", notify=False) as archive:
        yield archive.ingest("stars", write_parquet(folder / "stars.parquet"), key="hip", population="star")


@pytest.fixture
def stars(tmp_path):
    with ingest_stars(tmp_path) as catalog:
        yield catalog


@pytest.fixture(scope="module")
def many_stars(tmp_path_factory):
    """A catalog for all examples of a property."""
    with ingest_stars(tmp_path_factory.mktemp("restating")) as catalog:
        yield catalog


def reasons_of(answer: provenn.archive.Relation) -> set[str]:
    """The statements of a proof."""
    return {str(reason.statement) for reason in answer.reasons}


def rows_in(criterion: str) -> frozenset[int]:
    """The rows for which a criterion is TRUE, by DuckDB."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE stars (i INTEGER, plx DOUBLE, vmag DOUBLE)")
        connection.executemany("INSERT INTO stars VALUES (?, ?, ?)", [(i, *row) for i, row in enumerate(ROWS)])
        return frozenset(i for (i,) in connection.execute(f"SELECT i FROM stars WHERE ({criterion})").fetchall())  # noqa: S608 - made above


def is_true_of_rows(fact: Statement) -> bool:
    """Whether a statement about criteria is true of the sets of rows that DuckDB selects."""
    members = {label: rows_in(label) for label in fact.labels}
    everything = frozenset(range(len(ROWS)))

    def find(term):
        return term.evaluate(members.__getitem__, frozenset(), everything)

    match fact:
        case SetComparison("==", left, right):
            return find(left) == find(right)
        case SetComparison("<=", left, right):
            return find(left) <= find(right)
        case Property("disjoint", (left, right)):
            return not find(left) & find(right)
    raise AssertionError(fact)


def is_proof(facts: list[Statement], conclusion: Statement) -> bool:
    """Whether each kind of object that the facts allow is as the conclusion says; brute force over all kinds."""
    labels = sorted({label for fact in (*facts, conclusion) for label in fact.labels})
    objects = (frozenset({region}) for region in subsets(labels))
    return all(holds(conclusion, world) for world in objects if all(holds(fact, world) for fact in facts))


@given(CRITERIA, CRITERIA, CRITERIA)
@settings(max_examples=60, deadline=None)
def test_a_restated_proof_is_a_proof_and_its_relations_are_true_of_rows(many_stars, first, second, third):
    stars = many_stars
    left, right = stars.select(first), stars.select(second).select(third)
    relation = stars.archive.relate(left, right)
    if relation.statement is None or relation.summary == "overlapping":
        return
    facts = [reason.statement for reason in relation.reasons]
    assert is_proof(facts, relation.statement), (first, second, third)
    catalogs = {"stars", left.name, right.name, stars.select(second).name}
    for fact in facts:
        if not catalogs.intersection(fact.labels):
            assert is_true_of_rows(fact), fact


def test_criteria_are_shown_as_they_were_written(stars):
    near = stars.select("plx > 10", name="near")
    stars.select("plx > 20", name="very_near")
    assert [str(fact) for fact in stars.archive.describe(near).says] == ['near == stars & "plx > 10"']
    assert stars.archive.describe(near).sources == "in stars and plx > 10"
    assert reasons_of(stars.archive.relate("very_near", "near")) == {
        'very_near == stars & "plx > 20"',
        'near == stars & "plx > 10"',
        '"plx > 20" <= "plx > 10"',
    }


def test_a_criterion_of_two_parts_is_one_fact_of_a_proof(stars):
    stars.select("plx > 10 and vmag < 6", name="both")
    stars.select("plx > 10", name="near").select("vmag < 6", name="bright_and_near")
    answer = stars.archive.relate("both", "bright_and_near")
    assert str(answer.reasons[-1].statement) == '"plx > 10 and vmag < 6" == "plx > 10" & "vmag < 6"'
    assert answer.reasons[-1].because == "whatever the values are"


def test_a_contradiction_shows_criteria_as_they_were_written(stars):
    stars.select("plx > 10", name="near")
    stars.select("plx > 20", name="very_near")
    with pytest.raises(provenn.errors.ContradictionError) as raised:
        stars.archive.prove("near == near", given=["nonempty(very_near)", "disjoint(near, very_near)"])
    assert 'near == stars & "plx > 10"' in str(raised.value)
    assert "IS NOT NULL" not in str(raised.value)


def test_a_fact_that_suffices_by_itself_is_the_whole_proof(stars):
    names = [f"step_{i}" for i in range(6)]
    for i, name in enumerate(names):
        stars.select(f"vmag < {i} OR dec > {i}", name=name)
    for left, right in pairwise(names):
        stars.archive.declare(f"{left} <= {right}")
    stars.archive.declare("step_0 <= step_5")
    assert reasons_of(stars.archive.relate("step_0", "step_5")) == {"step_0 <= step_5"}
