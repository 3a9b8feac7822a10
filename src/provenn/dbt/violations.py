"""The meaning of tests: the rows that would make a test fail, as a catalog stated to be empty by the test.

The test ``not_null`` of a column says: no row of the table has NULL in this column; ``accepted_values``: no row has
another value (NULL is allowed, as in dbt); and ``relationships``: no row without NULL refers to a missing row. All
further tests are the queries compiled by dbt. The test ``unique`` is about pairs of rows, and has a module of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.calculators import SqlCalculator
from provenn.catalogs.schema import Attribute
from provenn.criteria import backquoted, parse_type
from provenn.criteria.types import INTEGRAL
from provenn.dbt.resources import Constant, DataTest
from provenn.dbt.tables import ProjectTable, ProjectTables, QueryTranslator, Violation, find_column
from provenn.errors import ProvennError

__all__ = ["ReadTests", "read_tests"]

_STRING = parse_type("string")
_NUMBERS = (*(kind.name for kind in INTEGRAL), "decimal")


@dataclass(frozen=True, slots=True)
class ReadTests:
    """The tests of a project, as far as they are understood.

    Parameters
    ----------
    violations
        Tests about single rows.
    unique
        Tests that rows differ, with the tested table.
    unread
        Why other tests say nothing about catalogs, with these tests.
    """

    violations: tuple[Violation, ...]
    unique: tuple[tuple[DataTest, ProjectTable], ...]
    unread: tuple[tuple[DataTest, str], ...]


class _UnreadableError(Exception):
    """A test says nothing about catalogs; the message says why."""


def read_tests(project: ProjectTables, translator: QueryTranslator) -> ReadTests:
    """Return the tests of a project with their meaning."""
    violations, unique, unread = [], [], []
    for test in project.manifest.tests:
        try:
            if test.kind == "unique" and not test.unreadable:
                unique.append((test, _find_table(project, test.resource)))
            else:
                violations.append(Violation(test, _find_violating_rows(project, test, translator)))
        except _UnreadableError as error:
            unread.append((test, str(error)))
        except ProvennError as error:
            unread.append((test, error.message.splitlines()[0]))
    return ReadTests(tuple(violations), tuple(unique), tuple(unread))


def _find_violating_rows(project: ProjectTables, test: DataTest, translator: QueryTranslator) -> Catalog:
    """Return the rows that would make a test fail."""
    if test.unreadable:
        raise _UnreadableError(test.unreadable)
    match test.kind:
        case "not_null":
            table = _find_table(project, test.resource)
            attribute = _get_column(table, test.columns[0])
            return verbs.select(table.definition, f"{backquoted(attribute.name)} IS NULL")
        case "accepted_values":
            table = _find_table(project, test.resource)
            attribute = _get_column(table, test.columns[0])
            values = ", ".join(_write_values(attribute, test.values, is_quoted=test.is_quoted))
            return verbs.select(table.definition, f"{backquoted(attribute.name)} NOT IN ({values})")
        case "relationships":
            return _find_rows_without_partner(project, test)
        case _:
            if not test.code:
                raise _UnreadableError("its SQL is not compiled")
            return translator.translate(test.code, project.manifest.dialect, project.by_relation).definition


def _find_table(project: ProjectTables, identity: str) -> ProjectTable:
    table = project.tables.get(identity)
    if table is None:
        reason = project.left_out.get(identity)
        raise _UnreadableError(
            f"{project.names.get(identity, identity)} was left out" + (f": {reason}" if reason else "")
        )
    return table


def _get_column(table: ProjectTable, name: str) -> Attribute:
    attribute = find_column(table, name)
    if attribute is None:
        raise _UnreadableError(f"{table.name} has no column {name}")
    return attribute


def _write_values(attribute: Attribute, values: Sequence[Constant], *, is_quoted: bool) -> list[str]:
    """Return constants in Spark's words, if the constants mean the same in Spark as in any warehouse.

    A text is a text only in a column of texts; a quoted whole number is a number in a column of numbers.
    """
    if not values:
        raise _UnreadableError("it accepts no values")
    if attribute.type == _STRING:
        if not is_quoted and not all(_is_quoted_text(value) for value in values):
            raise _UnreadableError(f"{attribute.name} is a text, and its accepted values are not")
        texts = [str(value) if is_quoted else str(value)[1:-1] for value in values]
        return [exp.Literal.string(text).sql("spark") for text in texts]
    if attribute.type.name in _NUMBERS and all(_is_whole_number(value) for value in values):
        return [str(int(value)) for value in values]
    if attribute.type.name == "boolean" and all(str(value).lower() in ("true", "false") for value in values):
        return [str(value).lower() for value in values]
    raise _UnreadableError(f"the accepted values of {attribute.name}, a {attribute.type}, are not understood")


def _is_quoted_text(value: Constant) -> bool:
    """Return whether a value is a text between single quotes, without further ones."""
    text = str(value)
    return len(text) > 1 and text[0] == text[-1] == "'" and "'" not in text[1:-1]


def _is_whole_number(value: Constant) -> bool:
    return not isinstance(value, bool | float) and str(value).removeprefix("-").isdecimal() and str(value).isascii()


def _find_rows_without_partner(project: ProjectTables, test: DataTest) -> Catalog:
    """Return the rows that refer to a missing row of the referenced table."""
    table, parent = _find_table(project, test.resource), _find_table(project, test.parent)
    attribute, field = _get_column(table, test.columns[0]), _get_column(parent, test.field)
    child, other = table.definition, parent.definition
    if [key.identity for key in other.schema.key] != [field.identity]:
        raise _UnreadableError(f"{test.field} is not known to be the key of {parent.name}")
    present = verbs.select(child, f"{backquoted(attribute.name)} IS NOT NULL")
    if attribute.identity == field.identity:  # the column is the key of the same population
        return verbs.exclude(present, other)
    name = attribute.name
    if attribute.type != field.type:
        if attribute.type not in INTEGRAL or field.type not in INTEGRAL:
            raise _UnreadableError(f"{attribute.name} is a {attribute.type}, and {field.name} a {field.type}")
        name = f"{name} of {parent.name}"
        cast = SqlCalculator.of({name: f"CAST({backquoted(attribute.name)} AS {field.type})"})
        child = verbs.derive(child, cast)
    partnered = verbs.lookup(child, other, on=name, attributes=(), missing="drop")
    return verbs.exclude(present, partnered)
