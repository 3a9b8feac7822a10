"""Pairs of criteria on several attributes: what follows in Spark's arithmetic, and what only seems to follow."""

import math
from functools import cache

import pytest

from provenn.criteria import Attribute, Criterion, build_theory, derive_term_facts, order_facts, parse_criterion
from provenn.criteria.schema import DefinedAttribute
from provenn.criteria.types import parse_type
from provenn.logic import Knowledge, disjoint, equal, subset

TYPES = {
    **dict.fromkeys(["a", "b", "c", "g", "r", "i", "z", "sal", "comm", "plx"], "double"),
    **dict.fromkeys(["f", "h"], "float"),
    **dict.fromkeys(["k", "m", "n"], "int"),
    **dict.fromkeys(["p", "q"], "decimal(8,2)"),
    **dict.fromkeys(["s", "t", "u"], "string"),
    **dict.fromkeys(["day", "night"], "date"),
    **dict.fromkeys(["v", "w"], "boolean"),
}
SCHEMA = {name: Attribute(name, parse_type(kind)) for name, kind in TYPES.items()}
FOUND = {name: DefinedAttribute(name, attribute.type, True) for name, attribute in SCHEMA.items()}

PROVED = [
    # order
    ("a < b AND b < c", subset, "a < c"),
    ("a < b AND b <= c", subset, "a < c"),
    ("a <= b AND b <= c", subset, "a <= c"),
    ("a = b AND b = c", subset, "a = c"),
    ("a = b AND b < c", subset, "a < c"),
    ("s < t AND t < u", subset, "s < u"),
    ("k < m AND m < n", subset, "k < n"),
    ("day < night AND night < DATE '2020-01-01'", subset, "day < DATE '2019-12-31'"),
    ("a < b AND b < c", disjoint, "c < a"),
    ("a < b", disjoint, "a > b"),
    ("a <= b AND b <= c AND c <= a", equal, "a = b AND b = c"),
    # terms and constants
    ("g < r AND r < 20", subset, "g < 20"),
    ("g <= r AND r < 20", subset, "g < 20"),
    ("g > r AND r > 20", subset, "g > 20"),
    ("g = r AND r = 20", subset, "g = 20"),
    ("g = r AND r = 20", equal, "g = 20 AND r = 20"),
    ("g < 20 AND r > 20", subset, "g < r"),
    ("g = 20 AND r = 20", subset, "g = r"),
    ("s = t AND t = 'x'", subset, "s = 'x'"),
    ("k < m AND m < 3", subset, "k < 2"),
    ("v AND NOT w", subset, "v > w"),
    ("v < w", subset, "w"),
    ("v AND NOT w", disjoint, "v < w"),
    # equal terms
    ("sal = 3 AND comm = sal + 5", equal, "sal = 3 AND comm = 8"),
    ("a = b AND a + c > 3", subset, "b + c > 3"),
    ("a = b AND c + a > 3", equal, "a = b AND b + c > 3"),
    ("s = t AND upper(s) = 'X'", subset, "upper(t) = 'X'"),
    ("s = t AND length(s) > 3", subset, "length(t) > 3"),
    ("a = b AND sqrt(a) < sqrt(c)", subset, "sqrt(b) < sqrt(c)"),
    # intervals through arithmetic
    ("g - r > 1 AND r BETWEEN 20 AND 30", subset, "g > 21"),
    ("g - r > 1 AND r BETWEEN 20 AND 30", disjoint, "g < 20"),
    ("g < 20 AND r BETWEEN 19 AND 25", subset, "g - r < 1"),
    ("g - r < 1 AND r < 20", subset, "g < 21"),
    ("g + r < 10 AND r BETWEEN 0 AND 5", subset, "g < 10"),
    ("g * r > 10 AND r BETWEEN 1 AND 2", subset, "g >= 5"),
    ("g / r < 2 AND r BETWEEN 1 AND 3", subset, "g <= 6"),
    ("g / r > 2 AND r BETWEEN 1 AND 3 AND g < 100", subset, "g > 2"),
    ("k + m > 3 AND m < 2", subset, "k > 2"),
    ("k - m = 0 AND m = 5", subset, "k = 5"),
    ("p + q > 10 AND q < 3", subset, "p > 7"),
    ("f - h > 1 AND h BETWEEN 20 AND 30", subset, "f > 21"),
    ("g - r IS NOT NULL", equal, "g IS NOT NULL AND r IS NOT NULL"),
    ("g - r > 0 AND r - i > 0 AND i BETWEEN 10 AND 20 AND r < 30 AND g < 40", subset, "g > 10"),
    ("greatest(g, r) < 20 AND g IS NOT NULL", subset, "g < 20"),
    ("a + c < b + c AND c BETWEEN 0 AND 1", subset, "a < b"),
    ("a < b AND c BETWEEN 0 AND 1", subset, "a - c <= b - c"),
    ("-g < r AND r < 3", subset, "g > -3"),
    ("abs(g - r) < 1 AND r BETWEEN 2 AND 3", subset, "g < 4"),
    # the sign of a difference
    ("g > r", subset, "g - r > 0"),
    ("g < r AND NOT isnan(r)", subset, "g - r < 0"),
    ("g - r = 0", subset, "g = r"),
    ("g = r AND g < 5 AND g > 4", subset, "g - r = 0"),
    ("g - r < 0", subset, "g < r"),
    ("g - r > 0 AND g < 99 AND r BETWEEN 0 AND 9", subset, "g > r"),
    ("k - m > 0", subset, "k > m"),
    # the same terms, another constant
    ("r - z > 0.3 * (g - r) + 0.2", subset, "r - z > 0.3 * (g - r) + 0.1"),
    ("g - r < 0.5 * z - 1", subset, "g - r < 0.5 * z - 0.5"),
    ("g > r + 2", subset, "g > r + 1"),
    ("g > 2 + r", subset, "g > r + 1"),
    ("g > 1.5 * r + 2", disjoint, "g < 1.5 * r + 1"),
    ("g > r + 0.5", disjoint, "g < r + 0.25"),
]

