"""The terms of some conditions as a graph: every term once, after the terms that it is made of."""

from __future__ import annotations

from collections.abc import Iterable

from provenn.criteria.conditions import is_nullable
from provenn.criteria.domains import find_monotone_cast, successor
from provenn.criteria.nodes import Call, Constant, Node
from provenn.criteria.theory.arithmetic import Arithmetic, find_arithmetic
from provenn.criteria.theory.values import Values, find_all_values
from provenn.criteria.types import DOUBLE, FLOAT, Type

__all__ = ["TermGraph"]

_ARITHMETIC = ("+", "-", "*", "/", "abs", "floor", "ceil", "rint", "signum", "degrees", "radians")
_CHOICES = ("coalesce", "coerce", "compare", "greatest", "least")
_ROOTS = ("sqrt", "cbrt", "exp", "expm1", "ln", "log10", "log2", "log1p", "hypot")
_ANGLES = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh")
_BLIND_TO_SIGN_OF_ZERO = frozenset([*_ARITHMETIC, *_CHOICES, *_ROOTS, *_ANGLES])
"""Operations whose result is equal for 0.0 and -0.0, as far as a comparison can tell.

Not among them: a cast to text, ``pow``, ``cot``, ``csc`` and ``hash`` tell the two apart.
"""


class TermGraph:
    """Terms by number.

    Parameters
    ----------
    roots
        The terms to number, with all terms that they are made of.

    Attributes
    ----------
    nodes
        The terms.
    arguments
        The numbers of the arguments of each term.
    users
        The numbers of the terms that have a term as an argument.
    values
        The values of each term, as far as its type and itself tell; None if the order of its values is not known.
    arithmetic
        The arithmetic of sums, differences, products and quotients.
    """

    def __init__(self, roots: Iterable[Node]) -> None:
        self.nodes: list[Node] = []
        self.arguments: list[tuple[int, ...]] = []
        self.users: list[list[int]] = []
        self.values: list[Values | None] = []
        self.arithmetic: list[Arithmetic | None] = []
        self.numbers: dict[Node, int] = {}
        for root in roots:
            self._add(root)

    def _add(self, root: Node) -> None:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.numbers:
                stack.pop()
                continue
            arguments = node.arguments if isinstance(node, Call) else ()
            missing = [argument for argument in arguments if argument not in self.numbers]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self._append(node, tuple(self.numbers[argument] for argument in arguments))

    def _append(self, node: Node, arguments: tuple[int, ...]) -> None:
        number = self.numbers[node] = len(self.nodes)
        self.nodes.append(node)
        self.arguments.append(arguments)
        self.users.append([])
        for argument in arguments:
            self.users[argument].append(number)
        self.values.append(_find_values(node))
        kinds = tuple(self.nodes[argument].type for argument in arguments)
        self.arithmetic.append(find_arithmetic(node.operator, kinds, node.type) if isinstance(node, Call) else None)

    def get_type(self, number: int) -> Type:
        """Return the type of a term."""
        return self.nodes[number].type

    def keeps_equality(self, number: int) -> bool:
        """Return whether equal arguments give equal values of a term, although 0.0 and -0.0 are equal."""
        node = self.nodes[number]
        if not isinstance(node, Call):
            return False
        if any(argument.type in (FLOAT, DOUBLE) for argument in node.arguments):
            to_number = node.operator == "cast" and find_monotone_cast(node.arguments[0].type, node.type) is not None
            return to_number or node.operator in _BLIND_TO_SIGN_OF_ZERO
        return True


def _find_values(node: Node) -> Values | None:
    values = find_all_values(node.type, nullable=is_nullable(node))
    if values is None or not isinstance(node, Constant):
        return values
    if node.key is None:
        return values._replace(high=values.low, nan=False)
    return values.restrict(node.type, node.key, successor(node.key))
