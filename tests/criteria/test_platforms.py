"""Which expressions depend on the platform: as their specification has it, at any depth."""

import pytest

from provenn.catalogs import CombineAttributes, ConcatSources, ExcludeSources, SampleSources, SelectSources
from provenn.catalogs.platform_traits import find_lineage_traits
from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type
from provenn.criteria.platforms import Trait, find_platform_traits
from tests.catalogs.samples import base, derived

KINDS = {"d": "double", "f": "float", "i": "int", "s": "string", "c": "decimal(10,2)", "t": "timestamp", "y": "date"}
SCHEMA = {name: Attribute(name, parse_type(kind)) for name, kind in KINDS.items()}
NONE, JAVA, MACHINE, BOTH = set(), {Trait.JAVA}, {Trait.MACHINE}, {Trait.JAVA, Trait.MACHINE}


@pytest.mark.parametrize(
    ("text", "traits"),
    [
        ("string(d)", JAVA),
        ("f::string", JAVA),
        ("concat('x', string(d + 1), s)", JAVA),
        ("string(d) LIKE '1.0%'", JAVA),
        ("length(string(i / 3)) > 5", JAVA),
        ("hash(string(f))", JAVA),
        ("CASE WHEN string(d) = '1.0' THEN 1 ELSE 2 END", JAVA),
        ("string(i)", NONE),
        ("string(c)", NONE),
        ("string(t) || string(y)", NONE),
        ("CAST(d AS decimal(10,2))", JAVA),
        ("CAST(i AS decimal(10,2))", NONE),
        ("round(d, 2)", JAVA),
        ("bround(f)", JAVA),
        ("round(c, 1) + round(i, -1)", NONE),
        ("cbrt(d)", BOTH),
        ("tanh(i)", BOTH),
        ("sin(d) * string(d)::double", BOTH),
        ("in_cone(d, d, 1, 2, 3)", MACHINE),
        ("cos(radians(d))", MACHINE),
        ("exp(d) + ln(d) + pow(d, 2) + sqrt(d) + log10(d)", NONE),
        ("hash(d, f, s)", NONE),
        ("lower(s) || upper(s) || initcap(s)", NONE),
        ("s RLIKE '^HD [0-9]+$'", NONE),
        (r"s RLIKE '^\\d{3}(?:\\.\\w+)?$'", NONE),
        (r"s RLIKE '\\bHD\\b'", JAVA),
        ("s RLIKE '(?i)hd'", JAVA),
        ("s RLIKE 'é'", JAVA),
        ("NOT (d < 1 OR string(d) = '1.0') IS TRUE", JAVA),
    ],
)
def test_traits_of_an_expression(text, traits):
    assert find_platform_traits(parse_expression(text, SCHEMA).node) == traits


def test_traits_of_a_criterion():
    assert find_platform_traits(parse_criterion("d > 1 AND (s = 'x' OR cbrt(d) < 2)", SCHEMA).condition) == BOTH


STARS = base()
WRITTEN = derived(STARS, words="string(vmag)")
LONG = SelectSources.of(WRITTEN, "length(words) > 5")


@pytest.mark.parametrize(
    ("catalog", "traits"),
    [
        (STARS, NONE),
        (WRITTEN, JAVA),
        (LONG, JAVA),
        (derived(LONG, size="length(words)"), JAVA),
        (ExcludeSources(STARS, LONG), JAVA),
        (ConcatSources.of(STARS, LONG), JAVA),
        (CombineAttributes.of(STARS, LONG), JAVA),
        (SampleSources.of(LONG, 0.5), JAVA),
        (SampleSources.of(STARS, 0.5), NONE),
        (SelectSources.of(LONG, "sin(plx) < 0.5"), BOTH),
        (SelectSources.of(STARS, "vmag < 6"), NONE),
    ],
    ids=lambda value: type(value).__name__,
)
def test_traits_of_all_that_a_catalog_is_made_from(catalog, traits):
    assert find_lineage_traits(catalog) == traits


@pytest.mark.parametrize(
    "criterion",
    [
        *("vmag < 1", "NOT (vmag >= 1) OR plx IS NULL", "hip BETWEEN 2 AND 5", "vmag = CAST('NaN' AS DOUBLE)", "true"),
        *("vmag + 1 > 2", "sin(plx) < 2", "vmag < 1 OR CAST(plx AS STRING) = 'x'", "hip < plx", "round(vmag, 1) = 2"),
    ],
)
def test_a_selection_has_the_traits_of_its_parsed_criterion(criterion):
    """Those of plain comparisons are known without parsing."""
    selected = SelectSources.of(STARS, criterion)
    assert selected.find_own_traits() == find_platform_traits(selected.criterion.condition)
