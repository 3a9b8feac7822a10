"""What a notebook shows of knowledge: plain, escaped, and short however much there is."""

from xml.etree import ElementTree as ET

import pytest

from provenn.logic import Explanation, Knowledge, statement


@pytest.fixture
def known() -> Knowledge:
    return Knowledge(["B < A", "C == A", "D == B & C"])


def shown(value) -> str:
    """The words a notebook shows, which are well-formed markup."""
    html = value._repr_html_()
    return " ".join("".join(ET.fromstring(html).itertext()).split())  # noqa: S314 - our own


def test_knowledge_shows_its_facts(known):
    assert shown(known) == "Knowledge of 4 sets from 3 facts, in an open universe B < A C == A D == B & C"
    assert shown(Knowledge(open_universe=False)) == "Knowledge of 0 sets from 0 facts, in a closed universe"
    assert repr(known) == "<Knowledge of 4 sets from 3 facts>"


def test_an_explanation_shows_what_follows_and_from_what(known):
    assert shown(known.explain("B <= A")) == "B <= A follows from B < A"
    assert shown(known.explain("B == B")) == "B == B holds, whatever the sets are"
    assert shown(known.explain("outside(A)")).endswith("follows from some object is outside all sets (open universe)")


def test_a_conflict_shows_the_facts_that_contradict():
    conflict = Knowledge(["B < A", "A < B", "C == A"]).conflict()
    assert shown(conflict) == "These facts contradict each other: B < A A < B"


def test_a_classification_shows_equal_sets_and_what_contains_them(known):
    assert shown(known.classify()) == "sets directly inside A = C B = D A"


def test_a_world_shows_itself(known):
    assert shown(known.counterexample("nonempty(B)")).startswith(
        "A possible world: something is outside all sets something is in A and C only"
    )


def test_much_is_shown_in_short():
    many = Knowledge(f"S{i} <= S{i - 1}" for i in range(1, 1001))
    assert shown(many).endswith("S40 <= S39 … and 960 more")
    assert shown(many.classify()).endswith("… and 961 more")
    long = statement(" | ".join(f"S{i}" for i in range(1000)) + " == A")
    assert len(shown(Explanation((long,), open_universe=False, conclusion=long))) < 500


def test_labels_are_escaped():
    assert "<script>" not in Knowledge(['"<script>" <= A'])._repr_html_()
