"""Translate the SQL that a job states (OpenLineage's job facet ``sql``) to the catalog that the job writes.

A dataset is claimed to hold the rows of a query only if the statement leaves no others in it, and if provenn and the
system that ran it cannot choose different rows: a query whose result depends on the order of equal rows is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from provenn.catalogs import Catalog
from provenn.errors import ProvennError, QueryError
from provenn.exchange.reading import Dataset, JobQuery

if TYPE_CHECKING:
    from provenn.queries.query_reading import QueryTable
    from provenn.queries.statements import WritingStatement
    from provenn.queries.translating import ColumnType

__all__ = [
    "InputTable",
    "JobTables",
    "UnusableQueryError",
    "WrittenDataset",
    "list_table_names",
    "translate_job_query",
    "translate_statement",
]

_DIALECTS = {
    "postgresql": "postgres",
    "redshift": "postgres",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "sparksql": "spark",
    "spark_sql": "spark",
    "hive": "spark",
}
"""Names of dialects in events, and the names that the reader of queries knows."""


class UnusableQueryError(Exception):
    """The reason why the SQL of a job is not used."""


@dataclass(frozen=True, slots=True)
class InputTable:
    """A dataset that a job reads.

    Parameters
    ----------
    catalog
        The catalog of the dataset.
    names
        The names by which SQL may call it, part by part in lower case.
    columns
        Its columns, as attributes of the catalog.
    """

    catalog: Catalog
    names: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WrittenDataset:
    """A dataset that a job writes.

    Parameters
    ----------
    names
        The names by which SQL may call it; empty if SQL does not name it.
    columns
        Its columns, in lower case; empty if they are not known.
    find_population
        As for `translate`.
    is_overwritten
        Whether the job is stated to replace what the dataset held.
    holds_all
        Whether the dataset is known to hold the rows of the query alone, also where the job does not say so.
    """

    names: Sequence[tuple[str, ...]]
    columns: Sequence[str]
    find_population: Callable[[str], Sequence[str] | None]
    is_overwritten: bool
    holds_all: bool


@dataclass(slots=True)
class JobTables:
    """The inputs of a job as tables of its query; those that the query names are remembered."""

    inputs: Mapping[Dataset, InputTable]
    used: dict[str, Dataset] = field(default_factory=dict)

    def find_table(self, parts: tuple[str, ...]) -> QueryTable:
        """Return the only input that a name can mean.

        Raises
        ------
        QueryError
            If there is none, or several; or if another name means the same input.
        """
        from provenn.queries.query_reading import QueryTable  # noqa: PLC0415 - sqlglot takes long to import

        name = ".".join(parts).lower()
        written = tuple(name.split("."))
        matches = [
            dataset
            for dataset, table in self.inputs.items()
            if any(_mean_same_table(written, own) for own in table.names)
        ]
        if len(matches) != 1:
            problem = "may be several of the inputs" if matches else "is not an input"
            raise QueryError(f"{name} {problem} of the job")
        (dataset,) = matches
        if any(other == dataset and used != name for used, other in self.used.items()):
            raise QueryError(f"several tables may be the input {dataset} of the job")
        self.used[name] = dataset
        return QueryTable(name, self.inputs[dataset].columns)


def _mean_same_table(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two names can mean one table: the one is the other, with more schemas or databases before it."""
    common = min(len(left), len(right))
    return tuple(left[-common:]) == tuple(right[-common:])


def list_table_names(dataset: Dataset, facets: Mapping[str, object]) -> tuple[tuple[str, ...], ...]:
    """Return the names by which SQL may call a dataset: its own unless it is a path, and those of ``symlinks``.

    >>> list_table_names(Dataset("postgres://host:5432", "shop.public.orders"), {})
    (('shop', 'public', 'orders'),)
    """
    names = [dataset.name]
    symlinks = facets.get("symlinks")
    identifiers = symlinks.get("identifiers") if isinstance(symlinks, dict) else None
    for identifier in identifiers if isinstance(identifiers, list) else ():
        match identifier:
            case {"name": str(name)}:
                names.append(name)
    return tuple(dict.fromkeys(tuple(name.lower().split(".")) for name in names if name and "/" not in name))


