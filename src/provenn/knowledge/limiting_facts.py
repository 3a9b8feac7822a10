"""The facts that can limit some sets: facts that other sets have objects are left out.

Every counted catalog leaves the fact that it has sources. Such a fact only states that some region holds an object. It
never helps to prove that a set is empty, nor a relation that states so of a region, such as subset: if some world
fulfils the remaining facts but not the conclusion, an object can be added to the world in each of the stated regions.
The added objects fulfil all that limits objects, because the facts have no conflict; so the larger world still fulfils
every remaining fact, and what it held before still contradicts the conclusion. Nor do such facts contradict each other:
a conflict needs one of them at most, with facts that exclude objects.

All this holds as long as no fact offers a choice, such as "A is empty, or B has objects". With a choice, nothing is
left out. To leave out facts is sound in any case.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from provenn.digests import CatalogDigest
from provenn.knowledge.stored_facts import Fact, excludes_objects
from provenn.logic.statements import Property, SetComparison

__all__ = ["find_limiting_facts"]


def find_limiting_facts(facts: Sequence[Fact], catalogs: Collection[CatalogDigest]) -> Sequence[Fact]:
    """Return the facts that can limit catalogs, and all facts that are about no others.

    Parameters
    ----------
    facts
        All facts bearing on the catalogs.
    catalogs
        The catalogs in question.
    """
    if not all(isinstance(fact.statement, SetComparison | Property) for fact in facts):
        return facts
    own = frozenset(catalogs)
    return [fact for fact in facts if excludes_objects(fact.statement) or own.issuperset(fact.catalogs)]
