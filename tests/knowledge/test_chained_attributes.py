"""Criteria on attributes that are derived from derived ones: reduced at once, with the same proofs as step by step."""

import pytest

from provenn.catalogs import Catalog, verbs
from provenn.logic import equal, subset
from tests.catalogs.samples import derived
from tests.effort import count_lines
from tests.targets.samples import STARS
from tests.targets.scenes import known


def chain(length: int) -> Catalog:
    """Return stars with a chain of attributes, each one more than the one before."""
    catalog, before = STARS, "vmag"
    for number in range(length):
        catalog, before = derived(catalog, **{f"x{number}": f"{before} + 1"}), f"x{number}"
    return catalog


@pytest.mark.parametrize("length", [2, 3, 10, 60])
def test_a_criterion_in_the_middle_of_a_chain_is_the_same_set(length):
    """Also if the chain is too long to be written as one expression, as 60 sums are."""
    catalog = chain(length)
    last = verbs.select(catalog, f"x{length - 1} > 3")
    near = verbs.select(catalog, f"x{length - 2} + 1 > 3")
    wider = verbs.select(catalog, f"x{length - 2} + 1 > 2")
    knowledge = known([last, near, wider]).knowledge
    assert knowledge.entails(equal(last.digest, near.digest))
    assert knowledge.entails(subset(last.digest, wider.digest))
    assert not knowledge.entails(subset(wider.digest, last.digest))


def test_a_short_chain_is_the_expression_over_files():
    catalog = chain(4)
    last = verbs.select(catalog, "x3 > 8")
    written = verbs.select(catalog, "(((vmag + 1) + 1) + 1) + 1 > 8")
    assert known([last, written]).knowledge.entails(equal(last.digest, written.digest))


def test_a_chain_of_selections_takes_few_facts():
    """One fact for each criterion, and not one for each attribute below it as well."""

    def count_facts(length: int) -> int:
        selected = chain(length)
        for number in range(length):
            selected = verbs.select(selected, f"x{number} > {number}")
        return len(known([selected]).knowledge.facts)

    few, many = count_facts(5), count_facts(20)
    assert many < 6 * few
    assert count_lines(lambda: count_facts(20)) < 40 * count_lines(lambda: count_facts(5))
