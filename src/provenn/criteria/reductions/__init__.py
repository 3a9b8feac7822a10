"""Reductions: conditions on a compound term, as conditions on the terms inside it.

A *reduction* is a function ``reduce_…(term, where)`` in a module for its kind of term. It returns a condition on
smaller terms that is TRUE exactly for the sources for which the value of `term` is not NULL and lies in `where`, and
FALSE or NULL for all others; or None where it does not apply. Only the set for which the condition is TRUE counts.
``Ranges(True)`` asks for which sources the term is not NULL.

An *estimate* is a function ``estimate_…(term, where)`` for a function that a library computes, so that its last digits
are uncertain. It returns two conditions: the first is TRUE only for sources whose value lies in `where`, the second for
all of them and perhaps for more; or None where it does not apply.

A rule need not look into the terms inside `term`: `provenn.criteria.term_facts` applies the rules again to each
condition that a rule returns, as long as the result stays small. Build conditions with `build_leaf` and the other
functions of `provenn.criteria.conditions` and `provenn.criteria.comparisons`, so that the same set gets the same label
as in the criteria that people write. A term in the result must be the term that its canonical text says (take it from
`term`, or convert with ``cast`` and not with ``coerce``); otherwise the result is left out.

A rule holds for every value that a term can have, with NULL, NaN, both zeros, infinities and overflow, in the
arithmetic that Spark evaluates: `provenn.criteria.writing` says what that is. A wrong rule proves falsehoods. Its
docstring says why it is right, and `tests/criteria/reductions` tries it on rows that Spark evaluates.
"""

from __future__ import annotations

from collections.abc import Callable

from provenn.criteria.nodes import Condition, Node
from provenn.criteria.ranges import Ranges
from provenn.criteria.reductions.arithmetic import reduce_arithmetic
from provenn.criteria.reductions.bits import reduce_bitwise
from provenn.criteria.reductions.casts import reduce_cast
from provenn.criteria.reductions.choices import reduce_choice
from provenn.criteria.reductions.constants import reduce_constant
from provenn.criteria.reductions.dates import reduce_date
from provenn.criteria.reductions.extremes import reduce_extreme
from provenn.criteria.reductions.library import estimate_library_call
from provenn.criteria.reductions.remainders import reduce_remainder
from provenn.criteria.reductions.rounding import reduce_rounding
from provenn.criteria.reductions.texts import estimate_position, reduce_text
from provenn.criteria.reductions.truths import reduce_truth

__all__ = ["ESTIMATES", "REDUCTIONS", "Estimate", "Reduction"]

Reduction = Callable[[Node, Ranges], Condition | None]
Estimate = Callable[[Node, Ranges], tuple[Condition, Condition] | None]

REDUCTIONS: tuple[Reduction, ...] = (
    reduce_constant,
    reduce_truth,
    reduce_arithmetic,
    reduce_rounding,
    reduce_cast,
    reduce_extreme,
    reduce_choice,
    reduce_bitwise,
    reduce_remainder,
    reduce_date,
    reduce_text,
)
"""The rules that define a condition exactly. The first that applies is used."""

ESTIMATES: tuple[Estimate, ...] = (estimate_library_call, estimate_position)
"""The rules that enclose a condition. The first that applies is used, where no reduction applies."""
