"""Criteria on derived attributes are criteria on what the attributes are derived from."""

import importlib
import math
import sys
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import provenn
from provenn.criteria import Attribute, derive_term_facts, parse_criterion, parse_type
from tests.criteria.reductions.facts_on_rows import check_facts, find_facts

DERIVED = {
    "difference": "x - y",
    "double_difference": "difference * 2",
    "flag": "x < 5",
    "either": "x IS NULL OR y > 3 OR flag",
    "five": "5",
    "whole": "CAST(x AS INT)",
    "chosen": "CASE WHEN flag THEN x ELSE y END",
    "negated": "NOT flag",
    "swapped": "y + x",
    "none": "CAST(NULL AS DOUBLE)",
}
TRUTHS = ("flag", "either", "negated")
CRITERIA = [
    *(
        f"{name} {operator} 4"
        for name in DERIVED
        for operator in ("<", "=")
        if name not in ("flag", "either", "negated")
    ),
    *(f"{name} IS NULL" for name in DERIVED),
    *(text for name in ("flag", "either", "negated") for text in (name, f"NOT {name}", f"{name} IS NOT TRUE")),
    "difference < y",
    "swapped = difference",
    "x = x AND difference + y > 3",
    "whole + 1 > 3",
    "five * x < 10",
    "five < x",
    "flag = negated",
    "flag = either",
    "if(flag, whole, 3) > 2",
    "greatest(five, x) = 5",
    "difference IN (" + ", ".join(f"{n}.5" for n in range(300)) + ")",
]
VALUES = [None, 0.0, -0.0, 1.0, 2.5, 4.0, 4.5, 5.0, 6.0, 9.0, -3.0, 1e300, -math.inf, math.inf, math.nan]


def test_facts_about_derived_attributes_hold_on_rows(engine):
    rows = list(product(VALUES, VALUES))
    assert check_facts(engine.session, CRITERIA, {"x": "double", "y": "double"}, rows, DERIVED) > 50


def test_an_expression_keeps_the_type_of_its_attribute():
    """A literal 5 multiplies a decimal as decimal(1,0), an attribute that is 5 as decimal(10,0)."""
    facts, _, _ = find_facts(["five * price < 10.5"], {"price": "decimal(5,2)"}, {"five": "5"})
    texts = list(map(str, facts))
    cast = "CAST({} AS DECIMAL(10,0)) * `price` < 10.50BD"
    assert f'"{cast.format("`five`")}" == "{cast.format("5")}"' in texts
    assert f'"{cast.format("5")}" == "`price` < 2.10BD"' in texts


def test_an_unknown_attribute_leaves_its_terms_opaque():
    criterion = parse_criterion("x * 2 < 10", {"x": Attribute("x", parse_type("double"))})
    assert derive_term_facts(criterion.atoms, {}.get).facts == ()


def test_growing_expressions_stay_bounded():
    """Each of these reads the one before twice: written out, the last would have a million terms."""
    derived = {"d0": "x + 1", **{f"d{n}": f"d{n - 1} * d{n - 1}" for n in range(1, 21)}}
    facts, atoms, _ = find_facts(["d20 < 5"], {"x": "double"}, derived)
    assert facts
    assert max(map(len, atoms)) < 100_000


SOURCE = """
def brightness(batch):
    return batch.assign(mean=batch["g"])[["mean"]]
"""


@pytest.fixture
def brightness(tmp_path, monkeypatch):
    """A function of a module."""
    (tmp_path / "brightness_of_stars.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("brightness_of_stars").brightness
    del sys.modules["brightness_of_stars"]


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey") as opened:
        yield opened


@pytest.fixture
def stars(archive, tmp_path):
    table = pa.table({"hip": pa.array([1], pa.int64()), "g": [1.0], "r": [1.0], "n": pa.array([1], pa.int32())})
    pq.write_table(table, tmp_path / "stars.parquet", write_statistics=False)  # criteria alone decide
    return archive.ingest("stars", tmp_path / "stars.parquet", key="hip", population="star")


def test_the_result_of_a_function_is_a_term_of_its_own(archive, stars, brightness):
    calculator = archive.calculator("brightness", brightness, inputs=["g"], outputs={"mean": "double"})
    near = stars.derive(calculator).derive(twice="mean * 2")
    assert archive.relate(near.select("twice > 10"), near.select("mean > 5")).summary == "equal"
    assert archive.relate(near.select("mean > 5"), near.select("g > 5")).summary == "unknown"


def test_attributes_of_a_concatenation_are_those_of_its_members(archive, stars):
    first, second = stars.select("n > 5").derive(q="g * 2"), stars.select("n < 10").derive(q="g * 4")
    both = first.concat(second, order="first").derive(more="q + 1")
    selected = both.select("more < 9")
    assert archive.relate(selected, both.select("q < 8")).summary == "subset"  # 7.999999999999999 + 1 is 9
    assert archive.relate(selected, both.select("g > 4.001")).summary == "disjoint"
    assert archive.relate(both.select("more IS NULL"), both.select("g IS NULL")).summary == "equal"
    assert archive.relate(selected, both.select("n > 5 AND g < 3.9 OR n <= 5 AND g < 1.9")).summary == "superset"
    # The facts leave room for sources outside all members: their values are free.
    turned = both.select("-more < -9")
    assert archive.relate(turned, stars).summary == "subset"
    assert archive.relate(turned, selected).summary == "disjoint"


def test_a_proof_names_attributes_that_no_cited_catalog_has(archive, stars):
    colour = stars.derive(colour="g - r").keep("colour")
    reasons = archive.relate(colour.select("colour > 1"), stars.select("g - r > 1")).reasons
    because = {str(reason.statement): reason.because for reason in reasons}
    words = "colour <= 1 is g - r <= 1; colour IS NOT NULL is g - r IS NOT NULL"
    assert because['"g - r > 1" == "colour > 1"'] == words
