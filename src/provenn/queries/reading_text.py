"""Parse the text of a query with sqlglot; the limits of texts are here."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError, UnsupportedError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from provenn import deadline
from provenn.criteria.syntax import find_position
from provenn.errors import QueryError, did_you_mean
from provenn.queries.adql_dialect import ADQL
from provenn.queries.adql_grammar import check_grammar
from provenn.queries.comma_joins import mark_comma

__all__ = [
    "DIALECTS",
    "LONGEST",
    "convert_to_spark",
    "parse_column",
    "parse_query",
    "parse_spark_expression",
    "parse_statement",
]

DIALECTS = ("spark", "databricks", "duckdb", "postgres", "snowflake", "bigquery", "tsql", ADQL)
"""The dialects that can be read."""
LONGEST = 500_000
"""The maximum length of a query in characters."""

_MOST_TOKENS = 50_000
_MOST_BRACKETS = 40
_DEEPEST = 100
_MOST_STEPS = 40
_FREE_STEPS = 2000
_TYPED = ("AVG", "COALESCE", "COUNT", "DENSE_RANK", "MAX", "MIN", "RANK", "ROW_NUMBER", "SUM")
_SPECIAL = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM", "TRY_CAST")


class _ParserStepsError(Exception):
    """The parser backtracked too often."""


@cache
def _make_parser_class(dialect: str) -> type[Any]:
    """Return a parser of a dialect, with counted steps and marked commas.

    In Spark's dialect the parser keeps all functions as written, except the functions of `_TYPED`: sqlglot would write
    some functions with a changed meaning.
    """
    base: Any = Dialect.get_or_raise(dialect).parser_class

    class QueryParser(base):  # type: ignore[misc]
        if dialect in ("spark", "databricks"):
            FUNCTIONS = {name: SparkParser.FUNCTIONS[name] for name in _TYPED}
            FUNCTION_PARSERS = {name: SparkParser.FUNCTION_PARSERS[name] for name in _SPECIAL}
            NO_PAREN_FUNCTION_PARSERS = {name: SparkParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("ANY", "CASE")}

        steps_left = 0

        def _advance(self, times: int = 1) -> None:
            deadline.check()
            self.steps_left -= 1
            if self.steps_left < 0:
                raise _ParserStepsError
            super()._advance(times)

        def _parse_join(self, *arguments: Any, **options: Any) -> exp.Join | None:  # noqa: ANN401 - those of sqlglot
            is_comma = self._curr is not None and self._curr.token_type == TokenType.COMMA
            join: exp.Join | None = super()._parse_join(*arguments, **options)
            if join is not None and is_comma and join.kind != "CROSS":
                mark_comma(join)
            return join

    return QueryParser


def parse_query(text: str, dialect: str) -> exp.Expr:
    """Return the syntax tree of a single query.

    Raises
    ------
    QueryError
        If the text is not a single query, or is too long or nested too deeply.
    """
    statement = _parse_single(text, dialect, must_begin_query=True)
    while isinstance(statement, exp.Subquery) and not _has_modifiers(statement):
        statement = statement.this
    if not isinstance(statement, exp.Query | exp.Values):
        kind = statement.key.upper() if not isinstance(statement, exp.Command) else str(statement.this).upper()
        raise QueryError(f"{kind} is not a query", text, find_position(statement), hint="write a SELECT")
    if dialect == ADQL:
        check_grammar(statement, text)
    return statement


def parse_column(text: str) -> exp.Expr:
    """Return the syntax tree of a single column of a SELECT in Spark's dialect: an expression, an alias or ``*``.

    Raises
    ------
    QueryError
        If the text is anything else.
    """
    select = parse_query(f"SELECT {text}\n", "spark")
    has_more = any(value for key, value in select.args.items() if key != "expressions")
    if not isinstance(select, exp.Select) or has_more or len(select.expressions) != 1:
        raise QueryError(f"expected a single expression, got {text[:200]}", hint="write one expression")
    column: exp.Expr = select.expressions[0]
    column.pop()
    for part in column.walk():
        part.meta.clear()  # these positions are those in another text
    return column


def parse_statement(text: str, dialect: str) -> exp.Expr:
    """Return the syntax tree of a single statement of any kind; nothing is executed.

    Raises
    ------
    QueryError
        If the text is not a single statement, or is too long or nested too deeply.
    """
    return _parse_single(text, dialect)


def _parse_single(text: str, dialect: str, *, must_begin_query: bool = False) -> exp.Expr:
    """Return the only statement of a text; `must_begin_query` refuses other statements before parsing."""
    if dialect not in DIALECTS:
        raise QueryError(
            f"{dialect!r} is not a known dialect",
            hint=did_you_mean(dialect, DIALECTS) or f"use {', '.join(DIALECTS)}",
        )
    if len(text) > LONGEST:
        raise QueryError(f"the query is longer than {LONGEST:,} characters", hint="split it into several queries")
    statements = _parse(text, dialect, must_begin_query=must_begin_query)
    if not statements:
        raise QueryError("the query is empty", hint="write a SELECT")
    if len(statements) > 1:
        raise QueryError("there is more than one statement", hint="pass the queries one by one")
    (statement,) = statements
    return statement


def convert_to_spark(tree: exp.Expr) -> exp.Expr:
    """Return an expression of a dialect in Spark's dialect.

    Raises
    ------
    UnsupportedError
        If Spark's dialect cannot express it.
    """
    text = Dialect.get_or_raise("spark").generate(tree, copy=True, unsupported_level=ErrorLevel.RAISE)
    (converted,) = _parse(text, "spark")
    if isinstance(converted, exp.Alias):
        raise UnsupportedError(text)
    for part in converted.walk():
        part.meta.clear()  # these positions are those in another text
    return converted


def parse_spark_expression(text: str) -> exp.Expr:
    """Return the syntax tree of a text of ours: an expression in Spark's dialect."""
    (tree,) = _parse(text, "spark")
    for part in tree.walk():
        part.meta.clear()
    return tree


