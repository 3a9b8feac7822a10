"""Interpret conditions as sets: terms over atom labels, and the facts about the order of atoms.

An atom is a set not composed of smaller sets: a cut ``t < v``, the sources where a term is not NULL, or the sources
where an opaque condition is TRUE. The label of an atom is the criterion in canonical text. So the same set has the same
label in every criterion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from provenn import deadline
from provenn.criteria.conditions import is_nullable, negate_condition
from provenn.criteria.domains import Key
from provenn.criteria.listed import LONGEST_SPLIT, choose_list_side, derive_list_facts
from provenn.criteria.nodes import Call, Condition, Constant, Junction, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.refusal import Refusal
from provenn.criteria.writing import CANONICAL, write
from provenn.logic import Statement, subset
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = ["Atom", "ConditionSets", "order_facts"]

_everything = ~nothing

_FREE_CHARACTERS = 10_000_000
"""The maximum total length of a criterion's atom labels, in characters, beyond ten times the criterion's own length."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A basic set, used to compose the sets of criteria.

    Parameters
    ----------
    label
        The criterion of the atom in canonical text.
    term
        The canonical text of the term whose value decides membership.
    cut
        The key below which the term's value lies. For a long list of values: the keys at which a walk upwards, which
        starts outside the list, enters and leaves the list. None for the sources where the term is not NULL.
    inside
        Sets that contain the atom, for all possible data.
    """

    label: str
    term: str
    cut: Key | tuple[Key, ...] | None
    inside: tuple[Term, ...]


class ConditionSets:
    """Convert conditions to sets.

    Results are cached per part, because conditions share and repeat parts.

    Parameters
    ----------
    length
        The length of the criterion's canonical text in characters.
    """

    def __init__(self, length: int) -> None:
        self._character_limit = _FREE_CHARACTERS + 10 * length
        self._true: dict[Condition, Term] = {}
        self._present: dict[Node, Term] = {}
        self._characters = 0

    def build_true_set(self, condition: Condition) -> Term:
        """Return the set of the sources where a condition is TRUE."""
        match condition:
            case Truth(value):
                return _everything if value else nothing
            case _ if condition in self._true:
                return self._true[condition]
            case Junction(operator, parts):
                result = _join_terms(Op.AND if operator == "AND" else Op.OR, map(self.build_true_set, parts))
            case Leaf(node, where, at_null):
                result = self._build_leaf_set(node, where, at_null)
        self._true[condition] = result
        return result

    def _build_leaf_set(self, node: Node, where: Ranges, at_null: bool | None) -> Term:
        """Return the set of the sources where a leaf is TRUE."""
        if _is_long(where):
            inside = self._build_list_set(node, where)
        else:
            inside = [self._build_interval(node, *ends) for ends in where.intervals()]
        if at_null:
            inside.append(_complement_term(self.build_present_set(node)))
        return _join_terms(Op.OR, inside)

    def _build_interval(self, node: Node, low: Key | None, high: Key | None) -> Term:
        """Return the set where a node lies from `low` (inclusive) to `high` (exclusive); None is unbounded."""
        upper = self.build_present_set(node) if high is None else term(_write_cut_label(node, high))
        if low is None:
            return upper
        lower = term(_write_cut_label(node, low))
        return _complement_term(lower) if upper == _everything else upper - lower

    def _build_list_set(self, node: Node, where: Ranges) -> list[Term]:
        """Return the set of a long list of values, or of the values outside the list."""
        listed = term(_write_list_label(node, where))
        if not where.first:
            return [listed]
        present = self.build_present_set(node)
        return [_complement_term(listed) if present == _everything else present - listed]

    def build_present_set(self, node: Node) -> Term:
        """Return the set of the sources where a node is not NULL."""
        result = self._present.get(node)
        if result is None:
            deadline.check()
            result = self._present[node] = self._compute_present_set(node)
        return result

    def _compute_present_set(self, node: Node) -> Term:
        """Compute the set of the sources where a node is not NULL, without the cache."""
        match node:
            case _ if not is_nullable(node):
                return _everything
            case Constant():
                return nothing
            case Test(condition):
                return _join_terms(
                    Op.OR, [self.build_true_set(condition), self.build_true_set(negate_condition(condition))]
                )
            case Call(nulls=Nulls.ANY):
                return _join_terms(Op.AND, map(self.build_present_set, node.arguments))
            case Call(nulls=Nulls.ALL):
                return _join_terms(Op.OR, map(self.build_present_set, node.arguments))
        return term(_write_present_label(node))

    def collect_atoms(self, root: Condition) -> dict[str, Atom]:
        """Return the atoms of the TRUE and FALSE sets of a condition, by label.

        Raises
        ------
        Refusal
            If the texts of the atoms exceed the length that an archive should hold.
        """
        atoms: dict[str, Atom] = {}
        seen: set[Node | Condition] = set()
        stack: list[Node | Condition] = [root]
        while stack:
            part = stack.pop()
            if part in seen:
                continue
            seen.add(part)
            deadline.check()
            match part:
                case Junction(_, parts):
                    stack.extend(parts)
                case Leaf(node, where, _):
                    for atom in self._build_cut_atoms(node, where):
                        self._count_characters(atom)
                        atoms[atom.label] = atom
                    stack.append(node)
                case Truth():
                    pass
                case _ if not is_nullable(part):
                    pass
                case Test(condition):
                    stack.append(condition)
                case Call(nulls=Nulls.ANY | Nulls.ALL):
                    stack.extend(part.arguments)
                case _:
                    atom = Atom(
                        _write_present_label(part), write(part, CANONICAL), None, tuple(self._find_needed_sets(part))
                    )
                    self._count_characters(atom)
                    atoms[atom.label] = atom
        return atoms

    def _build_cut_atoms(self, node: Node, where: Ranges) -> Iterator[Atom]:
        """Yield an atom for each cut of a leaf, or a single atom for a long list."""
        text = write(node, CANONICAL)
        if _is_long(where):
            yield Atom(_write_list_label(node, where), text, where.cuts, (self.build_present_set(node),))
        else:
            for cut in where.cuts:
                yield Atom(_write_cut_label(node, cut), text, cut, (self.build_present_set(node),))

    def _count_characters(self, atom: Atom) -> None:
        """Add the characters of an atom in a stored definition; refuse the criterion beyond the limit."""
        texts = [
            atom.label,
            atom.term,
            *(label for part in atom.inside for label in part.postfix if isinstance(label, str)),
        ]
        self._characters += sum(map(len, texts))
        if self._characters > self._character_limit:
            raise Refusal(
                f"the sets in this expression take more than {self._character_limit:,} characters to write",
                "split it into several selections, or derive the longest part as an attribute",
            )

    def _find_needed_sets(self, node: Node) -> Iterator[Term]:
        """Yield the sets outside which a node is NULL.

        These are the sets where the node's arguments, and recursively their arguments, are present.
        """
        if isinstance(node, Call) and node.nulls in (Nulls.ANY, Nulls.ANY_OR_FAILED):
            for argument in node.arguments:
                yield from self._find_needed_sets(argument)
                if not (isinstance(argument, Call) and argument.nulls is Nulls.ANY):
                    yield self.build_present_set(argument)


def _is_long(where: Ranges) -> bool:
    """Tell whether ranges have enough cuts to form a list."""
    return len(where.cuts) > LONGEST_SPLIT


def _write_list_label(node: Node, where: Ranges) -> str:
    return write(Leaf(node, choose_list_side(where), None), CANONICAL)


def _write_cut_label(node: Node, cut: Key) -> str:
    return write(Leaf(node, Ranges(True, (cut,)), None), CANONICAL)


def _write_present_label(node: Node) -> str:
    return write(Leaf(node, Ranges(True), at_null=False), CANONICAL)


def _complement_term(operand: Term) -> Term:
    """Return the complement of a term, simplified for the empty set and the universe."""
    return nothing if operand == _everything else _everything if operand == nothing else ~operand


def _join_terms(op: Op, parts: Iterable[Term]) -> Term:
    """Join terms by an operator, without the terms irrelevant to the result."""
    absorbing, neutral = (nothing, _everything) if op is Op.AND else (_everything, nothing)
    kept = dict.fromkeys(part for part in parts if part != neutral)
    if absorbing in kept:
        return absorbing
    return chain(op, tuple(kept)) if kept else neutral


def order_facts(atoms: Iterable[Atom]) -> tuple[Statement, ...]:
    """Return all facts about a collection of atoms, from any number of criteria.

    The cuts of a term are nested, and lie where the term is not NULL; a term is not NULL only where its arguments are
    not NULL. Each fact is ``lower <= upper``. The lower side is a single label: no other fact has this label as the
    lower side, and no earlier fact mentions the label. Facts about long lists of values follow the facts about the cuts
    of their term, see `derive_list_facts`.
    """
    known = {atom.label: atom for atom in atoms}
    by_term: dict[str, list[Atom]] = {}
    for atom in known.values():
        by_term.setdefault(atom.term, []).append(atom)
    facts: list[Statement] = []
    # A term is longer than the terms inside it, so that inner terms come first.
    for text in sorted(by_term, key=lambda text: (len(text), text)):
        present = [atom for atom in by_term[text] if atom.cut is None]
        lists = {atom.label: atom.cut for atom in by_term[text] if isinstance(atom.cut, tuple)}
        cuts = [atom for atom in by_term[text] if atom.cut is not None and atom.label not in lists]
        cuts.sort(key=lambda atom: atom.cut, reverse=True)  # type: ignore[arg-type, return-value] # the keys of a term have a single type
        upper: Term | None = None
        for atom in (*present, *cuts):
            if atom.cut is None or upper is None:
                parts = (part for part in atom.inside if known.keys() >= set(part.labels))
                around = _join_terms(Op.AND, parts)
            else:
                around = upper
            if around != _everything:
                facts.append(subset(atom.label, around))
            upper = term(atom.label) if atom.cut is not None else None
        if lists:
            (within,) = known[next(iter(lists))].inside
            edges = {atom.cut: atom.label for atom in cuts}
            facts += derive_list_facts(edges, lists, within if known.keys() >= set(within.labels) else None)  # type: ignore[arg-type] # as above
    return tuple(facts)
