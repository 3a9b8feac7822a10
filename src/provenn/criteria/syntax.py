"""Parse text to a syntax tree with sqlglot; only this module configures sqlglot's parser."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from provenn import deadline
from provenn.criteria.slips import find_slip
from provenn.criteria.types import suggest_type
from provenn.errors import CriterionError
from provenn.gate.entrances import entrance
from provenn.hints import Hint

__all__ = ["LONGEST", "check_length", "check_readable", "find_position", "is_quantity", "parse"]

_WORD = re.compile(r"\w+")
_HINT = "write one SQL expression, for example vmag < 6 AND plx IS NOT NULL"
# sqlglot recurses over the text, and provenn over its tree. The limits are fixed, so that a text that was read once can
# always be read again, independent of the caller. Chains of AND and OR of any length are not nested.
LONGEST = 10_000_000
"""The maximum length of a text in characters."""
_MOST_BRACKETS = 25
_DEEPEST = 100
# sqlglot reads int(… first as a type and then as a call, and so every nested int( twice. Meaningful text takes three
# steps per token.
_MOST_STEPS = 20
_FREE_STEPS = 1000


_BRACKET = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`|[()]|\b(?:CASE|END)\b", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUANTITY = "quantity"
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)


class _ParserStepsError(Exception):
    """The parser backtracked too often."""


class _CriterionParser(SparkParser):
    """Spark's syntax, with every function kept as written; provenn interprets functions by name."""

    FUNCTIONS = {}  # noqa: RUF012 - sqlglot declares these so
    FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in ("CAST", "EXTRACT", "TRY_CAST")}  # noqa: RUF012
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012
    NO_PAREN_FUNCTION_PARSERS = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}  # noqa: RUF012

    def __init__(self, dialect: Spark, steps: int) -> None:
        super().__init__(dialect=dialect)
        self._steps_left = steps

    def _advance(self, times: int = 1) -> None:
        deadline.check()
        self._steps_left -= 1
        if self._steps_left < 0:
            raise _ParserStepsError
        super()._advance(times)

    def _parse_primary(self) -> exp.Expr | None:
        return self._attach_unit(super()._parse_primary())

    def _parse_atom(self) -> exp.Expr | None:
        return self._attach_unit(super()._parse_atom())

    def _attach_unit(self, tree: exp.Expr | None) -> exp.Expr | None:
        """Attach the following word, or text in backquotes, to a number as its unit."""
        is_number = isinstance(tree, exp.Literal) and not tree.is_string
        if not (is_number and self._match_set(_NAMES)):
            return tree
        token = self._prev
        if self._match_set((*_NAMES, TokenType.DOT), advance=False):
            hint = "put a unit of several words in backquotes, for example 10 `km s-1`"
            raise CriterionError("this cannot be parsed", self.sql, self._curr.start, hint=hint)
        unit = exp.to_identifier(token.text, quoted=token.token_type is TokenType.IDENTIFIER)
        unit.update_positions(token)
        quantity = exp.Alias(this=tree, alias=unit)
        quantity.meta[_QUANTITY] = True
        return quantity


def _suggest(text: str, column: int) -> str:
    """Return a hint at what was meant at a column: a type of Spark, a symbol of SQL, or an expression."""
    word = _WORD.match(text, max(0, column))
    spaced = re.fullmatch(r"\s*\w+ \w+ *([<>=!].*)", text, re.DOTALL)
    name = f"put a name with spaces in `backquotes`; {_HINT}" if spaced else ""
    return suggest_type(word[0] if word else "") or find_slip(text) or name or _HINT


@entrance("criterion or expression", "length", "criteria")
def parse(text: str) -> exp.Expr:
    """Return the syntax tree of a single expression.

    Raises
    ------
    CriterionError
        If the text is not a single expression, or is too long or nested too deeply.
    """
    check_length(text)
    if not text.isascii() and (surrogate := _SURROGATE.search(text)):
        hint = "use valid Unicode text"
        raise CriterionError("this is not valid text", _SURROGATE.sub("?", text), surrogate.start(), hint=hint)
    dialect = Spark()
    try:
        tokens = dialect.tokenize(text)
        _check_brackets(tokens, text)
        trees = _CriterionParser(dialect, _FREE_STEPS + _MOST_STEPS * len(tokens)).parse(tokens, text)
    except ParseError as error:
        first = error.errors[0]
        column = _find_offset(text, first["line"], first["col"]) - len(first["highlight"] or "")
        raise CriterionError("this cannot be parsed", text, max(0, column), hint=_suggest(text, column)) from None
    except TokenError:
        raise CriterionError("a quote or a comment is not closed", text) from None
    except (RecursionError, _ParserStepsError):
        raise _make_depth_error(text) from None
    expressions = [tree for tree in trees if tree is not None]
    if len(expressions) != 1:
        problem = "this is more than one expression" if expressions else "the expression is empty"
        raise CriterionError(problem, text, hint=_HINT)
    _check_depth(expressions[0], text)
    return expressions[0]


def check_length(text: str) -> None:
    """Refuse a text that is too long."""
    if len(text) > LONGEST:
        raise CriterionError(
            f"this is longer than {LONGEST:,} characters",
            f"{text[:60]}…",
            hint=Hint(
                "to select listed sources, ingest the list, and restrict() to it",
                command="to select listed sources, ingest the list, and `provenn restrict` to it",
            ),
        )


def check_readable(canonical: str, text: str) -> None:
    """Refuse a text whose canonical form is too long, or nested too deeply, to be read again.

    The canonical form may have more brackets, because operands are sorted and every cast is explicit.
    """
    check_length(canonical)
    depth = deepest = 0
    if canonical.count("(") + canonical.count("CASE") > _MOST_BRACKETS:
        for match in _BRACKET.finditer(canonical):
            depth += {"(": 1, "CASE": 1, ")": -1, "END": -1}.get(match[0], 0)
            deepest = max(deepest, depth)
    if deepest > _MOST_BRACKETS:
        problem = f"the canonical form has more than {_MOST_BRACKETS} nested brackets"
        raise CriterionError(problem, text, hint="split it into several selections, or derive part of it first")


def find_position(tree: exp.Expr) -> int | None:
    """Return the start of a part of the tree in the text, or None if sqlglot does not record it."""
    starts = [int(node.meta["start"]) for node in tree.walk() if "start" in node.meta]
    return min(starts, default=None)


def is_quantity(tree: exp.Expr) -> bool:
    """Tell whether a part of the tree is a number (`this`) with a unit (`alias`)."""
    return _QUANTITY in tree.meta


def _make_depth_error(text: str, column: int | None = None) -> CriterionError:
    return CriterionError("this is nested too deeply", text, column, hint="split it, or omit parentheses")


def _check_brackets(tokens: list[Token], text: str) -> None:
    """Refuse tokens with too many nested brackets."""
    depth = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.CASE):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.END):
            depth -= 1
        if depth > _MOST_BRACKETS:
            raise _make_depth_error(text, token.start)


def _check_depth(root: exp.Expr, text: str) -> None:
    """Refuse a tree that is nested too deeply; a chain of AND or OR counts as a single level."""
    stack = [(root, 0)]
    while stack:
        tree, depth = stack.pop()
        if depth > _DEEPEST:
            raise _make_depth_error(text)
        chained = isinstance(tree, exp.Connector)
        stack += [
            (part, depth if chained and type(part) is type(tree) else depth + 1) for part in tree.iter_expressions()
        ]


def _find_offset(text: str, line: int, column: int) -> int:
    """Return the offset in a text of a line and column."""
    return sum(len(previous) + 1 for previous in text.split("\n")[: line - 1]) + column
