"""Aggregates and orders: read, written in normal form, typed as Spark types them, or refused with a hint."""

import pytest

from provenn.criteria import Attribute, parse_type
from provenn.criteria.aggregate_sql import render_aggregate, render_order
from provenn.criteria.aggregates import parse_aggregate, parse_order
from provenn.errors import CriterionError

TYPES = {
    "x": "double",
    "n": "bigint",
    "i": "int",
    "f": "float",
    "c": "decimal(5,2)",
    "w": "decimal(38,2)",
    "s": "string",
    "b": "boolean",
    "t": "timestamp",
    "arr": "array<int>",
    "a b`c": "int",
    "bin": "binary",
}
SCHEMA = {name: Attribute(f"m:{name}", parse_type(kind)) for name, kind in TYPES.items()}
SURE = {name: Attribute(f"m:{name}", parse_type(kind), nullable=False) for name, kind in TYPES.items()}
BY_IDENTITY = {attribute.identity: attribute for attribute in SCHEMA.values()}

READ = {
    "COUNT( * )": ("count(*)", "bigint"),
    "count(1)": ("count(1)", "bigint"),
    "count(x)": ("count(`m:x`)", "bigint"),
    "count(DISTINCT x, n)": ("count(DISTINCT `m:x`, `m:n`)", "bigint"),
    "sum(i)": ("sum(`m:i`)", "bigint"),
    "sum(f)": ("sum(`m:f`)", "double"),
    "sum(c)": ("sum(`m:c`)", "decimal(15,2)"),
    "sum(w)": ("sum(`m:w`)", "decimal(38,2)"),
    "avg(n)": ("avg(`m:n`)", "double"),
    "mean(c)": ("avg(`m:c`)", "decimal(9,6)"),
    "avg(w)": ("avg(`m:w`)", "decimal(38,6)"),
    "min(s)": ("min(`m:s`)", "string"),
    "max(DISTINCT b)": ("max(`m:b`)", "boolean"),
    "std(x)": ("stddev(`m:x`)", "double"),
    "stddev_samp(x)": ("stddev(`m:x`)", "double"),
    "variance(i)": ("var_samp(`m:i`)", "double"),
    "median(c)": ("median(`m:c`)", "double"),
    "percentile(x, 0.25)": ("percentile(`m:x`, 0.25D)", "double"),
    "percentile(x, 1)": ("percentile(`m:x`, 1.0D)", "double"),
    "percentile(x, 1e-5)": ("percentile(`m:x`, 1e-05D)", "double"),
    "any_value(arr)": ("any_value(`m:arr`)", "array<int>"),
    "min_by(s, x)": ("min_by(`m:s`, `m:x`)", "string"),
    "arg_max(arr, t)": ("max_by(`m:arr`, `m:t`)", "array<int>"),
    "collect(x ORDER BY n)": ("collect(`m:x` ORDER BY `m:n` ASC NULLS FIRST)", "array<double>"),
    "array_agg(x order by n desc, s nulls last)": (
        "collect(`m:x` ORDER BY `m:n` DESC NULLS LAST, `m:s` ASC NULLS LAST)",
        "array<double>",
    ),
    "collect(`a b``c` ORDER BY -n)": ("collect(`m:a b``c` ORDER BY -`m:n` ASC NULLS FIRST)", "array<int>"),
    "collect(arr ORDER BY n)": ("collect(`m:arr` ORDER BY `m:n` ASC NULLS FIRST)", "array<array<int>>"),
    "sum(x * 2 + 1)": ("sum(`m:x` * 2.0D + 1.0D)", "double"),
}


@pytest.mark.parametrize("text", READ)
def test_an_aggregate_has_a_normal_form_and_a_type(text):
    aggregate = parse_aggregate(text, SCHEMA)
    canonical, kind = READ[text]
    assert str(aggregate.type) == kind
    if "*" not in canonical or canonical == "count(*)":  # what is inside has the normal form of an expression
        assert aggregate.canonical == canonical
    again = parse_aggregate(aggregate.canonical, BY_IDENTITY, canonical=True)
    assert (again, again.type, again.nullable) == (aggregate, aggregate.type, aggregate.nullable)
    assert again.reads == aggregate.reads


def test_a_value_is_null_only_where_it_can_be():
    nullable = {text: parse_aggregate(text, SURE).nullable for text in READ}
    never = {text for text, can_be in nullable.items() if not can_be}
    assert {"COUNT( * )", "count(x)", "min(s)", "median(c)", "any_value(arr)", "min_by(s, x)"} <= never
    assert {"sum(i)", "std(x)", "variance(i)", "mean(c)"}.isdisjoint(never), "an overflow, or a single member"
    assert not any(parse_aggregate(text, SCHEMA).nullable for text in READ if text.startswith(("c", "COUNT", "array")))
    assert all(parse_aggregate(text, SCHEMA).nullable for text in ("min(s)", "median(c)", "min_by(s, x)"))


