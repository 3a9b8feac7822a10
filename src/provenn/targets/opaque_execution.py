"""Execution of the steps with opaque SQL, as Spark DataFrames whose columns are named by identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from provenn.catalogs import Catalog
from provenn.catalogs.opaque_inputs import list_read_attributes
from provenn.catalogs.opaque_text import OpaqueText
from provenn.spark import opaque_operations
from provenn.targets.opaque_steps import FilterBySql, QueryBySql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["compute_opaque_step"]


def compute_opaque_step(
    session: SparkSession, step: FilterBySql | QueryBySql, inputs: Sequence[DataFrame]
) -> DataFrame:
    """Return the rows of a step with opaque SQL."""
    match step:
        case FilterBySql(selection=selection):
            text = selection.read_condition()
            frame, *others = inputs
            tables = _name_tables(text, selection.others, others)
            return opaque_operations.filter_rows(session, text, frame, tables)
        case QueryBySql(query=query):
            text = query.read_query()
            rows = opaque_operations.run_query(session, text, _name_tables(text, query.inputs, inputs))
            return opaque_operations.identify_rows(rows, query)


def _name_tables(text: OpaqueText, catalogs: Sequence[Catalog], frames: Sequence[DataFrame]) -> list[DataFrame]:
    """Return the tables that a text reads: the read columns, and the key, under their names in the catalogs."""
    tables = []
    for catalog, frame in zip(catalogs, frames, strict=True):
        wanted = {attribute.name for attribute in (*list_read_attributes(text, catalog), *catalog.schema.key)}
        columns = [attribute for attribute in catalog.schema.attributes if attribute.name in wanted]
        tables.append(opaque_operations.name_table(frame, [(column.identity, column.name) for column in columns]))
    return tables
