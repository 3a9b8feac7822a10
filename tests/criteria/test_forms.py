"""The forms that users write, one by one: what is proved of them, and what must not be."""

import pytest

from provenn.criteria import render
from tests.criteria.proofs import apart, criterion, inside, same


def test_a_lower_limit_of_brightness_lies_inside_a_higher_one():
    assert inside("vmag < 6", "vmag < 8")
    assert not inside("vmag < 8", "vmag < 6")


def test_two_sides_of_a_cut_are_apart_and_together_are_what_is_not_null():
    assert apart("dec > 0", "dec <= 0")
    assert same("dec > 0 OR dec <= 0", "dec IS NOT NULL")
    assert not same("dec > 0 OR dec <= 0", "TRUE")


def test_not_loses_the_nulls():
    assert same("NOT (vmag < 6)", "vmag >= 6")
    assert not inside("(vmag < 6) IS NOT TRUE", "NOT (vmag < 6)")
    assert same("(vmag < 6) IS NOT TRUE", "vmag >= 6 OR vmag IS NULL")
    assert apart("NOT (vmag < 6)", "vmag IS NULL")


def test_what_is_never_null_is_cut_in_two():
    assert same("NOT (hip < 6)", "(hip < 6) IS NOT TRUE")
    assert same("hip IS NOT NULL", "TRUE")
    assert same("hip < 6 OR hip >= 6", "TRUE")


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ("vmag BETWEEN 5 AND 6", "vmag >= 5 AND vmag <= 6"),
        ("vmag NOT BETWEEN 5 AND 6", "vmag < 5 OR vmag > 6"),
        ("n_obs IN (3, 1, 2, 2)", "n_obs BETWEEN 1 AND 3"),
        ("n_obs IN (1, NULL)", "n_obs = 1"),
        ("n_obs NOT IN (1, NULL)", "FALSE"),
        ("vmag <=> 6", "vmag = 6"),
        ("vmag <=> NULL", "vmag IS NULL"),
        ("vmag IS NOT DISTINCT FROM 6", "vmag = 6"),
        ("vmag IS DISTINCT FROM 6", "vmag <> 6 OR vmag IS NULL"),
        ("vmag IS DISTINCT FROM NULL", "vmag IS NOT NULL"),
        ("vmag == 6", "vmag = 6"),
        ("vmag != 6", "vmag <> 6"),
        ("6 > vmag", "vmag < 6"),
        ("variable", "variable = TRUE"),
        ("NOT variable", "variable IS FALSE"),
        ("variable IS NOT TRUE", "NOT variable OR variable IS NULL"),
        ("variable <> FALSE", "variable"),
        ("variable < TRUE", "NOT variable"),
        ("variable IN (TRUE, FALSE)", "variable IS NOT NULL"),
        ("(vmag < 6) = TRUE", "vmag < 6"),
        ("(vmag < 6) IS NULL", "vmag IS NULL"),
        ("vmag > 5 AND vmag < 3", "FALSE"),
        ("vmag < 6 AND NULL", "FALSE"),
        ("vmag < 6 OR NULL", "vmag < 6"),
        ("1 = 1", "TRUE"),
        ("1 > 2", "FALSE"),
        ("NULL = NULL", "FALSE"),
        ("vmag = vmag", "vmag IS NOT NULL"),
        ("coalesce(vmag < 6, FALSE)", "vmag < 6"),
        ("if(vmag IS NULL, TRUE, vmag < 6)", "vmag < 6 OR vmag IS NULL"),
        ("CASE WHEN vmag < 6 THEN TRUE ELSE FALSE END", "vmag < 6"),
        ("isnull(vmag)", "vmag IS NULL"),
        ("isnotnull(vmag)", "vmag IS NOT NULL"),
    ],
)
def test_two_ways_to_say_the_same(item, other):
    assert same(item, other)


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ("isnan(vmag)", "vmag = CAST('NaN' AS DOUBLE)"),
        ("isnan(vmag)", "vmag > double('inf')"),
        ("NOT isnan(vmag)", "vmag <= double('Infinity') OR vmag IS NULL"),
        ("vmag >= -0.0", "vmag >= 0"),
        ("vmag <= 0", "vmag < 4.9E-324"),
    ],
)
def test_nan_is_the_largest_number_and_zero_has_no_sign(item, other):
    assert same(item, other)
    assert inside("isnan(vmag)", "vmag > 1e308")
    assert not same("vmag > 1e308", "isnan(vmag)")


@pytest.mark.parametrize(
    ("item", "other"),
    [
        ("n_obs < 5.5", "n_obs <= 5"),
        ("n_obs = 5.5", "FALSE"),
        ("n_obs <> 5.5", "n_obs IS NOT NULL"),
        ("n_obs > 5", "n_obs >= 6"),
        ("n_obs < 3e9", "n_obs IS NOT NULL"),
        ("n_obs >= 2147483648", "FALSE"),
        ("n_obs <= 5.5D", "n_obs < 6"),
        ("CAST(n_obs AS DOUBLE) < 5.5", "n_obs < 6"),
        # A double cannot tell 2**53 from 2**53 + 1: compared as doubles they are equal.
        ("big = 9007199254740992D", "big IN (9007199254740992, 9007199254740993)"),
        ("price < 1.555", "price <= 1.55"),
        ("price < 1000", "price IS NOT NULL"),
        ("price = 1.5", "price BETWEEN 1.5 AND 1.50"),
        # A float is compared with a decimal as a double: 5.1 is not a float.
        ("plx = 5.1", "FALSE"),
        ("plx < 5.1", "plx <= 5.1F"),
        ("seen > '2020-02-28'", "seen >= DATE '2020-02-29'"),
        ("seen < TIMESTAMP '2020-01-01 12:00:00'", "seen <= '2020-01-01'"),
        ("CAST(at AS DATE) = '2020-01-01'", "at >= '2020-01-01' AND at < '2020-01-02'"),
        ("at = '2020-01-01 01:00:00+01:00'", "at = '2020-01-01'"),
        ("vmag < 5 + 1", "vmag < 6"),
        ("vmag < 1 / 2", "vmag < 0.5"),
        ("vmag < 1 / 0", "FALSE"),
        ("vmag < -(2 * 3)", "vmag < -6"),
    ],
)
def test_constants_are_compared_in_the_type_in_which_spark_compares(item, other):
    assert same(item, other)


