"""Set terms: expressions of ``& | - ^ ~``, labels and the empty set.

A term is kept as its postfix program: a flat tuple of labels and operators. Every reader of terms is therefore a single
loop over a tuple, and a union of ten thousand sets is as harmless as a union of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, Self, TypeVar

from provenn.errors import LabelError

__all__ = [
    "PRECEDENCE",
    "RESERVED",
    "BooleanAlgebra",
    "Op",
    "Term",
    "chain",
    "check_label",
    "nothing",
    "quote_label",
    "term",
]


class Op(Enum):
    """An operator of a postfix program."""

    EMPTY = "{}"
    NOT = "~"
    AND = "&"
    OR = "|"
    MINUS = "-"
    XOR = "^"


class BooleanAlgebra(Protocol):
    """The values of evaluated terms: integers as bit masks, frozensets, Boolean arrays."""

    def __and__(self, other: Self, /) -> Self: ...
    def __or__(self, other: Self, /) -> Self: ...
    def __xor__(self, other: Self, /) -> Self: ...


B = TypeVar("B", bound=BooleanAlgebra)


@dataclass(frozen=True, slots=True)
class Term:
    """A set, as an expression of other sets.

    >>> (term("A") & "B") - "C"
    Term('(A & B) - C')
    """

    postfix: tuple[str | Op, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the term, without repeats, in the order of their first mention."""
        return tuple(dict.fromkeys(token for token in self.postfix if isinstance(token, str)))

    @property
    def label(self) -> str | None:
        """The label, if the term is a single label; otherwise None."""
        token = self.postfix[0]
        return token if isinstance(token, str) and len(self.postfix) == 1 else None

    def evaluate(self, leaf: Callable[[str], B], nothing: B, everything: B) -> B:
        """Return the value of the term in a Boolean algebra, given the values of its labels."""
        stack: list[B] = []
        for token in self.postfix:
            if isinstance(token, str):
                stack.append(leaf(token))
            elif token is Op.EMPTY:
                stack.append(nothing)
            elif token is Op.NOT:
                stack.append(everything ^ stack.pop())
            else:
                right = stack.pop()
                left = stack.pop()
                if token is Op.AND:
                    stack.append(left & right)
                elif token is Op.OR:
                    stack.append(left | right)
                elif token is Op.MINUS:
                    stack.append(left & (everything ^ right))
                else:
                    stack.append(left ^ right)
        return stack[0]

    def relabelled(self, name: Callable[[str], str]) -> Term:
        """Return the term with other labels."""
        return Term(tuple(name(token) if isinstance(token, str) else token for token in self.postfix))

    def __and__(self, other: Term | str) -> Term:
        return Term((*self.postfix, *term(other).postfix, Op.AND))

    def __or__(self, other: Term | str) -> Term:
        return Term((*self.postfix, *term(other).postfix, Op.OR))

    def __sub__(self, other: Term | str) -> Term:
        return Term((*self.postfix, *term(other).postfix, Op.MINUS))

    def __xor__(self, other: Term | str) -> Term:
        return Term((*self.postfix, *term(other).postfix, Op.XOR))

    def __invert__(self) -> Term:
        return Term((*self.postfix, Op.NOT))

    def __str__(self) -> str:
        return _write_postfix(self.postfix)

    def __repr__(self) -> str:
        return f"Term({str(self)!r})"


nothing = Term((Op.EMPTY,))
"""The empty set."""


def check_label(label: object) -> str:
    """Return `label` if it is a non-empty string, the only requirement of a label."""
    if not isinstance(label, str) or not label:
        raise LabelError(f"expected a non-empty string as the name of a set, got {label!r}")
    return label


def term(value: Term | str) -> Term:
    """Return a term unchanged, or a label as a term."""
    return value if isinstance(value, Term) else Term((check_label(value),))


def chain(op: Op, operands: tuple[Term, ...]) -> Term:
    """Return the operands joined by the same operator, from left to right."""
    postfix = [*operands[0].postfix]
    for operand in operands[1:]:
        postfix.extend(operand.postfix)
        postfix.append(op)
    return Term(tuple(postfix))


# The precedence of operators is Python's, so that a term reads as in Python.
PRECEDENCE = {Op.OR: 1, Op.XOR: 2, Op.AND: 3, Op.MINUS: 4, Op.NOT: 5, Op.EMPTY: 6}


def _write_postfix(postfix: tuple[str | Op, ...]) -> str:
    """Return the text of a postfix program, with the necessary parentheses."""
    # The pieces of the text lie in a single list; a stack of (first piece, precedence) marks the operands, so that
    # a long chain takes a single pass.
    pieces: list[str] = []
    operands: list[tuple[int, int]] = []

    def parenthesise(start: int, stop: int) -> None:
        pieces[start] = "(" + pieces[start]
        pieces[stop - 1] += ")"

    for token in postfix:
        start = len(pieces)
        if isinstance(token, str):
            pieces.append(quote_label(token))
            operands.append((start, 6))
        elif token is Op.EMPTY:
            pieces.append("{}")
            operands.append((start, 6))
        elif token is Op.NOT:
            inner, binds = operands.pop()
            if binds < 5:
                parenthesise(inner, start)
            pieces[inner] = "~" + pieces[inner]
            operands.append((inner, 5))
        else:
            precedence = PRECEDENCE[token]
            right, right_binds = operands.pop()
            left, left_binds = operands.pop()
            if right_binds <= precedence:
                parenthesise(right, start)
            if left_binds < precedence:
                parenthesise(left, right)
            pieces[right] = f" {token.value} " + pieces[right]
            operands.append((left, precedence))
    return "".join(pieces)


RESERVED = frozenset(["and", "or", "not", "empty", "nonempty", "disjoint", "overlapping", "outside"])


def quote_label(label: str) -> str:
    """Return a label as in a statement: in quotes unless it is a plain name."""
    if label.isidentifier() and label.isascii() and label not in RESERVED:
        return label
    return '"' + label.translate(_ESCAPES) + '"'


_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
