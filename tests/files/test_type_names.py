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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("array<Double>", "array<Double>"),
        ("ARRAY< int >", "ARRAY<int>"),
        ("map<string, array<decimal(10,2)>>", "map<string,array<decimal(10,2)>>"),
        (
            "struct<RA:double, `a b`:array<struct<x:int,y-z:date>>>",
            "struct<RA:double,`a b`:array<struct<x:int,y-z:date>>>",
        ),
        ("struct<`it``s <`:timestamp_ntz>", "struct<`it``s <`:timestamp_ntz>"),
        ("binary", "binary"),
        ("time(6)", "time(6)"),
    ],
)
def test_a_type_is_read_with_its_parts(text, name):
    assert str(parse_spark_type(text)) == name


@pytest.mark.parametrize(
    "text",
    [
        "array<int>) FROM secrets --",
        "array<int); DROP TABLE x; --(>",
        "array<int>, other string>",
        "array<int NOT NULL DEFAULT 1>",
        "array<>",
        "array<array<nonsense>>",
        "map<int>",
        "struct<a>",
        "struct<a:int COMMENT 'x'>",
        "struct<a/**/b:int>",
        "struct<a--b:int>",
        "struct<a');x:int>",
        "struct<`a:int>",
        "struct<`a\nb`:int>",
        "array<decimal(99,2)>",
        "array<" * 200 + "int" + ">" * 200,
        "int, b int",
        "int -- comment",
    ],
)
def test_hostile_names_of_types_are_refused(text):
    with pytest.raises(TypeNameError):
        parse_spark_type(text)
