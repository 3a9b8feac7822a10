"""Text to a syntax tree, by sqlglot: the one place that knows how its parser is set up."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from provenn.errors import CriterionError

__all__ = ["LONGEST", "check_length", "is_quantity", "parse", "position"]

_HINT = "a criterion is one SQL expression, as in: vmag < 6 AND plx IS NOT NULL"
# sqlglot recurses over the text, and we over its tree: fixed limits, so that what was once read can always be read
# again, wherever it is called from. Chains of AND and OR are not nested, however long.
LONGEST = 10_000_000
"""How many characters a text may have."""
_MOST_BRACKETS = 25
_DEEPEST = 100
# sqlglot reads int(… first as a type and then as a call, and so twice for every int( inside. What has a meaning takes
# three steps for a token.
_MOST_STEPS = 20
_FREE_STEPS = 1000


_HALF = re.compile("[\ud800-\udfff]")
_QUANTITY = "quantity"
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)


class _TooManyStepsError(Exception):
    """The parser went back and forth too often."""


class _Parser(SparkParser):
    """Spark's syntax, with every function left as it is written: what it means is decided here, by name."""

    FUNCTIONS = {}  # noqa: RUF012 - sqlglot declares these so
    FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")}  # noqa: RUF012
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012
    NO_PAREN_FUNCTION_PARSERS = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}  # noqa: RUF012

    def __init__(self, dialect: Spark, steps: int) -> None:
        super().__init__(dialect=dialect)
        self._steps_left = steps

    def _advance(self, times: int = 1) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise _TooManyStepsError
        super()._advance(times)

    def _parse_primary(self) -> exp.Expr | None:
        return self._with_unit(super()._parse_primary())

    def _parse_atom(self) -> exp.Expr | None:
        return self._with_unit(super()._parse_atom())

    def _with_unit(self, found: exp.Expr | None) -> exp.Expr | None:
        """Give a number the word behind it, or what is in backquotes there: its unit."""
        is_number = isinstance(found, exp.Literal) and not found.is_string
        if not (is_number and self._match_set(_NAMES)):
            return found
        token = self._prev
        if self._match_set((*_NAMES, TokenType.DOT), advance=False):
            hint = "put a unit of several words in backquotes, as in: 10 `km s-1`"
            raise CriterionError("this is not understood", self.sql, self._curr.start, hint=hint)
        unit = exp.to_identifier(token.text, quoted=token.token_type is TokenType.IDENTIFIER)
        unit.update_positions(token)
        quantity = exp.Alias(this=found, alias=unit)
        quantity.meta[_QUANTITY] = True
        return quantity


def parse(text: str) -> exp.Expr:
    """Return the syntax tree of one expression.

    Raises
    ------
    CriterionError
        If the text is not one expression, or is too long or nested too deeply.
    """
    check_length(text)
    if not text.isascii() and (half := _HALF.search(text)):
        hint = "texts are of whole characters, as in UTF-8"
        raise CriterionError("this is no text", _HALF.sub("?", text), half.start(), hint=hint)
    dialect = Spark()
    try:
        tokens = dialect.tokenize(text)
        _check_brackets(tokens, text)
        trees = _Parser(dialect, _FREE_STEPS + _MOST_STEPS * len(tokens)).parse(tokens, text)
    except ParseError as error:
        first = error.errors[0]
        column = _offset(text, first["line"], first["col"]) - len(first["highlight"] or "")
        raise CriterionError("this is not understood", text, max(0, column), hint=_HINT) from None
    except TokenError:
        raise CriterionError("a quote or a comment is not closed", text) from None
    except (RecursionError, _TooManyStepsError):
        raise _too_deep(text) from None
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1:
        problem = "there are several expressions here" if found else "there is nothing here"
        raise CriterionError(problem, text, hint=_HINT)
    _check_depth(found[0], text)
    return found[0]


def check_length(text: str) -> None:
    """Refuse a text that is too long."""
    if len(text) > LONGEST:
        raise CriterionError(
            f"this is longer than {LONGEST:,} characters",
            f"{text[:60]}…",
            hint="to take sources that are listed somewhere, ingest the list, and restrict() to it",
        )


def position(tree: exp.Expr) -> int | None:
    """Return where in the text a part of the tree begins, as far as sqlglot tells."""
    starts = [int(node.meta["start"]) for node in tree.walk() if "start" in node.meta]
    return min(starts, default=None)


def is_quantity(tree: exp.Expr) -> bool:
    """Tell whether a part of the tree is a number with a unit: its `this` and its `alias`."""
    return _QUANTITY in tree.meta


def _too_deep(text: str, column: int | None = None) -> CriterionError:
    return CriterionError("this is nested too deeply", text, column, hint="split it, or leave out parentheses")


def _check_brackets(tokens: list[Token], text: str) -> None:
    depth = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.CASE):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.END):
            depth -= 1
        if depth > _MOST_BRACKETS:
            raise _too_deep(text, token.start)


def _check_depth(root: exp.Expr, text: str) -> None:
    stack = [(root, 0)]
    while stack:
        tree, depth = stack.pop()
        if depth > _DEEPEST:
            raise _too_deep(text)
        chained = isinstance(tree, exp.Connector)
        stack += [
            (part, depth if chained and type(part) is type(tree) else depth + 1) for part in tree.iter_expressions()
        ]


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column
