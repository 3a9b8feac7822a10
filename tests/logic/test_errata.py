"""The pseudocode as printed, where it errs: that it fails on the counterexamples, and that ours does not.

A hypercube is written here as the frozenset of the indices of its True cells, as the pseudocode has it.
"""

from itertools import product
from random import Random

import pytest

from provenn.logic import Relationship
from provenn.logic.algorithms import adding_a_set, any_binary_operator, enhanced_conjunction, enhanced_nonimplication
from provenn.logic.hypercubes import LabelledHypercubes
from provenn.logic.operators import Operator
from tests.brute_force import extended, read, written

Cube = frozenset[tuple[int, ...]]

EXAMPLE = ("nonempty(A)", "outside(A)", "B < A", "C == A", "D == B & C")


def cubes(relationship: Relationship) -> set[Cube]:
    return {
        frozenset(tuple(int(label in region) for label in relationship.labels) for region in hypercube)
        for hypercube in read(relationship)
    }


def relationship(labels: str, some: set[Cube]) -> Relationship:
    named = [
        frozenset(frozenset(label for label, inside in zip(labels, cell, strict=True) if inside) for cell in cube)
        for cube in some
    ]
    return written(labels, named)


def ours(form: LabelledHypercubes) -> Relationship:
    return Relationship(form)


def remove(some: set[Cube], dimension: int) -> set[Cube]:
    return {frozenset(cell[:dimension] + cell[dimension + 1 :] for cell in cube) for cube in some}


# --- the pseudocode, line by line ---


def printed_nonimplication(h_p: set[Cube], labels_p: str, h_q: set[Cube], labels_q: str) -> set[Cube]:
    h_r = set()
    for cube in h_p:
        (h_t,) = {cube}
        for dimension in reversed(range(len(labels_p))):
            if labels_p[dimension] not in labels_q:
                (h_t,) = remove({h_t}, dimension)
        if h_t in h_q:  # as printed
            h_r.add(cube)
    return h_r


def printed_conjunction(h_p: set[Cube], n_p: int, h_q: set[Cube], n_q: int) -> set[Cube] | None:
    """None where the pseudocode refers to the regular conjunction."""
    if len(remove(h_q, n_q - 1)) != len(h_q):
        return None
    h_t = frozenset().union(*h_q)
    h_r = set()
    for cube in h_p:
        result = frozenset(cell + ((0,) if (*cell[: n_q - 1], 0) in h_t else (1,)) for cell in cube)
        (h_m,) = remove({result}, n_p)
        if h_m in h_p:  # as printed: always
            h_r.add(result)
    return h_r


def printed_addition(h_o: set[Cube], n: int) -> set[Cube]:
    h_r = set()
    for cube in h_o:
        h_t = [frozenset((*cell, end) for cell in cube for end in (0, 1))]
        for cell in product((0, 1), repeat=n):
            if cell in cube:
                for item in h_t:  # as printed: while it grows
                    for end in (0, 1):
                        fewer = item - {(*cell, end)}
                        if fewer not in h_t:
                            h_t.append(fewer)
        h_r.update(h_t)
    return h_r


def printed_binary_operator(h_p, labels_p, h_q, labels_q, operator):
    for label in labels_p:
        if label not in labels_q:
            h_v = printed_addition_as_meant(h_q, labels_q)
    for label in labels_q:
        if label not in labels_p:
            h_u = printed_addition_as_meant(h_p, labels_p)
    return operator(h_u, h_v)


def printed_addition_as_meant(h_o: set[Cube], labels: str) -> set[Cube]:
    return cubes(relationship(labels, h_o).including("new"))


# --- erratum 1: enhanced material nonimplication ---


def test_the_printed_nonimplication_refutes_the_papers_own_example():
    abcd, bd = Relationship.of(*EXAMPLE, labels="ABCD"), Relationship.of("B == D")
    assert len(printed_nonimplication(cubes(abcd), "ABCD", cubes(bd), "BD")) == 2
    assert len(enhanced_nonimplication(abcd.form, bd.form)) == 0


# --- erratum 2: enhanced conjunction ---