INF, NAN = math.inf, math.nan

UNKNOWN = [
    # Each comes with a row that refutes it. NaN is the largest value:
    ("g - r > 1 AND r > 20", subset, "g > 21", {"g": 0.0, "r": NAN}),
    ("g - r > 1 AND r BETWEEN 20 AND 30", subset, "g < 1000", {"g": NAN, "r": 25.0}),
    ("-g > -5", subset, "g < 5", {"g": NAN}),
    ("g + r > 3 AND r < 2", subset, "NOT isnan(g)", {"g": NAN, "r": 1.0}),
    ("g - r > 0", subset, "g > r", {"g": 1.0, "r": NAN}),
    ("g - r > 0 AND g < 99 AND NOT isnan(r)", subset, "g > r", {"g": -INF, "r": -INF}),
    # rounding:
    ("g - r > 1", equal, "r < g - 1", {"g": 1.0, "r": -1e-17}),
    ("g - r > 1", subset, "g > r + 1", {"g": 2.0**53 + 4, "r": 2.0**53 + 2}),
    ("a < b", subset, "a + 1 < b + 1", {"a": 1e-30, "b": 2e-30}),
    ("a < b", subset, "b - a > 1e-300 OR a > 1", {"a": 0.0, "b": 5e-324}),
    ("(a + b) + c > 1", subset, "a + (b + c) > 1", {"a": 1.0, "b": 2.0**53 + 2, "c": -(2.0**53) - 2}),
    ("a + b - b = a", equal, "a IS NOT NULL AND b IS NOT NULL", {"a": 1.0, "b": 1e300}),
    ("a * 3 / 3 = a", equal, "a IS NOT NULL", {"a": 1e308}),
    ("a > 0 AND b > 0", subset, "a * b > 0", {"a": 1e-300, "b": 1e-300}),
    ("a * b > 0 AND a > 0", subset, "b > 0 AND b < 5", {"a": 1.0, "b": 7.0}),
    # infinities:
    ("a < b", subset, "a - c <= b - c", {"a": -INF, "b": 1.0, "c": -INF}),
    ("a + c < b + c", subset, "a < b", {"a": 5.0, "b": -INF, "c": INF}),
    ("g * r > 10 AND r >= 0", subset, "g > 0", {"g": -1.0, "r": NAN}),
    ("g * r > 10 AND r BETWEEN 0 AND 5", subset, "g < 1e300", {"g": INF, "r": 1.0}),
    ("g = r", subset, "g - r = 0", {"g": INF, "r": INF}),
    # NULL:
    ("g < 20 OR r < 20", subset, "least(g, r) < 20 AND g IS NOT NULL", {"g": None, "r": 1.0}),
    ("NOT (a < b) IS TRUE", subset, "a >= b", {"a": None, "b": 1.0}),
    ("g < 20 AND r > 20", subset, "g / (r - 30) < 100", {"g": 1.0, "r": 30.0}),
    # overflow:
    ("k < m", subset, "k + 1 < m + 1", {"k": 1, "m": 2**31 - 1}),
    ("k > m", subset, "k - m > 0", {"k": 2**31 - 1, "m": -1}),
    ("k * m > 0 AND k > 0", subset, "m < 1000000", {"k": 1, "m": 2**31 - 1}),
    # 0.0 equals -0.0, and some functions tell them apart:
    ("a = b AND CAST(a AS string) = '0.0'", subset, "CAST(b AS string) = '0.0'", {"a": 0.0, "b": -0.0}),
    ("a = b AND pow(a, c) > 0", subset, "pow(b, c) > 0", {"a": 0.0, "b": -0.0, "c": -1.0}),
    # nothing in common:
    ("a < b AND b < c", subset, "a < 5", {"a": 6.0, "b": 7.0, "c": 8.0}),
    ("a < b", subset, "a < c", {"a": 1.0, "b": 2.0, "c": 0.0}),
    ("s = t", subset, "s = 'x'", {"s": "y", "t": "y"}),
]


