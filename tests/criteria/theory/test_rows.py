"""The theory never refutes what a row fulfils, and finds rows, whatever nasty values a row has."""

import math
from decimal import Decimal

from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.criteria.domains import INFINITY, decode_number, encode_double, encode_float
from provenn.criteria.nodes import Leaf
from provenn.criteria.theory.refuting import Literal, is_refuted
from provenn.criteria.theory.rows import RowFinder
from provenn.criteria.types import DOUBLE, FLOAT
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


def encode(name: str, value):
    """Return the key of a value of a column."""
    kind = COLUMNS[name]
    if value is None or kind == "string":
        return value
    if kind in ("double", "float"):
        if math.isnan(value):
            return INFINITY[DOUBLE if kind == "double" else FLOAT] + 1
        return encode_double(value) if kind == "double" else encode_float(value)
    return int(not value) if kind == "boolean" else int(value * 100) if kind.startswith("decimal") else value


def decode(name: str, key):
    """Return the value of a column with a key."""
    kind = COLUMNS[name]
    if key is None or kind == "string":
        return key
    if kind in ("double", "float"):
        if key > INFINITY[DOUBLE if kind == "double" else FLOAT]:
            return math.nan
        return float(decode_number(SCHEMA[name].type, key))
    return not key if kind == "boolean" else Decimal(key) / 100 if kind.startswith("decimal") else key


@random_cases(60, 20_000)
def test_a_row_is_where_its_values_put_it_and_rows_that_are_found_fulfil_the_conditions(data):
    """Rows decide conditions as plain Python does, or not at all; a found row is where it should be."""
    row = data.draw(rows, "row")
    some = data.draw(st.lists(conditions(row), min_size=1, max_size=6), "conditions")
    leaves, by_label = {}, {}
    for item in some:
        condition = parse_criterion(item.sql(), SCHEMA).condition
        if isinstance(condition, Leaf):
            leaves[item.sql()], by_label[item.sql()] = condition, item
    finder = RowFinder(leaves)
    keys = {name: encode(name, value) for name, value in row.items()}
    for label, (inside, uncertain) in finder.locate_rows([keys], leaves).items():
        assert uncertain or bool(inside) == (by_label[label].truth(row) is True), label
    wanted = {label for label, item in by_label.items() if item.truth(row) is True}
    found = finder.find_row(wanted, by_label.keys() - wanted)
    if found is not None:
        values = dict.fromkeys(COLUMNS) | {name: decode(name, key) for name, key in found.items()}
        assert {label for label, item in by_label.items() if item.truth(values) is True} == wanted, values
