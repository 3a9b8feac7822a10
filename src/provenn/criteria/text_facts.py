"""Facts about tests and functions of a text: suffixes, contained texts, ``upper(x) = 'STAR'``, lengths.

A text that ends with ``abc`` ends with ``bc`` and contains ``ab``. If a single text lies between two cuts of a text,
functions of this text are computed. If all texts between the cuts have a common prefix, these texts contain every text
contained in the prefix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from provenn import deadline
from provenn.criteria.atoms import Atom
from provenn.criteria.nodes import Call, Constant, Node
from provenn.criteria.periodic_facts import ReadTerm
from provenn.criteria.reductions.ascii_texts import compute_text_function, find_text_argument
from provenn.criteria.reductions.texts import find_prefix_end
from provenn.criteria.types import STRING
from provenn.criteria.writing import CANONICAL, write
from provenn.logic import Statement, disjoint, subset
from provenn.logic.terms import Op, Term, chain, term

__all__ = ["text_facts"]

_MOST_PAIRS = 50_000
"""The maximum number of pairs of a function with a range of texts, or with another function, that are compared."""
_TEXT_FUNCTION = re.compile(
    r"\b(?:upper|lower|[lr]?trim|reverse|length|octet_length|startswith|endswith|contains|instr|locate|left|right|concat)\("
    r"| I?LIKE "
)
_Functions = Mapping[str, tuple[Atom, Node]]


def text_facts(atoms: Iterable[Atom], read_term: ReadTerm) -> Iterator[Statement]:
    """Yield the facts about the atoms on functions of texts, for the atoms of any number of criteria.

    Sound for the reasons above. Functions are computed for ASCII texts only.

    Parameters
    ----------
    atoms
        The atoms, with those on the terms inside them.
    read_term
        Returns the term of an atom.
    """
    known = {atom.label: atom for atom in atoms}
    by_argument: dict[str, dict[str, tuple[Atom, Node]]] = {}
    arguments: dict[str, Node] = {}
    for atom in known.values():
        node = read_term(atom) if atom.cut is not None and _TEXT_FUNCTION.search(atom.term) else None
        argument = None if node is None else find_text_argument(node)
        if node is not None and argument is not None and argument.type == STRING:
            text = write(argument, CANONICAL)
            arguments[text] = argument
            by_argument.setdefault(text, {})[atom.label] = (atom, node)
    cuts: dict[str, dict[str, str]] = {text: {} for text in by_argument}
    lists: dict[str, dict[str, tuple[str, ...]]] = {text: {} for text in by_argument}
    for atom in known.values():
        if atom.term in cuts and isinstance(atom.cut, str):
            cuts[atom.term][atom.cut] = atom.label
        elif atom.term in lists and isinstance(atom.cut, tuple):
            lists[atom.term][atom.label] = tuple(str(cut) for cut in atom.cut)
    for text, functions in by_argument.items():
        yield from _relate_tests(functions)
        yield from _relate_ranges(functions, arguments[text], cuts[text])
        yield from _relate_lists(functions, arguments[text], lists[text])


def _relate_tests(functions: _Functions) -> Iterator[Statement]:
    """Yield the implications between suffixes and contained texts, and the suffixes that exclude each other."""
    by_tested: dict[Node, tuple[dict[str, str], dict[str, str]]] = {}
    for label, (_, node) in functions.items():
        match node:
            case Call("endswith" | "contains" as test, (tested, Constant(key=str() as text))):
                by_tested.setdefault(tested, ({}, {}))[test == "contains"][text] = label
    for suffixes, parts in by_tested.values():
        if (len(suffixes) + len(parts)) ** 2 <= _MOST_PAIRS:
            yield from _relate_texts(suffixes, parts)


def _relate_texts(suffixes: Mapping[str, str], parts: Mapping[str, str]) -> Iterator[Statement]:
    """Yield the facts about suffixes and contained texts of a text, by their labels."""
    for text, label in suffixes.items():
        for other, other_label in suffixes.items():
            if text != other and text.endswith(other):
                yield subset(label, other_label)
            elif text < other and not other.endswith(text):
                yield disjoint(label, other_label)
    for text, label in [*suffixes.items(), *parts.items()]:
        for other, other_label in parts.items():
            if other in text and label != other_label:
                yield subset(label, other_label)


def _relate_ranges(functions: _Functions, argument: Node, cuts: Mapping[str, str]) -> Iterator[Statement]:
    """Yield which functions are known between two neighbouring cuts of a text."""
    keys = sorted(cuts)
    if len(keys) * len(functions) > _MOST_PAIRS:
        return
    for low, high in pairwise(["", *keys]):
        deadline.check()
        between = term(cuts[high]) - term(cuts[low]) if low else term(cuts[high])
        if high == low + "\0":
            yield from _state_values(functions, argument, [low], between)
        else:
            yield from _state_prefix(functions, argument, _find_common_prefix(low, high), between)


def _relate_lists(functions: _Functions, argument: Node, lists: Mapping[str, Sequence[str]]) -> Iterator[Statement]:
    """Yield which functions are known for all texts of a long list."""
    for label, keys in lists.items():
        texts = keys[::2]
        is_list = all(end == text + "\0" for text, end in zip(texts, keys[1::2], strict=False))
        if is_list and len(keys) % 2 == 0 and len(texts) * len(functions) <= _MOST_PAIRS:
            yield from _state_values(functions, argument, texts, term(label))


def _state_values(functions: _Functions, argument: Node, texts: Sequence[str], between: Term) -> Iterator[Statement]:
    """Yield which functions have a value in their ranges for all of some texts, and which for none of them."""
    inside: list[Term] = []
    for label, (atom, node) in functions.items():
        truths = {_is_inside(atom, node, argument, text) for text in texts}
        if truths == {True}:
            inside.append(term(label))
        elif truths == {False}:
            inside.append(~term(label))
    if inside:
        yield subset(between, chain(Op.AND, tuple(inside)))


def _is_inside(atom: Atom, node: Node, argument: Node, text: str) -> bool | None:
    """Tell whether an atom contains the sources with a text, or None if unknown."""
    value = compute_text_function(node, argument, text)
    if value is None or not isinstance(atom.cut, str | int):
        return None
    if isinstance(value, bool):
        return value  # TRUE comes first in the domain of truth values, whose only cut is after it
    return bool(value < atom.cut)  # type: ignore[operator] # the values and cuts of a term have a single type


def _find_common_prefix(low: str, high: str) -> str:
    """Return a prefix of all texts from `low` to just below `high`.

    >>> _find_common_prefix("ST", "SU"), _find_common_prefix("STAR", "STOP")
    ('ST', 'ST')
    """
    count = next((number for number, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))
    shared = low[:count]
    longer = low[: len(shared) + 1]
    return longer if longer != shared and find_prefix_end(longer) == high else shared


def _state_prefix(functions: _Functions, argument: Node, prefix: str, between: Term) -> Iterator[Statement]:
    """Yield which functions of the texts with a prefix are known."""
    if not prefix:
        return
    for label, (atom, node) in functions.items():
        match node:
            case Call("contains", (tested, Constant(key=str() as part))) if tested == argument and part in prefix:
                yield subset(between, label)
            case Call("length", (tested,)) if tested == argument and isinstance(atom.cut, int):
                if atom.cut <= len(prefix):
                    yield disjoint(between, label)
