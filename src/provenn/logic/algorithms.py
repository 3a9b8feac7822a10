"""The eight algorithms of the paper, each under its name.

H. Buddelmeijer, E. A. Valentijn: *Leveraging Data Lineage to Infer Logical Relationships between Astronomical
Catalogs*. They are numbered as they appear in its section *Pseudocode*. Where the printed pseudocode errs, the
docstring says how; the algorithms as printed are kept, with the counterexamples, in ``tests/logic/test_errata.py``.

None of them builds more hypercubes than `budget` allows: the number is known before, and a `BudgetError` tells it.
"""

from collections.abc import Iterable
from functools import partial, reduce
from operator import or_

from provenn.errors import BudgetError
from provenn.logic.hypercubes import Labelled, every
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
"""How many hypercubes may be built at once, unless told otherwise."""


def check_budget(labels: Iterable[str], size: int, budget: int) -> None:
    """Raise `BudgetError` if `size` hypercubes are too many."""
    if size > budget:
        raise BudgetError(labels, size, budget)


def tautology(labels: tuple[str, ...], *, budget: int = BUDGET) -> Labelled:
    """All 2^(2^n) hypercubes of n sets."""
    # From 20 sets on the number itself would fill the memory; it is said to be that of 20.
    check_budget(labels, 1 << (1 << min(len(labels), 20)), budget)
    regions = range(1 << len(labels))
    return Labelled(labels, tuple(regions), every(len(regions)))


def removing_a_set(p: Labelled, *labels: str) -> Labelled:
    """Algorithm 1: Removing a set from a relationship. Here also several at once.

    Regions that only the removed sets told apart become one, which is inhabited if any of them was.
    """
    return p.on(tuple(label for label in p.labels if label not in labels))


def adding_a_set_naively(p: Labelled, label: str, *, budget: int = BUDGET) -> Labelled:
    """Algorithm 2: Adding a set to a relationship in a naive way.

    Of all the hypercubes with one set more, those that reduce to one of `p`. See `adding_a_set` for a better way.
    """
    return tautology((*p.labels, label), budget=budget).matching(p)


def negation(p: Labelled, *, budget: int = BUDGET) -> Labelled:
    """Algorithm 3: Applying the negation operator. All hypercubes of the same sets that are not in `p`."""
    return tautology(p.labels, budget=budget).matching(p, keep=False)


def any_binary_operator(p: Labelled, q: Labelled, operator: Operator, *, budget: int = BUDGET) -> Labelled:
    """Algorithm 4: Applying any binary operator.

    The sets that either lacks are added to it, and the operator is applied to the two sets of hypercubes. As printed,
    each added set replaces the one before it, and where nothing is to be added the operands are undefined; meant is
    to accumulate.
    """
    if operator(False, False):
        return negation(any_binary_operator(p, q, operator.negation, budget=budget), budget=budget)
    p = adding_a_set(p, *_missing(p, q), budget=budget)
    q = adding_a_set(q, *_missing(q, p), budget=budget).on(p.labels)
    regions = tuple(dict.fromkeys(p.regions + q.regions))
    left, right = p.over(regions), q.over(regions)
    parts = zip(operator.value, (left & right, left - right, right - left), strict=False)
    return Labelled.fitted(p.labels, regions, reduce(or_, (part for held, part in parts if held == "1"), left - left))


def entailment(premises: Iterable[Labelled], conclusion: Labelled, *, budget: int = BUDGET) -> bool:
    """Algorithm 5: Testing for entailment. Whether `conclusion` holds wherever all the premises do.

    It does if the premises, conjoined, and the nonimplication of the conclusion leave no hypercube. What the premises
    say of sets that the conclusion does not mention is removed before. Sets that only the conclusion mentions are not
    added: it holds for all of them if and only if it has as many hypercubes as adding them would make.
    """
    p = reduce(partial(enhanced_conjunction, budget=budget), premises, tautology(()))
    p = p.on(tuple(label for label in p.labels if label in conclusion.labels))
    new = _missing(p, conclusion)
    if not new:
        return not enhanced_nonimplication(p, conclusion)
    # Six more sets already make more hypercubes of any one than there can be in memory.
    added = p.hypercubes.lifts([1 << min(len(new), 6)] * len(p.regions))
    return len(conclusion.matching(p)) == added


