"""Sets that lie in the union of others, found for many sets at once.

The question whether one of n sets lies in the union of the others names all of them, so n questions take n * n steps.
Here the unions of all sets before a place are made one from another, and so are those of the sets after it: each
question is about three literals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from provenn import deadline
from provenn.logic.knowledge.formulas import Inhabited
from provenn.logic.knowledge.graph import EMPTY
from provenn.logic.knowledge.knowledge import Knowledge
from provenn.logic.knowledge.search import WorldSearch
from provenn.logic.terms import Term

__all__ = ["find_covered_sets"]


def find_covered_sets(knowledge: Knowledge, sets: Sequence[Term], *, by_later: bool = True) -> tuple[int, ...]:
    """Return the places of sets that can be left out of a union, without changing it.

    The last set is tested first, and a set that is left out covers no other set. The last set that is left stays, even
    if it is empty.

    Parameters
    ----------
    knowledge
        What is known of the sets.
    sets
        The sets.
    by_later
        Whether later sets count, or only earlier ones.

    Raises
    ------
    ContradictionError
        If the facts contradict each other.

    Examples
    --------
    >>> from provenn.logic.terms import term
    >>> known = Knowledge(["A <= B", "C <= A | B"])
    >>> find_covered_sets(known, [term("A"), term("B"), term("C")])
    (0, 2)
    >>> find_covered_sets(known, [term("A"), term("B"), term("C")], by_later=False)
    (2,)
    """
    search = knowledge.open_search()
    graph = search.reasoner.graph
    literals = [knowledge.find_literal(region) for region in sets]
    before = [EMPTY]
    for literal in literals:
        before.append(graph.join(before[-1], literal))
    after = EMPTY
    covered: list[int] = []
    for place in reversed(range(len(literals))):
        deadline.check()
        has_others = place > 0 or (by_later and len(covered) < len(literals) - 1)
        if has_others and not _can_share(search, literals[place], before[place] ^ 1, after ^ 1):
            covered.append(place)
        elif by_later:
            after = graph.join(after, literals[place])
    return tuple(reversed(covered))


def _can_share(search: WorldSearch, *literals: int) -> bool:
    """Return whether some object can be in all literals.

    The solver is asked at once, and no object is invented: that would take as many steps as there are sets.
    """
    reasoner = search.reasoner
    if search.choices:
        shared = reduce(reasoner.graph.meet, literals)
        return shared != EMPTY and search.find_claims([Inhabited(shared, holds=True)]) is not None
    return EMPTY not in literals and (reasoner.has_witness(*literals) or reasoner.find(literals) is not None)
