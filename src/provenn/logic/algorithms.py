"""The eight algorithms of the paper, under their names in the paper.

H. Buddelmeijer, E. A. Valentijn: *Leveraging Data Lineage to Infer Logical Relationships between Astronomical
Catalogs*. The numbers are those of its section *Pseudocode*. Where the printed pseudocode errs, the docstring explains
the error; the algorithms as printed are kept, with the counterexamples, in ``tests/logic/test_errata.py``.

No algorithm builds more hypercubes than `budget` allows: the number is known in advance, and a `BudgetError` reports
the number.
"""

from collections.abc import Iterable
from functools import partial, reduce
from operator import or_

from provenn.errors import BudgetError
from provenn.logic.hypercubes import LabelledHypercubes, build_all_hypercubes
from provenn.logic.operators import Operator

__all__ = [
    "BUDGET",
    "adding_a_set",
    "adding_a_set_naively",
    "any_binary_operator",
    "check_budget",
    "enhanced_conjunction",
    "enhanced_nonimplication",
    "entailment",
    "negation",
    "removing_a_set",
    "tautology",
]

BUDGET = 10_000_000
"""The default limit of hypercubes built at once."""


def check_budget(labels: Iterable[str], size: int, budget: int) -> None:
    """Raise `BudgetError` if `size` exceeds the budget of hypercubes."""
    if size > budget:
        raise BudgetError(labels, size, budget)


def tautology(labels: tuple[str, ...], *, budget: int = BUDGET) -> LabelledHypercubes:
    """Return all 2^(2^n) hypercubes of n sets."""
    # From 20 sets on, the number itself would fill the memory; the error reports the number for 20 sets.
    check_budget(labels, 1 << (1 << min(len(labels), 20)), budget)
    regions = range(1 << len(labels))
    return LabelledHypercubes(labels, tuple(regions), build_all_hypercubes(len(regions)))


def removing_a_set(p: LabelledHypercubes, *labels: str) -> LabelledHypercubes:
    """Algorithm 1: Removing a set from a relationship. Here also several sets at once.

    Regions distinguished only by the removed sets are merged; the merged region is inhabited if any of them was.
    """
    return p.on(tuple(label for label in p.labels if label not in labels))


def adding_a_set_naively(p: LabelledHypercubes, label: str, *, budget: int = BUDGET) -> LabelledHypercubes:
    """Algorithm 2: Adding a set to a relationship in a naive way.

    Return the hypercubes with the additional set that reduce to a hypercube of `p`. `adding_a_set` is faster.
    """
    return tautology((*p.labels, label), budget=budget).select_matching(p)


def negation(p: LabelledHypercubes, *, budget: int = BUDGET) -> LabelledHypercubes:
    """Algorithm 3: Applying the negation operator. Return all hypercubes of the same sets that are not in `p`."""
    return tautology(p.labels, budget=budget).select_matching(p, keep=False)


def any_binary_operator(
    p: LabelledHypercubes, q: LabelledHypercubes, operator: Operator, *, budget: int = BUDGET
) -> LabelledHypercubes:
    """Algorithm 4: Applying any binary operator.

    The missing sets are added to each operand, and the operator is applied to the two sets of hypercubes. As printed,
    each added set replaces the previous result, and the operands are undefined if no set is missing; the intention is
    to accumulate.
    """
    if operator(False, False):
        return negation(any_binary_operator(p, q, operator.negation, budget=budget), budget=budget)
    p = adding_a_set(p, *_find_missing_labels(p, q), budget=budget)
    q = adding_a_set(q, *_find_missing_labels(q, p), budget=budget).on(p.labels)
    regions = tuple(dict.fromkeys(p.regions + q.regions))
    left, right = p.over(regions), q.over(regions)
    parts = zip(operator.value, (left & right, left - right, right - left), strict=False)
    return LabelledHypercubes.fit_regions(
        p.labels, regions, reduce(or_, (part for bit, part in parts if bit == "1"), left - left)
    )


def entailment(premises: Iterable[LabelledHypercubes], conclusion: LabelledHypercubes, *, budget: int = BUDGET) -> bool:
    """Algorithm 5: Testing for entailment. Return whether `conclusion` holds wherever all the premises do.

    The conclusion is entailed if the conjunction of the premises and the nonimplication of the conclusion have no
    hypercube. Sets absent from the conclusion are removed from the premises first. Sets mentioned only by the
    conclusion are not added: the conclusion holds for all of them if and only if it has as many hypercubes as adding
    them would create.
    """
    p = reduce(partial(enhanced_conjunction, budget=budget), premises, tautology(()))
    p = p.on(tuple(label for label in p.labels if label in conclusion.labels))
    new = _find_missing_labels(p, conclusion)
    if not new:
        return not enhanced_nonimplication(p, conclusion)
    # Six more sets already turn any hypercube into more hypercubes than memory can hold.
    added = p.hypercubes.count_lifts([1 << min(len(new), 6)] * len(p.regions))
    return len(conclusion.select_matching(p)) == added