def adding_a_set(p: Labelled, *labels: str, budget: int = BUDGET) -> Labelled:
    """Algorithm 6: Improved way of adding a set to a relation. Here also several at once.

    An inhabited region may go outside the new set, inside, or both: t of them make 3^t hypercubes, and m sets at once
    (2^(2^m) - 1)^t. As printed, the set of hypercubes grows while it is iterated over, so that both halves of an
    inhabited region can become empty; meant is to iterate over the set as it was before the region.
    """
    if not labels:
        return p
    new_labels = (*p.labels, *labels)
    count = len(p.regions)
    check_budget(new_labels, p.hypercubes.lifts([1 << min(len(labels), 16)] * count), budget)
    parts = range(1 << len(labels)) if count else ()
    regions = tuple(region | part << len(p.labels) for part in parts for region in p.regions)
    fibres = [range(place, len(regions), count) for place in range(count)]
    return Labelled(new_labels, regions, p.hypercubes.lifted(fibres, len(regions)))


def enhanced_conjunction(p: Labelled, q: Labelled, *, budget: int = BUDGET) -> Labelled:
    """Algorithm 7: Enhanced conjunction.

    What is new in `q` is added to `p` only as `q` allows it: a region of `p` is spread over those of its extensions
    that some hypercube of `q` inhabits, and the result is kept if, on the sets of `q`, it is in `q`. Where the new sets
    are functions of the others (equality, intersection, union, difference) each region has exactly one extension, and
    not one hypercube is added. It starts from `q` instead where that takes fewer.

    As printed, the fast path is taken when removing the new set from `q` leaves equally many hypercubes, which does not
    make it a function; the fast path then drops extensions; and its closing test compares with `p`, which always
    succeeds, instead of with `q`.
    """
    shared = tuple(label for label in p.labels if label in q.labels)
    new = _missing(p, q)
    if not new:
        return p.matching(q)
    if shared == p.labels:
        return q.matching(p).on(p.labels + new)
    p, q = p.matching(q.on(shared)), q.matching(p.on(shared))

    alike: dict[int, list[int]] = {}
    for place, region in enumerate(q.reduced(shared)):
        alike.setdefault(region, []).append(place)
    pairs = [(i, j) for i, region in enumerate(p.reduced(shared)) for j in alike.get(region, ())]
    beyond = q.reduced(new)
    regions = tuple(p.regions[i] | beyond[j] << len(p.labels) for i, j in pairs)
    from_p, from_q = _fibres((i for i, _ in pairs), p), _fibres((j for _, j in pairs), q)
    p_size, q_size = (one.hypercubes.lifts([*map(len, fibres)]) for one, fibres in ((p, from_p), (q, from_q)))
    check_budget(p.labels + new, min(p_size, q_size), budget)
    if p_size <= q_size:
        lifted = p.hypercubes.lifted(from_p, len(pairs)).matching([j for _, j in pairs], q.hypercubes)
    else:
        lifted = q.hypercubes.lifted(from_q, len(pairs)).matching([i for i, _ in pairs], p.hypercubes)
    return Labelled.fitted(p.labels + new, regions, lifted)


def enhanced_nonimplication(p: Labelled, q: Labelled, *, budget: int = BUDGET) -> Labelled:
    """Algorithm 8: Enhanced material nonimplication. The hypercubes of `p` that are not consistent with `q`.

    Sets that `q` does not mention are removed from each hypercube of `p` for the comparison, instead of being added to
    `q`. Printed for a `q` whose sets are all in `p`; those that are not are added to `p` first. As printed, it keeps
    the hypercubes that are found in `q`; its own ENSURE says the opposite, and so does this.
    """
    return adding_a_set(p, *_missing(p, q), budget=budget).matching(q, keep=False)


def _missing(p: Labelled, q: Labelled) -> tuple[str, ...]:
    """The sets of `q` that `p` does not speak of."""
    return tuple(label for label in q.labels if label not in p.labels)


def _fibres(places: Iterable[int], p: Labelled) -> list[list[int]]:
    """For each region of `p`, the numbers of the extensions that lie in it."""
    fibres: list[list[int]] = [[] for _ in p.regions]
    for extension, place in enumerate(places):
        fibres[place].append(extension)
    return fibres