@pytest.mark.parametrize(
    "text",
    [
        "n_obs = CAST('1e2' AS INT)",
        "n_obs <= CAST('1.5e1' AS BIGINT)",
        "n_obs = CAST('\u0661\u0662' AS INT)",
        "vmag = CAST('\u0661\u0662' AS DOUBLE)",
        "at < CAST('2020-01-01 12:00Z' AS TIMESTAMP)",
        "at < CAST('2020-01-01 12:00+01:00' AS TIMESTAMP)",
        "at < CAST('2020-01-01T' AS TIMESTAMP)",
        "at < CAST('2020-01-01 \u0661\u0662:00:00' AS TIMESTAMP)",
    ],
)
def test_a_string_that_spark_casts_to_null_is_not_taken_for_a_value(text):
    """Spark says what comes of it, when it runs."""
    assert "TRY_CAST(" in render(criterion(text), {"star.n_obs": "n_obs", "star.vmag": "vmag", "star.at": "at"})


@pytest.mark.parametrize("operator", ["<", "<=", "=", "<>", ">=", ">"])
@pytest.mark.parametrize("day", ["DATE '-5000000-01-01'", "DATE '+5000000-01-01'"])
def test_a_date_that_is_no_timestamp_is_null_beside_one(operator, day):
    """Spark reads no timestamp so far away, and would fail on the text of one."""
    assert criterion(f"at {operator} {day}").canonical == "NULL"
    assert criterion(f"CAST({day} AS TIMESTAMP_NTZ) IS NULL").canonical == "TRUE"


def test_strings_are_ordered_by_their_code_points():
    assert inside("name < 'a'", "name < 'b'")
    assert same("name <= 'a'", r"name < 'a\u0000'")
    assert same("name >= ''", "name IS NOT NULL")
    assert same("name < ''", "FALSE")
    assert not inside("name < 'a'", "name < 'B'")


def test_any_expression_is_one_term():
    assert inside("1000 / plx < 100", "1000 / plx < 200")
    assert same("plx * 2 < 3", "2.0 * plx < 3")
    assert inside("vmag + dec < 1", "dec + vmag < 2")
    assert not inside("vmag + 1 < 2", "vmag < 2")  # nothing is calculated


def test_what_an_expression_needs_is_not_null_where_it_is_not():
    assert inside("1000 / plx < 100", "plx IS NOT NULL")
    assert inside("log10(1000 / plx) < 100", "plx IS NOT NULL")
    assert not inside("plx IS NOT NULL", "(1000 / plx) IS NOT NULL")  # 1000 / 0 is NULL
    assert same("(vmag + dec) IS NOT NULL", "vmag IS NOT NULL AND dec IS NOT NULL")
    assert same("coalesce(vmag, dec) IS NULL", "vmag IS NULL AND dec IS NULL")
    assert same("coalesce(vmag, 0) IS NULL", "FALSE")


def test_two_attributes_compared_are_opaque_but_ordered():
    assert same("vmag < dec", "dec > vmag")
    assert same("vmag <= dec", "NOT (vmag > dec)")
    assert same("vmag <= dec", "vmag < dec OR vmag = dec")
    assert same("vmag <> dec", "vmag < dec OR vmag > dec")
    assert apart("vmag < dec", "vmag = dec")
    assert inside("vmag = dec", "dec IS NOT NULL")
    assert same("vmag <=> dec", "vmag = dec OR (vmag IS NULL AND dec IS NULL)")
    assert not inside("vmag < dec AND dec < 5", "vmag < 5")  # true, but beyond what is known


def test_patterns_are_opaque():
    assert apart("name LIKE 'HD%'", "name NOT LIKE 'HD%'")
    assert same("name LIKE 'HD%' OR name NOT LIKE 'HD%'", "name IS NOT NULL")
    assert not inside("name LIKE 'HD1%'", "name LIKE 'HD%'")
    assert same("name REGEXP 'HD'", "name RLIKE 'HD'")


def test_samples_with_one_seed_nest():
    assert inside("pmod(xxhash64(7, hip), 1000) < 100", "pmod(xxhash64(7, hip), 1000) < 200")


def test_an_array_can_only_be_asked_for():
    assert criterion("spectrum IS NOT NULL").reads == ("star.spectrum",)


def test_a_criterion_reads_what_decides_it_and_nothing_else():
    assert criterion("vmag < 6 AND (dec > 0 OR hip < 3)").reads == ("star.dec", "star.hip", "star.vmag")
    assert criterion("vmag < 6 OR TRUE").reads == ()
