"""Parse statements from text in Python's syntax.

The module is an operator-precedence parser with explicit stacks: no text is evaluated, no function recurses, and an
error marks its column. Precedence and chained comparison (``A <= B <= C``) are Python's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from provenn.errors import LabelError, StatementError
from provenn.gate.entrances import entrance
from provenn.logic.statements import And, Not, Or, Property, SetComparison, Statement
from provenn.logic.terms import PRECEDENCE, Op, Term

__all__ = ["parse_set", "statement"]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>[^\W\d]\w*)
      | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<empty>\{\s*\})
      | (?P<compare>==|!=|<=|>=|<|>)
      | (?P<symbol>[&|^~(),-])
      | (?P<end>$)
    )""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROL_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t"}
_PROPERTIES = {
    "empty": (1, 1),
    "nonempty": (1, 1),
    "disjoint": (2, None),
    "overlapping": (2, None),
    "outside": (1, None),
}
_GRAMMAR = "sets are joined by & | - ^ ~ and compared by == != <= < >= >; statements are joined by and, or, not"

_TOKEN_PRECEDENCE = {"or": 1, "and": 2, "not": 3, "compare": 4} | {op.value: 4 + n for op, n in PRECEDENCE.items()}
_MOST_NESTED = 100
_UNARY = frozenset(["not", "~"])


class _Token(NamedTuple):
    kind: str
    value: str
    column: int


@dataclass(slots=True)
class _Operand:
    """A value on the stack, and its first column. A bare comparison remembers its right side, for chaining.

    A set is a postfix program under construction: joining two sets extends the left program in place, so that a long
    chain takes linear time. The links of a chained comparison are extended in place, too; the value is the first link.
    """

    value: list[str | Op] | Statement
    column: int
    chained: Term | None = None
    links: list[Statement] = field(default_factory=list)
    depth: int = 0


@entrance("statement", "types")
def statement(text: str) -> Statement:
    """Parse a statement.

    Parameters
    ----------
    text
        Python syntax: ``& | - ^ ~ ( )`` on sets, ``{}`` for the empty set, ``== != <= < >= >``, ``empty(x)``,
        ``nonempty(x)``, ``disjoint(x, y)``, ``overlapping(x, y)``, ``outside(x, y)``, ``and``, ``or``, ``not``.
        Put names with unusual characters in quotes.

    Raises
    ------
    StatementError
        If the text is not a statement in this syntax. No part of the text is ever executed.

    Examples
    --------
    >>> statement("A & (B | C) <= D - E and nonempty(A)").labels
    ('A', 'B', 'C', 'D', 'E')
    """
    return _Parser(text).parse()


@entrance("set expression", "types")
def parse_set(text: str) -> Term:
    """Parse a set expression: the part of the syntax of statements without comparisons.

    Raises
    ------
    StatementError
        If the text is not a set in this syntax.

    Examples
    --------
    >>> parse_set("A & B - C")
    Term('A & B - C')
    """
    return _Parser(text).parse_set()


def _tokenize(text: str) -> Iterator[_Token]:
    position = 0
    while True:
        match = _TOKEN.match(text, position)
        if match is None:
            column = len(text) - len(text[position:].lstrip())
            problem = "this quote is not closed" if text[column] in "\"'" else f"{text[column]!r} has no meaning here"
            raise StatementError(problem, text, column, hint=_GRAMMAR)
        kind = match.lastgroup or "end"
        yield _Token(kind, match[kind], match.start(kind))
        if kind == "end":
            return
        position = match.end()


class _Parser:
    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise LabelError(f"expected a statement or a set as text, got {text!r}", hint='for example "B <= A"')
        self.text = text
        self.operands: list[_Operand] = []
        self.operators: list[_Token] = []  # operators, "(" and the names of properties

    def parse(self) -> Statement:
        return self.as_statement(self.read_operand())

    def parse_set(self) -> Term:
        return self.as_term(self.read_operand())

    def read_operand(self) -> _Operand:
        expects_operand = True
        tokens = _tokenize(self.text)
        for token in tokens:
            expects_operand = self.take_operand(token, tokens) if expects_operand else self.take_operator(token)
        (operand,) = self.operands
        return operand

    def fail(self, problem: str, column: int, hint: str = _GRAMMAR) -> NoReturn:
        raise StatementError(problem, self.text, column, hint=hint)

    def take_operand(self, token: _Token, tokens: Iterator[_Token]) -> bool:
        """Take a token where an operand is expected; return whether an operand is still expected."""
        match token:
            case _Token("name", "not") | _Token("symbol", "~" | "("):
                self.operators.append(token)
                return True
            case _Token("name", "and" | "or"):
                self.fail(f"a set or a statement is missing before {token.value!r}", token.column)
            case _Token("name", name) if name in _PROPERTIES:
                bracket = next(tokens)
                if bracket.value != "(":
                    self.fail(
                        f"{name} takes its sets in parentheses",
                        token.column,
                        f"write {name}(A), or quote the name",
                    )
                self.operators.append(token)
                self.operators.append(bracket)
                return True
            case _Token("name", name):
                self.operands.append(_Operand([name], token.column))
            case _Token("text", quoted):
                label = _ESCAPED.sub(lambda match: _CONTROL_CHARACTERS.get(match[1], match[1]), quoted[1:-1])
                if not label:
                    self.fail("a set's name cannot be empty", token.column)
                self.operands.append(_Operand([label], token.column))
            case _Token("empty"):
                self.operands.append(_Operand([Op.EMPTY], token.column))
            case _Token("end"):
                self.fail(
                    "the statement ends too early" if self.text.strip() else "the statement is empty",
                    token.column,
                )
            case _:
                self.fail(f"a set or a statement is missing before {token.value!r}", token.column)
        return False

    def take_operator(self, token: _Token) -> bool:
        """Take a token after an operand; return whether an operand is expected next."""
        match token:
            case _Token("name", "and" | "or"):
                self.apply_waiting(
                    _TOKEN_PRECEDENCE[token.value] + 1
                )  # a chain of the same connective is joined at once
                self.operators.append(token)
                return True
            case _Token("compare") | _Token("symbol", "&" | "|" | "^" | "-"):
                self.apply_waiting(_TOKEN_PRECEDENCE["compare" if token.kind == "compare" else token.value])
                self.operators.append(token)
                return True
            case _Token("symbol", ")"):
                self.apply_waiting(0)
                if not self.operators:
                    self.fail("this parenthesis was never opened", token.column)
                self.leave_parenthesis(token)
            case _Token("symbol", ","):
                self.apply_waiting(0)
                if not self.is_among_arguments():
                    self.fail("a comma belongs between the sets of a property", token.column)
                self.operators.append(token)
                return True
            case _Token("end"):
                self.apply_waiting(0)
                if self.operators:
                    self.fail("this parenthesis is never closed", self.operators[-1].column)
            case _Token("symbol", "("):
                before = self.operands[-1].value
                hint = _GRAMMAR
                if isinstance(before, list) and len(before) == 1:
                    hint = f"{before[0]} is not one of {', '.join(_PROPERTIES)}; functions cannot be called"
                self.fail("an operator is missing before this parenthesis", token.column, hint)
            case _:
                self.fail(f"an operator is missing before {token.value!r}", token.column)
        return False

    def is_among_arguments(self) -> bool:
        """Return whether the innermost open parenthesis belongs to a property."""
        waiting = [token.value for token in self.operators[-2:]]
        return waiting[-1:] == [","] or (len(waiting) == 2 and waiting[0] in _PROPERTIES)

    def leave_parenthesis(self, token: _Token) -> None:
        arguments = [self.operands.pop()]
        while self.operators[-1].value == ",":
            self.operators.pop()
            arguments.append(self.operands.pop())
        bracket = self.operators.pop()
        if not self.operators or self.operators[-1].value not in _PROPERTIES:
            (inside,) = arguments
            if inside.links:
                self.as_statement(inside)
            self.operands.append(_Operand(inside.value, bracket.column, depth=inside.depth))
            return
        prop = self.operators.pop()
        least, most = _PROPERTIES[prop.value]
        if len(arguments) < least or (most and len(arguments) > most):
            wanted = f"{least} set{'s' * (least > 1)}" + ("" if most else " or more")
            self.fail(f"{prop.value} takes {wanted}, not {len(arguments)}", token.column)
        terms = tuple(self.as_term(argument) for argument in reversed(arguments))
        self.operands.append(_Operand(Property(prop.value, terms), prop.column))

    def apply_waiting(self, precedence: int) -> None:
        """Apply the waiting operators with at least this precedence, back to the last open parenthesis."""
        while self.operators and self.operators[-1].value not in ("(", ","):
            token = self.operators[-1]
            if _TOKEN_PRECEDENCE["compare" if token.kind == "compare" else token.value] < max(precedence, 1):
                return
            self.operators.pop()
            if token.value in _UNARY:
                self.operands.append(self.apply_unary(token, self.operands.pop()))
            elif token.value in ("and", "or"):
                parts = [self.operands.pop(), self.operands.pop()]
                while self.operators and self.operators[-1].value == token.value:
                    self.operators.pop()
                    parts.append(self.operands.pop())
                self.operands.append(self.connect_statements(token, parts[::-1]))
            else:
                right = self.operands.pop()
                self.operands.append(self.join_operands(token, self.operands.pop(), right))

    def apply_unary(self, token: _Token, operand: _Operand) -> _Operand:
        if token.value == "~":
            self.as_postfix(operand).append(Op.NOT)
            return _Operand(operand.value, token.column)
        return self.nest_statement(Not(self.as_statement(operand)), token.column, operand)

    def connect_statements(self, token: _Token, parts: list[_Operand]) -> _Operand:
        join = And if token.value == "and" else Or
        return self.nest_statement(join.of(*map(self.as_statement, parts)), parts[0].column, *parts)

    def join_operands(self, token: _Token, left: _Operand, right: _Operand) -> _Operand:
        column = left.column
        if token.kind == "compare":
            side = self.as_term(right)
            if left.chained is not None:
                left.links.append(SetComparison(token.value, left.chained, side))
                left.chained = side
                return left
            return _Operand(SetComparison(token.value, self.as_term(left), side), column, chained=side)
        postfix = self.as_postfix(left)
        postfix.extend(self.as_postfix(right))
        postfix.append(Op(token.value))
        return _Operand(postfix, column)

    def nest_statement(self, value: Statement, column: int, *parts: _Operand) -> _Operand:
        # A chain of the same connective is flat, so only a change of connective makes a statement deeper.
        depth = max(part.depth + (type(part.value) is not type(value) or isinstance(value, Not)) for part in parts)
        if depth > _MOST_NESTED:
            self.fail(f"and, or, not are nested more than {_MOST_NESTED} deep here", column)
        return _Operand(value, column, depth=depth)

    def as_term(self, operand: _Operand) -> Term:
        return Term(tuple(self.as_postfix(operand)))

    def as_postfix(self, operand: _Operand) -> list[str | Op]:
        if isinstance(operand.value, Statement):
            self.fail("a statement stands where a set is expected", operand.column)
        return operand.value

    def as_statement(self, operand: _Operand) -> Statement:
        if not isinstance(operand.value, Statement):
            self.fail("a set alone is not a statement: compare it, or write nonempty(…)", operand.column)
        if operand.links:
            operand.value, operand.links, operand.depth = And((operand.value, *operand.links)), [], 1
        return operand.value