def adding_a_set(p: LabelledHypercubes, *labels: str, budget: int = BUDGET) -> LabelledHypercubes:
    """Algorithm 6: Improved way of adding a set to a relation. Here also several sets at once.

    The objects of an inhabited region may be outside the new set, inside, or both: t regions yield 3^t hypercubes, and
    for m sets at once (2^(2^m) - 1)^t. As printed, the set of hypercubes grows during the iteration, so that both
    halves of an inhabited region can become empty; the intention is to iterate over the set as it was before the
    region.
    """
    if not labels:
        return p
    new_labels = (*p.labels, *labels)
    count = len(p.regions)
    check_budget(new_labels, p.hypercubes.count_lifts([1 << min(len(labels), 16)] * count), budget)
    parts = range(1 << len(labels)) if count else ()
    regions = tuple(region | part << len(p.labels) for part in parts for region in p.regions)
    fibres = [range(place, len(regions), count) for place in range(count)]
    return LabelledHypercubes(new_labels, regions, p.hypercubes.lift_hypercubes(fibres, len(regions)))


def enhanced_conjunction(p: LabelledHypercubes, q: LabelledHypercubes, *, budget: int = BUDGET) -> LabelledHypercubes:
    """Algorithm 7: Enhanced conjunction.

    The new sets of `q` are added to `p` only as `q` allows: a region of `p` is spread over its extensions that some
    hypercube of `q` inhabits, and a result is kept if its reduction to the sets of `q` is in `q`. If the new sets are
    functions of the others (equality, intersection, union, difference), each region has exactly one extension, and no
    hypercube is added. The algorithm starts from `q` instead if this takes fewer hypercubes.

    As printed, the fast path is taken when removing the new set from `q` leaves equally many hypercubes, but this does
    not make the new set a function; the fast path then drops extensions; and its closing test compares with `p`, and so
    always succeeds, instead of with `q`.
    """
    shared = tuple(label for label in p.labels if label in q.labels)
    new = _find_missing_labels(p, q)
    if not new:
        return p.select_matching(q)
    if shared == p.labels:
        return q.select_matching(p).on(p.labels + new)
    p, q = p.select_matching(q.on(shared)), q.select_matching(p.on(shared))

    places_by_region: dict[int, list[int]] = {}
    for place, region in enumerate(q.reduce_regions(shared)):
        places_by_region.setdefault(region, []).append(place)
    pairs = [(i, j) for i, region in enumerate(p.reduce_regions(shared)) for j in places_by_region.get(region, ())]
    new_bits = q.reduce_regions(new)
    regions = tuple(p.regions[i] | new_bits[j] << len(p.labels) for i, j in pairs)
    from_p, from_q = _build_fibres((i for i, _ in pairs), p), _build_fibres((j for _, j in pairs), q)
    p_size, q_size = (side.hypercubes.count_lifts([*map(len, fibres)]) for side, fibres in ((p, from_p), (q, from_q)))
    check_budget(p.labels + new, min(p_size, q_size), budget)
    if p_size <= q_size:
        lifted = p.hypercubes.lift_hypercubes(from_p, len(pairs)).select_matching([j for _, j in pairs], q.hypercubes)
    else:
        lifted = q.hypercubes.lift_hypercubes(from_q, len(pairs)).select_matching([i for i, _ in pairs], p.hypercubes)
    return LabelledHypercubes.fit_regions(p.labels + new, regions, lifted)


def enhanced_nonimplication(
    p: LabelledHypercubes, q: LabelledHypercubes, *, budget: int = BUDGET
) -> LabelledHypercubes:
    """Algorithm 8: Enhanced material nonimplication. Return the hypercubes of `p` that are not consistent with `q`.

    Sets absent from `q` are removed from each hypercube of `p` for the comparison, instead of being added to `q`. The
    printed algorithm requires all sets of `q` in `p`; here the missing sets are added to `p` first. As printed, the
    algorithm keeps the hypercubes found in `q`; its own ENSURE states the opposite, and so does this function.
    """
    return adding_a_set(p, *_find_missing_labels(p, q), budget=budget).select_matching(q, keep=False)


def _find_missing_labels(p: LabelledHypercubes, q: LabelledHypercubes) -> tuple[str, ...]:
    """Return the labels of `q` absent from `p`."""
    return tuple(label for label in q.labels if label not in p.labels)


def _build_fibres(places: Iterable[int], p: LabelledHypercubes) -> list[list[int]]:
    """Return for each region of `p` the indices of the extensions inside the region."""
    fibres: list[list[int]] = [[] for _ in p.regions]
    for extension, place in enumerate(places):
        fibres[place].append(extension)
    return fibres