@cache
def criterion(text: str) -> Criterion:
    return parse_criterion(text, SCHEMA)


def knowledge(*criteria: Criterion) -> Knowledge:
    """What is known of criteria alone, as an archive knows it."""
    atoms = [atom for parsed in criteria for atom in parsed.atoms]
    reduced = derive_term_facts(atoms, FOUND.get)
    atoms += reduced.atoms
    facts = [*(fact.statement for fact in reduced.facts), *order_facts(atoms)]
    return Knowledge(facts, open_universe=False, theory=build_theory(atoms, FOUND.get))


@pytest.mark.parametrize(("first", "relation", "second"), PROVED)
def test_a_relation_is_proved_and_told_by_facts_alone(first, relation, second):
    parsed, other = criterion(first), criterion(second)
    known, question = knowledge(parsed, other), relation(parsed.true, other.true)
    assert known.entails(question)
    assert Knowledge(known.explain(question).facts, open_universe=False).entails(question)


@pytest.mark.parametrize(("first", "relation", "second", "row"), UNKNOWN)
def test_a_tempting_relation_stays_unknown(first, relation, second, row):  # noqa: ARG001 - the row is for Spark
    parsed, other = criterion(first), criterion(second)
    assert knowledge(parsed, other).judge(relation(parsed.true, other.true)) == "unknown"


def test_criteria_without_common_terms_have_no_theory():
    texts = ("g < 20", "r < 20 AND s = 'x'", "in_cone(g, r, 0, 0, 1)")
    atoms = [atom for text in texts for atom in criterion(text).atoms]
    assert build_theory(atoms, FOUND.get) is None


def test_only_atoms_linked_to_terms_of_several_attributes_are_in_the_theory():
    atoms = [atom for text in ("g < r", "r < 20", "z < 20") for atom in criterion(text).atoms]
    labels = build_theory(atoms, FOUND.get).labels
    assert "`r` < 20.0D" in labels
    assert not any("`z`" in label for label in labels)


def test_an_attribute_of_unknown_type_is_ignored():
    first, other = criterion("a < b AND b < c"), criterion("a < c")
    atoms = [*first.atoms, *other.atoms]
    known = Knowledge(order_facts(atoms), theory=build_theory(atoms, lambda _: None), open_universe=False)
    assert known.judge(subset(first.true, other.true)) == "unknown"
