"""Text to a syntax tree, by sqlglot: the one place that knows how its parser is set up."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from provenn.errors import CriterionError

__all__ = ["parse", "position"]

_DEEPEST = 25
_TOO_DEEP = "this is nested too deeply"
_HINT = "a criterion is one SQL expression, as in: vmag < 6 AND plx IS NOT NULL"


class _Parser(SparkParser):
    """Spark's syntax, with every function left as it is written: what it means is decided here, by name."""

    FUNCTIONS = {}  # noqa: RUF012 - sqlglot declares these so
    FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")}  # noqa: RUF012
    NO_PAREN_FUNCTIONS = {}  # noqa: RUF012
    NO_PAREN_FUNCTION_PARSERS = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}  # noqa: RUF012


def parse(text: str) -> exp.Expr:
    """Return the syntax tree of one expression.

    Raises
    ------
    CriterionError
        If the text is not one expression, or is nested too deeply.
    """
    dialect = Spark()
    try:
        tokens = dialect.tokenize(text)
        _check_depth(tokens, text)
        trees = _Parser(dialect=dialect).parse(tokens, text)
    except ParseError as error:
        first = error.errors[0]
        column = _offset(text, first["line"], first["col"]) - len(first["highlight"] or "")
        raise CriterionError("this is not understood", text, max(0, column), hint=_HINT) from None
    except TokenError:
        raise CriterionError("a quote or a comment is not closed", text) from None
    except RecursionError:
        raise CriterionError(_TOO_DEEP, text, hint="join the parts without parentheses") from None
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1:
        problem = "there are several expressions here" if found else "there is nothing here"
        raise CriterionError(problem, text, hint=_HINT)
    return found[0]


def position(tree: exp.Expr) -> int | None:
    """Return where in the text a part of the tree begins, as far as sqlglot tells."""
    starts = [int(node.meta["start"]) for node in tree.walk() if "start" in node.meta]
    return min(starts, default=None)


def _check_depth(tokens: list[Token], text: str) -> None:
    """Refuse what sqlglot's recursion could not follow from a deep stack of calls, wherever it is called from."""
    depth = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.CASE):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.END):
            depth -= 1
        if depth > _DEEPEST:
            raise CriterionError(_TOO_DEEP, text, token.start, hint="join the parts without parentheses")


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column
