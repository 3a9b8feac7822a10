"""The text of opaque catalogs: one SELECT, or one condition, that provenn checks but does not understand.

The text is parsed, everything in it is compared with a list of what is allowed, and it is written again from the parsed
form. Spark only ever gets the text that is written here. It reads tables ``input_1``, ``input_2`` …, which are the
dependencies of the catalog; a condition also reads columns ``parent.name``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from provenn import deadline
from provenn.catalogs.opaque_functions import UNITS
from provenn.catalogs.opaque_rules import check_tree
from provenn.errors import DefinitionError
from provenn.gate.entrances import entrance

__all__ = [
    "LONGEST",
    "PARENT",
    "OpaqueText",
    "find_input_number",
    "make_input_name",
    "read_condition",
    "read_query",
]

LONGEST = 100_000
"""The maximum length of a text in characters."""
PARENT = "parent"
"""The qualifier of the columns of the parent in a condition."""

_INPUT = re.compile(r"input_([1-9][0-9]{0,3})")
_MOST_BRACKETS = 100
_DEEPEST = 400
_MOST_STEPS = 40
_FREE_STEPS = 1000
_SURROGATE = re.compile("[\ud800-\udfff]")


class _ParserStepsError(Exception):
    """The parser backtracked too often."""


class _QueryParser(SparkParser):
    """Spark's syntax, with every function kept as written, so that it is written again as it was."""

    FUNCTIONS = {}  # noqa: RUF012 - sqlglot declares these so
    FUNCTION_PARSERS = {  # noqa: RUF012
        name: SparkParser.FUNCTION_PARSERS[name]
        for name in ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM", "TRY_CAST")
    }
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


@dataclass(frozen=True, slots=True)
class OpaqueText:
    """A checked text. Trees are not shared: each method works on a copy.

    Parameters
    ----------
    canonical
        The text, written from its parsed form.
    is_condition
        Whether it is a condition on a row of the parent.
    inputs
        The numbers of the tables that it reads, in the order of their first appearance.
    names
        All identifiers in the text: a column that the text names is among them.
    reads_all
        Whether a star or a natural join may read columns that the text does not name.
    parent_columns
        For a condition: the names of the columns of the parent, in the order of their first appearance.
    """

    canonical: str
    is_condition: bool
    inputs: tuple[int, ...]
    names: frozenset[str]
    reads_all: bool
    parent_columns: tuple[str, ...]

    def renumber(self, numbers: Mapping[int, int], *, is_plain: bool) -> str:
        """Return the canonical text with other numbers of tables.

        Parameters
        ----------
        numbers
            The new numbers, by the old.
        is_plain
            Whether only tables are called ``input_1``, ``input_2`` …, no column. Then the text gets the new names
            throughout, if no two tables become one; otherwise the old names stay as aliases.
        """
        tree = _parse(self.canonical, is_condition=self.is_condition)
        identifiers = [name for name in tree.find_all(exp.Identifier) if find_input_number(name.name) in numbers]
        if is_plain and len(set(numbers.values())) == len(numbers) and all(map(_names_table, identifiers)):
            for identifier in identifiers:
                number = find_input_number(identifier.name)
                if number is not None:
                    identifier.set("this", make_input_name(numbers[number]))
            return _write_tree(tree)
        return self._write(lambda number: make_input_name(numbers[number]))

    def rename_parent(self, columns: Mapping[str, str]) -> str:
        """Return the canonical text with other names of the columns of the parent."""
        return self._write(make_input_name, columns)

    def write_for_spark(self, views: Mapping[int, str], token: str, columns: Mapping[str, str] | None = None) -> str:
        """Return the text for Spark.

        Parameters
        ----------
        views
            The names of the temporary views, by the number of the table.
        token
            A word that no name in the session holds. Names of common table expressions begin with it, so that none of
            them can mean a table of the session.
        columns
            The columns of the parent, by name; their qualifier is the token.
        """
        return self._write(views.__getitem__, columns, token)

    def _write(
        self, name_input: Callable[[int], str], columns: Mapping[str, str] | None = None, token: str | None = None
    ) -> str:
        tree = _parse(self.canonical, is_condition=self.is_condition)
        if columns is not None:
            for column in _list_parent_columns(tree):
                qualifier, own = column.parts[:2]
                own.set("this", columns[own.name])
                if token is not None:
                    qualifier.set("this", token)
        for table in list(tree.find_all(exp.Table)):
            number = find_input_number(table.name) if isinstance(table.this, exp.Identifier) else None
            if number is not None:
                _rename_table(table, name_input(number))
            elif token is not None and isinstance(table.this, exp.Identifier):
                _rename_table(table, f"{token}_{table.name}")
        if token is not None:
            for common in tree.find_all(exp.CTE):
                common.args["alias"].this.set("this", f"{token}_{common.alias}")
        return _write_tree(tree)


