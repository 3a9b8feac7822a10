"""What has no meaning is refused, with the reason, the place and what to do instead."""

import pytest

from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type
from provenn.errors import CriterionError
from tests.criteria.proofs import SCHEMA, criterion


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("rand() < 0.5", "not deterministic", "sample()"),
        ("uuid() = name", "not deterministic", "sample()"),
        ("seen < current_date()", "clock", "constant"),
        ("seen < current_date", "clock", "constant"),
        ("at < now()", "clock", "constant"),
        ("monotonically_increasing_id() < 5", "stored", ""),
        ("input_file_name() = 'x'", "stored", ""),
        ("java_method('java.lang.System', 'exit', 0) = 'x'", "runs its own code", "calculator"),
        ("reflect('java.util.UUID', 'randomUUID') = 'x'", "runs its own code", "calculator"),
        ("raise_error('x') IS NULL", "on purpose", ""),
        ("count(*) > 5", "more than one source", "scope catalog"),
        ("max(vmag) > 5", "more than one source", "scope catalog"),
        ("sum(vmag) OVER (PARTITION BY hip) > 5", "window", "scope catalog"),
        ("row_number() OVER (ORDER BY vmag) < 5", "window", ""),
        ("explode(spectrum) > 5", "one row into several", ""),
        ("hip IN (SELECT hip FROM t)", "subquery", "restrict()"),
        ("EXISTS (SELECT 1)", "subquery", "restrict()"),
        ("vmag < (SELECT max(vmag) FROM t)", "subquery", "restrict()"),
        ("SELECT 1", "subquery", ""),
        ("xyzzy(vmag) < 5", "not a supported function", "calculator"),
        ("logg10(vmag) < 5", "not a supported function", "did you mean log10"),
        ("vmag < 6; vmag < 7", "more than one expression", "one SQL expression"),
        ("", "the expression is empty", ""),
        ("  -- nothing", "the expression is empty", ""),
        ("DROP TABLE stars", "not supported", ""),
        ("vmag <", "cannot be parsed", ""),
        ("vmag < 6)", "cannot be parsed", ""),
        ("name = 'x", "not closed", ""),
        ("vmag 6", "cannot be parsed", ""),
        ("vmag < 6 AS bright", "operator is missing", ""),
        ("vmga < 6", "no attribute 'vmga'", "did you mean vmag"),
        ("star.vmag < 6", "there is no attribute 'star.vmag'", "write vmag"),
        ("vmag < 'bright'", "double with string", "without quotes"),
        ('"vmag" < 6', "string with int", "backquotes"),
        ("name < 5", "string with int", "CAST"),
        ("variable = 1", "boolean with int", "CAST"),
        ("seen < 5", "date with int", "CAST"),
        ("seen < name", "date with string", "CAST"),
        ("seen < '2020-02-30'", "not a date", "yyyy-mm-dd"),
        ("seen < 'yesterday'", "not a date", "yyyy-mm-dd"),
        ("at < '2020-01-01 25:00:00'", "not a timestamp", "yyyy-mm-dd"),
        ("seen < DATE 'x'", "not a date", "yyyy-mm-dd"),
        ("vmag", "condition is needed", "compare"),
        ("vmag AND variable", "condition is needed", "compare"),
        ("name + 1 < 5", "+ takes numbers", "CAST"),
        ("seen + 1 < '2020-01-01'", "+ takes numbers", "date_add"),
        ("vmag & 1 = 0", "takes integers", ""),
        ("spectrum = 5", "array<double> with int", "an element"),
        ("spectrum['a'] < 5", "an index is an int", "CAST"),
        ("EXTRACT(SECOND FROM at) = 5", "EXTRACT does not take SECOND", "MINUTE"),
        ("5 < vmag < 7", "in parentheses", "AND"),
        ("vmag = dec = TRUE", "in parentheses", "AND"),
        ("n_obs & 4 | 1 = 1", "in parentheses", ""),
        ("name || name + 1 = 'x'", "in parentheses", ""),
        ("name = 'it''s'", "follow each other", r"\'"),
        ("name LIKE name", "quoted pattern", ""),
        (r"name LIKE 'a\\b'", "escape", ""),
        ("name LIKE 'a' ESCAPE '😀'", "one quoted character", ""),  # two, to Java
        ("name LIKE ANY ('a', 'b')", "one pattern", "OR"),
        ("name RLIKE '('", "regular expression", ""),
        ("name = 'a' COLLATE UTF8_LCASE", "collation", "lower"),
        ("at < TIMESTAMP '2020-01-01' + INTERVAL 1 DAY", "interval", "date_add"),
        ("vmag < :limit", "parameter", "value"),
        ("n_obs < 300Y", "300 is not a tinyint", ""),
        ("vmag < 1e999", "too large", ""),
        ("at < TIMESTAMP '2020-01-01 12:00Z'", "not a timestamp", "yyyy-mm-dd hh:mm:ss"),
        ("vmag BETWEEN SYMMETRIC 1 AND 2", "not supported", ""),
        ("vmag IN ()", "list of values", ""),
        ("abs(1, 2) < 5", "abs() takes 1 argument, not 2", ""),
        ("pow(vmag) < 5", "pow() takes 2 arguments, not 1", ""),
        ("length(vmag) < 5", "length() takes a string here, not a double", "CAST"),
        ("round(vmag, n_obs) < 5", "whole number", ""),
        ("CAST(vmag AS DATE) < '2020-01-01'", "cannot be cast", "date_from_unix_date"),
        ("CAST(vmag AS array<int>) IS NULL", "not supported as the type", ""),
        ("CAST(vmag AS DECIMAL(50,2)) < 5", "not supported as the type", ""),
    ],
)
def test_refused_with_reason_and_hint(text, problem, hint):
    with pytest.raises(CriterionError) as caught:
        criterion(text)
    assert problem in caught.value.problem
    assert hint in caught.value.hint


