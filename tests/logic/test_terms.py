"""Set terms: how they are written and what they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.errors import LabelError
from provenn.logic.terms import Term, nothing, quote_label, term
from tests.strategies import terms

EVERYTHING = frozenset(range(16))
SETS = {label: frozenset(n for n in EVERYTHING if n >> bit & 1) for bit, label in enumerate("ABCD")}


def of(item: Term) -> frozenset[int]:
    return item.evaluate(lambda label: SETS[label], frozenset(), EVERYTHING)


@given(terms("ABCD"), terms("ABCD"))
def test_operators_mean_what_they_mean_for_python_sets(left, right):
    assert of(left & right) == of(left) & of(right)
    assert of(left | right) == of(left) | of(right)
    assert of(left - right) == of(left) - of(right)
    assert of(left ^ right) == of(left) ^ of(right)
    assert of(~left) == EVERYTHING - of(left)


@given(terms("ABCD"))
def test_relabelling_back_and_forth_changes_nothing(one):
    assert one.relabelled(lambda label: label + "'").relabelled(lambda label: label[:-1]) == one


def test_labels_come_once_in_the_order_of_first_mention():
    assert ((term("B") & "A") | "B").labels == ("B", "A")
    assert nothing.labels == ()
    assert term("A").label == "A"
    assert (~term("A")).label is None
    assert nothing.label is None


@given(st.text(min_size=1))
def test_a_plain_name_is_written_as_it_is_and_any_other_in_quotes(label):
    written = quote_label(label)
    assert (written == label) == (label.isidentifier() and label.isascii() and written[0] != '"')


@pytest.mark.parametrize("label", ["", None, 3, b"A"])
def test_a_set_is_named_by_a_non_empty_string(label):
    with pytest.raises(LabelError, match="non-empty string"):
        term(label)