def make_input_name(number: int) -> str:
    """Return the name of a table in the text, from its number."""
    return f"input_{number}"


def find_input_number(name: str) -> int | None:
    """Return the number of the table with a name; None for another name."""
    match = _INPUT.fullmatch(name)
    return None if match is None else int(match[1])


@entrance("opaque SQL", "length", "criteria")
def read_query(text: object, count: int) -> OpaqueText:
    """Check a SELECT over tables ``input_1`` to ``input_count``.

    Raises
    ------
    DefinitionError
        If the text is not one SELECT, or holds anything that is not allowed.
    """
    return _read(_check_text(text), count, False)


@entrance("opaque condition", "length", "criteria")
def read_condition(text: object, count: int) -> OpaqueText:
    """Check a condition on columns ``parent.name``, with subqueries over tables ``input_1`` to ``input_count``.

    Raises
    ------
    DefinitionError
        If the text is not one condition, or holds anything that is not allowed.
    """
    return _read(_check_text(text), count, True)


@lru_cache(maxsize=1_000)
def _read(text: str, count: int, is_condition: bool) -> OpaqueText:
    first_tree = _parse(text, is_condition=is_condition)
    check_tree(first_tree, is_condition=is_condition, parent=PARENT)
    canonical = _write_tree(first_tree)
    if len(canonical) > LONGEST:
        raise _make_length_error(len(canonical))
    # Spark gets the canonical text, so this text is checked again as it is.
    tree = _parse(canonical, is_condition=is_condition)
    check_tree(tree, is_condition=is_condition, parent=PARENT)
    if _write_tree(tree) != canonical:
        raise DefinitionError(f"this SQL has no stable form: {_abridge(text)}", hint="write it in a simpler form")
    numbers = dict.fromkeys(number for number in map(_find_number, _walk(tree, exp.Table)) if number is not None)
    for number in numbers:
        if number > count:
            raise DefinitionError(
                f"the SQL reads {make_input_name(number)}, but there are {count} inputs",
                hint="tables are called input_1, input_2 and so on, in the order of the catalogs",
            )
    names = frozenset(identifier.name for identifier in tree.find_all(exp.Identifier))
    parent_columns = tuple(dict.fromkeys(column.parts[1].name for column in _list_parent_columns(tree)))
    return OpaqueText(
        canonical,
        is_condition,
        tuple(numbers),
        names,
        _reads_unnamed_columns(tree),
        parent_columns if is_condition else (),
    )


def _names_table(identifier: exp.Identifier) -> bool:
    """Return whether an identifier is a table, or the qualifier of a column."""
    place = identifier.parent
    if isinstance(place, exp.Column):
        return len(place.parts) > 1 and place.parts[0] is identifier
    return isinstance(place, exp.Table) and place.this is identifier


def _find_number(table: exp.Expr) -> int | None:
    return find_input_number(table.name) if isinstance(table.this, exp.Identifier) else None


