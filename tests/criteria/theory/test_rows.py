"""The theory never refutes what a row fulfils, whatever nasty values the row has."""

from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.criteria.nodes import Leaf
from provenn.criteria.theory.refuting import Literal, is_refuted
from tests.criteria.oracle import random_cases
from tests.criteria.theory.rows import COLUMNS, conditions, rows

SCHEMA = {name: Attribute(name, parse_type(kind)) for name, kind in COLUMNS.items()}


@random_cases(200, 200_000)
def test_what_a_row_fulfils_is_not_refuted(data):
    row = data.draw(rows, "row")
    some = data.draw(st.lists(conditions(row), min_size=1, max_size=6), "conditions")
    literals = []
    for item in some:
        condition = parse_criterion(item.sql(), SCHEMA).condition
        if isinstance(condition, Leaf):
            literals.append(Literal(condition, item.truth(row) is True))
    assert not is_refuted(literals), (row, [(element.sql(), element.truth(row)) for element in some])
