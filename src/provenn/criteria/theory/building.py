"""Build the theory of criteria, if any criterion needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from provenn.criteria.atoms import Atom
from provenn.criteria.schema import AttributeIdentity, AttributeLike
from provenn.criteria.theory.linked_labels import compares_terms
from provenn.criteria.writing import identities_in

if TYPE_CHECKING:
    from provenn.criteria.theory.refuting import CriterionTheory

__all__ = ["build_theory"]


def build_theory(
    atoms: Iterable[Atom], find_attribute: Callable[[AttributeIdentity], AttributeLike | None]
) -> CriterionTheory | None:
    """Return the theory of the atoms that can have consequences beyond `order_facts`, or None if there are none.

    Parameters
    ----------
    atoms
        The atoms of any number of criteria.
    find_attribute
        Returns an attribute by its identity, or None if its type is unknown. An atom with such an attribute is ignored.
    """
    labels = list(dict.fromkeys(atom.label for atom in atoms))
    linked = {identity for label in labels if compares_terms(label) for identity in identities_in(label)}
    if not linked:
        return None
    from provenn.criteria.theory.refuting import CriterionTheory  # noqa: PLC0415 - most archives do not need it

    return CriterionTheory((label for label in labels if not linked.isdisjoint(identities_in(label))), find_attribute)