def _walk(tree: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield the nodes of a class in the order of the text."""
    return (node for node in tree.dfs() if isinstance(node, kind))


def _list_parent_columns(tree: exp.Expr) -> list[exp.Column]:
    """Return the columns that are qualified with the name of the parent."""
    return [
        node
        for node in tree.dfs()
        if isinstance(node, exp.Column) and len(node.parts) > 1 and node.parts[0].name == PARENT
    ]


def _reads_unnamed_columns(tree: exp.Expr) -> bool:
    """Return whether a star, but for count(*), or a natural join reads columns that the text does not name."""
    for node in tree.walk():
        if isinstance(node, exp.Join) and (node.method or "").upper() == "NATURAL":
            return True
        if isinstance(node, exp.Star) and not (
            isinstance(node.parent, exp.Anonymous)
            and node.parent.name.lower() == "count"
            and len(node.parent.expressions) == 1
        ):
            return True
    return False


def _rename_table(table: exp.Table, name: str) -> None:
    """Give a table another name; the text goes on to know it by its old name, as an alias."""
    if name == table.name:
        return
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
    table.set("this", exp.to_identifier(name, quoted=True))


def _write_tree(tree: exp.Expr) -> str:
    return tree.sql(dialect="spark", comments=False, identify=True, normalize_functions="upper")


def _check_text(text: object) -> str:
    if not isinstance(text, str):
        raise DefinitionError(f"expected SQL, got {text!r}")
    if len(text) > LONGEST:
        raise _make_length_error(len(text))
    if not text.isascii() and _SURROGATE.search(text):
        raise DefinitionError("the SQL is not valid text", hint="use valid Unicode text")
    return text


def _make_length_error(length: int) -> DefinitionError:
    return DefinitionError(
        f"the SQL has {length:,} characters, more than {LONGEST:,}", hint="split the query into several catalogs"
    )


def _parse(text: str, *, is_condition: bool) -> exp.Expr:
    """Return the tree of the only statement, or of the only condition, in a text."""
    dialect = Spark()
    wanted = "condition" if is_condition else "SELECT"
    try:
        tokens = dialect.tokenize(text)
        _check_brackets(tokens)
        parser = _QueryParser(dialect, _FREE_STEPS + _MOST_STEPS * len(tokens))
        trees = parser.parse_into(exp.Condition, tokens, text) if is_condition else parser.parse(tokens, text)
    except (ParseError, TokenError) as error:
        problem = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
        place = f" near {problem['highlight']!r}" if problem.get("highlight") else ""
        raise DefinitionError(f"this SQL cannot be parsed{place}: {_abridge(text)}") from None
    except (RecursionError, _ParserStepsError):
        raise _make_depth_error() from None
    statements = [tree for tree in trees if tree is not None]
    if len(statements) != 1:
        raise DefinitionError(f"expected one {wanted}, got {len(statements)}: {_abridge(text)}")
    tree = statements[0]
    if not is_condition and not isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery):
        raise DefinitionError(f"expected one SELECT, got {_abridge(text)}", hint="write a query that only reads")
    _check_depth(tree)
    for call in list(tree.find_all(exp.Anonymous)):
        _mark_unit(call)
    return tree


def _mark_unit(call: exp.Anonymous) -> None:
    """Keep the unit of a function such as datediff a word: in backquotes it would be a column."""
    arguments = call.expressions
    if call.name.lower() in UNITS and len(arguments) == 3 and isinstance(arguments[0], exp.Column):
        arguments[0].replace(exp.Var(this=arguments[0].name.upper()))


def _check_brackets(tokens: list[Token]) -> None:
    depth = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.CASE, TokenType.L_BRACKET):
            depth += 1
            if depth > _MOST_BRACKETS:
                raise _make_depth_error()
        elif token.token_type in (TokenType.R_PAREN, TokenType.END, TokenType.R_BRACKET):
            depth -= 1


def _check_depth(tree: exp.Expr) -> None:
    stack = [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > _DEEPEST:
            raise _make_depth_error()
        stack.extend((child, depth + 1) for child in node.iter_expressions())


def _make_depth_error() -> DefinitionError:
    return DefinitionError("the SQL is nested too deeply", hint="split the query into several catalogs")


def _abridge(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
