"""Watch a script making DataFrames, and adopt the DataFrames, views and tables under the script's names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from provenn.archive.adopting import is_dataframe
from provenn.archive.context import Context
from provenn.archive.handle import Catalog
from provenn.archive.notices import Notice
from provenn.errors import ProvennError

__all__ = ["Watched", "watch_function"]

P = ParamSpec("P")
T = TypeVar("T")

Adopt = Callable[[Any, str], Catalog]
"""Adopts a DataFrame under a name."""


@dataclass(slots=True)
class Watched:
    """The DataFrames, views and tables defined in the body of a ``with`` statement.

    At the end of the body, every DataFrame named by a local variable for the first time or anew is adopted under the
    name of the variable, and every new view or table under its own name. A raising body leaves nothing behind.

    Parameters
    ----------
    context
        The context of the archive.
    session
        The session of Spark that the body uses.
    adopt
        Adopts a DataFrame under a name.

    Attributes
    ----------
    catalogs
        The catalogs that were adopted, by name.
    refused
        Why other DataFrames were not adopted, by name.
    """

    context: Context
    session: Any
    adopt: Adopt
    catalogs: dict[str, Catalog] = field(default_factory=dict)
    refused: dict[str, ProvennError] = field(default_factory=dict)
    _before: dict[str, int] = field(default_factory=dict, repr=False)
    _tables: frozenset[str] = field(default=frozenset(), repr=False)

    def __enter__(self) -> Self:
        self._before = {name: id(frame) for name, frame in _list_frames(sys._getframe(1).f_locals)}  # noqa: SLF001
        self._tables = self._list_tables()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        for name, frame in list(_list_frames(sys._getframe(1).f_locals)):  # noqa: SLF001 - the caller's variables
            if self._before.get(name) != id(frame):
                self.take(name, frame)
        for name in sorted(self._list_tables() - self._tables):
            if name not in self.catalogs and name not in self.refused:
                self.take(name, self.session.table(name))

    def take(self, name: str, frame: Any) -> None:  # noqa: ANN401 - a DataFrame of Spark
        """Adopt a DataFrame, or note why adoption failed."""
        try:
            self.catalogs[name] = self.adopt(frame, name)
        except ProvennError as error:
            self.refused[name] = error
            self.context.workshop.notices.tell([Notice("not understood", f"{name} was not adopted: {error}")])

    def _list_tables(self) -> frozenset[str]:
        return frozenset(table.name for table in self.session.catalog.listTables())


def _list_frames(variables: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Return the DataFrames named by variables."""
    for name, value in variables.items():
        if not name.startswith("_") and is_dataframe(value):
            yield name, value


def watch_function(function: Callable[P, T], context: Context, adopt: Adopt) -> Callable[P, T]:
    """Return a function that also adopts all returned DataFrames; see `Archive.watch`."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> T:
        result = function(*arguments, **options)
        watched = Watched(context, None, adopt)
        for name, frame in _name_results(function.__name__, result):
            watched.take(name, frame)
        return result

    return call


def _name_results(name: str, result: object) -> Iterator[tuple[str, object]]:
    """Return the DataFrames of a result: by the keys of a dictionary, or with the name of the function."""
    if isinstance(result, Mapping):
        yield from ((str(key), value) for key, value in result.items() if is_dataframe(value))
    elif isinstance(result, list | tuple):
        yield from ((f"{name}_{number}", value) for number, value in enumerate(result, 1) if is_dataframe(value))
    elif is_dataframe(result):
        yield name, result
