"""Parts of arrays, maps and structs: how they are written, and what is refused."""

import pytest

from provenn.criteria import parse_criterion, parse_expression, plain_text, render
from provenn.criteria.nested_types import read_nested_type
from provenn.criteria.types import Type
from provenn.errors import CriterionError
from tests.criteria.reductions.facts import make_schema

SCHEMA = make_schema(
    {
        "l": "array<int>",
        "w": "array<string>",
        "f": "array<float>",
        "de": "array<decimal(5,2)>",
        "s": "struct<RA:double,`a b`:int,n:struct<x:int>,l:array<double>>",
        "two": "struct<a:int,A:int>",
        "st": "array<struct<v:double>>",
        "m": "map<string,int>",
        "mi": "map<int,string>",
        "md": "map<double,int>",
        "raw": "array<binary>",
        "i": "int",
        "x": "double",
        "x.y": "int",
    }
)
BY_IDENTITY = {attribute.identity: attribute for attribute in SCHEMA.values()}
NAMES = {attribute.identity: name for name, attribute in SCHEMA.items()}


@pytest.mark.parametrize(
    ("text", "canonical", "sql"),
    [
        ("l[0] > 3", "get(`b:l`, 0) >= 4", "get(`l`, 0) >= 4"),
        ("element_at(l, 1) > 3", "get(`b:l`, 0) >= 4", "get(`l`, 0) >= 4"),
        ("element_at(l, -1) > 3", "try_element_at(`b:l`, -1) >= 4", "try_element_at(`l`, -1) >= 4"),
        ("l[i + 1] > 3", "get(`b:l`, 1 + `b:i`) >= 4", "get(`l`, try_add(1, `i`)) >= 4"),
        ("s.ra > 3", "`b:s`['RA'] > 3.0D", "`s`['RA'] > 3.0D OR isnan(`s`['RA'])"),
        ("s['RA'] < 3", "`b:s`['RA'] < 3.0D", "`s`['RA'] < 3.0D"),
        ("s.`a b` < 2", "`b:s`['a b'] < 2", "`s`['a b'] < 2"),
        ("s.n.x = 1", "`b:s`['n']['x'] = 1", "`s`['n']['x'] = 1"),
        ("s.l[0] > 1.5", "get(`b:s`['l'], 0) > 1.5D", "get(`s`['l'], 0) > 1.5D"),
        ("st[0].v > 2", "get(`b:st`, 0)['v'] > 2.0D", "get(`st`, 0)['v'] > 2.0D"),
        ("m['k'] = 3", "try_element_at(`b:m`, 'k') = 3", "try_element_at(`m`, 'k') = 3"),
        ("mi[3] = 'a'", "try_element_at(`b:mi`, 3) = 'a'", "try_element_at(`mi`, 3) = 'a'"),
        ("size(l) = 3", "size(`b:l`) = 3", "array_size(`l`) = 3"),
        ("cardinality(m) > 1", "size(`b:m`) >= 2", "array_size(map_keys(`m`)) >= 2"),
        ("array_contains(l, 3)", "array_contains(`b:l`, 3)", "array_contains(`l`, 3)"),
        ("NOT array_contains(w, 'a')", "NOT array_contains(`b:w`, 'a')", "NOT array_contains(`w`, 'a')"),
        ("x.y > 2", "`b:x.y` >= 3", "`x.y` >= 3"),  # an attribute comes before a field
    ],
)
def test_a_part_has_one_canonical_text_that_is_read_back(text, canonical, sql):
    criterion = parse_criterion(text, SCHEMA)
    assert criterion.canonical == canonical
    assert render(criterion, NAMES) == sql
    assert parse_criterion(canonical, BY_IDENTITY, canonical=True) == criterion
    assert parse_criterion(criterion.text, SCHEMA) == criterion
    assert parse_criterion(plain_text(canonical, NAMES), SCHEMA) == criterion


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("element_at(l, 0) = 1", "begin with 1", "begin with 0"),
        ("element_at(l, i) = 1", "whole number", "get"),
        ("array_contains(l, 3.5)", "a int is needed here", "CAST"),
        ("array_contains(l, 99999999999)", "a int is needed here", "CAST"),
        ("array_contains(f, 0.5)", "a float is needed here", "CAST"),
        ("array_contains(de, 1.255)", "a decimal(5,2) is needed here", "CAST"),
        ("array_contains(w, 3)", "a string is needed here", "CAST"),
        ("array_contains(l, 3 m)", "a unit is not converted here", "without a unit"),
        ("array_contains(st, 3)", "single values", ""),
        ("l[x] > 3", "an index is an int", "CAST"),
        ("s.nope > 3", "no field 'nope'", "RA"),
        ("s.dA > 3", "no field 'dA'", ""),
        ("s[0] > 3", "a field is named", "RA"),
        ("two.a > 3", "ambiguous: a or A", ""),
        ("l.a > 3", "has no fields", "[0]"),
        ("m.a > 3", "has no fields", "['key']"),
        ("i.a > 3", "no attribute 'i.a'", "another catalog"),
        ("i[0] > 3", "takes an array, a map or a struct", ""),
        ("size(s) > 3", "not a struct", ""),
        ("get(m, 'k') > 3", "takes an array", "element_at"),
        ("md[1.5] > 3", "keys of the type double", ""),
        ("s > 3", "with int", "a field of it"),
        ("raw[0] = 'a'", "binary with string", ""),
    ],
)
def test_other_parts_are_refused_with_a_hint(text, problem, hint):
    with pytest.raises(CriterionError) as caught:
        parse_criterion(text, SCHEMA)
    assert problem in caught.value.problem
    assert hint in caught.value.hint


@pytest.mark.parametrize("name", ["list", "Array"])
def test_a_name_that_begins_an_array_elsewhere_is_read_back(name):
    schema = make_schema({name: "struct<a:int>"})
    criterion = parse_criterion(f"{name}.a > 3", schema)
    assert parse_criterion(criterion.text, schema) == criterion
    with pytest.raises(CriterionError, match="parentheses"):
        parse_criterion(f"{name}[0] > 3", schema)


def test_parts_have_types_units_and_are_nullable():
    assert (str(parse_expression("s.l", SCHEMA).type), parse_expression("s.l", SCHEMA).nullable) == (
        "array<double>",
        True,
    )
    assert str(parse_expression("l[0] + 1.5", SCHEMA).type) == "decimal(12,1)"
    assert parse_expression("size(l)", make_schema({"l": "array<int>"}, nullable=False)).nullable is False


@pytest.mark.parametrize(
    "name",
    ["array<int", "struct<a>", "struct<a:>", "map<int>", "array<int>>", "struct<:int>", "array<>", "int", "struct<>"],
)
def test_names_that_are_no_nested_types_have_no_parts(name):
    assert read_nested_type(Type(name)) is None
