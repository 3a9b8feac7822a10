"""Conditions as sets: terms over atom labels, and the facts that order the atoms.

An atom is a set that is not made of smaller ones: a cut ``t < v``, the sources for which a term is not NULL, those
for which an opaque condition is TRUE. Its label is its criterion in canonical text, so that the same set has the same
label in every criterion, whoever writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from provenn.criteria.conditions import negated, nullable
from provenn.criteria.domains import Key
from provenn.criteria.listed import LONGEST_SPLIT, list_facts, listed_side
from provenn.criteria.nodes import Call, Condition, Constant, Junction, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.writing import CANONICAL, write
from provenn.logic import Statement, subset
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = ["Atom", "atoms_of", "order_facts", "true_set"]

_everything = ~nothing


@dataclass(frozen=True, slots=True)
class Atom:
    """One set of which criteria are made.

    Parameters
    ----------
    label
        Its criterion in canonical text.
    term
        The canonical text of the term whose value decides it.
    cut
        The key below which that value lies; the keys at which one enters and leaves a long list of values, walking
        upwards from outside; None for the sources where it is not NULL.
    inside
        Sets that it lies in, whatever the sources are.
    """

    label: str
    term: str
    cut: Key | tuple[Key, ...] | None
    inside: tuple[Term, ...]


def true_set(condition: Condition) -> Term:
    """Return the set of the sources for which a condition is TRUE."""
    match condition:
        case Truth(value):
            return _everything if value else nothing
        case Junction(operator, parts):
            return _chained(Op.AND if operator == "AND" else Op.OR, map(true_set, parts))
        case Leaf(node, where, at_null):
            inside = _listed(node, where) if _is_long(where) else [_interval(node, *ends) for ends in where.intervals()]
            if at_null:
                inside.append(_complement(_present(node)))
            return _chained(Op.OR, inside)


def _interval(node: Node, low: Key | None, high: Key | None) -> Term:
    upper = _present(node) if high is None else term(_cut_label(node, high))
    if low is None:
        return upper
    lower = term(_cut_label(node, low))
    return _complement(lower) if upper == _everything else upper - lower


def _is_long(where: Ranges) -> bool:
    return len(where.cuts) > LONGEST_SPLIT


def _listed(node: Node, where: Ranges) -> list[Term]:
    """Return the set of a long list of values, or what is left without it."""
    listed = term(_list_label(node, where))
    if not where.first:
        return [listed]
    present = _present(node)
    return [_complement(listed) if present == _everything else present - listed]


def _list_label(node: Node, where: Ranges) -> str:
    return write(Leaf(node, listed_side(where), None), CANONICAL)


def _present(node: Node) -> Term:
    """Return the set of the sources for which a node is not NULL."""
    match node:
        case _ if not nullable(node):
            return _everything
        case Constant():
            return nothing
        case Test(condition):
            return _chained(Op.OR, [true_set(condition), true_set(negated(condition))])
        case Call(nulls=Nulls.ANY):
            return _chained(Op.AND, map(_present, node.arguments))
        case Call(nulls=Nulls.ALL):
            return _chained(Op.OR, map(_present, node.arguments))
    return term(_present_label(node))


def _cut_label(node: Node, cut: Key) -> str:
    return write(Leaf(node, Ranges(True, (cut,)), None), CANONICAL)


def _present_label(node: Node) -> str:
    return write(Leaf(node, Ranges(True), at_null=False), CANONICAL)


def _complement(one: Term) -> Term:
    return nothing if one == _everything else _everything if one == nothing else ~one


def _chained(op: Op, parts: Iterable[Term]) -> Term:
    """Join terms; what changes nothing is left out."""
    absorbing, neutral = (nothing, _everything) if op is Op.AND else (_everything, nothing)
    kept = dict.fromkeys(part for part in parts if part != neutral)
    if absorbing in kept:
        return absorbing
    return chain(op, tuple(kept)) if kept else neutral


def atoms_of(condition: Condition) -> Iterator[Atom]:
    """Yield the atoms of a condition, of its TRUE and of its FALSE set; some more than once."""
    match condition:
        case Junction(_, parts):
            for part in parts:
                yield from atoms_of(part)
        case Leaf(node, where, _):
            text = write(node, CANONICAL)
            if _is_long(where):
                yield Atom(_list_label(node, where), text, where.cuts, (_present(node),))
            else:
                for cut in where.cuts:
                    yield Atom(_cut_label(node, cut), text, cut, (_present(node),))
            yield from _presence_atoms(node)


def _presence_atoms(node: Node) -> Iterator[Atom]:
    """Yield the atoms of which the set where a node is not NULL is made."""
    match node:
        case _ if not nullable(node):
            return
        case Test(condition):
            yield from atoms_of(condition)
        case Call(nulls=Nulls.ANY | Nulls.ALL):
            for argument in node.arguments:
                yield from _presence_atoms(argument)
        case _:
            yield Atom(_present_label(node), write(node, CANONICAL), None, tuple(_needed(node)))


def _needed(node: Node) -> Iterator[Term]:
    """Yield the sets outside which a node is NULL: where its arguments, and theirs in turn, are."""
    if isinstance(node, Call) and node.nulls in (Nulls.ANY, Nulls.ANY_OR_FAILED):
        for argument in node.arguments:
            yield from _needed(argument)
            if not (isinstance(argument, Call) and argument.nulls is Nulls.ANY):
                yield _present(argument)


def order_facts(atoms: Iterable[Atom]) -> tuple[Statement, ...]:
    """Return all that is known of a collection of atoms, from any number of criteria.

    The cuts of a term are nested, and lie where the term is not NULL; a term lies there only where its arguments do.
    Each fact is ``lower <= upper``; its lower side is one label, which no other fact has for its lower side and no
    earlier fact mentions. Facts about long lists of values follow those about the cuts of their term, see `list_facts`.
    """
    known = {atom.label: atom for atom in atoms}
    by_term: dict[str, list[Atom]] = {}
    for atom in known.values():
        by_term.setdefault(atom.term, []).append(atom)
    facts: list[Statement] = []
    # A term is longer than those inside it, so that they come first.
    for text in sorted(by_term, key=lambda text: (len(text), text)):
        present = [atom for atom in by_term[text] if atom.cut is None]
        lists = {atom.label: atom.cut for atom in by_term[text] if isinstance(atom.cut, tuple)}
        cuts = [atom for atom in by_term[text] if atom.cut is not None and atom.label not in lists]
        cuts.sort(key=lambda atom: atom.cut, reverse=True)  # type: ignore[arg-type, return-value] # one term's keys are of one type
        upper: Term | None = None
        for atom in (*present, *cuts):
            if atom.cut is None or upper is None:
                parts = (part for part in atom.inside if known.keys() >= set(part.labels))
                around = _chained(Op.AND, parts)
            else:
                around = upper
            if around != _everything:
                facts.append(subset(atom.label, around))
            upper = term(atom.label) if atom.cut is not None else None
        if lists:
            (within,) = known[next(iter(lists))].inside
            edges = {atom.cut: atom.label for atom in cuts}
            facts += list_facts(edges, lists, within if known.keys() >= set(within.labels) else None)  # type: ignore[arg-type] # as above
    return tuple(facts)