REFUSED = {
    "first(x)": "max_by",
    "last_value(x)": "max_by",
    "collect_set(x)": "collect\\(x ORDER BY y\\)",
    "percentile_approx(x, 0.5)": "percentile\\(x, p\\) is exact",
    "approx_count_distinct(x)": "count\\(DISTINCT x\\)",
    "mode(x)": "group by the value",
    "collect(x)": "the order of an array must be said",
    "collect(x ORDER BY n LIMIT 3)": "order",
    "collect(x ORDER BY arr)": "cannot be ordered",
    "collect(DISTINCT x ORDER BY n)": "DISTINCT",
    "sum(DISTINCT x)": "DISTINCT goes with count",
    "avg(s)": "takes numbers, not a string",
    "sum(b)": "takes numbers, not a boolean",
    "median(t)": "takes numbers",
    "min(arr)": "cannot compare",
    "max_by(x, arr)": "cannot compare",
    "max_by(x)": "takes other arguments",
    "count()": "takes other arguments",
    "count(x, n)": "takes other arguments",
    "percentile(x)": "takes other arguments",
    "percentile(x, 0.5, 3)": "takes other arguments",
    "percentile(x, 2)": "between 0 and 1",
    "percentile(x, n)": "between 0 and 1",
    "sum(*)": "not a value",
    "avg(x) + 1": "a single aggregate",
    "x": "a single aggregate",
    "avg(avg(x))": "more than one source",
    "sum(rand())": "not deterministic",
    "sum(x) FILTER (WHERE n > 1)": "CASE WHEN",
    "sum(x) OVER (PARTITION BY n)": "a single aggregate",
    "any_value(x) IGNORE NULLS": "a single aggregate",
    "foo(x)": "not a known aggregate",
    "sum(nope)": "no attribute 'nope'",
    "sum(NULL)": "NULL alone has no type",
    "sum(x": "parsed|closed",
    "": "empty|parsed",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_meaning_for_a_set_of_members_is_refused(text):
    with pytest.raises(CriterionError, match=REFUSED[text]):
        parse_aggregate(text, SCHEMA)


def test_spark_breaks_ties_by_the_key_and_passes_over_null():
    names = {attribute.identity: name for name, attribute in SCHEMA.items()}
    rendered = {
        text: render_aggregate(parse_aggregate(text, SCHEMA), names, ["`id`", "`part`"])
        for text in ("any_value(x)", "max_by(x, n)", "sum(n)", "sum(i)", "count(*)", "count(DISTINCT x, n)")
    }
    assert rendered["any_value(x)"] == "min_by(`x`, CASE WHEN `x` IS NOT NULL THEN struct(`id`, `part`) END)"
    assert rendered["max_by(x, n)"] == "max_by(`x`, CASE WHEN `n` IS NOT NULL THEN struct(`n`, `id`, `part`) END)"
    assert rendered["sum(i)"] == "try_sum(`i`)"
    assert "shiftright(`n`, 32)" in rendered["sum(n)"], "no part of the sum overflows"
    assert (rendered["count(*)"], rendered["count(DISTINCT x, n)"]) == ("count(1)", "count(DISTINCT `x`, `n`)")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("n", ["`m:n` ASC NULLS FIRST"]),
        ("n DESC", ["`m:n` DESC NULLS LAST"]),
        ("n desc nulls first, x + 1", ["`m:n` DESC NULLS FIRST", "1.0D + `m:x` ASC NULLS FIRST"]),
        ("`a b``c` ASC NULLS LAST", ["`m:a b``c` ASC NULLS LAST"]),
    ],
)
def test_an_order_has_a_normal_form(text, parts):
    order = parse_order(text, SCHEMA)
    assert [ordering.canonical for ordering in order] == parts
    assert parse_order(", ".join(parts), BY_IDENTITY, canonical=True) == order
    names = {attribute.identity: name for name, attribute in SCHEMA.items()}
    assert [part.rpartition("NULLS")[2] for part in render_order(order, names)] == [
        part.rpartition("NULLS")[2] for part in parts
    ]


@pytest.mark.parametrize(
    "text", ["", "n LIMIT 3", "n; x", "n DESC ASC", "n) --", "n) /*", "count(*)", "rand()", "arr", "nope", "n)", "(n"]
)
def test_what_is_no_order_is_refused(text):
    with pytest.raises(CriterionError):
        parse_order(text, SCHEMA)