def _has_modifiers(subquery: exp.Subquery) -> bool:
    return any(value for key, value in subquery.args.items() if key != "this")


def _parse(text: str, dialect: str, *, must_begin_query: bool = False) -> list[exp.Expr]:
    language = Dialect.get_or_raise(dialect)
    try:
        tokens = language.tokenize(text)
    except TokenError:
        raise QueryError("a quote or a comment is not closed", text) from None
    _check_tokens(tokens, text)
    if must_begin_query and tokens and tokens[0].token_type not in _BEGINNINGS:
        raise QueryError(
            f"{tokens[0].text.upper()} does not begin a query", text, tokens[0].start, hint="write a SELECT"
        )
    parser = _make_parser_class(dialect)(dialect=language)
    parser.steps_left = _FREE_STEPS + _MOST_STEPS * len(tokens)
    try:
        trees = [tree for tree in parser.parse(tokens, text) if tree is not None]
    except ParseError as error:
        raise _make_parse_error(error, text) from None
    except (RecursionError, _ParserStepsError):
        raise _make_depth_error(text) from None
    for tree in trees:
        _check_depth(tree, text)
    return [tree for tree in trees if not isinstance(tree, exp.Semicolon)]


def _make_parse_error(error: ParseError, text: str) -> QueryError:
    first = error.errors[0]
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: first["line"] - 1])
    word = str(first["highlight"] or "")
    position = start + first["col"] - len(word)
    problem = f"{word} cannot be parsed here" if word.strip() else "this cannot be parsed"
    return QueryError(problem, text, max(0, min(position, len(text))), hint="check the syntax just before this place")


def _make_depth_error(text: str, position: int | None = None) -> QueryError:
    return QueryError(
        "the query is nested too deeply", text, position, hint="give parts of it a name: WITH part AS (…)"
    )


_OPENING = (TokenType.L_PAREN, TokenType.CASE, TokenType.L_BRACKET)
_CLOSING = (TokenType.R_PAREN, TokenType.END, TokenType.R_BRACKET)
_BEGINNINGS = (
    TokenType.SELECT,
    TokenType.WITH,
    TokenType.L_PAREN,
    TokenType.VALUES,
    TokenType.FROM,
    TokenType.SEMICOLON,
)
_BLOCKS = (TokenType.BLOCK_START, TokenType.BLOCK_END)


def _check_tokens(tokens: list[Token], text: str) -> None:
    """Refuse several statements, templates, and too many nested brackets, before anything is parsed."""
    if len(tokens) > _MOST_TOKENS:
        hint = "put long lists of values into a table, and split the query into several"
        raise QueryError(f"the query has more than {_MOST_TOKENS:,} words", hint=hint)
    depth = 0
    statement_ended = False
    previous: Token | None = None
    for token in tokens:
        kind = token.token_type
        if statement_ended and kind != TokenType.SEMICOLON:
            raise QueryError("there is more than one statement", text, token.start, hint="pass the queries one by one")
        statement_ended = kind == TokenType.SEMICOLON
        is_brace = kind == TokenType.L_BRACE and previous is not None and previous.token_type == TokenType.L_BRACE
        if kind in _BLOCKS or is_brace:
            raise QueryError(
                "the text is a template", text, token.start, hint="pass the compiled SQL: `dbt compile` writes it"
            )
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if depth > _MOST_BRACKETS:
            raise _make_depth_error(text, token.start)
        previous = token


def _check_depth(root: exp.Expr, text: str) -> None:
    """Refuse a too deeply nested tree; a chain of operators of the same kind counts as a single level."""
    stack: list[tuple[exp.Expr, int]] = [(root, 0)]
    while stack:
        tree, depth = stack.pop()
        if depth > _DEEPEST:
            raise _make_depth_error(text, find_position(tree))
        chained = isinstance(tree, exp.Connector | exp.SetOperation)
        stack += [
            (part, depth if chained and type(part) is type(tree) else depth + 1) for part in tree.iter_expressions()
        ]