def conjunction(p: set[Cube], q: set[Cube], labels_p: str = "A", labels_q: str = "AN") -> set[Cube]:
    first, other = relationship(labels_p, p), relationship(labels_q, q)
    return cubes(ours(enhanced_conjunction(first.form, other.form)).on(*labels_p, "N"))


def test_the_printed_conjunction_overlooks_a_contradiction():
    """Only the outside is inhabited; only what is in both A and N is."""
    p, q = {frozenset([(0,)])}, {frozenset([(1, 1)])}
    assert len(printed_conjunction(p, 1, q, 2)) == 1
    assert conjunction(p, q) == set()


def test_the_printed_conjunction_drops_one_of_two_extensions():
    p, q = {frozenset([(1,)])}, {frozenset([(1, 0), (1, 1)])}
    assert printed_conjunction(p, 1, q, 2) == {frozenset([(1, 0)])}
    assert conjunction(p, q) == q


def test_the_closing_test_of_the_printed_conjunction_never_fails():
    """With it, or without it, the result is the same; what must be tested is that the result is in Q."""
    everything = cubes(Relationship.tautology("A"))
    q = {frozenset([(1, 1)])}
    assert len(printed_conjunction(everything, 1, q, 2)) == len(everything)
    assert conjunction(everything, q) == q


def test_over_random_relationships_the_printed_conjunction_is_mostly_wrong_and_ours_never():
    random = Random(1)
    regions_p, regions_q = list(product((0, 1), repeat=2)), list(product((0, 1), repeat=2))
    taken = wrong = 0
    for _ in range(300):
        p = {frozenset(cell for cell in regions_p if random.random() < 0.5) for _ in range(random.randint(1, 6))}
        q = {frozenset(cell for cell in regions_q if random.random() < 0.4) for _ in range(random.randint(1, 3))}
        known_p, known_q = relationship("AB", p), relationship("AN", q)
        truth = relationship_of(extended(read(known_p), "AB", "ABN") & extended(read(known_q), "AN", "ABN"), "ABN")
        assert conjunction(p, q, "AB", "AN") == truth
        printed = printed_conjunction(p, 2, q, 2)
        if printed is not None:
            taken += 1
            wrong += printed != truth
    assert taken > 100
    assert wrong > taken / 2


def relationship_of(hypercubes, labels: str) -> set[Cube]:
    return {
        frozenset(tuple(int(label in region) for label in labels) for region in hypercube) for hypercube in hypercubes
    }


@pytest.mark.parametrize("text", ["N == A", "N == A & B", "N == A | B", "N == A - B", "N == {}", "N == ~A"])
def test_where_the_new_set_is_a_function_of_the_others_both_agree(text):
    p, q = Relationship.tautology("A", "B"), Relationship.of(text, labels="ABN")
    assert printed_conjunction(cubes(p), 2, cubes(q), 3) == cubes(p & q)


# --- erratum 3: any binary operator, and the improved way of adding a set ---


def test_the_printed_binary_operator_is_undefined_where_nothing_is_to_be_added():
    p = Relationship.of("nonempty(A)")
    with pytest.raises(UnboundLocalError):
        printed_binary_operator(cubes(p), "A", cubes(p), "A", set.__and__)
    assert len(any_binary_operator(p.form, p.form, Operator.CONJUNCTION)) == 2


def test_the_printed_binary_operator_adds_only_the_last_of_several_sets():
    p, q = Relationship.of("A == B"), Relationship.of("nonempty(C)")
    printed = printed_binary_operator(cubes(p), "AB", cubes(q), "C", set.__or__)
    assert {len(cell) for cube in printed for cell in cube} == {2, 3}, "hypercubes of different dimensions"
    result = any_binary_operator(p.form, q.form, Operator.DISJUNCTION)
    assert read(ours(result)) == extended(read(p), "AB", "ABC") | extended(read(q), "C", "ABC")


def test_the_printed_addition_lets_an_inhabited_region_vanish():
    p = Relationship.of("nonempty(A) and empty(~A)")
    printed = printed_addition(cubes(p), 1)
    assert frozenset() in printed
    assert remove(printed, 1) != cubes(p)
    added = ours(adding_a_set(p.form, "N"))
    assert len(added) == 3
    assert remove(cubes(added), 1) == cubes(p)
