"""Window functions: their normal form, types, and which of them depend on chance."""

import pytest

from provenn.criteria import Attribute, parse_type
from provenn.criteria.windows import parse_window
from provenn.errors import CriterionError

SCHEMA = {
    "x": Attribute("b.x", parse_type("double")),
    "n": Attribute("b.n", parse_type("int"), nullable=False),
    "s": Attribute("b.s", parse_type("string")),
    "a": Attribute("b.a", parse_type("array<int>")),
}
BY_IDENTITY = {str(attribute.identity): attribute for attribute in SCHEMA.values()}
ALL_ROWS = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("RANK() OVER (PARTITION BY s, n ORDER BY x)", "rank() over (partition by n, s order by x asc nulls first)"),
        ("rank() OVER (PARTITION BY n, n ORDER BY x)", "rank() OVER (PARTITION BY n ORDER BY x)"),
        (f"sum(n) OVER (ORDER BY x {ALL_ROWS})", "sum(n) OVER ()"),
        ("sum(n) OVER (ORDER BY x RANGE UNBOUNDED PRECEDING)", "sum(n) OVER (ORDER BY x)"),
        ("mean(n) OVER (RANGE CURRENT ROW)", "avg(n) OVER ()"),
        (
            "max(n) OVER (ORDER BY x ROWS 1 PRECEDING)",
            "max(n) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        ),
        ("lag(n) OVER (ORDER BY x)", "lag(n, 1, NULL) OVER (ORDER BY x)"),
        ("first_value(n) OVER (ORDER BY x)", f"first_value(n) OVER (ORDER BY x {ALL_ROWS})"),
    ],
)
def test_what_means_the_same_has_one_normal_form(text, same):
    assert parse_window(text, SCHEMA) == parse_window(same, SCHEMA)


@pytest.mark.parametrize(
    ("text", "kind", "nullable", "needs_key"),
    [
        ("rank() OVER (ORDER BY x)", "int", False, False),
        ("percent_rank() OVER (ORDER BY x)", "double", False, False),
        ("row_number() OVER (ORDER BY x)", "int", False, True),
        ("ntile(3) OVER (ORDER BY x)", "int", False, True),
        ("lag(n) OVER (ORDER BY x)", "int", True, True),
        ("lead(n, 2, 0) OVER (ORDER BY x)", "int", False, True),
        ("lead(x, 2, 0) IGNORE NULLS OVER (ORDER BY n)", "double", True, True),
        ("last_value(n) OVER (ORDER BY x ROWS CURRENT ROW)", "int", False, True),
        ("nth_value(n, 2) OVER (ORDER BY x ROWS CURRENT ROW)", "int", True, True),
        ("sum(n) OVER (PARTITION BY s)", "bigint", True, False),
        ("min(n) OVER (ORDER BY x)", "int", False, False),
        ("min(n) OVER (ORDER BY x ROWS 1 PRECEDING)", "int", False, True),
        ("min(n) OVER (ORDER BY x ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)", "int", True, True),
        ("count(*) OVER (ORDER BY x ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)", "bigint", False, True),
    ],
)
def test_type_nullability_and_where_the_key_decides(text, kind, nullable, needs_key):
    window = parse_window(text, SCHEMA)
    assert (str(window.type), window.nullable, window.needs_key) == (kind, nullable, needs_key)
    again = parse_window(window.canonical, BY_IDENTITY, canonical=True)
    assert (again.canonical, again.type, again.nullable) == (window.canonical, window.type, window.nullable)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x + 1", "a single window function"),
        ("rank()", "a single window function"),
        ("1 + rank() OVER (ORDER BY x)", "a single window function"),
        ("rank() OVER ()", "needs an order"),
        ("row_number() OVER (PARTITION BY s)", "needs an order"),
        ("rank() OVER w", "written in full"),
        ("rank(3) OVER (ORDER BY x)", "other arguments"),
        ("rank() OVER (ORDER BY x ROWS 1 PRECEDING)", "has no frame"),
        ("rank() OVER (ORDER BY a)", "cannot be ordered"),
        ("rank() OVER (PARTITION BY a ORDER BY x)", "cannot be compared"),
        ("ntile(0) OVER (ORDER BY x)", "1 or more"),
        ("ntile(n) OVER (ORDER BY x)", "whole number"),
        ("lag(n, -1) OVER (ORDER BY x)", "0 or more"),
        ("last_value(n) OVER (ORDER BY x)", "depends on chance"),
        ("nth_value(n, 2) OVER (ORDER BY x)", "depends on chance"),
        ("first_value(n) IGNORE NULLS OVER (ORDER BY x)", "depends on chance"),
        ("sum(n) OVER (ROWS 1 PRECEDING)", "needs an order"),
        ("sum(n) OVER (ORDER BY n RANGE 1 PRECEDING)", "RANGE of values"),
        ("sum(n) OVER (ORDER BY n ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING)", "ends before it begins"),
        ("sum(n) OVER (ORDER BY n ROWS BETWEEN UNBOUNDED FOLLOWING AND UNBOUNDED FOLLOWING)", "ends before it begins"),
        ("sum(n) OVER (ORDER BY n ROWS n PRECEDING)", "whole number"),
        ("count(DISTINCT n) OVER ()", "DISTINCT"),
        ("sum(n) FILTER (WHERE n > 1) OVER ()", "FILTER"),
        ("sum(s) OVER ()", "takes numbers"),
        ("collect_list(n) OVER ()", "not a known window function"),
        ("sum(rand()) OVER ()", "rand"),
        ("sum(unknown) OVER ()", "unknown"),
    ],
)
def test_what_depends_on_chance_or_is_not_known_is_refused(text, problem):
    with pytest.raises(CriterionError, match=problem):
        parse_window(text, SCHEMA)
