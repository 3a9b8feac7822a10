"""Facts between atoms that follow from what their terms are made of.

An atom on a compound term, such as ``plx * 2 < 10``, is the same set as a combination of atoms on the terms inside it:
``plx < 5``. An atom on an attribute that an SQL expression derives is the atom on the expression. Each step is a fact.
The atoms inside, which perhaps no criterion mentions, join the others before the facts of order are derived; so facts
of order between terms without anything in common in their texts follow.

Every fact holds whatever values the attributes have, also for objects outside the catalogs that define the attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from provenn import deadline
from provenn.criteria.atoms import Atom, ConditionSets
from provenn.criteria.domains import INFINITY
from provenn.criteria.expansion import MOST_PARTS, limit_expansion
from provenn.criteria.listed import choose_list_side
from provenn.criteria.nodes import ColumnNode, Condition, Junction, Leaf, Node
from provenn.criteria.ranges import Ranges
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeIdentity, DefinedAttribute
from provenn.criteria.writing import CANONICAL, identities_in, write
from provenn.errors import CriterionError
from provenn.logic import Statement, equal, subset
from provenn.logic.terms import Term, nothing, term
from provenn.sky import FUNCTIONS as REGIONS

__all__ = ["FindAttribute", "TermFact", "TermFacts", "derive_term_facts"]

FindAttribute = Callable[[AttributeIdentity], DefinedAttribute | None]
"""Returns an attribute by its identity; None if its type is unknown."""

_ATTRIBUTE = re.compile(r"`((?:[^`]|``)*)`")
_FUNCTION = re.compile(r"([a-z][a-z0-9_ ]*)\(")
_LONGEST_TERM = 20_000
"""The length in characters beyond which the text of a term is not read."""
_MOST_CUTS = 10_000
"""The number of values in a condition beyond which the condition stays opaque."""
_MOST_ATOMS = 1_000
"""The number of atoms beyond which the reduction of an atom ends."""


@dataclass(frozen=True, slots=True)
class TermFact:
    """A fact about an atom, from what its term is made of.

    Parameters
    ----------
    statement
        The fact: the atom equals, contains or lies in a set of other atoms.
    label
        The label of the atom.
    condition
        The condition of that set, over identities of attributes; empty if the set is no condition on attributes alone.
    """

    statement: Statement
    label: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class TermFacts:
    """Facts about atoms, the atoms that only these facts mention, and facts about the values of functions of a term."""

    facts: tuple[TermFact, ...] = ()
    atoms: tuple[Atom, ...] = ()
    relations: tuple[Statement, ...] = ()


def derive_term_facts(atoms: Iterable[Atom], find_attribute: FindAttribute) -> TermFacts:
    """Return the facts that reduce atoms to atoms on smaller terms, for the atoms of any number of criteria.

    Atoms on attributes of base catalogs cost nothing: nothing is parsed for them.

    Parameters
    ----------
    atoms
        The atoms.
    find_attribute
        Returns what is known of an attribute.
    """
    from provenn.criteria.periodic_facts import periodic_facts  # noqa: PLC0415 - most criteria compare attributes with constants
    from provenn.criteria.text_facts import text_facts  # noqa: PLC0415 - see above

    all_atoms = list(atoms)
    compound = {text for text in {atom.term for atom in all_atoms} if _is_compound(text)}
    if not compound:
        return TermFacts()
    known = {atom.label: atom for atom in all_atoms}
    # Each atom comes with the atom of a criterion for which it is there, which limits how many there are.
    queue = [(atom, atom.label) for atom in known.values() if atom.term in compound]
    facts: list[TermFact] = []
    added: dict[str, Atom] = {}
    counts: dict[str, int] = {}
    for atom, root in queue:  # grows meanwhile
        deadline.check()
        if counts.get(root, 0) > _MOST_ATOMS:
            continue
        for fact, inner_atoms in _reduce_atom(atom, find_attribute):
            facts.append(fact)
            new = [inner for inner in inner_atoms if inner.label not in known]
            counts[root] = counts.get(root, 0) + len(new)
            known.update((inner.label, inner) for inner in new)
            added.update((inner.label, inner) for inner in new)
            queue += [(inner, root) for inner in new if _is_compound(inner.term)]
    read_term = _TermReader(find_attribute).find_term
    relations = [*periodic_facts(known.values(), read_term), *text_facts(known.values(), read_term)]
    return TermFacts(tuple(facts), tuple(added.values()), tuple(relations))


def _is_compound(text: str) -> bool:
    """Tell whether a term may be made of others.

    An attribute of a base catalog is not. The identity of an attribute that is made of others is a hash, without a
    colon. A region of the sky is made of nothing but its position. Sets that no criterion makes, such as those of a
    match, have functions of their own.
    """
    function = _FUNCTION.match(text)
    if function is None and not _ATTRIBUTE.fullmatch(text):
        return True
    if function is not None and function[1] not in REGIONS:
        return function[1] in _list_functions()
    return any(":" not in identity for identity in identities_in(text))


@cache
def _list_functions() -> frozenset[str]:
    """Return the names of all functions in canonical texts."""
    from provenn.criteria.calls import list_functions  # noqa: PLC0415 - see above

    return frozenset(["compare", *list_functions()])


_Step = tuple[TermFact, Iterable[Atom]]


def _reduce_atom(atom: Atom, find_attribute: FindAttribute) -> Iterable[_Step]:
    """Return the facts that reduce an atom by one step, each with the atoms that the fact mentions."""
    terms = _TermReader(find_attribute)
    try:
        leaf = terms.read_atom(atom)
        if leaf is None:
            return ()
        attributes = [terms.get_attribute(identity) for identity in identities_in(atom.term)]
        with limit_expansion(MOST_PARTS):
            if any(attribute.expression for attribute in attributes):
                return list(_state_equality(atom, terms.substitute_expressions(leaf), terms))
            if any(attribute.pieces for attribute in attributes):
                return list(_expand_pieces(atom, leaf, attributes, terms))
            return list(_apply_rules(atom, leaf, terms))
    except (Refusal, CriterionError):
        return ()  # the condition would be too long, or cannot be read: the atom stays opaque


def _apply_rules(atom: Atom, leaf: Leaf, terms: _TermReader) -> Iterator[_Step]:
    """Yield the facts of the first rule that applies to an atom."""
    bounds = _find_bounds(leaf)
    if bounds is None:
        return
    if bounds[0] == bounds[1]:
        yield from _state_equality(atom, bounds[0], terms)
        return
    inside, around = (terms.build_set(condition) for condition in bounds)
    if inside is not None and inside[0] != nothing:
        yield TermFact(subset(inside[0], atom.label), atom.label, _write_condition(bounds[0])), inside[1]
    if around is not None and around[0] != ~nothing:
        yield TermFact(subset(atom.label, around[0]), atom.label, _write_condition(bounds[1])), around[1]


@lru_cache(maxsize=4_096)
def _find_bounds(leaf: Leaf) -> tuple[Condition, Condition] | None:
    """Return, by the first rule that applies, a condition inside a leaf and a condition around it; both may be equal.

    The answer depends on the leaf alone, so that later questions about the same criterion need no second search.
    """
    from provenn.criteria.reductions import ESTIMATES, REDUCTIONS  # noqa: PLC0415 - see above

    for reduce_term in REDUCTIONS:
        condition = reduce_term(leaf.term, leaf.where)
        if condition is not None:
            return condition, condition
    for estimate_term in ESTIMATES:
        bounds = estimate_term(leaf.term, leaf.where)
        if bounds is not None:
            return bounds
    return None


def _state_equality(atom: Atom, condition: Condition | None, terms: _TermReader) -> Iterator[_Step]:
    """Yield the fact that an atom is the set for which a condition is TRUE."""
    built = None if condition is None else terms.build_set(condition)
    if condition is not None and built is not None and built[0].label != atom.label:
        yield TermFact(equal(atom.label, built[0]), atom.label, _write_condition(condition)), built[1]


def _expand_pieces(
    atom: Atom, leaf: Leaf, attributes: Sequence[DefinedAttribute], terms: _TermReader
) -> Iterator[_Step]:
    """Yield the fact that an atom is, among the sources of each member of a concatenation, the atom of that member.

    Sources outside all members are no sources of the concatenation; for them the last member's attribute stands for
    the attribute, so that it has a value there as well, and every fact about values holds.
    """
    members = next(_list_members(attribute) for attribute in attributes if attribute.pieces)
    result: Term | None = None
    mentioned: list[Atom] = []
    for position in reversed(range(len(members))):
        replaced = {
            attribute.identity: attribute.pieces[position][1]
            for attribute in attributes
            if _list_members(attribute) == members
        }
        condition = terms.substitute_pieces(leaf, replaced)
        built = None if condition is None else terms.build_set(condition)
        if built is None:
            return
        mentioned += built[1]
        own = term(members[position])
        result = built[0] if result is None else (own & built[0]) | (result - own)
    if result is not None:
        yield TermFact(equal(atom.label, result), atom.label), mentioned


def _list_members(attribute: DefinedAttribute) -> tuple[str, ...]:
    return tuple(member for member, _ in attribute.pieces)


class _TermReader:
    """Read terms from their canonical text, with the attributes that an archive knows."""

    def __init__(self, find_attribute: FindAttribute) -> None:
        self._find_attribute = find_attribute

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

    def build_set(self, condition: Condition) -> tuple[Term, Iterable[Atom]] | None:
        """Return the set for which a condition is TRUE, and its atoms; None if the condition is too large."""
        if sum(len(leaf.where.cuts) for leaf in _list_leaves(condition)) > _MOST_CUTS:
            return None
        if self._check_readable(condition) is None:
            return None
        sets = ConditionSets(_LONGEST_TERM)
        return sets.build_true_set(condition), sets.collect_atoms(condition).values()

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


def _write_condition(condition: Condition) -> str:
    """Return a condition over identities, with NaN left out by ``NOT isnan``, and not as the end of a range."""
    match condition:
        case Leaf(term=node, where=where) if node.type in INFINITY and where.cuts[-1:] == (INFINITY[node.type] + 1,):
            others = Ranges(where.first, where.cuts[:-1])
            if others.cuts and INFINITY[node.type] in others:
                text = write(Leaf(node, others, None), CANONICAL)
                either = f"({text})" if " OR " in text else text
                return f"{either} AND NOT isnan({write(node, CANONICAL)})"
    return write(condition, CANONICAL)


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
