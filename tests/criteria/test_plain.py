"""Text for people is read back as the criterion or the expression that it was written from."""

import pytest
from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type, plain_text
from provenn.errors import CriterionError
from tests.criteria.oracle import TYPES, criteria, literals, quoted, random_cases
from tests.criteria.proofs import SCHEMA, criterion

NAMES = {attribute.identity: name for name, attribute in SCHEMA.items()}
LOOKALIKES = ["5D", "1.0D", "x < 6.0D", "'5L'", "`5F`", "\\", "(1.0D, 2L)", "7BD", "- 3S", "5D AND", "=5Y"]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_what_looks_like_a_number_inside_a_string_stays(text):
    parsed = criterion(f"name = {quoted(text)} AND vmag < 6")
    shown = plain_text(parsed.canonical, NAMES)
    assert quoted(text) in shown
    assert shown.endswith("vmag < 6")
    assert criterion(shown) == parsed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("vmag < -6", "vmag < -6"),
        ("n_obs IN (7, -3)", "n_obs IN (-3, 7)"),
        ("big IN (7, -3)", "big IN (-3, 7)"),
        ("price < 1.5", "price < 1.50"),
        ("1000 / vmag < 100", "1000 / vmag < 100"),
        ("plx < 5.5", "plx < 5.5F"),
        ("vmag < 1e300", "vmag < 1e+300"),
        ("in_cone(vmag, dec, 56.75, -24, 1.5)", "in_cone(vmag, dec, 56.75, -24, 1.5)"),
        ("vmag - 3 < dec", "dec > vmag - 3"),
    ],
)
def test_numbers_lose_suffixes_that_say_nothing_new(text, shown):
    assert plain_text(criterion(text).canonical, NAMES) == shown
    assert criterion(shown) == criterion(text)


@random_cases(75, 5_000)
def test_a_criterion_is_read_back_from_its_text_for_people(data):
    """Also every label, which is the canonical text of a part of it; names are odd."""
    columns = [(name, data.draw(st.sampled_from(TYPES))) for name in ("x", "5D")]
    named = {name: Attribute(f"base.{name}", parse_type(kind)) for name, kind in columns}
    written = [(f"`{name}`", kind) for name, kind in columns]
    parsed = parse_criterion(data.draw(criteria(*written, between_columns=True)).sql(), named)
    names = {attribute.identity: name for name, attribute in named.items()}
    assert parse_criterion(plain_text(parsed.canonical, names), named) == parsed
    for atom in parsed.atoms:
        shown = plain_text(atom.label, names)
        assert parse_criterion(shown, named).canonical == atom.label


NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)")


@st.composite
def expressions(draw, columns, depth=3):
    """Arithmetic, functions and cases over columns of numbers and constants of all types."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        if draw(st.booleans()):
            return draw(st.sampled_from([name for name, _ in columns]))
        suffix = draw(st.sampled_from(["", "Y", "S", "L", "F", "D", "BD"]))
        return draw(literals("double")).sql if not suffix else f"{draw(st.integers(-99, 99))}{suffix}"
    inner = expressions(columns, depth - 1)
    first, other, third = draw(inner), draw(inner), draw(inner)
    forms = [f"({first} {sign} {other})" for sign in "+-*/%"]
    forms += [
        f"-({first})",
        f"abs({first})",
        f"greatest({first}, {other})",
        f"coalesce({first}, {other})",
        f"pow({first}, 2)",
    ]
    forms += [
        f"CASE WHEN {first} < {other} THEN {third} ELSE {first} END",
        f"CAST({first} AS DOUBLE)",
        f"round({first}, 1)",
    ]
    return draw(st.sampled_from(forms))


@random_cases(75, 5_000)
def test_an_expression_is_read_back_from_its_text_for_people(data):
    columns = [(name, data.draw(st.sampled_from(NUMBERS))) for name in "xy"]
    named = {name: Attribute(f"base.{name}", parse_type(kind)) for name, kind in columns}
    text = data.draw(expressions(columns))
    try:
        expression = parse_expression(text, named)
    except CriterionError:
        return  # types that do not go together
    meant = parse_expression(expression.canonical, {attribute.identity: attribute for attribute in named.values()})
    shown = plain_text(expression.canonical, {attribute.identity: name for name, attribute in named.items()})
    again = parse_expression(shown, named)
    assert (again.canonical, again.type) == (meant.canonical, meant.type)
