"""The names usable in a part of a query: tables with their columns, and the columns of enclosing queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from provenn.queries.tree import Column

__all__ = ["ColumnMatch", "Scope", "Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A table, or a query, in FROM.

    Parameters
    ----------
    qualifier
        The parts of its name in lower case, the name of the database first.
    columns
        Its columns.
    """

    qualifier: tuple[str, ...]
    columns: tuple[Column, ...]

    def has_name(self, parts: Sequence[str]) -> bool:
        """Tell whether parts of a name, in lower case, are the end of the name of the source."""
        return 0 < len(parts) <= len(self.qualifier) and self.qualifier[-len(parts) :] == tuple(parts)


@dataclass(frozen=True, slots=True)
class ColumnMatch:
    """A column that a name may mean.

    Parameters
    ----------
    column
        The column.
    fields
        How many parts of the name are fields of a struct in the column.
    """

    column: Column
    fields: int


@dataclass(frozen=True)
class Scope:
    """The names usable in expressions.

    Parameters
    ----------
    sources
        The tables in FROM.
    visible
        The columns that need no name of a table: those of * in their order.
    outer
        The scope of the enclosing query.
    """

    sources: tuple[Source, ...] = ()
    visible: tuple[Column, ...] = ()
    outer: Scope | None = None

    @cached_property
    def _columns_by_name(self) -> dict[str, list[Column]]:
        names: dict[str, list[Column]] = {}
        for column in self.visible:
            names.setdefault(column.name.lower(), []).append(column)
        return names

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The numbers of all columns of this scope, without enclosing ones."""
        return frozenset(column.number for column in chain(self.visible, *(source.columns for source in self.sources)))

    def find_matches(self, parts: Sequence[str]) -> list[ColumnMatch]:
        """Return the columns of this scope, without enclosing scopes, possibly meant by a name in lower case."""
        for length in range(len(parts) - 1, 0, -1):
            matches = [
                ColumnMatch(column, len(parts) - length - 1)
                for source in self.sources
                if source.has_name(parts[:length])
                for column in source.columns
                if column.name.lower() == parts[length]
            ]
            if matches:
                return _remove_repetitions(matches)
        return _remove_repetitions(
            ColumnMatch(column, len(parts) - 1) for column in self._columns_by_name.get(parts[0], ())
        )

    def find_sources(self, parts: Sequence[str]) -> list[Source]:
        """Return the sources with a name in lower case."""
        return [source for source in self.sources if source.has_name(parts)]

    def iterate_outwards(self) -> Iterator[Scope]:
        """Return this scope, then the enclosing ones."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def list_names(self) -> list[str]:
        """Return the names of all visible columns, columns of enclosing queries included."""
        return [column.name for scope in self.iterate_outwards() for column in scope.visible]

    def join(self, other: Scope) -> Scope:
        """Return the scope with the sources of both."""
        return Scope((*self.sources, *other.sources), (*self.visible, *other.visible), self.outer)


def _remove_repetitions(matches: Iterable[ColumnMatch]) -> list[ColumnMatch]:
    return list(dict.fromkeys(matches))