def translate_job_query(
    query: JobQuery, inputs: Mapping[Dataset, InputTable], output: WrittenDataset
) -> tuple[Catalog, tuple[str, ...]]:
    """Return the catalog of the rows that a job writes, and its columns.

    Parameters
    ----------
    query
        The SQL of the job.
    inputs
        All datasets that the job reads.
    output
        The dataset that the job writes.

    Raises
    ------
    UnusableQueryError
        If the query is not understood, or does not say which rows the dataset holds.
    """
    from provenn.queries.statements import read_statement  # noqa: PLC0415 - sqlglot takes long to import

    tables = JobTables(inputs)
    return translate_statement(lambda: read_statement(query.text, tables, _choose_dialect(query)), tables, output)


def translate_statement(
    read: Callable[[], WritingStatement], tables: JobTables, output: WrittenDataset
) -> tuple[Catalog, tuple[str, ...]]:
    """Return the catalog of the rows that a statement writes, and its columns.

    Parameters
    ----------
    read
        Reads the statement.
    tables
        The tables of the job, of which the statement names some while it is read.
    output
        As for `translate_job_query`.

    Raises
    ------
    UnusableQueryError
        As for `translate_job_query`.
    """
    from provenn.queries.translating import KEY_DECIDES  # noqa: PLC0415 - sqlglot takes long to import
    from provenn.queries.translation import translate  # noqa: PLC0415

    try:
        statement = read()
        if not statement.replaces_table and not output.holds_all:
            raise UnusableQueryError("it does not say that the dataset holds no other rows, nor does --exact")
        written = tuple(".".join(statement.target).lower().split("."))
        if statement.target and output.names and not any(_mean_same_table(written, name) for name in output.names):
            raise UnusableQueryError(f"it writes {'.'.join(written)}")
        if set(tables.used.values()) != set(tables.inputs):
            raise UnusableQueryError("the job reads more than its query")
        catalogs = {name: tables.inputs[dataset].catalog for name, dataset in tables.used.items()}
        translation = translate(
            statement.query,
            catalogs,
            prove=lambda _statement, _catalogs: False,
            find_types=_refuse_types,
            find_population=output.find_population,
        )
    except _UntypedPartError as error:
        raise UnusableQueryError(str(error.__context__ or "a part is not understood").splitlines()[0]) from error
    except ProvennError as error:
        raise UnusableQueryError(error.message.splitlines()[0]) from error
    if translation.limit is not None or translation.offset:
        raise UnusableQueryError("LIMIT: which rows are the first is not known")
    for remark in translation.remarks:
        if remark.reason == KEY_DECIDES:
            raise UnusableQueryError(f"{remark.part}: which of equal rows come first is not known")
    results, columns = [name.lower() for name in translation.columns], list(output.columns)
    if statement.inserts and results != columns:  # values are inserted by position
        raise UnusableQueryError("the columns of the dataset are not known to be those of the query")
    if columns and sorted(results) != sorted(columns):
        raise UnusableQueryError("the dataset has other columns than the query")
    return translation.catalog, translation.columns


def _choose_dialect(query: JobQuery) -> str:
    """Return the dialect of a query: the stated one, or that of the system that ran it."""
    from provenn.queries.reading_text import DIALECTS  # noqa: PLC0415 - sqlglot takes long to import

    for word in (query.dialect, query.system):
        dialect = _DIALECTS.get(word.lower(), word.lower())
        if dialect in DIALECTS:
            return dialect
        if word == query.dialect and word:
            raise UnusableQueryError(f"its dialect {word} is not known")
    raise UnusableQueryError("its dialect is not stated")


class _UntypedPartError(Exception):
    """A part of a query would be opaque; its context says why."""


def _refuse_types(_text: str, _inputs: Sequence[Catalog]) -> Sequence[ColumnType]:
    """Refuse to find the types of an opaque part, which takes a running Spark: an import executes nothing."""
    raise _UntypedPartError
