"""Types as people name them."""

import pytest

from provenn.errors import TypeNameError
from provenn.files.type_names import parse_spark_type, restore_type


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("LONG", "bigint"),
        ("double", "double"),
        ("decimal", "decimal(10,0)"),
        ("Decimal(12, 3)", "decimal(12,3)"),
        ("timestamp_ntz", "timestamp_ntz"),
        ("array< Double >", "array<Double>"),
        ("struct<RA:double,Dec:double>", "struct<RA:double,Dec:double>"),
        ("binary", "binary"),
    ],
)
def test_types_are_those_of_spark(text: str, name: str):
    assert str(parse_spark_type(text)) == name
    assert restore_type(str(parse_spark_type(text))) == parse_spark_type(text)


@pytest.mark.parametrize(
    "text", ["duoble", "void", "", "array", "decimal(39)", "decimal(0)", "decimal(3,4)", "nan", 5, None]
)
def test_others_are_refused_by_name(text: object):
    with pytest.raises(TypeNameError) as caught:
        parse_spark_type(text)  # type: ignore[arg-type]
    assert caught.value.hint


def test_a_near_miss_is_told_and_a_nested_type_is_no_scalar():
    with pytest.raises(TypeNameError, match="did you mean double"):
        parse_spark_type("duoble")
    with pytest.raises(TypeNameError):
        parse_spark_type("array<double>", scalar=True)
