"""Facts between atoms, from the structure of their terms.

An atom on a compound term, like ``plx * 2 < 10``, is the same set as a combination of atoms on the inner terms: ``plx <
5``. An atom on an attribute derived by an SQL expression is the atom on the expression. Each step is a fact. The inner
atoms, perhaps in no criterion, join the given atoms before the facts of order are derived; so facts of order between
terms without anything in common in their texts follow.

Every fact holds whatever values the attributes have, also for objects outside the catalogs that define the attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from provenn import deadline
from provenn.criteria.atoms import Atom
from provenn.criteria.domains import INFINITY
from provenn.criteria.expansion import MOST_PARTS, limit_expansion
from provenn.criteria.nodes import Condition, Leaf
from provenn.criteria.ranges import Ranges
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeIdentity, DefinedAttribute
from provenn.criteria.term_reading import FindAttribute, TermReader
from provenn.criteria.writing import CANONICAL, identities_in, write
from provenn.errors import CriterionError
from provenn.logic import Statement, equal, subset
from provenn.logic.terms import Term, nothing, term
from provenn.sky import FUNCTIONS as REGIONS

__all__ = ["TermFact", "TermFacts", "derive_term_facts"]

_ATTRIBUTE = re.compile(r"`((?:[^`]|``)*)`")
_FUNCTION = re.compile(r"([a-z][a-z0-9_ ]*)\(")
_MOST_ATOMS = 1_000
"""The number of atoms beyond which the reduction of an atom ends."""


@dataclass(frozen=True, slots=True)
class TermFact:
    """A fact about an atom, from the structure of the term.

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
    """Return the facts for reducing atoms to atoms on smaller terms, for the atoms of any number of criteria.

    Atoms on attributes of base catalogs cost nothing: nothing is parsed for them.

    Parameters
    ----------
    atoms
        The atoms.
    find_attribute
        Returns what is known of an attribute.
    """
    all_atoms = list(atoms)
    compound = {text for text in {atom.term for atom in all_atoms} if _is_compound(text)}
    if not compound:
        return TermFacts()
    from provenn.criteria.periodic_facts import periodic_facts  # noqa: PLC0415 - most criteria compare attributes with constants
    from provenn.criteria.text_facts import text_facts  # noqa: PLC0415 - see above

    known = {atom.label: atom for atom in all_atoms}
    # Each atom comes with the atom of a criterion for which it is there, which limits how many there are.
    queue = [(atom, atom.label) for atom in known.values() if atom.term in compound]
    facts: list[TermFact] = []
    added: dict[str, Atom] = {}
    counts: dict[str, int] = {}
    terms = TermReader(find_attribute)
    for atom, root in queue:  # grows meanwhile
        deadline.check()
        if counts.get(root, 0) > _MOST_ATOMS:
            continue
        for fact, inner_atoms in _reduce_atom(atom, terms):
            facts.append(fact)
            new = [inner for inner in inner_atoms if inner.label not in known]
            counts[root] = counts.get(root, 0) + len(new)
            known.update((inner.label, inner) for inner in new)
            added.update((inner.label, inner) for inner in new)
            queue += [(inner, root) for inner in new if _is_compound(inner.term)]
    relations = [*periodic_facts(known.values(), terms.find_term), *text_facts(known.values(), terms.find_term)]
    return TermFacts(tuple(facts), tuple(added.values()), tuple(relations))


def _is_compound(text: str) -> bool:
    """Tell whether a term may be composite.

    An attribute of a base catalog is not composite. The identity of a composite attribute is a hash, without a colon;
    read through references, the hash is at the end of a path. A region of the sky is made of nothing but its position.
    Sets that no criterion makes, such as those of a match, have functions of their own.
    """
    function = _FUNCTION.match(text)
    if function is None and not _ATTRIBUTE.fullmatch(text):
        return True
    if function is not None and function[1] not in REGIONS:
        return function[1] in _list_functions()
    return any(map(_is_made, identities_in(text)))


def _is_made(identity: AttributeIdentity) -> bool:
    """Tell whether an attribute may be composite, by identity."""
    return ":" not in (identity.rpartition(",")[2] if identity.startswith("via:") else identity)


