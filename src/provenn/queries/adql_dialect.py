"""ADQL, the query language of the Virtual Observatory, as a dialect of sqlglot: its words and its grammar.

All functions stay calls as they are written: `provenn.queries.adql_expressions` gives them their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp, tokens
from sqlglot import parser as sqlglot_parser
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

from provenn.errors import QueryError

__all__ = ["ADQL", "Adql"]

ADQL = "adql"
"""The name of the dialect."""

_TYPED = ("AVG", "COALESCE", "COUNT", "MAX", "MIN", "SUM")
_SPECIAL = ("CAST",)


class Adql(Dialect):
    """ADQL 2.1."""

    SAFE_DIVISION = True  # a division by zero is NULL, and `/` never drops a fraction, as in Spark
    TYPED_DIVISION = False
    NULL_ORDERING = "nulls_are_small"

    class Tokenizer(tokens.Tokenizer):
        """Words of ADQL: names in double quotes, texts in single quotes, comments after ``--``."""

        IDENTIFIERS: ClassVar = ['"']
        QUOTES: ClassVar = ["'"]
        COMMENTS: ClassVar = ["--"]
        HEX_STRINGS: ClassVar = [("0x", ""), ("0X", "")]
        KEYWORDS: ClassVar = {**tokens.Tokenizer.KEYWORDS, "TOP": TokenType.TOP}

    class Parser(sqlglot_parser.Parser):
        """The grammar of ADQL, which has TOP in place of LIMIT."""

        FUNCTIONS: ClassVar = {name: sqlglot_parser.Parser.FUNCTIONS[name] for name in _TYPED}
        FUNCTION_PARSERS: ClassVar = {name: sqlglot_parser.Parser.FUNCTION_PARSERS[name] for name in _SPECIAL}
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {
            name: sqlglot_parser.Parser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("ANY", "CASE")
        }
        NO_PAREN_FUNCTIONS: ClassVar = {}
        COLUMN_OPERATORS: ClassVar = {TokenType.DOT: None}

        def _parse_csv(
            self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA
        ) -> list[Any]:  # the types of sqlglot
            def parse_item() -> Any:  # noqa: ANN401 - as above
                comma = self._prev
                item = parse_method()
                if item is None and sep == TokenType.COMMA and comma is not None and comma.token_type == sep:
                    raise QueryError("nothing follows this comma", self.sql, comma.start, hint="remove the comma")
                return item

            return super()._parse_csv(parse_item, sep)

        def _parse_limit(
            self, this: exp.Expr | None = None, top: bool = False, skip_limit_token: bool = False
        ) -> exp.Expr | None:
            token = self._curr
            if not top and token is not None and token.token_type in (TokenType.LIMIT, TokenType.FETCH):
                word = token.text.upper()
                raise QueryError(f"ADQL has no {word}", self.sql, token.start, hint="write SELECT TOP 10 …")
            return super()._parse_limit(this, top, skip_limit_token)
