"""Methods of an archive for queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from provenn.archive.verbs.part import ArchivePart

if TYPE_CHECKING:
    from provenn.archive.adopting import Keys
    from provenn.archive.handle import Catalog
    from provenn.archive.watching import Watched

__all__ = ["Querying"]

P = ParamSpec("P")
T = TypeVar("T")


class Querying(ArchivePart):
    """Methods of an archive for queries."""

    def sql(
        self,
        text: str,
        *,
        name: str | None = None,
        dialect: str = "spark",
        tables: Mapping[str, Catalog | str] | None = None,
        schemas: Sequence[str] = (),
    ) -> Catalog:
        """Define the catalog that a query means: ``sql("SELECT hip, vmag FROM stars WHERE vmag < 6", name="bright")``.

        Catalogs are tables, and attributes are columns. The query becomes a lineage of catalogs, and can be related,
        planned and computed like every catalog; nothing is computed now. A part that provenn does not understand
        becomes an opaque catalog, which keeps its text; a notice says which part, and why. For the types of such a
        part, Spark is started. ORDER BY, LIMIT and OFFSET at the end belong to a request, not to a set of sources:
        they are left out.

        A catalog always keeps its key, also where the query does not select it. A failing evaluation, such as a
        division by zero, is NULL.

        Parameters
        ----------
        text
            One SELECT.
        name
            A name for the catalog.
        dialect
            The dialect of the text: spark, duckdb, postgres, snowflake, bigquery, tsql or adql.
        tables
            Catalogs by the names of tables in the text; other tables are names of the archive.
        schemas
            Names of schemas that may come before the names of tables: with "public", ``public.stars`` is ``stars``.

        Raises
        ------
        QueryError
            If the text cannot be read, is not one query, or names unknown columns.
        UnknownCatalogError
            If there is no such table.
        """
        from provenn.archive.querying import define_query  # noqa: PLC0415 - a command starts without it

        named_tables = {table: self.catalog(which).definition for table, which in (tables or {}).items()}
        translation = define_query(self.context, text, name, dialect, named_tables, schemas=schemas)
        return self._make_handle(translation.catalog)

    def adopt(
        self,
        dataframe: Any,  # noqa: ANN401 - a DataFrame of Spark, which nothing here imports
        name: str | None = None,
        *,
        keys: Keys | None = None,
        tables: Mapping[str, Catalog | str] | None = None,
    ) -> Catalog:
        """Define the catalog that a DataFrame of Spark is: ``adopt(orders.filter("price > 10"), "expensive")``.

        The plan that Spark has analyzed is read like a query: nothing is computed. Its leaves are found in the archive:
        a base catalog with exactly these files, a table of Spark's catalog that was ingested, a DataFrame that
        `Catalog.to_spark` returned. A view is its query. What holds of `sql` holds here, too, except
        that a limit counts: the key decides between rows that are equal in the order.

        Parameters
        ----------
        dataframe
            The DataFrame.
        name
            A name for the catalog.
        keys
            The columns that identify a row of files or tables that the archive does not know, by the name of the table
            or file, without its suffix, or by its path. They are ingested under this name, which is also the name of
            their population.
        tables
            Catalogs by the names of views and tables, or the paths of files, which are read as these catalogs.

        Raises
        ------
        QueryError
            If a part of the plan has no fixed meaning, or if files are not known.
        """
        from provenn.archive.adopting import adopt_dataframe  # noqa: PLC0415 - a command starts without it

        definitions = {table: self.catalog(which).definition for table, which in (tables or {}).items()}
        return self._make_handle(adopt_dataframe(self.context, dataframe, name, keys or {}, definitions).catalog)

    @overload
    def watch(self, function: Callable[P, T]) -> Callable[P, T]: ...

    @overload
    def watch(
        self, *, keys: Keys | None = None, tables: Mapping[str, Catalog | str] | None = None
    ) -> Callable[[Callable[P, T]], Callable[P, T]]: ...

    def watch(
        self,
        function: Callable[P, T] | None = None,
        *,
        keys: Keys | None = None,
        tables: Mapping[str, Catalog | str] | None = None,
    ) -> Callable[P, T] | Callable[[Callable[P, T]], Callable[P, T]]:
        """Adopt the DataFrames that a function returns, whenever it is called: ``@archive.watch``.

        A DataFrame gets the name of the function, those of a dictionary the names of their keys, those of a list the
        name of the function and a number. The function itself stays as it is. A notice says what was not adopted.

        Parameters
        ----------
        function
            The function.
        keys, tables
            As for `adopt`.
        """
        from provenn.archive.watching import watch_function  # noqa: PLC0415 - a command starts without it

        adopt = partial(self._adopt_named, keys=keys, tables=tables)
        if function is None:
            return lambda watched: watch_function(watched, self.context, adopt)
        return watch_function(function, self.context, adopt)

    def watching(
        self,
        spark: Any,  # noqa: ANN401 - a session of Spark, which nothing here imports
        *,
        keys: Keys | None = None,
        tables: Mapping[str, Catalog | str] | None = None,
    ) -> Watched:
        """Adopt what the body of a ``with`` statement defines: ``with archive.watching(spark) as watched:``.

        At its end, DataFrames are adopted under the names of their variables, new views and tables under their own
        names: ``watched.catalogs``. A notice says what was not adopted: ``watched.refused``.

        Parameters
        ----------
        spark
            The session that the body uses.
        keys, tables
            As for `adopt`.
        """
        from provenn.archive.watching import Watched  # noqa: PLC0415 - a command starts without it

        return Watched(self.context, spark, partial(self._adopt_named, keys=keys, tables=tables))

    def _adopt_named(
        self,
        dataframe: Any,  # noqa: ANN401 - see above
        name: str,
        *,
        keys: Keys | None,
        tables: Mapping[str, Catalog | str] | None,
    ) -> Catalog:
        return self.adopt(dataframe, name, keys=keys, tables=tables)