def test_the_place_is_marked():
    with pytest.raises(CriterionError) as caught:
        criterion("dec > 0 AND vmga < 6")
    assert str(caught.value) == (
        "there is no attribute 'vmga', at column 13\n  dec > 0 AND vmga < 6\n              ^\ndid you mean vmag?"
    )


@pytest.mark.parametrize("pattern", ["(?P<n>a)", "a{,3}", "a{", "{", "[a]{x}", "(?a)b", "(?iL)b"])
def test_a_regular_expression_that_python_alone_reads_is_refused(pattern):
    with pytest.raises(CriterionError, match="Java and Python both"):
        criterion(f"name RLIKE '{pattern}'")


@pytest.mark.parametrize(
    "pattern", ["a{2}", "a{2,}b{2,3}", "[a{]", "[^]{]", r"\\{", r"[\\]{]", "(?i)a", "}", "[a[b]]", "(?!P)"]
)
def test_a_regular_expression_that_java_reads_too_is_not_refused(pattern):
    assert criterion(f"name RLIKE '{pattern}'").canonical == f"`star.name` RLIKE '{pattern}'"


def test_half_a_character_is_no_text_and_the_error_can_be_shown():
    with pytest.raises(CriterionError, match="this is not valid text") as caught:
        criterion("name = 'a\udcff'")
    assert caught.value.column == 9
    assert str(caught.value).encode()


def test_a_name_is_found_exactly_or_by_case_or_not_at_all():
    double = parse_type("double")
    schema = {"Vmag": Attribute("a", double), "vmag": Attribute("b", double), "Plx": Attribute("c", double)}
    assert parse_criterion("vmag < 6", schema).reads == ("b",)
    assert parse_criterion("Vmag < 6", schema).reads == ("a",)
    assert parse_criterion("PLX < 6", schema).reads == ("c",)
    with pytest.raises(CriterionError, match="VMAG is ambiguous: Vmag or vmag"):
        parse_criterion("VMAG < 6", schema)


def test_an_attribute_may_be_called_as_a_function_is():
    schema = {"user": Attribute("u", parse_type("string")), "date": Attribute("d", parse_type("date"))}
    assert parse_criterion("user = 'x' AND date < '2020-01-01'", schema).reads == ("d", "u")


def test_a_null_needs_a_type_to_be_a_value():
    with pytest.raises(CriterionError, match="no type"):
        parse_expression("NULL", SCHEMA)


def test_long_lists_and_chains_are_read():
    listed = criterion(f"n_obs IN ({', '.join(str(2 * n) for n in range(2_000))})")
    chained = criterion(" OR ".join(f"n_obs = {2 * n}" for n in range(2_000)))
    assert listed == chained
    assert len(listed.atoms) == 2
    assert criterion(" AND ".join(f"vmag + {n} < 6" for n in range(1_000))).reads == ("star.vmag",)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 500 + "vmag < 6" + ")" * 500,
        "NOT " * 5_000 + "variable",
        "-" * 1 + "(-" * 500 + "vmag" + ")" * 500 + " < 6",
        "CASE WHEN variable THEN " * 200 + "1" + " END" * 200 + " = 1",
        " + ".join(["vmag"] * 5_000) + " < 6",
        "(" * 20 + "variable" + ") <=> variable" * 20,
        "coalesce(" * 24 + "variable" + ", vmag < 6)" * 24,
    ],
)
def test_what_is_nested_too_deeply_is_read_or_refused_but_never_crashes(text):
    try:
        criterion(text)
    except CriterionError as error:
        reasons = ("nested too", "expands to more than", "nested brackets")
        assert any(reason in error.problem for reason in reasons)  # noqa: PT017 - reading it would be fine too
