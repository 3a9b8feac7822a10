"""Reading the terms of atoms from their canonical texts, and replacing derived attributes in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from provenn import deadline
from provenn.criteria.atoms import Atom, ConditionSets
from provenn.criteria.listed import choose_list_side
from provenn.criteria.nodes import ColumnNode, Condition, Junction, Leaf, Node
from provenn.criteria.ranges import Ranges
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeIdentity, DefinedAttribute
from provenn.criteria.writing import CANONICAL, identities_in, write
from provenn.errors import CriterionError
from provenn.logic.terms import Term

__all__ = ["FindAttribute", "TermReader"]

FindAttribute = Callable[[AttributeIdentity], DefinedAttribute | None]
"""Returns an attribute by its identity; None if its type is unknown."""

_LONGEST_TERM = 20_000
"""The length in characters beyond which the text of a term is not read."""

_MOST_CUTS = 10_000
"""The number of values in a condition beyond which the condition stays opaque."""


class TermReader:
    """Read terms from their canonical text, with the attributes known to an archive."""

    def __init__(self, find_attribute: FindAttribute) -> None:
        self._find_attribute = find_attribute
        self._levels: dict[AttributeIdentity, int] = {}
        self._expanded: dict[tuple[AttributeIdentity, int], Node] = {}

    def get_attribute(self, identity: AttributeIdentity) -> DefinedAttribute:
        """Return an attribute; refuse an attribute of unknown type."""
        attribute = self._find_attribute(identity)
        if attribute is None:
            raise Refusal(f"the type of {identity} is not known")
        return attribute

    def read_term(self, text: str, label: str = "") -> Node:
        """Return the node with a canonical text; refuse a text that differs from the canonical text of its node."""
        if len(text) > _LONGEST_TERM:
            raise Refusal("the term is too long")
        attributes = tuple(map(self.get_attribute, identities_in(text)))
        node = _read_comparison(label, attributes) if text.startswith("compare(") else _read_node(text, attributes)
        if write(node, CANONICAL) != text:
            raise Refusal("the term has another canonical text")
        return node

    def find_term(self, atom: Atom) -> Node | None:
        """Return the term of an atom, or None if it cannot be read."""
        try:
            return self.read_term(atom.term, atom.label)
        except (Refusal, CriterionError):
            return None

    def read_atom(self, atom: Atom) -> Leaf | None:
        """Return the condition of an atom; None if the atom is no condition on a term."""
        node = self.read_term(atom.term, atom.label)
        if atom.cut is None:
            leaf = Leaf(node, Ranges(True), at_null=False)
        elif isinstance(atom.cut, tuple):
            leaf = Leaf(node, choose_list_side(Ranges(False, atom.cut)), None)
        else:
            leaf = Leaf(node, Ranges(True, (atom.cut,)), None)
        return leaf if write(leaf, CANONICAL) == atom.label else None

    def substitute_expressions(self, leaf: Leaf) -> Condition | None:
        """Return a condition with the expressions of derived attributes in the place of these attributes."""
        from provenn.criteria.substitution import substitute_columns  # noqa: PLC0415 - see above

        replaced = {}
        for identity in identities_in(write(leaf.term, CANONICAL)):
            attribute = self.get_attribute(identity)
            if attribute.expression:
                node = self.read_term(attribute.expression)
                if node.type != attribute.type:
                    return None
                replaced[identity] = node
        return self._check_readable(substitute_columns(leaf, replaced))

    def substitute_nodes(self, leaf: Leaf, nodes: Mapping[AttributeIdentity, Node]) -> Condition | None:
        """Return a condition with nodes in the place of attributes; None if it cannot be read."""
        from provenn.criteria.substitution import substitute_columns  # noqa: PLC0415 - see above

        return self._check_readable(substitute_columns(leaf, nodes))

    def count_levels(self, identity: AttributeIdentity) -> int:
        """Return how many derived attributes lie on the longest way down from a derived attribute, itself included.

        Raises
        ------
        Refusal
            If the type of an attribute is not known.
        """
        waiting = [identity]
        while waiting:
            deadline.check()
            inner = self._list_derived(waiting[-1])
            missing = [name for name in inner if name not in self._levels]
            if missing:
                waiting += missing
            else:
                self._levels[waiting.pop()] = 1 + max((self._levels[name] for name in inner), default=0)
        return self._levels[identity]

    def expand_attribute(self, identity: AttributeIdentity, levels: int) -> Node:
        """Return the expression of a derived attribute, with the expressions of underlying attributes.

        Parameters
        ----------
        identity
            The identity of the attribute.
        levels
            How many expressions may be inside one another.

        Raises
        ------
        Refusal
            If the expression is too long, or has another type than the attribute.
        """
        waiting = [(identity, min(levels, self.count_levels(identity)))]
        first = waiting[0]
        while waiting:
            deadline.check()
            name, most = waiting[-1]
            inner = self._list_derived(name) if most > 1 else []
            wanted = {other: (other, min(most - 1, self._levels[other])) for other in inner}
            missing = [key for key in wanted.values() if key not in self._expanded]
            if missing:
                waiting += missing
                continue
            self._expanded[waiting.pop()] = self._replace_inner(
                name, {other: self._expanded[key] for other, key in wanted.items()}
            )
        return self._expanded[first]

    def _list_derived(self, identity: AttributeIdentity) -> list[AttributeIdentity]:
        """Return the derived attributes in the expression of a derived attribute."""
        text = self.get_attribute(identity).expression
        return [name for name in identities_in(text) if self.get_attribute(name).expression]

    def _replace_inner(self, identity: AttributeIdentity, nodes: Mapping[AttributeIdentity, Node]) -> Node:
        """Return the expression of an attribute with nodes in the place of attributes."""
        from provenn.criteria.substitution import substitute_in_node  # noqa: PLC0415 - see above

        attribute = self.get_attribute(identity)
        node = self.read_term(attribute.expression)
        if node.type != attribute.type:
            raise Refusal(f"the expression of {identity} has another type")
        replaced = substitute_in_node(node, nodes)
        if len(write(replaced, CANONICAL)) > _LONGEST_TERM:
            raise Refusal("the expression is too long")
        return replaced

    def substitute_pieces(
        self, leaf: Leaf, replaced: Mapping[AttributeIdentity, AttributeIdentity]
    ) -> Condition | None:
        """Return a condition with attributes of a member in the place of the attributes of a concatenation."""
        from provenn.criteria.substitution import substitute_columns  # noqa: PLC0415 - see above

        nodes: dict[AttributeIdentity, Node] = {}
        for identity, other in replaced.items():
            attribute = self.get_attribute(other)
            if attribute.type != self.get_attribute(identity).type:
                return None
            nodes[identity] = ColumnNode(attribute.identity, attribute.type, attribute.nullable, identity, None)
        return self._check_readable(substitute_columns(leaf, nodes))

    def build_set(self, condition: Condition) -> tuple[Term, Sequence[Atom]] | None:
        """Return the set where a condition is TRUE, and the atoms; None if the condition is too large."""
        if sum(len(leaf.where.cuts) for leaf in _list_leaves(condition)) > _MOST_CUTS:
            return None
        if self._check_readable(condition) is None:
            return None
        sets = ConditionSets(_LONGEST_TERM)
        return sets.build_true_set(condition), tuple(sets.collect_atoms(condition).values())

    def _check_readable(self, condition: Condition) -> Condition | None:
        """Return a condition if reading the canonical text of each term gives the term again; otherwise None.

        A label is its text: two different sets must never have the same text.
        """
        for leaf in _list_leaves(condition):
            if not isinstance(leaf.term, ColumnNode):
                label = write(Leaf(leaf.term, leaf.where, None), CANONICAL)
                if self.read_term(write(leaf.term, CANONICAL), label) != leaf.term:
                    return None
        return condition


def _list_leaves(condition: Condition) -> list[Leaf]:
    """Return the leaves of a condition."""
    match condition:
        case Leaf():
            return [condition]
        case Junction(_, parts):
            return [leaf for part in parts for leaf in _list_leaves(part)]
    return []


@lru_cache(maxsize=4_096)
def _read_node(text: str, attributes: tuple[DefinedAttribute, ...]) -> Node:
    from provenn.criteria.reader import read_node  # noqa: PLC0415 - imports sqlglot

    return read_node(text, {attribute.identity: attribute for attribute in attributes}, canonical=True)


@lru_cache(maxsize=4_096)
def _read_comparison(label: str, attributes: tuple[DefinedAttribute, ...]) -> Node:
    """Return the comparison of two terms in the label of an atom: the comparison has no text of its own in SQL."""
    from provenn.criteria.reader import read_condition  # noqa: PLC0415 - as above

    condition = read_condition(label, {attribute.identity: attribute for attribute in attributes}, canonical=True)
    if not isinstance(condition, Leaf):
        raise Refusal("the label is no comparison")
    return condition.term
