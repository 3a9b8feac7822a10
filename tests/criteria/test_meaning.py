"""A criterion's sets are what SQL says they are, and nothing that follows about them is missed."""

from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.logic import subset
from provenn.logic.terms import Term
from tests.criteria.oracle import TYPES, constants, criteria, labelled, random_cases, rows
from tests.criteria.proofs import knowledge, z3_inside


def schema(columns: dict[str, str], nullable: bool = True) -> dict[str, Attribute]:
    return {name: Attribute(name, parse_type(kind), nullable) for name, kind in columns.items()}


def member(term: Term, row: dict) -> bool:
    return bool(term.evaluate(lambda label: int(labelled(label)(row)), 0, 1))


def check_membership(tree, columns: dict[str, str], *, nullable: bool) -> None:
    criterion = parse_criterion(tree.sql(), schema(columns, nullable))
    for row in rows(columns, constants(tree), nullable=nullable)[:3_000]:
        expected = tree.truth(row)
        result = (member(criterion.true, row), member(criterion.false, row))
        assert result == (expected is True, expected is False), (criterion, row)
    labels = {atom.label for atom in criterion.atoms}
    assert {*criterion.true.labels, *criterion.false.labels} <= labels


@random_cases(100)
def test_sets_hold_exactly_the_rows_for_which_the_criterion_is_true_and_false(data):
    kind = data.draw(st.sampled_from(TYPES))
    nullable = data.draw(st.booleans())
    check_membership(data.draw(criteria(("x", kind))), {"x": kind}, nullable=nullable)


@random_cases(40)
def test_sets_over_several_attributes_and_comparisons_between_them(data):
    kinds = data.draw(st.lists(st.sampled_from([*TYPES, "double", "int"]), min_size=2, max_size=3))
    kinds[1] = kinds[0]
    columns = dict(zip("xyz", kinds, strict=False))
    tree = data.draw(criteria(*columns.items(), between_columns=True))
    check_membership(tree, columns, nullable=data.draw(st.booleans()))


def check_implication(columns: dict[str, str], trees, *, nullable: bool) -> None:
    near = [pair for tree in trees for pair in constants(tree)]
    first, other = (parse_criterion(tree.sql(), schema(columns, nullable)) for tree in trees)
    truths = [[tree.truth(row) is True for tree in trees] for row in rows(columns, near, nullable=nullable)]
    expected = all(b for a, b in truths if a)
    assert z3_inside(first, other) == expected, (first, other)
    assert knowledge(first, other).entails(subset(first.true, other.true)) == expected, (first, other)


@random_cases(75)
def test_one_criterion_is_proved_inside_another_exactly_if_it_is(data):
    """Sound and complete for one attribute: every cell between the constants is looked at."""
    kind = data.draw(st.sampled_from(TYPES))
    trees = [data.draw(criteria(("x", kind), max_leaves=3)) for _ in range(2)]
    check_implication({"x": kind}, trees, nullable=data.draw(st.booleans()))


@random_cases(25)
def test_implication_is_exact_for_two_attributes(data):
    columns = {"x": data.draw(st.sampled_from(["int", "double", "string"])), "y": "boolean"}
    trees = [data.draw(criteria(*columns.items(), max_leaves=3)) for _ in range(2)]
    check_implication(columns, trees, nullable=data.draw(st.booleans()))
