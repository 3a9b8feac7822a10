"""The rows of a query in SQL that provenn does not understand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.column_origins import ColumnOrigin, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.opaque_inputs import MOST_INPUTS, check_reason, choose_inputs, list_read_attributes
from provenn.catalogs.population import Population
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.reference_columns import read_names
from provenn.catalogs.schema import Attribute, Schema, check_name, make_own_identity
from provenn.criteria import DefinedAttribute
from provenn.criteria.platforms import Trait
from provenn.criteria.types import INT, STRING, Type
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.errors import DefinitionError, KeyColumnsError, PopulationError, did_you_mean
from provenn.files.type_names import parse_spark_type, restore_type
from provenn.logic import Statement

if TYPE_CHECKING:
    from provenn.catalogs.opaque_text import OpaqueText

__all__ = ["OpaqueQuery", "ResultColumn"]

_WORD: Final = "opaque query"
_ROW, _COPY = "row", "copy"
_BAG_KEY: Final = (STRING, INT)
_MOST_COLUMNS: Final = 10_000
_PLAIN_TYPE = re.compile(r"(?:[\w<>,: ]|\(\d+(?:, ?\d+)?\))+")


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of the result of a query.

    Parameters
    ----------
    name
        Its name.
    type
        The type of its values.
    nullable
        Whether a row can be without a value.
    """

    name: str
    type: Type
    nullable: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpaqueQuery(Catalog):
    """The rows of a SELECT; provenn knows nothing about them but their columns.

    With a key, a row is a source that its key identifies. Without a key, the result is a bag: a source is a row's
    content (a digest of all its values) together with the number of the copy, so that equal rows are different sources.

    Parameters
    ----------
    inputs
        The catalogs that the query reads: its tables ``input_1``, ``input_2`` ….
    text
        The query in canonical form.
    columns
        The columns of its result.
    key
        The columns that identify a row; empty for a bag.
    population_name
        The name of the population of the rows.
    reason
        Why provenn does not understand the query, in words.
    """

    profile = ClassProfile(
        word=_WORD,
        shape="smoked drum",
        part_counts=range(1, MOST_INPUTS + 1),
        makes_base_set=True,
        crosses_populations=True,
    )
    inputs: tuple[Catalog, ...]
    text: str
    columns: tuple[ResultColumn, ...]
    key: tuple[str, ...]
    population_name: str
    reason: str

    @classmethod
    def of(
        cls,
        inputs: Sequence[Catalog],
        text: object,
        columns: Iterable[Sequence[object] | ResultColumn],
        *,
        key: object = None,
        population: Population | str | None = None,
        reason: str = "",
    ) -> Self:
        """Define a catalog of the rows of a query.

        Parameters
        ----------
        inputs
            The catalogs that the query reads; catalogs that it does not read are left out.
        text
            One SELECT in Spark's SQL over tables ``input_1``, ``input_2`` ….
        columns
            Name, type, and whether a value can be NULL, of each column of the result, in order. Spark checks them when
            the rows are first computed.
        key
            The columns that identify a row: a name, or a list of names. Without, the result is a bag.
        population
            What one row is. By default, it is named after the key, or after all columns of a bag.
        reason
            Why provenn does not understand the query, in words.

        Raises
        ------
        DefinitionError
            If the text holds anything that is not allowed, or an argument is not valid.
        KeyColumnsError
            If the columns cannot be the key of the population.
        PopulationError
            If the name cannot name a population.
        AttributeConflictError
            If two columns have the same name.
        """
        query, used = choose_inputs(_read_text(text, inputs), inputs)
        results = tuple(_make_column(column) for column in columns)
        names = () if key is None else tuple(read_names(key, "the key"))
        name = population.name if isinstance(population, Population) else population or _name_population(results, names)
        catalog = cls(used, query.canonical, results, names, name, check_reason(reason))
        if isinstance(population, Population) and catalog.population != population:
            raise KeyColumnsError(
                f"the key of the population {population} cannot be that of {catalog.population}",
                hint="name the key columns in that order, with its types; or choose another population",
            )
        return catalog

    def _define_anew(self) -> Catalog:
        return self.on(self.inputs)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The inputs."""
        return self.inputs

    @property
    def is_bag(self) -> bool:
        """Whether a source is a row's content and the number of the copy."""
        return not self.key

    def read_query(self) -> OpaqueText:
        """Return the query."""
        return _read_text(self.text, self.inputs)

    def _list_columns(self) -> list[list[str | bool]]:
        return [[column.name, str(column.type), column.nullable] for column in self.columns]

    def parameters(self) -> Parameters:
        """Return the query, the columns of its result, the key, and the population."""
        return {
            "text": self.text,
            "columns": self._list_columns(),
            "key": list(self.key),
            "population": self.population_name,
        }

    def notes(self) -> Parameters:
        """Return why provenn does not understand the query."""
        return {"reason": self.reason}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies, after reading the query again."""
        _read_text(parameters["text"], dependencies)
        columns = tuple(
            ResultColumn(check_name(name), _check_type(kind), _check_flag(nullable))
            for name, kind, nullable in parameters["columns"]
        )
        key = tuple(map(check_name, parameters["key"]))
        reason = check_reason(notes["reason"])
        return cls(tuple(dependencies), parameters["text"], columns, key, parameters["population"], reason)

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same query on different catalogs."""
        return self.of(
            dependencies,
            self.text,
            self.columns,
            key=self.key or None,
            population=self.population_name,
            reason=self.reason,
        )

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement | None:  # noqa: ARG003
        """Return None: a row is no source of an input."""
        return None

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Return no statement: nothing is known about the rows."""
        return (), ()

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> tuple[DefinedAttribute, ...]:
        """Return the columns of the result, and the key."""
        types = {name: restore_type(kind) for name, kind, _ in parameters["columns"]}
        key = tuple(types[name] for name in parameters["key"]) or _BAG_KEY
        columns = (
            DefinedAttribute(make_own_identity(digest, name), types[name], nullable)
            for name, _, nullable in parameters["columns"]
            if name not in parameters["key"]
        )
        identified = (
            DefinedAttribute(Population.name_key(parameters["population"], position), kind, nullable=False)
            for position, kind in enumerate(key)
        )
        return *columns, *identified

    # --- the definition in words and in exchanged files ---

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the query and its inputs."""
        tables = [f"input_{number} is {part}" for number, part in enumerate(parts, 1)]
        return f"the rows of a query that is not understood: {parameters['text']}, where {join_words(tables)}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the inputs."""
        return f"a query on {', '.join(parts)}"

    def explain_opacity(self) -> str:
        """Return the reason."""
        return self.reason or "no reason is recorded"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the query, the key, and why the query is not understood."""
        key = ", ".join(self.key) or "none: equal rows are counted"
        return (
            ("query", self.text),
            ("key", key),
            ("population", self.population_name),
            ("not understood", self.explain_opacity()),
        )

    def exchange_form(self) -> ExchangeForm:
        """Return the query, the columns of its result, the key, the population and the reason."""
        return self.profile.word, {
            "text": self.text,
            "columns": self._list_columns(),
            "key": list(self.key),
            "population": self.population_name,
            "reason": self.reason,
        }

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the rows of the query on the parts."""
        key, population = options["key"] or None, options["population"]
        return cls.of(
            parts, options["text"], options["columns"], key=key, population=population, reason=options["reason"]
        )

    # --- the lineage of rows and values ---

    @property
    def row_parents(self) -> tuple[Catalog, ...]:
        """An empty tuple: a row of the result is no row of an input."""
        return ()

    def _trace(self, kind: str, subtype: str) -> tuple[ColumnOrigin, ...]:
        text = self.read_query()
        return tuple(
            origin
            for catalog in self.inputs
            for origin in build_origins(catalog.digest, list_read_attributes(text, catalog), kind, subtype, self.text)
        )

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return all attributes that the query reads as origins of each column."""
        origins = self._trace("DIRECT", "TRANSFORMATION")
        return dict.fromkeys(self.schema.names, origins)

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return all attributes that the query reads."""
        return self._trace("INDIRECT", "CONDITIONAL")

    def find_own_traits(self) -> frozenset[Trait]:
        """Return all traits: nobody knows what the query calculates."""
        return frozenset(Trait)

    def _build_population(self) -> Population:
        if not self.inputs:
            raise DefinitionError("the query reads no catalog", hint="read input_1")
        if not 0 < len(self.columns) <= _MOST_COLUMNS:
            raise DefinitionError(f"expected 1 to {_MOST_COLUMNS:,} columns, got {len(self.columns)}")
        if not isinstance(self.population_name, str):
            raise PopulationError(f"expected the name of a population, got {self.population_name!r}")
        by_name = {column.name: column for column in self.columns}
        for position, name in enumerate(self.key):
            if name not in by_name:
                hint = did_you_mean(name, by_name) or f"the columns are {join_words(tuple(by_name))}"
                raise KeyColumnsError(f"the key column {name} is no column of the result", hint=hint)
            if name in self.key[:position]:
                raise KeyColumnsError(f"the key column {name} is named twice")
            if not by_name[name].type.scalar:
                raise KeyColumnsError(
                    f"the key column {name} has the type {by_name[name].type}, whose values cannot be compared"
                )
        return Population(self.population_name, tuple(by_name[name].type for name in self.key) or _BAG_KEY)

    def _build_schema(self) -> Schema:
        key = [] if self.key else [self._make_key(position, name) for position, name in enumerate((_ROW, _COPY))]
        return Schema((*key, *(self._make_attribute(column) for column in self.columns)))

    def _make_key(self, position: int, name: str) -> Attribute:
        """Return a key attribute of a bag, under a name that no column has."""
        taken = {column.name for column in self.columns}
        while name in taken:
            name += "_2"
        return Attribute(name, self.population.key_identity(position), _BAG_KEY[position], False)

    def _make_attribute(self, column: ResultColumn) -> Attribute:
        if column.name in self.key:
            identity = self.population.key_identity(self.key.index(column.name))
            return Attribute(column.name, identity, column.type, False)
        return Attribute(column.name, make_own_identity(self.digest, column.name), column.type, column.nullable)

    def _build_extent(self) -> Extent:
        return leaf(self.digest)


