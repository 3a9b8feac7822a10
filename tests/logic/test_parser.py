"""Statements from text: what is read, and what is refused."""

import pytest
from hypothesis import given

from provenn.errors import LabelError, StatementError
from provenn.logic import Knowledge, equal, intersection, outside, statement, subset, union
from provenn.logic.statements import And, Not, Or, Property, SetComparison
from provenn.logic.terms import nothing, term
from tests.effort import assert_far_from_quadratic
from tests.strategies import statements

A, B, C, D = map(term, "ABCD")


@given(statements())
def test_what_a_statement_prints_reads_back_as_itself(said):
    assert statement(str(said)) == said


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("A == B", equal("A", "B")),
        ("B<=A", subset("B", "A")),
        ("D == B & C", intersection("D", "B", "C")),
        ("D == B | C | A", union("D", "B", "C", "A")),
        ("A - B & C == D", SetComparison("==", (A - B) & C, D)),
        ("A | B ^ C & ~D == {}", SetComparison("==", A | (B ^ (C & ~D)), nothing)),
        ("A - B - C == D", SetComparison("==", (A - B) - C, D)),
        ("A <= B < C", And((SetComparison("<=", A, B), SetComparison("<", B, C)))),
        ("not A <= B or disjoint(A, B)", Or((Not(SetComparison("<=", A, B)), Property("disjoint", (A, B))))),
        (
            "empty({ }) and (nonempty(A) or A == B)",
            And.of(Property("empty", (nothing,)), statement("nonempty(A) or A == B")),
        ),
        ("outside(A, B)", outside("A", "B")),
        ('\'it is odd\' <= "so \\"is\\" this"', subset("it is odd", 'so "is" this')),
        ("Σ_1 == B", equal("Σ_1", "B")),
    ],
)
def test_precedence_and_forms_are_those_of_python(text, meant):
    assert statement(text) == meant


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 0, "empty"),
        ("   ", 3, "empty"),
        ("A", 0, "a set alone is not a statement"),
        ("not A", 4, "a set alone is not a statement"),
        ("A <=", 4, "ends too early"),
        ("A <= B)", 6, "never opened"),
        ("(A <= B", 0, "never closed"),
        ("f(A) <= B", 1, "operator is missing"),
        ("__import__('os').system('true') == A", 10, "operator is missing"),
        ("A.b == C", 1, "no meaning"),
        ("A + B == C", 2, "no meaning"),
        ("A == 3", 5, "no meaning"),
        ("[A for A in B] == C", 0, "no meaning"),
        ("lambda: 0", 6, "no meaning"),
        ("empty(A, B)", 10, "takes 1 set, not 2"),
        ("disjoint(A)", 10, "takes 2 sets or more, not 1"),
        ("empty <= A", 0, "in parentheses"),
        ("empty()", 6, "missing before"),
        ("A <= B C", 7, "operator is missing before 'C'"),
        ("A <= 'B", 5, "not closed"),
        ("A <= ''", 5, "cannot be empty"),
        ("A & (B <= C) == D", 4, "a statement stands where a set"),
        ("(A <= B) <= C", 0, "a statement stands where a set"),
        ("A, B <= C", 1, "a comma belongs"),
        ("A and B <= C", 0, "a set alone is not a statement"),
        ("and A <= B", 0, "missing before 'and'"),
        ("A <= B not", 7, "operator is missing"),
    ],
)
def test_what_is_no_statement_is_refused_with_its_column_marked(text, column, problem):
    with pytest.raises(StatementError, match="column") as caught:
        statement(text)
    assert problem in caught.value.problem
    assert caught.value.column == column
    marked = caught.value.message.splitlines()[-1]
    assert marked.index("^") == 2 + column


def test_a_call_is_refused_with_the_list_of_what_there_is():
    with pytest.raises(StatementError) as caught:
        statement("exec(A) == B")
    assert "functions cannot be called" in caught.value.hint


def test_the_marked_column_of_a_long_statement_stays_in_sight():
    with pytest.raises(StatementError) as caught:
        statement(" | ".join(["A"] * 500) + " + B == C")
    _, shown, mark = caught.value.message.splitlines()
    assert len(shown) < 120
    assert shown[mark.index("^")] == "+"


@pytest.mark.parametrize("join", [" and A <= ", " or A <= ", " <= "])
def test_the_effort_of_reading_a_chain_of_statements_is_far_from_quadratic(join):
    def read_chain(length: int) -> None:
        assert len(statement("A <= " + join.join(["B"] * length)).parts) == length

    assert_far_from_quadratic(read_chain, 200)
    read_chain(30_000)


def test_long_chains_and_deep_parentheses_are_read_without_recursion():
    many = " | ".join(f"s{number}" for number in range(20_000))
    assert len(statement(f"D == {many}").labels) == 20_001
    deep = "(" * 20_000 + "A" + ")" * 20_000
    assert statement(f"{deep} <= B") == subset("A", "B")
    assert len(str(statement("~" * 20_000 + "A <= B"))) == 20_006


def test_connectives_nested_too_deep_are_refused_not_a_crash():
    with pytest.raises(StatementError, match="nested more than"):
        statement("not " * 5_000 + "A <= B")


def test_what_is_no_text_is_refused():
    """A number or None is named, where Python would name a regular expression."""
    for value in (5, None, b"A <= B"):
        with pytest.raises(LabelError, match="expected a statement or a set as text"):
            statement(value)
    with pytest.raises(LabelError, match="expected a list of facts, got None"):
        Knowledge(None)
