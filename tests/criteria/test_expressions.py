"""Expressions have the types that Spark gives them, and are written for Spark so that what fails is NULL."""

import pytest

from provenn.criteria import parse_criterion, parse_expression, render
from tests.criteria.proofs import SCHEMA

NAMES = {attribute.identity: name for name, attribute in SCHEMA.items()}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1000 / plx", "double"),
        ("n_obs / 2", "double"),
        ("n_obs + 1", "int"),
        ("n_obs + 1L", "bigint"),
        ("n_obs % 2", "int"),
        ("plx + plx", "float"),
        ("plx + n_obs", "double"),
        ("plx * 0.5", "double"),
        ("price + 1", "decimal(6,2)"),
        ("price * 2", "decimal(7,2)"),
        ("price / 3", "decimal(9,6)"),
        ("price % 2", "decimal(3,2)"),
        ("price * n_obs", "decimal(16,2)"),
        ("price + vmag", "double"),
        ("1 / 3.0", "decimal(8,6)"),
        ("-price", "decimal(5,2)"),
        ("ceil(price)", "decimal(4,0)"),
        ("ceil(vmag)", "bigint"),
        ("round(price, 1)", "decimal(5,1)"),
        ("round(plx, 1)", "float"),
        ("coalesce(n_obs, 1.5)", "decimal(11,1)"),
        ("coalesce(price, 1)", "decimal(12,2)"),
        ("greatest(n_obs, big)", "bigint"),
        ("nullif(n_obs, 5.0)", "int"),
        ("if(variable, 1, 2.5)", "decimal(11,1)"),
        ("CASE WHEN variable THEN name END", "string"),
        ("vmag < 6", "boolean"),
        ("year(at)", "int"),
        ("CAST(vmag AS DECIMAL(10, 3))", "decimal(10,3)"),
        ("vmag::int", "int"),
        ("'2020-01-01'", "string"),
        ("123456789012", "bigint"),
        ("1e3", "double"),
        ("1.50", "decimal(3,2)"),
        ("spectrum", "array<double>"),
    ],
)
def test_the_type_is_the_one_that_spark_gives(text, kind):
    assert str(parse_expression(text, SCHEMA).type) == kind


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("1000 / plx", "try_divide(1000.0D, CAST(`plx` AS DOUBLE))"),
        ("n_obs + 1", "try_add(1, `n_obs`)"),
        ("vmag + 1", "1.0D + `vmag`"),
        ("vmag - (dec - 1)", "`vmag` - (`dec` - 1.0D)"),
        ("-n_obs", "try_subtract(0, `n_obs`)"),
        ("-vmag", "-`vmag`"),
        ("n_obs % 2", "try_mod(`n_obs`, 2)"),
        ("abs(n_obs)", "TRY_CAST(abs(CAST(`n_obs` AS DECIMAL(20,0))) AS INT)"),
        ("CAST(name AS INT)", "TRY_CAST(`name` AS INT)"),
        ("n_obs & 4", "4 & `n_obs`"),
        ("`B-V` * 2", "2.0D * `B-V`"),
        ("if(vmag < 6, 'bright', NULL)", "CASE WHEN `vmag` < 6.0D THEN 'bright' ELSE CAST(NULL AS STRING) END"),
        ("name LIKE '%x'", "`name` LIKE '%x'"),
        ("vmag IS NULL", "`vmag` IS NULL"),
    ],
)
def test_expressions_for_spark(text, sql):
    assert render(parse_expression(text, SCHEMA), NAMES) == sql


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("vmag < 6", "`vmag` < 6.0D"),
        ("vmag > 5", "`vmag` > 5.0D OR isnan(`vmag`)"),
        ("vmag <> 5", "`vmag` <> 5.0D OR isnan(`vmag`)"),
        ("vmag >= 0 AND vmag < 5", "`vmag` >= -0.0D AND `vmag` < 5.0D"),
        ("vmag IN (0, 3)", "`vmag` >= -0.0D AND `vmag` <= 0.0D OR `vmag` = 3.0D"),
        ("(vmag > 5) IS NOT TRUE", "`vmag` <= 5.0D OR `vmag` IS NULL"),
        ("vmag + 1 > 5", "1.0D + `vmag` > 5.0D"),
        ("n_obs > 5.5", "`n_obs` >= 6"),
        ("seen > '2020-01-31'", "`seen` >= DATE '2020-02-01'"),
        ("n_obs IN (1, NULL)", "CAST(NULL AS BOOLEAN) OR `n_obs` = 1"),
    ],
)
def test_criteria_for_spark_find_nan_and_negative_zero_whatever_is_pushed_into_the_files(text, sql):
    assert render(parse_criterion(text, SCHEMA), NAMES) == sql


@pytest.mark.parametrize(
    ("text", "nullable"),
    [
        ("hip", False),
        ("hip + 1", True),  # may overflow
        ("hip + 1.5D", False),
        ("1 / hip", True),
        ("coalesce(vmag, 0)", False),
        ("coalesce(vmag, dec)", True),
        ("hash(vmag)", False),
        ("vmag IS NULL", False),
        ("hip < 5", False),
        ("vmag < 5", True),
        ("sqrt(hip)", False),
        ("ln(hip)", True),
        ("CAST(hip AS STRING)", False),
        ("CAST(CAST(hip AS STRING) AS INT)", True),
    ],
)
def test_whether_an_expression_can_be_null(text, nullable):
    assert parse_expression(text, SCHEMA).nullable is nullable


def test_an_expression_knows_what_it_reads():
    expression = parse_expression("vmag + 5 * log10(plx / 100)", SCHEMA)
    assert expression.reads == ("star.plx", "star.vmag")
    assert expression.text == "5 * log10(plx / 100) + vmag"
    assert expression == parse_expression("5.0*LOG10(PLX/1e2) + VMAG", SCHEMA)