def _make_column(column: Sequence[object] | ResultColumn) -> ResultColumn:
    """Return a column from its name, its type or the name of its type, and whether it can be NULL."""
    try:
        name, kind, nullable = (
            (column.name, column.type, column.nullable) if isinstance(column, ResultColumn) else column
        )
    except (TypeError, ValueError):
        raise DefinitionError(f"expected name, type and nullability of a column, got {column!r}") from None
    return ResultColumn(check_name(name), _check_type(str(kind)), _check_flag(nullable))


def _check_type(name: str) -> Type:
    """Return the type with a name. It becomes part of SQL, so a nested type holds plain names of types and fields only.

    Raises
    ------
    DefinitionError
        If a nested type holds anything else.
    TypeNameError
        If there is no such type.
    """
    if not _PLAIN_TYPE.fullmatch(name):
        raise DefinitionError(f"a query cannot have a column of the type {name!r}", hint="name fields by words")
    return parse_spark_type(name)


def _check_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise DefinitionError(f"expected true or false, got {value!r}")
    return value


def _name_population(columns: Sequence[ResultColumn], key: Sequence[str]) -> str:
    """Return the name of a population: that of its key, or of the whole row."""
    return ", ".join(key) if key else f"row of {', '.join(column.name for column in columns)}"


def _read_text(text: object, inputs: Sequence[Catalog]) -> OpaqueText:
    """Return the text of a query over some inputs, if it holds nothing that is not allowed."""
    from provenn.catalogs.opaque_text import read_query  # noqa: PLC0415 - sqlglot takes long to import

    return read_query(text, len(inputs))
