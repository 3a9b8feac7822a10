"""Answers to queries: the requested rows of a query, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from provenn.archive.context import HasContext
from provenn.archive.handle import Catalog
from provenn.archive.notices import Notice
from provenn.archive.querying import translate_text

if TYPE_CHECKING:
    import pandas as pd

    from provenn.queries.translation import Translation

__all__ = ["QueryAnswer", "answer_query"]


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a query.

    Parameters
    ----------
    catalog
        The rows that the query asks for, with its LIMIT and OFFSET, as a catalog that is not stored.
    columns
        The columns of the query.
    order
        The columns by which it sorts, each with whether it is descending and whether NULL comes first.
    """

    catalog: Catalog
    columns: tuple[str, ...]
    order: tuple[tuple[str, bool, bool], ...]

    def collect(self) -> pd.DataFrame:
        """Compute and return the rows, with the columns and in the order of the query."""
        rows = self.catalog.to_pandas()
        for name, is_descending, nulls_first in reversed(self.order):
            positions = sort_positions(rows[name].tolist(), is_descending, nulls_first)
            rows = rows.iloc[positions]
        return rows[list(self.columns)].reset_index(drop=True)


def sort_positions(values: Sequence[Any], is_descending: bool, nulls_first: bool) -> list[int]:
    """Return the positions of values in an order, as Spark sorts: NaN is the largest number; equal values stay.

    >>> sort_positions([2.0, None, float("nan"), 1.0], False, True)
    [1, 3, 0, 2]
    """
    missing = [position for position, value in enumerate(values) if value is None]
    present = [position for position, value in enumerate(values) if value is not None]
    present.sort(key=lambda position: _sort_key(values[position]), reverse=is_descending)
    return [*missing, *present] if nulls_first else [*present, *missing]


def _sort_key(value: Any) -> tuple[bool, Any]:  # noqa: ANN401 - values of any type
    """Return a key for sorting NaN behind all numbers."""
    return (True, 0) if value != value else (False, value)  # noqa: PLR0124 - NaN alone differs from itself


def answer_query(
    archive: HasContext,
    text: str,
    *,
    dialect: str = "spark",
    tables: Mapping[str, Catalog] | None = None,
    schemas: Sequence[str] = (),
    most: int | None = None,
    keeps_order: bool = False,
) -> QueryAnswer:
    """Return the answer to a query, not yet computed.

    Parameters
    ----------
    archive
        The archive.
    text
        One SELECT.
    dialect
        Its dialect.
    tables
        Catalogs by the names of tables in the text, which come before names of the archive.
    schemas
        Names of schemas that may come before the names of tables: with "archive", ``archive.stars`` is ``stars``.
    most
        The largest number of rows; None for all that the query asks for.
    keeps_order
        Whether the catalog also has what the query sorts by, so that rows can be collected in its order.
    """
    translation: Translation = translate_text(
        archive.context,
        text,
        dialect,
        {table: catalog.definition for table, catalog in (tables or {}).items()},
        schemas=schemas,
        most=most,
        is_request=True,
        keeps_order=keeps_order,
    )
    archive.context.workshop.notices.tell(Notice("not understood", str(remark)) for remark in translation.remarks)
    return QueryAnswer(
        Catalog(archive, translation.catalog, label="your query"), translation.columns, translation.order
    )
