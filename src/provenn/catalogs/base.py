"""A catalog that is not made from others: files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Self

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.file_columns import Column
from provenn.catalogs.files import Files
from provenn.catalogs.population import Population
from provenn.catalogs.row_keys import with_row_key
from provenn.catalogs.schema import Attribute, Schema
from provenn.catalogs.type_names import type_named
from provenn.criteria import matching_names
from provenn.errors import AttributeNotFoundError, KeyColumnsError
from provenn.logic import Statement

__all__ = ["Base"]

_INTEGRAL = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Base(Catalog):
    """The rows of files. That the key is unique and never NULL is taken on trust here: who reads the data checks it.

    Parameters
    ----------
    population
        What one row is.
    key
        The columns that identify a source, in the order of the population's key.
    files
        The files.
    """

    population: Population
    key: tuple[str, ...]
    files: Files

    @classmethod
    def of(cls, files: Files, *, key: str | Sequence[str] | None, population: str | Population) -> Self:
        """Take files for a catalog.

        Parameters
        ----------
        files
            The files.
        key
            The column or columns that identify a source. None if there are none: a source is a row of a file then,
            known by what the file holds and the place of the row (`provenn.catalogs.row_keys`).
        population
            What one row is. A name alone makes a population with the key's types as they are in the files.

        Raises
        ------
        AttributeNotFoundError
            If there is no such column.
        KeyColumnsError
            If the columns cannot be the key of the population.
        """
        if key is None:
            files = with_row_key(files)
            key = files.row_key
        columns = {one.name: one for one in files.columns}
        chosen = [_column(name, columns) for name in ([key] if isinstance(key, str) else key)]
        for one in chosen:
            if chosen.count(one) > 1:
                raise KeyColumnsError(f"the key column {one.name} is named twice")
            if not one.type.scalar:
                raise KeyColumnsError(f"the key column {one.name} is a {one.type}, whose values cannot be compared")
        if isinstance(population, str):
            population = Population(population, tuple(one.type for one in chosen))
        _check_key(chosen, population)
        return cls(population, tuple(one.name for one in chosen), files)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """None."""
        return ()

    def moved(self, location: str | PathLike[str]) -> Self:
        """Return the same catalog, with its files at another place."""
        return replace(self, files=self.files.moved(location))

    def parameters(self) -> Parameters:
        """Population, key and the files, by what they hold."""
        identity, _ = self.files.to_json()
        types = [str(kind) for kind in self.population.key]
        return {**identity, "key": list(self.key), "population": [self.population.name, types]}

    def notes(self) -> Parameters:
        """Where the files are, and what is said of them."""
        return self.files.to_json()[1]

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog that has these parameters and notes."""
        name, types = parameters["population"]
        population = Population(name, tuple(map(type_named, types)))
        return cls(population, tuple(parameters["key"]), Files.from_json(parameters, notes))

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement | None:  # noqa: ARG003
        """Nothing: a fresh set."""
        return None

    def _own_population(self) -> Population:
        return self.population

    def _own_schema(self) -> Schema:
        return Schema(tuple(map(self._attribute, self.files.columns)))

    def _own_extent(self) -> Extent:
        return leaf(self.digest)

    def _attribute(self, column: Column) -> Attribute:
        said = (column.unit, column.description, column.ucd)
        if column.name not in self.key:
            return Attribute(column.name, f"{self.digest}:{column.name}", column.type, column.nullable, *said)
        # A row without a key is no source.
        position = self.key.index(column.name)
        kind = self.population.key[position]
        return Attribute(column.name, self.population.key_identity(position), kind, False, *said)


def _column(name: str, columns: dict[str, Column]) -> Column:
    matches = matching_names(name, columns)
    if len(matches) != 1:
        raise AttributeNotFoundError(name, columns, matches)
    return columns[matches[0]]


def _check_key(chosen: Sequence[Column], population: Population) -> None:
    """Refuse columns that are not of the types of a population; whole numbers may be narrower."""
    fits = len(chosen) == len(population.key) and all(
        column.type == kind
        or (
            column.type.name in _INTEGRAL
            and kind.name in _INTEGRAL
            and _INTEGRAL.index(column.type.name) <= _INTEGRAL.index(kind.name)
        )
        for column, kind in zip(chosen, population.key, strict=True)
    )
    if not fits:
        given = ", ".join(f"{column.name} {column.type}" for column in chosen)
        raise KeyColumnsError(
            f"the key of the population {population} cannot be ({given})",
            hint="name the key columns in its order; or, if a row is something else, another population",
        )