@cache
def _list_functions() -> frozenset[str]:
    """Return the names of all functions in canonical texts."""
    from provenn.criteria.calls import list_functions  # noqa: PLC0415 - see above

    return frozenset(["compare", *list_functions()])


_Step = tuple[TermFact, Sequence[Atom]]


def _reduce_atom(atom: Atom, terms: TermReader) -> Iterable[_Step]:
    """Return the facts for reducing an atom by a single step, each with the atoms mentioned in the fact."""
    try:
        attributes = [terms.get_attribute(identity) for identity in identities_in(atom.term)]
        if not any(attribute.expression or attribute.pieces for attribute in attributes):
            return _reduce_plain_atom(atom, tuple(attributes))
        leaf = terms.read_atom(atom)
        if leaf is None:
            return ()
        derived = [attribute for attribute in attributes if attribute.expression]
        expanded = _expand_derived(atom, leaf, derived, terms)
        if expanded:
            return expanded
        with limit_expansion(MOST_PARTS):
            if derived:
                return list(_state_equality(atom, terms.substitute_expressions(leaf), terms))
            return list(_expand_pieces(atom, leaf, attributes, terms))
    except (Refusal, CriterionError):
        return ()  # the condition would be too long, or cannot be read: the atom stays opaque


@lru_cache(maxsize=4_096)
def _reduce_plain_atom(atom: Atom, attributes: tuple[DefinedAttribute, ...]) -> Sequence[_Step]:
    """Return the facts that reduce an atom on attributes that are made of no others.

    They depend on these alone. Every plan meets the criteria of all facts about the same base catalogs again.
    """
    terms = TermReader({attribute.identity: attribute for attribute in attributes}.get)
    try:
        leaf = terms.read_atom(atom)
        with limit_expansion(MOST_PARTS):
            return () if leaf is None else tuple(_apply_rules(atom, leaf, terms))
    except (Refusal, CriterionError):
        return ()


def _expand_derived(atom: Atom, leaf: Leaf, derived: Sequence[DefinedAttribute], terms: TermReader) -> Sequence[_Step]:
    """Return the fact that reduces an atom on attributes derived from derived ones as far as possible; or nothing.

    A chain of n derived attributes would otherwise take n facts for each atom, with n atoms in between. Nothing is lost
    without these: another criterion with the same set as one in between is reduced to the same set in the end. What
    cannot be read after some replacements cannot be read after more of them: they only make its attributes longer.
    """
    levels = max((terms.count_levels(attribute.identity) for attribute in derived), default=1)
    if levels == 1:
        return ()
    best: Sequence[_Step] = ()
    low, high, tried = 1, levels + 1, levels  # `low` levels can be read, `high` levels cannot
    while low < tried < high:
        steps = _expand_levels(atom, leaf, derived, terms, tried)
        if steps:
            best, low = steps, tried
        else:
            high = tried
        tried = (low + high) // 2
    return best


def _expand_levels(
    atom: Atom, leaf: Leaf, derived: Sequence[DefinedAttribute], terms: TermReader, levels: int
) -> Sequence[_Step]:
    """Return the fact that reduces an atom by several levels of derived attributes; nothing if it would be too long."""
    try:
        with limit_expansion(MOST_PARTS):
            nodes = {attribute.identity: terms.expand_attribute(attribute.identity, levels) for attribute in derived}
            return list(_state_equality(atom, terms.substitute_nodes(leaf, nodes), terms))
    except (Refusal, CriterionError):
        return ()


def _apply_rules(atom: Atom, leaf: Leaf, terms: TermReader) -> Iterator[_Step]:
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


def _state_equality(atom: Atom, condition: Condition | None, terms: TermReader) -> Iterator[_Step]:
    """Yield the fact that an atom is the set where a condition is TRUE."""
    built = None if condition is None else terms.build_set(condition)
    if condition is not None and built is not None and built[0].label != atom.label:
        yield TermFact(equal(atom.label, built[0]), atom.label, _write_condition(condition)), built[1]


def _expand_pieces(
    atom: Atom, leaf: Leaf, attributes: Sequence[DefinedAttribute], terms: TermReader
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
